//! Named senders, joined to the deaths they caused.

use crate::death::{Death, is_same, merge_who};
use crate::fact::{Fact, What, Why};
use crate::units::Signal;

/// Joins named senders to the deaths they caused. A sender that names a pid of its own makes a death of that process.
pub(in crate::death) fn senders(deaths: &mut Vec<Death>, facts: &[Fact]) {
    let told = deaths.len();
    for fact in facts {
        let What::Stopped { why, signal, .. } = &fact.what else { continue };
        if *why == Why::Memory {
            continue;
        }
        let by_pid = deaths.iter().position(|d| {
            fact.who.host_pid.is_some() && d.who.host_pid == fact.who.host_pid
                || fact.who.own_pid.is_some() && d.who.own_pid == fact.who.own_pid
                || fact.who.host_pid.is_some() && d.who.host_pid.is_none() && d.who.unit.is_some() && d.who.unit == fact.who.unit
        });
        if let Some(at) = by_pid {
            merge_who(&mut deaths[at].who, &fact.who);
            deaths[at].facts.push(fact.clone());
            continue;
        }
        if *why == Why::Cleanup {
            continue;
        }
        let same_place = |d: &Death| {
            is_same(&d.who.unit, &fact.who.unit)
                && is_same(&d.who.container, &fact.who.container)
                && is_same(&d.who.pod, &fact.who.pod)
                && is_same(&d.who.job, &fact.who.job)
        };
        let ended = |d: &Death| {
            matches!(d.signal, Some(Signal::KILL | Signal::TERM | Signal::INT)) || d.signal.is_none() && d.exit_code.is_some()
        };
        let names_pid = fact.who.host_pid.is_some() || fact.who.own_pid.is_some();
        if let Some(at) = deaths[..told].iter().position(|d| !names_pid && same_place(d) && ended(d) && d.oom.is_none()) {
            deaths[at].facts.push(fact.clone());
            continue;
        }
        // A stop without any other death: the job was ended, by whom and why is known.
        let tells_of_it =
            deaths.iter().position(|d| same_place(d) && d.find(|w| matches!(w, What::Stopped { .. })).is_some() && !names_pid);
        match tells_of_it {
            Some(at) => deaths[at].facts.push(fact.clone()),
            None if *signal == Some(Signal::KILL) || told == 0 || names_pid => deaths.push(Death {
                who: fact.who.clone(),
                signal: *signal,
                facts: vec![fact.clone()],
                order: (usize::MAX, fact.place.line.unwrap_or(0)),
                count: 1,
                ..Death::default()
            }),
            None => {}
        }
    }
}
