//! Pools of worker processes and test runners: concurrent.futures, loky, datasets, Grain, MXNet, pytest-xdist, ctest, cargo.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Witness};
use crate::units::Signal;

/// What Python's exit codes mean: `-n` is death by signal n, everything else is a code.
pub(super) fn how(code: i64) -> How {
    match code.checked_neg().and_then(|number| u8::try_from(number).ok()) {
        Some(number @ 1..=64) => How::Signal(Signal(number)),
        _ => How::Code(code),
    }
}

/// A worker of which nobody knows how it ended.
fn vanished(hint: bool) -> Vec<Claim> {
    vec![Claim::new(What::Ended { how: How::Vanished, hint }, Who::role(Role::Worker))]
}

fn coded(c: &Caps<'_>) -> Vec<Claim> {
    let how = c.num("code").map_or(How::Vanished, how);
    vec![Claim::new(What::Ended { how, hint: false }, Who::own(Role::Worker, c.num("pid")))]
}

fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    // CTest has words of its own for three signals.
    let signal = match c.get("signal").or_else(|| c.get("word")) {
        Some("SegFault") => Some(Signal::SEGV),
        Some("Illegal") => Some(Signal(4)),
        Some("Numerical") => Some(Signal(8)),
        Some(words) => Signal::from_description(words.trim_start_matches("Subprocess ")),
        None => None,
    };
    let who = Who { process: c.text("process"), ..Who::own(Role::Unknown, c.num("pid")) };
    signal.map(|signal| Claim::new(What::Ended { how: How::Signal(signal), hint: false }, who)).into_iter().collect()
}

