//! Facts: single claims, each with what, about whom, when, where it was read and on whose word.
//!
//! A fact says what a text says and never what follows from it: "the kernel killed pid 71234 in this cgroup" is a fact,
//! "this is an out-of-memory death" is a verdict.

use crate::place::Place;
use crate::time::Stamp;
use crate::units::{Bytes, HostPid, OwnPid, Signal};

/// Who speaks. Later variants are worth more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Witness {
    /// A number that only arithmetic turns into a signal (137 is 128 + 9): nobody's testimony.
    Arithmetic,
    /// The job's own programs.
    Program,
    /// A launcher, scheduler, service manager or memory daemon.
    Supervisor,
    /// A container runtime or orchestrator.
    Runtime,
    /// A measurement of this tool on the machine itself.
    Probe,
    /// The kernel.
    Kernel,
}

impl Witness {
    /// The word that the reports show.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Program => "program",
            Self::Supervisor => "supervisor",
            Self::Runtime => "runtime",
            Self::Probe => "probe",
            Self::Kernel => "kernel",
        }
    }
}

/// What a process is to the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Not told.
    #[default]
    Unknown,
    /// A DataLoader or pool worker.
    Worker,
    /// A training rank, or the only training process.
    Rank,
    /// torchrun's agent, mpirun, DeepSpeed's launcher and the like.
    Launcher,
    /// The main process of a container.
    Main,
    /// A serving engine or an actor of a framework.
    Engine,
    /// The main process of a systemd unit.
    Unit,
    /// A whole job or job step.
    Job,
}

/// Whom a claim is about. Every field may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// What the process is to the job.
    pub role: Role,
    /// The process id in the initial pid namespace.
    pub host_pid: Option<HostPid>,
    /// The process id in the process's own namespace.
    pub own_pid: Option<OwnPid>,
    /// The program's or thread's name (`comm` in kernel logs, at most 15 bytes there).
    pub process: Option<String>,
    /// A DataLoader worker's index (0 …), not a pid.
    pub worker: Option<u32>,
    /// The global rank.
    pub rank: Option<u32>,
    /// A container's id, whole (64 hex digits) or its beginning.
    pub container: Option<String>,
    /// A container's name.
    pub container_name: Option<String>,
    /// A pod's name.
    pub pod: Option<String>,
    /// A pod's uid, with dashes.
    pub pod_uid: Option<String>,
    /// A Kubernetes namespace.
    pub namespace: Option<String>,
    /// A cgroup path.
    pub cgroup: Option<String>,
    /// A systemd unit.
    pub unit: Option<String>,
    /// A batch job's id.
    pub job: Option<String>,
    /// The machine.
    pub host: Option<String>,
}

impl Who {
    /// A process in a role.
    pub fn role(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    /// A process by the pid that its own namespace gives it.
    pub fn own(role: Role, pid: Option<u32>) -> Self {
        Self { role, own_pid: pid.map(OwnPid), ..Self::default() }
    }

    /// A process by the pid that the kernel gives it.
    pub fn host(pid: Option<u32>, process: Option<String>) -> Self {
        Self { host_pid: pid.map(HostPid), process, ..Self::default() }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// By a signal.
    Signal(Signal),
    /// By itself, with an exit code.
    Code(i64),
    /// It is gone; the speaker does not know how.
    Vanished,
}

impl How {
    /// The end that a parent process tells as one number, as Python's `returncode` does: `-n` for signal `n`.
    pub fn of_returncode(code: i64) -> Self {
        match u8::try_from(code.unsigned_abs()) {
            Ok(n) if (-64..0).contains(&code) => Self::Signal(Signal(n)),
            _ => Self::Code(code),
        }
    }
}

/// What was refused to a program that lived to say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Room in /dev/shm (POSIX shared memory or semaphores).
    Shm,
    /// Inodes of the tmpfs at /dev/shm.
    ShmInodes,
    /// Shared memory for a reason other than space: a missing name, no permission, a read-only mount.
    ShmOther,
    /// Room on another file system.
    Disk,
    /// File descriptors.
    Descriptors,
    /// Host memory: `MemoryError`, ENOMEM, an allocator's refusal.
    HostMemory,
    /// Memory mappings (`vm.max_map_count`, `RLIMIT_AS`).
    Maps,
    /// Memory of an accelerator.
    GpuMemory,
    /// Threads or processes.
    Threads,
}

/// Why a named sender stopped a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// A launcher ended the others after one had died.
    Cleanup,
    /// The process did not end within the grace period of a stop.
    StopTimeout,
    /// Somebody asked for the stop or the kill (docker kill, systemctl stop, scancel, kubectl delete).
    Request,
    /// The job's time was over.
    TimeLimit,
    /// A scheduler or cloud took the machine back.
    Preemption,
    /// A liveness or start-up probe failed.
    Probe,
    /// A watchdog found the program hanging.
    Watchdog,
    /// The node or engine shut down.
    Shutdown,
    /// A user-space daemon or policy freed memory (earlyoom, systemd-oomd, Ray's monitor, Slurm's gatherer).
    Memory,
    /// A wrapper's own time-out (`timeout -k`).
    Timeout,
}

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

