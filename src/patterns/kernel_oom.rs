//! The kernel's OOM report: who asked, whose limit was hit, who was chosen and who was killed (mm/oom_kill.c).
//!
//! Process names are free text of 15 bytes, so they may hold `)`, `,pid=1,uid=0` or ` total-vm:1`: the choice is read from
//! the right, the kill up to the last `) total-vm:`.

use super::{Caps, Pattern};
use crate::fact::{Claim, OomLine, What, Who, Witness};
use crate::units::Bytes;

/// From 2^53 kB on a limit is a machine word's worth of "unlimited" (9007199254740988, 9007199254740991, 18014398509481983).
const UNLIMITED_KIB: u64 = 9_007_199_254_000_000;

fn oom(line: OomLine, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Oom(line), who)]
}

fn victim(c: &Caps<'_>) -> Who {
    Who::host(c.num("pid"), c.text("comm"))
}

fn limit(c: &Caps<'_>) -> Option<Bytes> {
    c.num("limit").filter(|kib| *kib < UNLIMITED_KIB).map(Bytes::kib)
}

fn chosen(c: &Caps<'_>) -> Vec<Claim> {
    let Some(constraint) = c.text("constraint") else { return Vec::new() };
    let oom_memcg = c.text("limit").or_else(|| c.text("cut_limit"));
    let global = c.get("global").or_else(|| c.get("cut_global")).is_some();
    if c.get("pid").is_none() {
        return oom(OomLine::ChosenHead { constraint, oom_memcg, global }, Who::default());
    }
    oom(OomLine::Chosen { constraint, oom_memcg, global }, Who { cgroup: c.text("task"), ..victim(c) })
}

/// Memory cgroup or machine, where the line says so.
fn memcg(c: &Caps<'_>) -> Option<bool> {
    let text = c.line.text.as_ref();
    let memcg = text.starts_with("Memory cgroup out of memory");
    (memcg || text.starts_with("Out of memory") || text.starts_with("Out of Memory")).then_some(memcg)
}

fn killed(c: &Caps<'_>) -> Vec<Claim> {
    let pid = ["pid", "short_pid", "sharer_pid"].iter().find_map(|group| c.num(group));
    let comm = ["comm", "short_comm", "sharer"].iter().find_map(|group| c.text(group));
    let [total_vm, anon, file, shmem] = ["vm", "anon", "file", "shmem"].map(|group| c.kib(group));
    oom(OomLine::Killed { memcg: memcg(c), total_vm, anon, file, shmem }, Who::host(pid, comm))
}

