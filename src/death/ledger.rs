//! The programs' own words as deaths: which messages speak of the same process, which are consequences of another.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::claims::{is_echo, signal_of, speaks_of_death};
use super::identity::{Relation, agree, agree_id, compare, plausible, relate};
use super::traceback::{self, Traceback};
use super::{Death, Join, merge_who};
use crate::fact::{Fact, How, Opening, Resource, Role, Table, What, Who, Why, Witness};
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::Signal;

/// Deaths from all inputs, each input in reading order.
pub(super) fn deaths(facts: &[Fact], inputs: &[Input]) -> Vec<Death> {
    let mut ledger = Ledger { deaths: Vec::new(), kinds: inputs.iter().map(|input| input.kind).collect() };
    for (index, input) in inputs.iter().enumerate() {
        let own: Vec<&Fact> = facts.iter().filter(|fact| fact.place.input == input.name).collect();
        let first = ledger.deaths.len();
        ledger.input(index, &own);
        // A log that names one job only is that job's.
        let mut jobs: Vec<String> =
            own.iter().filter_map(|f| f.who.job.as_deref()?.split('.').next().map(str::to_owned)).collect();
        jobs.sort_unstable();
        jobs.dedup();
        if let ([job], Kind::TrainingLog) = (jobs.as_slice(), input.kind) {
            for death in &mut ledger.deaths[first..] {
                death.who.job.get_or_insert_with(|| job.clone());
            }
        }
    }
    ledger.deaths
}

struct Ledger {
    deaths: Vec<Death>,
    kinds: Vec<Kind>,
}

impl Ledger {
    fn input(&mut self, input: usize, facts: &[&Fact]) {
        let tracebacks = traceback::group(facts);
        let ends: HashMap<u64, &Traceback> =
            tracebacks.iter().filter_map(|t| t.raised.place.line.map(|line| (line, t))).collect();
        let dropped: Vec<(u64, Option<u64>)> =
            tracebacks.iter().filter(|t| t.ignored).map(|t| (t.first_line, t.raised.place.line)).collect();
        let ignored = |line: u64| dropped.iter().any(|(first, last)| *first <= line && Some(line) <= *last);
        let mut lines: BTreeMap<u64, Vec<&Fact>> = BTreeMap::new();
        for fact in facts {
            lines.entry(fact.place.line.unwrap_or(0)).or_default().push(fact);
        }
        let is_heading = |f: &&&Fact| matches!(f.what, What::Traceback(Opening::Heading));
        let headings: HashSet<u64> = facts.iter().filter(is_heading).filter_map(|f| f.place.line).collect();
        let mut current: Option<(u64, &Fact)> = None;
        let mut row: Option<(u64, Who)> = None;
        let mut stack: Option<(usize, u64)> = None;
        for (line, here) in lines {
            if let Some(fact) = here.iter().find(|fact| fact.what == What::Current) {
                current = Some((line, fact));
                self.complete(input, line, &fact.who);
            }
            for fact in here.iter().filter(|fact| matches!(fact.what, What::Elastic(Table::Row))) {
                // The rows of torchrun's table: host and rank stand above the exit code of the same process.
                let fresh = row.as_ref().is_none_or(|(at, _)| line - at > 2);
                let known = row.take().filter(|_| !fresh).map_or_else(Who::default, |(_, who)| who);
                let mut who = fact.who.clone();
                merge_who(&mut who, &known);
                row = Some((line, who));
            }
            let traceback = ends.get(&line).copied();
            let spoken: Vec<&Fact> = here.iter().copied().filter(|fact| speaks_of_death(&fact.what)).collect();
            if let Some((death, last)) = stack.filter(|(_, last)| line - last <= 4) {
                // faulthandler prints the stack of the dying thread right below its message.
                let frames: Vec<&Fact> = here.iter().copied().filter(|f| matches!(f.what, What::Frame { .. })).collect();
                if !frames.is_empty() {
                    self.deaths[death].facts.extend(frames.into_iter().cloned());
                    stack = Some((death, line));
                } else if line > last + 3 {
                    stack = None;
                }
            }
            if spoken.is_empty() {
                if let Some(traceback) = traceback.filter(|t| !t.ignored && !headings.contains(&line)) {
                    self.exception(input, line, traceback);
                }
                continue;
            }
            let mut first = None;
            for fact in spoken {
                let mut fact = fact.clone();
                if let Some((_, who)) =
                    row.as_ref().filter(|(at, who)| line - at <= 3 && [&fact.who, who].iter().any(|who| who.own_pid.is_some()))
                {
                    merge_who(&mut fact.who, who);
                }
                let at = self.enter(input, line, &fact, first);
                first.get_or_insert(at);
                if matches!(fact.what, What::Caught { hint: false, .. }) {
                    stack = Some((at, line));
                }
                let death = &mut self.deaths[at];
                death.late |= ignored(line) && death.facts.len() == 1;
                if let Some((_, told)) = current.filter(|(at, told)| line - at <= NEAR && is_unnamed(death, told.witness)) {
                    merge_who(&mut death.who, &told.who);
                }
                if death.traceback.is_none() {
                    death.traceback = traceback.cloned();
                }
            }
        }
    }

