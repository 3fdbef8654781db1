//! How large /dev/shm must be for a PyTorch DataLoader, from the job's own numbers.
//!
//! The formula was measured to the byte with PyTorch 1.13, 2.10 and 2.15 on Linux: at any moment `workers × prefetch` batches
//! are ordered, the training loop holds one or more that were handed out, and every POSIX semaphore of the loader takes a page.

use crate::units::Bytes;

/// The formula in words; `held`, `hand_over` and `forked` are batches.
const FORMULA: &str = "(workers × prefetch + held + hand_over + forked) × batch_bytes + semaphore_bytes";
/// The same for several processes that share a /dev/shm, and where something stays in it as long as the workers live.
const SHARED: &str = "ranks × ((workers × prefetch + held + hand_over + forked) × batch_bytes + semaphore_bytes + lasting_bytes)";
/// The same where an epoch has fewer batches than could be alive.
const SHORT_EPOCH: &str = "ranks × ((min(workers × prefetch + held + hand_over, epoch_batches) + forked) × batch_bytes + semaphore_bytes + lasting_bytes)";
/// How a program measures one of its batches.
const MEASURE: &str = "sum(t.untyped_storage().nbytes() for t in batch)";

/// One term of the formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
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

/// Everything that the inputs told; a setting may have been read several times, with different values.
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
    /// Batches in an epoch.
    pub epoch_batches: Vec<Given>,
    /// Shared memory that lives as long as the workers do, for all of them.
    pub lasting_bytes: Vec<Given>,
    /// The kernel's page size.
    pub page: Option<u64>,
    /// The size that /dev/shm had.
    pub had: Option<Bytes>,
    /// Bytes of one storage that were refused.
    pub refused: Option<Given>,
}

/// The terms under construction.
struct Work {
    terms: Vec<Term>,
    unknown: Vec<&'static str>,
    remarks: Vec<String>,
}

impl Work {
    /// Takes the one value that was read, or what is assumed without one. Of two different values neither is used.
    fn take(&mut self, name: &'static str, given: &[Given], assumed: Option<(u64, &str)>) -> Option<u64> {
        let Some(first) = given.first() else {
            let (value, from) = assumed?;
            self.terms.push(Term { name, value: Some(value), from: format!("assumed: {from}") });
            return Some(value);
        };
        let mut different: Vec<&Given> = Vec::new();
        for next in given {
            if different.iter().all(|known| known.value != next.value) {
                different.push(next);
            }
        }
        for known in &different {
            self.terms.push(Term { name, value: Some(known.value), from: known.from.clone() });
        }
        if different.len() == 1 {
            return Some(first.value);
        }
        self.unknown.push(name);
        let values: Vec<String> = different.iter().map(|known| format!("{} ({})", known.value, known.from)).collect();
        self.remarks.push(format!("The inputs tell different values for {name}: {}; none of them is used.", values.join(", ")));
        None
    }

    /// A term that was worked out.
    fn put(&mut self, name: &'static str, value: Option<u64>, from: &str) {
        self.terms.push(Term { name, value, from: from.to_owned() });
    }
}

