//! Joins: which container record, kernel report and sender belongs to which death, strongest join first.

use super::oom_block;
use super::{Death, Join, OomReport, cgroup, is_same, merge_who};
use crate::fact::{Container, ContainerEvent, EvictedFor, Fact, Reason, Resource, Role, Status, What, Who, Why};
use crate::seen::Input;
use crate::time::Stamp;
use crate::units::Signal;

/// How far apart two clocks may be for one event, in seconds: `dmesg -T` drifts, containers are seen to end late.
const SAME_TIME: f64 = 120.0;

/// Everything that the inputs say of one container (or, for an eviction, of one pod).
struct Group<'a> {
    who: Who,
    facts: Vec<&'a Fact>,
    input: (usize, u64),
}

impl Group<'_> {
    fn containers(&self) -> impl Iterator<Item = &Container> {
        self.facts.iter().filter_map(|fact| match &fact.what {
            What::Container(container) => Some(&**container),
            _ => None,
        })
    }

    /// The exit code of the run that ended badly: of the record, or of the event log.
    fn exit_code(&self) -> Option<i64> {
        let of_record = self.containers().filter(|c| c.status != Status::Running || c.previous).filter_map(|c| c.exit_code);
        let of_events = self.facts.iter().filter_map(|fact| match fact.what {
            What::Event(ContainerEvent::Died(code)) => code,
            _ => None,
        });
        let codes: Vec<i64> = of_record.chain(of_events).collect();
        codes.iter().copied().find(|code| *code != 0).or(codes.first().copied())
    }

    /// Whether the runtime says that a process in it was killed for memory.
    fn oom(&self) -> bool {
        self.containers().any(|c| c.oom_killed == Some(true) || c.reason == Some(Reason::OomKilled))
            || self.facts.iter().any(|f| matches!(f.what, What::Event(ContainerEvent::Oom) | What::OomReported { .. }))
    }

    /// Whether something ended badly in it.
    fn failed(&self) -> bool {
        let never_ran = self.containers().any(|c| c.reason == Some(Reason::NotStarted));
        let evicted = self.facts.iter().any(|f| matches!(f.what, What::Evicted(_)));
        self.oom() || never_ran || evicted || self.exit_code().is_some_and(|code| code != 0)
    }

    fn signal(&self) -> Option<Signal> {
        self.exit_code().and_then(Signal::from_status).or_else(|| self.oom().then_some(Signal::KILL))
    }
}

/// Whether a claim is an exit record's word about a container or pod.
fn is_record(what: &What) -> bool {
    matches!(what, What::Container(_) | What::Event(_) | What::Evicted(_))
}

/// Sorts the records by container.
fn groups<'a>(facts: &'a [Fact], inputs: &[Input]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for fact in facts.iter().filter(|fact| is_record(&fact.what)) {
        let index = inputs.iter().position(|input| input.name == fact.place.input).unwrap_or(0);
        let named = |who: &Who| who.container.is_some() || who.container_name.is_some();
        let same = groups.iter_mut().find(|group| {
            let ids = group.who.container.is_some()
                && fact.who.container.is_some()
                && is_same(&group.who.container, &fact.who.container);
            let names = group.who.container_name.is_some()
                && group.who.container_name == fact.who.container_name
                && is_same(&group.who.pod, &fact.who.pod)
                && is_same(&group.who.container, &fact.who.container);
            let pods = !named(&group.who) && !named(&fact.who) && is_same(&group.who.pod, &fact.who.pod);
            ids || names || pods
        });
        match same {
            Some(group) => {
                merge_who(&mut group.who, &fact.who);
                group.facts.push(fact);
            }
            None => groups.push(Group { who: fact.who.clone(), facts: vec![fact], input: (index, fact.place.line.unwrap_or(0)) }),
        }
    }
    // An eviction is told of the pod; the containers of that pod did not die for reasons of their own.
    let evicted: Vec<String> = groups
        .iter()
        .filter(|g| g.facts.iter().any(|f| matches!(f.what, What::Evicted(why) if why != EvictedFor::Unknown)))
        .filter_map(|g| g.who.pod.clone())
        .collect();
    groups.retain(|g| {
        let about_pod = g.facts.iter().any(|f| matches!(f.what, What::Evicted(_)));
        about_pod || g.who.pod.as_ref().is_none_or(|pod| !evicted.contains(pod)) || g.oom()
    });
    groups
}