    /// The kernel prints the process only below the line that names the fatal signal.
    fn complete(&mut self, input: usize, line: u64, who: &Who) {
        if let Some(at) = self.last(|d| d.order.0 == input && line.saturating_sub(d.order.1) <= 3 && is_fault(d)) {
            merge_who(&mut self.deaths[at].who, who);
        }
    }

    /// Puts a fact into the death that it speaks of; `beside` is the death of an earlier claim of the same line.
    fn enter(&mut self, input: usize, line: u64, fact: &Fact, beside: Option<usize>) -> usize {
        let signal = signal_of(&fact.what);
        let at = self.same_process(fact).or_else(|| match &fact.what {
            What::Ended { how: How::Vanished, .. } if fact.who.own_pid.is_none() => beside.or_else(|| self.vanished(input, fact)),
            What::Ended { how: How::Vanished, .. } => self.vanished(input, fact),
            What::Ended { how: How::Code(_), .. } if signal.is_none() => {
                self.last(|d| !d.late && self.one_job(d, input) && may_share(d, fact))
            }
            What::Ended { .. } | What::Caught { .. } => self.same_signal(input, fact, signal),
            What::Refused { resource, by, .. } => self.last(|d| {
                // NCCL tells one failure twice, with and without its reason.
                let twice =
                    |w: &What| matches!(w, What::Refused { by: b, resource: r, .. } if b == by && shm(*r) && shm(*resource));
                // A message that was broken, and on the next line what it is about.
                let above = |f: &Fact| f.place.line.is_some_and(|above| above + 1 == line) && f.place.input == fact.place.input;
                let begun = |what: &What| match what {
                    What::Refused { resource: Resource::Disk, .. } => *resource == Resource::Shm,
                    What::Raised { .. } => *by == "PyTorch",
                    _ => false,
                };
                let broken = d.facts.iter().any(|f| above(f) && begun(&f.what));
                d.order.0 == input && (d.refused(*resource).is_some() || broken || d.find(twice).is_some()) && may_share(d, fact)
            }),
            What::TimedOut { .. } | What::PeerLost => self.last(|d| !d.late && self.one_job(d, input) && may_share(d, fact)),
            What::Nccl => self.last(|d| d.order.0 == input),
            What::Hardware(_) => self.last(|d| {
                d.order.0 == input
                    && d.find(|w| matches!(w, What::Hardware(_))).is_some()
                    && (d.who.host_pid.is_none() || fact.who.host_pid.is_none())
            }),
            What::Gpu { .. } => self.last(|d| d.find(|w| matches!(w, What::Gpu { .. })).is_some() && may_share(d, fact)),
            What::OomReported { .. } | What::Stopped { .. } => self.reported(input, fact, signal),
            _ => None,
        });
        let Some(at) = at.or_else(|| self.deaths.len().checked_sub(1).filter(|_| self.deaths.len() >= DEATHS)) else {
            self.deaths.push(Death {
                who: fact.who.clone(),
                signal,
                exit_code: code_of(&fact.what),
                facts: vec![fact.clone()],
                order: (input, line),
                count: 1,
                ..Death::default()
            });
            return self.deaths.len() - 1;
        };
        let death = &mut self.deaths[at];
        let another = match &fact.what {
            // PyTorch's handler speaks once for each dying worker, while the main process names only one of them.
            What::Caught { .. } => death.all(|w| matches!(w, What::Caught { .. })).count() as u64 >= death.count,
            What::Refused { .. } => {
                let named = || death.facts.iter().filter_map(|f| f.who.own_pid);
                fact.who.own_pid.is_some_and(|pid| named().next().is_some() && named().all(|known| known != pid))
            }
            _ => false,
        };
        death.count += u64::from(another);
        let echo = matches!(fact.what, What::Ended { how: How::Code(_), .. }) && signal.is_none();
        if echo && death.signal.is_none() && fact.who.own_pid.is_some() && !ended_with_pid(death) {
            // Who raised or was refused something lived to say so; the process that then ended is the dead one.
            death.who.own_pid = fact.who.own_pid;
            death.who.rank = death.who.rank.or(fact.who.rank);
        }
        if !echo {
            death.signal = death.signal.or(signal);
        }
        // A report that only may belong lends no names: they would join further reports as if they were known.
        let weak = matches!(death.join_of(fact), Some(Join::OnlyOne | Join::OnlyOneInTime | Join::ProgramAndUnsureTime));
        if !echo && !weak {
            merge_who(&mut death.who, &fact.who);
        }
        death.exit_code = death.exit_code.or(code_of(&fact.what));
        if death.facts.len() < FACTS {
            death.facts.push(fact.clone());
        }
        at
    }

