//! What torchrun, its elastic agent and torch.multiprocessing.spawn say of the ranks (torch 1.8 to 2.15).

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Table, What, Who, Why, Witness};
use crate::units::Signal;

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // torch/distributed/elastic/multiprocessing/api.py, 1.9 and later. A negative code is a signal. Rich breaks the line at `of`.
    Pattern {
        id: "elastic/failed",
        witness: Witness::Supervisor,
        stems: &["failed (exitcode: "],
        regex: r#"^(?:(?:[^"'`]*api(?:\.py)?:(?:\d+\]\s|\s?\[ERROR\]\s)?|\s*ERROR\s+))?failed \(exitcode: (?<code>-?\d+)\) local_rank: \d+ \(pid: (?<pid>\d+)\)(?: |$)"#,
        read: ended,
        samples: &[
            "failed (exitcode: 1) local_rank: 0 (pid: 20722) of binary: /opt/python/bin/python3.11",
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 5 (pid: 22) of binary: /usr/bin/python3",
            "E1201 07:17:56.143000 20601 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: -7) local_rank: 0 (pid: 20722) of binary: /opt/python/bin/python3.11",
            " ERROR    failed (exitcode: -9) local_rank: 5 (pid: 22) of  api.py:673",
        ],
        near_misses: &[
            "            f\"failed (exitcode: {failure.exitcode}) local_rank: {rank} (pid: {failure.pid})\"",
            "failed (exitcode: 1)",
        ],
    },
    Pattern {
        id: "elastic/closing",
        witness: Witness::Supervisor,
        stems: &[" closing signal "],
        regex: r#"^(?:[^"'`]*[\]:\s])?Sending process (?<pid>\d+) closing signal (?<signal>(?:Signals\.)?SIG\w+|\d+)\b"#,
        read: cleanup,
        samples: &[
            "W1201 07:17:55.968000 20601 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 20723 closing signal SIGTERM",
            " WARNING  Sending process 14 closing signal SIGTERM         api.py:699",
        ],
        near_misses: &["            log.warning(\"Sending process %s closing signal %s\", pid, sig)"],
    },
    // The grace period is over. Python 3.11 and later print numbers; `exitting` up to torch 2.0.
    Pattern {
        id: "elastic/forced",
        witness: Witness::Supervisor,
        stems: &["Unable to shutdown process "],
        regex: r#"^(?:[^"'`]*[\]:\s])?Unable to shutdown process (?<pid>\d+) via [\w.]+, forcefully exitt?ing via (?<signal>[\w.]+)"#,
        read: cleanup,
        samples: &[
            "Unable to shutdown process 4127 via Signals.SIGTERM, forcefully exitting via Signals.SIGKILL",
            "Unable to shutdown process 4127 via 15, forcefully exiting via 9",
        ],
        near_misses: &["Unable to shutdown process pool via API"],
    },
    // Somebody signalled the agent itself: a scheduler, `docker stop`, Ctrl-C.
    Pattern {
        id: "elastic/death-signal",
        witness: Witness::Supervisor,
        stems: &[" death signal, shutting down workers"],
        regex: r#"^(?:[^"'`]*[\]:\s])?Received (?<signal>[\w.]+) death signal, shutting down workers"#,
        read: asked,
        samples: &[
            "WARNING:torch.distributed.elastic.agent.server.api:Received 15 death signal, shutting down workers",
            "Received Signals.SIGTERM death signal, shutting down workers",
        ],
        near_misses: &["    logger.warning(\"Received %s death signal, shutting down workers\", e.sigval)"],
    },
    Pattern {
        id: "elastic/agent-signal",
        witness: Witness::Supervisor,
        stems: &["SignalException: Process "],
        regex: r"^(?:E {2,}| ?)(?:torch[\w.]*\.)?SignalException: Process (?<pid>\d+) got signal: (?<signal>[\w.]+)\s*$",
        read: asked,
        samples: &[
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 17871 got signal: 1",
            "torch.distributed.elastic.multiprocessing.api.SignalException: Process 88101 got signal: 15",
        ],
        near_misses: &["    raise SignalException(f\"Process {os.getpid()} got signal: {sigval}\", sigval=sigval)"],
    },
    // The table under ChildFailedError (errors/__init__.py). torch 2.12 and later add the signal's name.
    Pattern {
        id: "elastic/others",
        witness: Witness::Supervisor,
        stems: &["Failures:", "Other Failures"],
        regex: r"^(?:Other )?Failures:\s*$",
        read: |_| vec![Claim::bare(What::Elastic(Table::Others))],
        samples: &["Failures:"],
        near_misses: &["Failures: 3", "  Failures:"],
    },
    Pattern {
        id: "elastic/root",
        witness: Witness::Supervisor,
        stems: &["Root Cause"],
        regex: r"^Root Cause(?: \(first observed failure\))?:\s*$",
        read: |_| vec![Claim::bare(What::Elastic(Table::Root))],
        samples: &["Root Cause (first observed failure):"],
        near_misses: &["Root Cause (first observed failure) is the row below"],
    },
    Pattern {
        id: "elastic/rank",
        witness: Witness::Supervisor,
        stems: &[" (local_rank: "],
        regex: r"^\s+\*?\s*rank\s*: (?<rank>\d+) \(local_rank: \d+\)\s*$",
        read: |caps| {
            let who = Who { rank: caps.num("rank"), ..Who::role(Role::Rank) };
            vec![Claim::new(What::Elastic(Table::Row), who)]
        },
        samples: &["  rank      : 5 (local_rank: 5)"],
        near_misses: &["rank: 5 (local_rank: 5) world_size: 8"],
    },
    Pattern {
        id: "elastic/host",
        witness: Witness::Supervisor,
        stems: &["  host      : "],
        regex: r"^  host      : (?<host>\S+)\s*$",
        read: |caps| vec![Claim::new(What::Elastic(Table::Row), Who { host: caps.text("host"), ..Who::default() })],
        samples: &["  host      : node01.cluster"],
        near_misses: &["  host      : the machine's name"],
    },
    Pattern {
        id: "elastic/exitcode",
        witness: Witness::Supervisor,
        stems: &["exitcode"],
        regex: r"^\s+\*?\s*exitcode\s*: (?<code>-?\d+) \(pid: (?<pid>\d+)\)(?:\s+\((?<name>SIG\w+)\))?\s*$",
        read: ended,
        samples: &["  exitcode  : -9 (pid: 22)", "  exitcode  : -7 (pid: 20722)  (SIGBUS)", "  exitcode  : 1 (pid: 20723) "],
        near_misses: &["  exitcode  : <N/A>", "exitcode: -9 (pid: 22) is what we saw"],
    },
    // torch 1.9 calls the row `msg`.
    Pattern {
        id: "elastic/received",
        witness: Witness::Supervisor,
        stems: &[" received by PID "],
        regex: r#"^\s+\*?\s*(?:traceback|msg)\s*: "?Signal (?<signal>\d+) \((?<name>\S+)\) received by PID (?<pid>\d+)"?\s*$"#,
        read: |caps| {
            let how = caps.signal("name").or_else(|| caps.signal("signal")).map_or(How::Vanished, How::Signal);
            vec![Claim::new(What::Ended { how, hint: false }, Who::own(Role::Rank, caps.num("pid")))]
        },
        samples: &[
            "  traceback : Signal 9 (SIGKILL) received by PID 22",
            "  traceback : Signal 15 (SIGTERM) received by PID 14",
            "  msg: \"Signal 9 (SIGKILL) received by PID 1201\"",
        ],
        near_misses: &["  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"],
    },
    // torch/multiprocessing/spawn.py; a plain Exception up to torch 1.6. The index is the rank that spawn gave.
    Pattern {
        id: "elastic/spawned",
        witness: Witness::Supervisor,
        stems: &[": process "],
        regex: concat!(
            r"^(?:E {2,}| ?)(?:[\w.]*\.)?(?:ProcessExited)?Exception: process (?<rank>\d+) terminated with ",
            r"(?:signal (?<signal>SIG\w+|<Unknown signal (?<number>\d+)>)|exit code (?<code>-?\d+))\s*$"
        ),
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.num("number").map(Signal));
            let code = caps.num("code").map(How::of_returncode);
            let how = signal.map(How::Signal).or(code).unwrap_or(How::Vanished);
            vec![Claim::new(What::Ended { how, hint: false }, Who { rank: caps.num("rank"), ..Who::role(Role::Rank) })]
        },
        samples: &[
            "torch.multiprocessing.spawn.ProcessExitedException: process 5 terminated with signal SIGABRT",
            "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with exit code 1",
            "torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with signal <Unknown signal 35>",
            "Exception: process 0 terminated with signal SIGKILL",
        ],
        near_misses: &[
            "    107                     \"process %d terminated with signal %s\" %",
            "Exception: Process 0 terminated with signal SIGKILL.",
        ],
    },
    Pattern {
        id: "elastic/spawn-closing",
        witness: Witness::Supervisor,
        stems: &["Terminating process "],
        regex: r#"^(?:[^"'`]*[\]:\s])?Terminating process (?<pid>\d+) via signal (?<signal>SIG\w+)\s*$"#,
        read: |caps| {
            let what = What::Stopped { by: "torch.multiprocessing.spawn", why: Why::Cleanup, signal: caps.signal("signal") };
            vec![Claim::new(what, Who::own(Role::Rank, caps.num("pid")))]
        },
        samples: &["W0307 10:21:58.103000 210 torch/multiprocessing/spawn.py:169] Terminating process 410 via signal SIGTERM"],
        near_misses: &["        log.warning(\"Terminating process %s via signal %s\", pid, sig)"],
    },
];

fn ended(caps: &Caps<'_>) -> Vec<Claim> {
    // The name wins over the number, which other systems than Linux count otherwise.
    let how = caps.signal("name").map(How::Signal).or_else(|| caps.num("code").map(How::of_returncode));
    let how = how.unwrap_or(How::Vanished);
    vec![Claim::new(What::Ended { how, hint: false }, Who::own(Role::Rank, caps.num("pid")))]
}

fn cleanup(caps: &Caps<'_>) -> Vec<Claim> {
    let what = What::Stopped { by: "torchrun", why: Why::Cleanup, signal: caps.signal("signal") };
    vec![Claim::new(what, Who::own(Role::Rank, caps.num("pid")))]
}

fn asked(caps: &Caps<'_>) -> Vec<Claim> {
    let what = What::Stopped { by: "torchrun", why: Why::Request, signal: caps.signal("signal") };
    vec![Claim::new(what, Who::own(Role::Launcher, caps.num("pid")))]
}
