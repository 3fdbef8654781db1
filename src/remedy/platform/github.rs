//! Advice in the words of GitHub Actions.

use super::of_the_program;
use super::words::{Words, only, quoted, shm_reason, yaml};
use crate::remedy::{Case, Step};

/// A step as keys of the workflow.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let image = quoted(case.image.unwrap_or("IMAGE"));
    let container = |options: String| {
        format!("jobs:\n  JOB:\n    runs-on: ubuntu-latest\n    container:\n      image: {image}\n      options: {options}")
    };
    let (size, limit) = (case.shm_flag(), case.limit_flag());
    match step {
        Step::RaiseShm => yaml(
            format!(
                "Give the job's container a larger /dev/shm ({}). Without a container the job has the runner's: half of its memory.",
                shm_reason(case)
            ),
            container(format!("--shm-size={size}")),
        ),
        Step::ShareHostShm => yaml(
            "Or use the runner's /dev/shm; a hosted runner is yours alone, on a runner of your own there is no isolation.",
            container("--ipc=host".to_owned()),
        ),
        Step::RaiseMemory | Step::ReserveMemory => yaml(
            format!(
                "Take a larger runner: a job has no memory limit of its own unless the container's options set one.{}",
                case.no_help_of_shm()
            ),
            "jobs:\n  JOB:\n    runs-on: LARGER_RUNNER",
        ),
        Step::RaiseBoth => yaml(
            "Take a larger runner, or raise both options: pages in /dev/shm count against the container's memory.",
            container(format!("--memory={limit} --memory-swap={limit} --shm-size={size}")),
        ),
        Step::RaiseDescriptors => yaml("Raise the limit of open files.", container("--ulimit nofile=65536:65536".to_owned())),
        Step::RaiseTime => {
            yaml("Raise the job's time limit, in minutes; hosted runners end at 360.", "jobs:\n  JOB:\n    timeout-minutes: 360")
        }
        Step::FreeDisk => {
            only("A hosted runner has about 14 GB free: remove what the job does not need, or take a larger runner.")
        }
        Step::CollectEvidence => yaml(
            "Keep the kernel's log of the runner, and run coroner on it together with the job's log.",
            "jobs:\n  JOB:\n    steps:\n    - if: failure()\n      run: sudo dmesg --ctime > kernel.log\n    - if: failure()\n      uses: actions/upload-artifact@v4\n      with: {name: kernel, path: kernel.log}",
        ),
        Step::LookAtSender => {
            only("See who ended the run: a cancellation, a newer run of the same concurrency group, a time limit.")
        }
        Step::CheckSurroundings => {
            only("Start the job again: the runner was lost, which a job that takes all memory or disk can also bring about.")
        }
        Step::FreeShm | Step::TuneDaemon => None,
        of_the_program!() => None,
    }
}
