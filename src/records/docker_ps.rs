//! `docker ps --format json`, `docker compose ps --format json` and `podman ps --format json`: the list of containers.

use serde_json::Value;

use crate::fact::{Container, Engine, Role, Status, What, Who};
use crate::seen::Form;

use super::{Field, Format, Reading, first};

/// docker/cli's formatter context, compose's `api.ContainerSummary`, podman's `entities.ListContainer`.
pub(super) const FORMAT: Format = Format {
    id: "docker-ps",
    sniff,
    read,
    form: Form { name: "docker ps, docker compose ps, podman ps (JSON)", how: "docker ps -a --format json", proves: "exit code" },
    samples: &[
        r#"{"Command":"\"sh -c 'sleep 3; lab…\"","CreatedAt":"2026-12-01 07:05:32 +0000 UTC","ID":"d4ec832b5d6d","Image":"lab-c:busy","Names":"lab-c-oom-nested-cgroup","RunningFor":"26 seconds ago","State":"exited","Status":"Exited (1) 21 seconds ago"}"#,
        r#"{"ExitCode":135,"Health":"","ID":"c10d4e0a8ad9","Image":"lab-c:busy","Name":"comp-loader-1","Names":"comp-loader-1","Project":"comp","Service":"loader","State":"exited","Status":"Exited (135) 18 seconds ago"}"#,
        r#"[{"AutoRemove":false,"Exited":true,"ExitedAt":1796109382,"ExitCode":137,"Id":"c181180e36bc1a13f8f2d22db08a394d0cf5ad78f727e7edd045a5d83bb74431","Image":"localhost/lab-c:busy","Names":["lab-c-podman54v2-oom-main"],"Pid":0,"Restarts":0,"StartedAt":1796109381,"State":"exited","Status":"Exited (137) 4 minutes ago"}]"#,
    ],
};

fn sniff(document: &Value) -> bool {
    first(document).is_some_and(|one| {
        let text = |key: &str| one.get(key).is_some_and(Value::is_string);
        let named =
            one.get("Names").is_some_and(|names| names.is_string() || names.is_array()) || (text("Name") && text("Service"));
        named && (text("ID") || text("Id")) && (text("State") || text("Status")) && one.get("Type").is_none()
    })
}

fn read(document: &Value) -> Reading {
    Reading::of_each(document, read_one)
}

fn read_one(reading: &mut Reading, one: &Field<'_>) {
    let podman = one.at("Exited").flag().is_some();
    let mut container = Container::new(if podman { Engine::Podman } else { Engine::Docker });
    let (status, words) = (one.at("Status"), one.at("Status").text().unwrap_or_default());
    container.status = match (one.at("State").text(), words.split(' ').next()) {
        (Some("running" | "paused"), _) | (None, Some("Up")) => Status::Running,
        (Some("restarting"), _) | (None, Some("Restarting")) => Status::Restarting,
        (Some("created" | "configured"), _) | (None, Some("Created")) => Status::Created,
        (Some("exited" | "dead" | "removing" | "stopped"), _) | (None, Some("Exited" | "Dead" | "Removal")) => Status::Exited,
        _ => Status::Unknown,
    };
    if matches!(container.status, Status::Exited | Status::Restarting) {
        container.exit_code = code_in(words).or_else(|| one.at("ExitCode").number());
    }
    if podman {
        container.started = one.at("StartedAt").epoch(1);
        container.finished = one.at("ExitedAt").epoch(1).filter(|_| container.status == Status::Exited);
        container.restarts = one.at("Restarts").count();
    }
    container.image = one.at("Image").string();
    let names = one.any(&["Names", "Name"]);
    let who = Who {
        role: Role::Main,
        container: one.any(&["ID", "Id"]).string(),
        container_name: names.string().or_else(|| names.items().next().and_then(|name| name.string())),
        ..Who::default()
    };
    let when = container.finished;
    let name = who.container_name.clone().unwrap_or_default();
    let shown = if words.is_empty() { one.at("State").text().unwrap_or_default() } else { words };
    let text = match container.exit_code {
        Some(code) if code_in(words).is_none() => format!("{name} {shown}, ExitCode {code}"),
        _ => format!("{name} {shown}"),
    };
    let field = if status.is_told() { status } else { one.at("State") };
    reading.claim(&field, &who, when, What::Container(Box::new(container)), text);
}

/// The code in `Exited (137) 2 minutes ago` and `Restarting (137) 1 second ago`.
fn code_in(status: &str) -> Option<i64> {
    let (word, rest) = status.split_once(" (")?;
    let (code, _) = rest.split_once(')')?;
    if matches!(word, "Exited" | "Restarting") { code.parse().ok() } else { None }
}
