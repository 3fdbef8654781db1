//! Advice where the platform is not known: the three commonest in brief, and what holds on every machine.

use super::words::{Form, Words, form, only, shell, shm_reason, with};
use crate::remedy::{Case, Step};
use crate::verdict::Cause;

/// A step in general words.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_flag();
    match step {
        Step::RaiseShm => three(
            format!("Give the job a larger /dev/shm ({}); what is used of it counts against the memory limit.", shm_reason(case)),
            &format!("docker run --shm-size={size} … {}", case.image()),
            &format!("shm_size: {size}"),
            &format!("emptyDir: {{medium: Memory, sizeLimit: {}}}, mounted at /dev/shm", case.shm_quantity()),
        ),
        Step::ShareHostShm => three(
            "Or use the host's /dev/shm, without isolation from other processes; only for images that you trust.",
            &format!("docker run --ipc=host … {}", case.image()),
            "ipc: host",
            "hostIPC: true",
        ),
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => memory(step, case),
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
                None => "journalctl -k --since '1 hour ago' > kernel.log\n\
                         docker inspect NAME > inspect.json     # or: kubectl get pod POD -o json > pod.json\n\
                         coroner train.log kernel.log inspect.json"
                    .to_owned(),
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
        | Step::NcclDebug => None,
    }
}

/// A line for each of the three commonest platforms.
fn three(text: impl Into<String>, docker: &str, compose: &str, kubernetes: &str) -> Words {
    let lines = format!("docker       {docker}\ncompose      {compose}\nkubernetes   {kubernetes}");
    form(Form::Text, text, lines)
}

/// More memory, by whoever limits it.
fn memory(step: Step, case: &Case<'_>) -> Words {
    let limit = case.limit_flag();
    if case.cause == Cause::OomHost {
        return only("Give the job a machine with more memory, or run less beside it; what stands in /dev/shm counts too.");
    }
    if case.who.job.is_some() {
        return only("Ask the batch system for more memory; what the job keeps in /dev/shm counts too.");
    }
    let (text, shm, volume) = match step {
        Step::RaiseBoth => (
            "Raise the memory limit: what is used of /dev/shm counts against it, so that a larger one alone makes it worse."
                .to_owned(),
            format!(" --shm-size={}", case.shm_flag()),
            format!(", emptyDir: {{medium: Memory, sizeLimit: {}}}", case.shm_quantity()),
        ),
        Step::ReserveMemory => (
            "Give each job on the machine a limit, so that one cannot starve the others.".to_owned(),
            String::new(),
            String::new(),
        ),
        _ => (format!("Raise the memory limit{}.{}", case.had_limit(), case.no_help_of_shm()), String::new(), String::new()),
    };
    three(
        text,
        &format!("docker run --memory={limit} --memory-swap={limit}{shm} … {}", case.image()),
        &format!("mem_limit: {limit}"),
        &format!("resources: {{limits: {{memory: {}}}}}{volume}", case.limit_quantity()),
    )
}
