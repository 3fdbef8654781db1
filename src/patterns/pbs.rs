//! PBS, Torque and Moab: what they say in the job's output, in mails and in `qstat`.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Resource, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

fn job(c: &Caps<'_>) -> Who {
    Who { job: c.text("job"), host: c.text("host"), ..Who::role(Role::Job) }
}

fn stopped(why: Why, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by: "PBS", why, signal: None }, who)]
}

fn ended(how: How, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Ended { how, hint: false }, who)]
}

fn pbs_limit(c: &Caps<'_>) -> Vec<Claim> {
    let why = match c.get("resource") {
        Some("walltime" | "cput" | "pcput") => Why::TimeLimit,
        _ => Why::Memory,
    };
    stopped(why, job(c))
}

/// PBS writes 256 + n for signal n and small negative numbers for its own reasons (openpbs src/include/job.h).
fn pbs_status(c: &Caps<'_>) -> Vec<Claim> {
    match c.num::<i64>("code") {
        Some(-27 | -26) => stopped(Why::Memory, job(c)),
        Some(code) if (257..=320).contains(&code) => {
            let signal = u8::try_from(code - 256).map_or(How::Vanished, |n| How::Signal(Signal(n)));
            ended(signal, job(c))
        }
        Some(code) if code > 0 => ended(How::Code(code), job(c)),
        _ => Vec::new(),
    }
}

pub(super) const TABLE: &[Pattern] = &[
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
    // The prologue and epilogue of NCI's Gadi, in the job's output.
    Pattern {
        id: "pbs/jobfs",
        witness: Witness::Supervisor,
        stems: &[" killed due to exceeding jobfs quota"],
        regex: r"^(?:=>> )?(?:PBS: )?Job (?<job>\d+)(?:\[\d*\])?(?:\.[\w-]+)* killed due to exceeding jobfs quota\.(?: Quota: \S+, Used: \S+, Host: (?<host>[\w.-]+))?\s*$",
        read: |c| vec![Claim::new(What::Refused { resource: Resource::Disk, errno: None, bytes: None, by: "PBS" }, job(c))],
        samples: &[
            "Job 143560526.gadi-pbs killed due to exceeding jobfs quota. Quota: 15.0GB, Used: 15.0GB, Host: gadi-cpu-spr-0578",
        ],
        near_misses: &["your job was killed due to exceeding jobfs quota."],
    },
    Pattern {
        id: "pbs/node-memory",
        witness: Witness::Supervisor,
        stems: &[" has exceeded memory allocation on node "],
        regex: r"^(?:=>> )?(?:PBS: )?Job (?<job>\d+)(?:\[\d*\])?(?:\.[\w-]+)* has exceeded memory allocation on node (?<host>[\w.-]+?)\.?\s*$",
        read: |c| stopped(Why::Memory, job(c)),
        samples: &["Job 98153004.gadi-pbs has exceeded memory allocation on node gadi-cpu-clx-1234"],
        near_misses: &["a job that has exceeded memory allocation on node gadi-cpu-clx-1234"],
    },
    // The same epilogue's summary; 256 + n for signal n, or 128 + n where the shell saw it.
    Pattern {
        id: "pbs/summary",
        witness: Witness::Supervisor,
        stems: &[" (Linux Signal "],
        regex: r"^\s*Exit Status:\s+\d+ \(Linux Signal (?<signal>\d+) SIG\w+[^()]*\)\s*$",
        read: |c| c.signal("signal").map_or_else(Vec::new, |signal| ended(How::Signal(signal), job(c))),
        samples: &["   Exit Status:        271 (Linux Signal 15 SIGTERM Termination)"],
        near_misses: &["   Exit Status:        0", "an Exit Status: 271 (Linux Signal 15 SIGTERM Termination)"],
    },
    // Moab and Torque, in the mail to the owner, under `Aborted by PBS Server`.
    Pattern {
        id: "pbs/moab",
        witness: Witness::Supervisor,
        stems: &["Job exceeded "],
        regex: r"^(?:Aborted by PBS Server:?\s+)?Job exceeded (?:a (?<memory>memory) resource limit \(vmem, pvmem, etc\.\)\.|its walltime limit\.) Job was aborted\b",
        read: |c| stopped(if c.get("memory").is_some() { Why::Memory } else { Why::TimeLimit }, job(c)),
        samples: &[
            "Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted",
            "Aborted by PBS Server Job exceeded a memory resource limit (vmem, pvmem, etc.). Job was aborted See Administrator for help",
            "Job exceeded its walltime limit. Job was aborted",
        ],
        near_misses: &["Job exceeded its quota.", "the mail says Job exceeded its walltime limit. Job was aborted"],
    },
];
