//! The kernel's OOM reports, joined to deaths or set aside.

use std::collections::HashMap;
use std::sync::Arc;

use crate::death::identity::{Relation, SAME_TIME, clocks, compare, moments, plausible, span};
use crate::death::{Aside, Death, Join, MOST, OomReport, cgroup, merge_who, oom_block};
use crate::fact::{ContainerEvent, Fact, Limit, Reason, Resource, Role, What, Who};
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::{HostPid, Signal};

use super::containers::is_record;

/// Where a report tells whose limit was hit and not how large it was, as one of a single line does: the limit of the container's
/// record, if the cgroup is the container's own.
pub(in crate::death) fn limits(deaths: &mut [Death]) {
    for death in deaths {
        let recorded = death.containers().find_map(|(_, container)| match container.memory {
            Some(Limit::Bytes(limit)) => Some(limit),
            _ => None,
        });
        let own = death.own_cgroup() == Some(true);
        if let (Some(limit), Some((report, _)), true) = (recorded, &mut death.oom, own)
            && report.limit.is_none()
        {
            Arc::make_mut(report).limit = Some(limit);
        }
    }
}

/// Joins the kernel's OOM reports to deaths; those of others are set aside with the reason, and without anybody else's
/// word a report is a death of its own.
pub(in crate::death) fn reports(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    let reports = collect(facts, inputs);
    let known: Vec<Who> =
        deaths.iter().map(|d| d.who.clone()).chain(facts.iter().filter(|f| is_record(&f.what)).map(|f| f.who.clone())).collect();
    let told = deaths.len();
    // Every report is held against every death before any is joined: the strongest join wins, whichever was read first.
    let mut fits: Vec<(u8, usize, usize, Join)> = Vec::new();
    let mut reasons: Vec<Vec<(usize, Aside, String)>> = vec![Vec::new(); reports.len()];
    for (index, found) in reports.iter().enumerate() {
        for (at, death) in deaths.iter().enumerate() {
            match fit(death, &found.report, &found.place, told) {
                Ok(join) => fits.push((strength(join), index, at, join)),
                Err((aside, reason)) => reasons[index].push((at, aside, reason)),
            }
        }
    }
    fits.sort_by_key(|(strength, index, at, _)| (std::cmp::Reverse(*strength), *index, *at));
    let mut joined = vec![false; reports.len()];
    for (_, index, at, join) in fits {
        if joined[index] || deaths[at].oom.is_some() {
            continue;
        }
        joined[index] = true;
        let found = &reports[index];
        let anonymous = !found.report.quoted && is_anonymous(&deaths[at]) && deaths[at].order.0 == found.order.0;
        adopt(&mut deaths[at], found, (!anonymous).then_some(join), 0);
        let first = deaths[at].who.host_pid;
        let others = (0..found.report.victims.len()).filter(|v| Some(found.report.victims[*v].pid) != first);
        deaths.extend(others.take(VICTIMS).map(|victim| of_its_own(found, victim, true)));
    }
    for ((found, reasons), joined) in reports.iter().zip(reasons).zip(joined) {
        if joined || deaths.len() > MOST {
            continue;
        }
        let report = &found.report;
        let inside = |who: &Who| {
            let id = who.container.as_deref().and_then(|id| id.get(..12));
            id.is_some_and(|id| [&report.victim_cgroup, &report.limit_cgroup].into_iter().flatten().any(|path| path.contains(id)))
        };
        let ours = known.iter().any(|who| matches!(compare(who, &found.place), Relation::Same(_)) || inside(who));
        // Where containers are given, a report that names another place is about somebody else.
        let someone_elses = !ours && report.victim_cgroup.is_some() && known.iter().any(|who| who.container.is_some());
        let unjoined = !reasons.is_empty();
        if someone_elses || (!ours && unjoined) {
            for (at, aside, reason) in
                reasons.into_iter().filter(|(at, ..)| deaths[*at].aside.len() < VICTIMS).collect::<Vec<_>>()
            {
                deaths[at].aside.push((report.victims[0].fact.clone(), aside, reason));
            }
        }
        // Without its kill line a report needs somebody else's word that the process died.
        if someone_elses || report.kill_line_lost {
            continue;
        }
        for victim in 0..report.victims.len().min(VICTIMS) {
            let mut death = of_its_own(found, victim, victim > 0);
            death.beside = unjoined;
            deaths.push(death);
        }
    }
}

/// How many victims of one report become deaths of their own; the report names them all.
const VICTIMS: usize = 16;

/// A report with the place that its cgroup names and the line that it was read at.
struct Found {
    report: Arc<OomReport>,
    place: Who,
    order: (usize, u64),
}

/// All reports; one that was read twice, from dmesg and from a journal, counts once.
fn collect(facts: &[Fact], inputs: &[Input]) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    let mut by_pid: HashMap<HostPid, Vec<usize>> = HashMap::new();
    for (index, input) in inputs.iter().enumerate() {
        let own = facts.iter().filter(|fact| fact.place.input == input.name);
        for mut report in oom_block::group(own) {
            let Some(first) = report.victims.first() else { continue };
            let seen = report.victims.iter().filter_map(|v| by_pid.get(&v.pid)).flatten();
            if seen.into_iter().any(|at| all[*at].report.same(&report)) {
                continue;
            }
            let order = (index, first.fact.place.line.unwrap_or(0));
            for victim in &report.victims {
                by_pid.entry(victim.pid).or_default().push(all.len());
            }
            report.quoted = input.kind == Kind::TrainingLog;
            let place = cgroup::identify(report.victim_cgroup.as_deref().unwrap_or_default());
            all.push(Found { report: Arc::new(report), place, order });
        }
    }
    all
}

/// A death that nobody but the kernel tells of.
fn of_its_own(found: &Found, victim: usize, consequence: bool) -> Death {
    let mut death = Death { order: found.order, count: 1, consequence, ..Death::default() };
    adopt(&mut death, found, None, victim);
    death
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
fn adopt(death: &mut Death, found: &Found, join: Option<Join>, victim: usize) {
    let Found { report, place, .. } = found;
    let named = report.victims.iter().find(|v| Some(v.pid) == death.who.host_pid).or(report.victims.get(victim));
    if let Some(victim) = named {
        // A container record's pid is its main process; the kernel names the one that died.
        death.who.host_pid = Some(victim.pid);
        death.who.process = Some(victim.process.clone());
    }
    merge_who(&mut death.who, place);
    death.signal = Some(Signal::KILL);
    death.facts.extend(report.facts.iter().cloned());
    death.oom = Some((Arc::clone(report), join));
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
    let could_be_killed = (death.signal.is_some() || death.refused(Resource::Shm).is_none())
        && matches!(death.signal, None | Some(Signal::KILL))
        && (death.signal.is_some() || death.vanished() || told_oom(death));
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
