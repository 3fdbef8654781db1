//! Advice in the words of Docker, most of which Podman shares.

use super::of_the_program;
use super::words::{Words, shell, shm_reason, with};
use crate::fact::Engine;
use crate::remedy::{Case, Step};

/// A step as flags and commands.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    say_as("docker", step, case)
}

/// A step for an engine with Docker's command line.
pub(super) fn say_as(engine: &str, step: Step, case: &Case<'_>) -> Words {
    let (name, image) = (case.container(), case.image());
    let size = case.shm_flag();
    match step {
        Step::RaiseShm => with(
            format!(
                "Start the container with a larger /dev/shm ({}). An existing container cannot be changed. What is used of it \
                 counts against --memory.",
                shm_reason(case)
            ),
            format!("{engine} run --shm-size={size} … {image}"),
        ),
        Step::ShareHostShm => with(
            "Or use the host's /dev/shm: half of its memory, but without isolation from other processes, and with what they \
             left in it. Only for images that you trust.",
            format!("{engine} run --ipc=host … {image}"),
        ),
        Step::RaiseMemory => raise_memory(case, engine, &name),
        Step::RaiseBoth => {
            let limit = case.limit_flag();
            with(
                "Raise the memory limit above what the processes use plus all of /dev/shm, whose pages count against it; a \
                 larger --shm-size alone makes it worse.",
                format!("{engine} run --memory={limit} --memory-swap={limit} --shm-size={size} … {image}"),
            )
        }
        Step::ReserveMemory => with(
            "Give each container on the machine a limit, so that one cannot starve the others, or run fewer jobs there.",
            format!("{engine} run --memory=LIMIT --memory-swap=LIMIT … {image}"),
        ),
        Step::FreeShm => with(
            "See what dead processes left in /dev/shm: it stays charged until it is removed or the container is.",
            format!("{engine} exec {name} sh -c 'df -h /dev/shm; ls -la /dev/shm'"),
        ),
        Step::RaiseDescriptors => with(
            "Start the container with a higher limit of open files.",
            format!("{engine} run --ulimit nofile=65536:65536 … {image}"),
        ),
        Step::FreeDisk => with(
            "See what fills the disk of the engine, and mount a volume for data and checkpoints.",
            format!("{engine} system df -v"),
        ),
        Step::CollectEvidence => collect(case, engine, &name),
        Step::LookAtSender => with(
            "See whether the engine sent the signal: a `kill` event before `die` names it, a `die` alone means that the sender \
             was outside.",
            format!("{engine} events --since 24h --until 0s --filter container={name}"),
        ),
        Step::TuneDaemon | Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}

/// The limit is one of a cgroup that holds the container (`--cgroup-parent`): what the container is given cannot exceed it.
pub(super) fn of_parent(case: &Case<'_>, parent: &str) -> Words {
    let limit = case.limit_flag().to_ascii_uppercase();
    let text = format!(
        "Raise the memory limit{}, on the cgroup {} above the container's own: all that runs below it reached it together, \
         and a --memory of the container cannot exceed it.{}",
        case.had_limit(),
        shell(parent),
        case.no_help_of_shm()
    );
    let name = parent.rsplit('/').next().unwrap_or(parent);
    with(
        text,
        match name.ends_with(".slice") {
            true => format!("systemctl set-property {} MemoryMax={limit}", shell(name)),
            false => format!(
                "echo {limit} > {}\n# cgroup v1: {}",
                shell(&format!("/sys/fs/cgroup{parent}/memory.max")),
                shell(&format!("/sys/fs/cgroup/memory{parent}/memory.limit_in_bytes"))
            ),
        },
    )
}

/// The limit of a running or stopped container can be changed, that of one that is gone only at the next start.
fn raise_memory(case: &Case<'_>, engine: &str, name: &str) -> Words {
    let limit = case.limit_flag();
    if let Some(parent) = case.parent_cgroup {
        return of_parent(case, parent);
    }
    with(
        format!("Raise the memory limit{}.{}", case.had_limit(), case.no_help_of_shm()),
        format!("{engine} update --memory {limit} --memory-swap {limit} {name}"),
    )
}

/// What the engine and its host know about a death.
fn collect(case: &Case<'_>, engine: &str, name: &str) -> Words {
    if case.engine == Some(Engine::Docker) || case.engine == Some(Engine::Podman) {
        return with(
            "Fetch the kernel log of the host for the time of the death, and run coroner on all files together.",
            "journalctl -k --since '1 hour ago' > kernel.log",
        );
    }
    with(
        "Fetch the container's exit data and the kernel log of the host, and run coroner on all files together.",
        format!(
            "{engine} inspect {name} > inspect.json\njournalctl -k --since '1 hour ago' > kernel.log\ncoroner train.log inspect.json kernel.log"
        ),
    )
}
