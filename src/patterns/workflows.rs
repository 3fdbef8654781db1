//! Workflow engines and the launchers of MPI: the end of a step or rank, passed on by who started it.

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, Table, What, Who, Why, Witness};
use crate::units::{OwnPid, Signal};

/// A status by number, a negative one or one above 128 standing for a signal; any other is a consequence.
fn deadly(c: &Caps<'_>) -> Vec<Claim> {
    let code = c.num::<i64>("code").filter(|code| *code < 0 || Signal::from_status(*code).is_some());
    code.map(|code| Claim::new(What::Ended { how: how(code), hint: false }, Who::role(Role::Rank))).into_iter().collect()
}

/// The signal of one of Hydra's ranks.
fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    let signal = ["signal", "status"].iter().find_map(|group| c.signal(group));
    let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
    what.map(|what| Claim::new(what, Who::role(Role::Rank))).into_iter().collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // nextflow TaskProcessor.groovy; its report of the task repeats the status on a line of its own.
    Pattern {
        id: "nextflow/exit",
        witness: Witness::Arithmetic,
        stems: &["terminated with an error exit status ("],
        regex: r"^\s*(?:\[[^\]]*\] )?(?:NOTE: |Error executing process > .*)?Process `[^`]+` terminated with an error exit status \((?<code>\d+)\)",
        read: deadly,
        samples: &["  Process `TRAIN (1)` terminated with an error exit status (137)"],
        near_misses: &["  Process `TRAIN (1)` terminated with an error exit status (1)"],
    },
    // dagster's multiprocess executor: since 1.5 it names the signal.
    Pattern {
        id: "dagster/child",
        witness: Witness::Supervisor,
        stems: &["child process for step ", "Run execution process for ", "ChildProcessCrashException: Step "],
        regex: r"(?:^|: |- )(?:Multiprocess executor: child process for step \S+|Run execution process for \S+|Step \S+) was terminated by signal (?<signal>\d+) \(SIG\w+\)\.?(?: .*)?\s*$",
        read: signalled,
        samples: &[
            "Multiprocess executor: child process for step train was terminated by signal 9 (SIGKILL).",
            "dagster._core.executor.child_process_executor.ChildProcessCrashException: Step fit was terminated by signal 9 (SIGKILL). This usually indicates that the process was killed by the operating system due to running out of memory.",
        ],
        near_misses: &["Multiprocess executor: child process for step train unexpectedly exited with code 1"],
    },
    // ray/dashboard/modules/job: the command that a submitted job ran.
    Pattern {
        id: "ray/job",
        witness: Witness::Supervisor,
        stems: &["Job entrypoint command failed with exit code "],
        regex: r"^(?:Status message: |.*\bmessage=')?Job entrypoint command failed with exit code (?<code>-?\d+), last available logs",
        read: deadly,
        samples: &[
            "Status message: Job entrypoint command failed with exit code -9, last available logs (truncated to 20,000 chars):",
        ],
        near_misses: &["Job entrypoint command failed with exit code 1, last available logs"],
    },
    // Argo's and the kubelet's `activeDeadlineSeconds`.
    Pattern {
        id: "kubelet/deadline",
        witness: Witness::Supervisor,
        stems: &["on the node longer than the specified deadline"],
        regex: r"^(?:Message: +|message: )?Pod was active on the node longer than the specified deadline\.?\s*$",
        read: |_| {
            let what = What::Stopped { by: "kubelet", why: Why::TimeLimit, signal: None };
            vec![Claim::new(what, Who::role(Role::Job))]
        },
        samples: &["Pod was active on the node longer than the specified deadline"],
        near_misses: &["a Pod was active on the node longer than the specified deadline"],
    },
    // MPICH's and Intel MPI's Hydra (proxy/pmip and mpiexec): which process, and how it ended. Old releases print the raw
    // status, in which a signal is its number.
    Pattern {
        id: "hydra/process",
        witness: Witness::Supervisor,
        stems: &[" RUNNING AT "],
        regex: r"^= +(?:RANK (?<rank>\d+) )?PID (?<pid>\d+) RUNNING AT (?<host>\S+)\s*$",
        read: |c| {
            let who = Who { rank: c.num("rank"), host: c.text("host"), ..Who::own(Role::Rank, c.num("pid")) };
            vec![Claim::new(What::Elastic(Table::Row), who)]
        },
        samples: &["=   RANK 3 PID 4411 RUNNING AT gpu-1", "=   PID 12196 RUNNING AT e16"],
        near_misses: &["PID 12196 RUNNING AT e16"],
    },
    Pattern {
        id: "hydra/signal",
        witness: Witness::Supervisor,
        stems: &["KILLED BY SIGNAL: ", "=   EXIT CODE: "],
        regex: r"^(?:= +KILLED BY SIGNAL: (?<signal>\d+) \([^)]+\)|= {3}EXIT CODE: (?<status>[79]|11))\s*$",
        read: signalled,
        samples: &["=   KILLED BY SIGNAL: 9 (Killed)", "=   EXIT CODE: 9"],
        near_misses: &["=   EXIT CODE: 1", "KILLED BY SIGNAL: 9"],
    },
    // HPE's PALS (mpiexec on Cray EX and Apollo), with the node's name before it. Those with signal 15 were ended by PALS.
    Pattern {
        id: "pals/rank",
        witness: Witness::Supervisor,
        stems: &[" died from signal ", " exited with code "],
        regex: r"^(?:(?<host>[\w.-]+): )?rank (?<rank>\d+) (?:died from signal (?<signal>\d+)(?: and dumped core)?|exited with code (?<code>[1-9]\d*))\s*$",
        read: |c| {
            let who = Who { rank: c.num("rank"), host: c.text("host"), ..Who::role(Role::Rank) };
            let code = c.num("code").filter(|code| Signal::from_status(*code).is_some()).map(How::Code);
            let how = c.signal("signal").map(How::Signal).or(code);
            how.map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "x3006c0s13b0n0.hsn.cm: rank 5 died from signal 9",
            "x3006c0s19b1n0.hsn.cm.polaris.alcf.anl.gov: rank 0 died from signal 6 and dumped core",
            "x1921c4s4b0n0.hostmgmt2000.cm.americas.sgi.com: rank 3 exited with code 137",
        ],
        near_misses: &[
            "x3006c0s13b0n0.hsn.cm: rank 5 exited with code 1",
            "a rank 5 died from signal 9",
            "child died from signal 9",
        ],
    },
    // Cray's ALPS (aprun on XE, XK and XC): its word on the node's OOM killer, and on the signals of the whole application.
    Pattern {
        id: "alps/oom",
        witness: Witness::Supervisor,
        stems: &[": OOM killer terminated this process"],
        regex: r"^Apid (?<apid>\d+): OOM killer terminated this process\.?\s*$",
        read: |_| vec![Claim::new(What::OomReported { by: "ALPS", scope: Scope::Host }, Who::role(Role::Rank))],
        samples: &["Apid 15379: OOM killer terminated this process."],
        near_misses: &[
            "grep -c \"OOM killer terminated this process\" $file",
            "Apid 23764253: initiated application termination",
        ],
    },
    Pattern {
        id: "alps/signals",
        witness: Witness::Supervisor,
        stems: &[" exit signals: ", " exit signal "],
        regex: r"^(?:Application \d+ exit signals: (?<signal>[A-Z][a-z]+(?: [a-z]+)?)(?:, .*)?|_pmiu_daemon\(SIGCHLD\): \[NID \d+\] \[[\w-]+\] \[[^\]]+\] PE RANK (?<rank>\d+) exit signal (?<status>[A-Z][a-z]+(?: [a-z]+)?))\s*$",
        read: |c| {
            let mut claims = signalled(c);
            claims.iter_mut().for_each(|claim| claim.who.rank = c.num("rank"));
            claims
        },
        samples: &[
            "_pmiu_daemon(SIGCHLD): [NID 00012] [c0-0c0s3n0] [Mon Jan  1 10:00:00 2018] PE RANK 3 exit signal Killed",
            "Application 23764253 exit signals: Killed",
            "Application 23764253 exit signals: Bus error, Killed",
        ],
        near_misses: &["Application 23764253 exit codes: 1", "Application exit signals: Killed"],
    },
    // MVAPICH2's mpirun_rsh (src/pm/mpirun), 1.x to 2.3.
    Pattern {
        id: "mvapich/child",
        witness: Witness::Supervisor,
        stems: &["][child_handler] MPI process (rank: "],
        regex: r"^\[(?<host>[\w.-]+):mpispawn_\d+\]\[child_handler\] MPI process \(rank: (?<rank>\d+), pid: (?<pid>\d+)\) (?:terminated with signal (?<signal>\d+)|exited with status (?<code>[1-9]\d*))\b",
        read: |c| {
            let who = Who { rank: c.num("rank"), host: c.text("host"), ..Who::own(Role::Rank, c.num("pid")) };
            let how = c.signal("signal").map(How::Signal).or_else(|| c.num("code").map(How::Code));
            how.map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "[o0219:mpispawn_0][child_handler] MPI process (rank: 2, pid: 188402) terminated with signal 7 -> abort job",
            "[gpu01:mpispawn_3][child_handler] MPI process (rank: 14, pid: 3011) exited with status 1",
        ],
        near_misses: &["[o0219:mpispawn_0][readline] Unexpected End-Of-File on file descriptor 9. MPI process died?"],
    },
    // FreeBSD's vm_pageout.c and kern_sig.c.
    Pattern {
        id: "freebsd/killed",
        witness: Witness::Supervisor,
        stems: &[", was killed: "],
        regex: r"^pid (?<pid>\d+) \((?<comm>[^)]+)\)(?:, jid \d+)?, uid \d+,? was killed: (?:failed to reclaim memory|out of swap space|a thread waited too long to allocate a page)\s*$",
        read: |c| {
            let what = What::OomReported { by: "FreeBSD's kernel", scope: Scope::Host };
            vec![Claim::new(what, Who { own_pid: c.num("pid").map(OwnPid), process: c.text("comm"), ..Who::default() })]
        },
        samples: &[
            "pid 4411 (python3.9), jid 0, uid 1001, was killed: failed to reclaim memory",
            "pid 4411 (python3.9), uid 1001, was killed: out of swap space",
        ],
        near_misses: &["pid 4411 (python3.9), jid 0, uid 1001, was killed: exceeded maximum CPU limit"],
    },
];
