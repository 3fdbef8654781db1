//! `sacct --json`, `squeue --json` and `scontrol show job --json` of Slurm: jobs, their steps and how they ended.

use serde_json::Value;

use crate::fact::{Role, What, Who, Witness};
use crate::seen::Form;
use crate::time::Stamp;
use crate::units::Bytes;

use super::{Field, Format, Reading, slurm_state};

/// Slurm 20.11 and later (src/plugins/data_parser); numbers are bare at first and `{set, infinite, number}` since 22.05.
pub(super) const FORMAT: Format = Format {
    id: "slurm-jobs",
    sniff: |document: &Value| {
        document.pointer("/jobs/0").is_some_and(|job| {
            job.get("job_id").is_some_and(Value::is_number) && (job.get("state").is_some() || job.get("job_state").is_some())
        })
    },
    read,
    form: Form {
        name: "Slurm accounting (JSON)",
        how: "sacct -j ID --json",
        proves: "kill for memory in a job, signal, time limit, preemption",
    },
    samples: &[
        r#"{"jobs":[{"job_id":1,"name":"oom","nodes":"labvm","state":{"current":["OUT_OF_MEMORY"],"reason":"None"},"exit_code":{"status":["SIGNALED"],"return_code":{"set":false,"infinite":false,"number":0},"signal":{"id":{"set":true,"infinite":false,"number":125},"name":"125"}},"required":{"memory_per_node":{"set":true,"infinite":false,"number":64}},"time":{"end":1796109700},"steps":[{"state":["OUT_OF_MEMORY"],"step":{"id":"1.0","name":"oom"}}]}]}"#,
    ],
};

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    for job in Field::root(document).at("jobs").items() {
        let Some(id) = job.at("job_id").count() else { continue };
        let who = whom(&job, id);
        let before = reading.entries.len();
        let when = moment(&job.at("time").at("end")).or_else(|| moment(&job.at("end_time")));
        let state = job.any(&["state", "job_state"]);
        end(&mut reading, &state, &job.at("exit_code"), &who, when, &format!("job {id}"));
        let said: Vec<_> = reading.entries.iter().skip(before).map(|entry| entry.claim.what.clone()).collect();
        for step in job.at("steps").items() {
            let name = step.at("step").at("name").text().unwrap_or_default();
            let label = match step.at("step").at("id").text() {
                Some(step_id) => format!("step {step_id} ({name})"),
                None => format!("step {name} of job {id}"),
            };
            let mut one = Reading::default();
            let ended = moment(&step.at("time").at("end")).or(when);
            end(&mut one, &step.at("state"), &step.at("exit_code"), &who, ended, &label);
            // A step repeats what its job says, and only its death adds something.
            one.entries.retain(|entry| !said.contains(&entry.claim.what) && slurm_state::tells_death(&entry.claim.what));
            reading.entries.append(&mut one.entries);
        }
        let memory = job.at("required").at("memory_per_node");
        if let Some(mib) = number(&memory).and_then(|mib| u64::try_from(mib).ok()).filter(|mib| *mib > 0) {
            let text = format!("required.memory_per_node {mib} MiB (job {id})");
            let what = What::MemoryOption(Bytes::mib(mib));
            reading.claim_by(Witness::Supervisor, &memory, &who, None, what, text);
        }
    }
    reading
}

fn whom(job: &Field<'_>, id: u64) -> Who {
    // A list of nodes (`gpu[01-04]`) names no machine.
    let node = job.at("nodes").text().filter(|nodes| !nodes.contains(['[', ',', ' ']) && *nodes != "None");
    Who { job: Some(id.to_string()), host: node.map(str::to_owned), ..Who::role(Role::Job) }
}

/// The claims of one state and exit code.
fn end(reading: &mut Reading, state: &Field<'_>, exit: &Field<'_>, who: &Who, when: Option<Stamp>, label: &str) {
    let words = state_words(state);
    let text = format!("{label} {}{}", words.join(" "), exit_text(exit));
    let mut claim = |what| reading.claim_by(Witness::Supervisor, state, who, when, what, text.clone());
    let code = number(&exit.at("return_code")).or_else(|| exit.number());
    if let Some(what) = words.iter().find_map(|word| slurm_state::end(word, code, signal_of(exit))) {
        claim(what);
    }
}

/// `["OUT_OF_MEMORY"]`, `"OUT_OF_MEMORY"`, or either below `current`.
fn state_words(state: &Field<'_>) -> Vec<String> {
    let inner = if state.is_object() { state.at("current") } else { state.clone() };
    match inner.string() {
        Some(word) => vec![word],
        None => inner.items().filter_map(|word| word.string()).collect(),
    }
}

/// The signal's number; Slurm's own 125 for "out of memory" (SIG_OOM) comes with a state that says the same.
fn signal_of(exit: &Field<'_>) -> Option<u8> {
    let signal = exit.at("signal");
    number(&signal.at("id")).or_else(|| number(&signal.at("signal_id"))).and_then(|n| u8::try_from(n).ok())
}

fn exit_text(exit: &Field<'_>) -> String {
    let code = number(&exit.at("return_code")).or_else(|| exit.number());
    let signal = number(&exit.at("signal").at("id")).or_else(|| number(&exit.at("signal").at("signal_id")));
    match (code, signal) {
        (None, None) => String::new(),
        (code, signal) => format!(", exit_code {}:{}", code.unwrap_or_default(), signal.unwrap_or_default()),
    }
}

/// A bare number, or the number of `{set, infinite, number}` where it is set.
fn number(field: &Field<'_>) -> Option<i64> {
    if field.is_object() {
        return if field.at("set").flag() == Some(true) { field.at("number").number() } else { None };
    }
    field.number()
}

fn moment(field: &Field<'_>) -> Option<Stamp> {
    if field.is_object() { field.at("number").epoch(1) } else { field.epoch(1) }
}
