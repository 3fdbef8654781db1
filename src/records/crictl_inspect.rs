//! `crictl inspect`: a container as the CRI runtime (containerd, CRI-O) knows it.

use serde_json::Value;

use crate::fact::{Container, Engine, Limit, Reason, Role, Shm, Status, What, Who};
use crate::seen::Form;
use crate::units::{Bytes, HostPid};

use super::{Field, Format, Reading, dev_shm, k8s_pod};

/// kubernetes-sigs/cri-tools, CRI v1; `info` is the runtime's own and may be missing.
pub(super) const FORMAT: Format = Format {
    id: "crictl-inspect",
    sniff: |document: &Value| {
        document.pointer("/status/state").and_then(Value::as_str).is_some_and(|state| state.starts_with("CONTAINER_"))
    },
    read,
    form: Form {
        name: "crictl inspect (JSON)",
        how: "crictl inspect ID",
        proves: "kill for memory inside a container, exit code",
    },
    samples: &[
        r#"{"status":{"id":"e1c65c3ae207f7488d055f8ba7921ff5d3ec06aaf2f1a4a6771a5e458307ee90","metadata":{"attempt":1,"name":"trainer"},"state":"CONTAINER_EXITED","startedAt":"2024-10-25T13:01:05.1Z","finishedAt":"2024-10-25T13:05:21.2Z","exitCode":137,"reason":"OOMKilled","message":"","labels":{"io.kubernetes.pod.name":"example","io.kubernetes.pod.namespace":"default","io.kubernetes.pod.uid":"be79de1d-0a25-40ba-a844-cce1416876c1"},"mounts":[]},"info":{"pid":0,"runtimeSpec":{"linux":{"resources":{"memory":{"limit":2147483648}}}}}}"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    let (status, info) = (root.at("status"), root.at("info"));
    let label = |key: &str| status.at("labels").at(key).string();
    let pid = info.at("pid").count().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0);
    let who = Who {
        role: Role::Main,
        host_pid: pid.map(HostPid),
        container: status.at("id").string(),
        container_name: status.at("metadata").at("name").string(),
        pod: label("io.kubernetes.pod.name"),
        pod_uid: label("io.kubernetes.pod.uid"),
        namespace: label("io.kubernetes.pod.namespace"),
        ..Who::default()
    };
    let mut container = Container::new(Engine::Kubernetes);
    container.status = match status.at("state").text() {
        Some("CONTAINER_EXITED") => Status::Exited,
        Some("CONTAINER_RUNNING") => Status::Running,
        Some("CONTAINER_CREATED") => Status::Created,
        _ => Status::Unknown,
    };
    let word = status.at("reason").text();
    if container.status == Status::Exited {
        container.exit_code = status.at("exitCode").number();
        container.finished = status.at("finishedAt").time();
        container.reason = word.map(k8s_pod::reason);
        container.oom_killed = (container.reason == Some(Reason::OomKilled)).then_some(true);
    }
    container.started = status.at("startedAt").time();
    container.restarts = status.at("metadata").at("attempt").count();
    container.image = status.at("image").at("image").string();
    let limit = info.at("runtimeSpec").at("linux").at("resources").at("memory").at("limit").number();
    let told = limit.or_else(|| status.at("resources").at("linux").at("memoryLimitInBytes").number());
    container.memory = told.map(|bytes| match u64::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Limit::Bytes(Bytes(bytes)),
        _ => Limit::Unlimited,
    });
    let mount = status.at("mounts").items().find(|mount| dev_shm::is_dev_shm(mount.at("containerPath").text()));
    let path = mount.as_ref().and_then(|mount| mount.at("hostPath").text());
    container.shm = match (&mount, path) {
        (None, _) => Shm::Unknown,
        (Some(_), path) if dev_shm::is_dev_shm(path) => Shm::Host,
        // Neither the medium nor the size of an emptyDir is told here.
        (Some(_), Some(path)) if path.contains("kubernetes.io~empty-dir") => Shm::Unknown,
        (Some(_), _) => Shm::Elsewhere,
    };
    let mut text = status.at("state").text().unwrap_or_default().to_owned();
    if let Some(word) = word {
        text = format!("{text}, reason {word}");
    }
    if let Some(code) = container.exit_code {
        text = format!("{text}, exitCode {code}");
    }
    if let Some(Limit::Bytes(bytes)) = container.memory {
        text = format!("{text}, memory limit {bytes}");
    }
    let (when, shm) = (container.finished, container.shm);
    reading.claim(&status, &who, when, What::Container(Box::new(container)), text);
    if let (Some(mount), false) = (mount, shm == Shm::Unknown) {
        reading.claim(&mount, &who, None, What::ShmOption(shm), format!("mount {} at /dev/shm", path.unwrap_or_default()));
    }
    reading.remark(&status.at("message"), &who, when);
    reading
}
