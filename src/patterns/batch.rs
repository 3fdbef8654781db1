//! Batch systems other than Slurm: LSF, PBS, Grid Engine, HTCondor, Flux; and submitit, which runs inside of Slurm.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

/// The job that a line names, and the machine where it tells it.
fn job(c: &Caps<'_>) -> Who {
    Who { job: c.text("job"), host: c.text("host"), ..Who::role(Role::Job) }
}

fn stopped(by: &'static str, why: Why, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who)]
}

fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    let how = match (c.signal("signal"), c.num("code")) {
        (Some(signal), _) => How::Signal(signal),
        (None, Some(code)) => How::Code(code),
        (None, None) => return Vec::new(),
    };
    let role = if c.get("rank").is_some() { Role::Rank } else { Role::Job };
    vec![Claim::new(What::Ended { how, hint: false }, Who { rank: c.num("rank"), role, ..job(c) })]
}

pub(super) const TABLE: &[Pattern] = &[
    // LSF 9 and 10, the job report. LSF sends SIGINT, SIGTERM and SIGKILL in turn, so no signal is told.
    Pattern {
        id: "lsf/term",
        witness: Witness::Supervisor,
        stems: &["TERM_"],
        regex: r"^TERM_(?<reason>MEMLIMIT|SWAP|RUNLIMIT|CPULIMIT|DEADLINE|WINDOW|PREEMPT|OWNER|FORCE_OWNER|ADMIN|FORCE_ADMIN|REQUEUE_OWNER|REQUEUE_ADMIN): job (?:killed|terminated|requeued)? ?[a-z][^.]*\.?\s*$",
        read: |c| {
            let why = match c.get("reason") {
                Some("MEMLIMIT" | "SWAP") => Why::Memory,
                Some("RUNLIMIT" | "CPULIMIT" | "DEADLINE" | "WINDOW") => Why::TimeLimit,
                Some("PREEMPT") => Why::Preemption,
                _ => Why::Request,
            };
            stopped("LSF", why, None, job(c))
        },
        samples: &[
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
            "TERM_OWNER: job killed by owner.",
        ],
        near_misses: &["TERM_MEMLIMIT: see bhist(1)", "| TERM_MEMLIMIT: job killed after reaching LSF memory usage limit |"],
    },
    Pattern {
        id: "lsf/signal",
        witness: Witness::Supervisor,
        stems: &["Exited by signal ", "Exited with signal termination: "],
        regex: r"^Exited (?:by signal|with signal termination:) (?<signal>\d+|[A-Z][a-z]+(?: \w+)*)(?:, and core dumped)?\.\s*$",
        read: signalled,
        samples: &["Exited by signal 9.", "Exited with signal termination: Killed."],
        near_misses: &["Exited by signal handler.", "The job has Exited by signal 9."],
    },
    // src/resmom of OpenPBS and Torque: SIGTERM, then SIGKILL. `sum` forms are of Torque.
    Pattern {
        id: "pbs/limit",
        witness: Witness::Supervisor,
        stems: &["PBS: job killed: "],
        regex: r"^(?:=>> )?PBS: job killed: (?:(?<memory>p?v?mem)(?: job total)? \d+ ?[kmg]?b|(?<time>walltime|cput|pcput) \d+(?: ?secs?)?|(?<cpus>ncpus|ncpus_burst|cpupercent) [\d.]+) exceeded limit \d+",
        read: |c| {
            let why = match (c.get("memory"), c.get("time")) {
                (Some(_), _) => Why::Memory,
                (_, Some(_)) => Why::TimeLimit,
                _ => Why::Request,
            };
            stopped("PBS", why, None, job(c))
        },
        samples: &[
            "=>> PBS: job killed: mem 68011224kb exceeded limit 67108864kb",
            "=>> PBS: job killed: vmem 68011224kb exceeded limit 67108864kb",
            "=>> PBS: job killed: walltime 86435 exceeded limit 86400",
        ],
        near_misses: &["echo \"PBS: job killed: mem 1kb exceeded limit 1kb\"", "=>> PBS: job killed: node 3 requested job die"],
    },
    // source/daemons/execd/execd_ck_to_do.c and load_avg of Grid Engine (6.2, SoGE 8.1, Univa).
    Pattern {
        id: "sge/limit",
        witness: Witness::Supervisor,
        stems: &[
            "exceeds job hard limit \"",
            "exceeds job soft limit \"",
            "exceeded hard wallclock time",
            "exceeded soft wallclock time",
        ],
        regex: r#"^(?:[^|'"]*\|[^|]*\|(?<host>[^|]*)\|\w\|)?job (?<job>\d+)(?:\.\d+)? (?:exceeds job (?:hard|soft) limit "(?<limit>\w+)" of queue "[^"]*" \([^)]*\) - sending (?<signal>SIG\w+)|exceeded (?:hard|soft) wallclock time - initiate terminate method)\s*$"#,
        read: |c| {
            let memory = c.get("limit").is_some_and(|limit| !matches!(limit, "h_rt" | "s_rt" | "h_cpu" | "s_cpu"));
            let why = if memory { Why::Memory } else { Why::TimeLimit };
            stopped("Grid Engine", why, c.signal("signal"), job(c))
        },
        samples: &[
            "03/12/2022 02:41:19|  main|node44|W|job 90211.1 exceeds job hard limit \"h_vmem\" of queue \"gpu.q@node44\" (68811203584.00000 > limit:68719476736.00000) - sending SIGKILL",
            "job 90211.1 exceeded hard wallclock time - initiate terminate method",
        ],
        near_misses: &["job 90211.1 exceeds job hard limit \"%s\" of queue \"%s\" (%8.5f > limit:%8.5f) - sending SIGKILL"],
    },
    // `qacct -j`: the status that the shepherd saw, with the signal's words.
    Pattern {
        id: "sge/qacct",
        witness: Witness::Supervisor,
        stems: &["exit_status  "],
        regex: r"^exit_status {2,}(?<code>1[3-9]\d) +\([A-Z][\w ]*\)\s*$",
        read: signalled,
        samples: &["exit_status  137                  (Killed)"],
        near_misses: &["exit_status  0", "exit_status  1"],
    },
    // condor_starter: the hold of a job in Docker follows from Docker's own flag, that of a plain one from the cgroup's notice.
    Pattern {
        id: "condor/memory",
        witness: Witness::Runtime,
        stems: &["ob has gone over memory limit of ", "ob has gone over cgroup memory limit of "],
        regex: r"^\s*(?:Error from (?:[\w.-]+@)?(?<host>[\w.-]+): )?(?:Docker job|Job) has gone over (?:cgroup )?memory limit of \d+ (?:Mb|megabytes)\b",
        read: |c| vec![Claim::new(What::OomReported { by: "HTCondor", scope: Scope::Cgroup }, job(c))],
        samples: &[
            "\tError from slot1_7@gpulab2.example.edu: Docker job has gone over memory limit of 1024 Mb",
            "Error from slot1@node3: Job has gone over memory limit of 4096 megabytes. Peak usage: 4101 megabytes.",
        ],
        near_misses: &["A job that has gone over memory limit of 1024 Mb is held"],
    },
    // condor_utils/condor_event.cpp, the job's event log.
    Pattern {
        id: "condor/terminated",
        witness: Witness::Supervisor,
        stems: &["bnormal termination (signal ", "ormal termination (return value "],
        regex: r"^\s*\([01]\) (?:Abnormal termination \(signal (?<signal>\d+)\)|Normal termination \(return value (?<code>\d+)\))\s*$",
        read: |c| match c.num::<i64>("code") {
            Some(0) => vec![Claim::new(What::Finished, Who::role(Role::Job))],
            _ => signalled(c),
        },
        samples: &["\t(0) Abnormal termination (signal 9)", "\t(1) Normal termination (return value 137)"],
        near_misses: &["Abnormal termination (signal 9)", "(0) Abnormal termination (signal %d)"],
    },
    Pattern {
        id: "condor/evicted",
        witness: Witness::Supervisor,
        stems: &[") Job was evicted", " Job was evicted."],
        regex: r"^004 \((?<job>\d+)\.\d+\.\d+\) \S.* Job was evicted\.\s*$",
        read: |c| stopped("HTCondor", Why::Preemption, None, job(c)),
        samples: &["004 (4411.000.000) 2020-06-11 11:02:01 Job was evicted."],
        near_misses: &["005 (4411.000.000) 2020-06-11 11:02:01 Job terminated."],
    },
    // src/shell/oom.c of flux-core 0.66 and later reads the job's memory.events.
    Pattern {
        id: "flux/oom",
        witness: Witness::Supervisor,
        stems: &[" oom: Memory cgroup out of memory: killed "],
        regex: r"^(?:[\d.]+s: )?flux-shell\[\d+\]: ERROR: oom: Memory cgroup out of memory: killed [1-9]\d* tasks? on (?<host>[\w.-]+?)\.?\s*$",
        read: |c| vec![Claim::new(What::OomReported { by: "Flux", scope: Scope::Cgroup }, job(c))],
        samples: &["29.475s: flux-shell[0]: ERROR: oom: Memory cgroup out of memory: killed 1 task on picl7."],
        near_misses: &["shell_log_error (\"oom: Memory cgroup out of memory: killed %d task%s on %s.\""],
    },
    // flux-job and the exec service's exception.
    Pattern {
        id: "flux/task",
        witness: Witness::Supervisor,
        stems: &["flux-job: task(s) ", " type=exec severity=0 task "],
        regex: r"^(?:flux-job: task\(s\) (?:exited with exit code (?<code>[1-9]\d*)|(?<words>[A-Z][\w ]+))|(?:[\d.]+s: )?job\.exception \S+ type=exec severity=0 task (?<rank>\d+) \(host (?<host>[^)]+)\): (?<signal>[A-Z][\w ]+))\s*$",
        read: |c| match c.signal("words") {
            Some(signal) => vec![Claim::new(What::Ended { how: How::Signal(signal), hint: false }, job(c))],
            None => signalled(c),
        },
        samples: &[
            "flux-job: task(s) exited with exit code 137",
            "flux-job: task(s) Terminated",
            "29.601s: job.exception ƒ4hY2kPq type=exec severity=0 task 0 (host picl7): Killed",
        ],
        near_misses: &["flux-job: task(s) exited with exit code 0"],
    },
    // submitit/core/job_environment.py, 1.0 and later: the handler of the signal that Slurm sends before the end.
    Pattern {
        id: "submitit/signal",
        witness: Witness::Supervisor,
        stems: &[": this job is "],
        regex: r"^(?:submitit \w+ \([^)]*\) - )?Caught signal SIG\w+ on (?<host>\S+): this job is (?<reason>preempted|timed-out)\.\s*$",
        read: |c| {
            let why = if c.get("reason") == Some("preempted") { Why::Preemption } else { Why::TimeLimit };
            stopped("Slurm", why, None, job(c))
        },
        samples: &[
            "submitit WARNING (2022-08-12 02:06:11,453) - Caught signal SIGUSR2 on server1: this job is preempted.",
            "Caught signal SIGUSR2 on server1: this job is timed-out.",
        ],
        near_misses: &[
            "f\"Caught signal {signal.Signals(signum).name} on {host}: this job is {case}.\"",
            "note: this job is preempted.",
        ],
    },
];
