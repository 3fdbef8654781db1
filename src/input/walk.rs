//! Walks over a folder of many logs, a folder at a time, so that a million files are never listed together.

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
        if entry.depth() == 0 {
            return true;
        }
        let dotted = entry.file_name().as_encoded_bytes().starts_with(b".");
        (self.hidden && entry.file_name() != ".git" || !dotted) && !matches(&self.exclude, root, entry.path())
    }

    fn takes(&self, root: &Path, path: &Path) -> bool {
        self.include.is_empty() || matches(&self.include, root, path)
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

/// What a walk finds.
pub enum Step {
    /// A file, with the name of the reports.
    File(Arc<str>, PathBuf),
    /// What could not be listed.
    Note(Note),
}

/// Walks over what the user named, in a stable order: the files of a folder by name, then its folders. Links are followed
/// to files but not to folders, so that no loop is walked. The walk ends early when `sink` says so.
pub fn walk(root: &Path, choice: &Choice, sink: &mut dyn FnMut(Step) -> bool) -> bool {
    let found = match root.metadata() {
        Ok(found) => found,
        Err(error) => return sink(Step::Note(Note::unread(&shown(root), reason(&error)))),
    };
    if !found.is_dir() {
        return sink(Step::File(shown(root), root.to_owned()));
    }
    let order = |entry: &DirEntry| (entry.file_type().is_dir(), entry.file_name().to_owned());
    let walk = WalkDir::new(root).sort_by_key(order).into_iter();
    for entry in walk.filter_entry(|entry| choice.enters(root, entry)) {
        let step = match entry {
            Err(error) => {
                let name = error.path().map_or_else(|| shown(root), shown);
                Step::Note(Note::unread(&name, error.io_error().map_or_else(|| error.to_string(), reason)))
            }
            Ok(entry) => {
                let path = entry.path();
                let kind = entry.file_type();
                if !(kind.is_file() || kind.is_symlink() && path.is_file()) || !choice.takes(root, path) {
                    continue;
                }
                Step::File(named(path), entry.into_path())
            }
        };
        if !sink(step) {
            return false;
        }
    }
    true
}

/// The name of a file below a folder; `.` says nothing.
fn named(path: &Path) -> Arc<str> {
    shown(path.strip_prefix(".").unwrap_or(path))
}
