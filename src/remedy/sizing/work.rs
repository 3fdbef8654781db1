//! Fills in the formula: takes what was told, assumes what is safe, names what is lacking, and keeps where each value came from.

use super::fit::{self, recommend};
use super::formula::{self, Plan, Together};
use super::{Given, Inputs, Sizing, Term};
use crate::units::Bytes;

/// The formula in words; `held`, `hand_over` and `forked` are batches.
const FORMULA: &str = "(workers × prefetch + held + hand_over + forked) × batch_bytes + semaphore_bytes";
/// The same for several processes that share a /dev/shm, and where something stays in it as long as the workers live.
const SHARED: &str = "ranks × ((workers × prefetch + held + hand_over + forked) × batch_bytes + semaphore_bytes + lasting_bytes)";
/// The same where an epoch has fewer batches than could be alive.
const SHORT_EPOCH: &str = "ranks × ((min(workers × prefetch + held + hand_over, epoch_batches) + forked) × batch_bytes + semaphore_bytes + lasting_bytes)";
/// Several loaders, all of them full at any time.
const AT_ONCE: &str = "ranks × the sum over all loaders of ((workers × prefetch + held + hand_over + forked) × batch_bytes + semaphore_bytes + lasting_bytes)";
/// Several loaders of which one is full at a time.
const ALTERNATING: &str = "ranks × ((workers × prefetch + hand_over) × batch_bytes of the larger loader + held × batch_bytes of each + one more of the larger + semaphore_bytes + lasting_bytes)";
/// A loader inside of the loop of another.
const NESTED: &str = "ranks × (the sum over all loaders of (workers × prefetch + held + forked) × batch_bytes + hand_over × batch_bytes of the larger + semaphore_bytes + lasting_bytes)";
/// Loaders in step.
const ZIP: &str = "ranks × (the sum over all loaders of (workers × prefetch + held + hand_over + forked) × batch_bytes + one more of the larger + semaphore_bytes + lasting_bytes)";
/// How a program measures one of its batches.
const MEASURE: &str = "sum(t.untyped_storage().nbytes() for t in batch)";
/// The number of open files that a process may have where nobody raised it.
const DESCRIPTORS: u64 = 1024;

/// The terms under construction.
#[derive(Default)]
struct Work {
    loader: usize,
    terms: Vec<Term>,
    unknown: Vec<&'static str>,
    remarks: Vec<String>,
}

impl Work {
    /// Takes the one value that was read, or what is assumed without one. Of two different values neither is used.
    fn take(&mut self, name: &'static str, given: &[Given], assumed: Option<(u64, &str)>) -> Option<u64> {
        let Some(first) = given.first() else {
            let (value, from) = assumed?;
            self.put(name, Some(value), &format!("assumed: {from}"));
            return Some(value);
        };
        let mut different: Vec<&Given> = Vec::new();
        for next in given {
            if different.iter().all(|known| known.value != next.value) {
                different.push(next);
            }
        }
        for known in &different {
            self.put(name, Some(known.value), &known.from);
        }
        if different.len() == 1 {
            return Some(first.value);
        }
        self.lack(name);
        let values: Vec<String> = different.iter().map(|known| format!("{} ({})", known.value, known.from)).collect();
        self.remarks.push(format!("The inputs tell different values for {name}: {}; none of them is used.", values.join(", ")));
        None
    }

    /// Shows a setting that decides on other terms, where the inputs tell it: each different value once.
    fn show(&mut self, name: &'static str, given: &[Given]) {
        for (index, next) in given.iter().enumerate() {
            if given.iter().take(index).all(|known| known.value != next.value) {
                self.put(name, Some(next.value), &next.from);
            }
        }
    }

    /// A term that was worked out.
    fn put(&mut self, name: &'static str, value: Option<u64>, from: &str) {
        self.terms.push(Term { loader: self.loader, name, value, from: from.to_owned() });
    }

    /// Notes that a term is lacking.
    fn lack(&mut self, name: &'static str) {
        if !self.unknown.contains(&name) {
            self.unknown.push(name);
        }
    }
}

/// Fills in the formula for one loader, as far as the inputs go.
pub fn work_out(facts: &Inputs) -> Sizing {
    work_out_all(std::slice::from_ref(facts), Together::AtOnce)
}

