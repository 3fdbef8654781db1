//! The programs' own words as deaths: which messages speak of the same process, which are consequences of another.

use std::collections::{BTreeMap, HashMap};

use super::traceback::{self, Traceback};
use super::{Death, is_same, merge_who};
use crate::fact::{Fact, How, Opening, Resource, Role, What, Who, Why};
use crate::seen::Input;
use crate::units::Signal;

/// Exceptions that only pass on what happened to another process.
const ECHOES: &[&str] = &[
    "ChildFailedError",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SignalException",
    "CalledProcessError",
    "BrokenProcessPool",
    "TerminatedWorkerError",
    "ExecuteUserScriptError",
    "AlgorithmError",
    "EngineDeadError",
    "ConnectionResetError",
    "ConnectionRefusedError",
    "ConnectionAbortedError",
    "BrokenPipeError",
    "EOFError",
    "Empty",
    "RayTaskError",
    "RayActorError",
    "ActorDiedError",
    "WorkerCrashedError",
    "DistBackendError",
    "DistNetworkError",
    "SystemExit",
];

/// Whether an exception of this type, with or without its module, only passes on another process's end.
pub(super) fn is_echo(kind: &str) -> bool {
    ECHOES.contains(&kind.rsplit('.').next().unwrap_or(kind))
}

/// The signal that a claim names or implies.
pub(super) fn signal_of(what: &What) -> Option<Signal> {
    match what {
        What::Ended { how: How::Signal(signal), .. } | What::Caught { signal, .. } | What::Trapped { signal, .. } => {
            Some(*signal)
        }
        What::Ended { how: How::Code(code), .. } => Signal::from_status(*code),
        What::OomReported { .. } => Some(Signal::KILL),
        What::Stopped { why: Why::Memory, signal, .. } => signal.or(Some(Signal::KILL)),
        What::Hardware(crate::fact::Poison::Bus) => Some(Signal::BUS),
        What::Hardware(crate::fact::Poison::Kill) => Some(Signal::KILL),
        _ => None,
    }
}

/// Whether a fact can be the reason to speak of a death, in a program's log or a supervisor's.
fn speaks_of_death(what: &What) -> bool {
    match what {
        What::Ended { how: How::Code(0), .. } => false,
        What::Ended { .. }
        | What::Caught { .. }
        | What::Refused { .. }
        | What::TimedOut { .. }
        | What::PeerLost
        | What::Nccl
        | What::Gpu { .. }
        | What::OomReported { .. }
        | What::Trapped { .. }
        | What::Infrastructure
        | What::Stopped { why: Why::Memory, .. } => true,
        What::Hardware(poison) => {
            matches!(poison, crate::fact::Poison::Bus | crate::fact::Poison::Kill | crate::fact::Poison::Page)
        }
        _ => false,
    }
}

/// Deaths from all inputs, each input in reading order.
pub(super) fn deaths(facts: &[Fact], inputs: &[Input]) -> Vec<Death> {
    let mut ledger = Ledger { deaths: Vec::new() };
    for (index, input) in inputs.iter().enumerate() {
        let own: Vec<&Fact> = facts.iter().filter(|fact| fact.place.input == input.name).collect();
        ledger.input(index, &own);
    }
    ledger.deaths
}

struct Ledger {
    deaths: Vec<Death>,
}

