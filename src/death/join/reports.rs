//! The kernel's OOM reports, joined to deaths or set aside.

use crate::death::identity::{Relation, SAME_TIME, clocks, compare, moments, plausible, span};
use crate::death::{Aside, Death, Join, OomReport, cgroup, merge_who, oom_block};
use crate::fact::{ContainerEvent, Fact, Reason, Role, What, Who};
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::Signal;

use super::containers::is_record;

/// Joins the kernel's OOM reports to deaths; those of others are set aside with the reason, and without anybody else's
/// word a report is a death of its own.
pub(in crate::death) fn reports(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    let mut reports: Vec<((usize, u64), OomReport)> = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let own = facts.iter().filter(|fact| fact.place.input == input.name);
        for report in oom_block::group(own) {
            if reports.iter().any(|(_, seen)| seen.same(&report)) {
                continue;
            }
            let mut report = report;
            report.quoted = input.kind == Kind::TrainingLog;
            let line = report.victims.first().and_then(|v| v.fact.place.line).unwrap_or(0);
            reports.push(((index, line), report));
        }
    }
    let known: Vec<Who> =
        deaths.iter().map(|d| d.who.clone()).chain(facts.iter().filter(|f| is_record(&f.what)).map(|f| f.who.clone())).collect();
    let told = deaths.len();
    for (order, report) in reports {
        if report.victims.is_empty() {
            continue;
        }
        let place = cgroup::identify(report.victim_cgroup.as_deref().unwrap_or_default());
        let mut best: Option<(usize, Join)> = None;
        let mut reasons: Vec<(usize, Aside, String)> = Vec::new();
        for (at, death) in deaths.iter().enumerate().take(told) {
            match fit(death, &report, &place, deaths[..told].len()) {
                Ok(join) if death.oom.is_none() => {
                    if best.is_none_or(|(_, old)| strength(join) > strength(old)) {
                        best = Some((at, join));
                    }
                }
                Ok(_) => {}
                Err((aside, reason)) => reasons.push((at, aside, reason)),
            }
        }
        if let Some((at, join)) = best {
            let anonymous = is_anonymous(&deaths[at]) && deaths[at].order.0 == order.0;
            let join = (!anonymous).then_some(join);
            adopt(&mut deaths[at], report.clone(), &place, join, 0);
            let first = deaths[at].who.host_pid;
            for victim in (0..report.victims.len()).filter(|v| Some(report.victims[*v].pid) != first) {
                let mut death = Death { order, count: 1, consequence: true, ..Death::default() };
                adopt(&mut death, report.clone(), &place, None, victim);
                deaths.push(death);
            }
            continue;
        }
        let ours = known.iter().any(|who| matches!(compare(who, &place), Relation::Same(_)));
        let inside = |who: &Who| {
            let id = who.container.as_deref().and_then(|id| id.get(..12));
            id.is_some_and(|id| [&report.victim_cgroup, &report.limit_cgroup].into_iter().flatten().any(|path| path.contains(id)))
        };
        let ours = ours || known.iter().any(inside);
        // Where containers are given, a report that names another place is about somebody else.
        let someone_elses = !ours && report.victim_cgroup.is_some() && known.iter().any(|who| who.container.is_some());
        let unjoined = !reasons.is_empty();
        if someone_elses || (!ours && unjoined) {
            for (at, aside, reason) in reasons {
                let fact = report.victims[0].fact.clone();
                deaths[at].aside.push((fact, aside, reason));
            }
        }
        if someone_elses {
            continue;
        }
        // Without its kill line a report needs somebody else's word that the process died.
        let lost = report.kill_line_lost;
        for victim in (0..report.victims.len()).filter(|_| !lost) {
            let mut death = Death { order, count: 1, ..Death::default() };
            death.consequence = victim > 0;
            death.beside = unjoined;
            adopt(&mut death, report.clone(), &place, None, victim);
            deaths.push(death);
        }
    }
}

/// Whether nothing is known of the process but its signal, as from a shell's bare `Killed`.
fn is_anonymous(death: &Death) -> bool {
    let Who { role, host_pid, own_pid, process, container, pod, rank, .. } = &death.who;
    *role == Role::Unknown
        && (host_pid.is_none() && own_pid.is_none() && rank.is_none())
        && (process.is_none() && container.is_none() && pod.is_none())
}

/// How good a join is.
fn strength(join: Join) -> u8 {
    match join {
        Join::HostPid => 7,
        Join::Container | Join::Pod => 6,
        Join::Job | Join::Unit => 5,
        Join::SamePid => 4,
        Join::ProgramAndTime => 3,
        Join::ProgramAndUnsureTime => 2,
        Join::Program | Join::OnlyOne | Join::OnlyOneInTime => 1,
    }
}

