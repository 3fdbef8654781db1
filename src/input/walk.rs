//! Walks over a folder of many logs, a folder at a time, so that a million files are never listed together.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use walkdir::{DirEntry, WalkDir};

use super::{reason, shown};
use crate::note::Note;

/// Which files are wanted.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    include: GlobSet,
    exclude: GlobSet,
    /// Whether files and folders with a leading dot are read as well.
    pub hidden: bool,
}

impl Choice {
    /// A choice by globs, which are matched against the name and against the path below the folder that was given.
    ///
    /// # Errors
    ///
    /// A glob that cannot be understood, with the reason.
    pub fn new(include: &[String], exclude: &[String], hidden: bool) -> Result<Self, String> {
        Ok(Self { include: set(include)?, exclude: set(exclude)?, hidden })
    }

    fn enters(&self, root: &Path, entry: &DirEntry) -> bool {
        entry.depth() == 0 || self.shows(entry.file_name()) && !matches(&self.exclude, root, entry.path())
    }

    fn shows(&self, name: &OsStr) -> bool {
        self.hidden && name != ".git" || !name.as_encoded_bytes().starts_with(b".")
    }

    fn wish(&self, root: &Path, path: &Path) -> Wish {
        match (self.include.is_empty(), self.takes(root, path)) {
            (true, _) => Wish::File,
            (false, true) => Wish::Whole,
            (false, false) => Wish::Inside,
        }
    }

    fn takes(&self, root: &Path, path: &Path) -> bool {
        self.include.is_empty() || matches(&self.include, root, path)
    }

    /// What is wanted of a member of an archive, told by its path in the archive; nothing where it is left out.
    pub(crate) fn member(&self, inside: &str, wish: Wish) -> Option<Wish> {
        // An archive in an archive is a folder there.
        let inside = inside.replace("!/", "/");
        let (root, path) = (Path::new(""), Path::new(&inside));
        let out = path.ancestors().any(|part| !part.as_os_str().is_empty() && matches(&self.exclude, root, part));
        (!out).then(|| if wish == Wish::Whole { wish } else { self.wish(root, path) })
    }

    /// Whether the walk below a folder comes to this path by itself.
    pub(crate) fn reaches(&self, root: &Path, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(root) else { return false };
        let shown = (path.is_file() || path.is_dir()) && below.iter().all(|name| self.shows(name));
        let parts = path.ancestors().take(below.iter().count());
        shown && !parts.into_iter().any(|part| matches(&self.exclude, root, part)) && (path.is_dir() || self.takes(root, path))
    }
}

fn set(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| error.to_string())?);
    }
    set.build().map_err(|error| error.to_string())
}

fn matches(set: &GlobSet, root: &Path, path: &Path) -> bool {
    let below = path.strip_prefix(root).unwrap_or(path);
    set.is_match(below) || path.file_name().is_some_and(|name| set.is_match(name))
}

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The file; of an archive, the files in it that are chosen.
    File,
    /// All that is in it: a glob names it.
    Whole,
    /// If it is an archive, the files in it that are chosen.
    Inside,
}

/// What a walk finds.
pub enum Step {
    /// A file, with the name of the reports.
    File(Arc<str>, PathBuf, Wish),
    /// What could not be listed.
    Note(Note),
}

/// Walks over what the user named, in a stable order: the files of a folder by name, then its folders. Links are followed
/// to files but not to folders, so that no loop is walked, and not to files that the walk comes to by itself. The walk ends
/// early when `sink` says so.
pub fn walk(root: &Path, choice: &Choice, sink: &mut dyn FnMut(Step) -> bool) -> bool {
    let found = match root.metadata() {
        Ok(found) => found,
        Err(error) => return sink(Step::Note(Note::unread(&shown(root), reason(&error)))),
    };
    if !found.is_dir() {
        let wish = match choice.wish(root, root) {
            Wish::Inside => Wish::File,
            wish => wish,
        };
        return sink(Step::File(shown(root), root.to_owned(), wish));
    }
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let order = |entry: &DirEntry| (entry.file_type().is_dir(), entry.file_name().to_owned());
    let walk = WalkDir::new(root).sort_by_key(order).into_iter();
    for entry in walk.filter_entry(|entry| choice.enters(root, entry)) {
        let step = match entry {
            Err(error) => {
                let name = error.path().map_or_else(|| shown(root), shown);
                Step::Note(Note::unread(&name, error.io_error().map_or_else(|| error.to_string(), reason)))
            }
            Ok(entry) => match entry_step(root, &whole, choice, entry) {
                Some(step) => step,
                None => continue,
            },
        };
        if !sink(step) {
            return false;
        }
    }
    true
}

/// What an entry of a folder is to the walk; a folder is nothing by itself.
fn entry_step(root: &Path, whole: &Path, choice: &Choice, entry: DirEntry) -> Option<Step> {
    let (path, kind) = (entry.path(), entry.file_type());
    let wish = choice.wish(root, path);
    let note = |text: &str| (wish != Wish::Inside).then(|| Step::Note(Note::remark(&named(path), text)));
    if kind.is_symlink() {
        match path.canonicalize() {
            Err(_) => return note("a link to nothing: passed over"),
            Ok(target) if target.is_dir() || choice.reaches(whole, &target) => return None,
            Ok(target) if !target.is_file() => return note(NO_FILE),
            Ok(_) => {}
        }
    } else if kind.is_dir() {
        return None;
    } else if !kind.is_file() {
        return note(NO_FILE);
    }
    Some(Step::File(named(path), entry.into_path(), wish))
}

/// What is said of pipes, sockets and devices below a folder: reading them could wait for ever.
pub(super) const NO_FILE: &str = "no regular file: passed over; a pipe is read where it is named itself";

/// The name of a file below a folder; `.` says nothing.
fn named(path: &Path) -> Arc<str> {
    shown(path.strip_prefix(".").unwrap_or(path))
}