/// The wordings of the kernel's OOM killer.
pub(super) const TABLE: &[Pattern] = &[
    // All versions; the fields between `gfp_mask` and `order` differ (`nodemask=` from 4.9 to 4.20, two blanks in 4.14).
    // `order=-1` is SysRq-f.
    Pattern {
        id: "kernel/oom-invoked",
        witness: Witness::Kernel,
        stems: &[" invoked oom-killer: "],
        regex: r"^(?<comm>.{1,64}) invoked oom-killer: gfp_?mask=0x[[:xdigit:]]+(?:\([^)]*\))?,.*?\border=(?<order>-?\d+)",
        read: |c| c.num("order").map_or_else(Vec::new, |order| oom(OomLine::Invoked { order }, Who::host(None, c.text("comm")))),
        samples: &[
            "pt_data_worker invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "java invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0",
            "tor invoked oom-killer: gfp_mask=0x24201ca(GFP_HIGHUSER_MOVABLE|__GFP_COLD), nodemask=0, order=0, oom_score_adj=0",
            "mysqld invoked oom-killer: gfp_mask=0x201da, order=0, oom_adj=0, oom_score_adj=0",
            "python invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), nodemask=(null),  order=0, oom_score_adj=0",
            "kworker/0:2 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0",
            "a,pid=1,uid=0 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
        ],
        near_misses: &[
            "systemd-oomd invoked oom-killer is a kernel line whose trigger happened to be oomd",
            "java: page allocation failure: order:0, mode:0x2084120(GFP_ATOMIC|__GFP_COLD|__GFP_COMP)",
        ],
    },
    // Linux 3.x to 5.0, memory cgroups only (mm/memcontrol.c).
    Pattern {
        id: "kernel/oom-task-in",
        witness: Witness::Kernel,
        stems: &[" killed as a result of limit of "],
        regex: r"^Task in (?<task>/.*?) killed as a result of limit of (?<limit>/.*?)\s*$",
        read: |c| match (c.text("task"), c.text("limit")) {
            (Some(task), Some(limit)) => {
                let who = Who { cgroup: Some(task.clone()), ..Who::default() };
                oom(OomLine::TaskIn { task, limit }, who)
            }
            _ => Vec::new(),
        },
        samples: &[
            "Task in /docker/be821ff2d4fa76ba26f5b87cb9ba9f16a61533f4fadb091077000db5a7f68324 killed as a result of limit of \
             /docker/be821ff2d4fa76ba26f5b87cb9ba9f16a61533f4fadb091077000db5a7f68324",
            "Task in /slurm/uid_1000/job_8156/step_batch killed as a result of limit of /slurm/uid_1000/job_8156",
        ],
        near_misses: &["Task in the queue was killed as a result of limit of 3 retries"],
    },
    // All versions, memory cgroups only. `swap` alone is cgroup v2 on Linux 5.3 and later.
    Pattern {
        id: "kernel/oom-usage",
        witness: Witness::Kernel,
        stems: &["kB, failcnt "],
        regex: r"^(?<kind>memory|memory\+swap|swap|kmem): usage (?<usage>\d+)kB, limit (?<limit>\d+)kB, failcnt \d+",
        read: |c| match (c.text("kind"), c.kib("usage")) {
            (Some(kind), Some(usage)) => oom(OomLine::Usage { kind, usage, limit: limit(c) }, Who::default()),
            _ => Vec::new(),
        },
        samples: &[
            "memory: usage 65536kB, limit 65536kB, failcnt 29",
            "memory+swap: usage 131072kB, limit 18014398509481983kB, failcnt 0",
            "swap: usage 0kB, limit 9007199254740988kB, failcnt 0",
            "kmem: usage 184kB, limit 9007199254740988kB, failcnt 0",
        ],
        near_misses: &["memory.failcnt: 63", "gpu memory: usage 1024kB, limit 2048kB, failcnt 0"],
    },
    // Linux 5.0 and later. printk cuts a record at about 1000 bytes, so the line may end after any of the paths; the rest
    // then stands in a record of its own.
    Pattern {
        id: "kernel/oom-chosen",
        witness: Witness::Kernel,
        stems: &["oom-kill:constraint="],
        regex: concat!(
            r"^oom-kill:constraint=(?<constraint>\w+),nodemask=.*?,cpuset=.*?,mems_allowed=[-\d,]*?(?:",
            r"(?:,oom_memcg=(?<limit>.*?)|(?<global>,global_oom))?,task_memcg=(?<task>.*?),task=(?<comm>.*),pid=(?<pid>\d+),uid=\d+\s*",
            r"|(?:,oom_memcg=(?<cut_limit>.*?),task_memcg=.*|,oom_memcg=.*|(?<cut_global>,global_oom).*)?)$"
        ),
        read: chosen,
        samples: &[
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/kubepods/burstable/pod0b1c2d3e,task_memcg=/kubepods/burstable/pod0b1c2d3e/3f1e2d4c,task=pt_data_worker,pid=10271,uid=0",
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/demo,task_memcg=/demo,task=a,pid=1,uid=0,pid=14649,uid=0",
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,3,global_oom,task_memcg=/system.slice/mysql.service,task=mysqld,pid=867,uid=84",
            "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/lvl1-aaaa/lvl2-bbbb,task_memcg=",
        ],
        near_misses: &[
            "/usr/bin/grep oom-kill:constraint=CONSTRAINT_MEMCG /var/log/kern.log",
            "oom-kill:constraint=<C>,nodemask=<list|(null)>",
        ],
    },
    // The second record of a `oom-kill:` line that printk split; it starts with a path or right at `,task=`.
    Pattern {
        id: "kernel/oom-chosen-tail",
        witness: Witness::Kernel,
        stems: &[",task="],
        regex: r"^(?:(?:/[^=]*)?,task_memcg=)?(?<task>/[^=]*)?,task=(?<comm>.*),pid=(?<pid>\d+),uid=\d+\s*$",
        read: |c| oom(OomLine::ChosenTail, Who { cgroup: c.text("task"), ..victim(c) }),
        samples: &["/lvl1-aaaa/lvl2-bbbb/lvl3-cccc,task=pt_data_worker,pid=14467,uid=0", ",task=pt_data_worker,pid=14467,uid=0"],
        near_misses: &[
            "oom_memcg=/demo,task_memcg=/demo,task=python,pid=14668,uid=0",
            "python train.py data=coco,task=detect,pid=1,uid=0",
        ],
    },
    // To Linux 5.0: an announcement. The process that is killed may be a child or thread of the one named here.
    Pattern {
        id: "kernel/oom-announced",
        witness: Witness::Kernel,
        stems: &[" or sacrifice child"],
        regex: r"^(?:Memory cgroup out of memory|Out of memory)(?: \([^)]*\))?: Kill process (?<pid>\d+)(?:, UID \d+,)? \((?<comm>.*)\) score \d+ or sacrifice child",
        read: |c| oom(OomLine::Announced { memcg: memcg(c) == Some(true) }, victim(c)),
        samples: &[
            "Memory cgroup out of memory: Kill process 32470 (java) score 1094 or sacrifice child",
            "Out of memory: Kill process 1439 (tor) score 532 or sacrifice child",
        ],
        near_misses: &["Kill process 32470 (java) score 1094 or sacrifice child: what does it mean?"],
    },
    // All versions. The prefix is missing to Linux 5.0, `shmem-rss` came with 4.5, `UID:` and `pgtables:` with 5.4; el6 puts
    // the UID before the name and el7 behind it. The last form is 2.6.9 to 2.6.32 and shortened pastes. Linux 3.10 kills
    // those who share the memory with a line of their own.
    Pattern {
        id: "kernel/oom-killed",
        witness: Witness::Kernel,
        stems: &["Killed process ", " sharing same memory"],
        regex: concat!(
            r"^(?:(?:(?:Memory cgroup out of memory|Out of memory)(?: \([^)]*\))?: )?Killed process (?<pid>\d+)(?:, UID \d+,)? \((?<comm>.*)\)",
            r"(?:, UID \d+,)? (?:total-vm|vsz):(?<vm>\d+)kB(?:, anon-rss:(?<anon>\d+)kB(?:, file-rss:(?<file>\d+)kB(?:, shmem-rss:(?<shmem>\d+)kB)?)?)?",
            r"|(?:Memory cgroup out of memory|Out of [Mm]emory): Killed process (?<short_pid>\d+) \((?<short_comm>.*)\)\.?$",
            r"|Kill process (?<sharer_pid>\d+) \((?<sharer>.*)\) sharing same memory$)"
        ),
        read: killed,
        samples: &[
            "Memory cgroup out of memory: Killed process 14467 (pt_data_worker) total-vm:63784kB, anon-rss:61184kB, file-rss:1112kB, shmem-rss:0kB, UID:0 pgtables:156kB oom_score_adj:0",
            "Memory cgroup out of memory: Killed process 14656 (x) total-vm:1) total-vm:43304kB, anon-rss:40704kB, file-rss:988kB, shmem-rss:0kB, UID:0 pgtables:124kB oom_score_adj:0",
            "Out of memory: Killed process 867 (mysqld) total-vm:985284kB, anon-rss:256872kB, file-rss:0kB, shmem-rss:0kB, UID:84 pgtables:664kB oom_score_adj:0",
            "Out of memory (oom_kill_allocating_task): Killed process 5 (python) total-vm:4kB, anon-rss:4kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0",
            "Killed process 32470 (java) total-vm:4793788kB, anon-rss:130880kB, file-rss:12364kB",
            "Killed process 16556 (mysqld) total-vm:16816660kB, anon-rss:4469476kB, file-rss:4kB, shmem-rss:0kB",
            "Killed process 4321, UID 48, (httpd) total-vm:412000kB, anon-rss:30000kB, file-rss:120kB",
            "Killed process 4321 (httpd), UID 48, total-vm:412000kB, anon-rss:30000kB, file-rss:120kB, shmem-rss:0kB",
            "Out of memory: Killed process 4321 (httpd).",
            "Out of Memory: Killed process 2368 (matlab).",
            "Kill process 4322 (httpd) sharing same memory",
        ],
        near_misses: &[
            "Killed process 12",
            "INFO: Killed process 1012 (worker) after timeout",
            "Memory cgroup out of memory: OOM victim 169 (rank0_main) is already exiting. Skip killing the task",
            "grep -c 'Killed process 14467 (pt_data_worker) total-vm:63784kB' dmesg.txt",
        ],
    },
    // Linux 4.19 and later, cgroup v2 (mm/memcontrol.c). The chosen victim is then logged a second time.
    Pattern {
        id: "kernel/oom-group",
        witness: Witness::Kernel,
        stems: &[" are going to be killed due to memory.oom.group set"],
        regex: r"^Tasks in (?<cgroup>/.*) are going to be killed due to memory\.oom\.group set",
        read: |c| oom(OomLine::Group, Who { cgroup: c.text("cgroup"), ..Who::default() }),
        samples: &["Tasks in /grp are going to be killed due to memory.oom.group set"],
        near_misses: &["tasks that are going to be killed due to memory.oom.group set by the kubelet"],
    },
    // Linux 5.10 and later: the victim was dying anyway, no kill.
    Pattern {
        id: "kernel/oom-skipped",
        witness: Witness::Kernel,
        stems: &[" is already exiting. Skip killing the task"],
        regex: r"OOM victim (?<pid>\d+) \((?<comm>.*)\) is already exiting\. Skip killing the task",
        read: |c| oom(OomLine::Skipped, victim(c)),
        samples: &["Memory cgroup out of memory: OOM victim 169 (rank0_main) is already exiting. Skip killing the task"],
        near_misses: &["worker is already exiting. Skip killing the task"],
    },
    // Linux 4.6 and later; absent when the victim exits first.
    Pattern {
        id: "kernel/oom-reaped",
        witness: Witness::Kernel,
        stems: &["oom_reaper: reaped process "],
        regex: r"^oom_reaper: reaped process (?<pid>\d+) \((?<comm>.*)\),? now anon-rss:\d+kB",
        read: |c| oom(OomLine::Reaped, victim(c)),
        samples: &["oom_reaper: reaped process 867 (mysqld), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB"],
        near_misses: &["oom_reaper: unable to reap pid:867 (mysqld)"],
    },
    // All versions: nobody could be killed; the machine panics.
    Pattern {
        id: "kernel/oom-no-victim",
        witness: Witness::Kernel,
        stems: &["Out of memory and no killable processes", "System is deadlocked on memory", " panic_on_oom is enabled"],
        regex: r"^(?:Kernel panic - not syncing: )?(?:Out of memory and no killable processes\.\.\.|System is deadlocked on memory|Out of memory: (?:compulsory|system-wide) panic_on_oom is enabled)",
        read: |_| oom(OomLine::NoVictim, Who::default()),
        samples: &[
            "Out of memory and no killable processes...",
            "Kernel panic - not syncing: System is deadlocked on memory",
            "Kernel panic - not syncing: Out of memory: system-wide panic_on_oom is enabled",
        ],
        near_misses: &["check whether panic_on_oom is enabled"],
    },
    // lib/ratelimit.c: printed at the next event after the interval, perhaps never. Also printk's own dropped records.
    Pattern {
        id: "kernel/suppressed",
        witness: Witness::Kernel,
        stems: &[" callbacks suppressed", " printk messages dropped "],
        regex: r"^(?:\w+: (?<count>\d+) callbacks suppressed|\*\* (?<dropped>\d+) printk messages dropped \*\*)",
        read: |c| vec![Claim::bare(What::Suppressed { count: c.num("count").or_else(|| c.num("dropped")) })],
        samples: &[
            "oom_kill_process: 6 callbacks suppressed",
            "show_signal_msg: 24 callbacks suppressed",
            "** 214 printk messages dropped **",
        ],
        near_misses: &["trainer: some callbacks suppressed"],
    },
];
