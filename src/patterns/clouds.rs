//! Clouds and training platforms in text: Cloud Run, Vertex AI, Google Batch, SageMaker, Azure ML, Databricks, Determined,
//! SkyPilot. Where they explain an exit code by memory they mostly guess.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};

fn main(c: &Caps<'_>) -> Who {
    Who { container_name: c.text("name"), ..Who::role(Role::Main) }
}

/// An exit code, a negative one being a signal as Python tells it.
fn coded(c: &Caps<'_>) -> Vec<Claim> {
    let Some(code) = c.num("code").or_else(|| c.num("code2")) else { return Vec::new() };
    vec![Claim::new(What::Ended { how: How::of_returncode(code), hint: c.get("guess").is_some() }, Who::role(Role::Job))]
}

fn replica(c: &Caps<'_>) -> Vec<Claim> {
    let oom = c.get("oom").is_some() || c.get("oom2").is_some();
    let mut claims = Vec::new();
    if oom {
        claims.push(Claim::new(What::OomReported { by: "Vertex AI", scope: Scope::Cgroup }, main(c)));
    }
    // `9(SIGKILL)` is the signal itself.
    let how = match (c.signal("signal"), c.num("code")) {
        (Some(signal), _) => Some(How::Signal(signal)),
        (None, Some(code)) => Some(How::Code(code)),
        _ => None,
    };
    claims.extend(how.map(|how| Claim::new(What::Ended { how, hint: false }, main(c))));
    claims
}

/// Codes from 50001 are the service's own (Google Batch's reference of exit codes).
fn batch(c: &Caps<'_>) -> Vec<Claim> {
    let Some(code) = c.num::<i64>("code") else { return Vec::new() };
    let what = match code {
        50001 => What::Stopped { by: "Google Batch", why: Why::Preemption, signal: None },
        50005 => What::Stopped { by: "Google Batch", why: Why::TimeLimit, signal: None },
        50002..=50006 => What::Infrastructure,
        0 => return Vec::new(),
        code => What::Ended { how: How::Code(code), hint: false },
    };
    vec![Claim::new(what, Who::role(Role::Job))]
}

