//! `docker events --format '{{json .}}'` and `podman events --format json`: one event a line.

use serde_json::Value;

use crate::fact::{ContainerEvent, Role, What, Who};
use crate::seen::Form;
use crate::units::Signal;

use super::{Field, Format, Reading, first};

/// moby's `events.Message` (the keys `status`, `id` and `from` are gone since API 1.52) and libpod's `events.Event`.
pub(super) const FORMAT: Format = Format {
    id: "docker-events",
    sniff,
    read,
    form: Form {
        name: "docker events, podman events (JSON)",
        how: "docker events --since 2h --until 0s --format '{{json .}}'",
        proves: "who sent the signal; kills for memory, also of runs before a restart",
    },
    samples: &[
        r#"{"status":"die","id":"decdbf5a76d53f693cf9688271b0efcee03f7f4d9ac62057587ce8bf9a324120","from":"lab-c:busy","Type":"container","Action":"die","Actor":{"ID":"decdbf5a76d53f693cf9688271b0efcee03f7f4d9ac62057587ce8bf9a324120","Attributes":{"execDuration":"7","exitCode":"137","image":"lab-c:busy","name":"lab-c-d26v2-oom-main"}},"scope":"local","time":1796107848,"timeNano":1796107848796774063}"#,
        r#"{"Type":"container","Action":"oom","Actor":{"ID":"decdbf5a76d53f693cf9688271b0efcee03f7f4d9ac62057587ce8bf9a324120","Attributes":{"name":"lab"}},"scope":"local","time":1796107843,"timeNano":1796107843990433714}"#,
        r#"{"status":"kill","id":"decdbf5a76d5","from":"lab-c:busy","time":1449608937}"#,
        r#"{"ContainerExitCode":137,"ID":"c181180e36bc1a13f8f2d22db08a394d0cf5ad78f727e7edd045a5d83bb74431","Image":"localhost/lab-c:busy","Name":"lab-c-podman54v2-oom-main","Status":"died","time":1796109382,"timeNano":1796109382435917530,"Type":"container","Attributes":null}"#,
    ],
};

fn sniff(document: &Value) -> bool {
    first(document).is_some_and(|one| {
        let text = |key: &str| one.get(key).is_some_and(Value::is_string);
        let timed = one.get("time").is_some_and(Value::is_number) || one.get("timeNano").is_some_and(Value::is_number);
        let docker = text("Type") && text("Action") && one.get("Actor").is_some_and(Value::is_object);
        let old = text("status") && text("id") && text("from");
        let podman = text("Type") && text("Status") && (text("ID") || text("Name"));
        timed && (docker || old || podman)
    })
}

fn read(document: &Value) -> Reading {
    Reading::of_each(document, read_one)
}

fn read_one(reading: &mut Reading, event: &Field<'_>) {
    if event.at("Type").text().is_some_and(|kind| kind != "container") {
        return;
    }
    let action = event.any(&["Action", "Status", "status"]);
    let attributes = event.at("Actor").at("Attributes");
    let podman = event.at("Attributes");
    let label = |key: &str| attributes.at(key).string().or_else(|| podman.at(key).string());
    let who = Who {
        role: Role::Main,
        container: event.at("Actor").any(&["ID", "id"]).string().or_else(|| event.any(&["id", "ID"]).string()),
        container_name: label("name").or_else(|| event.at("Name").string()),
        pod: label("io.kubernetes.pod.name"),
        pod_uid: label("io.kubernetes.pod.uid"),
        namespace: label("io.kubernetes.pod.namespace"),
        ..Who::default()
    };
    let when = event.at("timeNano").epoch(1_000_000_000).or_else(|| event.at("time").epoch(1));
    let told = attributes.at("exitCode");
    let code = if told.is_told() { told.number() } else { event.at("ContainerExitCode").number() };
    let signal = attributes.at("signal");
    let (what, word) = match action.text() {
        Some("start") => (ContainerEvent::Started, "start".to_owned()),
        Some("oom") => (ContainerEvent::Oom, "oom".to_owned()),
        Some("kill") => {
            let number = signal.count().and_then(|number| u8::try_from(number).ok()).map(Signal);
            let named = number.or_else(|| signal.text().and_then(Signal::from_name));
            let word = signal.text().map_or_else(|| "kill".to_owned(), |text| format!("kill, signal={text}"));
            // Podman and Docker before 1.10 do not tell the signal; both send SIGKILL unless asked for another one.
            (ContainerEvent::Kill(named.unwrap_or(Signal::KILL)), word)
        }
        Some("stop") => (ContainerEvent::Stopped, "stop".to_owned()),
        Some(word @ ("die" | "died")) => (ContainerEvent::Died(code), with_code(word, code)),
        Some(word @ ("exec_die" | "exec_died")) => (ContainerEvent::ExecDied(code), with_code(word, code)),
        // `exec_create: <command>`, attach, create, destroy and the rest say nothing of an end.
        _ => return,
    };
    let name = who.container_name.clone().or_else(|| who.container.clone()).unwrap_or_default();
    // Newer podman tells in the event of the end whether conmon saw an OOM kill.
    let oom = event.any(&["OOMKilled"]).flag() == Some(true) || podman.at("OOMKilled").flag() == Some(true);
    if oom && matches!(what, ContainerEvent::Died(_)) {
        reading.claim(
            &action,
            &who,
            when,
            What::Event(ContainerEvent::Oom),
            format!("container {word}, OOMKilled true ({name})"),
        );
    }
    reading.claim(&action, &who, when, What::Event(what), format!("container {word} ({name})"));
}

fn with_code(word: &str, code: Option<i64>) -> String {
    code.map_or_else(|| word.to_owned(), |code| format!("{word}, exitCode={code}"))
}