/// Puts a kernel report into a death.
fn adopt(death: &mut Death, report: OomReport, place: &Who, join: Option<Join>, victim: usize) {
    let named = report.victims.iter().find(|v| Some(v.pid) == death.who.host_pid).or(report.victims.get(victim));
    if let Some(victim) = named {
        // A container record's pid is its main process; the kernel names the one that died.
        death.who.host_pid = Some(victim.pid);
        death.who.process = Some(victim.process.clone());
    }
    merge_who(&mut death.who, place);
    death.signal = Some(Signal::KILL);
    death.facts.extend(report.facts.iter().cloned());
    death.oom = Some((report, join));
}

/// The join between a death and a report, or the reason why there is none.
fn fit(death: &Death, report: &OomReport, place: &Who, deaths: usize) -> Result<Join, (Aside, String)> {
    let victim = &report.victims[0];
    let described = || {
        let whose = place.container.as_deref().map_or_else(
            || place.unit.clone().or(place.pod_uid.clone()).unwrap_or_else(|| "the host".to_owned()),
            |id| format!("container {}", &id.get(..12).unwrap_or(id)),
        );
        format!("OOM kill of pid {} ({}) in {whose}", victim.pid, victim.process)
    };
    if death.late {
        return Err((Aside::Signal, format!("{}: the message came after the run's end", described())));
    }
    let could_be_killed =
        matches!(death.signal, None | Some(Signal::KILL)) && (death.signal.is_some() || death.vanished() || told_oom(death));
    if !could_be_killed {
        return Err((Aside::Signal, format!("{}: this process did not die of SIGKILL", described())));
    }
    let times: Vec<Stamp> = [report.when, report.boot].into_iter().flatten().collect();
    let (near, far) = clocks(death, &times);
    if report.victims.iter().any(|v| Some(v.pid) == death.who.host_pid) && far.is_none() {
        return Ok(Join::HostPid);
    }
    let about = Who { host: victim.fact.who.host.clone(), ..place.clone() };
    let relation = compare(&Who { host_pid: None, own_pid: None, ..death.who.clone() }, &about);
    if relation == Relation::Other(Aside::Place) {
        return Err((Aside::Place, format!("{}: another container, pod, job, unit or machine", described())));
    }
    let killed_later = death.event(|e| e == ContainerEvent::Kill(Signal::KILL)).and_then(|f| f.when?.gap(*times.first()?));
    if let Some(gap) = killed_later.filter(|gap| gap.sure && gap.seconds > SAME_TIME) {
        return Err((Aside::Time, format!("{}: {} before the engine killed this one", described(), span(gap.seconds))));
    }
    if let Some(gap) = far.filter(|_| !told_oom(death)) {
        return Err((Aside::Time, format!("{}: {} before or after this death", described(), span(gap.seconds))));
    }
    if let Relation::Same(join) = relation {
        return Ok(join);
    }
    let by_pid = death.who.own_pid.is_some_and(|own| report.victims.iter().any(|v| v.pid.0 == own.0));
    let mentioned = death.facts.iter().filter_map(|f| f.who.own_pid).any(|own| report.victims.iter().any(|v| v.pid.0 == own.0));
    // A number is found in every pid namespace: the name must fit as well.
    let nameless = death.who.process.is_none() && death.who.role == Role::Unknown;
    if (by_pid || mentioned) && (nameless || plausible(death, &victim.process)) {
        // Hours apart by clocks of unknown zones: the same number may have been given twice.
        let clocks_of = |d: &Death| moments(d).into_iter().chain(d.facts.iter().filter_map(|f| f.since)).collect::<Vec<_>>();
        let told =
            clocks_of(death).iter().any(|own| times.iter().any(|t| own.gap(*t).is_some_and(|gap| gap.seconds > SAME_TIME)));
        return Ok(if told && near.is_none() { Join::ProgramAndUnsureTime } else { Join::SamePid });
    }
    if death.who.host_pid.is_some() && death.who.role != Role::Main {
        return Err((Aside::Process, format!("{}: another process", described())));
    }
    if !plausible(death, &victim.process) {
        return Err((Aside::Process, format!("{}: another program", described())));
    }
    match near {
        Some(gap) if gap.sure => Ok(Join::ProgramAndTime),
        Some(_) => Ok(Join::ProgramAndUnsureTime),
        None if far.is_some() => Err((Aside::Time, format!("{}: at another time", described()))),
        // Without clocks, only a name that nothing but a DataLoader worker has, or the only death beside the only kill.
        None if deaths == 1 || victim.process.starts_with("pt_data_worker") => Ok(Join::Program),
        None => Err((Aside::Unjoined, format!("{}: nothing joins it to this death", described()))),
    }
}

/// Whether the runtime says of the death's container that a process was killed for memory.
fn told_oom(death: &Death) -> bool {
    death.containers().any(|(_, c)| c.oom_killed == Some(true) || c.reason == Some(Reason::OomKilled))
        || death.event(|e| e == ContainerEvent::Oom).is_some()
        || death.find(|w| matches!(w, What::OomReported { .. })).is_some()
}
