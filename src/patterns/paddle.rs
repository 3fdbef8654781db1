//! PaddlePaddle: its DataLoader, launcher and signal handler (3.2.0, and 2.x where the words are the same).

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Witness};
use crate::units::Signal;

fn caught(signal: Option<Signal>, hint: bool, who: Who) -> Vec<Claim> {
    signal.map(|signal| Claim::new(What::Caught { signal, hint }, who)).into_iter().collect()
}

fn ended(c: &Caps<'_>) -> Vec<Claim> {
    let how = c.signal("signal").map(How::Signal).or_else(|| c.num("code").map(how));
    let role = if c.get("rank").is_some() { Role::Rank } else { Role::Worker };
    let who = Who { rank: c.num("rank"), ..Who::own(role, c.num("pid")) };
    how.map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // The worker's handler writes raw, so a progress bar may stand before it. The guess is chosen by signal number alone.
    Pattern {
        id: "paddle/caught",
        witness: Witness::Program,
        stems: &[
            "Unexpected BUS error encountered",
            "Unexpected segmentation fault encountered in DataLoader worker",
            "Unexpected floating-point exception encountered in DataLoader worker",
        ],
        regex: r#"^[^"'#]*ERROR: Unexpected (?:(?<bus>BUS error) encountered in DataLoader worker\. This might be caused by insufficient shared memory|(?<fault>segmentation fault|floating-point exception) encountered in DataLoader workers\.)"#,
        read: |c| {
            let signal = match (c.get("bus"), c.get("fault")) {
                (Some(_), _) => Signal::BUS,
                (_, Some("segmentation fault")) => Signal::SEGV,
                _ => Signal(8),
            };
            caught(Some(signal), signal == Signal::BUS, Who::role(Role::Worker))
        },
        samples: &[
            "ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by insufficient shared memory (shm), please check whether use_shared_memory is set and storage space in /dev/shm is enough",
            "ERROR: Unexpected segmentation fault encountered in DataLoader workers.",
        ],
        near_misses: &[
            "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
            "# ERROR: Unexpected BUS error encountered in DataLoader worker. This might be caused by insufficient shared memory",
        ],
    },
    // paddle/fluid/imperative/data_loader.cc: the grammar is Paddle's.
    Pattern {
        id: "paddle/worker",
        witness: Witness::Program,
        stems: &["DataLoader process (pid "],
        regex: r"^[\s|│]*(?:\w*Error: )?(?:\(\w+\) ?)?DataLoader process \(pid +(?<pid>\d+)\) exited (?:is killed by signal: (?<signal>[^.]+)\.|unexpectedly with code (?<code>-?\d+)\.)",
        read: ended,
        samples: &[
            "SystemError: (Fatal) DataLoader process (pid 1432) exited is killed by signal: Bus error.",
            "DataLoader process (pid 1432) exited unexpectedly with code 1. Error detailed are lost due to multiprocessing. Rerunning with:",
        ],
        near_misses: &[
            "RuntimeError: DataLoader worker (pid 1432) is killed by signal: Bus error. ",
            "DataLoader process (pid %ld) exited is killed by signal: %s.",
        ],
    },
    // io/dataloader/dataloader_iter.py.
    Pattern {
        id: "paddle/workers",
        witness: Witness::Program,
        stems: &[" workers exit unexpectedly, pids: "],
        regex: r"^[\s|│]*(?:\w*Error: )?DataLoader \d+ workers exit unexpectedly, pids: (?<pids>\d+(?:, \d+)*)",
        read: |c| {
            let pids = c.get("pids").unwrap_or_default().split(", ").filter_map(|pid| pid.parse().ok());
            pids.map(|pid| Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::own(Role::Worker, Some(pid))))
                .collect()
        },
        samples: &["RuntimeError: DataLoader 2 workers exit unexpectedly, pids: 1432, 1433"],
        near_misses: &["raise RuntimeError(\"DataLoader {} workers exit unexpectedly, pids: {}\".format("],
    },
    // distributed/spawn.py; torch's sentence begins with a small letter and has no full stop.
    Pattern {
        id: "paddle/spawn",
        witness: Witness::Program,
        stems: &[" terminated with signal SIG"],
        regex: r"^(?:\w+: )?Process (?<rank>\d+) terminated with signal (?<signal>SIG[A-Z0-9]+)\.$",
        read: ended,
        samples: &["Exception: Process 0 terminated with signal SIGKILL."],
        near_misses: &["torch.multiprocessing.spawn.ProcessExitedException: process 2 terminated with signal SIGKILL"],
    },
    // distributed/launch/job/container.py.
    Pattern {
        id: "paddle/container",
        witness: Witness::Supervisor,
        stems: &["Container rank "],
        regex: r"^[\s|│]*(?:.* )?Container rank (?<rank>\d+) status failed cmd \[.*\] code (?<code>-?\d+) log ",
        read: ended,
        samples: &["Container rank 1 status failed cmd ['/usr/bin/python3', '-u', 'train.py'] code -9 log log/workerlog.1"],
        near_misses: &[
            "Container rank 1 status running cmd ['/usr/bin/python3', '-u', 'train.py'] code None log log/workerlog.1",
        ],
    },
    // fluid/platform/init.cc: the handler's report, then the signal with the process's own pid.
    Pattern {
        id: "paddle/fatal",
        witness: Witness::Program,
        stems: &["[SignalInfo: *** SIG"],
        regex: r"\[SignalInfo: \*\*\* (?<signal>SIG[A-Z0-9]+) \(@0x[0-9a-f]+\) received by PID (?<pid>\d+) ",
        read: |c| caught(c.signal("signal"), false, Who::own(Role::Rank, c.num("pid"))),
        samples: &[
            "  [SignalInfo: *** SIGBUS (@0x7f3b5c000000) received by PID 2214 (TID 0x7f3c1a7fc700) from PID 1543503872 ***]",
        ],
        near_misses: &[
            "*** SIGBUS (@0x7f3b5c000000) received by PID 2214 (TID 0x7f3c1a7fc700) from PID 1543503872; stack trace: ***",
        ],
    },
    // The same file's words for the signals (SignalErrorStrings), above the line with the pid.
    Pattern {
        id: "paddle/detected",
        witness: Witness::Program,
        stems: &["` is detected by the operating system"],
        regex: r"^FatalError: `(?<words>Segmentation fault|Illegal instruction|Erroneous arithmetic operation|Process abort signal|Access to an undefined portion of a memory object)` is detected by the operating system\.\s*$",
        read: |c| {
            let signal = match c.get("words") {
                Some("Segmentation fault") => Signal::SEGV,
                Some("Illegal instruction") => Signal(4),
                Some("Erroneous arithmetic operation") => Signal(8),
                Some("Process abort signal") => Signal::ABRT,
                _ => Signal::BUS,
            };
            caught(Some(signal), false, Who::role(Role::Rank))
        },
        samples: &[
            "FatalError: `Segmentation fault` is detected by the operating system.",
            "FatalError: `Access to an undefined portion of a memory object` is detected by the operating system.",
        ],
        near_misses: &[
            "FatalError: `Termination signal` is detected by the operating system.",
            "an error is detected by the operating system",
        ],
    },
    // The frames of its C++ traceback, of which those of NCCL tell what the process was doing.
    Pattern {
        id: "paddle/frame",
        witness: Witness::Program,
        stems: &["  ncclCommInit"],
        regex: r"^\d{1,3} {2,3}(?<function>ncclCommInit\w+)\s*$",
        read: |c| {
            let what = What::Frame { file: "libnccl.so".to_owned(), line: 0, function: c.text("function") };
            vec![Claim::bare(what)]
        },
        samples: &["2   ncclCommInitRank"],
        near_misses: &["nccl  ncclCommInitRank failed"],
    },
];
