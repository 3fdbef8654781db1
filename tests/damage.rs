//! What was cut off or lost makes no verdict stronger: every case once more, cut at some byte or without one of its lines.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use coroner::examine::{Options, examine};
use coroner::input::Source;
use coroner::verdict::{Class, Grade, Verdict};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

/// How often each case is cut, and how often it loses a line.
const TIMES: usize = 6;

/// Cases in which what is lost spoke against the verdict: the good end of a second attempt, a row of df with room, a ShmSize,
/// PyTorch's version, the time or the name that set somebody else's death apart, the whole of a log. Nothing in the rest can
/// tell that it is missing.
const WITNESS_LOST: [&str; 14] = [
    "append-mode-log-first-attempt-shm",
    "dask-killedworker-three-logs",
    "docker-events-foreign-oom-own-exit-1",
    "evicted-neighbour-own-137-error",
    "inspect-true-exit1-worker-log",
    "joined-bus-df-with-room",
    "lustre-eviction-worker-bus-hint-df-room",
    "memory-stat-v2-shmem-fills-limit",
    "nfs-stale-memmap-df-shm-empty",
    "pipedream-bus-host-ipc",
    "shmsize-32g-small-batches-bus-error",
    "snakemake-sigkill-and-seff-out-of-memory",
    "torch210-hint-alone",
    "tz-shift-8h-same-pid-bare-metal",
];

/// The inputs of a case, each with its name.
type Files = Vec<(String, Vec<u8>)>;

fn verdict(files: &Files) -> Verdict {
    let sources = files.iter().map(|(name, bytes)| Source::stream(name.as_str().into(), Cursor::new(bytes.clone())));
    examine(&sources.collect::<Vec<_>>(), Vec::new(), &Options::default()).verdict
}

fn files(folder: &Path) -> Files {
    let text = fs::read_to_string(folder.join("case.json")).expect("each folder has a case.json");
    let case: Value = serde_json::from_str(&text).expect("it is JSON");
    let names = case["inputs"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), fs::read(folder.join(name)).expect("the inputs are there"))).collect()
}

fn folders() -> Vec<PathBuf> {
    let classes = fs::read_dir("fixtures").expect("there are fixtures").flatten().filter(|class| class.path().is_dir());
    let mut all: Vec<_> =
        classes.flat_map(|class| fs::read_dir(class.path()).expect("it was listed")).flatten().map(|case| case.path()).collect();
    all.sort();
    all
}

/// Cuts one of the files, or takes a line out of it; tells what was done.
fn damage(files: &mut Files, cut: bool, which: prop::sample::Index, place: prop::sample::Index) -> String {
    let (name, bytes) = which.get_mut(files.as_mut_slice());
    if cut {
        let at = place.index(bytes.len() + 1);
        bytes.truncate(at);
        return format!("{name} cut at byte {at}");
    }
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let at = place.index(lines.len().max(1));
    let lost = String::from_utf8_lossy(lines.get(at).copied().unwrap_or_default()).into_owned();
    *bytes = lines.iter().enumerate().filter(|(number, _)| *number != at).flat_map(|(_, line)| line.iter().copied()).collect();
    format!("{name} without line {}: {lost}", at + 1)
}

/// How strongly a verdict accuses: not at all where it names neither shared memory nor the OOM killer.
fn accusation(verdict: &Verdict) -> Option<Grade> {
    matches!(verdict.cause.class(), Class::ShmExhaustion | Class::OomKill).then_some(verdict.grade)
}

/// Numbers that depend on the name of a case alone, so that a new case changes nothing for the others.
fn dice(id: &str) -> TestRunner {
    let mut seed = [0; 32];
    for (at, byte) in id.bytes().enumerate() {
        seed[at % 32] ^= byte.rotate_left(u32::try_from(at / 32).unwrap_or_default());
    }
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

#[test]
fn no_accusation_grows_when_something_is_lost() {
    let places = any::<[(prop::sample::Index, prop::sample::Index); 2 * TIMES]>();
    let (mut grown, mut lost) = (Vec::new(), BTreeSet::new());
    for folder in folders() {
        let id = folder.file_name().expect("a listed path has a name").to_string_lossy().into_owned();
        let (whole, picks) = (files(&folder), places.new_tree(&mut dice(&id)).expect("indices can always be drawn").current());
        let before = verdict(&whole);
        for (number, (which, place)) in picks.into_iter().enumerate() {
            let mut damaged = whole.clone();
            let how = damage(&mut damaged, number % 2 == 0, which, place);
            let after = verdict(&damaged);
            if accusation(&after) <= Some(before.grade) {
                continue;
            }
            lost.insert(id.clone());
            if !WITNESS_LOST.contains(&id.as_str()) {
                let [before, after] = [&before, &after].map(|v| format!("{} {}", v.grade.slug(), v.cause.slug()));
                grown.push(format!("{id}: {before} became {after}, {how}"));
            }
        }
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
    let idle: Vec<_> = WITNESS_LOST.iter().filter(|id| !lost.contains(**id)).collect();
    assert!(idle.is_empty(), "nothing grows any more in {idle:?}: take them off WITNESS_LOST");
}
