//! Words: who died, and what each fact says about it.

use super::Cause;
use crate::death::Death;
use crate::fact::{
    Container, ContainerEvent, EvictedFor, Fact, How, Limit, OomLine, Poison, Reason, Resource, Role, Shm, Status, What, Who, Why,
};
use crate::units::{Bytes, Signal};

/// The dead process in words, as `DataLoader worker (pid 12)` or `rank 5 (pid 22)`.
pub(super) fn subject(death: &Death) -> String {
    let who = &death.who;
    let pid = match (who.own_pid, who.host_pid) {
        (Some(pid), _) => format!(" (pid {pid})"),
        (None, Some(pid)) => format!(" (pid {pid} on the host)"),
        (None, None) => String::new(),
    };
    let name = match who.role {
        Role::Worker => match who.worker {
            Some(worker) => format!("worker {worker}"),
            None if death.count > 1 => format!("{} workers", death.count),
            None => "a worker".to_owned(),
        },
        Role::Rank => who.rank.map_or_else(|| "a training process".to_owned(), |rank| format!("rank {rank}")),
        Role::Launcher => "the launcher".to_owned(),
        Role::Engine => "a worker of the engine".to_owned(),
        Role::Unit => who.unit.clone().map_or_else(|| "the unit".to_owned(), |unit| format!("unit {unit}")),
        Role::Job => who.job.clone().map_or_else(|| "the job".to_owned(), |job| format!("job {job}")),
        Role::Main => match &who.process {
            Some(process) => format!("process {process}"),
            None => "the main process".to_owned(),
        },
        Role::Unknown => who.process.as_ref().map_or_else(|| "a process".to_owned(), |process| format!("process {process}")),
    };
    format!("{name}{pid}{}", place(who))
}

/// Where it ran, as ` in container trainer`, or nothing.
fn place(who: &Who) -> String {
    match (&who.container_name, &who.pod, &who.container) {
        (Some(name), Some(pod), _) if name != pod => format!(" in container {name} of pod {pod}"),
        (_, Some(pod), _) => format!(" in pod {pod}"),
        (Some(name), None, _) => format!(" in container {name}"),
        (None, None, Some(id)) => format!(" in container {}", id.get(..12).unwrap_or(id)),
        (None, None, None) => String::new(),
    }
}

/// A sentence begins with a capital letter.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A resource in words.
pub(super) fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::Shm => "room in /dev/shm",
        Resource::ShmInodes => "inodes of /dev/shm",
        Resource::ShmOther => "a shared memory object",
        Resource::Disk => "room on a disk",
        Resource::Descriptors => "file descriptors",
        Resource::HostMemory => "host memory",
        Resource::Maps => "memory mappings",
        Resource::GpuMemory => "memory of the accelerator",
        Resource::Threads => "threads or processes",
    }
}

/// A reason to stop a process in words.
pub(super) fn why(why: Why) -> &'static str {
    match why {
        Why::Cleanup => "it cleaned up after another death",
        Why::StopTimeout => "the process did not end within the grace period of a stop",
        Why::Request => "somebody asked for it",
        Why::TimeLimit => "the time limit was reached",
        Why::Preemption => "the machine was taken back",
        Why::Probe => "a probe failed",
        Why::Watchdog => "a watchdog found it hanging",
        Why::Shutdown => "the machine or engine shut down",
        Why::Memory => "memory was short",
        Why::Timeout => "a wrapper's time was over",
    }
}

