//! AWS Batch: `describe-jobs`, and EventBridge's job state changes.

use serde_json::Value;

use crate::fact::{Container, Engine, Limit, Role, Shm, Status, What, Who, Why, Witness};
use crate::seen::Form;
use crate::units::Bytes;

use super::{Field, Format, Reading, dev_shm};

/// The Batch API of 2016-08-10; the reason is the ECS agent's.
pub(super) const FORMAT: Format = Format {
    id: "aws-batch",
    sniff,
    read,
    form: Form {
        name: "AWS Batch jobs (JSON)",
        how: "aws batch describe-jobs --jobs ID",
        proves: "kill for memory, exit code of each attempt, spot interruption, time limit, size of /dev/shm",
    },
    samples: &[
        r#"{"jobs":[{"jobArn":"arn:aws:batch:us-east-1:111122223333:job/876da822","jobId":"876da822","jobQueue":"q","status":"FAILED","statusReason":"Essential container in task exited","attempts":[{"container":{"exitCode":137,"reason":"OutOfMemoryError: Container killed due to memory usage"},"startedAt":1710244000000,"stoppedAt":1710244363000,"statusReason":"Essential container in task exited"}],"container":{"image":"trainer:1","exitCode":137,"resourceRequirements":[{"type":"MEMORY","value":"4096"}],"linuxParameters":{"sharedMemorySize":256}}}]}"#,
        r#"{"jobs":[{"jobName":"t","jobId":"876da822","status":"FAILED","attempts":[],"container":{"exitCode":137,"reason":"OutOfMemoryError: Container killed due to memory usage"}}]}"#,
        r#"{"source":"aws.batch","detail-type":"Batch Job State Change","detail":{"jobId":"4c7599ae","jobQueue":"q","status":"FAILED","statusReason":"Host EC2 (instance i-0123456789abcdef0) terminated.","container":{}}}"#,
    ],
};

fn is_job(value: &Value) -> bool {
    let known = ["jobQueue", "jobArn", "attempts", "jobDefinition"].iter().any(|key| value.get(key).is_some());
    value.get("jobId").is_some_and(Value::is_string) && value.get("status").is_some() && known
}

fn sniff(document: &Value) -> bool {
    document.pointer("/jobs/0").is_some_and(is_job) || document.get("detail").is_some_and(is_job)
}

fn read(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    for job in root.at("jobs").items() {
        read_job(&mut reading, &job);
    }
    if root.at("detail").is_object() {
        read_job(&mut reading, &root.at("detail"));
    }
    reading
}

fn read_job(reading: &mut Reading, job: &Field<'_>) {
    let who = Who { job: job.at("jobId").string(), ..Who::role(Role::Main) };
    let own = job.at("container");
    let parameters = own.at("linuxParameters");
    let shm = match parameters.at("sharedMemorySize").count() {
        Some(mib) if mib > 0 => Shm::Sized(Bytes::mib(mib)),
        _ if own.at("image").is_told() => Shm::Default(dev_shm::default_size(Engine::Ecs)),
        _ => Shm::Unknown,
    };
    let memory = memory(&own);
    let attempts: Vec<Field<'_>> = job.at("attempts").items().collect();
    let last = attempts.len().saturating_sub(1);
    for (n, attempt) in attempts.iter().enumerate() {
        let run = attempt.at("container");
        let stopped = attempt.at("stoppedAt").epoch(1000);
        let container = Container {
            previous: n < last,
            started: attempt.at("startedAt").epoch(1000),
            finished: stopped,
            ..described(&run, memory, shm, &own)
        };
        claim(reading, &run, &who, container);
        reason(reading, &attempt.at("statusReason"), job, &who);
    }
    if attempts.is_empty() && (own.at("exitCode").is_told() || own.at("reason").is_told()) {
        claim(reading, &own, &who, described(&own, memory, shm, &own));
    }
    reason(reading, &job.at("statusReason"), job, &who);
    if shm != Shm::Unknown {
        let text = match shm {
            Shm::Sized(bytes) => format!("linuxParameters.sharedMemorySize {bytes}"),
            _ => format!("no linuxParameters.sharedMemorySize, so {}", dev_shm::default_size(Engine::Ecs)),
        };
        reading.claim(&own, &who, None, What::ShmOption(shm), text);
    }
}

fn described(run: &Field<'_>, memory: Option<Limit>, shm: Shm, own: &Field<'_>) -> Container {
    let oom = run.at("reason").text().is_some_and(|text| text.starts_with("OutOfMemoryError"));
    Container {
        status: Status::Exited,
        exit_code: run.at("exitCode").number(),
        oom_killed: oom.then_some(true),
        memory,
        shm,
        image: own.at("image").string(),
        ..Container::new(Engine::Ecs)
    }
}

fn claim(reading: &mut Reading, run: &Field<'_>, who: &Who, container: Container) {
    let code = container.exit_code.map_or_else(|| "no exit code".to_owned(), |code| format!("exitCode {code}"));
    let words = run.at("reason").text().map_or_else(String::new, |words| format!(", reason {words}"));
    let when = container.finished;
    reading.claim(run, who, when, What::Container(Box::new(container)), format!("{code}{words}"));
}

/// The limit in MiB, in the list of requirements or, formerly, on its own.
fn memory(own: &Field<'_>) -> Option<Limit> {
    let listed = own.at("resourceRequirements").items().find(|one| one.at("type").text() == Some("MEMORY"));
    let mib = listed.and_then(|one| one.at("value").count()).or_else(|| own.at("memory").count());
    mib.filter(|mib| *mib > 0).map(|mib| Limit::Bytes(Bytes::mib(mib)))
}

/// Why the job or an attempt ended, where somebody ended it.
fn reason(reading: &mut Reading, field: &Field<'_>, job: &Field<'_>, who: &Who) {
    let words = field.text().unwrap_or_default();
    let stopped = |why| What::Stopped { by: "AWS Batch", why, signal: None };
    let what = if words.starts_with("Host EC2 (instance") {
        What::Infrastructure
    } else if words.starts_with("Job attempt duration exceeded timeout") {
        stopped(Why::TimeLimit)
    } else if job.at("isTerminated").flag() == Some(true) || job.at("isCancelled").flag() == Some(true) {
        stopped(Why::Request)
    } else {
        return;
    };
    let repeated = reading.entries.iter().any(|entry| entry.claim.what == what && entry.claim.who.job == who.job);
    if !repeated {
        reading.claim_by(Witness::Supervisor, field, who, None, what, format!("statusReason {words}"));
    }
}