    fn exception(&mut self, input: usize, line: u64, traceback: &Traceback) {
        let fact = &traceback.raised;
        let signal = match traceback.short_kind() {
            "KeyboardInterrupt" => Some(Signal::INT),
            // Lightning's handler of SIGTERM raises it.
            "SIGTERMException" => Some(Signal::TERM),
            _ => None,
        };
        let echo = is_echo(&traceback.kind);
        let at = if echo || traceback.chained {
            self.last(|d| !d.late && d.order.0 == input && may_share(d, fact))
        } else {
            self.last(|d| {
                d.traceback.as_ref().is_some_and(|t| t.kind == traceback.kind && t.message == traceback.message)
                    && d.facts.first().is_some_and(|f| matches!(f.what, What::Raised { .. }))
            })
        };
        if let Some(at) = at {
            let death = &mut self.deaths[at];
            death.count += u64::from(!echo && !traceback.chained);
            death.facts.push(fact.clone());
            return;
        }
        if self.deaths.len() >= DEATHS {
            return;
        }
        // An exception line without a traceback above it, in a log that has nothing else of Python, is a quotation or a
        // message that somebody logged; it still may be all there is.
        self.deaths.push(Death {
            who: fact.who.clone(),
            signal,
            facts: vec![fact.clone()],
            traceback: Some(traceback.clone()),
            order: (input, line),
            count: 1,
            ..Death::default()
        });
    }

    /// The death that a supervisor's report of a kill for memory is about.
    ///
    /// In one log, nearness is enough. A report from another input needs an id in common, or the same moment; where neither
    /// side has a clock or a name, it may belong, and the verdict will say that this is all.
    fn reported(&mut self, input: usize, fact: &Fact, signal: Option<Signal>) -> Option<usize> {
        let times: Vec<Stamp> = [fact.when, fact.boot].into_iter().flatten().collect();
        let killed = |d: &Death| {
            d.refused(Resource::Shm).is_none()
                && d.signal.is_none_or(|s| Some(s) == signal)
                && (d.signal.is_some() || d.vanished())
        };
        let mut found: Option<(usize, Option<Join>)> = None;
        let weak = |join: Join| matches!(join, Join::OnlyOne | Join::OnlyOneInTime | Join::ProgramAndUnsureTime);
        let another = |d: &Death| {
            let named = fact.who.process.as_deref().is_some_and(|process| !plausible(d, process));
            named && (d.who.host_pid.is_none() || d.who.host_pid != fact.who.host_pid)
        };
        for (at, death) in self.deaths.iter().enumerate().filter(|(_, d)| killed(d) && !d.late && !another(d)) {
            let relation = relate(death, &fact.who, &times);
            let join = match relation {
                Relation::Other(_) => continue,
                Relation::Same(join) => join,
                Relation::Open { .. } if death.order.0 == input => {
                    if !matches!(found, Some((_, Some(known))) if !weak(known)) {
                        found = Some((at, None));
                    }
                    continue;
                }
                Relation::Open { near: Some(gap) } if gap.sure => Join::OnlyOneInTime,
                Relation::Open { near: Some(_) } => Join::ProgramAndUnsureTime,
                Relation::Open { near: None } => Join::OnlyOne,
            };
            // An id in common beats nearness, wherever it was read.
            if found.is_none() || !weak(join) {
                found = Some((at, Some(join)));
            }
        }
        let (at, join) = found?;
        // What is not kept any more need not be known by its join.
        let join = join.filter(|_| self.deaths[at].facts.len() < FACTS);
        self.deaths[at].joined.extend(join.map(|join| (fact.place.clone(), join)));
        Some(at)
    }

    /// Standard output and error may be two files of one job; the log of a whole machine speaks of others.
    fn one_job(&self, death: &Death, input: usize) -> bool {
        death.order.0 == input || [death.order.0, input].iter().all(|at| self.kinds.get(*at) == Some(&Kind::TrainingLog))
    }

    fn last(&self, test: impl Fn(&Death) -> bool) -> Option<usize> {
        self.deaths.iter().rposition(test)
    }

    /// The death of the process that the fact names by pid.
    fn same_process(&self, fact: &Fact) -> Option<usize> {
        if let Some(pid) = fact.who.host_pid {
            return self.last(|d| d.who.host_pid == Some(pid) && may_share(d, fact));
        }
        let own = fact.who.own_pid?;
        self.last(|d| {
            let known = d.who.own_pid == Some(own) || d.facts.iter().any(|f| f.who.own_pid == Some(own));
            known && agree_id(&d.who.container, &fact.who.container) && agree(&d.who.pod, &fact.who.pod)
        })
    }

