//! The kernel's report of an OOM kill as one value.

use crate::fact::Fact;
use crate::time::Stamp;
use crate::units::{Bytes, HostPid};

/// The kernel's report of one OOM kill, put together from its lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OomReport {
    /// Who asked for the memory; not the victim.
    pub trigger: Option<String>,
    /// Memory cgroup (true), whole machine (false), or not told.
    pub memcg: Option<bool>,
    /// The kernel's word for the constraint.
    pub constraint: Option<String>,
    /// The cgroup whose limit was hit.
    pub limit_cgroup: Option<String>,
    /// The victim's cgroup.
    pub victim_cgroup: Option<String>,
    /// The limit.
    pub limit: Option<Bytes>,
    /// What was in use under the limit, or the machine's usable memory in a global report.
    pub usage: Option<Bytes>,
    /// Anonymous memory under the limit (of the whole machine in a global report).
    pub anon: Option<Bytes>,
    /// Shared memory and tmpfs under the limit (of the whole machine in a global report).
    pub shmem: Option<Bytes>,
    /// Page cache under the limit, without shared memory.
    pub cache: Option<Bytes>,
    /// Anonymous and shared memory are one process's and no whole: the report has no statistics.
    pub of_victim: bool,
    /// The processes that were killed; one, unless `memory.oom.group` is set.
    pub victims: Vec<Victim>,
    /// The task table.
    pub tasks: Vec<Task>,
    /// The line of the kill is missing; the victim is known from the line that names the choice.
    pub kill_line_lost: bool,
    /// The lines stand in a program's log: somebody may have pasted or quoted them.
    pub quoted: bool,
    /// `memory.oom.group` was set.
    pub group: bool,
    /// SysRq-f asked for the kill (`order=-1`).
    pub sysrq: bool,
    /// When, by the log's clock.
    pub when: Option<Stamp>,
    /// When, since boot.
    pub boot: Option<Stamp>,
    /// The lines that carry the report: header, limit, statistics, choice, kills.
    pub facts: Vec<Fact>,
}

/// A process that the kernel killed for memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Victim {
    /// Its pid on the host.
    pub pid: HostPid,
    /// Its name, at most 15 bytes.
    pub process: String,
    /// Anonymous memory it held.
    pub anon: Option<Bytes>,
    /// Shared memory it had mapped; 0 does not mean that it wrote none.
    pub shmem: Option<Bytes>,
    /// The line that says so.
    pub fact: Fact,
}

/// A row of the kernel's task table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// The process's pid on the host.
    pub pid: HostPid,
    /// Its name, at most 15 bytes.
    pub process: String,
    /// Resident memory. The kernel counts pages; their size is learned from the victim's row, else 4 KiB.
    pub rss: Bytes,
}
