//! Advice for bare machines, batch systems and everything that has no file of its own.

use super::{Case, Step, Words, only, shell, shm_reason, with};
use crate::fact::Engine;

/// A step in general words.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_size().map_or_else(|| "SIZE".to_owned(), |size| size.as_flag());
    match step {
        Step::RaiseShm | Step::ShareHostShm if case.engine == Some(Engine::Ecs) => match step {
            Step::RaiseShm => with(
                format!(
                    "Set the size of /dev/shm in the task definition, in MiB ({}). Fargate has no such setting.",
                    shm_reason(case)
                ),
                format!("\"linuxParameters\": {{\"sharedMemorySize\": {}}}", size.trim_end_matches('m')),
            ),
            _ => None,
        },
        Step::RaiseShm => with(
            format!("Make the machine's /dev/shm larger, as root ({}); it is half of the memory unless set.", shm_reason(case)),
            format!("mount -o remount,size={size} /dev/shm"),
        ),
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => memory(case),
        Step::TuneDaemon => only(
            "The daemon or scheduler that sent the signal has its own threshold: systemd-oomd (oomctl, ManagedOOMMemoryPressure), \
             earlyoom (-m, --avoid), Ray (RAY_memory_usage_threshold), Slurm (--mem). Raising it moves the kill to the kernel \
             unless there is memory.",
        ),
        Step::FreeShm => with(
            "Remove what dead processes left in /dev/shm, after a look at who still uses it.",
            "df -h /dev/shm; ls -la /dev/shm; fuser -v /dev/shm/*",
        ),
        Step::FreeDisk => with("See which file system is full: a full disk also shows as few free inodes.", "df -h; df -i"),
        Step::CheckFile => only(
            "Look at the file that the program had mapped (np.memmap, np.load(mmap_mode), torch.load(mmap=True), Arrow, LMDB): was \
             it truncated or replaced while in use, is its disk full, did its network volume go away?",
        ),
        Step::CheckHardware => with(
            "Take the machine out of use and test it; the memory errors are counted for each module.",
            "journalctl -k | grep -iE 'hardware error|memory failure|edac|mce'\nras-mc-ctl --error-count",
        ),
        Step::CheckGpu => with(
            "Look at the driver's messages: the Xid number tells a fault of the program from one of the card.",
            "journalctl -k | grep -i xid\nnvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER",
        ),
        Step::CollectEvidence => with(
            "Fetch the kernel log of the machine around the death and the exit data of the job, and run coroner on all files \
             together.",
            match &case.who.job {
                Some(job) => {
                    format!("sacct -j {} --json > sacct.json\njournalctl -k --since '1 hour ago' > kernel.log", shell(job))
                }
                None => "journalctl -k --since '1 hour ago' > kernel.log\ncoroner train.log kernel.log".to_owned(),
            },
        ),
        Step::LookAtSender => only(
            "Ask the sender: a stop or deploy command, a health check, a batch system, a launcher that ended the other processes. \
             If it is a consequence, look for the first death.",
        ),
        Step::RaiseTime => match &case.who.job {
            Some(job) => {
                with("Ask for more time, or split the work.", format!("scontrol update JobId={} TimeLimit=HH:MM:SS", shell(job)))
            }
            None => only("Ask for more time, or split the work."),
        },
        Step::CheckSurroundings => only(
            "The job itself did not fail: look at the runner, the node or the registry that it depends on, and start it again.",
        ),
        Step::LeaveAlone => only("Nothing to do."),
        Step::FewerInFlight
        | Step::FewerWorkers
        | Step::CloneViews
        | Step::SharingStrategy
        | Step::RaiseDescriptors
        | Step::LessGpuMemory
        | Step::Checkpoint
        | Step::FixException
        | Step::CatchCrash
        | Step::TraceHang
        | Step::NcclDebug
        | Step::ShareHostShm => None,
    }
}

/// More memory, by whoever limits it.
fn memory(case: &Case<'_>) -> Words {
    let limit = case.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.as_flag());
    if case.engine == Some(Engine::Ecs) {
        return only("Raise `memory` of the container and of the task in the task definition.");
    }
    if case.who.job.is_some() {
        return with(
            "Ask the batch system for more memory; what the job keeps in /dev/shm counts too.",
            format!("sbatch --mem={} …", limit.to_ascii_uppercase()),
        );
    }
    if let Some(unit) = &case.who.unit {
        return with(
            "Raise the memory limit of the unit.",
            format!("systemctl set-property {} MemoryMax={}", shell(unit), limit.to_ascii_uppercase()),
        );
    }
    only("Give the job a machine with more memory, or run less beside it; what stands in /dev/shm counts too.")
}