/// Fills in the formula for several loaders of one process. What is around them (ranks, page size, limits) is taken from the
/// first.
pub fn work_out_all(loaders: &[Inputs], together: Together) -> Sizing {
    let mut work = Work::default();
    let Some(around) = loaders.first() else { return conclude(work, &Inputs::default(), FORMULA, None) };
    let mut plans = Vec::new();
    for (number, facts) in loaders.iter().enumerate() {
        work.loader = if loaders.len() > 1 { number + 1 } else { 0 };
        plans.push(plan(&mut work, facts));
    }
    work.loader = 0;
    let ranks = if around.ranks.is_empty() { Some(1) } else { work.take("ranks", &around.ranks, None) };
    let known: Option<Vec<Plan>> = plans.iter().map(|plan| plan.known()).collect();
    let need = known.as_deref().and_then(|plans| formula::need(plans, together, ranks?));
    if plans.iter().all(|plan| plan.workers == Some(0)) {
        work.unknown.clear();
        work.remarks.push("With num_workers=0 the loader uses no shared memory: something else filled /dev/shm.".to_owned());
    } else if known.is_some() && ranks.is_some() && need.is_none() {
        work.remarks.push("The numbers are too large to multiply; one of them is not what it seems.".to_owned());
    }
    if let ([only], None) = (plans.as_slice(), &known) {
        bounds(&mut work, around, only, ranks.unwrap_or(1).max(1));
    }
    let mut sizing = conclude(work, around, words(loaders, together), need);
    if let (Some(plans), Some(ranks)) = (known, ranks) {
        fits(&mut sizing, around, &plans, together, ranks);
    }
    sizing
}

/// The sizing without what depends on a limit.
fn conclude(work: Work, around: &Inputs, formula: &'static str, need: Option<u64>) -> Sizing {
    Sizing {
        formula,
        terms: work.terms,
        unknown: work.unknown,
        bytes: need.map(Bytes),
        recommended: need.filter(|need| *need > 0).and_then(|need| recommend(Bytes(need))),
        had: around.had,
        fit: None,
        memory: None,
        remarks: work.remarks,
    }
}

/// The formula in words.
fn words(loaders: &[Inputs], together: Together) -> &'static str {
    let (short, shared) = match loaders {
        [only] => {
            (!only.epoch_batches.is_empty(), !only.ranks.is_empty() || !only.lasting_bytes.is_empty() || only.view_of.is_some())
        }
        _ => {
            return match together {
                Together::AtOnce => AT_ONCE,
                Together::Alternating => ALTERNATING,
                Together::Nested => NESTED,
                Together::Zip => ZIP,
            };
        }
    };
    match (short, shared) {
        (true, _) => SHORT_EPOCH,
        (false, true) => SHARED,
        (false, false) => FORMULA,
    }
}

/// A loader's plan of which some numbers may be lacking.
struct Half {
    workers: Option<u64>,
    prefetch: Option<u64>,
    batch: Option<u64>,
    /// Some other number is in doubt.
    doubt: bool,
    rest: Plan,
}

impl Half {
    /// The plan, if all its numbers are known; without workers no other number counts.
    fn known(&self) -> Option<Plan> {
        match self.workers? {
            0 => Some(Plan { workers: 0, ..self.rest }),
            workers if !self.doubt => Some(Plan { workers, prefetch: self.prefetch?, batch: self.batch?, ..self.rest }),
            _ => None,
        }
    }
}

