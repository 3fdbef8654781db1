//! The list of incidents below what the user named, made while it is worked on. A zip archive is listed like a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Plan;
use super::group::{Grouping, groups, is_pod};
use super::link::link;
use crate::fact::Who;
use crate::input::archive::{Found, Holds};
use crate::input::leaf::{Leaf, STDIN};
use crate::input::walk::{Choice, Step, Wish, walk};
use crate::input::{actions, once};
use crate::note::Note;
use crate::read::{self, Reading};

/// Most files of a folder that are looked at together; a folder with more is looked at in parts.
const FILES: usize = 10_000;

/// Largest file that is read as a record to learn what it is about, in bytes.
const RECORD: u64 = 1 << 20;

/// What a worker gets.
pub(super) enum Job {
    /// Files of one incident, and what is to be told of it.
    Files(Arc<str>, Vec<Leaf>, Vec<Note>),
    /// An archive that is read from front to back and may hold several; which of its files are wanted.
    Archive(Leaf, Wish),
    /// What could not be listed.
    Lost(Note),
}

/// Takes jobs, and says whether to go on.
type Sink<'a> = dyn FnMut(Job) -> bool + 'a;

/// Lists all jobs; ends early when `sink` says so.
pub(super) fn list(paths: &[PathBuf], plan: &Plan, sink: &mut Sink<'_>) {
    let Plan { choice, grouping, filtered, .. } = plan;
    let (grouping, filtered) = (*grouping, *filtered);
    let mut notes = Vec::new();
    let mut paths = once(paths, &|root, path| choice.reaches(root, path), &mut notes);
    if grouping != Grouping::File {
        // Files of one folder that are named one by one belong together like those of a folder that is named.
        let first: Vec<PathBuf> = paths.iter().map(|path| path.parent().unwrap_or(path).to_owned()).collect();
        paths.sort_by_cached_key(|path| {
            let parent = path.parent().unwrap_or(path);
            first.iter().position(|known| known == parent)
        });
    }
    let mut folder = Folder { notes, ..Folder::new(grouping) };
    for path in paths {
        let mut empty = !filtered;
        let visit = &mut |step| match step {
            Step::Note(note) if note.is_unread() => {
                empty = false;
                sink(Job::Lost(note))
            }
            Step::Note(note) => {
                empty = false;
                folder.notes.push(note);
                true
            }
            Step::File(name, path, wish) => {
                empty = false;
                take(Leaf::file(name, path), wish, choice, &mut folder, sink)
            }
        };
        // Standard input is no file to look for.
        let standard = path.as_os_str() == STDIN;
        let on = if standard { visit(Step::File(STDIN.into(), path.clone(), Wish::Whole)) } else { walk(path, choice, visit) };
        if !on || path.is_dir() && !folder.give(sink) {
            return;
        }
        if empty && !sink(Job::Lost(Note::unread(&path.to_string_lossy().into(), "a folder without files"))) {
            return;
        }
    }
    if folder.give(sink) {
        // Where nothing was found to put them beside.
        let _ = folder.notes.into_iter().all(|note| sink(Job::Lost(note)));
    }
}

/// Takes a file into its folder, and looks into archives.
fn take(leaf: Leaf, wish: Wish, choice: &Choice, folder: &mut Folder, sink: &mut Sink<'_>) -> bool {
    let directory = match leaf.holds() {
        Holds::One => return wish == Wish::Inside || folder.take(leaf, sink),
        Holds::Stream => None,
        Holds::Directory => leaf.directory(),
    };
    let Some(directory) = directory else { return sink(Job::Archive(leaf, wish)) };
    let mut files = directory.files();
    // An archive keeps its order inside a folder: steps are numbered, and ten comes behind two there.
    files.sort_by(|(_, a), (_, b)| Path::new(parent(a)).cmp(Path::new(parent(b))));
    let mut inner = Folder::new(folder.grouping);
    inner.notes.extend(directory.note(&leaf.name));
    let mut members = files.into_iter();
    let taken = members.all(|(index, inside)| {
        let Some(wish) = choice.member(&inside, wish) else { return true };
        let member = Leaf::member(format!("{}!/{inside}", leaf.name).into(), &directory, index);
        match member.holds() {
            Holds::One => wish == Wish::Inside || inner.take(member, sink),
            Holds::Directory | Holds::Stream => sink(Job::Archive(member, wish)),
        }
    });
    taken && inner.give(sink)
}

