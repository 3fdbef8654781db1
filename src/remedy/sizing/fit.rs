//! What fits: head-room and rounding, the largest settings for a given size, and the memory limit around it.

use super::formula::{self, Plan, Together};
use crate::units::Bytes;

/// Most workers and most batches ordered for each that are tried; nobody runs more.
const MOST: u64 = 1024;

/// The largest settings that a size is enough for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The size.
    pub limit: Bytes,
    /// Workers, at most those that were asked for.
    pub workers: u64,
    /// Batches ordered for each of them, at most those that were asked for.
    pub prefetch: u64,
    /// What these settings need.
    pub bytes: Bytes,
}

/// The memory limit that a /dev/shm of the recommended size asks for, as its pages count against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeed {
    /// The limit that there is.
    pub limit: Bytes,
    /// What the processes use beside shared memory, if known.
    pub processes: Option<Bytes>,
    /// The limit that would be enough.
    pub recommended: Bytes,
}

/// Adds head-room for what the formula cannot see (the program's own segments, NCCL, varying batches) and rounds up to a size
/// that people write.
pub fn recommend(need: Bytes) -> Option<Bytes> {
    let room = (need.0 / 10).max(Bytes::mib(64).0);
    round(need.0.checked_add(room)?)
}

/// Up to the next 64 MiB, from 1 GiB on to the next 256 MiB.
fn round(bytes: u64) -> Option<Bytes> {
    let step = if bytes < Bytes::mib(1024).0 { Bytes::mib(64) } else { Bytes::mib(256) };
    bytes.div_ceil(step.0).checked_mul(step.0).map(Bytes)
}

/// The limit that the processes and a /dev/shm of this size need together. Where nobody knows what the processes use, they
/// keep all of the old limit.
pub(super) fn memory(limit: Bytes, processes: Option<Bytes>, need: Bytes, recommended: Bytes) -> Option<MemoryNeed> {
    let fits = match processes {
        Some(used) => used.0.saturating_add(need.0) <= limit.0,
        None => recommended < limit,
    };
    if fits {
        return None;
    }
    let wanted = round(processes.unwrap_or(limit).0.checked_add(recommended.0)?)?;
    Some(MemoryNeed { limit, processes, recommended: wanted })
}

/// The settings with the most batches in flight that fit into a size; of several, those with the most workers.
pub(super) fn largest(plans: &[Plan], together: Together, ranks: u64, limit: Bytes) -> Option<Fit> {
    let asked = |of: fn(&Plan) -> u64| plans.iter().map(of).max().unwrap_or(0).min(MOST);
    let (most_workers, most_prefetch) = (asked(|plan| plan.workers), asked(|plan| plan.prefetch));
    let need = |workers: u64, prefetch: u64| {
        let cut: Vec<Plan> = plans
            .iter()
            .map(|plan| Plan { workers: plan.workers.min(workers), prefetch: plan.prefetch.min(prefetch), ..*plan })
            .collect();
        formula::need(&cut, together, ranks).filter(|need| *need <= limit.0)
    };
    let mut best: Option<Fit> = None;
    for workers in 1..=most_workers {
        // What is needed grows with the prefetch factor, so that the border is found by halving.
        let (mut fits, mut too_many) = (0, most_prefetch + 1);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            if need(workers, middle).is_some() { fits = middle } else { too_many = middle }
        }
        let Some(bytes) = need(workers, fits).filter(|_| fits > 0) else { break };
        if best.is_none_or(|fit| fit.workers * fit.prefetch <= workers * fits) {
            best = Some(Fit { limit, workers, prefetch: fits, bytes: Bytes(bytes) });
        }
    }
    best
}
