//! The formula itself: how many batches are alive at once, and what they take of /dev/shm.
//!
//! Every sum is checked: numbers come from logs and command lines, and an overflow is an answer ("none"), never a small size.

/// Semaphores of a loader, a page each: 3 of the result queue, 5 of the done event.
const SEMAPHORES: u64 = 8;
/// And of each worker's index queue.
const QUEUE: u64 = 3;
/// What workers that are started anew for each epoch leave of the old queues, for each worker, until feeder threads have ended.
const LEFTOVER: u64 = 2;

/// How several loaders of one process are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Together {
    /// All of them at any time, nothing known of their order: the safe assumption.
    #[default]
    AtOnce,
    /// One after the other, as training and validation by epoch: only one is ever full.
    Alternating,
    /// One inside of the other's loop, as an evaluation in the middle of an epoch.
    Nested,
    /// In step, by `zip`, which keeps an older pair.
    Zip,
}

impl Together {
    /// All ways.
    pub const ALL: &[Self] = &[Self::AtOnce, Self::Alternating, Self::Nested, Self::Zip];

    /// The name on the command line.
    pub fn slug(self) -> &'static str {
        match self {
            Self::AtOnce => "at-once",
            Self::Alternating => "alternating",
            Self::Nested => "nested",
            Self::Zip => "zip",
        }
    }
}

/// The numbers of one loader, all of them known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// W: processes that load.
    pub(super) workers: u64,
    /// F: batches ordered for each of them.
    pub(super) prefetch: u64,
    /// S: bytes of one batch, each storage rounded up to pages.
    pub(super) batch: u64,
    /// H: batches that the loop still refers to when it asks for the next one.
    pub(super) held: u64,
    /// T: the batch just returned while the one before it is freed.
    pub(super) hand_over: u64,
    /// I: batches that forked workers pin by their copy of the parent's memory.
    pub(super) forked: u64,
    /// N: batches in an epoch, where they may be fewer than could be alive.
    pub(super) epoch_batches: Option<u64>,
    /// Workers that live through all epochs.
    pub(super) persistent: bool,
    /// Workers that are started anew for each of several epochs.
    pub(super) restarted: bool,
    /// The part of X that each worker keeps: the storage that its views drag along.
    pub(super) view: u64,
    /// The part of X that exists once: the tensors inside a data set that was sent to spawned workers.
    pub(super) lasting: u64,
    /// Bytes of a page.
    pub(super) page: u64,
}

impl Plan {
    /// Batches alive at once, without those that forked workers pin.
    fn handed(&self) -> Option<u64> {
        let most = self.workers.checked_mul(self.prefetch)?.checked_add(self.held)?.checked_add(self.hand_over)?;
        Some(most.min(self.epoch_batches.unwrap_or(u64::MAX)))
    }

    /// Batches alive at once.
    pub(super) fn alive(&self) -> Option<u64> {
        self.handed()?.checked_add(self.forked)
    }

    /// P: bytes of the loader's semaphores; none without workers.
    pub(super) fn semaphores(&self) -> Option<u64> {
        if self.workers == 0 {
            return Some(0);
        }
        let each = if self.restarted { QUEUE + LEFTOVER } else { QUEUE };
        self.workers.checked_mul(each)?.checked_add(SEMAPHORES)?.checked_mul(self.page)
    }

    /// X: what stays as long as the workers do.
    pub(super) fn stays(&self) -> Option<u64> {
        self.workers.checked_mul(self.view)?.checked_add(self.lasting)
    }

    /// Bytes of so many batches.
    fn of(&self, batches: u64) -> Option<u64> {
        batches.checked_mul(self.batch)
    }

    /// What this loader needs by itself.
    fn alone(&self) -> Option<u64> {
        self.of(self.alive()?)?.checked_add(self.semaphores()?)?.checked_add(self.stays()?)
    }
}

/// The sum of a term over all loaders.
fn sum(plans: &[Plan], term: impl Fn(&Plan) -> Option<u64>) -> Option<u64> {
    plans.iter().try_fold(0_u64, |sum, plan| sum.checked_add(term(plan)?))
}

/// The largest of a term over all loaders; 0 without loaders.
fn largest(plans: &[Plan], term: impl Fn(&Plan) -> Option<u64>) -> Option<u64> {
    plans.iter().try_fold(0_u64, |most, plan| Some(most.max(term(plan)?)))
}

/// What all loaders of all ranks need to the byte; none if it is more than can be counted.
pub(super) fn need(plans: &[Plan], together: Together, ranks: u64) -> Option<u64> {
    let working: Vec<Plan> = plans.iter().filter(|plan| plan.workers > 0).copied().collect();
    let plans = working.as_slice();
    let each = match (plans, together) {
        ([] | [_], _) | (_, Together::AtOnce) => sum(plans, Plan::alone)?,
        (_, Together::Alternating) => alternating(plans)?,
        (_, Together::Nested) => {
            // All queues are full, but only one loader is being asked, so that one hand-over is enough.
            let full = |plan: &Plan| {
                let most = plan.workers.checked_mul(plan.prefetch)?.checked_add(plan.held)?;
                plan.of(most.min(plan.epoch_batches.unwrap_or(u64::MAX)).checked_add(plan.forked)?)
            };
            sum(plans, full)?.checked_add(largest(plans, |plan| plan.of(plan.hand_over))?)?.checked_add(around(plans)?)?
        }
        (_, Together::Zip) => {
            // The tuple that zip made before the last one still holds a batch; none of them is in /dev/shm with pin_memory.
            let older = largest(plans, |plan| plan.of(plan.hand_over))?;
            sum(plans, Plan::alone)?.checked_add(older)?
        }
    };
    each.checked_mul(ranks)
}

/// Semaphores and lasting memory of all loaders.
fn around(plans: &[Plan]) -> Option<u64> {
    sum(plans, Plan::semaphores)?.checked_add(sum(plans, Plan::stays)?)
}

/// Loaders that take turns: one of them is full; of each other one the last batch is left, and one more is pinned by the
/// workers that were forked while it was alive.
fn alternating(plans: &[Plan]) -> Option<u64> {
    let last = sum(plans, |plan| plan.of(plan.held))?;
    let pinned = largest(plans, |plan| plan.of(plan.held))?;
    let full = largest(plans, |plan| {
        let whole = plan.of(plan.handed()?)?;
        // Its own held batches are in `last` already.
        Some(whole.saturating_sub(plan.of(plan.held)?))
    })?;
    // Workers that end with the epoch take their semaphores and what they kept with them; persistent ones stay.
    let (staying, ending): (Vec<Plan>, Vec<Plan>) = plans.iter().partition(|plan| plan.persistent);
    let ended = largest(&ending, |plan| plan.semaphores()?.checked_add(plan.stays()?))?;
    full.checked_add(last)?.checked_add(pinned)?.checked_add(around(&staying)?)?.checked_add(ended)
}
