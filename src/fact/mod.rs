//! Facts: single claims, each with what, about whom, when, where it was read and on whose word.
//!
//! A fact says what a text says and never what follows from it: "the kernel killed pid 71234 in this cgroup" is a fact,
//! "this is an out-of-memory death" is a verdict.

mod container;
mod oom_line;
mod setting;
mod who;

pub use container::{Container, ContainerEvent, Engine, Limit, Reason, Shm, Status};
pub use oom_line::OomLine;
pub use setting::Setting;
pub use who::{Role, Who};

use crate::place::Place;
use crate::time::Stamp;
use crate::units::{Bytes, Signal};

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
    /// The machine booted here: what stands above is of an earlier run of it.
    Boot,
    /// The process that was running when the kernel wrote: whose fault it is, or the trigger of an OOM report.
    Current,
    /// The kernel or a log daemon dropped lines here.
    Suppressed {
        /// How many.
        count: Option<u64>,
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
    /// A program says that it makes or fills a file in /dev/shm.
    ShmUse,
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