    /// A death of the same signal that the fact may speak of: one of the two names no pid.
    fn same_signal(&self, input: usize, fact: &Fact, signal: Option<Signal>) -> Option<usize> {
        if let Some(pid) = fact.who.host_pid {
            return self.last(|d| {
                let nameless = d.who.host_pid.is_none() && d.who.own_pid.is_none() && d.order.0 == input;
                d.who.host_pid == Some(pid)
                    || nameless && d.signal == signal && agree(&d.who.unit, &fact.who.unit) && may_share(d, fact)
            });
        }
        // A message that a worker is gone, and another that gives the exit code it went with: one worker.
        let gone = |d: &Death| d.order.0 == input && d.vanished() && d.who.own_pid.is_none() && d.who.role == fact.who.role;
        if fact.who.own_pid.is_none()
            && let Some(at) = self.last(gone)
        {
            return Some(at);
        }
        // The scheduler's word on a job is about the process of that job which died so, also where a pattern reads the line of
        // a record again without the job's id.
        let of_job = |d: &Death| {
            let again = || d.facts.iter().any(|f| f.who.role == Role::Job && f.place == fact.place);
            fact.who.role == Role::Job && (compare(&d.who, &fact.who) == Relation::Same(Join::Job) || again())
        };
        let faulty = |d: &Death| d.order.0 == input && d.signal.is_none() && d.find(|w| matches!(w, What::Hardware(_))).is_some();
        self.last(|d| {
            (self.one_job(d, input) || of_job(d))
                && (d.signal == signal || signal == Some(Signal::BUS) && faulty(d))
                && (fact.who.own_pid.is_none() || d.who.own_pid.is_none())
                && agree(&fact.who.rank, &d.who.rank)
                && may_share(d, fact)
                && agree(&d.who.unit, &fact.who.unit)
        })
    }

    /// A death that a message without a signal may speak of: one whose process has no pid yet, or any earlier one where
    /// the message names no pid either.
    fn vanished(&self, input: usize, fact: &Fact) -> Option<usize> {
        let role = |d: &Death| d.who.role == fact.who.role || d.who.role == Role::Unknown || fact.who.role == Role::Unknown;
        if fact.who.own_pid.is_some() {
            return self
                .last(|d| d.order.0 == input && d.signal.is_some() && d.who.own_pid.is_none() && role(d) && may_share(d, fact));
        }
        self.last(|d| d.order.0 == input && !d.late && may_share(d, fact))
    }
}

/// How many deaths are told apart; more processes than that died of the same as the last one.
const DEATHS: usize = 512;

/// How many facts are kept for one death.
const FACTS: usize = 512;

/// How many lines may stand between the kernel's word on a fault and a shell's word on the signal.
const NEAR: u64 = 60;

/// Whether a death is a fault of which neither pid is known: its process is the one that the kernel found running.
fn is_fault(death: &Death) -> bool {
    matches!(death.signal, Some(Signal::BUS | Signal::SEGV | Signal::ABRT))
        && death.who.host_pid.is_none()
        && death.who.own_pid.is_none()
}

/// Whether it is somebody else's line that names the process: the kernel's of a fault, a daemon's of whom it has chosen.
fn is_unnamed(death: &Death, witness: Witness) -> bool {
    let nameless = death.who.host_pid.is_none() && death.who.own_pid.is_none() && death.who.process.is_none();
    let chosen = death.facts.last().is_some_and(|f| matches!(f.what, What::Stopped { why: Why::Memory, .. }));
    match witness {
        Witness::Kernel => is_fault(death),
        _ => chosen && nameless && death.who.unit.is_none() && death.who.cgroup.is_none(),
    }
}

/// Whether a resource is shared memory, lacking or failing.
fn shm(resource: Resource) -> bool {
    matches!(resource, Resource::Shm | Resource::ShmOther)
}

/// The exit code that a claim names.
fn code_of(what: &What) -> Option<i64> {
    match what {
        What::Ended { how: How::Code(code), .. } => Some(*code),
        _ => None,
    }
}

/// Whether a process that ended is known by its pid.
fn ended_with_pid(death: &Death) -> bool {
    death.all(|w| matches!(w, What::Ended { .. })).any(|f| f.who.own_pid.is_some())
}

/// Whether a death and a fact can be about the same container, pod, unit, job and machine.
fn may_share(death: &Death, fact: &Fact) -> bool {
    let place = Who { own_pid: None, host_pid: None, ..fact.who.clone() };
    !matches!(compare(&death.who, &place), Relation::Other(_))
}
