//! Steps: what can be done, without a platform, and which causes ask for which.

use crate::verdict::Cause;

macro_rules! steps {
    ($($(#[$doc:meta])* $name:ident $slug:literal)*) => {
        /// Something to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Step { $($(#[$doc])* $name),* }

        impl Step {
            /// All steps.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The public slug.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),* }
            }
        }
    };
}

steps! {
    /// Make /dev/shm larger.
    RaiseShm "raise-shm"
    /// Use the host's /dev/shm.
    ShareHostShm "share-host-shm"
    /// Raise the memory limit.
    RaiseMemory "raise-memory-limit"
    /// Raise the memory limit and keep /dev/shm inside of it.
    RaiseBoth "raise-memory-and-shm"
    /// Reserve memory, so that the machine is not overcommitted.
    ReserveMemory "reserve-memory"
    /// Tune or satisfy the daemon that kills for memory.
    TuneDaemon "tune-memory-daemon"
    /// Fewer or smaller batches in shared memory at once.
    FewerInFlight "fewer-batches-in-flight"
    /// Fewer workers, and less memory in each.
    FewerWorkers "fewer-workers"
    /// Clone views before they are sent.
    CloneViews "clone-views"
    /// Another sharing strategy.
    SharingStrategy "sharing-strategy"
    /// Remove what dead processes left in /dev/shm.
    FreeShm "free-shm"
    /// Allow more open files.
    RaiseDescriptors "raise-descriptors"
    /// Free the disk.
    FreeDisk "free-disk"
    /// Look at the file that was mapped.
    CheckFile "check-mapped-file"
    /// Test the memory hardware.
    CheckHardware "check-hardware"
    /// Look at the GPU and its driver.
    CheckGpu "check-gpu"
    /// Use less accelerator memory.
    LessGpuMemory "less-gpu-memory"
    /// Get the evidence that is lacking.
    CollectEvidence "collect-evidence"
    /// Ask the sender of the signal.
    LookAtSender "look-at-sender"
    /// Give more time, or ask for less.
    RaiseTime "raise-time-limit"
    /// Save and resume.
    Checkpoint "checkpoint"
    /// Mend what the exception says.
    FixException "fix-exception"
    /// Get the stack of the crash.
    CatchCrash "catch-crash"
    /// See where a hanging program waits.
    TraceHang "trace-hang"
    /// Let NCCL say more.
    NcclDebug "nccl-debug"
    /// Look at the machine or runner around the job.
    CheckSurroundings "check-surroundings"
    /// Nothing to do.
    LeaveAlone "leave-alone"
}

/// What a cause asks for, best first.
pub fn steps_for(cause: Cause) -> &'static [Step] {
    match cause {
        Cause::ShmSigbus | Cause::ShmEnospc => &[Step::RaiseShm, Step::FewerInFlight, Step::ShareHostShm],
        Cause::ShmEviction => &[Step::RaiseShm, Step::FewerInFlight, Step::FreeShm],
        Cause::ShmSuspected => &[Step::CollectEvidence, Step::CheckFile, Step::RaiseShm],
        Cause::OomCgroup => &[Step::FewerWorkers, Step::RaiseMemory],
        Cause::OomHost => &[Step::FewerWorkers, Step::ReserveMemory],
        Cause::OomShmCharged => &[Step::RaiseBoth, Step::FewerInFlight, Step::FreeShm],
        Cause::OomEviction => &[Step::ReserveMemory, Step::FewerWorkers],
        Cause::OomUserspace => &[Step::FewerWorkers, Step::TuneDaemon],
        Cause::OomSuspected => &[Step::CollectEvidence, Step::FewerWorkers],
        Cause::SigkillExternal | Cause::Sigterm | Cause::Interrupted => &[Step::LookAtSender, Step::Checkpoint],
        Cause::SigkillUnexplained => &[Step::CollectEvidence, Step::LookAtSender],
        Cause::Preempted => &[Step::Checkpoint],
        Cause::TimeLimit => &[Step::RaiseTime, Step::Checkpoint],
        Cause::Segfault | Cause::Abort => &[Step::CatchCrash],
        Cause::SigbusOther => &[Step::CheckFile, Step::CatchCrash],
        Cause::HwMemoryError => &[Step::CheckHardware],
        Cause::FdLimit => &[Step::RaiseDescriptors, Step::SharingStrategy, Step::CloneViews],
        Cause::DiskFull => &[Step::FreeDisk],
        Cause::CudaOom => &[Step::LessGpuMemory],
        Cause::GpuFault => &[Step::CheckGpu],
        Cause::MemoryError => &[Step::FewerWorkers, Step::FixException],
        Cause::PythonException => &[Step::FixException],
        Cause::Nccl => &[Step::NcclDebug],
        Cause::Timeout => &[Step::TraceHang, Step::NcclDebug],
        Cause::ExitedUnexpectedly => &[Step::CollectEvidence, Step::CatchCrash],
        Cause::Infrastructure => &[Step::CheckSurroundings],
        Cause::Other => &[Step::CollectEvidence],
        Cause::Clean => &[Step::LeaveAlone],
    }
}
