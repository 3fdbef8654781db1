//! Rules for programs that lived to say what went wrong: refusals, exceptions, time-outs, and processes merely gone.

use super::says::{sentence, subject};
use super::{Cause, Finding, Grade};
use crate::death::{Context, Death};
use crate::fact::{Ceiling, Fact, How, Reason, Resource, What, Why};
use crate::units::{Bytes, Signal};

/// A resource other than /dev/shm was refused. That is an exception, not a kill.
pub(super) fn refused(death: &Death, context: &Context) -> Option<Finding> {
    if death.signal.is_some_and(|s| s != Signal::ABRT) {
        return None;
    }
    // A full disk explains whatever else was refused beside it.
    let fact = death.refused(Resource::Disk).or_else(|| death.find(|w| matches!(w, What::Refused { .. })))?;
    let What::Refused { resource, by, errno, .. } = &fact.what else { return None };
    let limit = limited(*resource, context);
    if let (Resource::Threads, Some((_, says))) = (resource, &limit) {
        let cause = if death.traceback.is_some() { Cause::PythonException } else { Cause::Other };
        let text = format!("{by} could not start a thread or process: {says}; no process was killed.");
        return Some(finding(cause, Grade::Likely, sentence(&text), fact, limit));
    }
    let (cause, text) = match resource {
        Resource::Descriptors => (Cause::FdLimit, "ran out of file descriptors"),
        Resource::Disk => (Cause::DiskFull, "found no room on a disk"),
        Resource::Threads => {
            let python = death.find(|w| matches!(w, What::Raised { .. })).is_some() || death.traceback.is_some();
            let cause = if python { Cause::PythonException } else { Cause::Other };
            (cause, "was refused a further thread or process: a limit on their number, seldom a lack of memory")
        }
        Resource::HostMemory | Resource::Maps => {
            (Cause::MemoryError, "was refused memory by the allocator or the kernel; no process was killed")
        }
        Resource::GpuMemory => (Cause::CudaOom, "ran out of memory on the accelerator"),
        Resource::ShmOther if *by == "NCCL" && errno.is_none() => {
            let text =
                "NCCL could not use a shared memory segment; the message does not tell why, and a full /dev/shm is one reason.";
            return Some(Finding::new(Cause::Nccl, Grade::Suspected, text).because(fact, "the failing call, without its reason"));
        }
        Resource::ShmOther if *by == "NCCL" => {
            (Cause::Nccl, "could not use a shared memory segment, for a reason other than room")
        }
        // EACCES, ENOENT, EROFS: a failed call, but no want of room.
        Resource::ShmOther if *errno == Some(2) => {
            (Cause::Other, "did not find a shared memory object: a peer had not made it, or had removed it")
        }
        Resource::ShmOther => (Cause::PythonException, "could not use a shared memory object, for a reason other than room"),
        Resource::Shm | Resource::ShmInodes => return None,
    };
    Some(finding(cause, Grade::Proven, format!("{by} {text}."), fact, limit))
}

/// A refusal with the limit that it met, where one was told.
fn finding(cause: Cause, grade: Grade, text: String, fact: &Fact, limit: Option<(&Fact, String)>) -> Finding {
    let found = Finding::new(cause, grade, text).because(fact, "the failing call says so");
    match limit {
        Some((limit, says)) => found.because(limit, says),
        None => found,
    }
}

/// More processes than this a machine learning job hardly starts: a lower limit is met, a higher one is anybody's.
const FEW_PROCESSES: u64 = 16_384;

/// The limit that a refusal of this kind meets, with what it says.
fn limited(resource: Resource, context: &Context) -> Option<(&Fact, String)> {
    match resource {
        Resource::Descriptors => {
            let (fact, value) = context.ceiling(Ceiling::OpenFiles)?;
            Some((fact, format!("a process may have {value} files open")))
        }
        Resource::HostMemory | Resource::Maps => {
            let space = context.ceiling(Ceiling::AddressSpace).map(|found| ("address space", found));
            let (name, (fact, value)) = space.or_else(|| Some(("private memory", context.ceiling(Ceiling::Data)?)))?;
            let value = Bytes(value);
            Some((
                fact,
                format!("the {name} of a process is limited to {value}: allocations fail there, whatever memory is free"),
            ))
        }
        Resource::Threads => {
            let (fact, value) = context.ceiling(Ceiling::Processes).filter(|(_, value)| *value <= FEW_PROCESSES)?;
            Some((fact, format!("its user may have {value} processes and threads")))
        }
        _ => None,
    }
}

