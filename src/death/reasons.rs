//! Reasons: what a process said before its end and the end itself become one death, and what it survived becomes none.

use super::identity::{Relation, agree, moments, relate};
use super::{Death, Join, merge_who};
use crate::fact::{Fact, Resource, What, Why};
use crate::seen::{Input, Kind};
use crate::units::Signal;

/// Puts the death at `from` into the one at `into`, which stands behind it.
fn absorb(deaths: &mut Vec<Death>, from: usize, into: usize) {
    let reason = deaths[from].clone();
    let death = &mut deaths[into];
    death.order = death.order.min(reason.order);
    death.exit_code = death.exit_code.or(reason.exit_code);
    death.traceback = death.traceback.take().or(reason.traceback);
    merge_who(&mut death.who, &reason.who);
    death.facts.splice(0..0, reason.facts);
    death.joined.extend(reason.joined);
    death.aside.extend(reason.aside);
    deaths.remove(from);
}

/// Whether two deaths of one log can be of one process, by rank and pid.
fn one_process(one: &Death, other: &Death) -> bool {
    agree(&one.who.rank, &other.who.rank) && agree(&one.who.own_pid, &other.who.own_pid)
}

/// Who says that it was asked to end, and is killed further down in its log, did not die of what it was asked.
pub(super) fn asked(deaths: &mut Vec<Death>) {
    let told = |what: &What| matches!(what, What::Caught { signal: Signal::TERM, hint: false });
    let mut at = 0;
    while at < deaths.len() {
        let one = &deaths[at];
        let killed = (one.signal == Some(Signal::TERM) && one.facts.iter().all(|f| told(&f.what))).then(|| {
            deaths.iter().position(|d| {
                d.signal == Some(Signal::KILL) && d.order.0 == one.order.0 && d.order.1 > one.order.1 && one_process(d, one)
            })
        });
        match killed.flatten() {
            Some(killed) => absorb(deaths, at, killed),
            None => at += 1,
        }
    }
}

/// Whether a death can be the reason for which a process aborts itself: a time-out of its watchdog, a fault of the GPU, an
/// error of NCCL, or memory that C++ was refused.
fn aborting(death: &Death) -> bool {
    let reason = |what: &What| match what {
        What::TimedOut { .. } | What::Gpu { .. } | What::Nccl => true,
        What::Refused { resource, .. } => *resource == Resource::HostMemory,
        _ => false,
    };
    // An exception that Python printed ends the process with code 1.
    let raised = death.traceback.as_ref().is_some_and(|traceback| traceback.opened);
    death.signal.is_none() && death.exit_code.is_none() && !raised && death.find(reason).is_some()
}

/// Joins an abort to the reason that the same process gave right before, in one log.
pub(super) fn aborts(deaths: &mut Vec<Death>) {
    let mut at = 0;
    while at < deaths.len() {
        let death = &deaths[at];
        let reason = (death.signal == Some(Signal::ABRT) && !death.late).then(|| {
            deaths
                .iter()
                .position(|d| d.order.0 == death.order.0 && d.order.1 <= death.order.1 && one_process(d, death) && aborting(d))
        });
        match reason.flatten().filter(|reason| *reason != at) {
            Some(reason) => {
                absorb(deaths, reason, at);
                at = at.min(deaths.len());
            }
            None => at += 1,
        }
    }
}

/// The signals with which one daemon ended one process for want of memory.
fn sent(death: &Death) -> Option<(&'static str, bool)> {
    let by = death.facts.iter().find_map(|f| match f.what {
        What::Stopped { by, why: Why::Memory, .. } => Some(by),
        _ => None,
    })?;
    let killed = death.find(|w| matches!(w, What::Stopped { why: Why::Memory, signal: Some(Signal::KILL), .. }));
    Some((by, killed.is_some()))
}

/// A daemon that frees memory asks first and kills then: both are the end of one process, and the kill is what ended it.
pub(super) fn escalations(deaths: &mut Vec<Death>) {
    let mut at = 0;
    while at < deaths.len() {
        let one = &deaths[at];
        let later = sent(one).filter(|(_, killed)| !killed).and_then(|(by, _)| {
            deaths.iter().position(|d| {
                let agree = agree(&d.who.host_pid, &one.who.host_pid);
                let soon = one.when().zip(d.when()).is_none_or(|(a, b)| a.gap(b).is_none_or(|gap| gap.seconds <= 120.0));
                d.order.1 > one.order.1 && d.order.0 == one.order.0 && sent(d) == Some((by, true)) && agree && soon
            })
        });
        match later {
            Some(later) => absorb(deaths, at, later),
            None => {
                if sent(one).is_some_and(|(_, killed)| killed) && one.signal == Some(Signal::TERM) {
                    deaths[at].signal = Some(Signal::KILL);
                }
                at += 1;
            }
        }
    }
}

