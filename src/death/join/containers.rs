//! Exit records of containers and pods, joined to the deaths that happened in them.

use crate::death::identity::{Relation, compare, relate};
use crate::death::{Death, Join, MOST, merge_who};
use crate::fact::{Container, ContainerEvent, EvictedFor, Fact, Reason, Resource, Role, Status, What, Who};
use crate::seen::Input;
use crate::time::Stamp;
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

    /// Whether it failed in an earlier run only, and runs again.
    fn recovered(&self) -> bool {
        let running = self.containers().any(|c| c.status == Status::Running && !c.previous);
        let ended = self.containers().any(|c| c.status == Status::Exited && !c.previous);
        running && !ended && self.containers().any(|c| c.previous)
    }

    /// Whether its end goes with a death that a program tells of.
    fn fits(&self, death: &Death) -> bool {
        let (oom, signal, code) = (self.oom(), self.signal(), self.exit_code());
        let exit_follows = code.is_some_and(|code| code != 0 && Signal::from_status(code).is_none()) && !oom;
        let killed = oom && (death.signal == Some(Signal::KILL) || death.vanished());
        let hung = signal == Some(Signal::KILL) && !oom && death.refused(Resource::Shm).is_some();
        let worker_took_it = death.signal.is_some() && code == Some(1) && death.who.role == Role::Worker && !oom;
        let same = death.signal.is_some() && death.signal == signal;
        same || exit_follows || killed || hung || worker_took_it || (death.vanished() && signal.is_some())
    }

    /// The moments at which it ended by the engine's events.
    fn events(&self) -> impl Iterator<Item = Stamp> {
        self.facts.iter().filter(|f| matches!(f.what, What::Event(ContainerEvent::Died(_)))).filter_map(|f| f.when)
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
        let whole_pod = |who: &Who| who.container.is_none() && who.container_name.is_none();
        let full = groups.len() >= MOST;
        let same = groups.iter_mut().find(|group| match compare(&group.who, &fact.who) {
            Relation::Same(Join::Container | Join::Job) => true,
            // What is told of the pod itself stays apart from what is told of its containers.
            Relation::Same(_) => whole_pod(&group.who) && whole_pod(&fact.who),
            // The same record twice is one container, though nobody names it.
            Relation::Open { .. } => group.facts.first().is_some_and(|known| known.what == fact.what && known.who == fact.who),
            Relation::Other(_) => false,
        });
        match same {
            Some(group) => {
                merge_who(&mut group.who, &fact.who);
                group.facts.push(fact);
            }
            None if full => {}
            None => groups.push(Group { who: fact.who.clone(), facts: vec![fact], input: (index, fact.place.line.unwrap_or(0)) }),
        }
    }
    // An eviction is told of the pod; the containers of that pod did not die for reasons of their own.
    let evicted: Vec<String> = groups
        .iter()
        .filter(|g| g.facts.iter().any(|f| matches!(f.what, What::Evicted(why) if why != EvictedFor::Unknown)))
        .filter_map(|g| g.who.pod.clone())
        .collect();
    let about_pod = |g: &Group<'_>| g.facts.iter().any(|f| matches!(f.what, What::Evicted(_)));
    let inside = |g: &Group<'_>| !about_pod(g) && g.who.pod.as_ref().is_some_and(|pod| evicted.contains(pod)) && !g.oom();
    let (within, mut groups): (Vec<_>, Vec<_>) = groups.into_iter().partition(inside);
    // How they ended is how the pod was ended, unless the kubelet lost sight of them and made the code up.
    let made_up = |g: &Group<'_>| g.containers().any(|c| c.reason == Some(Reason::StatusUnknown));
    for ended in within.iter().filter(|g| g.signal().is_some() && !g.recovered() && !made_up(g)) {
        let same_pod = |g: &&mut Group<'_>| about_pod(g) && !matches!(compare(&g.who, &ended.who), Relation::Other(_));
        if let Some(pod) = groups.iter_mut().filter(same_pod).find(|g| g.who.pod == ended.who.pod) {
            pod.facts.extend(&ended.facts);
        }
    }
    groups
}

/// Adds the records of containers to the deaths that happened in them, and makes deaths of containers that nobody else
/// speaks of.
pub(in crate::death) fn containers(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    let groups = groups(facts, inputs);
    let down = groups.iter().filter(|group| group.failed() && !group.recovered()).count();
    let told = deaths.len();
    for group in &groups {
        let ends: Vec<Stamp> = group.containers().filter_map(|c| c.finished).chain(group.events()).collect();
        // A container that is running has no end that could be of another time.
        let join = |d: &Death| match relate(d, &group.who, &ends) {
            Relation::Other(_) => None,
            Relation::Same(join) => Some(join),
            Relation::Open { near: Some(gap) } if gap.sure => Some(Join::OnlyOneInTime),
            Relation::Open { .. } => Some(Join::OnlyOne),
        };
        let named = |join: Join| !matches!(join, Join::OnlyOne | Join::OnlyOneInTime);
        if !group.failed() {
            // Its record is testimony all the same: the size of its /dev/shm, and that it was not killed for memory.
            for death in &mut deaths[..told] {
                if let Some(join) = join(death).filter(|join| named(*join) || groups.len() == 1) {
                    attach(death, group, join, false);
                }
            }
            continue;
        }
        // Of several containers only one may be meant: the only one that fits, among those that are down if any is.
        let alone = |d: &Death| {
            let rivals = groups.iter().filter(|g| g.failed() && g.fits(d) && (down == 0 || !g.recovered()));
            rivals.count() == 1 && (down == 0 || !group.recovered()) || groups.len() == 1
        };
        let signal = group.signal();
        let fitting =
            || deaths[..told].iter().enumerate().filter(|(_, d)| group.fits(d)).filter_map(|(at, d)| Some((at, join(d)?)));
        let found = fitting().find(|(_, join)| named(*join)).or_else(|| fitting().find(|(at, _)| alone(&deaths[*at])));
        match found {
            Some((at, join)) => attach(&mut deaths[at], group, join, true),
            None => {
                let mut death = Death { order: group.input, count: 1, signal, exit_code: group.exit_code(), ..Death::default() };
                attach(&mut death, group, Join::Container, true);
                death.beside = group.recovered() && (down > 0 || told > 0);
                death.who.role = Role::Main;
                deaths.push(death);
            }
        }
    }
}

/// How many facts of a container's record are added to one death.
const FACTS: usize = 64;

/// Adds a container's record to a death. Its exit is the death's own only where `own`.
fn attach(death: &mut Death, group: &Group<'_>, join: Join, own: bool) {
    let pid = death.who.host_pid;
    let inside = death.who.role == Role::Worker || !own;
    let role = death.who.role;
    if own || !matches!(join, Join::OnlyOne) {
        merge_who(&mut death.who, &group.who);
    }
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
    // A busy container has thousands of events; those that tell of its end count, and of those the last.
    let (telling, others): (Vec<&Fact>, Vec<&Fact>) =
        group.facts.iter().partition(|f| !matches!(f.what, What::Event(ContainerEvent::Started | ContainerEvent::ExecDied(_))));
    let last = telling.len().saturating_sub(FACTS);
    for fact in telling.into_iter().skip(last).chain(others.into_iter().take(FACTS)) {
        death.facts.push(fact.clone());
        death.joined.push((fact.place.clone(), join));
    }
}
