//! Advice in the words of Slurm, with and without Apptainer or Singularity.

use super::of_the_program;
use super::words::{Words, only, shell, shm_reason, with};
use crate::remedy::{Case, Step};

/// A step as options of sbatch, or as something for the administrator.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let limit = case.limit_flag().to_ascii_uppercase();
    match step {
        Step::RaiseShm => with(
            format!(
                "/dev/shm is the node's own, half of its memory unless the administrator set it ({}); with job_container/tmpfs each \
                 job has a fresh one of that default size. An Apptainer container uses it too, unless --contain hides it: bind it \
                 then. What the job keeps there counts against --mem.",
                shm_reason(case)
            ),
            "srun apptainer exec --bind /dev/shm IMAGE.sif df -h /dev/shm",
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory => with(
            format!("Ask for more memory{}; what the job keeps in /dev/shm counts too.", case.had_limit()),
            format!("sbatch --mem={limit} job.sh"),
        ),
        Step::RaiseBoth => with(
            "Ask for more memory: what the job keeps in /dev/shm is charged to it, so that a larger /dev/shm alone makes it worse.",
            format!("sbatch --mem={limit} job.sh"),
        ),
        Step::ReserveMemory => with(
            "Ask for as much memory as the job uses, so that no other job is put beside it; --exclusive takes the whole node.",
            format!("sbatch --mem={limit} job.sh"),
        ),
        Step::TuneDaemon => only(
            "Slurm's own poller (JobAcctGatherParams=OverMemoryKill) ended the job: ask for more with --mem, or let the administrator \
             use ConstrainRAMSpace=yes in cgroup.conf instead.",
        ),
        Step::FreeShm => with(
            "See what dead jobs left in the node's /dev/shm; only the owner or root can remove it.",
            "srun --nodelist=NODE sh -c 'df -h /dev/shm; ls -la /dev/shm'",
        ),
        Step::RaiseDescriptors => with(
            "Raise the limit of open files in the job script; the hard limit comes from the shell that submits, or from slurmd.",
            "ulimit -n \"$(ulimit -Hn)\"",
        ),
        Step::FreeDisk => {
            with("See which file system of the node is full; TmpFS and $TMPDIR are the node's own.", "srun --nodelist=NODE df -h")
        }
        Step::CollectEvidence => with(
            "Fetch Slurm's record of the job and the kernel log of the node, and run coroner on all files together.",
            format!(
                "sacct -j {} --json > sacct.json\nsrun --nodelist=NODE journalctl -k --since '1 hour ago' > kernel.log\ncoroner job.out sacct.json kernel.log",
                job(case)
            ),
        ),
        Step::LookAtSender => with(
            "See who ended the job: its state, its reason, and scancel, a time limit or a preemption in the controller's log.",
            format!("sacct -j {} --format=JobID,State,ExitCode,DerivedExitCode,Reason,Comment", job(case)),
        ),
        Step::RaiseTime => match &case.who.job {
            Some(_) => with(
                "Ask for more time, or split the work; only an administrator can give more to a job that runs.",
                format!("scontrol update JobId={} TimeLimit=HH:MM:SS", job(case)),
            ),
            None => with("Ask for more time, or split the work.", "sbatch --time=HH:MM:SS job.sh"),
        },
        Step::CheckSurroundings => with("See what happened to the node.", "sinfo -R; scontrol show node NODE"),
        of_the_program!() => None,
    }
}

/// The job for a command line.
fn job(case: &Case<'_>) -> String {
    case.who.job.as_deref().map_or_else(|| "JOBID".to_owned(), shell)
}
