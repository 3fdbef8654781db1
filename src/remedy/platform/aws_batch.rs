//! Advice in the words of AWS Batch on EC2.

use super::of_the_program;
use super::words::{Words, json, only, shell, shm_reason, with};
use crate::remedy::{Case, Step};

/// A step as fields of the job definition, or as overrides of a job.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let shm = case.shm_or_start().0.div_ceil(1 << 20);
    let limit = case.larger_limit().map(|limit| limit.0.div_ceil(1 << 20));
    let memory = |limit: u64| format!("\"resourceRequirements\": [{{\"type\": \"MEMORY\", \"value\": \"{limit}\"}}]");
    match step {
        Step::RaiseShm => json(
            format!(
                "Set the size of /dev/shm in the job definition, in MiB ({}){}. It counts against MEMORY. On Fargate there is no such \
                 setting; on EKS it is an emptyDir of medium Memory.",
                shm_reason(case),
                case.start_word()
            ),
            format!("{{\"containerProperties\": {{\"linuxParameters\": {{\"sharedMemorySize\": {shm}}}}}}}"),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::ReserveMemory => match limit {
            Some(limit) => json(
                format!("Raise the job's memory, in MiB.{}", case.no_help_of_shm()),
                format!("{{\"containerProperties\": {{{}}}}}", memory(limit)),
            ),
            None => only("Raise the MEMORY requirement of the job definition."),
        },
        Step::RaiseBoth => match limit {
            Some(limit) => json(
                "Raise the job's memory with /dev/shm: its pages count against it, so that a larger one alone makes it worse.",
                format!(
                    "{{\"containerProperties\": {{{}, \"linuxParameters\": {{\"sharedMemorySize\": {shm}}}}}}}",
                    memory(limit)
                ),
            ),
            None => only("Raise the MEMORY requirement by as much as /dev/shm holds: it counts against it."),
        },
        Step::RaiseDescriptors => json(
            "Give the job a higher limit of open files.",
            "{\"containerProperties\": {\"ulimits\": [{\"name\": \"nofile\", \"softLimit\": 65536, \"hardLimit\": 65536}]}}",
        ),
        Step::CollectEvidence | Step::LookAtSender => with(
            "Fetch the job's record: statusReason and the container's reason name an OOM kill, a lost Spot instance or a stop.",
            format!("aws batch describe-jobs --jobs {}", case.who.job.as_deref().map_or_else(|| "JOB".to_owned(), shell)),
        ),
        Step::RaiseTime => {
            json("Raise the time-out of the job definition, in seconds.", "{\"timeout\": {\"attemptDurationSeconds\": 86400}}")
        }
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
