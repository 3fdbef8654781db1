//! Advice for the training program itself.

use super::words::{Form, Words, form, only, with};
use crate::remedy::sizing::{Sizing, Term};
use crate::remedy::{Case, Step};
use crate::units::Bytes;
use crate::verdict::Cause;

/// A step as a change of the program or of its environment.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    match step {
        Step::FewerInFlight => only(format!(
            "Or keep fewer batches in flight: prefetch_factor=1, fewer workers or smaller batches{}. pin_memory=True frees the \
             shared copy earlier.",
            case.sizing
                .and_then(with_prefetch_one)
                .map_or_else(String::new, |bytes| format!(" (prefetch_factor=1 needs {bytes})"))
        )),
        Step::FewerWorkers => only(fewer_workers(case)),
        Step::CloneViews => {
            only("Send fewer and whole tensors: a batch of lists of numbers makes a tensor, and a descriptor, for each.")
        }
        Step::SharingStrategy => form(
            Form::Text,
            "Or share by file name instead of descriptor, in the workers too. It takes the same room in /dev/shm, and files are \
             left behind if the whole job is killed.",
            "torch.multiprocessing.set_sharing_strategy('file_system')",
        ),
        Step::LessGpuMemory => only(
            "Use smaller batches or gradient accumulation, mixed precision, or activation checkpointing, and see with nvidia-smi \
             whether another process holds memory of the GPU. Host memory and /dev/shm have no part in it.",
        ),
        Step::FixException => {
            only("Read the last traceback of the log: the program ended by an error of its own, and nothing killed it.")
        }
        Step::CatchCrash => with(
            "Get the Python stack of the crash. In a DataLoader worker set num_workers=0 for it: PyTorch's own handler takes the \
             place of this one there.",
            "python -X faulthandler train.py",
        ),
        Step::TraceHang => with("While it hangs, see where each process waits.", "py-spy dump --pid PID"),
        Step::NcclDebug => form(
            Form::Text,
            "Run it again with NCCL's messages on, and look for the first rank that complains: the others only lost it.",
            "NCCL_DEBUG=WARN",
        ),
        Step::Checkpoint => only(
            "Save checkpoints often enough to lose little, and start from the last one. SIGTERM usually comes before SIGKILL: it \
             is the time to save.",
        ),
        Step::RaiseDescriptors => with("Raise the limit of open files before the job starts.", "ulimit -n 65536"),
        Step::RaiseShm
        | Step::ShareHostShm
        | Step::RaiseMemory
        | Step::RaiseBoth
        | Step::ReserveMemory
        | Step::TuneDaemon
        | Step::FreeShm
        | Step::FreeDisk
        | Step::CheckFile
        | Step::CheckHardware
        | Step::CheckGpu
        | Step::CollectEvidence
        | Step::LookAtSender
        | Step::RaiseTime
        | Step::CheckSurroundings
        | Step::LeaveAlone => None,
    }
}

/// Less memory in the processes; where the kernel's report has the workers, how much fewer of them would free.
fn fewer_workers(case: &Case<'_>) -> String {
    let fewer = case.filled.and_then(|filled| filled.fewer());
    let advice = match (case.cause, case.filled.is_some_and(|filled| filled.is_cache())) {
        (Cause::MemoryError, _) => {
            "Use fewer workers or smaller batches; each worker has memory of its own, and Python objects held in the Dataset are \
             copied into every one of them as they are touched."
        }
        (_, true) => {
            "Most of it was page cache, which the kernel gives back unless it is dirty or locked: look for writes that outrun the disk, \
             then use fewer workers or smaller batches."
        }
        _ => {
            "Look for data kept in the Dataset object: Python lists and dicts are copied into each worker as they are touched, NumPy \
             arrays and tensors are not. Or use fewer workers, or smaller batches."
        }
    };
    fewer.map_or_else(|| advice.to_owned(), |fewer| format!("{advice} {fewer}"))
}

/// What would be needed with one prefetched batch for each worker, if that is less than now.
fn with_prefetch_one(sizing: &Sizing) -> Option<Bytes> {
    let term = |name: &str| sizing.terms.iter().find(|term: &&Term| term.name == name).and_then(|term| term.value);
    let saved = term("workers")?.checked_mul(term("prefetch")?.checked_sub(1)?)?.checked_mul(term("batch_bytes")?)?;
    let ranks = term("ranks").unwrap_or(1);
    let short = sizing.terms.iter().any(|term| term.name == "epoch_batches");
    (saved > 0 && !short).then_some(())?;
    sizing.bytes?.0.checked_sub(saved.checked_mul(ranks)?).map(Bytes)
}
