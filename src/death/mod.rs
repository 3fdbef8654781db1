//! Deaths: everything known about one dead process, gathered from all inputs.
//!
//! `ledger` reads the programs' own words into deaths, `join` adds what runtimes and the kernel know, strongest join
//! first. A host pid and a container's pid are never taken for the same without a join that is named.

mod cgroup;
mod claims;
mod consequences;
mod context;
mod identity;
mod join;
mod ledger;
mod oom_block;
mod oom_numbers;
mod oom_report;
#[cfg(test)]
mod oom_tests;
mod reasons;
mod settle;
mod traceback;

pub use context::{Context, Cover, SilentLog};
pub use oom_report::{OomReport, Task, Victim};
pub use traceback::Traceback;

use std::collections::HashMap;
use std::sync::Arc;

use crate::fact::{Container, ContainerEvent, Fact, How, Resource, Role, What, Who};
use crate::input::rotation;
use crate::place::Place;
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::Signal;

/// By what a report of the kernel or a runtime was joined to a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// The same pid of the machine.
    HostPid,
    /// The same container id.
    Container,
    /// The same pod uid.
    Pod,
    /// The same batch job.
    Job,
    /// The same systemd unit.
    Unit,
    /// The pid in the log is the pid in the kernel's report: one pid namespace.
    SamePid,
    /// The same program at the same time.
    ProgramAndTime,
    /// The same program at the same time, if two clocks without a zone mean the same.
    ProgramAndUnsureTime,
    /// The same program, while the clocks cannot be compared.
    Program,
    /// Nothing else was given that it could belong to.
    OnlyOne,
    /// Nothing else was given that it could belong to, and the clocks agree.
    OnlyOneInTime,
}

impl Join {
    /// The join in words.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::HostPid => "the same pid on the host",
            Self::Container => "the same container id",
            Self::Pod => "the same pod uid",
            Self::Job => "the same job",
            Self::Unit => "the same unit",
            Self::SamePid => "the same pid, in one pid namespace",
            Self::ProgramAndTime => "the same program at the same time",
            Self::ProgramAndUnsureTime => "the same program at the same time, if both clocks are in one zone",
            Self::Program => "the same program; the clocks of the two logs cannot be compared",
            Self::OnlyOne => "nothing else was given that it could belong to",
            Self::OnlyOneInTime => "nothing else was given that it could belong to, and the clocks agree",
        }
    }
}

/// Why a kernel report was not joined to a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aside {
    /// It names another container, pod, job, unit or machine.
    Place,
    /// It is of another time.
    Time,
    /// It names another process or program.
    Process,
    /// The death was no kill for memory.
    Signal,
    /// Nothing joins the two.
    Unjoined,
}

/// One dead process, or one failure that ended a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Death {
    /// Who died, as far as all evidence together tells.
    pub who: Who,
    /// The signal that somebody named.
    pub signal: Option<Signal>,
    /// The exit code that somebody named.
    pub exit_code: Option<i64>,
    /// Everything that was said about it, in reading order.
    pub facts: Vec<Fact>,
    /// The kernel's report of its OOM kill, and how it was joined.
    pub oom: Option<(Arc<OomReport>, Option<Join>)>,
    /// The exception that it is, or that told of it.
    pub traceback: Option<Traceback>,
    /// By what facts from elsewhere were joined to it, by their place.
    pub joined: Vec<(Place, Join)>,
    /// Kernel reports that were seen and do not belong to it, each with the reason.
    pub aside: Vec<(Fact, Aside, String)>,
    /// Which input and line spoke first: the order of deaths.
    pub order: (usize, u64),
    /// How many processes died this way.
    pub count: u64,
    /// Told of after the program's end, or in an exception that Python ignored.
    pub late: bool,
    /// It happened beside the others and explains none of them: a process started by exec, a sidecar's earlier run.
    pub beside: bool,
    /// It follows from another death (a peer ended by the launcher, a parent's exit code).
    pub consequence: bool,
}