/// The files of the folders that are walked over.
struct Folder {
    grouping: Grouping,
    /// Those that the walk is in, the outer ones first: behind a folder inside, one may have further files.
    open: Vec<Home>,
    /// What is to be told beside the next incident.
    notes: Vec<Note>,
}

/// The files of a folder by which incidents are named; for a pod, the pod's own.
#[derive(Default)]
struct Home {
    at: PathBuf,
    files: Vec<Leaf>,
    /// The groups of the parts of a large folder that were given away.
    given: HashSet<Option<String>>,
}

impl Folder {
    fn new(grouping: Grouping) -> Self {
        Self { grouping, open: Vec::new(), notes: Vec::new() }
    }

    /// Takes a file, and gives away the files of the folders that the walk has left.
    fn take(&mut self, leaf: Leaf, sink: &mut Sink<'_>) -> bool {
        // What this run is writing lies beside the report that it will replace.
        if leaf.path().is_some_and(is_double) || leaf.name.ends_with(&format!(".{}.part", std::process::id())) {
            return true;
        }
        let at = home(&leaf.name, self.grouping);
        let inside = |home: &Home| self.grouping != Grouping::File && Path::new(parent(&leaf.name)).starts_with(&home.at);
        let left = self.open.iter().rposition(|home| home.at == at || inside(home)).map_or(0, |last| last + 1);
        while self.open.len() > left {
            if !self.give_last(false, sink) {
                return false;
            }
        }
        if self.open.last().is_none_or(|home| home.at != at) {
            self.open.push(Home { at, ..Home::default() });
        }
        let full = self.open.last().is_some_and(|home| home.files.len() >= FILES);
        if full && !self.give_last(true, sink) {
            return false;
        }
        if let Some(home) = self.open.last_mut() {
            home.files.push(leaf);
        }
        true
    }

    /// Gives away what was collected.
    fn give(&mut self, sink: &mut Sink<'_>) -> bool {
        while !self.open.is_empty() {
            if !self.give_last(false, sink) {
                return false;
            }
        }
        true
    }

    /// Gives away the files of the innermost folder; `more` says that it has further ones.
    fn give_last(&mut self, more: bool, sink: &mut Sink<'_>) -> bool {
        let Some(Home { at, files, mut given }) = self.open.pop() else { return true };
        let names: Vec<&str> = files.iter().map(Leaf::file_name).collect();
        let grouping = inside(&at, self.grouping);
        let whole = !more && given.is_empty();
        let mut groups = groups(&names, grouping, whole);
        if grouping == Grouping::Auto {
            link(&names, &mut groups, whole, &|index| files.get(index).filter(|leaf| leaf.size() <= RECORD).map(of_leaf));
        }
        for (key, indices) in groups {
            let chosen: Vec<Leaf> = indices.iter().filter_map(|index| files.get(*index).cloned()).collect();
            let Some(first) = chosen.first() else { continue };
            let name = if chosen.len() == 1 { Arc::clone(&first.name) } else { called(&at, key.as_deref()) };
            let mut notes = std::mem::take(&mut self.notes);
            if given.contains(&key) {
                let text = format!(
                    "a folder of more than {FILES} files is looked at in parts: other files of this incident stand above"
                );
                notes.push(Note::remark(&name, text));
            }
            given.insert(key);
            if !sink(Job::Files(name, chosen, notes)) {
                return false;
            }
        }
        if more {
            self.open.push(Home { at, given, ..Home::default() });
        }
        true
    }
}

/// Whom a file is about.
fn of_leaf(leaf: &Leaf) -> Vec<Who> {
    let mut reading = Reading::default();
    read_into(leaf, &mut reading);
    about(&reading)
}

/// Whom claims are about.
pub(super) fn about(reading: &Reading) -> Vec<Who> {
    reading.facts.iter().map(|fact| fact.who.clone()).collect()
}

