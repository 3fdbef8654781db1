//! Machines that a cloud took back: EC2's instances and Spot requests, EventBridge's warning, Azure's scheduled events.

use serde_json::Value;

use crate::fact::{What, Who, Why};
use crate::seen::Form;

use super::{Field, Format, Reading};

/// The EC2 API of 2016-11-15, EventBridge, and Azure's metadata service (`scheduledevents`, 2017-11-01 and later).
pub(super) const FORMAT: Format = Format {
    id: "cloud-machines",
    sniff,
    read,
    form: Form {
        name: "machines of AWS and Azure (JSON)",
        how: "aws ec2 describe-instances; aws ec2 describe-spot-instance-requests; Azure's scheduled events",
        proves: "that a Spot machine was taken back",
    },
    samples: &[
        r#"{"Reservations":[{"Instances":[{"InstanceId":"i-0a","PrivateDnsName":"ip-10-0-0-1.ec2.internal","State":{"Name":"terminated"},"StateReason":{"Code":"Server.SpotInstanceTermination","Message":"Server.SpotInstanceTermination: Spot instance termination"}}]}]}"#,
        r#"{"SpotInstanceRequests":[{"InstanceId":"i-0a","State":"closed","Status":{"Code":"instance-terminated-no-capacity","Message":"Your Spot instance was terminated because there is no Spot capacity available","UpdateTime":"2024-05-03T10:00:00.000Z"}}]}"#,
        r#"{"action":"terminate","time":"2024-05-03T10:02:00Z"}"#,
        r#"{"source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","time":"2024-05-03T10:00:00Z","detail":{"instance-id":"i-0a","instance-action":"terminate"}}"#,
        r#"{"DocumentIncarnation":2,"Events":[{"EventId":"A1","EventType":"Preempt","Resources":["gpu-1"],"EventStatus":"Scheduled"}]}"#,
    ],
};

/// What EC2's metadata answers for `spot/instance-action`, as scripts print it.
fn is_notice(document: &Value) -> bool {
    let action = document.get("action").and_then(Value::as_str).unwrap_or_default();
    let members = document.as_object().map_or(0, serde_json::Map::len);
    members == 2 && ["terminate", "stop", "hibernate"].contains(&action) && document.get("time").is_some_and(Value::is_string)
}

fn sniff(document: &Value) -> bool {
    let warning = document.get("detail-type").and_then(Value::as_str).is_some_and(|kind| kind.starts_with("EC2 Spot Instance"));
    let listed = ["/Reservations/0/Instances", "/SpotInstanceRequests"];
    warning
        || is_notice(document)
        || listed.iter().any(|at| document.pointer(at).is_some_and(Value::is_array))
        || document.get("DocumentIncarnation").is_some() && document.get("Events").is_some_and(Value::is_array)
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    for instance in root.at("Reservations").items().flat_map(|one| one.at("Instances").items().collect::<Vec<_>>()) {
        let code = instance.at("StateReason").at("Code");
        let host = instance.any(&["PrivateDnsName", "InstanceId"]).string();
        match code.text() {
            Some("Server.SpotInstanceTermination" | "Server.SpotInstanceShutdown") => taken(&mut reading, &code, "AWS", host),
            Some("Server.InternalError" | "Server.ScheduledStop") => {
                let who = Who { host, ..Who::default() };
                reading.claim(&code, &who, None, What::Infrastructure, code.text().unwrap_or_default());
            }
            _ => {}
        }
    }
    for request in root.at("SpotInstanceRequests").items() {
        let code = request.at("Status").at("Code");
        let word = code.text().unwrap_or_default();
        let by_aws = word.starts_with("instance-terminated-") || word.starts_with("instance-stopped-");
        if by_aws && !word.ends_with("by-user") && !word.ends_with("by-service") || word.starts_with("marked-for-") {
            taken(&mut reading, &code, "AWS", request.at("InstanceId").string());
        }
    }
    if is_notice(document) {
        taken(&mut reading, &root.at("action"), "AWS", None);
    }
    let action = root.at("detail").at("instance-action");
    if matches!(action.text(), Some("terminate" | "stop" | "hibernate")) {
        taken(&mut reading, &action, "AWS", root.at("detail").at("instance-id").string());
    }
    for event in root.at("Events").items() {
        let kind = event.at("EventType");
        if kind.text() == Some("Preempt") {
            let host = event.at("Resources").items().next().and_then(|name| name.string());
            taken(&mut reading, &kind, "Azure", host);
        }
    }
    reading
}

fn taken(reading: &mut Reading, field: &Field<'_>, by: &'static str, host: Option<String>) {
    let who = Who { host, ..Who::default() };
    let what = What::Stopped { by, why: Why::Preemption, signal: None };
    reading.claim(field, &who, None, what, field.text().unwrap_or_default());
}