impl Death {
    /// The first fact that a test accepts.
    pub fn find(&self, test: impl Fn(&What) -> bool) -> Option<&Fact> {
        self.facts.iter().find(|fact| test(&fact.what))
    }

    /// All facts that a test accepts.
    pub fn all<'a>(&'a self, test: impl Fn(&What) -> bool + 'a) -> impl Iterator<Item = &'a Fact> {
        self.facts.iter().filter(move |fact| test(&fact.what))
    }

    /// The containers that were joined to it, each with its fact.
    pub fn containers(&self) -> impl Iterator<Item = (&Fact, &Container)> {
        self.facts.iter().filter_map(|fact| match &fact.what {
            What::Container(container) => Some((fact, &**container)),
            _ => None,
        })
    }

    /// The first event of the container that a test accepts.
    pub fn event(&self, test: impl Fn(ContainerEvent) -> bool) -> Option<&Fact> {
        self.find(|what| matches!(what, What::Event(event) if test(*event)))
    }

    /// The first refusal of a resource.
    pub fn refused(&self, resource: Resource) -> Option<&Fact> {
        self.find(|what| matches!(what, What::Refused { resource: r, .. } if *r == resource))
    }

    /// Whether a message carries a guess at the reason (PyTorch's shared-memory hint for a SIGBUS).
    pub fn hint(&self) -> Option<&Fact> {
        self.find(|what| matches!(what, What::Caught { hint: true, .. } | What::Ended { how: How::Signal(_), hint: true }))
    }

    /// By what a fact from elsewhere was joined to it; nothing for its own words.
    pub fn join_of(&self, fact: &Fact) -> Option<Join> {
        self.joined.iter().find(|(place, _)| *place == fact.place).map(|(_, join)| *join)
    }

    /// Whether nothing is known but that the process is gone.
    pub fn vanished(&self) -> bool {
        self.signal.is_none()
            && self.exit_code.is_none()
            && self.find(|what| matches!(what, What::Ended { how: How::Vanished, .. })).is_some()
    }

    /// When it happened, by the first fact that has a wall clock, else by the container's or the kernel's record, else by the
    /// last line above it that has a clock. A stop that was asked for with another signal came before.
    pub fn when(&self) -> Option<Stamp> {
        let container_end = self.containers().find_map(|(_, c)| c.finished);
        let report = self.oom.as_ref().and_then(|(report, _)| report.when.or(report.boot));
        let said = || self.facts.iter().filter(|fact| !matches!(fact.what, What::Container(_)));
        let asked = |what: &What| match what {
            What::Event(ContainerEvent::Kill(signal)) | What::Stopped { signal: Some(signal), .. } => {
                Some(*signal) != self.signal
            }
            What::Event(ContainerEvent::Stopped | ContainerEvent::Started) => true,
            _ => false,
        };
        let end = said().filter(|fact| !asked(&fact.what)).find_map(|fact| fact.when);
        let before = self.facts.iter().find_map(|fact| fact.since);
        end.or(container_end).or(report).or_else(|| said().find_map(|fact| fact.when)).or(before)
    }

    /// Whether the limit that the kernel's report names is that of the cgroup which the engine made for the container, and not
    /// of one above it; nothing where no container or no cgroup is known.
    pub fn own_cgroup(&self) -> Option<bool> {
        let (report, _) = self.oom.as_ref()?;
        let id = self.who.container.as_deref()?.get(..12)?;
        Some(report.limit_cgroup.as_deref()?.rsplit('/').next()?.contains(id))
    }

    /// The cgroup above the container's own whose limit was hit.
    pub fn parent_cgroup(&self) -> Option<&str> {
        let (report, _) = self.oom.as_ref()?;
        let limit = report.limit_cgroup.as_deref().filter(|path| path.len() > 1 && report.limit.is_some())?;
        let id = self.who.container.as_deref()?.get(..12)?;
        let inside = report.victim_cgroup.as_deref()?.strip_prefix(limit)?;
        (!limit.contains(id) && inside.starts_with('/') && inside.contains(id)).then_some(limit)
    }

