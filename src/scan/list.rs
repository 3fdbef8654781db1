//! The list of incidents below what the user named, made while it is worked on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::group::{Grouping, groups, is_archive, is_pod};
use crate::input::actions;
use crate::input::walk::{Choice, Step, walk};
use crate::note::Note;

/// Most files of one incident; a folder with more is cut into several.
const FILES: usize = 10_000;

/// What a worker gets.
pub(super) enum Job {
    /// Files of one incident.
    Files(Arc<str>, Vec<(Arc<str>, PathBuf)>),
    /// An archive that may hold several.
    Archive(Arc<str>, PathBuf),
    /// What could not be listed.
    Lost(Note),
}

/// Lists all jobs; ends early when `sink` says so.
pub(super) fn list(paths: &[PathBuf], choice: &Choice, grouping: Grouping, sink: &mut dyn FnMut(Job) -> bool) {
    for path in paths {
        let mut folder = Folder { root: path, grouping, ..Folder::new(path) };
        let on = walk(path, choice, &mut |step| match step {
            Step::Note(note) => sink(Job::Lost(note)),
            Step::File(name, path) => folder.take(name, path, sink),
        });
        if !on || !folder.give(sink) {
            return;
        }
    }
}

/// The files of the folder that is walked over.
struct Folder<'a> {
    root: &'a Path,
    grouping: Grouping,
    /// The folder that the incidents are named by; for a pod, the pod's own.
    at: Option<PathBuf>,
    files: Vec<(Arc<str>, PathBuf)>,
}

impl<'a> Folder<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, grouping: Grouping::Auto, at: None, files: Vec::new() }
    }

    /// Takes a file, and gives away the files of the folder before it.
    fn take(&mut self, name: Arc<str>, path: PathBuf, sink: &mut dyn FnMut(Job) -> bool) -> bool {
        let at = home(&path, self.root, self.grouping);
        if (self.at.as_ref() != Some(&at) || self.files.len() >= FILES) && !self.give(sink) {
            return false;
        }
        self.at = Some(at);
        if is_archive(&name) {
            return sink(Job::Archive(name, path));
        }
        if self.grouping == Grouping::File {
            return sink(Job::Files(Arc::clone(&name), vec![(name, path)]));
        }
        if !is_double(&path) {
            self.files.push((name, path));
        }
        true
    }

    /// Gives away what was collected.
    fn give(&mut self, sink: &mut dyn FnMut(Job) -> bool) -> bool {
        let files = std::mem::take(&mut self.files);
        let at = self.at.take().unwrap_or_default();
        let below = at.strip_prefix(".").ok().filter(|below| !below.as_os_str().is_empty());
        let at = below.unwrap_or(&at).to_string_lossy().into_owned();
        let pod = Path::new(&at).file_name().is_some_and(|name| is_pod(&name.to_string_lossy()));
        let grouping = if pod && self.grouping == Grouping::Auto { Grouping::Dir } else { self.grouping };
        let last = |(_, path): &(Arc<str>, PathBuf)| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = files.iter().map(last).collect();
        for (key, indices) in groups(&names, grouping) {
            let chosen: Vec<_> = indices.iter().filter_map(|index| files.get(*index).cloned()).collect();
            let name = match (&key, chosen.as_slice()) {
                (_, []) => continue,
                (_, [(only, _)]) => Arc::clone(only),
                (None, _) => at.as_str().into(),
                (Some(key), _) => Path::new(&at).join(key).to_string_lossy().into(),
            };
            if !sink(Job::Files(name, chosen)) {
                return false;
            }
        }
        true
    }
}

/// The folder that a file's incident is named by.
fn home(path: &Path, root: &Path, grouping: Grouping) -> PathBuf {
    let parent = path.parent().unwrap_or(root);
    let pod = |folder: &&Path| folder.file_name().is_some_and(|name| is_pod(&name.to_string_lossy()));
    match grouping {
        Grouping::Auto => parent.ancestors().find(pod).unwrap_or(parent).to_owned(),
        Grouping::File | Grouping::Dir => parent.to_owned(),
    }
}

/// Whether a file of an unpacked GitHub Actions archive repeats the steps in the folder beside it.
fn is_double(path: &Path) -> bool {
    let folder = path.to_string_lossy();
    actions::whole(&folder).is_some_and(|job| Path::new(&job).join("1_Set up job.txt").is_file())
}
