//! Batch systems other than Slurm: LSF, PBS and Torque, Grid Engine, HTCondor, YARN with Spark.

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

fn pbs_limit(c: &Caps<'_>) -> Vec<Claim> {
    let why = match c.get("resource") {
        Some("walltime" | "cput" | "pcput") => Why::TimeLimit,
        _ => Why::Memory,
    };
    stopped("PBS", why, None, job(c))
}

/// PBS writes 256 + n for signal n and small negative numbers for its own reasons (openpbs src/include/job.h).
fn pbs_status(c: &Caps<'_>) -> Vec<Claim> {
    match c.num::<i64>("code") {
        Some(-27 | -26) => stopped("PBS", Why::Memory, None, job(c)),
        Some(code) if (257..=320).contains(&code) => {
            let signal = u8::try_from(code - 256).map_or(How::Vanished, |n| How::Signal(Signal(n)));
            ended(signal, false, job(c))
        }
        Some(code) if code > 0 => ended(How::Code(code), false, job(c)),
        _ => Vec::new(),
    }
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
    // The same report: `Exited with exit code 137.` is read as any program's.
    Pattern {
        id: "lsf/signal",
        witness: Witness::Supervisor,
        stems: &["Exited by signal "],
        regex: r"^(?:.*[>:;] )?Exited by (?:LSF )?signal (?<signal>\d+)\.(?: The CPU time used is [\d.]+ seconds\.)?\s*$",
        read: |c| c.signal("signal").map_or_else(Vec::new, |signal| ended(How::Signal(signal), false, job(c))),
        samples: &["Exited by signal 9. The CPU time used is 10.0 seconds.", "Exited by signal 7."],
        near_misses: &["Exited by signal handler"],
    },
    // openpbs src/resmom/mom_main.c; Torque writes `mem job total`. mom polls and kills, so the kernel logs nothing.
    Pattern {
        id: "pbs/limit",
        witness: Witness::Supervisor,
        stems: &["PBS: job killed: "],
        regex: r"^(?:=>> )?PBS: job killed: (?<resource>mem|vmem|pmem|pvmem|walltime|cput|pcput)(?: job total| process)? \d+(?:\.\d+)? ?\w* exceeded limit \d+",
        read: pbs_limit,
        samples: &[
            "=>> PBS: job killed: mem 5242880kb exceeded limit 4194304kb",
            "=>> PBS: job killed: vmem job total 5242880 kb exceeded limit 4194304 kb",
            "=>> PBS: job killed: walltime 3620 exceeded limit 3600",
        ],
        near_misses: &["=>> PBS: job killed: %s"],
    },
    // openpbs src/hooks/cgroups/pbs_cgroups.PY prints it when the limit was touched; a kill only if the kernel's words say so.
    Pattern {
        id: "pbs/cgroup",
        witness: Witness::Supervisor,
        stems: &["limit exceeded: "],
        regex: r"^Cgroup mem(?:sw)? limit exceeded: .*Kill(?:ed)? process (?<pid>\d+)(?:, UID \d+,)? \((?<process>[^)]+)\)",
        read: |c| {
            let who = Who { host_pid: c.num("pid").map(crate::units::HostPid), process: c.text("process"), ..Who::default() };
            vec![Claim::new(What::OomReported { by: "PBS", scope: Scope::Cgroup }, who)]
        },
        samples: &["Cgroup mem limit exceeded: oom_reaper: Killed process 4711 (python) total-vm:1kB"],
        near_misses: &[
            "Cgroup mem limit exceeded: no message",
            "Cgroup mem limit exceeded: python invoked oom-killer: gfp_mask=0x14",
        ],
    },
    // `qstat -xf`, tracejob and the accounting log of PBS.
    Pattern {
        id: "pbs/status",
        witness: Witness::Supervisor,
        stems: &["Exit_status"],
        regex: r"(?:^\s*|;(?<job>\d+(?:\[\d*\])?)\.[\w.-]+;|\s)Exit_status ?= ?(?<code>-?\d+)(?:\s|$)",
        read: pbs_status,
        samples: &[
            "    Exit_status = 265",
            "03/12/2024 11:52:43;0010;Server@pbs;Job;12.pbs;Exit_status=271 resources_used.cpupercent=98 resources_used.mem=4194304kb",
        ],
        near_misses: &["$Exit_status=1"],
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
    // hadoop ContainersMonitorImpl and Spark's YarnAllocator: YARN measures and kills, so the kernel logs nothing.
    Pattern {
        id: "yarn/memory",
        witness: Witness::Supervisor,
        stems: &["Container killed by YARN for exceeding ", " is running beyond "],
        regex: r"(?:^|[\s:])(?:Container killed by YARN for exceeding (?:physical |virtual )?memory limits\. \d[\d.]* \w+ of \d[\d.]* \w+ (?:physical|virtual) memory used|Container \[pid=(?<pid>\d+),containerID=\w+\] is running (?:\d+\w? )?beyond (?:the ')?(?:physical|virtual|PHYSICAL|VIRTUAL)'? memory limits?\.)",
        read: |c| stopped("YARN", Why::Memory, None, Who { role: Role::Main, ..Who::host(c.num("pid"), None) }),
        samples: &[
            "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.",
            "Container [pid=7830,containerID=container_1397098636321_27548_01_000297] is running beyond physical memory limits. Current usage: 2.1 GB of 2 GB physical memory used; 2.7 GB of 4.2 GB virtual memory used. Killing container.",
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
