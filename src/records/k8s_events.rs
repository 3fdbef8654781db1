//! Kubernetes events, as `kubectl get events -o json` or `-o yaml` prints them. There is no event for a container's OOM kill.

use serde_json::Value;

use crate::fact::{How, Scope, What, Who, Why};
use crate::seen::Form;
use crate::time::Stamp;
use crate::units::{HostPid, Signal};

use super::{Field, Format, Reading, k8s_evicted};

/// kubernetes/api core/v1 `Event` and events.k8s.io/v1, which calls the message `note` and the object `regarding`.
pub(super) const FORMAT: Format = Format {
    id: "k8s-events",
    sniff,
    read,
    form: Form {
        name: "Kubernetes events (JSON, YAML)",
        how: "kubectl get events -A -o json",
        proves: "eviction and its reason, failed probes, node out of memory",
    },
    samples: &[
        r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Event","reason":"Evicted","message":"The node was low on resource: memory. ","type":"Warning","involvedObject":{"kind":"Pod","name":"a","namespace":"b","uid":"713b7f3f-883d-4d30-aebe-07380797ed54"},"source":{"component":"kubelet","host":"node-1"},"lastTimestamp":"2024-03-12T11:52:43Z"}]}"#,
        r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","reason":"OOMKilling","note":"Memory cgroup out of memory: Killed process 5 (python) total-vm:4kB, anon-rss:4kB, file-rss:0kB","regarding":{"kind":"Node","name":"node-1"},"eventTime":null,"deprecatedLastTimestamp":"2024-03-12T11:52:43Z"}"#,
        r#"{"metadata":{"name":"node-a.17683ea4"},"involvedObject":{"kind":"Node","name":"node-a"},"reason":"OOMKilling","message":"Memory cgroup out of memory: Killed process 5 (python) total-vm:4kB, anon-rss:4kB, file-rss:0kB","lastTimestamp":"2024-03-12T11:52:43Z"}"#,
    ],
};

fn is_event(value: &Value) -> bool {
    value.get("kind").and_then(Value::as_str) == Some("Event") && is_shaped(value)
}

fn is_shaped(value: &Value) -> bool {
    value.get("reason").is_some_and(Value::is_string)
        && (value.get("involvedObject").is_some() || value.get("regarding").is_some())
}

fn sniff(document: &Value) -> bool {
    let items = document.get("items").and_then(Value::as_array);
    let pods = || items.is_some_and(|items| items.iter().any(|item| item.get("kind").and_then(Value::as_str) == Some("Pod")));
    match (document.get("kind").and_then(Value::as_str), items) {
        (Some("Event"), _) => is_event(document),
        (Some("List"), Some(items)) => items.iter().any(is_event) && !pods(),
        (Some("EventList"), Some(items)) => items.iter().any(is_shaped),
        // Clients in Go leave the kind out of what they marshal.
        (None, None) => {
            let object = document.get("involvedObject").or_else(|| document.get("regarding"));
            let named = object.and_then(|object| object.get("kind")).is_some_and(Value::is_string);
            named && is_shaped(document) && document.get("metadata").is_some_and(Value::is_object)
        }
        _ => false,
    }
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    if root.at("items").is_told() {
        for item in root.at("items").items() {
            read_event(&mut reading, &item);
        }
    } else {
        read_event(&mut reading, &root);
    }
    reading
}

/// Reads one event; the list of pods may hold events too.
pub(super) fn read_event(reading: &mut Reading, event: &Field<'_>) {
    let object = event.any(&["involvedObject", "regarding"]);
    let message = event.any(&["message", "note"]);
    let reason = event.at("reason");
    let (Some(word), words) = (reason.text(), message.text().unwrap_or_default()) else { return };
    let who = whom(event, &object);
    let when = moment(event);
    match word {
        // node-problem-detector quotes the kernel's line, which the kernel's patterns read.
        "OOMKilling" => {
            reading.remark(&message, &who, when);
            return;
        }
        "SystemOOM" => {
            let who = with_victim(who.clone(), words);
            let what = What::OomReported { by: "kubelet", scope: Scope::Host };
            reading.claim(&message, &who, when, what, format!("{word}: {words}"));
            return;
        }
        _ => {}
    }
    let what = claim(word, words);
    match what {
        Some(what) => reading.claim(&reason, &who, when, what, format!("{word}: {}", words.trim())),
        None if matches!(word, "Failed" | "FailedCreatePodSandBox") => reading.remark(&message, &who, when),
        None => {}
    }
}