    /// Whether a process of the training job's own kind died: not merely some container, unit or CI job.
    pub fn is_process(&self) -> bool {
        !matches!(self.who.role, Role::Job | Role::Main | Role::Unit)
    }
}

/// How often the same claim is kept of one death: said a thousand times more it proves no more.
const SAME: usize = 64;

/// How many deaths there may be before runtimes, the kernel and senders add no more: twice as many as the logs may tell of
/// (`death::ledger`).
const MOST: usize = 1024;

impl Death {
    /// Adds a fact from elsewhere, and by what it was joined.
    fn add(&mut self, fact: &Fact, join: Option<Join>) {
        let same = |known: &&Fact| known.id == fact.id && known.what == fact.what;
        if self.facts.iter().filter(same).take(SAME).count() < SAME {
            self.joined.extend(join.map(|join| (fact.place.clone(), join)));
            self.facts.push(fact.clone());
        }
    }
}

/// Completes what is known of a process; what was known first stays.
fn merge_who(who: &mut Who, more: &Who) {
    if who.role == Role::Unknown {
        who.role = more.role;
    }
    who.host_pid = who.host_pid.or(more.host_pid);
    who.own_pid = who.own_pid.or(more.own_pid);
    who.worker = who.worker.or(more.worker);
    who.rank = who.rank.or(more.rank);
    for (known, new) in [
        (&mut who.process, &more.process),
        (&mut who.container, &more.container),
        (&mut who.container_name, &more.container_name),
        (&mut who.pod, &more.pod),
        (&mut who.pod_uid, &more.pod_uid),
        (&mut who.namespace, &more.namespace),
        (&mut who.cgroup, &more.cgroup),
        (&mut who.unit, &more.unit),
        (&mut who.job, &more.job),
        (&mut who.host, &more.host),
    ] {
        if known.is_none() {
            known.clone_from(new);
        }
    }
    // Compose leaves the project's name out; the engine's commands need it.
    if let (Some(known), Some(new)) = (&mut who.container_name, &more.container_name)
        && new.len() > known.len()
        && identity::same_name(known, new)
    {
        known.clone_from(new);
    }
}

/// What gathering gives.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// All deaths; the earliest first where order is known.
    pub deaths: Vec<Death>,
    /// What is not about one death.
    pub context: Context,
}

/// The programs' own logs come first, then exit records, then logs of whole machines.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::TrainingLog => 0,
        Kind::Record(_) => 1,
        Kind::Journal => 2,
        Kind::KernelLog => 3,
        Kind::Empty | Kind::Binary => 4,
    }
}

/// Gathers facts into deaths. `inputs` tell what was read, so that a kernel log's silence can count.
pub fn gather(facts: &[Fact], inputs: &[Input]) -> Gathered {
    // The order in which files were named on the command line must not decide anything.
    let mut sorted = inputs.to_vec();
    sorted.sort_by_key(|input| (rank(input.kind), rotation::in_time(&input.name), input.name.clone()));
    let place: HashMap<&str, usize> = sorted.iter().enumerate().map(|(at, input)| (&*input.name, at)).collect();
    let mut facts = facts.to_vec();
    facts.sort_by_key(|fact| place.get(&*fact.place.input).copied());
    let (facts, inputs) = (facts.as_slice(), sorted.as_slice());
    let mut context = Context::new(facts, inputs);
    let mut deaths = ledger::deaths(facts, inputs);
    reasons::asked(&mut deaths);
    join::faults(&mut deaths);
    join::devices(&mut deaths);
    join::containers(&mut deaths, facts, inputs);
    join::reports(&mut deaths, facts, inputs);
    join::limits(&mut deaths);
    join::senders(&mut deaths, facts, inputs);
    settle::settle(&mut deaths, facts, inputs);
    context.hear(&deaths);
    Gathered { deaths, context }
}
