//! What Google Compute Engine did to a machine: its operations and the audit log, as `gcloud` prints them.

use serde_json::Value;

use crate::fact::{Role, What, Who, Why, Witness};
use crate::seen::Form;

use super::{Field, Format, Reading, first};

/// `compute#operation` of the Compute Engine API v1, one or a list.
pub(super) const OPERATION: Format = Format {
    id: "gce-operation",
    sniff: |document: &Value| {
        first(document).is_some_and(|one| one.get("kind").and_then(Value::as_str) == Some("compute#operation"))
    },
    read: |document| {
        Reading::of_each(document, |reading, one| {
            let (kind, target) = (one.at("operationType"), one.at("targetLink"));
            let when = one.any(&["startTime", "insertTime", "endTime"]).time();
            tell(reading, &kind, &target, &one.at("statusMessage"), when);
        })
    },
    form: Form {
        name: "operations of Google Compute Engine (JSON, YAML)",
        how: "gcloud compute operations list --filter targetLink:INSTANCE --format yaml",
        proves: "that a machine was preempted, failed, was stopped or deleted, and when",
    },
    samples: &[
        r#"[{"endTime":"2024-06-02T03:46:41.118-07:00","id":"5017","insertTime":"2024-06-02T03:46:40.118-07:00","kind":"compute#operation","name":"systemevent-1717300000000-619e","operationType":"compute.instances.preempted","status":"DONE","statusMessage":"Instance was preempted.","targetLink":"https://www.googleapis.com/compute/v1/projects/p1/zones/us-central1-a/instances/a100-spot-2"}]"#,
    ],
};

/// `google.cloud.audit.AuditLog` of `system_event` and `activity`, as `gcloud logging read` and the console print entries.
pub(super) const AUDIT: Format = Format {
    id: "google-audit-log",
    sniff: |document: &Value| {
        first(document).is_some_and(|one| one.pointer("/protoPayload/methodName").is_some_and(Value::is_string))
    },
    read: |document| {
        Reading::of_each(document, |reading, one| {
            let payload = one.at("protoPayload");
            let (method, target) = (payload.at("methodName"), payload.at("resourceName"));
            tell(reading, &method, &target, &payload.at("status").at("message"), one.at("timestamp").time());
        })
    },
    form: Form {
        name: "audit log of Google Cloud (JSON, YAML)",
        how: "gcloud logging read 'protoPayload.methodName:compute.instances' --format json",
        proves: "that a machine was preempted, failed, was stopped or deleted, and when",
    },
    samples: &[
        r#"{"insertId":"-k2x9q1e2f3a4","logName":"projects/p1/logs/cloudaudit.googleapis.com%2Fsystem_event","protoPayload":{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","methodName":"compute.instances.preempted","resourceName":"projects/p1/zones/us-central1-a/instances/a100-spot-2","serviceName":"compute.googleapis.com","status":{"message":"Instance was preempted."}},"timestamp":"2024-06-02T03:46:40.118Z"}"#,
        r#"[{"protoPayload":{"methodName":"v1.compute.instances.delete","authenticationInfo":{"principalEmail":"ops@example.com"},"resourceName":"projects/p1/zones/us-central1-a/instances/a100-2"},"timestamp":"2024-06-02T03:46:40.118Z"}]"#,
    ],
};

/// What an operation or method (`compute.instances.preempted`, `v1.compute.instances.stop`, `stop`) did to a machine; nothing
/// for what leaves its processes alone, a live migration for example.
fn event(method: &str) -> Option<What> {
    let (group, verb) = method.rsplit_once('.').unwrap_or(("instances", method));
    if !group.ends_with("instances") {
        return None;
    }
    let stopped = |why| Some(What::Stopped { by: "Google Compute Engine", why, signal: None });
    match verb {
        "preempted" | "terminateOnHostMaintenance" => stopped(Why::Preemption),
        "guestTerminate" => stopped(Why::Shutdown),
        "stop" | "delete" | "suspend" | "reset" => stopped(Why::Request),
        "hostError" => Some(What::Infrastructure),
        _ => None,
    }
}

fn tell(reading: &mut Reading, method: &Field<'_>, target: &Field<'_>, words: &Field<'_>, when: Option<crate::time::Stamp>) {
    let Some(name) = method.text() else { return };
    // A group of machines is no machine.
    let machine = target.text().filter(|path| path.contains("/instances/")).and_then(|path| path.rsplit('/').next());
    let (Some(what), Some(machine)) = (event(name), machine) else { return };
    let who = Who { host: Some(machine.to_owned()), ..Who::role(Role::Job) };
    let text = format!("{name} {machine} {}", words.text().unwrap_or_default());
    reading.claim_by(Witness::Supervisor, method, &who, when, what, text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_a_machine_is_told() {
        let why = |method| match event(method) {
            Some(What::Stopped { why, .. }) => Some(why),
            _ => None,
        };
        assert_eq!(why("compute.instances.preempted"), Some(Why::Preemption));
        assert_eq!(why("beta.compute.instances.stop"), Some(Why::Request));
        assert_eq!(why("delete"), Some(Why::Request));
        assert_eq!(event("compute.instances.hostError"), Some(What::Infrastructure));
        for method in [
            "compute.instances.migrateOnHostMaintenance",
            "compute.instances.automaticRestart",
            "v1.compute.disks.delete",
            "google.iam.admin.v1.CreateRole",
            "insert",
        ] {
            assert_eq!(event(method), None, "{method}");
        }
    }
}
