//! Advice in the words of Docker Compose.

use super::{Case, Step, Words, shm_reason, with};
use crate::verdict::Cause;

/// A step as keys of the service.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_size().map_or_else(|| "SIZE".to_owned(), |size| size.as_flag());
    let limit = case.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.as_flag());
    let service = |keys: &str| format!("services:\n  SERVICE:\n{keys}");
    match step {
        Step::RaiseShm => with(
            format!(
                "Give the service a larger /dev/shm ({}), then `docker compose up --force-recreate`. What is used of it counts \
                 against the memory limit. `build.shm_size` is another thing, and a swarm ignores the key.",
                shm_reason(case)
            ),
            service(&format!("    shm_size: {size}")),
        ),
        Step::ShareHostShm => with(
            "Or use the host's /dev/shm, without isolation from other processes; only for images that you trust.",
            service("    ipc: host"),
        ),
        Step::RaiseMemory => with(
            match case.cause {
                Cause::OomCgroup => "Raise the memory limit of the service. A larger shm_size would not have helped.",
                _ => "Raise the memory limit of the service.",
            },
            service(&format!("    mem_limit: {limit}\n    memswap_limit: {limit}")),
        ),
        Step::RaiseBoth => with(
            "Raise the memory limit of the service: pages in /dev/shm count against it, so that a larger shm_size alone makes \
             it worse.",
            service(&format!("    mem_limit: {limit}\n    memswap_limit: {limit}\n    shm_size: {size}")),
        ),
        Step::ReserveMemory => with(
            "Give each service on the machine a limit, so that one cannot starve the others.",
            service("    mem_limit: LIMIT"),
        ),
        Step::RaiseDescriptors => with(
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
        Step::FreeDisk
        | Step::TuneDaemon
        | Step::FewerInFlight
        | Step::FewerWorkers
        | Step::CloneViews
        | Step::SharingStrategy
        | Step::CheckFile
        | Step::CheckHardware
        | Step::CheckGpu
        | Step::LessGpuMemory
        | Step::RaiseTime
        | Step::Checkpoint
        | Step::FixException
        | Step::CatchCrash
        | Step::TraceHang
        | Step::NcclDebug
        | Step::CheckSurroundings
        | Step::LeaveAlone => None,
    }
}
