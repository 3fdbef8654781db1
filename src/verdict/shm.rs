//! Rules for a full /dev/shm: refused shared memory, and SIGBUS with what speaks for and against shared memory.

use super::says::{self, sentence, subject};
use super::{Cause, Evidence, Finding, Grade};
use crate::death::{Context, Death};
use crate::fact::{Fact, Resource, Shm, What};
use crate::units::{Bytes, Signal};

/// A /dev/shm from this size on is not small: a default DataLoader seldom fills it.
const ROOMY: Bytes = Bytes::mib(1024);

/// Functions of NCCL that touch a fresh segment of /dev/shm (NCCL 2.12 to 2.18 do not reserve it first).
const NCCL_SHM: &[&str] = &["ncclShmOpen", "shmRecvSetup", "shmSendSetup", "ncclShmSetup"];

/// Functions of NCCL below which it makes its segments in /dev/shm, as native stacks name them.
const NCCL_START: &str = "ncclCommInit";

/// Modules that read mapped files of other file systems.
const MAPPERS: &[&str] = &["core/memmap.py", "lmdb/", "pyarrow/", "ffcv/", "safetensors/", "zarr/", "h5py/"];

/// A failing call that asked for room in /dev/shm. A signal of the same death is judged by [`bus_error`].
pub(super) fn refused(death: &Death, _: &Context) -> Option<Finding> {
    if death.signal == Some(Signal::BUS) {
        return None;
    }
    let fact = death.refused(Resource::Shm).or_else(|| death.refused(Resource::ShmInodes))?;
    let What::Refused { by, bytes, resource, .. } = &fact.what else { return None };
    let amount = bytes.map_or_else(String::new, |bytes| format!(" ({bytes} at once)"));
    let lacking = if *resource == Resource::ShmInodes { "has no inodes left" } else { "is full" };
    let feeder = death.traceback.as_ref().is_some_and(|t| t.passes("_feed"));
    let hang = if feeder { " The batch was lost in the queue's feeder thread: nothing dies then, the job hangs." } else { "" };
    let text = format!("/dev/shm {lacking}: {by} could not get shared memory{amount}.{hang}");
    Some(Finding::new(Cause::ShmEnospc, Grade::Proven, text).because(fact, "the failing call itself: no room in /dev/shm"))
}