/// What an event's reason and message claim, where they claim anything of a death.
pub(super) fn claim(word: &str, words: &str) -> Option<What> {
    let stopped = |why, signal| Some(What::Stopped { by: "kubelet", why, signal });
    let probe = ["failed liveness probe", "failed startup probe"].iter().any(|part| words.contains(part));
    match word {
        "Killing" if probe => stopped(Why::Probe, None),
        "Killing" => stopped(Why::Request, Some(Signal::TERM)),
        "ExceededGracePeriod" => stopped(Why::StopTimeout, Some(Signal::KILL)),
        "NodeNotReady" | "NodeControllerEviction" => Some(What::Infrastructure),
        // node-problem-detector on AKS, AWS's node termination handler, Karpenter: said of the node.
        "PreemptScheduled" => Some(What::Stopped { by: "Azure", why: Why::Preemption, signal: None }),
        "SpotInterruption" | "SpotInterrupted" => Some(What::Stopped { by: "AWS", why: Why::Preemption, signal: None }),
        "TerminateScheduled" | "RedeployScheduled" | "RebootScheduled" | "InstanceTerminating" | "InstanceStopping" => {
            Some(What::Infrastructure)
        }
        "Failed" | "BackOff" | "FailedCreatePodSandBox" if is_image_trouble(words) => Some(What::Infrastructure),
        // Kubeflow's operators (training-operator pkg/controller.v1/common/pod.go): `Pod: <ns>.<pod> exited with code <n>`.
        "ExitedWithCode" => words
            .rsplit_once(" exited with code ")
            .and_then(|(_, code)| code.trim().parse().ok())
            .map(|code| What::Ended { how: How::Code(code), hint: false }),
        _ => k8s_evicted::removal(word, words, |_| None),
    }
}

/// Whom an event is about: a pod and perhaps one container of it, or a node.
fn whom(event: &Field<'_>, object: &Field<'_>) -> Who {
    let host = event.any(&["source", "deprecatedSource"]).at("host").string();
    match object.at("kind").text() {
        Some("Pod") => Who {
            pod: object.at("name").string(),
            pod_uid: object.at("uid").string(),
            namespace: object.at("namespace").string(),
            container_name: object.at("fieldPath").text().and_then(container_in),
            host,
            ..Who::default()
        },
        Some("Node") => Who { host: object.at("name").string().or(host), ..Who::default() },
        _ => Who { host, ..Who::default() },
    }
}

/// The name in `spec.containers{trainer}`.
fn container_in(path: &str) -> Option<String> {
    let (_, rest) = path.split_once('{')?;
    rest.strip_suffix('}').filter(|name| !name.is_empty()).map(str::to_owned)
}

/// `System OOM encountered, victim process: <comm>, pid: <host pid>` (pkg/kubelet/oom).
fn with_victim(mut who: Who, words: &str) -> Who {
    if let Some((_, rest)) = words.split_once("victim process: ")
        && let Some((process, pid)) = rest.rsplit_once(", pid: ")
    {
        who.process = Some(process.to_owned()).filter(|process| !process.is_empty());
        who.host_pid = pid.trim().trim_end_matches([']', '.']).parse().ok().map(HostPid);
    }
    who
}

fn is_image_trouble(words: &str) -> bool {
    [
        "Failed to pull image",
        "Error: ErrImagePull",
        "Error: ImagePullBackOff",
        "Back-off pulling image",
        "Error: ErrImageNeverPull",
    ]
    .iter()
    .any(|start| words.starts_with(start))
}

/// The event's last time; each version of the API has its own key.
fn moment(event: &Field<'_>) -> Option<Stamp> {
    let series = event.at("series").at("lastObservedTime");
    [series, event.at("lastTimestamp"), event.at("eventTime"), event.at("deprecatedLastTimestamp"), event.at("firstTimestamp")]
        .iter()
        .find_map(|field| field.time())
}