impl Ledger {
    fn input(&mut self, input: usize, facts: &[&Fact]) {
        let tracebacks = traceback::group(facts);
        let ends: HashMap<u64, &Traceback> =
            tracebacks.iter().filter_map(|t| t.raised.place.line.map(|line| (line, t))).collect();
        let ignored =
            |line: u64| tracebacks.iter().any(|t| t.ignored && t.first_line <= line && Some(line) <= t.raised.place.line);
        let mut lines: BTreeMap<u64, Vec<&Fact>> = BTreeMap::new();
        for fact in facts {
            lines.entry(fact.place.line.unwrap_or(0)).or_default().push(fact);
        }
        let headings =
            |line: u64| facts.iter().any(|f| matches!(f.what, What::Traceback(Opening::Heading)) && f.place.line == Some(line));
        let mut current: Option<(u64, &Who)> = None;
        for (line, here) in lines {
            if let Some(fact) = here.iter().find(|fact| fact.what == What::Current) {
                current = Some((line, &fact.who));
                self.complete(input, line, &fact.who);
            }
            let traceback = ends.get(&line).copied();
            let spoken: Vec<&Fact> = here.iter().copied().filter(|fact| speaks_of_death(&fact.what)).collect();
            if spoken.is_empty() {
                if let Some(traceback) = traceback.filter(|t| !t.ignored && !headings(line)) {
                    self.exception(input, line, traceback);
                }
                continue;
            }
            let mut first = None;
            for fact in spoken {
                let at = self.enter(input, line, fact, first);
                first.get_or_insert(at);
                let death = &mut self.deaths[at];
                death.late |= ignored(line) && death.facts.len() == 1;
                if let Some((_, who)) = current.filter(|(at, _)| line - at <= NEAR && is_fault(death)) {
                    merge_who(&mut death.who, who);
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
            What::Ended { how: How::Code(_), .. } if signal.is_none() => self.last(|d| !d.late),
            What::Ended { .. } | What::Caught { .. } => self.same_signal(input, fact, signal),
            What::Refused { resource, .. } => {
                self.last(|d| d.order.0 == input && d.refused(*resource).is_some() && may_share(d, fact))
            }
            What::TimedOut { .. } | What::PeerLost => self.last(|d| !d.late),
            What::Nccl => self.last(|d| d.order.0 == input),
            What::Hardware(_) => self.last(|d| {
                d.order.0 == input
                    && d.find(|w| matches!(w, What::Hardware(_))).is_some()
                    && (d.who.host_pid.is_none() || fact.who.host_pid.is_none())
            }),
            What::Gpu { .. } => self.last(|d| d.find(|w| matches!(w, What::Gpu { .. })).is_some()),
            What::OomReported { .. } => self.last(|d| {
                (d.signal == Some(Signal::KILL) || d.vanished())
                    && may_share(d, fact)
                    && same_unit_or_job(d, fact)
                    && (fact.who.host_pid.is_none() || d.who.host_pid.is_none())
            }),
            What::Stopped { .. } => self.last(|d| {
                (d.signal.is_none_or(|s| s == Signal::KILL || s == Signal::TERM))
                    && d.refused(Resource::Shm).is_none()
                    && may_share(d, fact)
                    && (fact.who.host_pid.is_none() || d.who.host_pid.is_none() && d.order.0 != input)
            }),
            _ => None,
        });
        let Some(at) = at else {
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
            What::Refused { .. } => fact.who.own_pid.is_some_and(|pid| death.facts.iter().all(|f| f.who.own_pid != Some(pid))),
            _ => false,
        };
        death.count += u64::from(another);
        let echo = matches!(fact.what, What::Ended { how: How::Code(_), .. }) && signal.is_none();
        if echo && death.signal.is_none() && fact.who.own_pid.is_some() && death.refused(Resource::Shm).is_some() {
            // Who was refused shared memory lived to say so; the process that then ended is the dead one.
            death.who.own_pid = fact.who.own_pid;
        }
        if !echo {
            death.signal = death.signal.or(signal);
            merge_who(&mut death.who, &fact.who);
        }
        death.exit_code = death.exit_code.or(code_of(&fact.what));
        death.facts.push(fact.clone());
        at
    }

    fn exception(&mut self, input: usize, line: u64, traceback: &Traceback) {
        let fact = &traceback.raised;
        let signal = match traceback.short_kind() {
            "KeyboardInterrupt" => Some(Signal::INT),
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

    fn last(&self, test: impl Fn(&Death) -> bool) -> Option<usize> {
        self.deaths.iter().rposition(test)
    }

    /// The death of the process that the fact names by pid.
    fn same_process(&self, fact: &Fact) -> Option<usize> {
        if let Some(pid) = fact.who.host_pid {
            return self.last(|d| d.who.host_pid == Some(pid));
        }
        let own = fact.who.own_pid?;
        self.last(|d| {
            let known = d.who.own_pid == Some(own) || d.facts.iter().any(|f| f.who.own_pid == Some(own));
            known && is_same(&d.who.container, &fact.who.container) && is_same(&d.who.pod, &fact.who.pod)
        })
    }

    /// A death of the same signal that the fact may speak of: one of the two names no pid.
    fn same_signal(&self, input: usize, fact: &Fact, signal: Option<Signal>) -> Option<usize> {
        if let Some(pid) = fact.who.host_pid {
            return self.last(|d| {
                let nameless = d.who.host_pid.is_none() && d.who.own_pid.is_none() && d.order.0 == input;
                d.who.host_pid == Some(pid)
                    || nameless && d.signal == signal && is_same(&d.who.unit, &fact.who.unit) && may_share(d, fact)
            });
        }
        let faulty = |d: &Death| d.order.0 == input && d.signal.is_none() && d.find(|w| matches!(w, What::Hardware(_))).is_some();
        self.last(|d| {
            (d.signal == signal || signal == Some(Signal::BUS) && faulty(d))
                && (fact.who.own_pid.is_none() || d.who.own_pid.is_none())
                && (fact.who.rank.is_none() || d.who.rank.is_none() || fact.who.rank == d.who.rank)
                && may_share(d, fact)
                && is_same(&d.who.unit, &fact.who.unit)
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

/// How many lines may stand between the kernel's word on a fault and a shell's word on the signal.
const NEAR: u64 = 60;

/// Whether a death is a fault of which neither pid is known: its process is the one that the kernel found running.
fn is_fault(death: &Death) -> bool {
    matches!(death.signal, Some(Signal::BUS | Signal::SEGV | Signal::ABRT))
        && death.who.host_pid.is_none()
        && death.who.own_pid.is_none()
}

/// The exit code that a claim names.
fn code_of(what: &What) -> Option<i64> {
    match what {
        What::Ended { how: How::Code(code), .. } => Some(*code),
        _ => None,
    }
}

/// Whether a death and a fact can be about the same container and machine.
fn may_share(death: &Death, fact: &Fact) -> bool {
    is_same(&death.who.container, &fact.who.container)
        && is_same(&death.who.container_name, &fact.who.container_name)
        && is_same(&death.who.pod, &fact.who.pod)
}

fn same_unit_or_job(death: &Death, fact: &Fact) -> bool {
    is_same(&death.who.unit, &fact.who.unit) && is_same(&death.who.job, &fact.who.job)
}
