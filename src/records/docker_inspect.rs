//! `docker inspect` of containers: the array it prints, one container of it, or only the State object.

use serde_json::Value;

use crate::fact::{Container, Engine, Limit, Reason, Role, Status, What, Who};
use crate::seen::Form;
use crate::units::{Bytes, HostPid};

use super::{Field, Format, Reading, dev_shm, first};

/// moby's `ContainerJSON` (api/swagger.yaml), all versions; since 28 null members are left out.
pub(super) const FORMAT: Format = Format {
    id: "docker-inspect",
    sniff,
    read: |document| read_containers(document, Engine::Docker),
    form: Form {
        name: "docker inspect (JSON)",
        how: "docker inspect NAME",
        proves: "kill for memory inside a container, exit code, memory limit, size of /dev/shm",
    },
    samples: &[
        r#"[{"Id":"44f0121710b0a3616ffb4a8db2914cab0be9b39382279ae6feb26de236b1baf7","State":{"Status":"exited","Running":false,"Restarting":false,"OOMKilled":true,"Dead":false,"Pid":0,"ExitCode":137,"Error":"","StartedAt":"2026-12-01T06:36:24.392429652Z","FinishedAt":"2026-12-01T06:36:24.533849773Z"},"Name":"/lab-c-oom-main","RestartCount":0,"HostConfig":{"IpcMode":"private","CgroupParent":"","OomKillDisable":false,"ShmSize":67108864,"Memory":134217728},"Mounts":[]}]"#,
        r#"{"Status":"exited","Running":false,"Paused":false,"Restarting":false,"OOMKilled":true,"Dead":false,"Pid":0,"ExitCode":137,"Error":"","StartedAt":"2026-12-01T06:36:24.392429652Z","FinishedAt":"2026-12-01T06:36:24.533849773Z"}"#,
        r#"{"Binds":null,"NetworkMode":"default","IpcMode":"private","ShmSize":67108864,"Memory":0}"#,
    ],
};

fn sniff(document: &Value) -> bool {
    first(document).is_some_and(|one| looks_inspected(one) && !is_podman(one))
}

/// Whether this is a container, its state or its host configuration, of Docker or Podman.
pub(super) fn looks_inspected(one: &Value) -> bool {
    let has = |value: &Value, key: &str| value.get(key).is_some();
    let state =
        |value: &Value| has(value, "ExitCode") && has(value, "Running") && (has(value, "OOMKilled") || has(value, "FinishedAt"));
    one.get("State").is_some_and(state) || state(one) || one.get("HostConfig").is_some_and(is_host_config) || is_host_config(one)
}

fn is_host_config(value: &Value) -> bool {
    value.get("IpcMode").is_some() && (value.get("ShmSize").is_some() || value.get("NetworkMode").is_some())
}

/// Podman's State names the version of the OCI runtime specification, its containers the runtime.
pub(super) fn is_podman(one: &Value) -> bool {
    one.get("OciVersion").is_some()
        || one.get("OCIRuntime").is_some()
        || one.pointer("/State/OciVersion").is_some()
        || one.pointer("/HostConfig/Cgroups").is_some()
        || one.get("Cgroups").is_some()
}

/// Reads the containers of a document.
pub(super) fn read_containers(document: &Value, engine: Engine) -> Reading {
    Reading::of_each(document, |reading, one| read_one(reading, one, engine))
}

fn read_one(reading: &mut Reading, one: &Field<'_>, engine: Engine) {
    let who = whom(one);
    let host = if one.at("HostConfig").is_object() { one.at("HostConfig") } else { one.clone() };
    let shm = dev_shm::read(one, engine).or_else(|| dev_shm::read_host(&host, engine));
    let memory = host.at("Memory").number().map(|bytes| match u64::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Limit::Bytes(Bytes(bytes)),
        _ => Limit::Unlimited,
    });
    let state = if one.at("State").is_object() { one.at("State") } else { one.clone() };
    if state.at("ExitCode").is_told() {
        let mut container = read_state(&state, engine);
        container.restarts = one.at("RestartCount").count();
        container.memory = memory;
        container.shm = shm.as_ref().map_or_else(Default::default, |(shm, _, _)| *shm);
        container.oom_kill_disabled = host.at("OomKillDisable").flag() == Some(true);
        container.parent_cgroup = host.at("CgroupParent").text().is_some();
        container.image = one.at("Config").at("Image").string().or_else(|| one.any(&["ImageName", "Image"]).string());
        let when = container.finished;
        let text = quote(&state, &container, &host);
        reading.claim(&state, &who, when, What::Container(Box::new(container)), text);
        reading.remark(&state.at("Error"), &who, when);
        for probe in state.any(&["Health", "Healthcheck"]).at("Log").items() {
            reading.remark(&probe.at("Output"), &who, probe.at("End").time());
        }
    }
    if let Some((shm, field, text)) = shm {
        reading.claim(&field, &who, None, What::ShmOption(shm), text);
    }
}

