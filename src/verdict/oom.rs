//! Rules for kills that somebody counted as out of memory.

use super::says::{sentence, subject};
use super::{Cause, Finding, Grade};
use crate::death::{Context, Death, Join, OomReport};
use crate::fact::{ContainerEvent, EvictedFor, Limit, Reason, Scope, Status, What, Why, Witness};
use crate::units::{Bytes, Signal};

/// The kernel's own report, joined to this death.
pub(super) fn reported_by_kernel(death: &Death, _: &Context) -> Option<Finding> {
    let (report, join) = death.oom.as_ref()?;
    let weak = matches!(join, Some(Join::ProgramAndUnsureTime | Join::Program | Join::OnlyOne));
    if weak && death.find(|w| matches!(w, What::Stopped { signal: Some(Signal::KILL), .. })).is_some() {
        return None;
    }
    let who = sentence(&subject(death));
    let victim = report.victims.iter().find(|v| Some(v.pid) == death.who.host_pid).or(report.victims.first())?;
    let grade = match join {
        None | Some(Join::HostPid | Join::Container | Join::Pod | Join::Job | Join::Unit | Join::SamePid) => Grade::Proven,
        Some(Join::ProgramAndTime | Join::ProgramAndUnsureTime) => Grade::Likely,
        Some(Join::Program | Join::OnlyOne | Join::OnlyOneInTime) => Grade::Suspected,
    };
    let grade = match grade {
        _ if report.quoted && report.trigger.is_none() || *join == Some(Join::ProgramAndUnsureTime) => Grade::Suspected,
        Grade::Proven if report.kill_line_lost => Grade::Likely,
        grade => grade,
    };
    let join_text =
        join.map_or_else(|| "the kernel killed it".to_owned(), |j| format!("the kernel killed it; joined by {}", j.phrase()));
    let finding = |cause, text: String| {
        let found = Finding::new(cause, grade, text).because(&victim.fact, join_text.clone());
        // A runtime that says otherwise may have lost the event; the kernel cannot have.
        match death.containers().find(|(_, c)| c.oom_killed == Some(false) && c.status == Status::Exited) {
            Some((fact, _)) => {
                found.against(fact, "the runtime's flag says no; it misses kills in nested cgroups and loses events")
            }
            None => found,
        }
    };
    if report.sysrq {
        return Some(finding(
            Cause::SigkillExternal,
            format!(
                "{who} was killed by the kernel's OOM killer because an operator asked for it (SysRq-f), not for want of memory."
            ),
        ));
    }
    let in_cgroup = report.memcg.unwrap_or(report.limit.is_some() || report.limit_cgroup.is_some());
    let limit = report.limit.map_or_else(String::new, |limit| format!(" of {limit}"));
    if !in_cgroup {
        let tmpfs = match (report.shmem, report.usage) {
            (Some(shmem), Some(ram)) if shmem.0.saturating_mul(2) >= ram.0 && ram.0 > 0 => {
                format!(" Shared memory and tmpfs held {shmem} of its {ram}.")
            }
            _ => String::new(),
        };
        return Some(finding(
            Cause::OomHost,
            format!("The kernel killed {}: the whole machine was out of memory.{tmpfs}", subject(death)),
        ));
    }
    if let Some((shmem, usage)) = mostly_shm(report) {
        return Some(finding(
            Cause::OomShmCharged,
            format!(
                "The kernel killed {}: its memory limit{limit} was filled mostly by shared memory ({shmem} of {usage}), which counts against it.",
                subject(death)
            ),
        ));
    }
    Some(finding(Cause::OomCgroup, format!("The kernel killed {}: the memory limit{limit} was reached.", subject(death))))
}

