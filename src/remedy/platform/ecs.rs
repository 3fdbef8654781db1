//! Advice in the words of Amazon ECS on EC2.

use super::of_the_program;
use super::words::{Words, in_quotes, json, only, shm_reason, with};
use crate::remedy::{Case, Step};
use crate::units::Bytes;

/// A step as fields of the task definition.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let name = in_quotes(case.who.container_name.as_deref().unwrap_or("CONTAINER"));
    let container = |fields: &str| format!("{{\"containerDefinitions\": [{{\"name\": {name}, {fields}}}]}}");
    let shm = format!("\"linuxParameters\": {{\"sharedMemorySize\": {}}}", mib(case.shm_or_start()));
    match step {
        Step::RaiseShm => json(
            format!(
                "Set the size of /dev/shm in the task definition, in MiB ({}){}. It counts against the container's memory. Fargate \
                 has no such setting.",
                shm_reason(case),
                case.start_word()
            ),
            container(&shm),
        ),
        Step::ShareHostShm => json(
            "Or use the instance's /dev/shm, without isolation from other tasks; only for images that you trust.",
            "{\"ipcMode\": \"host\"}",
        ),
        Step::RaiseMemory => memory(case, "Raise the container's hard limit, in MiB, and the task's if it has one.", &container),
        Step::RaiseBoth => match case.larger_limit() {
            Some(limit) => json(
                "Raise the container's hard limit, in MiB, with /dev/shm: its pages count against the limit, so that a larger one alone \
                 makes it worse.",
                container(&format!("\"memory\": {}, {shm}", mib(limit))),
            ),
            None => only("Raise `memory` of the container and of the task by as much as /dev/shm holds: it counts against them."),
        },
        Step::ReserveMemory => memory(
            case,
            "Give each container a hard limit, in MiB, so that one cannot starve the others on its instance.",
            &container,
        ),
        Step::RaiseDescriptors => json(
            "Give the container a higher limit of open files.",
            container("\"ulimits\": [{\"name\": \"nofile\", \"softLimit\": 65536, \"hardLimit\": 65536}]"),
        ),
        Step::CollectEvidence => with(
            "Fetch the task's exit data before ECS forgets it (about an hour), and run coroner on all files together.",
            "aws ecs describe-tasks --cluster CLUSTER --tasks TASK > task.json\ncoroner train.log task.json",
        ),
        Step::LookAtSender => with(
            "See why the task was stopped: stopCode and stoppedReason name a deployment, a health check, Spot or a user.",
            "aws ecs describe-tasks --cluster CLUSTER --tasks TASK --query 'tasks[].[stopCode,stoppedReason]'",
        ),
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}

/// More memory for the container.
fn memory(case: &Case<'_>, text: &str, container: &dyn Fn(&str) -> String) -> Words {
    let words = format!("{text}{}", case.no_help_of_shm());
    match case.larger_limit() {
        Some(limit) => json(words, container(&format!("\"memory\": {}", mib(limit)))),
        None => only(words),
    }
}

/// Whole MiB, as the task definition counts.
fn mib(bytes: Bytes) -> u64 {
    bytes.0.div_ceil(1 << 20)
}