/// SIGBUS: which mapping had no page behind it?
pub(super) fn bus_error(death: &Death, context: &Context) -> Option<Finding> {
    if death.signal != Some(Signal::BUS) {
        return None;
    }
    let who = sentence(&subject(death));
    let trapped = death.find(|w| matches!(w, What::Trapped { signal: Signal::BUS, fault } if fault != "fatal signal"));
    if let Some(fact) = trapped {
        let text = format!("{who} died of SIGBUS for a reason that the kernel names; /dev/shm had no part in it.");
        return Some(Finding::new(Cause::SigbusOther, Grade::Proven, text).because(fact, "the kernel names the fault"));
    }
    let weighed = Weighed::of(death, context);
    let Weighed { proof, strong, hint, weak, room, other, doubts, own_batches_cannot } = weighed;
    let conclude = |cause, grade, text: String, fors: Vec<Evidence>, againsts: Vec<Evidence>| {
        let mut found = Finding::new(cause, grade, text);
        found.because = fors;
        found.against = againsts;
        Some(found)
    };
    let full = format!("{who} died of SIGBUS: /dev/shm was full");
    if let Some(proof) = proof {
        return conclude(
            Cause::ShmSigbus,
            Grade::Proven,
            format!("{full}, as a failing call beside it says."),
            vec![proof],
            doubts,
        );
    }
    if let Some(strong) = strong {
        return conclude(Cause::ShmSigbus, Grade::Likely, format!("{full}."), vec![strong], doubts);
    }
    if let Some(gpu) = death.find(|w| matches!(w, What::Gpu { .. })) {
        let text = format!("{who} died of SIGBUS when a GPU was lost: it touched memory of the device.");
        let driver = Evidence { fact: gpu.clone(), says: "the driver reported it in the same moment".to_owned() };
        return conclude(Cause::GpuFault, Grade::Likely, text, vec![driver], doubts);
    }
    if let Some(disk) = death.refused(Resource::Disk) {
        let text = format!("{who} died of SIGBUS on a full disk: a mapped file on it could not be backed.");
        let refused = Evidence { fact: disk.clone(), says: "a disk was full".to_owned() };
        let fors = std::iter::once(refused).chain(other).chain(room).collect();
        return conclude(Cause::SigbusOther, Grade::Likely, text, fors, hint.into_iter().collect());
    }
    if let Some(room) = room {
        let (summary, mut fors) = match &other {
            Some(_) => (
                format!("{who} died of SIGBUS while a disk was full and /dev/shm had room: a mapped file could not be backed."),
                Vec::new(),
            ),
            None => (
                format!(
                    "{who} died of SIGBUS, but /dev/shm had room: look for a mapped file that was truncated, or a full or failing disk."
                ),
                Vec::new(),
            ),
        };
        fors.push(room);
        let grade = if other.is_some() { Grade::Likely } else { Grade::Suspected };
        fors.extend(other);
        return conclude(Cause::SigbusOther, grade, summary, fors, hint.into_iter().collect());
    }
    if let Some(other) = other {
        let text = format!("{who} died of SIGBUS while a disk was full: a mapped file on it could not be backed.");
        return conclude(Cause::SigbusOther, Grade::Suspected, text, vec![other], hint.into_iter().collect());
    }
    let mapped = death.find(|w| matches!(w, What::Frame { file, .. } if MAPPERS.iter().any(|known| file.contains(known))));
    if let Some(fact) = mapped {
        let text =
            format!("{who} died of SIGBUS while it read a mapped file: the file was truncated, or its disk or server failed.");
        let stack = Evidence { fact: fact.clone(), says: "the dying thread was reading a mapped file".to_owned() };
        return conclude(Cause::SigbusOther, Grade::Suspected, text, vec![stack], hint.into_iter().collect());
    }
    if let Some(hint) = hint {
        if own_batches_cannot && weak.is_none() {
            let text = format!(
                "{who} died of SIGBUS. From PyTorch 2.10 on its own batches cannot cause that; another user of /dev/shm or a mapped file can."
            );
            return conclude(Cause::ShmSuspected, Grade::Suspected, text, vec![hint], doubts);
        }
        if doubts.is_empty() || weak.is_some() {
            let grade = if own_batches_cannot { Grade::Suspected } else { Grade::Likely };
            let fors = std::iter::once(hint).chain(weak).collect();
            return conclude(
                Cause::ShmSigbus,
                grade,
                format!("{who} died of SIGBUS, most likely on a full /dev/shm."),
                fors,
                doubts,
            );
        }
        let text = format!("{who} died of SIGBUS; something speaks against a full /dev/shm.");
        return conclude(Cause::ShmSuspected, Grade::Suspected, text, vec![hint], doubts);
    }
    // A small /dev/shm is none that was full, unless somebody says that it was being filled.
    let fills = |w: &What| match w {
        // Releases of NCCL that take their segments without reserving the pages.
        What::Version { program: "nccl", major: 2, minor } => (12..=18).contains(minor),
        What::Frame { function: Some(name), .. } => name.starts_with(NCCL_START),
        _ => *w == What::ShmUse,
    };
    let filled = context.facts.iter().chain(&context.frames).find(|f| fills(&f.what));
    if let (Some(weak), None) = (&weak, filled) {
        let text = format!("{who} died of SIGBUS where /dev/shm was small; nothing here tells whether it was full.");
        return conclude(Cause::ShmSuspected, Grade::Suspected, text, vec![weak.clone()], doubts);
    }
    if let (Some(weak), Some(filled)) = (weak, filled) {
        let says = match filled.what {
            What::ShmUse => "the program was making or filling a file in /dev/shm",
            What::Frame { .. } => "it was starting NCCL, which makes segments in /dev/shm",
            _ => "this release touches its segments in /dev/shm without reserving them",
        };
        let says = says.to_owned();
        let fors = vec![weak, Evidence { fact: filled.clone(), says }];
        let text = format!("{who} died of SIGBUS in a container with a small /dev/shm.");
        return conclude(Cause::ShmSigbus, Grade::Suspected, text, fors, doubts);
    }
    let text = format!("{who} died of SIGBUS; nothing here tells which memory it touched.");
    conclude(Cause::ShmSuspected, Grade::Suspected, text, Vec::new(), doubts)
}

/// What speaks for and against shared memory as the cause of a SIGBUS.
struct Weighed {
    /// A call that was refused room in /dev/shm.
    proof: Option<Evidence>,
    /// A `df` that shows it full, a library that found too little room in it, or a stack inside NCCL's shared memory code.
    strong: Option<Evidence>,
    /// PyTorch's hint, printed for every SIGBUS.
    hint: Option<Evidence>,
    /// A small /dev/shm.
    weak: Option<Evidence>,
    /// A `df` or record that shows room in it.
    room: Option<Evidence>,
    /// Another file system that is full.
    other: Option<Evidence>,
    /// A large or shared /dev/shm, a version that cannot do it.
    doubts: Vec<Evidence>,
    /// PyTorch 2.10 or later: its batches are refused, not killed.
    own_batches_cannot: bool,
}

