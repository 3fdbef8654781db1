//! Workflow engines and MPI's Hydra: the end of a step or rank, passed on by who started it.

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Table, What, Who, Why, Witness};
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
        stems: &["child process for step ", "Run execution process for "],
        regex: r"(?:^|: |- )(?:Multiprocess executor: child process for step \S+|Run execution process for \S+) was terminated by signal (?<signal>\d+) \(SIG\w+\)\.?(?: .*)?\s*$",
        read: signalled,
        samples: &["Multiprocess executor: child process for step train was terminated by signal 9 (SIGKILL)."],
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
    // FreeBSD's vm_pageout.c and kern_sig.c.
    Pattern {
        id: "freebsd/killed",
        witness: Witness::Supervisor,
        stems: &[", was killed: "],
        regex: r"^pid (?<pid>\d+) \((?<comm>[^)]+)\)(?:, jid \d+)?, uid \d+,? was killed: (?:failed to reclaim memory|out of swap space|a thread waited too long to allocate a page)\s*$",
        read: |c| {
            let what = What::OomReported { by: "FreeBSD's kernel", scope: crate::fact::Scope::Host };
            vec![Claim::new(what, Who { own_pid: c.num("pid").map(OwnPid), process: c.text("comm"), ..Who::default() })]
        },
        samples: &[
            "pid 4411 (python3.9), jid 0, uid 1001, was killed: failed to reclaim memory",
            "pid 4411 (python3.9), uid 1001, was killed: out of swap space",
        ],
        near_misses: &["pid 4411 (python3.9), jid 0, uid 1001, was killed: exceeded maximum CPU limit"],
    },
];