/// The container's ids; below Kubernetes the labels name the pod.
fn whom(one: &Field<'_>) -> Who {
    let label = |key: &str| one.at("Config").at("Labels").at(key).string();
    let pid = one.at("State").at("Pid").count().or_else(|| one.at("Pid").count());
    Who {
        role: Role::Main,
        host_pid: pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0).map(HostPid),
        container: one.any(&["Id", "ID"]).string(),
        container_name: one.at("Name").text().map(|name| name.trim_start_matches('/').to_owned()),
        pod: label("io.kubernetes.pod.name"),
        pod_uid: label("io.kubernetes.pod.uid"),
        namespace: label("io.kubernetes.pod.namespace"),
        ..Who::default()
    }
}

/// The State object. `Status` (since Docker 1.9) is worth more than the booleans, which may all be true at once.
fn read_state(state: &Field<'_>, engine: Engine) -> Container {
    let flag = |key: &str| state.at(key).flag() == Some(true);
    let mut container = Container::new(engine);
    let code = state.at("ExitCode").number();
    container.started = state.at("StartedAt").time();
    container.finished = state.at("FinishedAt").time();
    container.status = match state.at("Status").text() {
        Some("created" | "configured" | "initialized") => Status::Created,
        Some("running" | "paused" | "stopping") => Status::Running,
        Some("restarting") => Status::Restarting,
        Some("exited" | "dead" | "removing" | "stopped") => Status::Exited,
        Some(_) => Status::Unknown,
        None if flag("Restarting") => Status::Restarting,
        None if flag("Running") || flag("Paused") => Status::Running,
        None if container.started.is_none() => Status::Created,
        None => Status::Exited,
    };
    container.oom_killed = state.at("OOMKilled").flag();
    match container.status {
        // While it runs, ExitCode is 0 and FinishedAt is the end of the run before.
        Status::Running => container.finished = None,
        // A container that failed to start keeps the status `created`, with 125 to 128 as its code.
        Status::Created if code == Some(0) => {}
        Status::Created => {
            container.exit_code = code;
            container.reason = Some(Reason::NotStarted);
        }
        Status::Restarting | Status::Exited | Status::Unknown => container.exit_code = code,
    }
    container
}

/// The fields that a reader would look at.
fn quote(state: &Field<'_>, container: &Container, host: &Field<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(status) = state.at("Status").text() {
        parts.push(format!("State.Status {status}"));
    }
    if let Some(flag) = state.at("OOMKilled").flag() {
        parts.push(format!("State.OOMKilled {flag}"));
    }
    if let Some(code) = state.at("ExitCode").number() {
        parts.push(format!("ExitCode {code}"));
    }
    if let Some(error) = state.at("Error").text() {
        parts.push(format!("Error {error}"));
    }
    match container.restarts {
        Some(0) | None => {}
        Some(count) => parts.push(format!("RestartCount {count}")),
    }
    match container.memory {
        Some(Limit::Bytes(bytes)) => parts.push(format!("HostConfig.Memory {bytes}")),
        Some(Limit::Unlimited) => parts.push("HostConfig.Memory 0 (no limit)".to_owned()),
        None => {}
    }
    if host.at("OomKillDisable").flag() == Some(true) {
        parts.push("OomKillDisable true".to_owned());
    }
    if let Some(parent) = host.at("CgroupParent").text() {
        parts.push(format!("CgroupParent {parent}"));
    }
    parts.join(", ")
}