/// Takes the numbers of one loader.
fn plan(work: &mut Work, facts: &Inputs) -> Half {
    let workers = work.take("workers", &facts.workers, None);
    if facts.workers.is_empty() {
        work.put("workers", None, "the inputs do not tell");
        work.lack("workers");
    }
    let prefetch = work.take("prefetch", &facts.prefetch, Some((2, "PyTorch's default")));
    let batch = batch(work, facts);

    work.show("pin_memory", &facts.pin_memory);
    work.show("persistent_workers", &facts.persistent_workers);
    work.show("epochs", &facts.epochs);
    // Where the inputs tell both, the larger need is assumed.
    let yes = |list: &[Given]| !list.is_empty() && list.iter().all(|given| given.value != 0);
    let pinned = yes(&facts.pin_memory);
    let persistent = yes(&facts.persistent_workers);
    let once = !facts.epochs.is_empty() && facts.epochs.iter().all(|epochs| epochs.value <= 1);
    let restarted = !persistent && !once;
    let kept = match pinned {
        true => work.take("held", &[], Some((0, "pin_memory drops the shared copy at once"))),
        false => work.take("held", &facts.held, Some((1, "the loop variable keeps the last batch"))),
    };
    let ahead = u64::from(facts.look_ahead && !pinned);
    if ahead > 0 {
        work.put("look_ahead", Some(ahead), "the loop fetches a batch before it uses the one before; added to held");
    }
    let hand_over = u64::from(!pinned);
    let why = if pinned {
        "pin_memory takes each batch out of shared memory first"
    } else {
        "the batch just returned while the one before it is freed"
    };
    work.put("hand_over", Some(hand_over), why);
    let (forked, why) = match (pinned, restarted, facts.spawned) {
        (true, ..) => (0, "pin_memory: no shared batch is alive when workers start"),
        (_, _, true) => (0, "spawned workers have no copy of the parent's memory"),
        (_, false, _) => (0, "one epoch, or persistent_workers"),
        (..) => (kept.unwrap_or(1), "assumed: several epochs without persistent_workers, whose new workers pin the last batch"),
    };
    work.put("forked", Some(forked), why);

    let view = facts.view_of.as_ref().map(|view| (facts.sharing.storage(view.value), view));
    let (lasting, lasting_doubt) = match facts.lasting_bytes.is_empty() {
        true => (Some(0), false),
        false => {
            let value = work.take("dataset_bytes", &facts.lasting_bytes, None);
            (value.and_then(|value| facts.sharing.storage(value)), value.is_none())
        }
    };
    let epoch_batches =
        if facts.epoch_batches.is_empty() { None } else { work.take("epoch_batches", &facts.epoch_batches, None) };
    let rest = Plan {
        workers: workers.unwrap_or(0),
        prefetch: prefetch.unwrap_or(0),
        batch: batch.unwrap_or(0),
        held: kept.unwrap_or(1).saturating_add(ahead),
        hand_over,
        forked,
        epoch_batches,
        persistent,
        restarted,
        view: view.map_or(0, |(bytes, _)| bytes.unwrap_or(u64::MAX)),
        lasting: lasting.unwrap_or(u64::MAX),
        page: facts.sharing.page,
    };
    let semaphores = workers.and_then(|_| rest.semaphores());
    work.put("semaphore_bytes", semaphores, "a page for each POSIX semaphore of the loader");
    if let Some((_, from)) = view {
        work.put(
            "lasting_bytes",
            workers.and_then(|_| rest.stays()),
            &format!("{}: each worker keeps the whole storage", from.from),
        );
    } else if !facts.lasting_bytes.is_empty() {
        work.put("lasting_bytes", lasting, "the data set's tensors, in whole pages");
    }
    let doubt = kept.is_none() || lasting_doubt || !facts.epoch_batches.is_empty() && epoch_batches.is_none();
    Half { workers, prefetch, batch, doubt, rest }
}

/// The bytes of a batch, or a word on how to learn them.
fn batch(work: &mut Work, facts: &Inputs) -> Option<u64> {
    let doubted = work.unknown.contains(&"batch_size");
    let size = if facts.batch_size.is_empty() { None } else { work.take("batch_size", &facts.batch_size, None) };
    let Some(sample) = facts.sample.as_ref().filter(|_| facts.batch_bytes.is_empty()) else {
        // The size of a batch in samples is no term of the formula here: if it is in doubt, nothing is lacking.
        work.unknown.retain(|name| *name != "batch_size" || doubted);
        return whole(work, facts, size);
    };
    if facts.batch_size.is_empty() {
        work.put("batch_size", None, "the inputs do not tell");
        work.lack("batch_size");
    }
    let bytes = size.and_then(|size| facts.sharing.batch(&sample.tensors, size, sample.list));
    let shapes: Vec<&str> = sample.tensors.iter().map(|tensor| tensor.text.as_str()).collect();
    let each = if sample.list { "; a list of samples, each in pages of its own" } else { "; each tensor in whole pages" };
    work.put("batch_bytes", bytes, &format!("{} of {}{each}", sample.from, shapes.join(",")));
    if let (Some(size), None) = (size, bytes) {
        work.remarks.push(format!("A batch of {size} samples of {} is too large for any machine.", shapes.join(",")));
    }
    descriptors(work, facts, sample.tensors.len(), size.filter(|_| sample.list));
    bytes
}

