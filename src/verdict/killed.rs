//! Rules for SIGKILL without proof of memory: a named sender, testimony against memory, or nothing at all.

use super::says::{self, sentence, subject};
use super::{Cause, Finding, Grade};
use crate::death::{Aside, Context, Cover, Death};
use crate::fact::{ContainerEvent, Fact, How, Reason, Role, Status, What, Why, Witness};
use crate::units::Signal;

/// Somebody says that he sent the signal, or why the job was ended.
pub(super) fn by_named_sender(death: &Death, _: &Context) -> Option<Finding> {
    let killed = death.signal == Some(Signal::KILL);
    let who = subject(death);
    let stops = || death.all(|w| matches!(w, What::Stopped { .. }));
    let reason = |fact: &Fact| match fact.what {
        What::Stopped { why, .. } => Some(why),
        _ => None,
    };
    // The reason that explains most comes first: a time limit also shows as a request and a cancelled step.
    for (wanted, cause, text) in [
        (Why::TimeLimit, Cause::TimeLimit, "was ended because the job's time was over"),
        (Why::Preemption, Cause::Preempted, "was ended because the machine was taken back"),
    ] {
        if let Some(fact) = stops().find(|f| reason(f) == Some(wanted)) {
            let text = sentence(&format!("{who} {text}."));
            return Some(Finding::new(cause, Grade::Proven, text).because(fact, "the sender and the reason are named"));
        }
    }
    if !killed {
        return None;
    }
    if let Some(fact) = death.event(|e| e == ContainerEvent::Kill(Signal::KILL)) {
        let timed_out = death.event(|e| e == ContainerEvent::Kill(Signal::TERM)).is_some();
        let how = if timed_out {
            "after SIGTERM had not ended it within the grace period of a stop"
        } else {
            "because somebody asked for it"
        };
        let text = sentence(&format!("{who} was killed by the container engine {how}."));
        return Some(Finding::new(Cause::SigkillExternal, Grade::Proven, text).because(fact, "the engine itself sent SIGKILL"));
    }
    let fact = stops().find(|f| matches!(f.what, What::Stopped { signal: Some(Signal::KILL), .. })).or_else(|| {
        stops().find(|f| {
            matches!(
                reason(f),
                Some(Why::StopTimeout | Why::Probe | Why::Request | Why::Watchdog | Why::Timeout | Why::Shutdown | Why::Cleanup)
            )
        })
    })?;
    let What::Stopped { by, why, .. } = &fact.what else { return None };
    let text = sentence(&format!("{who} was killed by {by}: {}.", says::why(*why)));
    Some(Finding::new(Cause::SigkillExternal, Grade::Proven, text).because(fact, "the sender is named"))
}

