//! Claims by what they tell of a death: its signal, its exit code, or only an echo of somebody else's.

use crate::fact::{How, Poison, What, Why};
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
    "ChildProcessCrashException",
    "PapermillExecutionError",
    "UnexpectedStatusException",
    "SparkException",
    "Py4JJavaError",
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
        What::Hardware(Poison::Bus) => Some(Signal::BUS),
        What::Hardware(Poison::Kill) => Some(Signal::KILL),
        _ => None,
    }
}

/// Whether a fact can be the reason to speak of a death, in a program's log or a supervisor's.
pub(super) fn speaks_of_death(what: &What) -> bool {
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
            matches!(poison, Poison::Bus | Poison::Kill | Poison::Page)
        }
        _ => false,
    }
}
