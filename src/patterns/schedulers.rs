//! Batch systems other than Slurm: LSF, Grid Engine, HTCondor, Flux, YARN with Spark; and submitit, which runs
//! inside of Slurm.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::{Bytes, Signal};

fn job(c: &Caps<'_>) -> Who {
    Who { job: c.text("job"), ..Who::role(Role::Job) }
}

fn stopped(by: &'static str, why: Why, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who)]
}

fn ended(how: How, hint: bool, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Ended { how, hint }, who)]
}

fn lsf(c: &Caps<'_>) -> Vec<Claim> {
    let why = match c.get("word").unwrap_or_default() {
        "MEMLIMIT" | "SWAP" => Why::Memory,
        "RUNLIMIT" | "CPULIMIT" | "DEADLINE" | "WINDOW" => Why::TimeLimit,
        "PREEMPT" => Why::Preemption,
        _ => Why::Request,
    };
    stopped("LSF", why, None, job(c))
}

fn condor_hold(c: &Caps<'_>) -> Vec<Claim> {
    let scope = if c.get("node").is_some() { Scope::Host } else { Scope::Cgroup };
    let mut claims = vec![Claim::new(What::OomReported { by: "HTCondor", scope }, job(c))];
    claims.extend(c.num("limit").or_else(|| c.num("limit2")).map(|mib| Claim::new(What::MemoryOption(Bytes::mib(mib)), job(c))));
    claims
}

fn condor_end(c: &Caps<'_>) -> Vec<Claim> {
    let how = match (c.signal("signal").or_else(|| c.signal("signal2")), c.num("code")) {
        (Some(signal), _) => How::Signal(signal),
        (None, Some(code)) => How::Code(code),
        _ => return Vec::new(),
    };
    ended(how, false, job(c))
}

fn executor(c: &Caps<'_>) -> Vec<Claim> {
    let Some(code) = c.num("code").or_else(|| c.num("code2")).or_else(|| c.num("code3")) else { return Vec::new() };
    let who = Who { host: c.text("host"), ..Who::role(Role::Main) };
    ended(How::Code(code), c.get("guess").is_some(), who)
}

fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    let how = match (c.signal("signal"), c.num("code")) {
        (Some(signal), _) => How::Signal(signal),
        (None, Some(code)) => How::Code(code),
        (None, None) => return Vec::new(),
    };
    let role = if c.get("rank").is_some() { Role::Rank } else { Role::Job };
    vec![Claim::new(What::Ended { how, hint: false }, Who { rank: c.num("rank"), role, host: c.text("host"), ..job(c) })]
}

