//! Files of a folder, and members of a zip archive as if that were a folder: each can be read on its own, on any thread.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::archive::{self, Found, Holds, Sink};
use super::rotation;
use super::zip::Directory;
use super::{Again, Source, again, reason};
use crate::note::Note;

/// The path that is standard input; a file of that name is `./-`.
pub(crate) const STDIN: &str = "-";

/// One file.
#[derive(Clone)]
pub(crate) struct Leaf {
    /// The name of the reports, with that of the archive before it.
    pub(crate) name: Arc<str>,
    at: At,
}

/// Where the bytes are.
#[derive(Clone)]
enum At {
    Path(PathBuf),
    Member(Arc<Directory>, usize),
}

impl Again for Leaf {
    fn again(&self, sink: &mut Sink<'_>) {
        if self.path().is_none_or(Path::is_file) {
            self.each(sink);
        }
    }
}

impl Leaf {
    /// A file.
    pub(crate) fn file(name: Arc<str>, path: PathBuf) -> Self {
        Self { name, at: At::Path(path) }
    }

    /// A member of an archive.
    pub(crate) fn member(name: Arc<str>, directory: &Arc<Directory>, index: usize) -> Self {
        Self { name, at: At::Member(Arc::clone(directory), index) }
    }

    /// The path of a file that lies in no archive.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.at {
            At::Path(path) => Some(path),
            At::Member(..) => None,
        }
    }

    /// The last part of the name.
    pub(crate) fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Reads the file, or all files in it where it is an archive.
    pub(crate) fn each(&self, sink: &mut Sink<'_>) {
        match &self.at {
            At::Path(path) if path.as_os_str() == STDIN => Source::stream(Arc::clone(&self.name), io::stdin()).each(sink),
            At::Path(path) => Source::file(Arc::clone(&self.name), path.clone()).each(sink),
            At::Member(directory, index) => directory.each(*index, &self.name, sink),
        }
    }

    /// The same, and no further when `stop` is set.
    pub(crate) fn each_until(&self, stop: &AtomicBool, sink: &mut Sink<'_>) {
        let At::Path(path) = &self.at else { return self.each(sink) };
        match Source::file(Arc::clone(&self.name), path.clone()).open() {
            Ok(inner) => archive::unpack(&self.name, Box::new(Until { inner, stop }), again(Some(path)), sink),
            Err(error) => sink(Found::Note(Note::unread(&self.name, format!("cannot be read: {}", reason(&error))))),
        }
    }

    /// How many bytes it has, unpacked where it lies in an archive; nothing is known of what is no file.
    pub(crate) fn size(&self) -> u64 {
        match &self.at {
            At::Path(path) => path.metadata().ok().filter(Metadata::is_file).map_or(u64::MAX, |found| found.len()),
            At::Member(directory, index) => directory.size(*index),
        }
    }

    /// What it holds. A pipe is not opened for that, and a member of an archive only where its name does not tell.
    pub(crate) fn holds(&self) -> Holds {
        match &self.at {
            At::Path(path) => {
                let file = path.is_file().then(|| File::open(path).ok()).flatten();
                file.map_or(Holds::One, |mut file| archive::holds(&self.name, &mut file))
            }
            At::Member(..) if rotation::is_log(rotation::piece(self.file_name()).0) => Holds::One,
            At::Member(directory, index) => {
                let found = directory.look(*index, |reader| archive::holds(&self.name, reader));
                // What lies in an archive is read from front to back.
                if matches!(found, None | Some(Holds::One)) { Holds::One } else { Holds::Stream }
            }
        }
    }

    /// The files in it, where it has a directory that can be read.
    pub(crate) fn directory(&self) -> Option<Arc<Directory>> {
        let file = File::open(self.path()?).ok()?;
        Directory::open(file).ok().map(Arc::new)
    }
}

/// A reader that ends when somebody wants an end.
struct Until<'a, R> {
    inner: R,
    stop: &'a AtomicBool,
}

impl<R: Read> Read for Until<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) { Ok(0) } else { self.inner.read(buffer) }
    }
}