/// `{SIGKILL(-9), EXIT(1)}`: one end for each worker. The name wins over the number: SIGBUS is 10 on macOS.
fn braces(c: &Caps<'_>) -> Vec<Claim> {
    let Some(list) = c.get("codes") else { return Vec::new() };
    list.split(',')
        .filter_map(|entry| {
            let (name, rest) = entry.split_once('(')?;
            let code = rest.trim_end().strip_suffix(')')?.parse().ok()?;
            let named = Signal::from_name(name.trim()).filter(|_| name.trim().starts_with("SIG"));
            Some(named.map_or_else(|| how(code), How::Signal))
        })
        .map(|how| Claim::new(What::Ended { how, hint: false }, Who::role(Role::Worker)))
        .collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // ChromeDriver and Selenium, all versions: a renderer process is gone. A small /dev/shm is the usual suspect and never named.
    Pattern {
        id: "chrome/tab",
        witness: Witness::Program,
        stems: &["page crash", "tab crashed"],
        regex: r"^(?:[\w.]*WebDriverException: .*\b(?:page crash|tab crashed)\b.*|from tab crashed)$",
        read: |_| vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::role(Role::Engine))],
        samples: &[
            "org.openqa.selenium.WebDriverException: unknown error: session deleted because of page crash",
            "from tab crashed",
        ],
        near_misses: &["the tab crashed after a page crash was reported"],
    },
    // CPython concurrent/futures/process.py: any abrupt end, also `os._exit`; no pid, no signal.
    Pattern {
        id: "pool/broken",
        witness: Witness::Program,
        stems: &[
            "A process in the process pool was terminated abruptly",
            "A child process terminated abruptly, the process pool",
        ],
        regex: r"^[\s|│]*(?:[\w.]*BrokenProcessPool: )?(?:A process in the process pool was terminated abruptly|A child process terminated abruptly, the process pool is not usable anymore)",
        read: |_| vanished(false),
        samples: &[
            "concurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.",
        ],
        near_misses: &[
            "    raise BrokenProcessPool('A child process terminated abruptly, the process pool is not usable anymore')",
        ],
    },
    // loky/process_executor.py, also inside joblib: the prose is the same for every end. Where the codes stand in the same
    // line, as in joblib before 0.14, they are decisive.
    Pattern {
        id: "loky/terminated",
        witness: Witness::Program,
        stems: &["A worker process managed by the executor was unexpectedly terminated"],
        regex: concat!(
            r"^[\s|│]*(?:[\w.]*TerminatedWorkerError: )?A worker process managed by the executor was unexpectedly terminated\.",
            r"(?:.* The exit codes of the workers are \{(?<codes>[A-Z]+\w*\(-?\d+\)(?:, [A-Z]+\w*\(-?\d+\))*)\})?"
        ),
        read: |c| if c.get("codes").is_some() { braces(c) } else { vanished(true) },
        samples: &[
            "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. This could be caused by a segmentation fault while calling the function or by an excessive memory usage causing the Operating System to kill the worker.",
            "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated. This could be caused by a segmentation fault while calling the function or by an excessive memory usage causing the Operating System to kill the worker. The exit codes of the workers are {SIGKILL(-9)}",
        ],
        near_misses: &["            \"A worker process managed by the executor was unexpectedly terminated.\" in text"],
    },
    // loky 2.3 and later, not on Windows: the braces are decisive.
    Pattern {
        id: "loky/codes",
        witness: Witness::Program,
        stems: &["The exit codes of the workers are {"],
        regex: r"^[\s|│]*The exit codes of the workers are \{(?<codes>[A-Z]+\w*\(-?\d+\)(?:, [A-Z]+\w*\(-?\d+\))*)\}",
        read: braces,
        samples: &[
            "The exit codes of the workers are {SIGKILL(-9)}",
            "The exit codes of the workers are {SIGBUS(-7), EXIT(1)}",
            "The exit codes of the workers are {SIGBUS(-10)}",
        ],
        near_misses: &["f\"The exit codes of the workers are {exit_codes}\"", "The exit codes of the workers are {exit_codes}"],
    },
    // datasets/utils/py_utils.py `iflatmap_unordered`: the pool's set of pids changed. There is no blank before `To`.
    Pattern {
        id: "datasets/map",
        witness: Witness::Program,
        stems: &["One of the subprocesses has abruptly died during map operation"],
        regex: r"^[\s|│]*(?:[\w.]*Error: )?One of the subprocesses has abruptly died during map operation\.",
        read: |_| vanished(false),
        samples: &[
            "RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.",
        ],
        near_misses: &[
            "                        raise RuntimeError(\"One of the subprocesses has abruptly died during map operation.\"",
        ],
    },
    // google/grain, process_prefetch.py.
    Pattern {
        id: "grain/worker",
        witness: Witness::Program,
        stems: &["Worker process was terminated unexpectedly with exit code "],
        regex: r"^[\s|│]*(?:[\w.]*Error: )?Worker process was terminated unexpectedly with exit code (?<code>-?\d+)\.",
        read: coded,
        samples: &[
            "RuntimeError: Worker process was terminated unexpectedly with exit code -7. Search the logs above for the source of the crash.",
        ],
        near_misses: &["f'Worker process was terminated unexpectedly with exit code {exit_code}. Search the'"],
    },
    // apache/mxnet, gluon/data/dataloader.py: "insufficient shared_memory" is one of its guesses.
    Pattern {
        id: "mxnet/timeout",
        witness: Witness::Program,
        stems: &["Worker timed out after "],
        regex: r"^Worker timed out after (?<seconds>\d+) seconds\. This might be caused by",
        read: |c| vec![Claim::new(What::TimedOut { seconds: c.num("seconds") }, Who::role(Role::Worker))],
        samples: &["Worker timed out after 120 seconds. This might be caused by "],
        near_misses: &["'''Worker timed out after {} seconds. This might be caused by"],
    },
    // apache/mxnet src/initialize.cc turns SIGBUS into an exception of Python 2's name.
    Pattern {
        id: "mxnet/bus",
        witness: Witness::Program,
        stems: &["Error: Bus error"],
        regex: r"^(?:IO|OS)Error: Bus error\s*$",
        read: |_| vec![Claim::new(What::Caught { signal: Signal::BUS, hint: false }, Who::role(Role::Unknown))],
        samples: &["IOError: Bus error"],
        near_misses: &["srun: error: labvm: task 0: Bus error", "Fatal Python Error: Bus error"],
    },
    // pytest-xdist: the words are the same whatever killed the worker.
    Pattern {
        id: "xdist/down",
        witness: Witness::Program,
        stems: &["node down: Not properly terminated"],
        regex: r"^\[(?<process>gw\d+)\] node down: Not properly terminated\s*$",
        read: |c| {
            let who = Who { process: c.text("process"), ..Who::role(Role::Worker) };
            vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, who)]
        },
        samples: &["[gw0] node down: Not properly terminated"],
        near_misses: &["[gw0] node down: keyboard-interrupt"],
    },
    // pytest-forked (and py's boxed tests before): a test that died in its own process.
    Pattern {
        id: "forked/crashed",
        witness: Witness::Supervisor,
        stems: &[": running the test CRASHED with signal "],
        regex: r"^(?:[\w./-]*):-?\d+: running the test CRASHED with signal (?<number>[1-9]\d*)\s*$",
        read: |c| {
            let signal = c.num("number").map(Signal);
            let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
            what.map(|what| Claim::new(what, Who::role(Role::Worker))).into_iter().collect()
        },
        samples: &[
            ":-1: running the test CRASHED with signal 7",
            "tests/test_ring.py:12: running the test CRASHED with signal 11",
        ],
        near_misses: &[":-1: running the test CRASHED with signal 0", "*:*: running the test CRASHED with signal %d"],
    },
    // MindSpore's minddata: a process of a map operation is gone; neither signal nor code.
    Pattern {
        id: "mindspore/worker",
        witness: Witness::Program,
        stems: &["The subprocess of dataset may exit unexpected or be killed", "Dataset worker "],
        regex: r"(?:^(?:RuntimeError: )?The subprocess of dataset may exit unexpected or be killed, main process will exit\.|Dataset worker \d+ \(pid (?<pid>\d+)\) is not alive\.\s*$)",
        read: |c| vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::own(Role::Worker, c.num("pid")))],
        samples: &[
            "RuntimeError: The subprocess of dataset may exit unexpected or be killed, main process will exit. If this is not an artificial operation, you can use mindspore.dataset.config.set_enable_watchdog(False) to block this error.",
            "[ERROR] MD(41233,ffff8d7fb1e0,python):2024-03-18-11:20:44.090.001 Dataset worker 4 (pid 41301) is not alive.",
        ],
        near_misses: &["          \"The subprocess of dataset may exit unexpected or be killed, \""],
    },
    // CTest, cmCTestRunTest.cxx; `***Failed` is an exit code, also for a shell's 137.
    Pattern {
        id: "ctest/exception",
        witness: Witness::Supervisor,
        stems: &["***Exception: "],
        regex: r"^\s*\d+/\d+ Test +#\d+: (?<process>\S+) \.*\s*(?:(?<signal>Bus error|Subprocess \w+)\*\*\*Exception: |\*\*\*Exception: (?<word>SegFault|Illegal|Numerical))\s+[\d.]+ sec\s*$",
        read: signalled,
        samples: &[
            "2/7 Test #2: bus ..............................Bus error***Exception:   0.01 sec",
            "3/7 Test #3: kill .............................Subprocess killed***Exception:   0.01 sec",
            "4/7 Test #4: segv .............................***Exception: SegFault  0.01 sec",
        ],
        near_misses: &["7/7 Test #7: shell137 .........................***Failed    0.01 sec"],
    },
];

#[cfg(test)]
mod tests {
    use crate::fact::{How, What};
    use crate::patterns::tests::claims;
    use crate::units::Signal;

    #[test]
    fn a_printed_name_wins_over_its_number() {
        let bus = What::Ended { how: How::Signal(Signal::BUS), hint: false };
        let code = What::Ended { how: How::Code(1), hint: false };
        let all: Vec<_> =
            claims("The exit codes of the workers are {SIGBUS(-10), EXIT(1)}").into_iter().map(|claim| claim.what).collect();
        assert_eq!(all, [bus.clone(), code]);
        assert_eq!(claims("  traceback : Signal 10 (SIGBUS) received by PID 22")[0].what, bus);
        assert_eq!(claims("Process finished with exit code 138 (interrupted by signal 10: SIGBUS)")[0].what, bus);
    }
}