/// What the kernel said about faulty memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Poison {
    /// SIGBUS was sent to the process.
    Bus,
    /// The process was killed with SIGKILL.
    Kill,
    /// A page was handled; it may have hurt nobody.
    Page,
    /// The machine reported an uncorrected error.
    Uncorrected,
    /// The machine reported a corrected error: harmless.
    Corrected,
}

/// Which program runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// Kubernetes, whatever runs below it.
    Kubernetes,
    /// Amazon ECS.
    Ecs,
}

/// What an exit record says of a container's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Created, never started.
    Created,
    /// Running now.
    Running,
    /// Waiting to be started again.
    Restarting,
    /// Ended.
    Exited,
    /// Not told.
    Unknown,
}

/// The reason that an orchestrator gives for a container's end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// `OOMKilled`: some process in the container was killed for memory.
    OomKilled,
    /// `Error`: a non-zero exit code.
    Error,
    /// `Completed`.
    Completed,
    /// `ContainerStatusUnknown`: the exit code 137 beside it is made up (kubelet).
    StatusUnknown,
    /// `StartError`, `RunContainerError`, `ContainerCannotRun`, `ImagePullBackOff`, …: it never ran.
    NotStarted,
    /// Any other word.
    Other(String),
}

/// What is mounted at a container's /dev/shm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shm {
    /// Not told.
    #[default]
    Unknown,
    /// A tmpfs of this size, chosen by somebody.
    Sized(Bytes),
    /// The engine's default size, as nobody chose one.
    Default(Bytes),
    /// The host's /dev/shm (`--ipc=host`, `hostIPC`, a bind mount).
    Host,
    /// A memory-backed volume without a size of its own: as large as the memory limit.
    Unsized,
    /// No /dev/shm of its own (`--ipc=none`, another container's).
    Elsewhere,
}

/// One container as an exit record describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Who runs it.
    pub engine: Engine,
    /// Its state.
    pub status: Status,
    /// The last exit code; `128 + n` for a signal.
    pub exit_code: Option<i64>,
    /// The runtime's flag: a process in the container was killed for memory since it was last started.
    pub oom_killed: Option<bool>,
    /// The orchestrator's reason.
    pub reason: Option<Reason>,
    /// When the described run started.
    pub started: Option<Stamp>,
    /// When the described run ended.
    pub finished: Option<Stamp>,
    /// How often it was started again.
    pub restarts: Option<u64>,
    /// Whether this is an earlier run (Kubernetes' `lastState`).
    pub previous: bool,
    /// The memory limit; `None` where the record does not tell.
    pub memory: Option<Limit>,
    /// What is at /dev/shm.
    pub shm: Shm,
    /// Whether a parent cgroup was set, so that a limit may sit above.
    pub parent_cgroup: bool,
    /// The OOM killer was switched off for it (`--oom-kill-disable`, cgroup v1): processes hang at the limit instead.
    pub oom_kill_disabled: bool,
    /// The image.
    pub image: Option<String>,
    /// The container runs before the main ones (`initContainers`).
    pub init: bool,
}

impl Container {
    /// A container of which nothing is known yet.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            status: Status::Unknown,
            exit_code: None,
            oom_killed: None,
            reason: None,
            started: None,
            finished: None,
            restarts: None,
            previous: false,
            memory: None,
            shm: Shm::Unknown,
            parent_cgroup: false,
            oom_kill_disabled: false,
            image: None,
            init: false,
        }
    }
}