/// Who would know says that it was no out-of-memory kill, and nobody says who sent the signal.
pub(super) fn not_for_memory(death: &Death, context: &Context) -> Option<Finding> {
    if death.signal != Some(Signal::KILL) {
        return None;
    }
    let made_up = death.containers().find(|(_, c)| c.reason == Some(Reason::StatusUnknown));
    if let Some((fact, _)) = made_up {
        let text = sentence(&format!("{} was lost from sight: the kubelet makes up exit code 137 for that.", subject(death)));
        return Some(
            Finding::new(Cause::Infrastructure, Grade::Likely, text)
                .because(fact, "the exit code is invented (ContainerStatusUnknown)"),
        );
    }
    let record = death.containers().find(|(_, c)| {
        let failed = c.exit_code.is_some_and(|code| code != 0) && c.status == Status::Exited;
        // The flag would be up for a child as well; `Error` beside another exit code tells only of the main process.
        failed && c.oom_killed == Some(false) || c.exit_code == Some(137) && c.reason == Some(Reason::Error)
    });
    let (cover, input) = context.cover(death.when(), death.who.host.as_deref());
    // A report of another time or of another container does not break the silence about this death.
    let when = death.when();
    let near = context.kill_times.iter().any(|kill| when.and_then(|when| when.gap(*kill)).is_some_and(|gap| gap.seconds < 300.0));
    let whole = input.is_some_and(|input| !context.suppressed(input, when));
    let silent = cover == Cover::Covers && whole && death.oom.is_none() && (!near || own_time(death));
    // Docker's event log names every kill of its own and every OOM notice; Podman's knows neither.
    let logged = death.event(|e| e == ContainerEvent::Started).is_some()
        && death.event(|e| matches!(e, ContainerEvent::Died(Some(137)))).is_some();
    let docker_log = death.event(|e| matches!(e, ContainerEvent::Died(_))).filter(|f| logged && f.id.starts_with("docker"));
    let counted = record.is_none().then(|| counted(death)).flatten();
    let zero = none_killed(death, context).filter(|_| death.oom.is_none());
    if record.is_none() && !silent && docker_log.is_none() && counted.is_none() && zero.is_none() {
        return None;
    }
    let who = subject(death);
    let text = match (record.is_some(), silent) {
        (false, false) if counted.is_some() => {
            format!("Something killed {who} with SIGKILL; Slurm counts kills for memory in a job and counted none in this one.")
        }
        (true, true) => format!(
            "Something killed {who} with SIGKILL; the container's record and the kernel log say that it was not for memory."
        ),
        (true, false) => {
            format!("Something killed {who} with SIGKILL; what is here says that it was not the container's memory limit.")
        }
        (false, false) if zero.is_some() => {
            format!("Something killed {who} with SIGKILL; its cgroup counts kills for memory and counted none.")
        }
        (false, false) => format!(
            "Something killed {who} with SIGKILL; the engine's event log holds neither a kill of its own nor an out-of-memory notice."
        ),
        (false, true) => {
            format!("Something killed {who} with SIGKILL; the kernel log of that time holds no out-of-memory report.")
        }
    };
    let mut found = Finding::new(Cause::SigkillUnexplained, Grade::Likely, text);
    if let Some((fact, _)) = record {
        found = found.because(fact, "SIGKILL, and not flagged as killed for memory; the flag can be lost");
        if !silent && !own_time(death) {
            found.grade = Grade::Suspected;
        }
    }
    if let Some(fact) = counted {
        found = found.because(fact, "a signal, and not OUT_OF_MEMORY; Slurm sees the kills in the job's own cgroup only");
        if !silent && docker_log.is_none() {
            found.grade = Grade::Suspected;
        }
    }
    if let Some(fact) = zero {
        found = found.because(fact, "no process of the cgroup was killed for memory since the cgroup was made");
        if record.is_none() && !silent && docker_log.is_none() {
            found.grade = Grade::Suspected;
        }
    }
    let quiet = input.filter(|_| silent).map(|input| input.name.clone());
    if let (Some(name), Some(fact)) = (quiet, death.facts.first()) {
        let says = format!("{name} covers this moment and holds no out-of-memory report");
        found = found.because(fact, says);
    }
    Some(found)
}

/// Slurm's accounting of a job that died of SIGKILL: a kill for memory in the job's cgroup would have made it OUT_OF_MEMORY
/// (17.11 and later, with the cgroup plugin).
fn counted(death: &Death) -> Option<&Fact> {
    death.facts.iter().find(|fact| {
        matches!(fact.id, "slurm-sacct" | "slurm-scontrol" | "slurm-jobs")
            && matches!(fact.what, What::Ended { how: How::Signal(Signal::KILL), .. })
    })
}

/// The one cgroup whose counter stood at zero after the death. A cgroup that was made anew for another attempt counts anew, so
/// this is never more than a doubt.
fn none_killed<'a>(death: &Death, context: &'a Context) -> Option<&'a Fact> {
    let mut zeros = context.facts.iter().filter(|fact| fact.what == What::NoneKilled);
    let zero = zeros.next()?;
    let another = |fact: &Fact| fact.who.cgroup != zero.who.cgroup;
    let before = death.facts.iter().any(|f| f.place.input == zero.place.input && f.place.line > zero.place.line);
    (!zeros.any(another) && !before).then_some(zero)
}

/// Whether the kernel's reports were set aside because they name another place.
fn own_time(death: &Death) -> bool {
    !death.aside.is_empty() && death.aside.iter().all(|(_, reason, _)| *reason == Aside::Place)
}

/// A bare SIGKILL.
pub(super) fn without_witness(death: &Death, _: &Context) -> Option<Finding> {
    if death.signal != Some(Signal::KILL) {
        return None;
    }
    let who = subject(death);
    let arithmetic = death.facts.iter().all(|f| {
        f.witness == Witness::Arithmetic
            || matches!(f.what, What::Ended { how: How::Code(_), .. } | What::Stopped { .. } | What::Infrastructure)
    });
    if arithmetic && matches!(death.who.role, Role::Job) {
        let text = sentence(&format!("{who} ended with a status that stands for SIGKILL; nobody here says who sent it or why."));
        return Some(Finding::new(Cause::SigkillUnexplained, Grade::Suspected, text));
    }
    let text = format!(
        "{} was killed with SIGKILL. Lack of memory is the usual reason; nothing here proves or excludes it.",
        sentence(&who)
    );
    Some(Finding::new(Cause::OomSuspected, Grade::Suspected, text))
}
