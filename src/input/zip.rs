//! Zip archives: read from their directory, or from front to back where that is broken.

use std::collections::HashSet;
use std::io::{Cursor, Read, Seek};
use std::sync::Arc;

use ::zip::ZipArchive;
use ::zip::read::read_zipfile_from_stream;

use super::actions;
use super::archive::{Bounds, Found, Sink};
use crate::note::Note;

/// A zip archive inside of something else, or from a pipe, is held in memory up to this size, in bytes.
const HELD: u64 = 64 << 20;

/// Hands out the files of an archive that can be read at any place.
pub(super) fn members<R: Read + Seek>(name: &Arc<str>, mut reader: R, bounds: &Bounds, sink: &mut Sink<'_>) {
    let mut archive = match ZipArchive::new(&mut reader) {
        Ok(archive) => archive,
        Err(error) => {
            let text = format!("its directory cannot be read, so it is read from front to back: {error}");
            sink(Found::Note(Note::unread(name, text)));
            if reader.rewind().is_ok() {
                in_order(name, reader, bounds, sink);
            }
            return;
        }
    };
    let names: Vec<String> = archive.file_names_raw().map(|raw| String::from_utf8_lossy(raw).into_owned()).collect();
    let doubles: HashSet<usize> = actions::doubles(&names);
    for index in 0..archive.len() {
        if doubles.contains(&index) {
            continue;
        }
        let file = match archive.by_index(index) {
            Ok(file) => file,
            Err(error) => {
                let member = names.get(index).map_or_else(|| Arc::clone(name), |inside| format!("{name}!/{inside}").into());
                sink(Found::Note(Note::unread(&member, format!("cannot be unpacked: {error}"))));
                continue;
            }
        };
        if file.is_file() {
            let member: Arc<str> = format!("{name}!/{}", String::from_utf8_lossy(file.name_raw())).into();
            super::archive::nested(&member, Box::new(bounds.bounded(file)), bounds, sink);
        }
    }
}

/// An archive that can be read only once.
pub(super) fn nested(name: &Arc<str>, mut reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) {
    let mut held = Vec::new();
    let result = reader.by_ref().take(HELD + 1).read_to_end(&mut held);
    if let Err(error) = result {
        sink(Found::Note(Note::unread(name, format!("cannot be read to its end: {}", super::reason(&error)))));
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
            super::archive::nested(&member, Box::new(bounds.bounded(file)), bounds, sink);
        }
    }
}
