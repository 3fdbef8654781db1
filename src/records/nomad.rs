//! Nomad's allocations: `nomad alloc status -json`, one task's state of it, and the resources in its text. The text's events
//! are lines for the patterns.

use serde_json::Value;

use crate::fact::{Container, Engine, How, Role, Scope, Status, What, Who, Why, Witness};
use crate::seen::Form;
use crate::units::{Bytes, Signal};

use super::{Field, Format, Reading, TextFormat, texts};

/// hashicorp/nomad api.Allocation, also the list of `nomad job allocs -json`, and one member of `TaskStates` (jq). The docker
/// driver's `oom_killed` is Docker's flag; Nomad 1.3.0 before its release made it up for every 137.
pub(super) const FORMAT: Format = Format {
    id: "nomad-alloc",
    sniff: |document: &Value| {
        let one = document.get(0).unwrap_or(document);
        one.get("TaskStates").is_some_and(Value::is_object) && one.get("ClientStatus").is_some_and(Value::is_string)
            || is_task(document)
    },
    read,
    form: Form {
        name: "Nomad allocations (JSON)",
        how: "nomad alloc status -json ID",
        proves: "exit code or signal of a task; Docker's flag of a kill for memory",
    },
    samples: &[
        r#"{"ID":"116b0fdf-26c5-4f86-a1ff-8f365a817a8d","JobID":"train","NodeName":"node7","ClientStatus":"failed","TaskStates":{"trainer":{"State":"dead","Failed":true,"Restarts":0,"Events":[{"Type":"Started","Time":1650555128000000000},{"Type":"Terminated","Time":1650555170000000000,"ExitCode":137,"Signal":0,"Details":{"exit_code":"137","oom_killed":"true","signal":"0"},"DisplayMessage":"Exit Code: 137, Exit Message: \"OOM Killed\""}]}}}"#,
        r#"{"Events":[{"Type":"Started","Time":1564667095118201144,"Details":{}},{"Type":"Terminated","Time":1564672501118201144,"DisplayMessage":"Exit Code: 137, Exit Message: \"Docker container exited with non-zero exit code: 137\"","Details":{"exit_code":"137","exit_message":"Docker container exited with non-zero exit code: 137","oom_killed":"false","signal":"0"},"ExitCode":137,"Signal":0}],"Failed":true,"State":"dead"}"#,
    ],
};

/// Whether a document is the state of one task: api.TaskState, whose events have a type and a time.
fn is_task(document: &Value) -> bool {
    let event = document.pointer("/Events/0");
    let has = |key: &str| event.is_some_and(|event| event.get(key).is_some());
    document.get("State").is_some_and(Value::is_string)
        && document.get("Failed").is_some_and(Value::is_boolean)
        && has("Type")
        && has("Time")
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    if is_task(document) {
        for event in Field::root(document).at("Events").items() {
            read_event(&mut reading, &event, &Who::role(Role::Main));
        }
        return reading;
    }
    for alloc in Field::root(document).each() {
        for (name, task) in alloc.at("TaskStates").members() {
            let who = Who {
                job: alloc.at("JobID").string(),
                host: alloc.at("NodeName").string(),
                container_name: Some(name.to_owned()),
                ..Who::role(Role::Main)
            };
            for event in task.at("Events").items() {
                read_event(&mut reading, &event, &who);
            }
        }
    }
    reading
}

