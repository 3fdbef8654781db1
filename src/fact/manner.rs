//! The manner of an end: how, why, of what and by whose limit, in the words that claims are made of.

use crate::units::Signal;

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
    /// An emptyDir passed its sizeLimit; whether it is mounted at /dev/shm, where its mount or its name tells.
    Volume(Option<bool>),
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

/// A line of the table that torchrun prints of the failed ranks; the rows `exitcode` and `traceback` are [`What::Ended`](super::What::Ended).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// `Failures:`: the rows below are of ranks that failed later than the root cause.
    Others,
    /// `Root Cause (first observed failure):`: the rows below are of the rank that failed first, by whole seconds.
    Root,
    /// `host` or `rank`, told in [`Who`](super::Who): the rows up to the next of its kind are about it.
    Row,
}