/// A memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// None was set.
    Unlimited,
    /// This many bytes.
    Bytes(Bytes),
}

/// What happened to a container, as an engine's event log tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerEvent {
    /// It was started.
    Started,
    /// A process in it was killed for memory.
    Oom,
    /// The engine sent it a signal.
    Kill(Signal),
    /// It was stopped on request.
    Stopped,
    /// Its main process ended.
    Died(Option<i64>),
    /// A process started by `exec` ended; not the container.
    ExecDied(Option<i64>),
}

/// For what a pod was evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvictedFor {
    /// The node was low on memory.
    Memory,
    /// The node was low on disk, inodes or pids, or the pod used too much ephemeral storage.
    Disk,
    /// A memory-backed emptyDir passed its sizeLimit; `true` where it is mounted at /dev/shm or its name says so.
    Volume(bool),
    /// A pod of higher priority, a taint, a drain or the API asked for it.
    Preemption,
    /// The node shut down.
    Shutdown,
    /// The record does not tell.
    Unknown,
}

/// A number in the log that the sizing formula needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// `num_workers`.
    Workers,
    /// `prefetch_factor`.
    Prefetch,
    /// Samples in a batch of one loader.
    BatchSize,
    /// Processes in the whole job.
    WorldSize,
    /// Processes on one machine.
    RanksPerNode,
    /// `pin_memory`, 0 or 1.
    PinMemory,
    /// `persistent_workers`, 0 or 1.
    PersistentWorkers,
    /// Epochs.
    Epochs,
}

impl Setting {
    /// The name that reports and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Prefetch => "prefetch",
            Self::BatchSize => "batch_size",
            Self::WorldSize => "world_size",
            Self::RanksPerNode => "ranks_per_node",
            Self::PinMemory => "pin_memory",
            Self::PersistentWorkers => "persistent_workers",
            Self::Epochs => "epochs",
        }
    }
}

/// Who reports an OOM kill without being the kernel, and how far it reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// A memory cgroup: container, job, unit.
    Cgroup,
    /// The machine.
    Host,
    /// Not told.
    Unknown,
}

/// What kind of line opens or joins Python tracebacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opening {
    /// `Traceback (most recent call last):`, rich's frame included.
    Plain,
    /// `Original Traceback (most recent call last):`: quoted from a worker.
    Original,
    /// `Exception in thread …` or `Process …:` above a traceback.
    Heading,
    /// `Exception ignored in: …`: the program goes on.
    Ignored,
}

/// A line of the table that torchrun prints of the failed ranks; the rows `exitcode` and `traceback` are [`What::Ended`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// `Failures:`: the rows below are of ranks that failed later than the root cause.
    Others,
    /// `Root Cause (first observed failure):`: the rows below are of the rank that failed first, by whole seconds.
    Root,
    /// `host` or `rank`, told in [`Who`]: the rows up to the next of its kind are about it.
    Row,
}

