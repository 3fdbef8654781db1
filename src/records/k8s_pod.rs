//! Pods, as `kubectl get pod -o json` or `-o yaml` prints them: one, or a list that may hold events as well.

use serde_json::Value;

use crate::fact::{Container, Engine, Limit, Reason, Role, Shm, Status, What, Who, Why};
use crate::seen::Form;
use crate::time::Stamp;

use super::{Field, Format, Reading, dev_shm, k8s_events, k8s_evicted, quantity};

/// kubernetes/api core/v1; also a bare `status` object (`-o jsonpath='{.status}'`).
pub(super) const FORMAT: Format = Format {
    id: "k8s-pod",
    sniff,
    read,
    form: Form {
        name: "pods (JSON, YAML)",
        how: "kubectl get pod NAME -o yaml",
        proves: "kill for memory, exit codes of this run and the last, eviction and its reason, limits, volume at /dev/shm",
    },
    samples: &[
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"memtest","namespace":"default","uid":"655a4ca1-d3f8-42cc-a55a-86c7fc119b93"},"spec":{"containers":[{"name":"memtest","resources":{"limits":{"memory":"50Mi"}}}],"nodeName":"10.0.1.23"},"status":{"phase":"Running","containerStatuses":[{"name":"memtest","restartCount":5,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"Back-off"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","startedAt":"2016-01-19T15:56:10Z","finishedAt":"2016-01-19T15:56:10Z","containerID":"docker://71c30250d872095d07de45a45558386950fa605c11ee83e417600c499b0024bb"}}}]}}"#,
        r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}]},"status":{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory. "}}]}"#,
        r#"{"phase":"Running","containerStatuses":[{"name":"a","state":{"running":{"startedAt":"2016-01-19T15:56:10Z"}},"lastState":{}}]}"#,
    ],
};

/// The reasons of a container that waits because it cannot start (pkg/kubelet/images, kuberuntime).
const NOT_STARTED: [&str; 14] = [
    "ImagePullBackOff",
    "ErrImagePull",
    "ErrImageNeverPull",
    "ErrImageInspect",
    "InvalidImageName",
    "RegistryUnavailable",
    "CreateContainerConfigError",
    "CreateContainerError",
    "PreCreateHookError",
    "PreStartHookError",
    "PostStartHookError",
    "StartError",
    "RunContainerError",
    "ContainerCannotRun",
];

/// The three lists of container statuses, and the lists of the specification that belong to them.
const LISTS: [(&str, &str); 3] = [
    ("containerStatuses", "containers"),
    ("initContainerStatuses", "initContainers"),
    ("ephemeralContainerStatuses", "ephemeralContainers"),
];

fn kind(value: &Value) -> &str {
    value.get("kind").and_then(Value::as_str).unwrap_or_default()
}

/// Whether the value is a pod, also in a PodList, whose items may leave the kind out.
fn is_pod(value: &Value, kindless: bool) -> bool {
    let named = kind(value) == "Pod" || (kindless && kind(value).is_empty());
    named && (value.get("spec").is_some() || value.get("status").is_some())
}

/// Whether the value is a pod without its kind, as clients in Go marshal it.
fn is_bare(value: &Value) -> bool {
    is_pod(value, true)
        && value.get("metadata").is_some_and(Value::is_object)
        && value.pointer("/status/containerStatuses").is_some_and(Value::is_array)
}

fn sniff(document: &Value) -> bool {
    let items = document.get("items").and_then(Value::as_array);
    match (kind(document), items) {
        ("Pod", _) => is_pod(document, false),
        ("List", Some(items)) => items.iter().any(|item| is_pod(item, false)),
        ("PodList", Some(items)) => items.iter().any(|item| is_pod(item, true)),
        ("", None) => document.get("containerStatuses").is_some_and(Value::is_array) || is_bare(document),
        _ => false,
    }
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    if root.at("items").is_told() {
        let kindless = kind(document) == "PodList";
        for item in root.at("items").items() {
            match item.at("kind").text() {
                Some("Pod") => read_pod(&mut reading, &item, &item.at("status")),
                Some("Event") => k8s_events::read_event(&mut reading, &item),
                None if kindless => read_pod(&mut reading, &item, &item.at("status")),
                _ => {}
            }
        }
    } else if root.at("kind").is_told() || is_bare(document) {
        read_pod(&mut reading, &root, &root.at("status"));
    } else {
        read_pod(&mut reading, &root, &root);
    }
    reading
}

