//! Named senders, joined to the deaths they caused.

use crate::death::identity::{Relation, clocks, compare, moments, relate};
use crate::death::{Death, Join, MOST, merge_who};
use crate::fact::{Fact, How, Role, What, Why};
use crate::seen::Input;
use crate::time::Stamp;
use crate::units::Signal;

/// Joins named senders to the deaths they caused. A sender that names a pid of its own makes a death of that process.
pub(in crate::death) fn senders(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    let told = deaths.len();
    for fact in facts {
        let What::Stopped { why, signal, .. } = &fact.what else { continue };
        if *why == Why::Memory {
            continue;
        }
        let times: Vec<Stamp> = [fact.when, fact.boot].into_iter().flatten().collect();
        let by_id = deaths.iter().position(|d| match compare(&d.who, &fact.who) {
            Relation::Same(Join::HostPid | Join::SamePid) => true,
            Relation::Open { .. } => {
                let same_number = d.who.own_pid.zip(fact.who.host_pid).is_some_and(|(own, host)| own.0 == host.0);
                // A keeper names its program at one time with its pid and at another without.
                let nameless = d.who.own_pid.is_none() && d.who.host_pid.is_none();
                // Or it names the pid where it kills, and the program before and after.
                let here = d.facts.iter().any(|f| f.place.input == fact.place.input);
                let keeper = |what: &What| matches!((what, &fact.what), (What::Stopped { by: one, .. }, What::Stopped { by: other, .. }) if one == other);
                let kept = *why == Why::StopTimeout && nameless && here && d.signal == Some(Signal::KILL) && d.signal == *signal && d.find(keeper).is_some();
                let same_name = nameless && d.who.process.is_some() && d.who.process == fact.who.process;
                let (near, far) = clocks(d, &times);
                // A shell has no clock; small numbers are found in every container.
                let alone = far.is_none() && d.signal == *signal && moments(d).is_empty();
                let large = fact.who.host_pid.is_some_and(|pid| pid.0 > 1 << 10);
                same_number && (near.is_some() || alone && large) || (same_name || kept) && near.is_some()
            }
            // A unit's main process is named by its pid where it is killed.
            Relation::Same(Join::Unit) => fact.who.host_pid.is_some() && d.who.host_pid.is_none(),
            _ => false,
        });
        if let Some(at) = by_id {
            merge_who(&mut deaths[at].who, &fact.who);
            deaths[at].add(fact, None);
            continue;
        }
        if *why == Why::Cleanup {
            // A launcher that kills everything after a death: what then dies of that signal in the same log is its work.
            let names_nobody = fact.who.host_pid.is_none() && fact.who.own_pid.is_none();
            let after = |d: &Death| {
                signal.is_some() && d.signal == *signal && d.oom.is_none() && d.order.1 > fact.place.line.unwrap_or(0)
            };
            let here = |d: &Death| d.facts.first().is_some_and(|f| f.place.input == fact.place.input);
            for death in deaths.iter_mut().filter(|d| names_nobody && here(d) && after(d)) {
                death.add(fact, None);
            }
            continue;
        }
        let ended = |d: &Death| {
            let asked = matches!(d.signal, Some(Signal::KILL | Signal::TERM | Signal::INT));
            // A status that only arithmetic turns into a signal leaves the word to whoever says why the job was ended.
            let counted = d.exit_code.is_some()
                && !d.facts.iter().any(|f| matches!(f.what, What::Ended { how: How::Signal(_), .. } | What::Caught { .. }));
            // Who is merely gone may be the one that a sender of the same kind of process ended.
            let gone =
                d.vanished() && *signal == Some(Signal::KILL) && d.who.role != Role::Unknown && d.who.role == fact.who.role;
            d.oom.is_none() && (asked || counted || gone)
        };
        let names_pid = fact.who.host_pid.is_some() || fact.who.own_pid.is_some();
        let join = |d: &Death| {
            let here = d.facts.first().is_some_and(|f| f.place.input == fact.place.input);
            match relate(d, &fact.who, &times) {
                Relation::Other(_) => None,
                Relation::Same(join) => Some(join),
                Relation::Open { .. } if here => Some(Join::OnlyOneInTime),
                Relation::Open { near: Some(gap) } if gap.sure => Some(Join::OnlyOneInTime),
                Relation::Open { near: Some(_) } => Some(Join::ProgramAndUnsureTime),
                Relation::Open { near: None } => Some(Join::OnlyOne),
            }
        };
        // A job is ended as a whole: the reason holds for each of its processes.
        let found: Vec<(usize, Join)> = deaths[..told]
            .iter()
            .enumerate()
            .filter(|(_, d)| !names_pid && ended(d))
            .filter_map(|(at, d)| Some((at, join(d)?)))
            .collect();
        for (at, join) in &found {
            if deaths[*at].vanished() {
                deaths[*at].signal = *signal;
            }
            deaths[*at].add(fact, Some(*join));
        }
        if !found.is_empty() {
            continue;
        }
        // A stop without any other death: the job was ended, by whom and why is known.
        let told_before = || {
            // Who names a pid may have spoken before without it.
            let same = |d: &Death| {
                let nameless = d.who.host_pid.is_none() && d.who.own_pid.is_none();
                nameless && d.facts.iter().all(|f| f.what == fact.what && f.who.role == fact.who.role)
            };
            let stops = |d: &Death| d.find(|w| matches!(w, What::Stopped { .. })).is_some() && (!names_pid || same(d));
            deaths.iter().enumerate().filter(|(_, d)| stops(d)).find_map(|(at, d)| Some((at, join(d)?)))
        };
        let same_log = |fact: &Fact| deaths.iter().any(|d| d.facts.iter().any(|f| f.place.input == fact.place.input));
        match told_before() {
            Some((at, join)) => {
                merge_who(&mut deaths[at].who, &fact.who);
                deaths[at].add(fact, Some(join));
            }
            None if deaths.len() >= MOST => {}
            None if *signal == Some(Signal::KILL) || told == 0 || names_pid || ends_job(*why) => deaths.push(Death {
                who: fact.who.clone(),
                signal: *signal,
                facts: vec![fact.clone()],
                order: (
                    inputs.iter().position(|input| input.name == fact.place.input).unwrap_or(usize::MAX),
                    fact.place.line.unwrap_or(0),
                ),
                count: 1,
                beside: told > 0 && !(ends_job(*why) && same_log(fact)),
                ..Death::default()
            }),
            None => {}
        }
    }
}

/// Whether a job as a whole is ended for this reason, whatever its processes then do.
fn ends_job(why: Why) -> bool {
    matches!(why, Why::TimeLimit | Why::Preemption)
}

#[cfg(test)]
mod tests {
    use crate::death::gather;
    use crate::input::Source;
    use crate::read::read;

    #[test]
    fn what_is_said_a_thousand_times_is_kept_some_times() {
        for line in [
            "ERROR: Job failed: execution took longer than 1h0m0s seconds",
            "Killing  Sent interrupt. Waiting 5s before force killing",
        ] {
            let text = format!("{}{line}\n", format!("{line}\n").repeat(2000));
            let reading = read(&[Source::stream("log".into(), text.as_bytes())]);
            assert!(reading.facts.len() >= 2000, "{line}");
            let gathered = gather(&reading.facts, &reading.inputs);
            let most = gathered.deaths.iter().map(|death| death.facts.len().max(death.joined.len())).max();
            assert!(most.is_some_and(|most| most <= 200) && gathered.deaths.len() < 10, "{line}: {most:?}");
        }
    }
}