impl Weighed {
    fn of(death: &Death, context: &Context) -> Self {
        let evidence = |fact: &Fact, says: String| Evidence { fact: fact.clone(), says };
        let proof =
            death.refused(Resource::Shm).map(|f| evidence(f, "a call was refused room in /dev/shm: it was full".to_owned()));
        let hint = death.hint().map(|f| {
            evidence(f, "a worker died of SIGBUS; PyTorch prints this hint for every SIGBUS, so it makes a full /dev/shm likely, not certain".to_owned())
        });
        let shm = shm_of(death, context);
        let (mut weak, mut doubts) = (None, Vec::new());
        match shm {
            Some((fact, shm @ (Shm::Default(size) | Shm::Sized(size)))) if size < ROOMY && size.0 > 0 => {
                weak = Some(evidence(fact, says::shm_size(shm)))
            }
            Some((fact, shm @ (Shm::Sized(_) | Shm::Default(_) | Shm::Host | Shm::Unsized))) => {
                doubts.push(evidence(fact, says::shm_size(shm)))
            }
            _ => {}
        }
        let (mut strong, mut room) = (None, None);
        if let Some((fact, size, used)) = context.dev_shm() {
            let share = if size.0 == 0 { 0 } else { u128::from(used.0) * 100 / u128::from(size.0) };
            if share >= 95 {
                strong = Some(evidence(fact, format!("/dev/shm is full: {used} of {size} used")));
            } else if size >= ROOMY && share < 80 {
                room = Some(evidence(fact, format!("/dev/shm had room: {used} of {size} used")));
            } else if size < ROOMY && weak.is_none() {
                weak = Some(evidence(fact, format!("/dev/shm has only {size}; it empties when the process dies")));
            }
        }
        let in_nccl = |what: &What| matches!(what, What::Frame { function: Some(f), .. } if NCCL_SHM.iter().any(|known| f.starts_with(known)));
        if let Some(fact) = context.frames.iter().find(|f| in_nccl(&f.what)).filter(|_| strong.is_none()) {
            strong = Some(evidence(fact, "it was touching a fresh NCCL segment in /dev/shm, which had no page left".to_owned()));
        }
        let short = context.facts.iter().find(|f| f.what == What::ShmShort).filter(|_| strong.is_none());
        if let Some(fact) = short {
            strong = Some(evidence(fact, "a library found too little room in /dev/shm before".to_owned()));
        }
        let other = context.full_disk().map(|f| evidence(f, "this file system is full".to_owned()));
        let torch = context.torch().filter(|(_, major, minor)| (*major, *minor) >= (2, 10));
        if let Some((fact, major, minor)) = torch {
            let says =
                format!("PyTorch {major}.{minor} reserves its shared memory: a full /dev/shm gives an error there, not SIGBUS");
            doubts.push(evidence(fact, says));
        }
        Self { proof, strong, hint, weak, room, other, doubts, own_batches_cannot: torch.is_some() }
    }
}

/// What is known of the size of /dev/shm: from the container's record, else from a command line.
pub fn shm_of<'a>(death: &'a Death, context: &'a Context) -> Option<(&'a Fact, Shm)> {
    let option = |fact: &'a Fact| match fact.what {
        What::ShmOption(shm) if shm != Shm::Unknown => Some((fact, shm)),
        _ => None,
    };
    let record = || death.containers().find(|(_, c)| c.shm != Shm::Unknown).map(|(fact, c)| (fact, c.shm));
    // A command line of another container says nothing about this one.
    let other = |fact: &Fact| fact.who.container_name.is_some() && fact.who.container_name != death.who.container_name;
    let told = || context.facts.iter().filter(|fact| !other(fact)).filter_map(option);
    // The record's own field is the better evidence than the record as a whole.
    let field = |(whole, shm): (&'a Fact, Shm)| {
        let differ = |a: &Option<String>, b: &Option<String>| a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a != b);
        let same = |fact: &Fact| {
            fact.place.input == whole.place.input
                && !differ(&fact.who.container, &whole.who.container)
                && !differ(&fact.who.container_name, &whole.who.container_name)
        };
        told().find(|(fact, told)| *told == shm && same(fact)).unwrap_or((whole, shm))
    };
    death.facts.iter().find_map(option).or_else(|| record().map(field)).or_else(|| told().next())
}