/// Shared memory and the whole, where shared memory makes up at least half (the statistics first: a process's own column
/// misses what was written and not mapped).
fn mostly_shm(report: &OomReport) -> Option<(Bytes, Bytes)> {
    // One process's share says nothing of how much of the limit all shared memory took.
    let whole = report.usage.or(report.limit.filter(|_| !report.of_victim));
    match (report.shmem, whole) {
        (Some(shmem), Some(whole)) => {
            let half = shmem.0.saturating_mul(2) >= whole.0;
            // The largest part counts as well: page tables, kernel memory and cache make up the rest.
            let largest = report.anon.is_some_and(|anon| shmem >= anon) && shmem.0.saturating_mul(5) >= whole.0.saturating_mul(2);
            (whole.0 > 0 && (half || largest)).then_some((shmem, whole))
        }
        (Some(shmem), None) => {
            let anon = report.anon.or(report.victims.first().and_then(|v| v.anon))?;
            let sum = Bytes(shmem.0.saturating_add(anon.0));
            (shmem.0 > anon.0 && shmem.0 > 0).then_some((shmem, sum))
        }
        (None, _) => {
            let victim = report.victims.first()?;
            let (shmem, anon) = (victim.shmem?, victim.anon?);
            (shmem > anon && shmem.0 > 0).then_some((shmem, Bytes(shmem.0.saturating_add(anon.0))))
        }
    }
}

/// The kubelet's evictions, each for its own reason.
pub(super) fn evicted(death: &Death, _: &Context) -> Option<Finding> {
    // An event names only the volume; the pod's specification tells where it is mounted.
    let at_shm = death.find(|w| matches!(w, What::Evicted(EvictedFor::Volume(Some(_)))));
    let fact = at_shm.or_else(|| death.find(|w| matches!(w, What::Evicted(_))))?;
    let What::Evicted(reason) = fact.what else { return None };
    let pod = death.who.pod.clone().map_or_else(|| "the pod".to_owned(), |pod| format!("pod {pod}"));
    let (cause, text) = match reason {
        EvictedFor::Memory => (Cause::OomEviction, "the node was low on memory"),
        EvictedFor::Volume(Some(true)) => (Cause::ShmEviction, "the memory-backed volume at /dev/shm passed its sizeLimit"),
        EvictedFor::Volume(Some(false)) => (Cause::DiskFull, "a volume that is not at /dev/shm passed its size limit"),
        EvictedFor::Volume(None) => (
            Cause::DiskFull,
            "a volume passed its size limit; only the pod's specification tells whether it is memory at /dev/shm",
        ),
        EvictedFor::Disk => (Cause::DiskFull, "disk, inodes or process ids were short"),
        EvictedFor::Preemption => (Cause::Preempted, "it had to make room, or somebody drained the node"),
        EvictedFor::Shutdown => (Cause::Preempted, "the node shut down; spot and pre-emptible machines end so"),
        EvictedFor::Unknown => (Cause::Other, "the record does not tell for what"),
    };
    let grade = if reason == EvictedFor::Volume(None) { Grade::Suspected } else { Grade::Proven };
    Some(
        Finding::new(cause, grade, sentence(&format!("{pod} was evicted: {text}.")))
            .because(fact, "the orchestrator's own reason"),
    )
}

/// Daemons and schedulers that kill for memory in user space; the kernel logs nothing then.
pub(super) fn killed_by_daemon(death: &Death, _: &Context) -> Option<Finding> {
    let memory = |w: &What| matches!(w, What::Stopped { why: Why::Memory, .. });
    let last = |w: &What| matches!(w, What::Stopped { why: Why::Memory, signal, .. } if *signal == death.signal);
    let fact = death.find(last).or_else(|| death.find(memory))?;
    let What::Stopped { by, signal, .. } = &fact.what else { return None };
    let signal = signal.unwrap_or(Signal::KILL);
    let text = format!("{by} ended {} with {signal} because memory was short.", subject(death));
    Some(
        Finding::new(Cause::OomUserspace, Grade::Proven, sentence(&text))
            .because(fact, format!("{by} says that it did it, and why")),
    )
}

