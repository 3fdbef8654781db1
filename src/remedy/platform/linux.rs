//! Advice for a machine without containers.

use super::words::{Words, only, shm_reason, with};
use super::{general, of_the_program};
use crate::remedy::{Case, Step};

/// A step as commands for the machine's administrator.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_flag();
    match step {
        Step::RaiseShm => with(
            format!(
                "Make the machine's /dev/shm larger, as root ({}); it is half of the memory unless set. The line \
                 `tmpfs /dev/shm tmpfs defaults,size={size} 0 0` in /etc/fstab keeps it.",
                shm_reason(case)
            ),
            format!("mount -o remount,size={size} /dev/shm"),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => {
            only("Give the job a machine with more memory, or run less beside it; what stands in /dev/shm counts too.")
        }
        Step::RaiseDescriptors => with(
            "Raise the limit of open files before the job starts; /etc/security/limits.conf raises the hard limit.",
            "ulimit -n 65536",
        ),
        Step::CollectEvidence => with(
            "Fetch the kernel log of the machine around the death, and run coroner on all files together.",
            "journalctl -k --since '1 hour ago' > kernel.log\ncoroner train.log kernel.log",
        ),
        Step::FreeShm | Step::TuneDaemon | Step::FreeDisk | Step::LookAtSender | Step::RaiseTime | Step::CheckSurroundings => {
            general::say(step, case)
        }
        of_the_program!() => None,
    }
}
