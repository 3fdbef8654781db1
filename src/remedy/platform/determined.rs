//! Advice in the words of Determined AI.

use super::of_the_program;
use super::words::{Words, only, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as fields of the experiment's configuration.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_or_start().0;
    match step {
        Step::RaiseShm => yaml(
            format!(
                "Set the size of /dev/shm in the experiment, in bytes ({}){}; it is 4 GiB unless set, and ignored on Slurm, where it is \
                 the node's.",
                shm_reason(case),
                case.start_word()
            ),
            format!("resources:\n  shm_size: {size}"),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => yaml(
            format!(
                "On Kubernetes raise the memory in the pod's specification; elsewhere the agent's machine is the limit.{}",
                case.no_help_of_shm()
            ),
            format!(
                "environment:\n  pod_spec:\n    spec:\n      containers:\n      - name: determined-container\n        resources: {{limits: {{memory: {}}}}}",
                case.limit_quantity()
            ),
        ),
        Step::CollectEvidence | Step::LookAtSender => with(
            "Fetch the trial's log, in which the master tells how the container ended.",
            "det trial logs TRIAL > train.log\ncoroner train.log",
        ),
        Step::CheckSurroundings => only("Look at the agents and the resource pool, and start the experiment again."),
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::RaiseDescriptors | Step::RaiseTime => None,
        of_the_program!() => None,
    }
}
