//! Advice for AWS Fargate, which has no setting for /dev/shm.

use super::ecs;
use super::of_the_program;
use super::words::{Words, json, only};
use crate::remedy::{Case, Step};

/// The memory sizes that Fargate takes end here, in MiB.
const MOST: u64 = 122_880;

/// A step as fields of the task definition.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    match step {
        Step::RaiseShm => only(
            "Fargate gives a task 64 MiB of /dev/shm and no way to change it (sharedMemorySize, tmpfs and ipcMode are refused): use \
             num_workers=0 or batches that fit, or run the task on EC2, where linuxParameters.sharedMemorySize sets it.",
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => {
            let limit = case.larger_limit().map(|limit| limit.0.div_ceil(1 << 20));
            match limit.filter(|limit| *limit <= MOST) {
                Some(limit) => json(
                    format!(
                        "Raise the task's memory, in MiB; each number of CPUs allows only some sizes (2 to 8 GiB for each vCPU).{}",
                        case.no_help_of_shm()
                    ),
                    format!("{{\"memory\": \"{}\"}}", limit.next_multiple_of(1024)),
                ),
                None => only("Raise the task's memory; a Fargate task ends at 120 GiB, more needs EC2."),
            }
        }
        Step::FreeDisk => {
            json("Give the task more ephemeral storage, in GiB, from 21 to 200.", "{\"ephemeralStorage\": {\"sizeInGiB\": 100}}")
        }
        Step::FreeShm
        | Step::TuneDaemon
        | Step::RaiseDescriptors
        | Step::CollectEvidence
        | Step::LookAtSender
        | Step::RaiseTime
        | Step::CheckSurroundings => ecs::say(step, case),
        of_the_program!() => None,
    }
}
