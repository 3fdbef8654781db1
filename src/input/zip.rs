//! Zip archives: read from their directory, or from front to back where that is broken.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use ::zip::ZipArchive;
use ::zip::read::read_zipfile_from_stream;

use super::actions;
use super::archive::{Bounds, Budget, Found, Sink};
use crate::note::Note;

/// A zip archive inside of something else, or from a pipe, is held in memory up to this size, in bytes.
const HELD: u64 = 64 << 20;

/// A file that several threads read, each at a place of its own.
#[derive(Clone)]
struct Shared {
    file: Arc<Mutex<File>>,
    size: u64,
    at: u64,
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.at))?;
        let n = file.read(buffer)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(off) => self.size.checked_add_signed(off),
            SeekFrom::Current(off) => self.at.checked_add_signed(off),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The directory of an archive, by which each member can be read on its own, on any thread.
pub(crate) struct Directory {
    archive: ZipArchive<Shared>,
    bounds: Bounds,
}

impl Directory {
    /// Reads the directory of a file.
    pub(crate) fn open(file: File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let archive = ZipArchive::new(Shared { file: Arc::new(file.into()), size, at: 0 }).map_err(io::Error::other)?;
        Ok(Self { archive, bounds: Bounds::new(Arc::new(Budget::new(size))) })
    }

    /// The files, by index and name; what is told twice is left out.
    pub(crate) fn files(&self) -> Vec<(usize, String)> {
        files(&self.archive)
    }

    /// What the directory says that is odd.
    pub(crate) fn note(&self, name: &Arc<str>) -> Option<Note> {
        twins(&self.archive, name)
    }

    /// Unpacks one member.
    pub(crate) fn each(&self, index: usize, name: &Arc<str>, sink: &mut Sink<'_>) {
        member(&mut self.archive.clone(), index, name, &self.bounds, sink);
    }

    /// How many bytes a member says that it has.
    pub(crate) fn size(&self, index: usize) -> u64 {
        self.archive.by_index_data(index).map_or(u64::MAX, |entry| entry.size())
    }

    /// Does something with the bytes of a member; nothing where it cannot be unpacked.
    pub(crate) fn look<T>(&self, index: usize, look: impl FnOnce(&mut dyn Read) -> T) -> Option<T> {
        self.archive.clone().by_index(index).ok().map(|mut file| look(&mut file))
    }
}

/// The files of an archive, by index and name.
fn files<R: Read + Seek>(archive: &ZipArchive<R>) -> Vec<(usize, String)> {
    let names: Vec<String> = archive.file_names_raw().map(|raw| String::from_utf8_lossy(raw).into_owned()).collect();
    let doubles: HashSet<usize> = actions::doubles(&names);
    let file = |index: usize| archive.by_index_data(index).is_ok_and(|entry| entry.is_file());
    names.into_iter().enumerate().filter(|(index, _)| !doubles.contains(index) && file(*index)).collect()
}

fn twins<R: Read + Seek>(archive: &ZipArchive<R>, name: &Arc<str>) -> Option<Note> {
    let text = "several members have one name: of these the last is read";
    archive.has_duplicate_names().then(|| Note::remark(name, text))
}

fn member<R: Read + Seek>(archive: &mut ZipArchive<R>, index: usize, name: &Arc<str>, bounds: &Bounds, sink: &mut Sink<'_>) {
    match archive.by_index(index) {
        Ok(file) => super::archive::nested(name, Box::new(bounds.bounded(Plain(file))), bounds, sink),
        Err(error) => sink(Found::Note(Note::unread(name, format!("cannot be unpacked: {error}")))),
    }
}

/// Hands out the files of an archive that can be read at any place.
fn members<R: Read + Seek>(name: &Arc<str>, mut reader: R, bounds: &Bounds, sink: &mut Sink<'_>) {
    let mut archive = match ZipArchive::new(&mut reader) {
        Ok(archive) => archive,
        Err(_) => {
            let text = "its directory is damaged or cut off, so it is read from front to back";
            sink(Found::Note(Note::unread(name, text)));
            if reader.rewind().is_ok() {
                in_order(name, reader, bounds, sink);
            }
            return;
        }
    };
    if let Some(note) = twins(&archive, name) {
        sink(Found::Note(note));
    }
    for (index, inside) in files(&archive) {
        member(&mut archive, index, &format!("{name}!/{inside}").into(), bounds, sink);
    }
}

/// An archive that is a file.
pub(super) fn file(name: &Arc<str>, file: File, sink: &mut Sink<'_>) {
    let size = file.metadata().map_or(0, |found| found.len());
    members(name, BufReader::new(file), &Bounds::new(Arc::new(Budget::new(size))), sink);
}

/// An archive that can be read only once.
pub(super) fn nested(name: &Arc<str>, mut reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) {
    let mut held = Vec::new();
    let result = reader.by_ref().take(HELD + 1).read_to_end(&mut held);
    if let Err(error) = result {
        sink(Found::Note(super::torn(name, &error)));
    }
    if held.len() as u64 > HELD {
        let text = format!("a zip archive of more than {} MiB can be unpacked from a file only: in part", HELD >> 20);
        sink(Found::Note(Note::unread(name, text)));
        return in_order(name, Cursor::new(held), bounds, sink);
    }
    members(name, Cursor::new(held), bounds, sink);
}

/// Reads what stands before the directory, until something is broken.
fn in_order(name: &Arc<str>, mut reader: impl Read, bounds: &Bounds, sink: &mut Sink<'_>) {
    while let Ok(Some(file)) = read_zipfile_from_stream(&mut reader) {
        let member: Arc<str> = format!("{name}!/{}", String::from_utf8_lossy(file.name_raw())).into();
        if file.is_file() {
            super::archive::nested(&member, Box::new(bounds.bounded(Plain(file))), bounds, sink);
        }
    }
}

/// A member whose errors say what they mean to the user.
struct Plain<R>(R);

impl<R: Read> Read for Plain<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| super::packed::told(error, false))
    }
}
