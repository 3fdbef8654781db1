//! Causes and classes. The class follows from the cause, so they cannot disagree.

/// The four answers that the tool gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// /dev/shm was full.
    ShmExhaustion,
    /// A process was killed for memory.
    OomKill,
    /// Something else, or not enough evidence.
    Unknown,
    /// Nothing died.
    None,
}

impl Class {
    /// The public slug.
    pub fn slug(self) -> &'static str {
        match self {
            Self::ShmExhaustion => "shm-exhaustion",
            Self::OomKill => "oom-kill",
            Self::Unknown => "unknown",
            Self::None => "none",
        }
    }

    /// The words on the screen.
    pub fn title(self) -> &'static str {
        match self {
            Self::ShmExhaustion => "SIGBUS shm exhaustion",
            Self::OomKill => "SIGKILL OOM",
            Self::Unknown => "unknown",
            Self::None => "nothing died",
        }
    }

    /// The exit code under `--exit-code`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::ShmExhaustion => 10,
            Self::OomKill => 11,
            Self::Unknown => 12,
            Self::None => 0,
        }
    }
}

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident $slug:literal $class:ident $text:literal)*) => {
        /// Why a process died. Slugs are public and never renamed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Cause { $($(#[$doc])* $name),* }

        impl Cause {
            /// All causes, in the order of the contract.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The public slug.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),* }
            }

            /// The class that the cause belongs to.
            pub fn class(self) -> Class {
                match self { $(Self::$name => Class::$class),* }
            }

            /// The page that `coroner explain` prints.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("explain/", $slug, ".md"))),* }
            }

            /// One line for lists.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

causes! {
    /// A process got SIGBUS on a full /dev/shm.
    ShmSigbus "shm-sigbus" ShmExhaustion "a process got SIGBUS on a full /dev/shm"
    /// The same fullness reported as an error.
    ShmEnospc "shm-enospc" ShmExhaustion "a full /dev/shm was reported as an error; the process may live on and hang"
    /// A memory emptyDir at /dev/shm passed its sizeLimit.
    ShmEviction "shm-eviction" ShmExhaustion "a memory-backed volume at /dev/shm passed its sizeLimit"
    /// SIGBUS of a training process, nothing for or against a full /dev/shm.
    ShmSuspected "shm-suspected" ShmExhaustion "SIGBUS of a training process, nothing for or against a full /dev/shm"
    /// The memory limit of a container, pod, job or unit.
    OomCgroup "oom-cgroup" OomKill "the memory limit of a container, pod, job or unit was reached"
    /// The whole machine ran out of memory.
    OomHost "oom-host" OomKill "the whole machine ran out of memory"
    /// A memory cgroup filled mostly by shared memory.
    OomShmCharged "oom-shm-charged" OomKill "a memory limit was filled mostly by shared memory"
    /// The kubelet evicted the pod for node memory pressure.
    OomEviction "oom-eviction" OomKill "the kubelet evicted the pod because the node was low on memory"
    /// A user-space daemon or policy killed the process for memory.
    OomUserspace "oom-userspace" OomKill "a daemon or scheduler in user space killed the process for memory"
    /// SIGKILL of a training process, nothing for or against.
    OomSuspected "oom-suspected" OomKill "SIGKILL of a training process, nothing for or against a lack of memory"
    /// SIGKILL with a named sender.
    SigkillExternal "sigkill-external" Unknown "SIGKILL from a named sender"
    /// SIGKILL, said to be no OOM, without a sender.
    SigkillUnexplained "sigkill-unexplained" Unknown "SIGKILL that was no out-of-memory kill as far as is known; the sender is not named"
    /// A scheduler or cloud took the machine back.
    Preempted "preempted" Unknown "a scheduler or cloud took the machine back"
    /// The job's time was over.
    TimeLimit "time-limit" Unknown "the job's time was over"
    /// SIGTERM.
    Sigterm "sigterm" Unknown "SIGTERM: somebody asked the process to end"
    /// SIGINT or SIGHUP.
    Interrupted "interrupted" Unknown "SIGINT or SIGHUP: interrupted from outside"
    /// SIGSEGV.
    Segfault "segfault" Unknown "a crash in native code (SIGSEGV)"
    /// SIGABRT.
    Abort "abort" Unknown "the program aborted itself (SIGABRT)"
    /// SIGBUS for another reason than /dev/shm.
    SigbusOther "sigbus-other" Unknown "SIGBUS for another reason than a full /dev/shm"
    /// Faulty memory hardware.
    HwMemoryError "hw-memory-error" Unknown "a fault in memory hardware"
    /// Out of file descriptors.
    FdLimit "fd-limit" Unknown "out of file descriptors"
    /// A disk was full.
    DiskFull "disk-full" Unknown "a disk was full"
    /// Out of accelerator memory.
    CudaOom "cuda-oom" Unknown "out of accelerator memory"
    /// A GPU or its driver failed.
    GpuFault "gpu-fault" Unknown "a GPU or its driver failed"
    /// An allocation of host memory was refused.
    MemoryError "memory-error" Unknown "an allocation of host memory was refused: an exception, not a kill"
    /// A Python exception.
    PythonException "python-exception" Unknown "a Python exception"
    /// NCCL failed.
    Nccl "nccl" Unknown "NCCL failed"
    /// Something waited in vain.
    Timeout "timeout" Unknown "something waited in vain: a hang"
    /// A process is gone, without further evidence.
    ExitedUnexpectedly "exited-unexpectedly" Unknown "a process is gone, without further evidence"
    /// The surroundings failed.
    Infrastructure "infrastructure" Unknown "the surroundings failed: runner lost, image not pulled"
    /// Anything else.
    Other "other" Unknown "anything else"
    /// Nothing died.
    Clean "clean" None "nothing died"
}

impl Cause {
    /// The cause with this slug.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.slug() == slug)
    }
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// Nothing speaks against it, and little for it.
    Suspected,
    /// Good evidence, short of proof.
    Likely,
    /// The kernel, the runtime or the failing call itself says so.
    Proven,
}

impl Grade {
    /// The public slug, which is also the word on the screen.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Likely => "likely",
            Self::Proven => "proven",
        }
    }
}