/// Fills in the formula as far as the inputs go.
pub fn work_out(facts: &Inputs) -> Sizing {
    let mut work = Work { terms: Vec::new(), unknown: Vec::new(), remarks: Vec::new() };
    let workers = work.take("workers", &facts.workers, None);
    if facts.workers.is_empty() {
        work.put("workers", None, "the inputs do not tell");
        work.unknown.push("workers");
    }
    let prefetch = work.take("prefetch", &facts.prefetch, Some((2, "PyTorch's default")));
    let batch = batch(&mut work, facts);

    let yes = |list: &[Given]| list.last().is_some_and(|given| given.value != 0);
    let pinned = yes(&facts.pin_memory);
    let kept_alive = yes(&facts.persistent_workers);
    let once = facts.epochs.last().is_some_and(|epochs| epochs.value <= 1);
    let restarted = !kept_alive && !once;
    let held = match pinned {
        true => work.take("held", &[], Some((0, "pin_memory drops the shared copy at once"))),
        false => work.take("held", &facts.held, Some((1, "the loop variable keeps the last batch"))),
    };
    let hand_over = u64::from(!pinned);
    work.put("hand_over", Some(hand_over), "the batch just returned while the one before it is freed");
    let forked = if pinned || !restarted { 0 } else { held.unwrap_or(1) };
    work.put(
        "forked",
        Some(forked),
        if restarted {
            "assumed: several epochs without persistent_workers, whose new workers pin the last batch"
        } else {
            "one epoch, or persistent_workers"
        },
    );
    let page = facts.page.unwrap_or(4096);
    let semaphores = workers.and_then(|workers| semaphores(workers, restarted)).and_then(|pages| pages.checked_mul(page));
    work.put("semaphore_bytes", semaphores, "a page for each POSIX semaphore of the loader");
    let lasting = if facts.lasting_bytes.is_empty() { Some(0) } else { work.take("lasting_bytes", &facts.lasting_bytes, None) };
    let ranks = if facts.ranks.is_empty() { Some(1) } else { work.take("ranks", &facts.ranks, None) };
    let short = if facts.epoch_batches.is_empty() { None } else { work.take("epoch_batches", &facts.epoch_batches, None) };

    let alive = (|| {
        let most = workers?.checked_mul(prefetch?)?.checked_add(held?)?.checked_add(hand_over)?;
        most.min(short.unwrap_or(u64::MAX)).checked_add(forked)
    })();
    let need = |batch: u64| alive?.checked_mul(batch)?.checked_add(semaphores?)?.checked_add(lasting?)?.checked_mul(ranks?);
    // num_workers=0 loads in the training process itself, which needs no shared memory at all.
    let bytes = if workers == Some(0) { Some(0) } else { batch.and_then(need) };
    if workers == Some(0) {
        work.unknown.retain(|name| *name != "sample_bytes");
        work.remarks.push("With num_workers=0 the loader uses no shared memory: something else filled /dev/shm.".to_owned());
    } else if bytes.is_none() && batch.is_some() && work.unknown.is_empty() {
        work.remarks.push("The numbers are too large to multiply; one of them is not what it seems.".to_owned());
    }
    if batch.is_none() && workers != Some(0) {
        bounds(&mut work, facts, alive, need, semaphores.unwrap_or(0), ranks.unwrap_or(1).max(1));
    }
    let formula = match (facts.ranks.is_empty() && facts.lasting_bytes.is_empty(), short) {
        (_, Some(_)) => SHORT_EPOCH,
        (true, None) => FORMULA,
        (false, None) => SHARED,
    };
    Sizing {
        formula,
        terms: work.terms,
        unknown: work.unknown,
        bytes: bytes.map(Bytes),
        recommended: bytes.filter(|bytes| *bytes > 0).and_then(|bytes| recommend(Bytes(bytes))),
        had: facts.had,
        remarks: work.remarks,
    }
}

/// The loader's semaphores: 3 of the result queue, 5 of the done event and 3 for each worker's index queue; workers that are
/// started anew for each epoch leave up to two more each for a while.
fn semaphores(workers: u64, restarted: bool) -> Option<u64> {
    workers.checked_mul(if restarted { 5 } else { 3 })?.checked_add(8)
}

/// The bytes of a batch, or a word on how to learn them.
fn batch(work: &mut Work, facts: &Inputs) -> Option<u64> {
    let size = if facts.batch_size.is_empty() { None } else { work.take("batch_size", &facts.batch_size, None) };
    // The size of a batch in samples is no term of the formula: if it is in doubt, nothing is lacking.
    work.unknown.retain(|name| *name != "batch_size");
    if !facts.batch_bytes.is_empty() {
        return work.take("batch_bytes", &facts.batch_bytes, None);
    }
    let from = match size {
        Some(size) => format!("{size} samples, whose size no log tells; measure a batch: {MEASURE}"),
        None => format!("no log tells it; measure a batch: {MEASURE}"),
    };
    work.put("batch_bytes", None, &from);
    work.unknown.push("sample_bytes");
    None
}

/// Without the bytes of a batch: what follows from a refused request, and what fits into the /dev/shm that there was.
fn bounds(work: &mut Work, facts: &Inputs, alive: Option<u64>, need: impl Fn(u64) -> Option<u64>, semaphores: u64, ranks: u64) {
    let Some(alive) = alive.filter(|alive| *alive > 0) else { return };
    if let Some(Given { value, from }) = &facts.refused
        && let Some(least) = need(*value)
    {
        let (least, value) = (Bytes(least), Bytes(*value));
        work.remarks.push(format!("One storage of {value} was refused ({from}), so that it needs at least {least}."));
    }
    if let Some(had) = facts.had {
        let largest = Bytes((had.0 / ranks).saturating_sub(semaphores) / alive);
        work.remarks
            .push(format!("{alive} batches may be alive at once, so that {had} is enough for batches of up to {largest} each."));
    }
}

