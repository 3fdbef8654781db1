//! Facts: single claims, each with what, about whom, when, where it was read and on whose word.
//!
//! A fact says what a text says and never what follows from it: "the kernel killed pid 71234 in this cgroup" is a fact,
//! "this is an out-of-memory death" is a verdict.

mod ceiling;
mod container;
mod manner;
mod oom_line;
mod setting;
mod who;

pub use ceiling::Ceiling;
pub use container::{Container, ContainerEvent, Engine, Limit, Reason, Shm, Status};
pub use manner::{EvictedFor, How, Opening, Poison, Resource, Scope, Table, Why};
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
    /// The machine's own clock with its zone, as a script prints it.
    Clock {
        /// The moment.
        at: Stamp,
        /// How far the local time is ahead of UTC, in seconds.
        offset: i32,
    },
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
    /// A limit that the kernel keeps.
    Ceiling {
        /// On what.
        of: Ceiling,
        /// Its value; nothing for no limit.
        value: Option<u64>,
    },
    /// What the memory of a cgroup was made of when somebody looked.
    Filled {
        /// Shared memory and tmpfs.
        shmem: Bytes,
        /// Memory of processes alone.
        anon: Bytes,
        /// The limit, where it was told beside.
        limit: Option<Bytes>,
    },
    /// A cgroup's counter of processes that were killed for memory stood at zero when somebody looked.
    NoneKilled,
    /// A size for /dev/shm that a command line asks for (`docker run --shm-size=…`).
    ShmOption(Shm),
    /// A program says that it makes or fills a file in /dev/shm.
    ShmUse,
    /// A program found less room in /dev/shm than it wanted, and went on.
    ShmShort,
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
