//! Executions and tasks of Cloud Run jobs: why a task failed stands in the messages of their conditions.

use serde_json::Value;

use crate::fact::{How, Role, What, Who, Witness};
use crate::seen::Form;

use super::{Field, Format, Reading};

/// run.googleapis.com/v1, as `gcloud run jobs executions describe NAME --format yaml` and `… tasks describe` print it.
pub(super) const FORMAT: Format = Format {
    id: "cloud-run-execution",
    sniff: |document: &Value| {
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        text("apiVersion").starts_with("run.googleapis.com/") && matches!(text("kind"), "Execution" | "Task")
    },
    read,
    form: Form {
        name: "executions and tasks of Cloud Run jobs (JSON, YAML)",
        how: "gcloud run jobs executions describe NAME --format yaml",
        proves: "exit code; kill for memory where the message says so",
    },
    samples: &[
        r#"{"apiVersion":"run.googleapis.com/v1","kind":"Execution","metadata":{"name":"train-x7k2p"},"status":{"conditions":[{"lastTransitionTime":"2024-06-02T03:46:40.118Z","message":"Task train-x7k2p-task0 failed with message: The container exited with an error.","reason":"NonZeroExitCode","status":"False","type":"Completed"}],"failedCount":1}}"#,
        r#"{"apiVersion":"run.googleapis.com/v1","kind":"Task","metadata":{"name":"train-x7k2p-task0"},"status":{"conditions":[{"message":"Memory limit of 512 MiB exceeded with 520 MiB used.","status":"False","type":"Completed"}],"lastAttemptResult":{"exitCode":137}}}"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    let who = Who { job: root.at("metadata").at("name").string(), ..Who::role(Role::Job) };
    let status = root.at("status");
    let code = status.at("lastAttemptResult").at("exitCode");
    for condition in status.at("conditions").items() {
        let completed = matches!(condition.at("type").text(), Some("Completed" | "Ready"));
        if !completed || condition.at("status").text() != Some("False") {
            continue;
        }
        let (when, message) = (condition.at("lastTransitionTime").time(), condition.at("message"));
        let exit = code.number().map(|number| format!("exitCode {number}"));
        let words = [condition.at("reason").text(), message.text(), exit.as_deref()];
        let text = words.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let how = code.number().filter(|number| *number != 0).map_or(How::Vanished, How::Code);
        reading.claim_by(Witness::Supervisor, &condition.at("status"), &who, when, What::Ended { how, hint: false }, text);
        if let Some(words) = message.text() {
            // The reason of a task follows the words that name the task.
            let at = words.find("failed with message: ").map_or(0, |at| at + "failed with message: ".len());
            reading.remark_part(&message, words.get(at..).unwrap_or(words), &who, when);
        }
        break;
    }
    reading
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_task_meets_the_patterns() {
        let reading = read(&serde_json::from_str(FORMAT.samples[0]).unwrap());
        assert_eq!(reading.remarks[0].text, "The container exited with an error.");
        let reading = read(&serde_json::from_str(FORMAT.samples[1]).unwrap());
        assert_eq!(reading.entries[0].claim.what, What::Ended { how: How::Code(137), hint: false });
        let running = r#"{"apiVersion":"run.googleapis.com/v1","kind":"Execution","status":{"conditions":[{"type":"Completed","status":"Unknown"}]}}"#;
        assert_eq!(read(&serde_json::from_str(running).unwrap()), Reading::default());
    }
}
