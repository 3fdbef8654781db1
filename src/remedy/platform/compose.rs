//! Advice in the words of Docker Compose.

use super::of_the_program;
use super::words::{Words, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as keys of the service.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let (size, limit) = (case.shm_flag(), case.limit_flag());
    let service = |keys: &str| format!("services:\n  SERVICE:\n{keys}");
    match step {
        Step::RaiseShm => yaml(
            format!(
                "Give the service a larger /dev/shm ({}), then `docker compose up --force-recreate`. What is used of it counts \
                 against the memory limit. `build.shm_size` is another thing, and a swarm ignores the key.",
                shm_reason(case)
            ),
            service(&format!("    shm_size: {size}")),
        ),
        Step::ShareHostShm => yaml(
            "Or use the host's /dev/shm, without isolation from other processes; only for images that you trust.",
            service("    ipc: host"),
        ),
        Step::RaiseMemory if case.parent_cgroup.is_some() => {
            super::docker::of_parent(case, case.parent_cgroup.unwrap_or_default())
        }
        Step::RaiseMemory => yaml(
            format!("Raise the memory limit of the service{}.{}", case.had_limit(), case.no_help_of_shm()),
            service(&format!("    mem_limit: {limit}\n    memswap_limit: {limit}")),
        ),
        Step::RaiseBoth => yaml(
            "Raise the memory limit of the service: pages in /dev/shm count against it, so that a larger shm_size alone makes \
             it worse.",
            service(&format!("    mem_limit: {limit}\n    memswap_limit: {limit}\n    shm_size: {size}")),
        ),
        Step::ReserveMemory => yaml(
            "Give each service on the machine a limit, so that one cannot starve the others.",
            service("    mem_limit: LIMIT"),
        ),
        Step::RaiseDescriptors => yaml(
            "Give the service a higher limit of open files.",
            service("    ulimits:\n      nofile: {soft: 65536, hard: 65536}"),
        ),
        Step::FreeShm => with(
            "See what dead processes left in /dev/shm: it stays charged until it is removed or the container is.",
            "docker compose exec SERVICE sh -c 'df -h /dev/shm; ls -la /dev/shm'",
        ),
        Step::CollectEvidence => with(
            "Fetch the containers' exit data and the kernel log of the host, and run coroner on all files together.",
            "docker inspect $(docker compose ps -aq) > inspect.json\njournalctl -k --since '1 hour ago' > kernel.log",
        ),
        Step::LookAtSender => with(
            "See whether the engine sent the signal: a `kill` event before `die` names it.",
            "docker events --since 24h --until 0s",
        ),
        Step::FreeDisk | Step::TuneDaemon | Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