/// What a fact says about a death; nothing for facts that are no evidence by themselves.
pub(super) fn about(fact: &Fact, death: &Death, cause: Cause) -> Option<String> {
    Some(match &fact.what {
        What::Ended { how: How::Signal(signal), hint } => match (hint, *signal) {
            (true, Signal::BUS) => "a worker died of SIGBUS; the shared-memory hint is printed for every SIGBUS".to_owned(),
            (true, signal) => format!("ended by {signal}; the reason in the message is a guess"),
            (false, signal) => format!("ended by {signal}"),
        },
        What::Ended { how: How::Code(code), .. } => match Signal::from_status(*code) {
            Some(signal) => format!("exit status {code}, which stands for {signal}"),
            None => format!("exit code {code}: a consequence, or a program's own decision"),
        },
        What::Ended { how: How::Vanished, hint } => match hint {
            true => "a process is gone; the reasons in the message are guesses".to_owned(),
            false => "a process is gone; the message does not know how".to_owned(),
        },
        What::Caught { signal, hint: true } => format!("a worker received {signal}; the hint beside it is printed every time"),
        What::Caught { signal, hint: false } => format!("the process itself says that it received {signal}"),
        What::Refused { resource: r, errno, by, bytes } => {
            let amount = bytes.map_or_else(String::new, |bytes| format!(" for {bytes}"));
            let wrong = *r == Resource::Shm && errno.is_some_and(|e| e != 28);
            let aside = if wrong { "; PyTorch 2.10 and 2.11 print a wrong error number here" } else { "" };
            format!("{by} was refused {}{amount}{aside}", resource(*r))
        }
        What::Raised { kind, .. } => format!("{kind} was raised"),
        What::Stopped { by, why: reason, signal } => {
            let signal = signal.map_or_else(String::new, |s| format!(" with {s}"));
            format!("{by} stopped it{signal}: {}", why(*reason))
        }
        What::Oom(line) => kernel(line)?,
        What::OomReported { by, .. } => format!("{by} reports an out-of-memory kill"),
        What::Hardware(poison) => hardware(*poison).to_owned(),
        What::Trapped { signal, fault } => format!("the kernel logged this fault: {fault}, which ends a process with {signal}"),
        What::Container(c) => container(c),
        What::Event(event) => container_event(*event, death)?,
        What::Evicted(reason) => evicted(*reason).to_owned(),
        What::TimedOut { seconds } => {
            seconds.map_or_else(|| "something waited in vain".to_owned(), |s| format!("something waited {s} s in vain"))
        }
        What::Gpu { xid } => {
            xid.map_or_else(|| "the GPU or its driver failed".to_owned(), |x| format!("the GPU's driver reports Xid {x}"))
        }
        What::PeerLost => "a peer was gone: a consequence".to_owned(),
        What::Nccl => "NCCL failed".to_owned(),
        What::Infrastructure => "the job's surroundings failed".to_owned(),
        What::ShmOption(shm) if cause.class() == super::Class::ShmExhaustion || death.signal == Some(Signal::BUS) => {
            shm_size(*shm)
        }
        What::Traceback(_)
        | What::Frame { .. }
        | What::Chained
        | What::Elastic(_)
        | What::Boot
        | What::Current
        | What::Suppressed { .. }
        | What::Setting { .. }
        | What::Clock { .. }
        | What::Version { .. }
        | What::Filesystem { .. }
        | What::Memory { .. }
        | What::ShmOption(_)
        | What::ShmUse
        | What::ShmShort
        | What::NoneKilled
        | What::MemoryOption(_)
        | What::Ceiling { .. }
        | What::Filled { .. }
        | What::Finished => return None,
    })
}

fn kernel(line: &OomLine) -> Option<String> {
    Some(match line {
        OomLine::Invoked { .. } => "who asked for the memory: the trigger, not the victim".to_owned(),
        OomLine::Killed { memcg: Some(true), .. } => "the kernel killed it: a memory cgroup reached its limit".to_owned(),
        OomLine::Killed { memcg: Some(false), .. } => "the kernel killed it: the machine was out of memory".to_owned(),
        OomLine::Killed { memcg: None, .. } => "the kernel killed it for memory".to_owned(),
        OomLine::Chosen { oom_memcg: Some(group), .. } => format!("limit of cgroup {}", short_path(group)),
        OomLine::Chosen { .. } => "the whole machine was short, not one cgroup".to_owned(),
        OomLine::TaskIn { limit, .. } => format!("limit of cgroup {}", short_path(limit)),
        OomLine::Usage { usage, limit: Some(limit), .. } => format!("{usage} in use, limit {limit}"),
        OomLine::Stat { key, value } => format!("{key} {value}"),
        OomLine::StatsFor { pairs, .. } if !pairs.is_empty() => "what filled the limit".to_owned(),
        OomLine::Group => "memory.oom.group: all processes of the cgroup are killed together".to_owned(),
        _ => return None,
    })
}

/// A cgroup path by its last element, where it is long; the quoted line has it whole.
fn short_path(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((_, last)) if path.len() > 48 && !last.is_empty() => format!("…/{last}"),
        _ => path.to_owned(),
    }
}