pub(super) const TABLE: &[Pattern] = &[
    // IBM Spectrum LSF: `bjobs -l`, `bhist`, the job report by mail or `-o`. LSF polls and kills, so the kernel logs nothing.
    Pattern {
        id: "lsf/term",
        witness: Witness::Supervisor,
        stems: &[": job killed "],
        regex: r"^(?:.*; )?TERM_(?<word>MEMLIMIT|SWAP|RUNLIMIT|CPULIMIT|DEADLINE|WINDOW|PREEMPT|OWNER|ADMIN|FORCE_OWNER|FORCE_ADMIN): job killed (?:after|by) [\w ,-]+\.",
        read: lsf,
        samples: &[
            "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
            "Completed <exit>; TERM_OWNER: job killed by owner.",
        ],
        near_misses: &["see TERM_MEMLIMIT: the job is killed after reaching the limit"],
    },
    // The same report. A code says nothing of who ended the job; `TERM_…` above it does.
    Pattern {
        id: "lsf/exit",
        witness: Witness::Arithmetic,
        stems: &["Exited with exit code "],
        regex: r"^(?:.*[>;] )?Exited with exit code (?<code>[1-9]\d*)\.(?: The CPU time used is [\d.]+ seconds\.)?\s*$",
        read: |c| match c.num::<i64>("code") {
            Some(code) if Signal::from_status(code).is_some() => ended(How::Code(code), false, job(c)),
            _ => Vec::new(),
        },
        samples: &["Exited with exit code 140.", "Exited with exit code 137. The CPU time used is 10.0 seconds."],
        near_misses: &["Exited with exit code 1.", "srun: error: gpu003: task 0: Exited with exit code 137"],
    },
    // The same report, where the program itself got the signal.
    Pattern {
        id: "lsf/signal",
        witness: Witness::Supervisor,
        stems: &["Exited by signal ", "Exited with signal termination: "],
        regex: r"^(?:.*[>:;] )?Exited (?:by (?:LSF )?signal (?<signal>\d+)|with signal termination: (?<words>\d+|[A-Z]\w+(?: \w+)*))\.(?: The CPU time used is [\d.]+ seconds\.)?\s*$",
        read: |c| {
            let signal = c.signal("signal").or_else(|| c.signal("words"));
            signal.map_or_else(Vec::new, |signal| ended(How::Signal(signal), false, job(c)))
        },
        samples: &[
            "Exited by signal 9. The CPU time used is 10.0 seconds.",
            "Exited by signal 7.",
            "Exited with signal termination: Killed.",
        ],
        near_misses: &["Exited by signal handler"],
    },
    // Grid Engine's messages file of execd, and the mail of a job.
    Pattern {
        id: "sge/limit",
        witness: Witness::Supervisor,
        stems: &["exceeds job hard limit ", "exceeds job soft limit ", "exceeded hard wallclock time"],
        regex: r#"(?:^|\|)job (?<job>\d+)\.\d+ (?:exceeds job (?:hard|soft) limit "(?<resource>\w+)" of queue "[^"]*" \([^)]*\) - sending (?<signal>SIG\w+)|exceeded hard wallclock time)"#,
        read: |c| {
            let memory =
                c.get("resource").is_some_and(|name| name.ends_with("vmem") || name.ends_with("rss") || name.ends_with("data"));
            stopped("Grid Engine", if memory { Why::Memory } else { Why::TimeLimit }, c.signal("signal"), job(c))
        },
        samples: &[
            "job 4711.1 exceeds job hard limit \"h_vmem\" of queue \"all.q@node7\" (5368709120.00000 > limit:4294967296.00000) - sending SIGKILL",
            "job 4711.1 exceeded hard wallclock time - initiate terminate method",
        ],
        near_misses: &["job exceeds job hard limit \"h_vmem\""],
    },
    Pattern {
        id: "sge/signal",
        witness: Witness::Supervisor,
        stems: &[" died through signal "],
        regex: r"(?:^|\|)job (?<job>\d+)\.\d+ died through signal \w+ \((?<signal>\d+)\)\s*$",
        read: |c| c.signal("signal").map_or_else(Vec::new, |signal| ended(How::Signal(signal), false, job(c))),
        samples: &["job 4711.1 died through signal KILL (9)"],
        near_misses: &["job died through signal KILL (9)"],
    },
    // htcondor src/condor_starter.V6.1: a hold for memory (code 34, subcode 102).
    Pattern {
        id: "condor/memory",
        witness: Witness::Supervisor,
        stems: &[" has gone over ", "Job has encountered an out-of-memory event", "Worker node is out of memory"],
        regex: r"^\s*(?:Error from \S+: |HoldReason = .)?(?:Job has gone over (?:cgroup )?memory limit of (?<limit>\d+) megabytes\.|Docker job has gone over memory limit of (?<limit2>\d+) Mb|Job has encountered an out-of-memory event|(?<node>Worker node is out of memory))",
        read: condor_hold,
        samples: &[
            "\tJob has gone over cgroup memory limit of 4096 megabytes. Last measured usage: 4096 megabytes.  Consider resubmitting with a higher request_memory.",
            "\tError from slot1@node7: Docker job has gone over memory limit of 4096 Mb",
            "\tJob has encountered an out-of-memory event.",
        ],
        near_misses: &["the job has gone over memory limit"],
    },
    // htcondor condor_event.cpp, event 005, and the job's ClassAd.
    Pattern {
        id: "condor/end",
        witness: Witness::Supervisor,
        stems: &["Abnormal termination (signal ", "Normal termination (return value ", "ExitSignal = "],
        regex: r"^\s*(?:\(0\) Abnormal termination \(signal (?<signal>\d+)\)|\(1\) Normal termination \(return value (?<code>[1-9]\d*)\)|ExitSignal = (?<signal2>\d+))\s*$",
        read: condor_end,
        samples: &["\t(0) Abnormal termination (signal 7)", "\t(1) Normal termination (return value 135)", "ExitSignal = 9"],
        near_misses: &["\t(1) Normal termination (return value 0)"],
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
        read: |c| {
            vec![Claim::new(What::OomReported { by: "Flux", scope: Scope::Cgroup }, Who { host: c.text("host"), ..job(c) })]
        },
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
            stopped("Slurm", why, None, Who { host: c.text("host"), ..job(c) })
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
    // hadoop ContainersMonitorImpl and Spark's YarnAllocator: YARN measures and kills, so the kernel logs nothing.
    Pattern {
        id: "yarn/memory",
        witness: Witness::Supervisor,
        stems: &[
            "Container killed by YARN for exceeding ",
            " is running beyond ",
            "B beyond the 'PHYSICAL' memory limit",
            "B beyond the 'VIRTUAL' memory limit",
        ],
        regex: r"(?:^|[\s:])(?:Container killed by YARN for exceeding (?:physical |virtual )?memory limits\. \d[\d.]* \w+ of \d[\d.]* \w+ (?:physical|virtual) memory used|Container \[pid=(?<pid>\d+),containerID=\w+\] is running (?:\d+\w? )?beyond (?:the ')?(?:physical|virtual|PHYSICAL|VIRTUAL)'? memory limits?\.)",
        read: |c| stopped("YARN", Why::Memory, None, Who { role: Role::Main, ..Who::host(c.num("pid"), None) }),
        samples: &[
            "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.",
            "Container [pid=7830,containerID=container_1397098636321_27548_01_000297] is running beyond physical memory limits. Current usage: 2.1 GB of 2 GB physical memory used; 2.7 GB of 4.2 GB virtual memory used. Killing container.",
            "Container [pid=20117,containerID=container_1713700000001_0007_01_000004] is running 331350016B beyond the 'PHYSICAL' memory limit. Current usage: 12.3 GB of 12 GB physical memory used; 15.0 GB of 25.2 GB virtual memory used. Killing container.",
        ],
        near_misses: &["Container killed by YARN for exceeding memory limits. Consider boosting spark.executor.memoryOverhead."],
    },
    // Spark's YarnAllocator, ExecutorPodsLifecycleManager and standalone Worker; Kubernetes' `possible` is a guess.
    Pattern {
        id: "spark/executor",
        witness: Witness::Arithmetic,
        stems: &[
            "Container killed on request. Exit code is ",
            "Exit status: ",
            " exited with exit code ",
            "Command exited with code ",
        ],
        regex: r"(?:^(?:Diagnostics: )?Container killed on request\. Exit code is (?<code>[1-9]\d*)|Container (?:from a bad node|marked as failed): container_\w+ on host: (?<host>[^\s,]+?)\. Exit status: (?<code2>[1-9]\d*)\.|The executor with id \d+ exited with exit code (?<code3>[1-9]\d*)(?:\(SIG\w+(?<guess>, possible container OOM)?\))?|(?:Lost executor \S+ on \S+: |Reason: )Command exited with code (?<code4>[1-9]\d*))",
        read: |c| match c.num("code4") {
            Some(code) => ended(How::Code(code), false, Who::role(Role::Main)),
            None => executor(c),
        },
        samples: &[
            "Container killed on request. Exit code is 143",
            "Reason: Container from a bad node: container_1640599265018_0008_01_000003 on host: node7. Exit status: 137. Diagnostics: [2024-03-12 11:52:43.123]Container killed on request. Exit code is 137",
            "The executor with id 3 exited with exit code 137(SIGKILL, possible container OOM).",
            "ExecutorLostFailure (executor 4 exited caused by one of the running tasks) Reason: Command exited with code 137",
        ],
        near_misses: &["Container exited with exit code 137", "Exit status: 137"],
    },
];
