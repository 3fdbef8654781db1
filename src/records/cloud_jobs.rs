//! Managed training jobs: SageMaker, Vertex AI, Google Batch. Their records quote the container's end in a sentence.

use serde_json::Value;

use crate::fact::{How, Role, What, Who, Why, Witness};
use crate::seen::Form;

use super::{Field, Format, Reading};

/// The SageMaker API of 2017-07-24: training and processing jobs.
pub(super) const SAGEMAKER: Format = Format {
    id: "sagemaker-job",
    sniff: |document: &Value| {
        ["TrainingJobStatus", "ProcessingJobStatus"].iter().any(|key| document.get(key).is_some_and(Value::is_string))
    },
    read: read_sagemaker,
    form: Form {
        name: "SageMaker jobs (JSON)",
        how: "aws sagemaker describe-training-job --training-job-name NAME",
        proves: "exit code, time limit, spot interruption; nothing of memory",
    },
    samples: &[
        r#"{"TrainingJobName":"pt-1","TrainingJobStatus":"Failed","SecondaryStatus":"Failed","FailureReason":"AlgorithmError: , exit code: 137","TrainingEndTime":"2024-03-12T11:52:43.123000+00:00"}"#,
        r#"{"TrainingJobName":"pt-2","TrainingJobStatus":"Stopped","SecondaryStatus":"MaxRuntimeExceeded"}"#,
    ],
};

fn read_sagemaker(document: &Value) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    let status = root.any(&["TrainingJobStatus", "ProcessingJobStatus"]);
    let who = Who { job: root.any(&["TrainingJobName", "ProcessingJobName"]).string(), ..Who::role(Role::Job) };
    let when = root.any(&["TrainingEndTime", "ProcessingEndTime"]).time();
    let (second, reason) = (root.at("SecondaryStatus"), root.any(&["FailureReason", "ExitMessage"]));
    let stopped = |why| Some(What::Stopped { by: "SageMaker", why, signal: None });
    let what = match (status.text(), second.text()) {
        (_, Some("MaxRuntimeExceeded" | "MaxWaitTimeExceeded")) => stopped(Why::TimeLimit),
        (_, Some("Interrupted")) => stopped(Why::Preemption),
        (Some("Stopped"), _) => stopped(Why::Request),
        (Some("Failed"), _) if reason.text().is_some_and(|words| words.starts_with("InternalServerError")) => {
            Some(What::Infrastructure)
        }
        (Some("Failed"), _) => Some(What::Ended { how: How::Vanished, hint: false }),
        _ => None,
    };
    let words = [&status, &second, &reason].map(|field| field.text().unwrap_or_default()).join(" ");
    if let Some(what) = what {
        reading.claim_by(Witness::Supervisor, &status, &who, when, what, words.trim());
    }
    reading.remark(&reason, &who, when);
    reading
}

/// The Vertex AI API, v1: custom jobs and training pipelines.
pub(super) const VERTEX: Format = Format {
    id: "vertex-job",
    sniff: |document: &Value| {
        let text = |key: &str| document.get(key).and_then(Value::as_str).unwrap_or_default();
        (text("name").contains("/customJobs/") || text("name").contains("/trainingPipelines/")) && !text("state").is_empty()
    },
    read: |document| read_failed(document, &["JOB_STATE_FAILED", "PIPELINE_STATE_FAILED", "JOB_STATE_EXPIRED"], "Vertex AI"),
    form: Form {
        name: "Vertex AI jobs (JSON, YAML)",
        how: "gcloud ai custom-jobs describe ID --format json",
        proves: "exit code; kill for memory where the message says so",
    },
    samples: &[
        r#"{"name":"projects/1/locations/us-central1/customJobs/42","state":"JOB_STATE_FAILED","endTime":"2024-03-12T11:52:43Z","error":{"code":3,"message":"The replica workerpool0-0 exited with a non-zero status of 137. Termination reason: OOMKilled."}}"#,
    ],
};

fn read_failed(document: &Value, states: &[&str], by: &'static str) -> Reading {
    let mut reading = Reading::default();
    let root = Field::root(document);
    let id = root.at("name").text().and_then(|name| name.rsplit('/').next()).map(str::to_owned);
    let who = Who { job: id, ..Who::role(Role::Job) };
    let (state, when, message) = (root.at("state"), root.at("endTime").time(), root.at("error").at("message"));
    let word = state.text().unwrap_or_default();
    if states.contains(&word) {
        let what = if word.ends_with("EXPIRED") {
            What::Stopped { by, why: Why::TimeLimit, signal: None }
        } else {
            What::Ended { how: How::Vanished, hint: false }
        };
        let text = format!("{word} {}", message.text().unwrap_or_default());
        reading.claim_by(Witness::Supervisor, &state, &who, when, what, text.trim());
    }
    reading.remark(&message, &who, when);
    reading
}

/// The Google Batch API, v1: what happened is told in the status events, one sentence each.
pub(super) const GOOGLE_BATCH: Format = Format {
    id: "google-batch-job",
    sniff: |document: &Value| document.pointer("/status/statusEvents").is_some_and(Value::is_array),
    read: |document| {
        let mut reading = Reading::default();
        let root = Field::root(document);
        let id = root.at("name").text().and_then(|name| name.rsplit('/').next()).map(str::to_owned);
        let who = Who { job: id, ..Who::role(Role::Job) };
        for event in root.at("status").at("statusEvents").items() {
            reading.remark(&event.at("description"), &who, event.at("eventTime").time());
        }
        reading
    },
    form: Form {
        name: "Google Batch jobs (JSON, YAML)",
        how: "gcloud batch jobs describe NAME --location REGION --format json",
        proves: "exit code of a task, spot preemption, time limit",
    },
    samples: &[
        r#"{"name":"projects/p/locations/us-central1/jobs/train","status":{"state":"FAILED","statusEvents":[{"type":"STATUS_CHANGED","description":"Task state is updated from RUNNING to FAILED on zones/us-central1-b/instances/8717391226410000000 with exit code 137.","eventTime":"2024-03-12T11:52:43Z"}]},"taskGroups":[{"name":"group0"}]}"#,
    ],
};
