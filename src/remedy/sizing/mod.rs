//! How large /dev/shm must be for a PyTorch DataLoader, from the job's own numbers.
//!
//! The formula was measured to the byte with PyTorch 1.13, 2.10 and 2.15 on Linux: at any moment `workers × prefetch` batches
//! are ordered, the training loop holds one or more that were handed out, and every POSIX semaphore of the loader takes a page.

mod fit;
mod formula;
mod shape;
mod work;

pub use fit::{Fit, MemoryNeed, recommend};
pub use formula::Together;
pub use shape::{Sharing, Tensor, tensors};
pub use work::{work_out, work_out_all};

use crate::units::Bytes;

/// One term of the formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Which of several loaders it belongs to, from 1; 0 where it belongs to all, or where there is one.
    pub loader: usize,
    /// The term's name, as `workers`.
    pub name: &'static str,
    /// Its value, if known or assumed.
    pub value: Option<u64>,
    /// Where the value came from: `train.log:3`, or `assumed: PyTorch's default`.
    pub from: String,
}

/// The formula with what is known of its terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// The formula in words.
    pub formula: &'static str,
    /// All terms.
    pub terms: Vec<Term>,
    /// The names of the terms that are lacking.
    pub unknown: Vec<&'static str>,
    /// What is needed to the byte, if all terms are known.
    pub bytes: Option<Bytes>,
    /// The need with head-room, rounded up.
    pub recommended: Option<Bytes>,
    /// The size that /dev/shm had, if known.
    pub had: Option<Bytes>,
    /// The largest settings that fit into the size that there is, where what was asked for does not fit.
    pub fit: Option<Fit>,
    /// The memory limit that is needed, where the one that there is cannot hold the processes and /dev/shm.
    pub memory: Option<MemoryNeed>,
    /// What is worth saying beside the numbers, each a sentence.
    pub remarks: Vec<String>,
}

/// A number that was read, with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The number; 0 or 1 for yes and no.
    pub value: u64,
    /// Where it stands, as `train.log:3`.
    pub from: String,
}

impl Given {
    /// A number with its source.
    pub fn new(value: u64, from: impl Into<String>) -> Self {
        Self { value, from: from.into() }
    }
}

/// How the tensors of one sample are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The tensors.
    pub tensors: Vec<Tensor>,
    /// Whether a batch is a list of samples, each with storages of its own, instead of stacked tensors.
    pub list: bool,
    /// Who gave it.
    pub from: String,
}

/// Everything that was told of a loader and of what is around it; a setting may have been read several times, with different
/// values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// `num_workers`.
    pub workers: Vec<Given>,
    /// `prefetch_factor`.
    pub prefetch: Vec<Given>,
    /// Shared memory of one batch: its storages, each rounded up to a page.
    pub batch_bytes: Vec<Given>,
    /// Samples in a batch.
    pub batch_size: Vec<Given>,
    /// The tensors of a sample, where nobody gave the bytes of a batch.
    pub sample: Option<Sample>,
    /// `pin_memory`.
    pub pin_memory: Vec<Given>,
    /// `persistent_workers`.
    pub persistent_workers: Vec<Given>,
    /// Epochs.
    pub epochs: Vec<Given>,
    /// Processes that share the /dev/shm.
    pub ranks: Vec<Given>,
    /// Batches that the loop still refers to when it asks for the next one, if more or fewer than usual.
    pub held: Vec<Given>,
    /// The loop looks one batch ahead, as generators do that have to know which one is the last.
    pub look_ahead: bool,
    /// Batches in an epoch.
    pub epoch_batches: Vec<Given>,
    /// Bytes of the storage that lives on in each worker, where workers send views of it: each drags the whole of it along.
    pub view_of: Option<Given>,
    /// Tensors inside the data set object, which spawned workers get through shared memory.
    pub lasting_bytes: Vec<Given>,
    /// Workers are started by `spawn` or `forkserver`, so that they pin nothing of the parent's memory.
    pub spawned: bool,
    /// How storages become shared memory.
    pub sharing: Sharing,
    /// The size that /dev/shm had.
    pub had: Option<Bytes>,
    /// A size that the settings should fit into.
    pub limit: Option<Bytes>,
    /// The memory limit around it all.
    pub memory_limit: Option<Bytes>,
    /// What the processes use beside shared memory.
    pub processes: Option<Bytes>,
    /// Bytes of one storage that were refused.
    pub refused: Option<Given>,
}

#[cfg(test)]
mod tests;