/// Adds head-room for what the formula cannot see (the program's own segments, NCCL, varying batches) and rounds up to a size
/// that people write.
pub fn recommend(need: Bytes) -> Option<Bytes> {
    let room = (need.0 / 10).max(Bytes::mib(64).0);
    let wanted = need.0.checked_add(room)?;
    let step = if wanted < Bytes::mib(1024).0 { Bytes::mib(64) } else { Bytes::mib(256) };
    wanted.div_ceil(step.0).checked_mul(step.0).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(value: u64) -> Vec<Given> {
        vec![Given::new(value, "train.log:3")]
    }

    fn loader(workers: u64, batch: u64) -> Inputs {
        Inputs { workers: given(workers), batch_bytes: given(batch), ..Inputs::default() }
    }

    #[test]
    fn the_measured_sizes_come_out_to_the_byte() {
        let bytes = |inputs: &Inputs| work_out(inputs).bytes.map(|bytes| bytes.0);
        let once = |inputs: Inputs| Inputs { epochs: given(1), ..inputs };
        assert_eq!(bytes(&loader(4, 2_097_152)), Some(23_183_360));
        assert_eq!(bytes(&once(loader(4, 2_097_152))), Some(21_053_440));
        assert_eq!(bytes(&once(Inputs { pin_memory: given(1), ..loader(4, 2_097_152) })), Some(16_859_136));
        assert_eq!(bytes(&Inputs { pin_memory: given(1), ..loader(4, 4_194_304) }), Some(33_669_120));
        assert_eq!(bytes(&Inputs { persistent_workers: given(1), ..loader(4, 4_194_304) }), Some(42_024_960));
        assert_eq!(bytes(&Inputs { held: given(5), ..loader(4, 4_194_304) }), Some(79_806_464));
        assert_eq!(bytes(&once(Inputs { prefetch: given(1), ..loader(1, 4_194_304) })), Some(12_627_968));
        assert_eq!(bytes(&once(Inputs { ranks: given(2), ..loader(4, 4_194_304) })), Some(84_049_920));
    }

    #[test]
    fn the_example_of_eight_workers_is_recommended_832_mib() {
        let sizing = work_out(&loader(8, 38_539_264));
        assert_eq!(sizing.bytes.map(|bytes| bytes.to_string()).as_deref(), Some("698.5 MiB"));
        assert_eq!(sizing.recommended, Some(Bytes::mib(832)));
        let persistent = work_out(&Inputs { persistent_workers: given(1), ..loader(8, 38_539_264) });
        assert_eq!(persistent.bytes.map(|bytes| bytes.to_string()).as_deref(), Some("661.7 MiB"));
        let pinned = work_out(&Inputs { pin_memory: given(1), ..loader(8, 38_539_264) });
        assert_eq!(pinned.bytes, Some(Bytes(16 * 38_539_264 + 48 * 4096)));
    }

    #[test]
    fn what_is_lacking_is_named_and_bounded() {
        let inputs = Inputs {
            workers: given(8),
            batch_size: given(64),
            had: Some(Bytes::mib(64)),
            refused: Some(Given::new(33_554_432, "train.log:47")),
            ..Inputs::default()
        };
        let sizing = work_out(&inputs);
        assert_eq!((sizing.bytes, sizing.recommended), (None, None));
        assert_eq!(sizing.unknown, ["sample_bytes"]);
        assert!(sizing.remarks.iter().any(|remark| remark.contains("at least 608.2 MiB")), "{:?}", sizing.remarks);
        assert!(sizing.remarks.iter().any(|remark| remark.contains("up to 3.36 MiB")), "{:?}", sizing.remarks);
        assert_eq!(work_out(&Inputs::default()).unknown, ["workers", "sample_bytes"]);
    }

    #[test]
    fn of_two_worker_counts_neither_is_used() {
        let workers = vec![Given::new(8, "a.log:1"), Given::new(4, "b.log:2"), Given::new(8, "b.log:3")];
        let sizing = work_out(&Inputs { workers, batch_bytes: given(4096), ..Inputs::default() });
        assert_eq!(sizing.bytes, None);
        assert_eq!(sizing.unknown, ["workers"]);
        assert_eq!(sizing.terms.iter().filter(|term| term.name == "workers").count(), 2);
        assert!(sizing.remarks.iter().any(|remark| remark.contains("8 (a.log:1), 4 (b.log:2)")), "{:?}", sizing.remarks);
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        for value in [0, 1, u64::MAX / 2, u64::MAX] {
            let all = || given(value);
            let inputs = Inputs {
                workers: all(),
                prefetch: all(),
                batch_bytes: all(),
                held: all(),
                ranks: all(),
                lasting_bytes: all(),
                epoch_batches: all(),
                page: Some(value),
                had: Some(Bytes(value)),
                ..Inputs::default()
            };
            work_out(&inputs);
            work_out(&Inputs { batch_bytes: Vec::new(), refused: Some(Given::new(value, "x")), ..inputs });
        }
        assert_eq!(work_out(&loader(u64::MAX, u64::MAX)).bytes, None);
    }

    #[test]
    fn recommendations_are_round_and_above_the_need() {
        assert_eq!(recommend(Bytes(1)), Some(Bytes::mib(128)));
        assert_eq!(recommend(Bytes::mib(1000)), Some(Bytes::mib(1280)));
        assert_eq!(recommend(Bytes::mib(8192)), Some(Bytes::mib(9216)));
        assert_eq!(recommend(Bytes(u64::MAX)), None);
    }
}
