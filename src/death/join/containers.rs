//! Exit records of containers and pods, joined to the deaths that happened in them.

use crate::death::{Death, Join, is_same, merge_who};
use crate::fact::{Container, ContainerEvent, EvictedFor, Fact, Reason, Resource, Role, Status, What, Who};
use crate::seen::Input;
use crate::units::Signal;

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
pub(super) fn is_record(what: &What) -> bool {
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
pub(in crate::death) fn containers(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
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
