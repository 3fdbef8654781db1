//! Archives that are read from front to back: their files come in any order, so that they are put together when all, or as
//! many as may be held, were read.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Plan;
use super::group::{Grouping, groups};
use super::link::link;
use super::list::{about, called, home, inside};
use crate::context;
use crate::examine::conclude;
use crate::input::archive::Found;
use crate::input::leaf::Leaf;
use crate::input::walk::Wish;
use crate::note::Note;
use crate::read::{self, Reading};
use crate::report::Report;

/// Most files whose readings are held.
const HELD: usize = 2_000;

/// Most facts of them.
const FACTS: usize = 50_000;

/// An incident with its name.
pub(super) type Named = (Arc<str>, Report);

/// Reads an archive and gives its incidents away, a part at a time where it has many files. When `stop` is set, what was read
/// by then is told.
pub(super) fn stream(leaf: &Leaf, wish: Wish, plan: &Plan, stop: &AtomicBool, give: &mut dyn FnMut(Vec<Named>)) {
    let mut give = |mut incidents: Vec<Named>| {
        if plan.context {
            context::add(std::slice::from_ref(leaf), incidents.iter_mut().map(|(_, report)| report));
        }
        give(incidents);
    };
    let mut held = Held::default();
    let mut notes: Vec<Note> = Vec::new();
    let root = format!("{}!/", leaf.name);
    leaf.each_until(stop, &mut |found| {
        let (name, reader) = match found {
            _ if stop.load(Ordering::Relaxed) => return,
            Found::Note(note) => return notes.push(note),
            Found::Input(name, reader) => (name, reader),
        };
        if name.strip_prefix(&*root).is_some_and(|inside| matches!(plan.choice.member(inside, wish), None | Some(Wish::Inside))) {
            return;
        }
        let mut reading = Reading::default();
        read::one(name, reader, &mut reading);
        // What was being read when it was stopped is not known to its end.
        if stop.load(Ordering::Relaxed) {
            return;
        }
        if held.files.len() >= HELD || held.facts >= FACTS {
            give(held.incidents(plan, &mut notes, false));
        }
        held.facts += reading.facts.len();
        held.files.push((Arc::clone(name), reading));
    });
    let mut last = held.incidents(plan, &mut notes, true);
    if !notes.is_empty() {
        last.push((Arc::clone(&leaf.name), conclude(Reading::default(), notes, &plan.options)));
    }
    give(last);
}

/// What was read and not yet judged.
#[derive(Default)]
struct Held {
    files: Vec<(Arc<str>, Reading)>,
    facts: usize,
    /// What was judged: hashes of folders with what their groups are called.
    given: HashSet<u64>,
}

impl Held {
    /// Judges all of it; the notes go to the first incident. `last` says that nothing follows.
    fn incidents(&mut self, plan: &Plan, notes: &mut Vec<Note>, last: bool) -> Vec<Named> {
        self.facts = 0;
        let whole = last && self.given.is_empty();
        let mut folders: BTreeMap<PathBuf, Vec<(Arc<str>, Reading)>> = BTreeMap::new();
        for (name, reading) in self.files.drain(..) {
            folders.entry(home(&name, plan.grouping)).or_default().push((name, reading));
        }
        let mut found = Vec::new();
        for (folder, members) in folders {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.rsplit('/').next().unwrap_or(name)).collect();
            let grouping = inside(&folder, plan.grouping);
            let mut groups = groups(&names, grouping, whole);
            if grouping == Grouping::Auto {
                link(&names, &mut groups, whole, &|index| members.get(index).map(|(_, reading)| about(reading)));
            }
            let mut members: Vec<Option<(Arc<str>, Reading)>> = members.into_iter().map(Some).collect();
            for (key, indices) in groups {
                let mut together = Reading::default();
                let mut name = called(&folder, key.as_deref());
                let single = indices.len() == 1;
                let mut hasher = DefaultHasher::new();
                (&folder, &key).hash(&mut hasher);
                if !self.given.insert(hasher.finish()) {
                    let text = "other files of this incident stand far before these in the archive: they are told above";
                    notes.push(Note::remark(&name, text));
                }
                for (own, reading) in indices.into_iter().filter_map(|index| members.get_mut(index)?.take()) {
                    if single {
                        name = own;
                    }
                    together.join(reading);
                }
                found.push((name, conclude(together, std::mem::take(notes), &plan.options)));
            }
        }
        found
    }
}
