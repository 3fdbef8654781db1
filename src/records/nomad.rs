//! Nomad's allocations: `nomad alloc status -json`, and the resources in its text. The text's events are lines for the patterns.

use serde_json::Value;

use crate::fact::{How, Role, Scope, What, Who, Why, Witness};
use crate::seen::Form;
use crate::units::{Bytes, Signal};

use super::{Field, Format, Reading, TextFormat, texts};

/// hashicorp/nomad api.Allocation, also the list of `nomad job allocs -json`. The docker driver takes Docker's flag for
/// every 137, and some versions make it up, so that it is a guess.
pub(super) const FORMAT: Format = Format {
    id: "nomad-alloc",
    sniff: |document: &Value| {
        let one = document.get(0).unwrap_or(document);
        one.get("TaskStates").is_some_and(Value::is_object) && one.get("ClientStatus").is_some_and(Value::is_string)
    },
    read,
    form: Form {
        name: "Nomad allocations (JSON)",
        how: "nomad alloc status -json ID",
        proves: "exit code or signal of a task; OOM Killed is a guess of Nomad",
    },
    samples: &[
        r#"{"ID":"116b0fdf-26c5-4f86-a1ff-8f365a817a8d","JobID":"train","NodeName":"node7","ClientStatus":"failed","TaskStates":{"trainer":{"State":"dead","Failed":true,"Restarts":0,"Events":[{"Type":"Started","Time":1650555128000000000},{"Type":"Terminated","Time":1650555170000000000,"ExitCode":137,"Signal":0,"Details":{"exit_code":"137","oom_killed":"true","signal":"0"},"DisplayMessage":"Exit Code: 137, Exit Message: \"OOM Killed\""}]}}}"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
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
            What::Ended { how, hint: event.at("Details").at("oom_killed").flag() == Some(true) }
        }
        Some("Killing") => stopped(Why::Request),
        Some("Kill Timeout") => stopped(Why::StopTimeout),
        Some("Leader Task Dead" | "Sibling Task Failed") => stopped(Why::Cleanup),
        Some("Driver Failure" | "Failed Artifact Download" | "Setup Failure") => What::Infrastructure,
        _ => return,
    };
    // The driver's own flag, which is more than the words that Nomad makes of 137.
    let flag = event.at("Details").at("oom_killed");
    if matches!(what, What::Ended { .. }) && flag.flag() == Some(true) {
        let oom = What::OomReported { by: "Nomad", scope: Scope::Cgroup };
        reading.claim_by(Witness::Supervisor, &flag, who, when, oom, "oom_killed true");
    }
    let text = format!("{}: {}", kind.text().unwrap_or_default(), words.text().unwrap_or_default());
    reading.claim_by(Witness::Supervisor, &kind, who, when, what, text);
}

/// command/alloc_status.go.
pub(super) const STATUS: TextFormat = TextFormat {
    id: "nomad-status",
    starts: &["CPU  "],
    read: read_status,
    form: Form {
        name: "nomad alloc status",
        how: "nomad alloc status ID",
        proves: "exit code of a task, memory limit; OOM Killed is a guess of Nomad",
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
        let entry = &read_status(STATUS.samples[0]).unwrap().entries[0];
        assert_eq!(entry.claim.what, What::MemoryOption(Bytes::mib(256)));
    }
}