/// What a fact claims.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A process ended.
    Ended {
        /// By a signal, with a code, or unknown.
        how: How,
        /// The message adds a guess at the reason (PyTorch's shared-memory hint, Ray's and loky's lists): no evidence.
        hint: bool,
    },
    /// A process says that it received a deadly signal (PyTorch's handler, faulthandler, glog): it names no pid or its own.
    Caught {
        /// The signal.
        signal: Signal,
        /// The message adds a guess at the reason.
        hint: bool,
    },
    /// A call failed for want of something, and the program lived to say so.
    Refused {
        /// What was lacking.
        resource: Resource,
        /// The error number that was printed, which PyTorch 2.10 and 2.11 get wrong.
        errno: Option<u32>,
        /// How much was asked for.
        bytes: Option<Bytes>,
        /// The program or library that speaks, as `PyTorch`, `NCCL`.
        by: &'static str,
    },
    /// A Python traceback, or a heading above one, starts here.
    Traceback(Opening),
    /// A frame of a Python traceback.
    Frame {
        /// The source file.
        file: String,
        /// The line in it; 0 where it is not told (IPython prints it apart).
        line: u32,
        /// The function, absent in rich's short form.
        function: Option<String>,
    },
    /// The last line of a traceback: type and message.
    Raised {
        /// The exception's type with its module.
        kind: String,
        /// The message.
        message: String,
    },
    /// A line of torchrun's table of failed ranks.
    Elastic(Table),
    /// `The above exception was the direct cause …` or `During handling …`.
    Chained,
    /// A named sender stopped a process or a job.
    Stopped {
        /// The sender, as `torchrun`, `docker`, `systemd`, `Slurm`.
        by: &'static str,
        /// Why.
        why: Why,
        /// With which signal, where that is told.
        signal: Option<Signal>,
    },
    /// A line of a kernel OOM report.
    Oom(OomLine),
    /// Somebody other than the kernel reports that a process was killed for memory by the kernel.
    OomReported {
        /// The speaker, as `systemd`, `Slurm`, `kubelet`, `containerd`.
        by: &'static str,
        /// How far.
        scope: Scope,
    },
    /// The kernel killed or warned a process for a fault in memory hardware.
    Hardware(Poison),
    /// The kernel logged a fault that ends a process: segfault, trap, fatal signal.
    Trapped {
        /// The signal that follows from the fault.
        signal: Signal,
        /// The fault in the kernel's words, as `general protection fault`.
        fault: String,
    },
    /// The kernel or a log daemon dropped lines here.
    Suppressed {
        /// How many.
        count: Option<u64>,
        /// Whether OOM reports are among them.
        oom: bool,
    },
    /// An exit record of a container.
    Container(Box<Container>),
    /// An event of a container.
    Event(ContainerEvent),
    /// A pod was evicted.
    Evicted(EvictedFor),
    /// A number that sizing needs.
    Setting {
        /// Which.
        setting: Setting,
        /// Its value.
        value: u64,
    },
    /// The version of a program.
    Version {
        /// `torch`, `nccl`, `linux`, …
        program: &'static str,
        /// Major number.
        major: u32,
        /// Minor number.
        minor: u32,
    },
    /// A file system's fill, as `df` prints it.
    Filesystem {
        /// Where it is mounted.
        mount: String,
        /// Its size.
        size: Bytes,
        /// What is used.
        used: Bytes,
    },
    /// The machine's memory, as `free` or a banner prints it.
    Memory {
        /// All of it.
        total: Bytes,
        /// What was still to be had.
        available: Option<Bytes>,
    },
    /// A size for /dev/shm that a command line asks for (`docker run --shm-size=…`).
    ShmOption(Shm),
    /// A memory limit that a command line asks for.
    MemoryOption(Bytes),
    /// The program or its wrapper says that it came to its end in good order.
    Finished,
    /// Something waited in vain: a DataLoader time-out, NCCL's watchdog, a hang.
    TimedOut {
        /// Seconds waited, where told.
        seconds: Option<u64>,
    },
    /// A fault of a GPU or its driver (Xid, illegal access, device lost).
    Gpu {
        /// NVIDIA's Xid number, where told.
        xid: Option<u32>,
    },
    /// A collective communication failed because a peer was gone or the network was.
    PeerLost,
    /// A NCCL error that is neither a lack of space nor a lost peer.
    Nccl,
    /// The job's surroundings failed: runner lost, image not pulled, node gone.
    Infrastructure,
}

/// A claim before it has a place: what a pattern or a record reader makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is claimed.
    pub what: What,
    /// About whom.
    pub who: Who,
}

impl Claim {
    /// A claim about somebody.
    pub fn new(what: What, who: Who) -> Self {
        Self { what, who }
    }

    /// A claim about nobody in particular.
    pub fn bare(what: What) -> Self {
        Self { what, who: Who::default() }
    }
}

/// One claim with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// What is claimed.
    pub what: What,
    /// About whom.
    pub who: Who,
    /// When, by the speaker's clock.
    pub when: Option<Stamp>,
    /// The last moment that a line above told, where this one tells none: the event came then or later.
    pub since: Option<Stamp>,
    /// A second clock for the same moment: seconds since boot beside a journal's wall clock.
    pub boot: Option<Stamp>,
    /// Where it was read.
    pub place: Place,
    /// The text that says so, without its envelope, unescaped.
    pub text: String,
    /// On whose word.
    pub witness: Witness,
    /// The pattern or format that read it.
    pub id: &'static str,
}
