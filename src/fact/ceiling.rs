//! The ceilings that the kernel keeps for a process or for shared memory of System V.

/// What a ceiling is on. Sizes are in bytes, the others are counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ceiling {
    /// Open files of a process (`ulimit -n`, RLIMIT_NOFILE).
    OpenFiles,
    /// Processes and threads of a user (`ulimit -u`, RLIMIT_NPROC).
    Processes,
    /// Address space of a process (`ulimit -v`, RLIMIT_AS).
    AddressSpace,
    /// Private writable memory of a process (`ulimit -d`, RLIMIT_DATA; mappings count since Linux 4.7).
    Data,
    /// Locked memory of a process (`ulimit -l`, RLIMIT_MEMLOCK).
    LockedMemory,
    /// The size of a core dump (`ulimit -c`, RLIMIT_CORE).
    CoreDump,
    /// The size of one segment of System V shared memory (`kernel.shmmax`).
    Segment,
    /// All System V shared memory together (`kernel.shmall`).
    AllSegments,
    /// The number of System V segments (`kernel.shmmni`).
    Segments,
}