/// What a daemon killed in the end, after it had asked, is the one nameless process that another log says was killed.
pub(super) fn escalated(deaths: &mut Vec<Death>) {
    let nameless = |d: &Death| d.who.own_pid.is_none() && d.who.host_pid.is_none() && d.who.process.is_none();
    let unsent =
        |d: &Death| d.oom.is_none() && d.find(|w| matches!(w, What::Stopped { .. } | What::OomReported { .. })).is_none();
    let mut at = 0;
    while at < deaths.len() {
        let asked =
            |d: &Death| d.find(|w| matches!(w, What::Stopped { why: Why::Memory, signal: Some(Signal::TERM), .. })).is_some();
        let one = &deaths[at];
        let times = moments(one);
        let shot = sent(one).is_some_and(|(_, killed)| killed) && asked(one);
        let found: Vec<(usize, Join)> = deaths
            .iter()
            .enumerate()
            .filter(|(_, d)| shot && d.order.0 != one.order.0 && d.signal == Some(Signal::KILL) && nameless(d) && unsent(d))
            .filter_map(|(other, d)| match relate(d, &one.who, &times) {
                Relation::Other(_) => None,
                Relation::Same(join) => Some((other, join)),
                Relation::Open { near: Some(gap) } if gap.sure => Some((other, Join::OnlyOneInTime)),
                Relation::Open { .. } => Some((other, Join::OnlyOne)),
            })
            .collect();
        match found.as_slice() {
            [(other, join)] => {
                let places: Vec<_> = one.facts.iter().map(|f| (f.place.clone(), *join)).collect();
                deaths[*other].joined.extend(places);
                absorb(deaths, at, *other);
            }
            _ => at += 1,
        }
    }
}

/// PyTorch's keeper of shared memory needs room for its socket: what it says beside a full disk follows from that.
pub(super) fn sockets(deaths: &mut Vec<Death>) {
    let unsaid = |what: &What| matches!(what, What::Refused { resource: Resource::ShmOther, errno: None, by: "PyTorch", .. });
    let full = |d: &Death| d.refused(Resource::Disk).is_some() && d.signal.is_none();
    let mut at = 0;
    while at < deaths.len() {
        let death = &deaths[at];
        let disk = (death.signal.is_none() && death.find(unsaid).is_some() && !full(death))
            .then(|| deaths.iter().position(|d| d.order.0 == death.order.0 && full(d)));
        match disk.flatten() {
            Some(disk) => absorb(deaths, at, disk),
            None => at += 1,
        }
    }
}

/// An exception in a log, after which the kernel killed a process of the same log for memory: whoever raised it lived on.
pub(super) fn survived(deaths: &mut [Death]) {
    let sure = |join: &Option<Join>| !matches!(join, Some(Join::Program | Join::ProgramAndUnsureTime | Join::OnlyOne));
    let shot: Vec<(usize, u64)> = deaths
        .iter()
        .filter(|d| !d.late && d.oom.as_ref().is_some_and(|(report, join)| !report.quoted && sure(join)))
        .map(|d| d.order)
        .collect();
    for death in deaths.iter_mut() {
        let caught = death.signal.is_none()
            && death.exit_code.is_none()
            && death.facts.iter().all(|f| matches!(f.what, What::Raised { .. } | What::Refused { .. }));
        let (input, line) = death.order;
        death.beside |= caught && shot.iter().any(|(other, later)| *other == input && *later > line);
    }
}

/// In which boot of the machine each death happened, by the marks of its log. What died in an earlier one, and is told of
/// nowhere else, does not explain what died by a signal since.
pub(super) fn boots(deaths: &mut [Death], facts: &[Fact], inputs: &[Input]) -> Vec<u64> {
    let marks: Vec<&Fact> = facts.iter().filter(|fact| fact.what == What::Boot).collect();
    let name = |death: &Death| inputs.get(death.order.0).map(|input| &*input.name).unwrap_or_default();
    let boots: Vec<u64> = deaths
        .iter()
        .map(|death| {
            let before = |mark: &&&Fact| *mark.place.input == *name(death) && mark.place.line < Some(death.order.1);
            marks.iter().filter(before).count() as u64
        })
        .collect();
    let own =
        |fact: &Fact| inputs.iter().any(|i| i.name == fact.place.input && matches!(i.kind, Kind::TrainingLog | Kind::Record(_)));
    let before: Vec<bool> = (0..deaths.len())
        .map(|at| {
            let later = |(i, o): (usize, &Death)| {
                o.order.0 == deaths[at].order.0 && boots[i] > boots[at] && !o.late && o.signal.is_some()
            };
            deaths.iter().enumerate().any(later) && !deaths[at].facts.iter().any(own)
        })
        .collect();
    for (death, before) in deaths.iter_mut().zip(before) {
        death.beside |= before;
    }
    boots
}
