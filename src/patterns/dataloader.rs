//! What PyTorch's DataLoader says of its workers (torch/utils/data and torch/csrc/DataLoader.cpp, torch 0.4 to 2.15).

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Resource, Role, Setting, What, Who, Witness};
use crate::units::Signal;

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // Written by the dying worker itself with write(2), so it stands behind whatever progress bar was on the line, and a NUL
    // byte and anything else may follow. All versions; the SIGFPE sister since 0.4.1.
    Pattern {
        id: "dataloader/caught",
        witness: Witness::Program,
        stems: &[" encountered in worker."],
        regex: concat!(
            r#"^(?:\s?|[^"'#`/*].*(?:it/s|s/it|\d/\d|\d%).*)"#,
            r"ERROR: Unexpected (?<signal>bus error|segmentation fault|floating-point exception) encountered in worker\.",
            r#"(?<hint> This might be caused by insufficient shared memory \(shm\)\.)?(?:$|[^"'`<\\].*)"#
        ),
        read: |caps| {
            let signal = caps.signal("signal").unwrap_or(Signal(8));
            let claim = Claim::new(What::Caught { signal, hint: caps.get("hint").is_some() }, Who::role(Role::Worker));
            // Workers that die together may share a line, if the progress bar took the line end away.
            vec![claim; caps.line.text.matches(" encountered in worker.").count()]
        },
        samples: &[
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
            "ERROR: Unexpected segmentation fault encountered in worker.",
            "ERROR: Unexpected floating-point exception encountered in worker.",
            " ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm). Traceback (most recent call last):",
            "train:   2%|▏ | 1/46 [00:01<01:10,  1.56s/it]ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        ],
        near_misses: &[
            "# bs=128 1/46 ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
            "\"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\"",
            "ERROR: Unexpected segmentation fault encountered in worker.<|im_end|>",
            "ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by insufficient shared memory (shm)",
        ],
    },
    // torch 0.4.0 ends after the signal, 0.4.1 to 1.0 with "Details are lost …", 1.1 and later with a blank, and 1.3 and later
    // add the shared-memory sentence to every SIGBUS. Rich breaks the line at any blank, and copies of the loader leave the
    // first word out.
    Pattern {
        id: "dataloader/killed",
        witness: Witness::Program,
        stems: &["orker (pid "],
        regex: concat!(
            raised!(),
            r"(?:DataLoader )?worker \(pid (?<pid>\d+)\) is killed by(?:\s*|\s+signal:\s*(?:(?<signal>[^.<]+?)",
            r#"(?:\.\s*(?<hint>It(?: is(?: possible[^<"]*)?)?)?(?:Details are lost[^<"]*)?)?)?)\s*"?$"#
        ),
        read: |caps| vec![Claim::new(killed(caps), Who::own(Role::Worker, caps.num("pid")))],
        samples: &[
            "RuntimeError: DataLoader worker (pid 14216) is killed by signal: Killed. ",
            "RuntimeError: DataLoader worker (pid 16157) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
            "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.",
            "RuntimeError: DataLoader worker (pid 5124) is killed by signal: Unknown signal: 0. ",
            "RuntimeError: DataLoader worker (pid 5124) is killed by signal: Ошибка шины. ",
            "RuntimeError: DataLoader worker (pid 164244) is killed by signal: ",
            "RuntimeError: worker (pid 6) is killed by signal: Bus error.",
            "RuntimeError: DataLoader worker (pid 5124) is killed by signal: Bus error. It is possible that",
            "E           RuntimeError: DataLoader worker (pid 5124) is killed by signal: Aborted. ",
            "2024-01-01 10:00:00.000 | ERROR    | __main__:<module>:12 - DataLoader worker (pid 814) is killed by signal: Killed. ",
            "[03/02 07:13:05] d2.engine ERROR: DataLoader worker (pid 814) is killed by signal: Bus error. ",
        ],
        near_misses: &[
            "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.<|im_end|>",
            "If you see RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error.",
            "    raise RuntimeError('DataLoader worker (pid {}) is killed by signal: {}.'.format(pid, name))",
            "+ echo ERROR: DataLoader worker (pid 1234) is killed by signal: Killed.",
        ],
    },
    // The second half of the message above, where rich broke it before the signal's name.
    Pattern {
        id: "dataloader/killed-rest",
        witness: Witness::Program,
        stems: &["error. It is possible that dataloader's"],
        regex: r"^(?:signal: )?(?:Bus )?error\. It is possible that dataloader's(?: workers [^<]*)?$",
        read: |_| vec![Claim::new(What::Caught { signal: Signal::BUS, hint: true }, Who::role(Role::Worker))],
        samples: &[
            "Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        ],
        near_misses: &["It was a Bus error. It is possible that dataloader's workers are out of shared memory."],
    },
    Pattern {
        id: "dataloader/exited",
        witness: Witness::Program,
        stems: &["DataLoader worker (pid "],
        regex: concat!(
            raised!(),
            r#"DataLoader worker \(pid (?<pid>\d+)\) exited unexpectedly with exit code (?<code>-?\d+)\.(?: Details[^<"]*)?\s*$"#
        ),
        read: |caps| {
            let how = How::Code(caps.num("code").unwrap_or(1));
            vec![Claim::new(What::Ended { how, hint: false }, Who::own(Role::Worker, caps.num("pid")))]
        },
        samples: &[
            "RuntimeError: DataLoader worker (pid 9184) exited unexpectedly with exit code 1. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.",
            "RuntimeError: DataLoader worker (pid 9184) exited unexpectedly with exit code 3.",
        ],
        near_misses: &["RuntimeError: DataLoader worker (pid 9184) exited unexpectedly"],
    },
    // torch 1.1 and later: a worker was not alive when the main process looked. How it ended is not known here.
    Pattern {
        id: "dataloader/gone",
        witness: Witness::Program,
        stems: &["DataLoader worker (pid(s) "],
        regex: concat!(
            raised!(),
            r"DataLoader worker \(pid\(s\) (?<pids>\d+(?:, ?\d+)*)",
            r#"(?:,?\s*|\)(?: exited(?: unexpectedly)?)?\s*"?\s*)$"#
        ),
        read: gone,
        samples: &[
            "RuntimeError: DataLoader worker (pid(s) 16157, 16159, 16161) exited unexpectedly",
            "ErrorMessage \"RuntimeError: DataLoader worker (pid(s) 256) exited unexpectedly\"",
            "RuntimeError: DataLoader worker (pid(s) 16157, 16159,",
        ],
        near_misses: &[
            "    raise RuntimeError('DataLoader worker (pid(s) {}) exited unexpectedly'.format(pids_str)) from e",
            "│ ❱ 1024 │   │   │   │   raise RuntimeError('DataLoader worker (pid(s) {}) exited unexpectedly'. │",
            "# RuntimeError: DataLoader worker (pid(s) 1234) exited unexpectedly",
        ],
    },
    // The rest of a long list of pids, broken by rich.
    Pattern {
        id: "dataloader/gone-rest",
        witness: Witness::Program,
        stems: &[") exited unexpectedly"],
        regex: r"^(?<pids>\d+(?:, ?\d+)*)\) exited unexpectedly$",
        read: gone,
        samples: &["16163, 16165) exited unexpectedly"],
        near_misses: &["RuntimeError: DataLoader worker (pid(s) 16157) exited unexpectedly", "(16163) exited unexpectedly"],
    },
    Pattern {
        id: "dataloader/timeout",
        witness: Witness::Program,
        stems: &["DataLoader timed out after "],
        regex: concat!(raised!(), r"DataLoader timed out after (?<seconds>\d+)(?:\.\d+)? seconds\s*$"),
        read: |caps| vec![Claim::bare(What::TimedOut { seconds: caps.num("seconds") })],
        samples: &["RuntimeError: DataLoader timed out after 30 seconds", "RuntimeError: DataLoader timed out after 0.5 seconds"],
        near_misses: &["    raise RuntimeError('DataLoader timed out after {} seconds'.format(self._timeout))"],
    },
    // torch 1.5 and later (`check_worker_number_rationality`), printed once or twice for each loader.
    Pattern {
        id: "dataloader/workers",
        witness: Witness::Program,
        stems: &["This DataLoader will create "],
        regex: r"(?:^|\bUserWarning: )This DataLoader will create (?<workers>\d+) worker processes in total\. ",
        read: |caps| {
            let workers = caps.num("workers");
            workers.map(|value| Claim::bare(What::Setting { setting: Setting::Workers, value })).into_iter().collect()
        },
        samples: &[
            "/opt/venv/lib/python3.11/site-packages/torch/utils/data/dataloader.py:554: UserWarning: This DataLoader will create 4 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller than what this DataLoader is going to create.",
        ],
        near_misses: &["    \"This DataLoader will create {} worker processes in total. {}\""],
    },
    // torch 1.5 and later: fewer than ten descriptors are left.
    Pattern {
        id: "dataloader/descriptors",
        witness: Witness::Program,
        stems: &["Too many open files. Communication with the workers"],
        regex: concat!(raised!(), r#"Too many open files\. Communication with the workers is no longer possible\.[^"<]*$"#),
        read: |_| {
            let what = What::Refused { resource: Resource::Descriptors, errno: Some(24), bytes: None, by: "PyTorch" };
            vec![Claim::bare(what)]
        },
        samples: &[
            "RuntimeError: Too many open files. Communication with the workers is no longer possible. Please increase the limit using `ulimit -n` in the shell or change the sharing strategy by calling `torch.multiprocessing.set_sharing_strategy('file_system')` at the beginning of your code",
        ],
        near_misses: &["    \"Too many open files. Communication with the\""],
    },
];

/// How a worker ended by the words after `killed by signal:`, which are the C library's and may be in any language.
fn killed(caps: &Caps<'_>) -> What {
    let hint = caps.get("hint").is_some();
    let words = caps.get("signal").unwrap_or_default().trim();
    let number = words.strip_prefix("Unknown signal").and_then(|rest| rest.trim_start_matches(':').trim().parse().ok());
    let known = caps.signal("signal").or_else(|| number.filter(|n| *n > 0).map(Signal));
    // The hint is chosen by the signal's number and never translated, so it tells SIGBUS where the words do not.
    let signal = known.or_else(|| hint.then_some(Signal::BUS));
    What::Ended { how: signal.map_or(How::Vanished, How::Signal), hint }
}

fn gone(caps: &Caps<'_>) -> Vec<Claim> {
    let pids = caps.get("pids").unwrap_or_default().split(',').filter_map(|pid| pid.trim().parse().ok());
    let what = What::Ended { how: How::Vanished, hint: false };
    pids.map(|pid| Claim::new(what.clone(), Who::own(Role::Worker, Some(pid)))).collect()
}

#[cfg(test)]
mod tests {
    use crate::fact::{How, What};
    use crate::patterns::tests::claims;
    use crate::units::{OwnPid, Signal};

    fn end(text: &str) -> Option<(How, bool)> {
        claims(text).into_iter().find_map(|claim| match claim.what {
            What::Ended { how, hint } => Some((how, hint)),
            _ => None,
        })
    }

    #[test]
    fn the_signal_is_read_in_any_language_and_from_the_hint_where_the_words_are_unknown() {
        let killed = |words: &str| end(&format!("RuntimeError: DataLoader worker (pid 7) is killed by signal: {words}"));
        let hint =
            "It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.";
        assert_eq!(killed("已杀死. "), Some((How::Signal(Signal::KILL), false)));
        assert_eq!(killed("Bus error: 10. "), Some((How::Signal(Signal::BUS), false)));
        assert_eq!(killed(&format!("Sběrnice spadla. {hint}")), Some((How::Signal(Signal::BUS), true)));
        assert_eq!(killed("Sběrnice spadla. "), Some((How::Vanished, false)));
        assert_eq!(killed("Unknown signal 34. "), Some((How::Signal(Signal(34)), false)));
        assert_eq!(killed("Unknown signal: 0. "), Some((How::Vanished, false)));
        assert_eq!(killed(""), Some((How::Vanished, false)));
    }

    #[test]
    fn every_pid_of_a_list_is_a_death_of_its_own() {
        let claims = claims("RuntimeError: DataLoader worker (pid(s) 16157, 16159, 16161) exited unexpectedly");
        let pids: Vec<_> = claims.iter().filter_map(|claim| claim.who.own_pid).collect();
        assert_eq!(pids, [OwnPid(16157), OwnPid(16159), OwnPid(16161)]);
    }
}