/// Reads a file of an incident.
pub(super) fn read_into(leaf: &Leaf, reading: &mut Reading) {
    leaf.each(&mut |found| match found {
        Found::Input(name, reader) => read::one(name, reader, reading),
        Found::Note(note) => reading.notes.push(note),
    });
}

/// How an incident of several files is called.
pub(super) fn called(at: &Path, key: Option<&str>) -> Arc<str> {
    match key {
        Some(key) => at.join(key).to_string_lossy().into(),
        None if at.as_os_str().is_empty() => ".".into(),
        None => at.to_string_lossy().trim_end_matches('!').into(),
    }
}

/// The folder that a file's incident is named by; for a file of a pod, the pod's own, and for one of a rank, that of the job.
pub(super) fn home(name: &str, grouping: Grouping) -> PathBuf {
    let parent = Path::new(parent(name));
    if grouping != Grouping::Auto {
        return parent.to_owned();
    }
    let pod = |folder: &&Path| folder.file_name().is_some_and(|name| is_pod(&name.to_string_lossy()));
    parent.ancestors().find(pod).unwrap_or_else(|| above_ranks(parent)).to_owned()
}

/// The folder above those that torchrun makes for attempts and their ranks (`attempt_0/3`), and above `rank_3`.
fn above_ranks(folder: &Path) -> &Path {
    let numbered = |folder: &Path, words: &[&str]| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() < name.len() && words.contains(&word.trim_end_matches(['_', '-']))
    };
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    match above {
        Some(above) if numbered(folder, &["attempt", "rank", "local_rank"]) => above_ranks(above),
        Some(above) if numbered(folder, &[""]) && numbered(above, &["attempt"]) => above_ranks(above),
        _ => folder,
    }
}

/// How the files of a folder are put together: those of a pod are one incident.
pub(super) fn inside(folder: &Path, grouping: Grouping) -> Grouping {
    let pod = folder.file_name().is_some_and(|name| is_pod(&name.to_string_lossy()));
    if pod && grouping == Grouping::Auto { Grouping::Dir } else { grouping }
}

/// The folder of a name.
fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| if folder.is_empty() { "/" } else { folder })
}

/// Whether a file of an unpacked GitHub Actions archive repeats the steps in the folder beside it.
fn is_double(path: &Path) -> bool {
    let folder = path.to_string_lossy();
    actions::whole(&folder).is_some_and(|job| Path::new(&job).join("1_Set up job.txt").is_file())
}

#[cfg(test)]
mod tests {
    use super::{FILES, Job, home, list};
    use crate::scan::{Grouping, Plan};
    use std::path::Path;

    #[test]
    fn ranks_and_pods_have_their_home_in_the_job() {
        let pod = "pods/default_trainer-0_0a1b2c3d-0000-1111-2222-333344445555";
        for (name, folder) in [
            ("logs/run/attempt_0/3/stderr.log", "logs/run"),
            ("logs/run/rank_3/out.log", "logs/run"),
            ("attempt_0/3/stderr.log", "attempt_0"),
            ("logs/4711/out.log", "logs/4711"),
            ("logs/node1/out.log", "logs/node1"),
            ("a.zip!/run/attempt_1/0/stdout.log", "a.zip!/run"),
            ("x.log", ""),
        ] {
            assert_eq!(home(name, Grouping::Auto), Path::new(folder), "{name}");
        }
        assert_eq!(home(&format!("{pod}/main/0.log"), Grouping::Auto), Path::new(pod));
        assert_eq!(home("run/rank_3/out.log", Grouping::Dir), Path::new("run/rank_3"));
    }

    #[test]
    fn an_incident_that_a_large_folder_tears_apart_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=FILES {
            std::fs::write(folder.path().join(format!("bert-rank{number}.log")), "").unwrap();
        }
        std::fs::write(folder.path().join("other.log"), "").unwrap();
        let mut notes = Vec::new();
        list(&[folder.path().to_owned()], &Plan::default(), &mut |job| {
            let Job::Files(_, files, told) = job else { panic!("these are files") };
            notes.push((files.len(), told.len()));
            true
        });
        assert_eq!(notes, [(FILES, 0), (1, 1), (1, 0)]);
    }
}
