//! Workloads above pods: Kubernetes jobs, Kubeflow's training jobs, Volcano, Argo Workflows, RayJobs. They know that a replica
//! failed and hardly ever why; what they quote is handed to the patterns.

use serde_json::Value;

use crate::fact::{Container, Engine, How, Role, Status, What, Who, Why, Witness};
use crate::seen::Form;

use super::{Field, Format, Reading, k8s_pod};

/// batch/v1, kubeflow training-operator v1 and trainer v2, batch.volcano.sh, argoproj.io, ray.io.
pub(super) const FORMAT: Format = Format {
    id: "k8s-workload",
    sniff,
    read,
    form: Form {
        name: "jobs and workflows above pods (JSON, YAML): Job, PyTorchJob, TFJob, MPIJob, Volcano, Argo Workflow, RayJob",
        how: "kubectl get pytorchjob NAME -o yaml",
        proves: "that a replica failed, a deadline; Argo also tells kills for memory and exit codes. Fetch the pod for more",
    },
    samples: &[
        r#"{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"bert","namespace":"ml"},"status":{"conditions":[{"type":"Running","status":"False","reason":"PyTorchJobRunning"},{"type":"Failed","status":"True","reason":"PyTorchJobFailed","message":"PyTorchJob bert is failed because 1 Worker replica(s) failed.","lastTransitionTime":"2024-03-12T11:52:43Z"}]}}"#,
        r#"{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"wf"},"status":{"phase":"Failed","nodes":{"wf-1":{"id":"wf-1","displayName":"train","type":"Pod","phase":"Failed","message":"OOMKilled (exit code 137)","finishedAt":"2024-03-12T11:52:43Z"}}}}"#,
        r#"{"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"r"},"status":{"jobStatus":"FAILED","message":"Job entrypoint command failed with exit code 1","endTime":"2024-03-12T11:52:43Z"}}"#,
        r#"{"kind":"List","items":[{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"t"},"status":{"conditions":[{"type":"Failed","status":"True","reason":"DeadlineExceeded","message":"Job was active longer than specified deadline"}]}}]}"#,
        r#"{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","metadata":{"name":"v"},"status":{"state":{"phase":"Failed","lastTransitionTime":"2024-03-12T11:52:43Z"}}}"#,
    ],
};

/// The kinds whose end stands in `status.conditions`.
const KINDS: [&str; 12] = [
    "Job",
    "PyTorchJob",
    "TFJob",
    "MPIJob",
    "XGBoostJob",
    "PaddleJob",
    "MXJob",
    "JAXJob",
    "TrainJob",
    "JobSet",
    "RayJob",
    "Workflow",
];

fn kind(value: &Value) -> &str {
    value.get("kind").and_then(Value::as_str).unwrap_or_default()
}

fn is_workload(value: &Value) -> bool {
    KINDS.contains(&kind(value)) && value.get("status").is_some_and(Value::is_object)
}

/// One workload, or a list that holds neither pods nor events, which are lists of other formats.
fn sniff(document: &Value) -> bool {
    let items = document.get("items").and_then(Value::as_array);
    let foreign = |items: &[Value]| items.iter().any(|item| matches!(kind(item), "Pod" | "Event"));
    is_workload(document)
        || kind(document) == "List" && items.is_some_and(|items| items.iter().any(is_workload) && !foreign(items))
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    if kind(document) == "List" {
        for item in root.at("items").items().filter(|item| item.at("status").is_object()) {
            read_workload(&mut reading, &item);
        }
    } else {
        read_workload(&mut reading, &root);
    }
    reading
}

fn read_workload(reading: &mut Reading, root: &Field<'_>) {
    let (metadata, status) = (root.at("metadata"), root.at("status"));
    let who = Who { job: metadata.at("name").string(), namespace: metadata.at("namespace").string(), ..Who::role(Role::Job) };
    for condition in status.at("conditions").items() {
        let failed = matches!(condition.at("type").text(), Some("Failed" | "FailureTarget" | "Restarting"));
        if failed && condition.at("status").text() == Some("True") {
            end(reading, &condition.at("type"), &condition.at("reason"), &condition.at("message"), &who, &condition);
        }
    }
    // Volcano.
    let state = status.at("state");
    if matches!(state.at("phase").text(), Some("Failed" | "Aborted" | "Terminated")) {
        end(reading, &state.at("phase"), &state.at("reason"), &state.at("message"), &who, &state);
    }
    // RayJob.
    if matches!(status.at("jobStatus").text(), Some("FAILED")) {
        end(reading, &status.at("jobStatus"), &status.at("reason"), &status.at("message"), &who, &status);
    }
    for (_, node) in status.at("nodes").members() {
        argo(reading, &node, &who);
    }
}

/// The end of a whole job.
fn end(reading: &mut Reading, field: &Field<'_>, reason: &Field<'_>, message: &Field<'_>, who: &Who, at: &Field<'_>) {
    let when = at.any(&["lastTransitionTime", "endTime", "lastUpdateTime"]).time();
    let what = match reason.text() {
        Some("DeadlineExceeded") => What::Stopped { by: "Kubernetes", why: Why::TimeLimit, signal: None },
        _ => What::Ended { how: How::Vanished, hint: false },
    };
    let words = [field, reason, message].map(|field| field.text().unwrap_or_default()).join(" ");
    reading.claim_by(Witness::Supervisor, field, who, when, what, words.trim());
    reading.remark(message, who, when);
}

/// A node of an Argo workflow: `OOMKilled (exit code 137)`, `main: Error (exit code 1): …` (workflow/controller/operator.go).
fn argo(reading: &mut Reading, node: &Field<'_>, workflow: &Who) {
    if node.at("type").text() != Some("Pod") || !matches!(node.at("phase").text(), Some("Failed" | "Error")) {
        return;
    }
    let (message, when) = (node.at("message"), node.at("finishedAt").time());
    let who = Who { pod: node.at("id").string(), namespace: workflow.namespace.clone(), ..Who::role(Role::Main) };
    let words = message.text().unwrap_or_default();
    let told = words.split_once(" (exit code ").and_then(|(before, rest)| {
        let code = rest.split(')').next()?.parse().ok()?;
        Some((before.rsplit(": ").next().unwrap_or(before), code))
    });
    let name = node.at("displayName").text().unwrap_or_default();
    match told {
        Some((word, code)) => {
            let reason = k8s_pod::reason(word);
            let oom_killed = (word == "OOMKilled").then_some(true);
            let container = Container {
                status: Status::Exited,
                exit_code: Some(code),
                reason: Some(reason),
                oom_killed,
                finished: when,
                ..Container::new(Engine::Kubernetes)
            };
            reading.claim(&message, &who, when, What::Container(Box::new(container)), format!("{name}: {words}"));
        }
        None if words.contains("deadline") => {
            let what = What::Stopped { by: "Argo", why: Why::TimeLimit, signal: None };
            reading.claim_by(Witness::Supervisor, &message, &who, when, what, format!("{name}: {words}"));
        }
        None => {
            let what = What::Ended { how: How::Vanished, hint: false };
            reading.claim_by(Witness::Supervisor, &node.at("phase"), &who, when, what, format!("{name}: {words}"));
            reading.remark(&message, &who, when);
        }
    }
}
