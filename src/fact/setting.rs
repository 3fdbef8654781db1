//! The numbers in a log that the sizing formula needs.

/// A number in the log that the sizing formula needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Setting {
    /// `num_workers`.
    Workers,
    /// `prefetch_factor`.
    Prefetch,
    /// Samples in a batch of one loader.
    BatchSize,
    /// Processes in the whole job.
    WorldSize,
    /// Processes on one machine.
    RanksPerNode,
    /// `pin_memory`, 0 or 1.
    PinMemory,
    /// `persistent_workers`, 0 or 1.
    PersistentWorkers,
    /// Epochs.
    Epochs,
    /// Bytes of a file in /dev/shm that was given a size and refused its pages.
    RefusedBytes,
}

impl Setting {
    /// The name that reports and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Prefetch => "prefetch",
            Self::BatchSize => "batch_size",
            Self::WorldSize => "world_size",
            Self::RanksPerNode => "ranks_per_node",
            Self::PinMemory => "pin_memory",
            Self::PersistentWorkers => "persistent_workers",
            Self::Epochs => "epochs",
            Self::RefusedBytes => "refused_bytes",
        }
    }
}
