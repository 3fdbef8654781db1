//! Archives: compressed files and containers of files, told by their first bytes, read in place and within bounds.
//!
//! An archive can claim anything: a few kilobytes may unpack to petabytes, and a file may contain itself. So depth, size and
//! the number of members are bounded, and what lies beyond becomes a note.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::magic::{self, Magic};
use super::packed::{Damage, unpacked};
use super::{rotation, tar, zip};
use crate::note::Note;

/// How deep archives may nest: `a.zip` with `b.tar.gz` is three.
const DEPTH: u32 = 5;

/// What an archive may unpack to whatever its size, in bytes.
const FREE: u64 = 2 << 30;

/// What it may unpack to for each of its own bytes. Progress bars shrink two hundredfold; only bombs reach this.
const RATIO: u64 = 500;

/// What unpacking finds.
pub enum Found<'a> {
    /// A file, with its bytes from the beginning.
    Input(&'a Arc<str>, Box<dyn Read + 'a>),
    /// What could not be unpacked.
    Note(Note),
}

/// Who takes what is found.
pub type Sink<'a> = dyn FnMut(Found<'_>) + 'a;

/// How much one archive may still unpack to. Threads that read members of one archive share it.
#[derive(Debug, Default)]
pub(super) struct Budget {
    packed: AtomicU64,
    unpacked: AtomicU64,
}

impl Budget {
    /// The budget of an archive of so many bytes.
    pub(super) fn new(packed: u64) -> Self {
        Self { packed: packed.into(), unpacked: 0.into() }
    }
}

/// Bounds of one archive, with its nested ones.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    budget: Arc<Budget>,
    depth: u32,
}

impl Bounds {
    /// The bounds of what lies in an archive that itself lies in none.
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self { budget, depth: 1 }
    }

    /// A level deeper, or `None` where it is deep enough.
    pub(super) fn deeper(&self) -> Option<Self> {
        (self.depth < DEPTH).then(|| Self { budget: Arc::clone(&self.budget), depth: self.depth + 1 })
    }

    /// A reader of unpacked bytes that fails when there are too many.
    pub(super) fn bounded<R: Read>(&self, inner: R) -> Bounded<R> {
        Bounded { inner, budget: Arc::clone(&self.budget) }
    }
}

/// Counts unpacked bytes, and fails where they are too many for the packed ones.
pub(super) struct Bounded<R> {
    inner: R,
    budget: Arc<Budget>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let packed = self.budget.packed.load(Ordering::Relaxed);
        if self.budget.unpacked.load(Ordering::Relaxed) > FREE.saturating_add(packed.saturating_mul(RATIO)) {
            let text = "unpacks to far more than a log would: the rest is left out";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        let n = self.inner.read(buffer)?;
        self.budget.unpacked.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// Counts packed bytes.
struct Packed<R> {
    inner: R,
    budget: Arc<Budget>,
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.budget.packed.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// What an input holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One text, packed or not.
    One,
    /// Files that can be read in any order.
    Directory,
    /// Files that are read from front to back.
    Stream,
}

/// Looks at the first bytes of an input; of a packed one whose name does not tell what it is, at the first unpacked ones too.
pub(crate) fn holds(name: &str, reader: &mut dyn Read) -> Holds {
    let mut reader: Box<dyn Read + '_> = Box::new(reader);
    for depth in 0..DEPTH {
        let (head, _) = magic::peek(&mut reader);
        let Some(kind) = magic::tell(&head) else { return Holds::One };
        reader = match kind {
            Magic::Zip if depth == 0 => return Holds::Directory,
            Magic::Zip | Magic::Tar => return Holds::Stream,
            _ if rotation::packed(name).is_some_and(|plain| rotation::is_log(rotation::piece(plain).0)) => return Holds::One,
            packed => unpacked(packed, Box::new(Cursor::new(head).chain(reader)), &Damage::default()),
        };
    }
    Holds::One
}

/// Unpacks an input as far as it is an archive; anything else is handed on as it is. `file` is the same input as a file, if
/// it is one: a zip archive is read from its end.
pub fn unpack(name: &Arc<str>, mut reader: Box<dyn Read + '_>, file: Option<File>, sink: &mut Sink<'_>) {
    let (head, failed) = magic::peek(&mut reader);
    let kind = magic::tell(&head);
    let bounds = Bounds { budget: Arc::default(), depth: 0 };
    if let (Some(Magic::Zip), Some(file)) = (kind, file.filter(|file| file.metadata().is_ok_and(|found| found.is_file()))) {
        return zip::file(name, file, sink);
    }
    let reader = Cursor::new(head).chain(Broken::after(reader, failed));
    match kind {
        None => sink(Found::Input(name, Box::new(reader))),
        Some(kind) => {
            let packed = Packed { inner: reader, budget: Arc::clone(&bounds.budget) };
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
    match kind {
        Magic::Zip => zip::nested(name, reader, &deeper, sink),
        Magic::Tar => tar::members(name, reader, &deeper, sink),
        packed => {
            let damage = Damage::default();
            nested(name, Box::new(deeper.bounded(unpacked(packed, reader, &damage))), &deeper, sink);
            if damage.trailing() {
                sink(Found::Note(Note::remark(name, "what follows its compressed data is not compressed: left out")));
            }
        }
    }
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
        let budget = Budget { packed: 3.into(), unpacked: (FREE + 3 * RATIO - 1).into() };
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
        assert_eq!(levels.count(), 5);
    }
}
