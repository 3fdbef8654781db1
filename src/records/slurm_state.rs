//! How a Slurm job ended, by its state and exit code, as all of Slurm's tables write them.

use crate::fact::{How, Scope, What, Why};
use crate::units::{Bytes, Signal};

/// The end that a state (`OUT_OF_MEMORY`, `CANCELLED by 0`, cut off as `OUT_OF_ME+`) and `code:signal` tell; nothing for a
/// job that has not ended.
pub(super) fn end(state: &str, code: Option<i64>, signal: Option<u8>) -> Option<What> {
    let word = state.split([' ', '+']).next().unwrap_or_default();
    // Tables cut the word off; no two states begin with the same four letters.
    let is = |name: &str| word.len() >= 4 && name.starts_with(word);
    let stopped = |why| Some(What::Stopped { by: "Slurm", why, signal: None });
    if is("OUT_OF_MEMORY") {
        return Some(What::OomReported { by: "Slurm", scope: Scope::Cgroup });
    }
    if is("TIMEOUT") || is("DEADLINE") {
        return stopped(Why::TimeLimit);
    }
    if is("PREEMPTED") {
        return stopped(Why::Preemption);
    }
    if is("NODE_FAIL") || is("BOOT_FAIL") || is("LAUNCH_FAILED") {
        return Some(What::Infrastructure);
    }
    let ended = ["FAILED", "COMPLETED", "CANCELLED"].into_iter().any(is);
    // A step whose task died of a signal is CANCELLED although nobody asked for it.
    if let Some(signal) = signal.filter(|n| ended && (1..=64).contains(n)) {
        return Some(What::Ended { how: How::Signal(Signal(signal)), hint: false });
    }
    if is("CANCELLED") {
        // Without an exit code, only somebody's uid tells a request from a step that died.
        return stopped(Why::Request).filter(|_| code.is_some() || state.contains(" by "));
    }
    let how = match code {
        Some(code) if code != 0 || !is("FAILED") => How::Code(code),
        None if !is("FAILED") => return None,
        _ => How::Vanished,
    };
    ended.then_some(What::Ended { how, hint: false })
}

/// Whether the end of a step adds something to what its job says.
pub(super) fn tells_death(what: &What) -> bool {
    matches!(what, What::OomReported { .. } | What::Ended { how: How::Signal(_), .. } | What::Stopped { .. })
}

/// Reads `code:signal`; what is cut off before the signal tells neither.
pub(super) fn exit(text: &str) -> (Option<i64>, Option<u8>) {
    let (code, signal) = text.split_once(':').unwrap_or((text, ""));
    let signal = signal.trim().parse().ok();
    (code.trim().parse().ok().filter(|_| signal.is_some()), signal)
}

/// The code of a job, where `ExitCode` may have lost 128: the tables print the exit code 137 of a wrapper as `9:0`, and only
/// `DerivedExitCode` keeps it.
pub(super) fn whole_code(code: Option<i64>, derived: Option<i64>) -> Option<i64> {
    match (code, derived) {
        (Some(code), Some(derived)) if derived == code.saturating_add(128) => Some(derived),
        _ => code,
    }
}

/// A memory request of a job's node: `64M`, `4Gn`; one for each CPU (`4Gc`) tells no sum.
pub(super) fn memory(text: &str) -> Option<Bytes> {
    let text = text.trim();
    if text.ends_with('c') {
        return None;
    }
    text.trim_end_matches('n').parse().ok().filter(|bytes: &Bytes| bytes.0 > 0)
}

/// The only machine of a node list; a range (`gpu[01-04]`) names none.
pub(super) fn host(nodes: &str) -> Option<String> {
    let named = !nodes.is_empty() && !nodes.contains(['[', ',', ' ', '(']) && !nodes.starts_with("None");
    named.then(|| nodes.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_whole_and_cut_off() {
        for state in ["OUT_OF_MEMORY", "OUT_OF_ME+", "OUT_OF_M"] {
            assert_eq!(end(state, Some(0), Some(125)), Some(What::OomReported { by: "Slurm", scope: Scope::Cgroup }), "{state}");
        }
        let killed = What::Ended { how: How::Signal(Signal::KILL), hint: false };
        assert_eq!(end("CANCELLED", Some(0), Some(9)), Some(killed));
        let request = What::Stopped { by: "Slurm", why: Why::Request, signal: None };
        assert_eq!(end("CANCELLED by 1000", Some(0), Some(0)), Some(request));
        assert_eq!(end("CANCELLED", None, None), None);
        assert_eq!(end("FAILED", None, None), Some(What::Ended { how: How::Vanished, hint: false }));
        assert_eq!(end("COMPLETED", Some(0), Some(0)), Some(What::Ended { how: How::Code(0), hint: false }));
        for state in ["RUNNING", "PENDING", "", "T", "COMPLETING"] {
            assert_eq!(end(state, Some(0), Some(0)), None, "{state}");
        }
        assert_eq!(whole_code(Some(9), Some(137)), Some(137));
        assert_eq!((memory("64M"), memory("4Gc"), memory("0n")), (Some(Bytes::mib(64)), None, None));
    }
}
