//! Last corrections to the deaths: symptoms of one cause become one death, quotations go, consequences are marked.

use super::ledger::is_echo;
use super::{Death, is_same};
use crate::fact::{Fact, How, Resource, What, Why};
use crate::units::Signal;

/// Last corrections, when all evidence is in: symptoms of one full /dev/shm become one death, quotations are dropped,
/// consequences are marked, and the earliest comes first.
pub(super) fn settle(deaths: &mut Vec<Death>, facts: &[Fact]) {
    semaphores(deaths);
    one_full(deaths, Resource::Shm);
    one_full(deaths, Resource::Disk);
    beside_others(deaths);
    quotations(deaths, facts);
    consequences(deaths);
    deaths.sort_by_key(|death| (death.late, death.consequence, death.order));
}

/// Processes that die of SIGBUS and processes that are refused room suffer from the same full /dev/shm or disk.
fn one_full(deaths: &mut Vec<Death>, resource: Resource) {
    let bus = deaths.iter().position(|d| d.signal == Some(Signal::BUS) && d.refused(resource).is_none());
    let refused = deaths.iter().position(|d| d.refused(resource).is_some() && d.signal.is_none());
    let (Some(bus), Some(refused)) = (bus, refused) else { return };
    if !is_same(&deaths[bus].who.container, &deaths[refused].who.container)
        || !is_same(&deaths[bus].who.pod, &deaths[refused].who.pod)
    {
        return;
    }
    let other = deaths[refused].clone();
    let death = &mut deaths[bus];
    death.order = death.order.min(other.order);
    death.facts.extend(other.facts);
    death.facts.sort_by(|a, b| a.place.cmp(&b.place));
    deaths.remove(refused);
}

/// The message that workers are gone names several pids, and the signal is known of one: the others went with it.
fn beside_others(deaths: &mut [Death]) {
    for i in 0..deaths.len() {
        let Some(said) = deaths[i].facts.first().filter(|_| deaths[i].vanished()).map(|f| f.place.clone()) else { continue };
        let beside = deaths.iter().position(|d| !d.vanished() && d.facts.iter().any(|f| f.place == said));
        let Some(beside) = beside else { continue };
        deaths[i].consequence = true;
        // The handler of each dying worker spoke, the main process named one of them: the others died of the same.
        let spoken: Vec<Fact> =
            deaths[beside].all(|w| matches!(w, What::Caught { .. } | What::Refused { .. })).cloned().collect();
        if deaths[beside].count > 1 && !spoken.is_empty() {
            deaths[i].signal = deaths[beside].signal;
            deaths[i].facts.extend(spoken);
        }
    }
}

/// ENOSPC out of `SemLock` is a full /dev/shm, though the exception names no file (CPython Modules/_multiprocessing).
fn semaphores(deaths: &mut [Death]) {
    for death in deaths {
        let in_semaphore = death.traceback.as_ref().is_some_and(|t| {
            t.frames.iter().rev().take(3).any(|(file, function)| file.ends_with("synchronize.py") && function == "__init__")
        });
        if !in_semaphore {
            continue;
        }
        for fact in &mut death.facts {
            if let What::Refused { resource: resource @ Resource::Disk, .. } = &mut fact.what {
                *resource = Resource::Shm;
            }
        }
    }
}

/// Messages without a traceback or any witness but the program, in a log that later says it ended in good order, are
/// quotations (a training sample, a printed configuration) or were survived.
fn quotations(deaths: &mut Vec<Death>, facts: &[Fact]) {
    deaths.retain(|death| {
        let by_programs = death.facts.iter().all(|f| f.witness == crate::fact::Witness::Program) && death.oom.is_none();
        let traced = death.traceback.as_ref().is_some_and(|t| t.opened && !t.ignored);
        let Some(last) = death.facts.last() else { return false };
        let survived = facts
            .iter()
            .any(|fact| fact.what == What::Finished && fact.place.input == last.place.input && fact.place.line > last.place.line);
        !(by_programs && survived && (!traced || death.late))
    });
}

/// Marks deaths that follow from another one.
fn consequences(deaths: &mut [Death]) {
    if deaths.len() < 2 {
        return;
    }
    let ended_by_launcher = |d: &Death| d.find(|w| matches!(w, What::Stopped { why: Why::Cleanup, .. })).is_some();
    for i in 0..deaths.len() {
        let death = &deaths[i];
        let term =
            death.signal == Some(Signal::TERM) && death.find(|w| matches!(w, What::Stopped { why: Why::Memory, .. })).is_none();
        let only_echo = death.facts.iter().all(|f| {
            matches!(&f.what, What::PeerLost | What::TimedOut { .. } | What::Infrastructure)
                || matches!(&f.what, What::Ended { how: How::Code(code), .. } if Signal::from_status(*code).is_none())
                || matches!(&f.what, What::Raised { kind, .. } if is_echo(kind))
        });
        let earlier_vanished = death.vanished() && death.order > deaths.iter().map(|d| d.order).min().unwrap_or(death.order);
        let strong = deaths.iter().enumerate().any(|(j, other)| {
            j != i
                && !other.late
                && (other.signal.is_some_and(|s| s != Signal::TERM)
                    || other.traceback.is_some()
                    || other.oom.is_some()
                    || other.refused(Resource::Shm).is_some())
        });
        let follows = (term || only_echo || ended_by_launcher(death) || earlier_vanished) && strong;
        deaths[i].consequence |= follows;
    }
}