/// Adds the records of containers to the deaths that happened in them, and makes deaths of containers that nobody else
/// speaks of.
pub(super) fn containers(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    let groups = groups(facts, inputs);
    let alone = groups.iter().filter(|group| group.failed()).count() == 1 || groups.len() == 1;
    let told = deaths.len();
    for group in &groups {
        let names_it = |d: &Death| {
            d.who.container.is_some() && group.who.container.is_some() && is_same(&d.who.container, &group.who.container)
                || d.who.container_name.is_some() && d.who.container_name == group.who.container_name
                || d.who.host_pid.is_some() && d.who.host_pid == group.who.host_pid
        };
        let may = |d: &Death| {
            is_same(&d.who.container, &group.who.container) && is_same(&d.who.container_name, &group.who.container_name)
        };
        if !group.failed() {
            // Its record is testimony all the same: the size of its /dev/shm, and that it was not killed for memory.
            for death in deaths[..told].iter_mut().filter(|d| names_it(d) || groups.len() == 1 && may(d)) {
                let join = if names_it(death) { Join::Container } else { Join::OnlyOne };
                attach(death, group, join, false);
            }
            continue;
        }
        let signal = group.signal();
        let fits = |d: &Death| {
            let exit_follows =
                group.exit_code().is_some_and(|code| code != 0 && Signal::from_status(code).is_none()) && !group.oom();
            let killed = group.oom() && (d.signal == Some(Signal::KILL) || d.vanished());
            let hung = signal == Some(Signal::KILL) && !group.oom() && d.refused(Resource::Shm).is_some();
            let worker_took_it = d.signal.is_some() && group.exit_code() == Some(1) && d.who.role == Role::Worker && !group.oom();
            (d.signal.is_some() && d.signal == signal)
                || exit_follows
                || killed
                || hung
                || worker_took_it
                || (d.vanished() && signal.is_some())
        };
        let found = deaths[..told]
            .iter()
            .position(|d| names_it(d) && fits(d))
            .map(|at| (at, Join::Container))
            .or_else(|| deaths[..told].iter().position(|d| alone && may(d) && fits(d)).map(|at| (at, Join::OnlyOne)));
        match found {
            Some((at, join)) => attach(&mut deaths[at], group, join, true),
            None => {
                let mut death = Death { order: group.input, count: 1, signal, exit_code: group.exit_code(), ..Death::default() };
                attach(&mut death, group, Join::Container, true);
                death.container_join = None;
                death.who.role = Role::Main;
                deaths.push(death);
            }
        }
    }
}

/// Adds a container's record to a death. Its exit is the death's own only where `own`.
fn attach(death: &mut Death, group: &Group<'_>, join: Join, own: bool) {
    let pid = death.who.host_pid;
    let inside = death.who.role == Role::Worker || !own;
    let role = death.who.role;
    merge_who(&mut death.who, &group.who);
    if inside {
        death.who.role = role;
        // The record's pid is that of the main process, not of the worker that died.
        death.who.host_pid = pid;
    }
    if own {
        death.exit_code = death.exit_code.or(group.exit_code());
        if death.vanished() && group.oom() {
            death.signal = Some(Signal::KILL);
        }
    }
    death.facts.extend(group.facts.iter().map(|fact| (*fact).clone()));
    death.container_join = Some(join);
}

/// Joins the kernel's OOM reports to deaths; those of others are set aside with the reason, and without anybody else's
/// word a report is a death of its own.
pub(super) fn reports(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
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

/// Joins named senders to the deaths they caused. A sender that names a pid of its own makes a death of that process.
pub(super) fn senders(deaths: &mut Vec<Death>, facts: &[Fact]) {
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