fn read_pod(reading: &mut Reading, pod: &Field<'_>, status: &Field<'_>) {
    let (metadata, spec) = (pod.at("metadata"), pod.at("spec"));
    let who = Who {
        pod: metadata.at("name").string(),
        pod_uid: metadata.at("uid").string(),
        namespace: metadata.at("namespace").string(),
        host: spec.at("nodeName").string(),
        ..Who::default()
    };
    let mut oom = false;
    for (statuses, specs) in LISTS {
        for one in status.at(statuses).items() {
            let spec_of = spec.at(specs).items().find(|own| own.at("name").text() == one.at("name").text());
            oom |= read_runs(reading, &one, spec_of.as_ref(), &spec, &who, statuses == "initContainerStatuses");
        }
    }
    for (_, specs) in LISTS {
        for own in spec.at(specs).items() {
            let container = Who { role: Role::Main, container_name: own.at("name").string(), ..who.clone() };
            let (shm, field, text) = shm_of(&own, &spec);
            reading.claim(&field, &container, None, What::ShmOption(shm), text);
        }
    }
    read_removal(reading, status, &spec, &metadata, &who, oom);
}

/// The current and the last run of one container; tells whether either was OOM-killed.
fn read_runs(reading: &mut Reading, one: &Field<'_>, own: Option<&Field<'_>>, spec: &Field<'_>, pod: &Who, init: bool) -> bool {
    let mut base = Container::new(Engine::Kubernetes);
    base.restarts = one.at("restartCount").count();
    base.image = one.at("image").string();
    base.init = init;
    base.memory = limit_of(one, own, spec);
    base.shm = own.map_or(Shm::Unknown, |own| shm_of(own, spec).0);
    let name = one.at("name").string();
    let mut oom = false;
    let last = one.at("lastState").at("terminated");
    for (run, previous) in [(last.clone(), true), (one.at("state").at("terminated"), false)] {
        if !run.is_object() {
            continue;
        }
        let mut container = Container { status: Status::Exited, previous, ..base.clone() };
        // `signal` is there for other operating systems; Linux runtimes put the signal into the exit code.
        let signal = run.at("signal").number().filter(|signal| *signal > 0);
        container.exit_code = run.at("exitCode").number().or(signal.map(|signal| 128 + signal));
        container.reason = run.at("reason").text().map(reason);
        container.oom_killed = (container.reason == Some(Reason::OomKilled)).then_some(true);
        oom |= container.oom_killed == Some(true);
        container.started = run.at("startedAt").time();
        container.finished = run.at("finishedAt").time();
        let who = whom(pod, &run, name.clone());
        let when = container.finished;
        let which = if previous { "lastState" } else { "state" };
        let mut text = format!("{} {which}.terminated", name.as_deref().unwrap_or_default());
        if let Some(word) = run.at("reason").text() {
            text = format!("{text} reason {word},");
        }
        if let Some(code) = container.exit_code {
            text = format!("{text} exitCode {code}");
        }
        if let Some(Limit::Bytes(bytes)) = container.memory {
            text = format!("{text}, limits.memory {bytes}");
        }
        reading.claim(&run, &who, when, What::Container(Box::new(container)), text);
        reading.remark(&run.at("message"), &who, when);
    }
    read_alive(reading, one, &base, pod, last.is_object());
    oom
}

/// A container that runs or waits to run.
fn read_alive(reading: &mut Reading, one: &Field<'_>, base: &Container, pod: &Who, ran_before: bool) {
    let name = one.at("name").string();
    let label = name.clone().unwrap_or_default();
    let (running, waiting) = (one.at("state").at("running"), one.at("state").at("waiting"));
    if running.is_object() {
        let started = running.at("startedAt").time();
        let container = Container { status: Status::Running, started, ..base.clone() };
        reading.claim(
            &running,
            &whom(pod, one, name),
            None,
            What::Container(Box::new(container)),
            format!("{label} state.running"),
        );
    } else if waiting.is_object() {
        let word = waiting.at("reason").text().unwrap_or_default();
        let failed = NOT_STARTED.contains(&word);
        // What waits after a crash is told by its last run.
        if ran_before && !failed {
            return;
        }
        let status = if word == "CrashLoopBackOff" { Status::Restarting } else { Status::Created };
        let container = Container { status, reason: failed.then_some(Reason::NotStarted), ..base.clone() };
        let who = whom(pod, one, name);
        let text = format!("{label} state.waiting reason {word}");
        reading.claim(&waiting, &who, None, What::Container(Box::new(container)), text);
        if failed {
            reading.remark(&waiting.at("message"), &who, None);
        }
    }
}

/// The container's id is written `<runtime>://<64 hex digits>`.
fn whom(pod: &Who, run: &Field<'_>, name: Option<String>) -> Who {
    let id = run.at("containerID").text().map(|id| id.rsplit("://").next().unwrap_or(id).to_owned());
    Who { role: Role::Main, container: id.filter(|id| !id.is_empty()), container_name: name, ..pod.clone() }
}

pub(super) fn reason(word: &str) -> Reason {
    match word {
        "OOMKilled" => Reason::OomKilled,
        "Error" => Reason::Error,
        "Completed" => Reason::Completed,
        "ContainerStatusUnknown" | "Unknown" => Reason::StatusUnknown,
        word if NOT_STARTED.contains(&word) => Reason::NotStarted,
        word => Reason::Other(word.to_owned()),
    }
}

