//! Advice in the words of Azure Machine Learning.

use super::of_the_program;
use super::words::{Words, only, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as fields of the job's YAML (version 2).
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    match step {
        Step::RaiseShm => yaml(
            format!(
                "Set the size of /dev/shm in the job's resources ({}); it is 2g unless set. docker_args overrides it.",
                shm_reason(case)
            ),
            format!("resources:\n  shm_size: {}", case.shm_flag()),
        ),
        Step::ShareHostShm => yaml(
            "Or use the node's /dev/shm, without isolation from what else runs there; it overrides shm_size.",
            "resources:\n  docker_args: \"--ipc=host\"",
        ),
        Step::RaiseMemory | Step::ReserveMemory => yaml(
            format!("Take a compute size with more memory.{}", case.no_help_of_shm()),
            "resources:\n  instance_type: LARGER_SIZE",
        ),
        Step::RaiseBoth => yaml(
            "Take a compute size with more memory: pages in /dev/shm count too, so that a larger shm_size alone makes it worse.",
            format!("resources:\n  instance_type: LARGER_SIZE\n  shm_size: {}", case.shm_flag()),
        ),
        Step::RaiseTime => yaml("Raise the job's time limit, in seconds.", "limits:\n  timeout: 604800"),
        Step::CollectEvidence | Step::LookAtSender => with(
            "Fetch the job's record and its logs, and run coroner on the folder.",
            "az ml job show --name JOB > job.json\naz ml job download --name JOB --all --download-path job\ncoroner job",
        ),
        Step::CheckSurroundings => only("Look at the job's error and at the cluster's state, and start it again."),
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::RaiseDescriptors => None,
        of_the_program!() => None,
    }
}
