//! Archives: compressed files and containers of files, told by their first bytes, read in place and within bounds.
//!
//! An archive can claim anything: a few kilobytes may unpack to petabytes, and a file may contain itself. So depth, size and
//! the number of members are bounded, and what lies beyond becomes a note.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;
use std::sync::Arc;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::magic::{self, Magic};
use super::zstd::Frames;
use super::{tar, zip};
use crate::note::Note;

/// How deep archives may nest: `a.zip` with `b.tar.gz` is three.
const DEPTH: u32 = 4;

/// What an archive may unpack to whatever its size, in bytes.
const FREE: u64 = 2 << 30;

/// What it may unpack to for each of its own bytes. Progress bars shrink two hundredfold; only bombs reach this.
const RATIO: u64 = 500;

/// Memory that an xz stream may ask for, in KiB; `xz -9` asks for 65 MiB.
const XZ_MEMORY: u32 = 160 << 10;

/// What unpacking finds.
pub enum Found<'a> {
    /// A file, with its bytes from the beginning.
    Input(&'a Arc<str>, Box<dyn Read + 'a>),
    /// What could not be unpacked.
    Note(Note),
}

/// Who takes what is found.
pub type Sink<'a> = dyn FnMut(Found<'_>) + 'a;

/// How much one archive may still unpack to.
#[derive(Default)]
struct Budget {
    packed: Cell<u64>,
    unpacked: Cell<u64>,
}

/// Bounds of one archive, with its nested ones.
#[derive(Clone)]
pub(super) struct Bounds {
    budget: Rc<Budget>,
    depth: u32,
}

impl Bounds {
    /// A level deeper, or `None` where it is deep enough.
    pub(super) fn deeper(&self) -> Option<Self> {
        (self.depth < DEPTH).then(|| Self { budget: Rc::clone(&self.budget), depth: self.depth + 1 })
    }

    /// A reader of unpacked bytes that fails when there are too many.
    pub(super) fn bounded<R: Read>(&self, inner: R) -> Bounded<R> {
        Bounded { inner, budget: Rc::clone(&self.budget) }
    }
}

/// Counts unpacked bytes, and fails where they are too many for the packed ones.
pub(super) struct Bounded<R> {
    inner: R,
    budget: Rc<Budget>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Budget { packed, unpacked } = &*self.budget;
        if unpacked.get() > FREE.saturating_add(packed.get().saturating_mul(RATIO)) {
            return Err(io::Error::other("unpacks to far more than a log would: the rest is left out"));
        }
        let n = self.inner.read(buffer)?;
        unpacked.set(unpacked.get().saturating_add(n as u64));
        Ok(n)
    }
}

/// Counts packed bytes.
struct Packed<R> {
    inner: R,
    budget: Rc<Budget>,
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.budget.packed.set(self.budget.packed.get().saturating_add(n as u64));
        Ok(n)
    }
}

/// Unpacks an input as far as it is an archive; anything else is handed on as it is. `file` is the same input as a file, if
/// it is one: a zip archive is read from its end.
pub fn unpack(name: &Arc<str>, mut reader: Box<dyn Read + '_>, file: Option<File>, sink: &mut Sink<'_>) {
    let (head, failed) = magic::peek(&mut reader);
    let kind = magic::tell(&head);
    let bounds = Bounds { budget: Rc::default(), depth: 0 };
    if let (Some(Magic::Zip), Some(file)) = (kind, file.filter(|file| file.metadata().is_ok_and(|found| found.is_file()))) {
        bounds.budget.packed.set(file.metadata().map_or(0, |found| found.len()));
        return zip::members(name, BufReader::new(file), &bounds, sink);
    }
    let reader = Cursor::new(head).chain(Broken::after(reader, failed));
    match kind {
        None => sink(Found::Input(name, Box::new(reader))),
        Some(kind) => {
            let packed = Packed { inner: reader, budget: Rc::clone(&bounds.budget) };
            open(name, kind, Box::new(packed), &bounds, sink);
        }
    }
}

/// Unpacks what may be an archive inside of another one.
pub(super) fn nested(name: &Arc<str>, mut reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) {
    let (head, failed) = magic::peek(&mut reader);
    let kind = magic::tell(&head);
    let reader: Box<dyn Read + '_> = Box::new(Cursor::new(head).chain(Broken::after(reader, failed)));
    match kind {
        None => sink(Found::Input(name, reader)),
        Some(kind) => open(name, kind, reader, bounds, sink),
    }
}

/// Unpacks an archive of a known kind.
fn open(name: &Arc<str>, kind: Magic, reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) {
    let Some(deeper) = bounds.deeper() else {
        return sink(Found::Note(Note::unread(name, format!("archives nested deeper than {DEPTH}: not unpacked"))));
    };
    let plain: Box<dyn Read + '_> = match kind {
        Magic::Zip => return zip::nested(name, reader, &deeper, sink),
        Magic::Tar => return tar::members(name, reader, &deeper, sink),
        Magic::Gzip => Box::new(deeper.bounded(MultiGzDecoder::new(reader))),
        Magic::Bzip2 => Box::new(deeper.bounded(MultiBzDecoder::new(reader))),
        Magic::Xz => Box::new(deeper.bounded(XzReader::new_mem_limit(reader, true, XZ_MEMORY))),
        Magic::Zstd => Box::new(deeper.bounded(Frames::new(reader))),
    };
    nested(name, plain, &deeper, sink);
}

/// A reader that fails at once if reading failed before: what was read is used, and the failure is told after it.
struct Broken<R> {
    inner: R,
    failed: Option<io::Error>,
}

impl<R: Read> Broken<R> {
    fn after(inner: R, failed: Option<io::Error>) -> Self {
        Self { inner, failed }
    }
}

impl<R: Read> Read for Broken<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.inner.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Budget, FREE, RATIO};
    use std::io::Read as _;

    #[test]
    fn too_many_bytes_for_an_archive_end_it() {
        let budget = Budget::default();
        budget.packed.set(3);
        budget.unpacked.set(FREE + 3 * RATIO - 1);
        let bounds = Bounds { budget: budget.into(), depth: 0 };
        let mut reader = bounds.bounded(std::io::repeat(b'x'));
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 2);
        assert!(reader.read(&mut [0; 2]).unwrap_err().to_string().contains("unpacks to far more"));
    }

    #[test]
    fn depth_is_bounded() {
        let mut bounds = Some(Bounds { budget: Budget::default().into(), depth: 0 });
        let levels = std::iter::from_fn(|| {
            bounds = bounds.as_ref()?.deeper();
            bounds.as_ref().map(|_| ())
        });
        assert_eq!(levels.count(), 4);
    }
}
