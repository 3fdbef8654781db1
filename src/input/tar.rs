//! Tar archives, read from front to back.

use std::io::{self, Read};
use std::sync::Arc;

use super::archive::{Bounds, Found, Sink, nested};
use super::packed::{Damage, told};
use super::reason;
use crate::note::Note;

/// Members of one archive that are looked at.
const MEMBERS: usize = 1_000_000;

/// Hands out the files of an archive. A broken header ends it, as nobody knows where the next one stands.
pub(super) fn members(name: &Arc<str>, reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) {
    let damage = Damage::default();
    if let Err(error) = walk(name, Box::new(damage.watch(reader)), bounds, sink) {
        let text = format!("cannot be unpacked to its end: {}", reason(&told(error, damage.ended())));
        sink(Found::Note(Note::unread(name, text)));
    }
}

fn walk(name: &Arc<str>, reader: Box<dyn Read + '_>, bounds: &Bounds, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut archive = ::tar::Archive::new(reader);
    for (count, entry) in archive.entries()?.enumerate() {
        let entry = entry?;
        if count >= MEMBERS {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {MEMBERS} members")));
        }
        if !entry.header().entry_type().is_file() && !entry.header().entry_type().is_gnu_sparse() {
            continue;
        }
        let inside = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let member: Arc<str> = format!("{name}!/{}", inside.trim_start_matches("./")).into();
        nested(&member, Box::new(bounds.bounded(entry)), bounds, sink);
    }
    Ok(())
}