fn read_event(reading: &mut Reading, event: &Field<'_>, who: &Who) {
    let when = event.at("Time").epoch(1_000_000_000);
    let words = event.at("DisplayMessage");
    let kind = event.at("Type");
    let stopped = |why| What::Stopped { by: "Nomad", why, signal: None };
    let what = match kind.text() {
        Some("Terminated") => {
            let signal = event.at("Signal").count().and_then(|n| u8::try_from(n).ok()).filter(|n| (1..=64).contains(n));
            let code = event.at("ExitCode").number().unwrap_or_default();
            if code == 0 && signal.is_none() {
                return;
            }
            let how = signal.map_or(How::Code(code), |n| How::Signal(Signal(n)));
            What::Ended { how, hint: made_up(event) || event.at("Details").at("oom_killed").flag() == Some(true) }
        }
        Some("Killing") => stopped(Why::Request),
        Some("Kill Timeout") => stopped(Why::StopTimeout),
        Some("Leader Task Dead" | "Sibling Task Failed") => stopped(Why::Cleanup),
        Some("Driver Failure" | "Failed Artifact Download" | "Setup Failure") => What::Infrastructure,
        _ => return,
    };
    // The driver's own flag, which is more than the words that Nomad makes of 137.
    let flag = event.at("Details").at("oom_killed");
    if matches!(what, What::Ended { .. }) && flag.flag() == Some(true) && !made_up(event) {
        let oom = What::OomReported { by: "Nomad", scope: Scope::Cgroup };
        reading.claim_by(Witness::Supervisor, &flag, who, when, oom, "oom_killed true");
    }
    // Other drivers print `false` without having looked.
    let of_docker = event.at("Details").at("exit_message").text().is_some_and(|text| text.starts_with("Docker container "));
    if let (What::Ended { how: How::Code(code), .. }, Some(false), true) = (&what, flag.flag(), of_docker) {
        let container = Container {
            status: Status::Exited,
            exit_code: Some(*code),
            oom_killed: Some(false),
            finished: when,
            ..Container::new(Engine::Docker)
        };
        let text = format!("exit_code {code}, oom_killed false");
        reading.claim(&flag, who, when, What::Container(Box::new(container)), text);
        return;
    }
    let text = format!("{}: {}", kind.text().unwrap_or_default(), words.text().unwrap_or_default());
    reading.claim_by(Witness::Supervisor, &kind, who, when, what, text);
}

/// Whether the flag is made up: the builds of Nomad 1.3.0 that took every 137 for a kill for memory put the code into the words
/// (hashicorp/nomad#12735).
fn made_up(event: &Field<'_>) -> bool {
    let words = event.at("DisplayMessage").text().or(event.at("Details").at("exit_message").text());
    words.is_some_and(|words| words.contains("OOM Killed (137)"))
}

/// command/alloc_status.go.
pub(super) const STATUS: TextFormat = TextFormat {
    id: "nomad-status",
    starts: &["CPU  "],
    read: read_status,
    form: Form {
        name: "nomad alloc status",
        how: "nomad alloc status ID",
        proves: "exit code of a task, memory limit, Docker's flag of a kill for memory (OOM Killed)",
    },
    samples: &[
        "ID                  = 116b0fdf\nJob ID              = cache\n\nTask \"redis\" is \"dead\"\nTask Resources\nCPU        Memory       Disk     Addresses\n0/500 MHz  0 B/256 MiB  300 MiB  \n",
    ],
};

fn read_status(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut who = Who::role(Role::Main);
    let mut head = false;
    for (number, line) in texts::numbered(text) {
        if let Some(job) = line.strip_prefix("Job ID ") {
            who.job = job.split_once("= ").map(|(_, id)| id.trim().to_owned());
        } else if let Some(rest) = line.strip_prefix("Task \"") {
            who.container_name = rest.split('"').next().map(str::to_owned);
        } else if head
            && let Some(size) = line.split("  ").nth(1).and_then(|cell| cell.trim().rsplit('/').next()?.parse::<Bytes>().ok())
        {
            reading.say(Witness::Supervisor, number, &who, None, What::MemoryOption(size), line.trim());
        }
        head = line.starts_with("CPU  ") && line.contains("  Memory") && who.container_name.is_some();
    }
    reading.told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_oom_is_a_guess() {
        let document: Value = serde_json::from_str(FORMAT.samples[0]).unwrap();
        let entries = read(&document).entries;
        assert_eq!(entries[0].claim.what, What::OomReported { by: "Nomad", scope: Scope::Cgroup });
        let entry = &entries[1];
        assert_eq!(entry.claim.what, What::Ended { how: How::Code(137), hint: true });
        assert_eq!(entry.claim.who.container_name.as_deref(), Some("trainer"));
        let entries = read(&serde_json::from_str(FORMAT.samples[1]).unwrap()).entries;
        assert!(matches!(&entries[0].claim.what, What::Container(c) if c.oom_killed == Some(false) && c.exit_code == Some(137)));
        assert_eq!(entries.len(), 1);
        let made_up = FORMAT.samples[0].replace("OOM Killed", "OOM Killed (137)");
        let entries = read(&serde_json::from_str(&made_up).unwrap()).entries;
        assert_eq!(entries.len(), 1, "{entries:?}");
        let raw = FORMAT.samples[1].replace("Docker container exited with non-zero exit code: 137", "Exit code: 137");
        assert_eq!(read(&serde_json::from_str(&raw).unwrap()).entries.len(), 1);
        let entry = &read_status(STATUS.samples[0]).unwrap().entries[0];
        assert_eq!(entry.claim.what, What::MemoryOption(Bytes::mib(256)));
    }
}