/// A Python exception.
pub(super) fn raised(death: &Death, context: &Context) -> Option<Finding> {
    if death.signal.is_some_and(|signal| signal != Signal::ABRT) {
        return None;
    }
    let gpu = death.find(|w| matches!(w, What::Gpu { .. }));
    if let Some(fact) = gpu {
        let text = match fact.what {
            What::Gpu { xid: Some(_) } => "A GPU or its driver failed.",
            _ => "The GPU reported a fault: of the card, of its driver, or of what the program ran on it.",
        };
        return Some(Finding::new(Cause::GpuFault, Grade::Proven, text).because(fact, "the driver or CUDA says so"));
    }
    if let Some(fact) = death.find(|w| matches!(w, What::Nccl)) {
        return Some(
            Finding::new(Cause::Nccl, Grade::Proven, "NCCL failed, for a reason other than room in /dev/shm.")
                .because(fact, "NCCL's own error"),
        );
    }
    if death.signal.is_some() {
        return None;
    }
    let traceback = death.traceback.as_ref()?;
    if death.find(|w| matches!(w, What::Raised { .. })).is_none_or(|f| f.place != traceback.raised.place) {
        return None;
    }
    let kind = traceback.short_kind();
    let at = traceback.frames.last().map_or_else(String::new, |(file, function)| {
        let file = file.rsplit('/').next().unwrap_or(file);
        format!(" in {function} ({file})")
    });
    let worker = traceback.worker.map_or_else(String::new, |w| format!(" in DataLoader worker {w}"));
    let (cause, text) = match kind {
        "MemoryError" => (Cause::MemoryError, format!("Python could not allocate memory{worker}: an exception, not a kill.")),
        // Java and Ray use the same word for host memory.
        "OutOfMemoryError" if traceback.kind.starts_with("java.") || traceback.kind.starts_with("ray.") => {
            (Cause::MemoryError, format!("Memory of the host was refused{worker}: an exception, not a kill."))
        }
        "OutOfMemoryError" => (Cause::CudaOom, format!("The accelerator ran out of memory{worker}.")),
        "KeyboardInterrupt" => (Cause::Interrupted, "The program was interrupted (SIGINT).".to_owned()),
        "TimeoutError" | "Timeout" | "TimeoutExpired" | "RendezvousTimeoutError" => {
            (Cause::Timeout, format!("Something waited in vain{worker}{at}."))
        }
        "DistBackendError" => (Cause::Nccl, format!("The collective communication failed{at}.")),
        _ => (Cause::PythonException, format!("{kind} was raised{worker}{at}.")),
    };
    let grade = if traceback.opened { Grade::Proven } else { Grade::Likely };
    let found = Finding::new(cause, grade, text).because(&traceback.raised, "the exception itself");
    Some(match limited(Resource::HostMemory, context).filter(|_| cause == Cause::MemoryError) {
        Some((limit, says)) => found.because(limit, says),
        None => found,
    })
}

/// A hang.
pub(super) fn waited(death: &Death, _: &Context) -> Option<Finding> {
    let watchdog = |w: &What| matches!(w, What::Stopped { why: Why::Watchdog, .. });
    if let Some(fact) = death.find(watchdog).filter(|_| death.signal == Some(Signal::ABRT)) {
        let text = sentence(&format!("{} hung: a watchdog ended it with SIGABRT.", subject(death)));
        return Some(Finding::new(Cause::Timeout, Grade::Proven, text).because(fact, "a watchdog found the program hanging"));
    }
    let fact = death.find(|w| matches!(w, What::TimedOut { .. }))?;
    let text = "Something waited in vain: the program hung, nothing here says on what.";
    Some(Finding::new(Cause::Timeout, Grade::Proven, text).because(fact, "a time-out, not a death"))
}

/// A stop that is told without a signal, or the surroundings failed.
pub(super) fn stopped(death: &Death, _: &Context) -> Option<Finding> {
    if let Some(fact) = death.find(|w| matches!(w, What::Infrastructure)) {
        let text = "The job's surroundings failed: the runner, the node or the image.";
        return Some(Finding::new(Cause::Infrastructure, Grade::Likely, text).because(fact, "not the job itself"));
    }
    let never_ran = death.containers().find(|(_, c)| c.reason == Some(Reason::NotStarted));
    if let Some((fact, container)) = never_ran {
        if matches!(container.exit_code, Some(126 | 127)) {
            let text = sentence(&format!("{} never ran: its command was not found or could not be executed.", subject(death)));
            return Some(
                Finding::new(Cause::Other, Grade::Likely, text).because(fact, "exit codes 126 and 127 are the engine's for that"),
            );
        }
        let text = sentence(&format!("{} never ran.", subject(death)));
        return Some(Finding::new(Cause::Infrastructure, Grade::Likely, text).because(fact, "it was not started"));
    }
    let fact = death.find(|w| matches!(w, What::Stopped { .. }))?;
    let What::Stopped { by, why, signal } = &fact.what else { return None };
    let text = sentence(&format!("{} was stopped by {by}: {}.", subject(death), super::says::why(*why)));
    let cause = match (why, signal) {
        (Why::TimeLimit, _) => Cause::TimeLimit,
        (Why::Preemption, _) => Cause::Preempted,
        (Why::Shutdown, _) => Cause::Infrastructure,
        (_, Some(Signal::INT)) => Cause::Interrupted,
        (_, Some(Signal::TERM)) => Cause::Sigterm,
        _ => Cause::SigkillExternal,
    };
    Some(Finding::new(cause, Grade::Likely, text).because(fact, "the sender is named"))
}

/// A process that is gone, and nothing else.
pub(super) fn vanished(death: &Death, _: &Context) -> Option<Finding> {
    let fact = death.find(|w| matches!(w, What::Ended { how: How::Vanished, .. }))?;
    let text = sentence(&format!("{} is gone; neither a signal nor a message of its own is here.", subject(death)));
    Some(Finding::new(Cause::ExitedUnexpectedly, Grade::Likely, text).because(fact, "somebody noticed that it is gone"))
}

/// What remains: an exit code of its own, or a lost peer.
pub(super) fn anything_else(death: &Death) -> Finding {
    let lost_peer = death.find(|w| matches!(w, What::PeerLost));
    if let Some(fact) = lost_peer {
        let text = "A peer was lost; why is to be found in the log of that peer.";
        return Finding::new(Cause::Nccl, Grade::Suspected, text).because(fact, "the view of a survivor");
    }
    let who = subject(death);
    match death.exit_code {
        Some(code) => Finding::new(
            Cause::ExitedUnexpectedly,
            Grade::Suspected,
            sentence(&format!("{who} ended with exit code {code}: by itself, no signal is named, and nothing here says why.")),
        ),
        None => Finding::new(Cause::Other, Grade::Suspected, sentence(&format!("{who} ended; nothing here says why."))),
    }
}