pub(super) const TABLE: &[Pattern] = &[
    // Cloud Run and Cloud Functions; what is written to the file system counts as memory there.
    Pattern {
        id: "cloud-run/memory",
        witness: Witness::Runtime,
        stems: &["Memory limit of ", "found to be using too much memory and was terminated"],
        regex: r"^(?:Memory limit of \d+(?: ?[KMG]i?B?) exceeded with \d+(?: ?[KMG]i?B?) used\.|While handling this request, the container instance was found to be using too much memory and was terminated\.)",
        read: |_| vec![Claim::new(What::OomReported { by: "Cloud Run", scope: Scope::Cgroup }, Who::role(Role::Main))],
        samples: &[
            "Memory limit of 512 MiB exceeded with 520 MiB used. Consider increasing the memory limit, see https://cloud.google.com/run/docs/configuring/memory-limits",
            "While handling this request, the container instance was found to be using too much memory and was terminated. This is likely to cause a new container instance to be used for the next request to this revision.",
        ],
        near_misses: &["Memory limit of the job exceeded"],
    },
    Pattern {
        id: "cloud-run/signal",
        witness: Witness::Runtime,
        stems: &["Container terminated on signal ", "Uncaught signal: "],
        regex: r"^(?:Container terminated on signal (?<signal>\d+)\.|Uncaught signal: (?<signal2>\d+), pid=(?<pid>\d+), tid=\d+, fault_addr=\d+\.)",
        read: |c| {
            let Some(signal) = c.signal("signal").or_else(|| c.signal("signal2")) else { return Vec::new() };
            vec![Claim::new(What::Ended { how: How::Signal(signal), hint: false }, Who::own(Role::Main, c.num("pid")))]
        },
        samples: &["Container terminated on signal 9.", "Uncaught signal: 7, pid=2, tid=5, fault_addr=0."],
        near_misses: &["Container terminated on signal"],
    },
    // Vertex AI custom jobs and AI Platform before them.
    Pattern {
        id: "vertex/replica",
        witness: Witness::Runtime,
        stems: &["exited with a non-zero status of "],
        regex: r"(?:^|\s)The replica (?<name>[\w-]+(?: \d+)?) (?<oom>ran out-of-memory and )?exited with a non-zero status of (?<code>\d+)(?:\((?<signal>SIG\w+)\))?\.?(?: Termination reason: (?:(?<oom2>OOMKilled)|\w+))?",
        read: replica,
        samples: &[
            "The replica workerpool0-0 exited with a non-zero status of 137. Termination reason: OOMKilled.",
            "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL).",
            "The replica workerpool0-0 exited with a non-zero status of 1.",
        ],
        near_misses: &["The replica set exited with a non-zero status"],
    },
    // Vertex AI's reason of a failed job (code 8, RESOURCE_EXHAUSTED).
    Pattern {
        id: "vertex/low-memory",
        witness: Witness::Runtime,
        stems: &["Replicas low on memory: "],
        regex: r#"^(?:[\w ]+: )*"?Replicas low on memory: (?<name>[\w-]+)(?:, [\w-]+)*\."#,
        read: |c| vec![Claim::new(What::OomReported { by: "Vertex AI", scope: Scope::Unknown }, main(c))],
        samples: &["Replicas low on memory: workerpool0-0."],
        near_misses: &["Replicas low on memory: see the dashboard"],
    },
    // A hosted runner's last words; what it says of memory it takes from the code.
    Pattern {
        id: "platform/runner",
        witness: Witness::Arithmetic,
        stems: &["Runner failed with exit code: "],
        regex: r"^(?:Error: |ERROR: )?Runner failed with exit code: (?<code>[1-9]\d*)(?<guess>, OOM killed)?\.?\s*$",
        read: coded,
        samples: &["Runner failed with exit code: 137, OOM killed"],
        near_misses: &["Runner failed with exit code: 0"],
    },
    // Google Batch's status events.
    Pattern {
        id: "google-batch/task",
        witness: Witness::Supervisor,
        stems: &["Task state is updated from "],
        regex: r"Task state is updated from \w+ to FAILED on zones/\S+/instances/\d+(?: due to [\w ]+)? with exit code (?<code>\d+)\.",
        read: batch,
        samples: &[
            "Task state is updated from RUNNING to FAILED on zones/us-central1-b/instances/8717391226410000000 with exit code 137.",
            "Task state is updated from RUNNING to FAILED on zones/us-central1-b/instances/8717391226410000000 due to Spot Preemption with exit code 50001.",
        ],
        near_misses: &[
            "Task state is updated from RUNNING to SUCCEEDED on zones/us-central1-b/instances/8717391226410000000 with exit code 0.",
        ],
    },
    // SageMaker's FailureReason and the SDK's exception: no flag tells whether memory was short.
    Pattern {
        id: "sagemaker/failure",
        witness: Witness::Arithmetic,
        stems: &["AlgorithmError: "],
        regex: r"(?:^|Reason: )AlgorithmError: (?:.*, exit code: (?<code>[1-9]\d*)|Exit Code: (?<code2>[1-9]\d*))\s*$",
        read: coded,
        samples: &[
            "AlgorithmError: , exit code: 137",
            "sagemaker.exceptions.UnexpectedStatusException: Error for Training job pytorch-1: Failed. Reason: AlgorithmError: , exit code: 137",
            "AlgorithmError: Exit Code: 139",
        ],
        near_misses: &["AlgorithmError: see /aws/sagemaker/TrainingJobs"],
    },
    // Azure ML's common runtime; a negative status is a signal.
    Pattern {
        id: "azureml/exit",
        witness: Witness::Arithmetic,
        stems: &["Execution failed. User process '", "Execution failed. Process exited with status code "],
        regex: r"Execution failed\. (?:User process '[^']*'|Process) exited with status code (?<code>-?[1-9]\d*)\b",
        read: coded,
        samples: &[
            "Execution failed. User process '/azureml-envs/pt/bin/python' exited with status code -9. Please check log file 'user_logs/std_log.txt' for error details.",
            r#"{"NonCompliant":"Process 'worker_0' exited with code -9 and error message 'Execution failed. Process exited with status code -9.'"}"#,
        ],
        near_misses: &[
            "Execution failed. User process '/usr/bin/python' exited with status code 0.",
            "Execution failed. Process exited with status code 0",
        ],
    },
    // Databricks notebooks; `may have been caused by an OOM error` is a guess.
    Pattern {
        id: "databricks/end",
        witness: Witness::Arithmetic,
        stems: &["The Python process exited with exit code ", "The spark driver has stopped unexpectedly and is restarting"],
        regex: r"(?:^|: )(?:The Python process exited with exit code (?<code>-?[1-9]\d*)(?: \([^)]*\))?\.(?<guess> This may have been caused by an OOM error)?|(?<driver>The spark driver has stopped unexpectedly and is restarting\.))",
        read: |c| match c.get("driver") {
            Some(_) => vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::role(Role::Main))],
            None => coded(c),
        },
        samples: &[
            "Fatal error: The Python process exited with exit code 137 (SIGKILL: Killed). This may have been caused by an OOM error. Check your command's memory usage.",
            "The spark driver has stopped unexpectedly and is restarting. Your notebook will be automatically reattached.",
        ],
        near_misses: &["The Python process exited with exit code 0."],
    },
    // Determined's master (master/internal/task/allocation.go) and SkyPilot's job driver.
    Pattern {
        id: "platform/failed",
        witness: Witness::Arithmetic,
        stems: &["container failed with non-zero exit code: ", " failed with return code list: ["],
        regex: r"(?:container failed with non-zero exit code: (?<code>[1-9]\d*)|^(?:ERROR: )?Job (?<job>\d+) failed with return code list: \[(?:0, )*(?<code2>-?[1-9]\d*)[\d, -]*\])",
        read: coded,
        samples: &[
            "allocation failed: container failed with non-zero exit code: 137 (exit code 137)",
            "ERROR: Job 3 failed with return code list: [0, 137]",
        ],
        near_misses: &["Job 3 failed with return code list: [0, 0]", "container failed with non-zero exit code: 0"],
    },
];
