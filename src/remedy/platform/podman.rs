//! Advice in the words of Podman: Docker's flags, and what differs.

use super::words::{Words, shm_reason, with};
use super::{docker, of_the_program};
use crate::remedy::{Case, Step};

/// A step as flags and commands.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_flag();
    match step {
        Step::RaiseShm => with(
            format!(
                "Start the container with a larger /dev/shm ({}); in a Quadlet it is ShmSize={size}. An existing container cannot be \
                 changed, --shm-size=0 means no limit at all, and the flag cannot stand beside --ipc=host. What is used of it counts \
                 against --memory.",
                shm_reason(case)
            ),
            format!("podman run --shm-size={size} … {}", case.image()),
        ),
        Step::CollectEvidence if case.engine.is_none() => with(
            "Fetch the container's exit data and the kernel log of the host, and run coroner on all files together.",
            format!(
                "podman inspect {} > inspect.json\njournalctl -k --since '1 hour ago' > kernel.log\ncoroner train.log inspect.json kernel.log",
                case.container()
            ),
        ),
        Step::ShareHostShm
        | Step::RaiseMemory
        | Step::RaiseBoth
        | Step::ReserveMemory
        | Step::FreeShm
        | Step::RaiseDescriptors
        | Step::FreeDisk
        | Step::CollectEvidence
        | Step::LookAtSender => docker::say_as("podman", step, case),
        Step::TuneDaemon | Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