/// The container runtime's own word.
pub(super) fn reported_by_runtime(death: &Death, context: &Context) -> Option<Finding> {
    let flagged = death.containers().find(|(_, c)| c.oom_killed == Some(true) || c.reason == Some(Reason::OomKilled));
    let event = death.event(|e| e == ContainerEvent::Oom);
    let (fact, container) = match (flagged, event) {
        (Some((fact, container)), _) => (fact, Some(container)),
        (None, Some(fact)) => (fact, death.containers().next().map(|(_, c)| c)),
        (None, None) => return None,
    };
    // On cgroup v1 the flag is raised in every container below a cgroup that ran out. Where the engine itself sent the
    // signal and the kernel shot somebody else, the flag is about that other container.
    let sent = death.event(|e| e == ContainerEvent::Kill(Signal::KILL));
    let disabled = container.is_some_and(|c| c.oom_kill_disabled);
    if sent.is_some() && (disabled || context.oom_kills > 0) {
        return None;
    }
    // A kill long after the notice was not caused by it: the container lived on without the process that was shot.
    if let (Some(sent), Some(noticed)) = (sent, event) {
        let gap = sent.when.and_then(|sent| noticed.when?.gap(sent));
        if gap.is_some_and(|gap| gap.seconds > 60.0) {
            return None;
        }
    }
    let unlimited = container.is_some_and(|c| c.memory == Some(Limit::Unlimited) && !c.parent_cgroup);
    let parent = container.is_some_and(|c| c.parent_cgroup);
    let exit = container.and_then(|c| c.exit_code).or(death.exit_code);
    let running = container.is_some_and(|c| c.status == Status::Running && !c.previous);
    let name = subject(death);
    let whom = match exit {
        _ if running => format!("A process inside was killed for memory; {name} itself is running."),
        Some(137) => format!("{} was killed for memory.", sentence(&name)),
        Some(code) => format!("A process was killed for memory beside {name}, which then ended with code {code}."),
        None => format!("A process was killed for memory: {name}."),
    };
    if unlimited {
        let text = format!("{whom} No memory limit was set, so the machine itself ran out.");
        return Some(
            Finding::new(Cause::OomHost, Grade::Likely, text).because(fact, "killed for memory, without a limit of its own"),
        );
    }
    let limit = match container.and_then(|c| c.memory) {
        Some(Limit::Bytes(limit)) => format!(" The limit was {limit}."),
        _ => String::new(),
    };
    let grade = if parent { Grade::Likely } else { Grade::Proven };
    let says =
        if parent { "a limit of a parent cgroup raises this flag in every container below it" } else { "the runtime's own word" };
    Some(Finding::new(Cause::OomCgroup, grade, format!("{whom}{limit}")).because(fact, says))
}

/// Service managers and schedulers that count the kernel's kills.
pub(super) fn reported_by_supervisor(death: &Death, context: &Context) -> Option<Finding> {
    let fact = death.find(|w| matches!(w, What::OomReported { .. }))?;
    let What::OomReported { by, scope } = &fact.what else { return None };
    let who = subject(death);
    // Files in /dev/shm outlive the process that was killed, so that they still fill what was its limit.
    if let Some((stat, shmem, Some(limit))) = context.filled(fact)
        && *scope == Scope::Cgroup
        && shmem.0.saturating_mul(2) >= limit.0
    {
        let text = format!(
            "{by} reports an out-of-memory kill: {who} or a child of it reached the memory limit of {limit}, of which shared memory holds {shmem}."
        );
        let found = Finding::new(Cause::OomShmCharged, Grade::Likely, sentence(&text));
        return Some(found.because(fact, format!("{by} counts the kernel's kills")).because(stat, "what fills the limit"));
    }
    // Who saw the kill and not the limit: a process outside of any container, job or unit has none but the machine's.
    let who_died = &death.who;
    let placed = [&who_died.container, &who_died.container_name, &who_died.pod, &who_died.job, &who_died.unit, &who_died.cgroup];
    let bare = *scope == Scope::Unknown && fact.who.host_pid.is_some() && placed.iter().all(|place| place.is_none());
    let (cause, text) = match scope {
        Scope::Unknown if bare => {
            (Cause::OomHost, format!("{by} saw the kernel's out-of-memory killer end {who}; nothing here names a memory limit."))
        }
        Scope::Host => {
            (Cause::OomHost, format!("{by} reports that the kernel killed {who}: the whole machine was out of memory."))
        }
        Scope::Cgroup | Scope::Unknown => {
            (Cause::OomCgroup, format!("{by} reports an out-of-memory kill: {who} or a child of it reached the memory limit."))
        }
    };
    // Who only shows what another part of its platform saw proves less.
    let (grade, says) = match fact.witness {
        Witness::Program => (Grade::Likely, format!("{by} says so")),
        _ if bare => (Grade::Likely, format!("{by} watches the kernel's kills and does not tell which memory ran out")),
        _ => (Grade::Proven, format!("{by} counts the kernel's kills")),
    };
    Some(Finding::new(cause, grade, sentence(&text)).because(fact, says))
}