/// The limit in force (told in the status since 1.27), else the container's, else the pod's (1.32 and later).
fn limit_of(one: &Field<'_>, own: Option<&Field<'_>>, spec: &Field<'_>) -> Option<Limit> {
    let memory = |field: &Field<'_>| quantity::read(&field.at("resources").at("limits").at("memory"));
    let told = memory(one).or_else(|| own.and_then(memory)).or_else(|| memory(spec));
    match told {
        Some(bytes) => Some(Limit::Bytes(bytes)),
        None => own.map(|_| Limit::Unlimited),
    }
}

/// What is at /dev/shm: a volume mounted there, else the host's with `hostIPC`, else the sandbox's 64 MiB.
fn shm_of<'a>(own: &Field<'a>, spec: &Field<'a>) -> (Shm, Field<'a>, String) {
    let name = own.at("name").text().unwrap_or_default();
    let mounted = own.at("volumeMounts").items().find(|mount| dev_shm::is_dev_shm(mount.at("mountPath").text()));
    if let Some(mount) = mounted {
        let volume = mount.at("name").text();
        let found = spec.at("volumes").items().find(|entry| volume.is_some() && entry.at("name").text() == volume);
        let label = volume.unwrap_or_default();
        let Some(found) = found else {
            return (Shm::Elsewhere, mount, format!("volume {label} at /dev/shm of {name}"));
        };
        let dir = found.at("emptyDir");
        let limit = quantity::read(&dir.at("sizeLimit")).filter(|bytes| bytes.0 > 0);
        let (shm, what) = match (dir.at("medium").text(), limit) {
            (Some("Memory"), Some(bytes)) => (Shm::Sized(bytes), format!("emptyDir medium Memory, sizeLimit {bytes}")),
            (Some("Memory"), None) => (Shm::Unsized, "emptyDir medium Memory without sizeLimit".to_owned()),
            _ if dev_shm::is_dev_shm(found.at("hostPath").at("path").text()) => (Shm::Host, "hostPath /dev/shm".to_owned()),
            _ => (Shm::Elsewhere, "not a memory volume".to_owned()),
        };
        return (shm, found, format!("volume {label} at /dev/shm of {name}: {what}"));
    }
    let host = spec.at("hostIPC");
    if host.flag() == Some(true) {
        return (Shm::Host, host, format!("spec.hostIPC true ({name})"));
    }
    let size = dev_shm::default_size(Engine::Kubernetes);
    (Shm::Default(size), own.clone(), format!("{name} mounts nothing at /dev/shm, so it has the runtime's {size}"))
}

/// Whether a volume is mounted at /dev/shm by any container; `None` where the specification is not known.
fn volume_at_shm(spec: &Field<'_>, volume: &str) -> Option<bool> {
    spec.is_object().then(|| {
        LISTS.iter().flat_map(|(_, specs)| spec.at(specs).items()).any(|own| {
            own.at("volumeMounts")
                .items()
                .any(|mount| mount.at("name").text() == Some(volume) && dev_shm::is_dev_shm(mount.at("mountPath").text()))
        })
    })
}

/// Eviction, preemption, shutdown; a request to delete the pod only where nothing else explains its end.
fn read_removal(reading: &mut Reading, status: &Field<'_>, spec: &Field<'_>, metadata: &Field<'_>, who: &Who, oom: bool) {
    let shm = |volume: &str| volume_at_shm(spec, volume);
    let disruption = status.at("conditions").items().find(|condition| {
        condition.at("type").text() == Some("DisruptionTarget") && condition.at("status").text() == Some("True")
    });
    let when = disruption.as_ref().and_then(|condition| condition.at("lastTransitionTime").time());
    let whole = (status.clone(), when.or_else(|| last_end(status)));
    for (field, when) in std::iter::once(whole).chain(disruption.map(|condition| (condition, when))) {
        let (word, message) = (field.at("reason").text().unwrap_or_default(), field.at("message").text().unwrap_or_default());
        if let Some(what) = k8s_evicted::removal(word, message, shm) {
            reading.claim(&field.at("reason"), who, when, what, format!("reason {word}: {}", message.trim()));
            return;
        }
    }
    let deleted = metadata.at("deletionTimestamp");
    if deleted.is_told() && !oom {
        let what = What::Stopped { by: "kubelet", why: Why::Request, signal: None };
        let text = format!("metadata.deletionTimestamp {}", deleted.text().unwrap_or_default());
        reading.claim(&deleted, who, deleted.time(), what, text);
    }
}

/// When the last container of the pod ended: an eviction itself carries no time.
fn last_end(status: &Field<'_>) -> Option<Stamp> {
    let ends = status.at("containerStatuses").items().filter_map(|one| one.at("state").at("terminated").at("finishedAt").time());
    ends.max_by_key(|stamp| match stamp {
        Stamp::Wall(wall) => Some(wall.at),
        Stamp::Boot(_) => None,
    })
}