/// The bytes of a batch where nobody gave the shape of a sample.
fn whole(work: &mut Work, facts: &Inputs, size: Option<u64>) -> Option<u64> {
    if !facts.batch_bytes.is_empty() {
        return work.take("batch_bytes", &facts.batch_bytes, None);
    }
    if facts.view_of.is_some() {
        work.put("batch_bytes", Some(0), "views of one storage: the storage is counted, its batches cost nothing more");
        return Some(0);
    }
    let from = match size {
        Some(size) => format!("{size} samples, whose size no log tells; measure a batch: {MEASURE}"),
        None => format!("no log tells it; measure a batch: {MEASURE}"),
    };
    work.put("batch_bytes", None, &from);
    work.lack("sample_bytes");
    None
}

/// Warns where the descriptors of all tensors in flight pass the usual limit: they run out before /dev/shm does.
fn descriptors(work: &mut Work, facts: &Inputs, tensors: usize, samples: Option<u64>) {
    if facts.sharing.header > 0 {
        return;
    }
    let (Some(workers), Ok(tensors)) = (facts.workers.first(), u64::try_from(tensors)) else { return };
    let prefetch = facts.prefetch.first().map_or(2, |prefetch| prefetch.value);
    let each = tensors.saturating_mul(samples.unwrap_or(1));
    let all = each.saturating_mul(workers.value.saturating_mul(prefetch));
    if all > DESCRIPTORS / 2 {
        work.remarks.push(format!(
            "Each tensor takes an open file, {each} for a batch and up to {all} for all that are ordered: ulimit -n is often {DESCRIPTORS}."
        ));
    }
}

/// Without the bytes of a batch: what follows from a refused request, and what fits into the /dev/shm that there was.
fn bounds(work: &mut Work, facts: &Inputs, half: &Half, ranks: u64) {
    let (Some(workers), Some(prefetch)) = (half.workers, half.prefetch) else { return };
    if workers == 0 || half.batch.is_some() {
        return;
    }
    let with = |batch: u64| Plan { workers, prefetch, batch, ..half.rest };
    if let Some(Given { value, from }) = &facts.refused
        && let Some(least) = formula::need(&[with(*value)], Together::AtOnce, ranks)
    {
        let (least, value) = (Bytes(least), Bytes(*value));
        work.remarks.push(format!("One storage of {value} was refused ({from}), so that it needs at least {least}."));
    }
    let room = facts.limit.or(facts.had);
    let (Some(room), Some(alive @ 1..), Some(semaphores)) = (room, with(0).alive(), with(0).semaphores()) else { return };
    let largest = Bytes((room.0 / ranks).saturating_sub(semaphores) / alive);
    work.remarks
        .push(format!("{alive} batches may be alive at once, so that {room} is enough for batches of up to {largest} each."));
}

/// Says what fits into the sizes that there are.
fn fits(sizing: &mut Sizing, around: &Inputs, plans: &[Plan], together: Together, ranks: u64) {
    let (Some(need), Some(recommended)) = (sizing.bytes, sizing.recommended) else { return };
    let mut room = around.limit.or(around.had);
    if let Some(limit) = around.memory_limit {
        sizing.memory = fit::memory(limit, around.processes, need, recommended);
    }
    if let Some(memory) = sizing.memory {
        let processes = match memory.processes {
            Some(used) => format!("the {used} of the processes"),
            None => "the processes, if they need as much as they have".to_owned(),
        };
        sizing.remarks.push(format!(
            "/dev/shm counts against the memory limit of {}: for {recommended} of it and {processes}, the limit must be {}.",
            memory.limit, memory.recommended
        ));
        // Where nobody knows what the processes use, half of the limit is left to them.
        let left = Bytes(memory.processes.map_or(memory.limit.0 / 2, |used| memory.limit.0.saturating_sub(used.0)));
        room = Some(around.limit.map_or(left, |limit| limit.min(left)));
    }
    let Some(room) = room else { return };
    if need <= room {
        if around.limit.is_some() {
            sizing.remarks.push(format!("{room} is enough: {} are left.", Bytes(room.0 - need.0)));
        }
        return;
    }
    sizing.fit = fit::largest(plans, together, ranks, room);
    sizing.remarks.push(match sizing.fit {
        Some(fit) => {
            format!("{room} is enough for workers={} with prefetch={}, which need {}.", fit.workers, fit.prefetch, fit.bytes)
        }
        None => format!("{room} is not enough even for one worker with prefetch=1: use smaller batches or num_workers=0."),
    });
}
