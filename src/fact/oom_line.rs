//! The lines of the kernel's OOM report.

use crate::units::Bytes;

/// One line of the kernel's report of an OOM kill; reports are put together in `death::oom_block`.
#[derive(Clone, Debug, PartialEq)]
pub enum OomLine {
    /// `<comm> invoked oom-killer`: the trigger, not the victim. `order` -1 is SysRq-f.
    Invoked {
        /// The allocation's order.
        order: i64,
    },
    /// `Task in <task> killed as a result of limit of <limit>` (3.x to 5.0).
    TaskIn {
        /// The victim's cgroup.
        task: String,
        /// The cgroup whose limit was hit.
        limit: String,
    },
    /// `memory: usage …, limit …, failcnt …` and its swap and kmem sisters.
    Usage {
        /// `memory`, `memory+swap`, `swap` or `kmem`.
        kind: String,
        /// What was in use.
        usage: Bytes,
        /// The limit; absent where the number means "unlimited".
        limit: Option<Bytes>,
    },
    /// The statistics of one cgroup: all pairs on one line (to 5.2), or just the heading (5.3 and later).
    StatsFor {
        /// The cgroup.
        path: String,
        /// Key and bytes.
        pairs: Vec<(String, Bytes)>,
    },
    /// One `key bytes` line of the statistics (5.3 and later).
    Stat {
        /// The key, as `shmem` or `total_rss`.
        key: String,
        /// The value in bytes.
        value: Bytes,
    },
    /// The head of the task table; the columns differ by version.
    TableHead {
        /// Column names after `pid`, in order.
        columns: Vec<String>,
    },
    /// A row of the task table; sizes are in pages except `pgtables_bytes`.
    TableRow {
        /// The numbers, `pid` first.
        values: Vec<i64>,
    },
    /// `oom-kill:constraint=…` (5.0 and later): the victim and the cgroups.
    Chosen {
        /// `CONSTRAINT_MEMCG`, `CONSTRAINT_NONE`, …
        constraint: String,
        /// The cgroup whose limit was hit, if one was.
        oom_memcg: Option<String>,
        /// Whether the whole machine was out of memory.
        global: bool,
    },
    /// `oom-kill:constraint=…` cut off before the victim by printk's record limit.
    ChosenHead {
        /// `CONSTRAINT_MEMCG`, …
        constraint: String,
        /// The cgroup whose limit was hit, if one was.
        oom_memcg: Option<String>,
        /// Whether the whole machine was out of memory.
        global: bool,
    },
    /// The second record of a split `oom-kill:` line: it starts in the middle and holds the victim.
    ChosenTail,
    /// `Kill process … or sacrifice child` (to 5.0): an announcement, not the kill.
    Announced {
        /// Memory cgroup (true), machine (false).
        memcg: bool,
    },
    /// `Killed process …`: the kill itself.
    Killed {
        /// Memory cgroup (`Some(true)`), machine (`Some(false)`), or not said on this line (to 5.0).
        memcg: Option<bool>,
        /// Virtual size.
        total_vm: Option<Bytes>,
        /// Anonymous resident memory.
        anon: Option<Bytes>,
        /// File-backed resident memory; before 4.5 shared memory is in it.
        file: Option<Bytes>,
        /// Shared memory mapped by the victim; absent before 4.5.
        shmem: Option<Bytes>,
    },
    /// `Tasks in <cgroup> are going to be killed due to memory.oom.group set`.
    Group,
    /// `OOM victim … is already exiting. Skip killing the task`.
    Skipped,
    /// `oom_reaper: reaped process …`.
    Reaped,
    /// Out of memory without a process to kill.
    NoVictim,
    /// A counter of the Mem-Info block (global OOM).
    MemInfo {
        /// `shmem`, `pages RAM`, `pages reserved`, `Free swap`, …
        key: String,
        /// Pages, or KiB where `kib`.
        value: u64,
        /// Whether the value is in KiB instead of pages.
        kib: bool,
    },
    /// A function of the trigger's kernel stack that tells tmpfs (`shmem_fault`) from anonymous memory (`do_anonymous_page`).
    Stack {
        /// The function.
        function: String,
    },
}