fn hardware(poison: Poison) -> &'static str {
    match poison {
        Poison::Bus => "the kernel sent SIGBUS because of faulty memory",
        Poison::Kill => "the kernel killed it because of faulty memory",
        Poison::Page => "the kernel handled a faulty page",
        Poison::Uncorrected => "the machine reports an uncorrected memory error",
        Poison::Corrected => "the machine reports a corrected memory error",
    }
}

/// The state of a container in words.
fn container(c: &Container) -> String {
    let mut parts = Vec::new();
    if c.previous {
        parts.push("the run before".to_owned());
    }
    match (c.status, c.exit_code) {
        (Status::Running, _) => parts.push("the container is running".to_owned()),
        (_, Some(code)) => parts.push(match Signal::from_status(code) {
            Some(signal) => format!("exit code {code} ({signal})"),
            None => format!("exit code {code}"),
        }),
        (Status::Exited, None) => parts.push("the container ended".to_owned()),
        _ => {}
    }
    let flag = c.oom_killed.or((c.reason == Some(Reason::OomKilled)).then_some(true));
    match (flag, c.exit_code) {
        (Some(true), Some(137)) => parts.push("the runtime says that it was killed for memory".to_owned()),
        (Some(true), Some(_)) => parts.push("a process in it was killed for memory, the main process ended by itself".to_owned()),
        (Some(true), None) => parts.push("a process in it was killed for memory".to_owned()),
        (Some(false), _) => parts.push("not killed for memory as far as the runtime knows".to_owned()),
        (None, _) => {}
    }
    match c.memory {
        Some(Limit::Bytes(limit)) => parts.push(format!("memory limit {limit}")),
        Some(Limit::Unlimited) => parts.push("no memory limit".to_owned()),
        None => {}
    }
    if c.restarts.is_some_and(|n| n > 0) {
        parts.push("it was restarted: the record describes one run only".to_owned());
    }
    parts.join(", ")
}

fn container_event(event: ContainerEvent, death: &Death) -> Option<String> {
    Some(match event {
        ContainerEvent::Started => return None,
        ContainerEvent::Oom => "the engine was told of an out-of-memory kill in the container".to_owned(),
        ContainerEvent::Kill(signal) => format!("the engine sent {signal}"),
        ContainerEvent::Stopped => "somebody stopped the container".to_owned(),
        ContainerEvent::Died(code) => {
            let sent = death.event(|e| matches!(e, ContainerEvent::Kill(_))).is_some();
            let code = code.map_or_else(String::new, |code| format!(" with code {code}"));
            let silence = if sent { "" } else { ", and no kill event before it: the engine did not send the signal" };
            format!("the container ended{code}{silence}")
        }
        ContainerEvent::ExecDied(code) => {
            let code = code.map_or_else(String::new, |code| format!(" with code {code}"));
            format!("a process started by exec ended{code}; that is not the container")
        }
    })
}

fn evicted(reason: EvictedFor) -> &'static str {
    match reason {
        EvictedFor::Memory => "the kubelet evicted the pod: the node was low on memory",
        EvictedFor::Disk => "the kubelet evicted the pod: disk, inodes or process ids were short",
        EvictedFor::Volume(_) => "the kubelet evicted the pod: a volume passed its size limit",
        EvictedFor::Preemption => "the pod was removed for another one, by a drain or by request",
        EvictedFor::Shutdown => "the node shut down",
        EvictedFor::Unknown => "the pod was evicted",
    }
}

/// The size of /dev/shm in words.
pub(super) fn shm_size(shm: Shm) -> String {
    match shm {
        Shm::Unknown => "the size of /dev/shm is not told".to_owned(),
        Shm::Sized(Bytes(0)) => "/dev/shm has no limit of its own".to_owned(),
        Shm::Sized(size) => format!("/dev/shm had {size}"),
        Shm::Default(size) => format!("/dev/shm had {size}, the engine's default"),
        Shm::Host => "the host's /dev/shm was used".to_owned(),
        Shm::Unsized => "/dev/shm was as large as the memory limit".to_owned(),
        Shm::Elsewhere => "the container had no /dev/shm of its own".to_owned(),
    }
}
