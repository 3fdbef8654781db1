//! Advice in the words of GitLab Runner.

use super::of_the_program;
use super::words::{Form, Words, form, only, shm_reason, yaml};
use crate::remedy::{Case, Step};

/// A step as part of the runner's config.toml; a job's own file cannot set it.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_or_start();
    let limit = case.limit_flag();
    let runner = |lines: String| format!("[[runners]]\n  [runners.docker]\n{lines}");
    match step {
        Step::RaiseShm => form(
            Form::Toml,
            format!(
                "Set the size of /dev/shm in the runner's config.toml, in bytes ({}){}; .gitlab-ci.yml cannot. The Kubernetes executor \
                 takes a memory volume: [[runners.kubernetes.volumes.empty_dir]] with mount_path \"/dev/shm\", medium \"Memory\" and \
                 size_limit \"{}\".",
                shm_reason(case),
                case.start_word(),
                size.as_quantity()
            ),
            runner(format!("    shm_size = {}", size.0)),
        ),
        Step::ShareHostShm => form(
            Form::Toml,
            "Or use the host's /dev/shm, without isolation between jobs; only on a runner that you trust all jobs of.",
            runner("    ipc_mode = \"host\"".to_owned()),
        ),
        Step::RaiseMemory | Step::ReserveMemory => form(
            Form::Toml,
            format!(
                "Raise the memory of the job's container (memory_limit with the Kubernetes executor).{}",
                case.no_help_of_shm()
            ),
            runner(format!("    memory = \"{limit}\"\n    memory_swap = \"{limit}\"")),
        ),
        Step::RaiseBoth => form(
            Form::Toml,
            "Raise the memory of the job's container with /dev/shm, whose pages count against it.",
            runner(format!("    memory = \"{limit}\"\n    memory_swap = \"{limit}\"\n    shm_size = {}", size.0)),
        ),
        Step::RaiseDescriptors => form(
            Form::Toml,
            "Raise the limit of open files.",
            runner("    [runners.docker.ulimit]\n      nofile = \"65536:65536\"".to_owned()),
        ),
        Step::RaiseTime => {
            yaml("Raise the job's time limit; the runner's and the project's own may be lower.", "JOB:\n  timeout: 12h")
        }
        Step::FreeDisk => {
            only("See what fills the runner's disk: old images and the cache volumes of jobs (`docker system df -v`).")
        }
        Step::LookAtSender => only("See who cancelled the job: a person, a newer pipeline (interruptible), a time limit."),
        Step::CheckSurroundings => only("Look at the runner's own log and start the job again: the runner or its pod was lost."),
        Step::FreeShm | Step::TuneDaemon | Step::CollectEvidence => None,
        of_the_program!() => None,
    }
}
