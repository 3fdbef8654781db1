//! The kernel's OOM reports, joined to deaths or set aside.

use crate::death::{Death, Join, OomReport, cgroup, is_same, merge_who, oom_block};
use crate::fact::{ContainerEvent, Fact, Reason, Role, What, Who};
use crate::seen::Input;
use crate::time::Stamp;
use crate::units::Signal;

use super::containers::is_record;

/// How far apart two clocks may be for one event, in seconds: `dmesg -T` drifts, containers are seen to end late.
const SAME_TIME: f64 = 120.0;

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
        let mut reasons: Vec<(usize, String)> = Vec::new();
        for (at, death) in deaths.iter().enumerate().take(told) {
            match fit(death, &report, &place, deaths[..told].len()) {
                Ok(join) if death.oom.is_none() => {
                    if best.is_none_or(|(_, old)| strength(join) > strength(old)) {
                        best = Some((at, join));
                    }
                }
                Ok(_) => {}
                Err(reason) => reasons.push((at, reason)),
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
        let of_known_container = |who: &Who| {
            who.container.is_some() && place.container.is_some() && is_same(&who.container, &place.container)
                || who.pod_uid.is_some() && who.pod_uid == place.pod_uid
                || who.job.is_some() && who.job == place.job
        };
        let ours = known.iter().any(of_known_container);
        let inside = |who: &Who| {
            let id = who.container.as_deref().and_then(|id| id.get(..12));
            id.is_some_and(|id| [&report.victim_cgroup, &report.limit_cgroup].into_iter().flatten().any(|path| path.contains(id)))
        };
        let ours = ours || known.iter().any(inside);
        // Where containers are given, a report that names another place is about somebody else.
        let someone_elses = !ours && report.victim_cgroup.is_some() && known.iter().any(|who| who.container.is_some());
        if someone_elses || (!ours && !reasons.is_empty()) {
            for (at, reason) in reasons {
                let fact = report.victims[0].fact.clone();
                deaths[at].aside.push((fact, reason));
            }
            continue;
        }
        for victim in 0..report.victims.len() {
            let mut death = Death { order, count: 1, ..Death::default() };
            death.consequence = victim > 0;
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
        Join::Program => 2,
        Join::OnlyOne => 1,
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
fn fit(death: &Death, report: &OomReport, place: &Who, deaths: usize) -> Result<Join, String> {
    let victim = &report.victims[0];
    let described = || {
        let whose = place.container.as_deref().map_or_else(
            || place.unit.clone().or(place.pod_uid.clone()).unwrap_or_else(|| "the host".to_owned()),
            |id| format!("container {}", &id.get(..12).unwrap_or(id)),
        );
        format!("OOM kill of pid {} ({}) in {whose}", victim.pid, victim.process)
    };
    if death.late {
        return Err(format!("{}: the message came after the run's end", described()));
    }
    let could_be_killed =
        matches!(death.signal, None | Some(Signal::KILL)) && (death.signal.is_some() || death.vanished() || told_oom(death));
    if !could_be_killed {
        return Err(format!("{}: this process did not die of SIGKILL", described()));
    }
    let when = report.when.or(report.boot);
    let gap =
        death_times(death).into_iter().filter_map(|t| when.and_then(|w| w.gap(t))).min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let other_time = gap.filter(|gap| gap.sure && gap.seconds > SAME_TIME || gap.seconds > 15.0 * 3600.0);
    if report.victims.iter().any(|v| Some(v.pid) == death.who.host_pid) {
        return Ok(Join::HostPid);
    }
    let same_container = place.container.is_some() && death.who.container.is_some();
    if same_container && !is_same(&place.container, &death.who.container) {
        return Err(format!("{}: another container", described()));
    }
    if let Some(gap) = other_time.filter(|_| !told_oom(death)) {
        return Err(format!("{}: {} before or after this death", described(), span(gap.seconds)));
    }
    if same_container {
        return Ok(Join::Container);
    }
    if death.who.pod_uid.is_some() && place.pod_uid.is_some() {
        return if death.who.pod_uid == place.pod_uid { Ok(Join::Pod) } else { Err(format!("{}: another pod", described())) };
    }
    if death.who.job.is_some() && place.job.is_some() {
        let base = |job: &Option<String>| job.as_deref().and_then(|j| j.split('.').next()).map(str::to_owned);
        return if base(&death.who.job) == base(&place.job) {
            Ok(Join::Job)
        } else {
            Err(format!("{}: another job", described()))
        };
    }
    if death.who.unit.is_some() && death.who.unit == place.unit {
        return Ok(Join::Unit);
    }
    let by_pid = death.who.own_pid.is_some_and(|own| report.victims.iter().any(|v| v.pid.0 == own.0));
    let mentioned = death.facts.iter().filter_map(|f| f.who.own_pid).any(|own| report.victims.iter().any(|v| v.pid.0 == own.0));
    // Small numbers are found in every pid namespace; there the name must fit as well.
    if (by_pid || mentioned) && (plausible(death, &victim.process) || victim.pid.0 >= 1000) {
        return Ok(Join::SamePid);
    }
    // The record of a container or unit names its members; a report from elsewhere is not about it.
    if death.who.unit.is_some() && place.unit.is_some() && death.who.container.is_none() && place.container.is_none() {
        return Err(format!("{}: another unit", described()));
    }
    if death.who.host_pid.is_some() && death.who.role != Role::Main {
        return Err(format!("{}: another process", described()));
    }
    if !plausible(death, &victim.process) {
        return Err(format!("{}: another program", described()));
    }
    // A line without a clock came later than the last one with a clock: that can show nearness, never distance.
    let near =
        death.facts.iter().filter_map(|f| f.since.and_then(|t| when?.gap(t))).min_by(|a, b| a.seconds.total_cmp(&b.seconds));
    match gap.or(near.filter(|gap| gap.seconds <= SAME_TIME)) {
        Some(gap) if gap.seconds <= SAME_TIME => Ok(Join::ProgramAndTime),
        Some(_) => Err(format!("{}: at another time", described())),
        // Without clocks, only a name that nothing but a DataLoader worker has, or the only death beside the only kill.
        None if deaths == 1 || victim.process.starts_with("pt_data_worker") => Ok(Join::Program),
        None => Err(format!("{}: nothing joins it to this death", described())),
    }
}

/// Whether the runtime says of the death's container that a process was killed for memory.
fn told_oom(death: &Death) -> bool {
    death.containers().any(|(_, c)| c.oom_killed == Some(true) || c.reason == Some(Reason::OomKilled))
        || death.event(|e| e == ContainerEvent::Oom).is_some()
        || death.find(|w| matches!(w, What::OomReported { .. })).is_some()
}

/// All moments that the evidence of a death gives for it.
fn death_times(death: &Death) -> Vec<Stamp> {
    let ends = death.containers().filter_map(|(_, c)| c.finished);
    let said = death.facts.iter().filter(|f| !matches!(f.what, What::Container(_))).flat_map(|f| [f.when, f.boot]).flatten();
    ends.chain(said).collect()
}

/// A length of time in words.
fn span(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// Whether the kernel's name for the victim fits the process that died.
fn plausible(death: &Death, process: &str) -> bool {
    let python = process.starts_with("python") || process.starts_with("pt_") || process.starts_with("ray::");
    match (&death.who.process, death.who.role) {
        (Some(name), _) => {
            let cut = |text: &str| text.chars().take(15).collect::<String>();
            cut(name) == process || (python && (name.starts_with("python") || name.starts_with("pt_")))
        }
        // From PyTorch 2.5 a worker is `pt_data_worker`; before, it bears its parent's name.
        (None, Role::Worker) => python,
        (None, Role::Unknown) if death.who.own_pid.is_none() => true,
        (None, Role::Rank | Role::Engine | Role::Unknown) => python || process.starts_with("torchrun"),
        (None, Role::Main) => true,
        (None, Role::Launcher | Role::Unit | Role::Job) => python,
    }
}
