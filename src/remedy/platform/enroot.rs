//! Advice in the words of Enroot and Pyxis, which run containers in Slurm jobs.

use super::words::{Words, shm_reason, with};
use super::{of_the_program, slurm};
use crate::remedy::{Case, Step};

/// A step as options of srun.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    match step {
        Step::RaiseShm => with(
            format!(
                "The container uses the node's /dev/shm ({}), unless ENROOT_UNSHARE_IPC is set: unset it, or mount it by name. Its size \
                 is the administrator's. What the job keeps there counts against --mem.",
                shm_reason(case)
            ),
            format!("srun --container-image={} --container-mounts=/dev/shm:/dev/shm df -h /dev/shm", case.image()),
        ),
        Step::ShareHostShm
        | Step::RaiseMemory
        | Step::RaiseBoth
        | Step::ReserveMemory
        | Step::TuneDaemon
        | Step::FreeShm
        | Step::RaiseDescriptors
        | Step::FreeDisk
        | Step::CollectEvidence
        | Step::LookAtSender
        | Step::RaiseTime
        | Step::CheckSurroundings => slurm::say(step, case),
        of_the_program!() => None,
    }
}
