//! Reading: inputs into facts. Documents go to the record formats, everything else line by line to the patterns.
//!
//! Reading never judges and never fails: any bytes give facts and notes, and one bad input hides no other.

mod collector;
mod evidence;
pub mod own;
mod stream;
mod zone;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io::{Cursor, Read};
use std::ops::RangeInclusive;
use std::sync::Arc;

use collector::Collector;

use crate::fact::Fact;
use crate::input::archive::Found;
use crate::input::{self, Source};
use crate::line::{self, Order};
use crate::note::Note;
use crate::records::{self, documents};
use crate::seen::{Input, Kind};

pub use stream::Stream;

/// An input up to this size is looked through for documents wherever they stand; a larger one is read as lines. In bytes.
const MIXED: usize = 4 << 20;

/// The same for an input that begins as a document or a table does.
const DOCUMENT: usize = 32 << 20;

/// How much of a large input is looked at to tell what it is, in bytes.
const BEGINNING: usize = 64 << 10;

/// How long a hole of NUL bytes may be before the text of a log, in bytes; a device or a bomb has nothing else.
const HOLE: usize = 64 << 20;

/// What reading gives.
#[derive(Debug, Default)]
pub struct Reading {
    /// All claims with their evidence, each input in reading order.
    pub facts: Vec<Fact>,
    /// One summary for each input.
    pub inputs: Vec<Input>,
    /// What could not be read.
    pub notes: Vec<Note>,
    /// Length and hash of each input, so that a copy does not count twice.
    prints: HashMap<(usize, u64), Arc<str>>,
}

impl Reading {
    /// Adds what was read of other inputs of the same incident.
    pub fn join(&mut self, other: Self) {
        self.facts.extend(other.facts);
        self.inputs.extend(other.inputs);
        self.notes.extend(other.notes);
        self.prints.extend(other.prints);
    }
}

/// Reads all sources.
pub fn read(sources: &[Source<'_>]) -> Reading {
    let mut reading = Reading::default();
    for source in sources {
        source.each(&mut |found| match found {
            Found::Input(name, reader) => one(name, reader, &mut reading),
            Found::Note(note) => reading.notes.push(note),
        });
    }
    reading
}

/// How much of an input that begins so is held to be looked through for documents and tables, in bytes.
pub fn held(head: &[u8]) -> usize {
    let beginning = String::from_utf8_lossy(head.get(..BEGINNING).unwrap_or(head));
    let record = documents::begins(head) || records::begins(&beginning) || !records::read_texts(&beginning).is_empty();
    if record { DOCUMENT } else { MIXED }
}

/// Reads one input; what it gives is added to what was read before.
pub fn one(name: &Arc<str>, mut reader: Box<dyn Read + '_>, reading: &mut Reading) {
    let mut head = Vec::new();
    let mut limit = MIXED;
    let mut read = reader.by_ref().take(limit as u64 + 1).read_to_end(&mut head);
    if read.is_ok() && head.len() > limit {
        limit = held(&head);
        read = reader.by_ref().take((limit + 1).saturating_sub(head.len()) as u64).read_to_end(&mut head);
    }
    if let Err(error) = read {
        if head.is_empty() {
            return reading.notes.push(Note::unread(name, format!("cannot be read: {}", input::reason(&error))));
        }
        reading.notes.push(input::torn(name, &error));
    }
    if own::is_report(&head) {
        return reading.notes.push(Note::remark(name, "a report that coroner wrote: left out, as it only quotes"));
    }
    let whole = head.len() <= limit;
    if whole && !head.is_empty() {
        let mut hasher = std::hash::DefaultHasher::new();
        head.hash(&mut hasher);
        let print = (head.len(), hasher.finish());
        if let Some(first) = reading.prints.get(&print) {
            reading.notes.push(Note::remark(name, format!("the same text as {first}: read once")));
            return;
        }
        reading.prints.insert(print, Arc::clone(name));
    }
    let mut collector = Collector::new(name);
    if head.is_empty() {
        reading.notes.push(Note::remark(name, "empty"));
        collector.kind = Some(Kind::Empty);
    } else if line::looks_binary(&head[..head.len().min(8 << 10)]) || !whole && fill_hole(&mut head, &mut reader).is_none() {
        reading.notes.push(Note::remark(name, "not text: skipped"));
        collector.kind = Some(Kind::Binary);
        collector.count.bytes = head.len() as u64;
    } else if !whole {
        let text = format!("larger than {} MiB: read as lines, without a look for documents pasted into it", limit >> 20);
        reading.notes.push(Note::remark(name, text));
        collector.order = Order::counted();
        collector.lines(Held { head: Cursor::new(head), rest: reader }, &[], reading);
    } else {
        let (found, note) = documents::find(&head);
        reading.notes.extend(note.map(|text| Note::remark(name, text)));
        for document in &found {
            collector.document(document);
        }
        let mut ranges: Vec<RangeInclusive<u64>> = found.iter().map(|d| d.first_line..=d.last_line).collect();
        if collector.texts(&String::from_utf8_lossy(&head)) {
            ranges = vec![0..=u64::MAX];
        }
        collector.lines(Cursor::new(head), &ranges, reading);
    }
    collector.finish(reading);
}

/// The beginning of an input, which is given back once it was read, and the rest.
struct Held<R> {
    head: Cursor<Vec<u8>>,
    rest: R,
}

impl<R: Read> Read for Held<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.head.read(buffer)? {
            0 => {
                self.head = Cursor::default();
                self.rest.read(buffer)
            }
            n => Ok(n),
        }
    }
}

/// Reads on where the beginning of a log is a hole of NUL bytes, as a rotation leaves that only truncates; nothing where no text
/// follows. Of the hole only its last piece is kept.
fn fill_hole(head: &mut Vec<u8>, reader: &mut dyn Read) -> Option<()> {
    let mut hole = head.len();
    while head.iter().all(|byte| *byte == 0) {
        if hole > HOLE {
            return None;
        }
        head.resize(BEGINNING, 0);
        let size = reader.read(head).ok().filter(|size| *size > 0)?;
        head.truncate(size);
        hole += size;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::input::Source;

    #[test]
    fn a_reversed_log_is_read_from_its_end() {
        let mut lines: Vec<String> = (0..10).map(|n| format!("2026-09-12T08:41:0{n}.000Z step {n}")).collect();
        lines.push("2026-09-12T08:41:10.000Z Traceback (most recent call last):".into());
        lines.push("2026-09-12T08:41:11.000Z RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ".into());
        for (newest_first, expected) in [(false, [11, 12]), (true, [2, 1])] {
            if newest_first {
                lines.reverse();
            }
            let text = lines.join("\n");
            let reading = read(&[Source::stream("log".into(), text.as_bytes())]);
            let facts: Vec<_> = reading.facts.iter().filter(|fact| fact.id != "finished").collect();
            let first = facts.first().and_then(|fact| fact.place.number());
            let last = facts.last().and_then(|fact| fact.place.number());
            assert_eq!([first, last], expected.map(Some), "{facts:?}");
            assert!(facts.iter().all(|fact| matches!(fact.place.line, Some(11 | 12))), "{facts:?}");
            assert_eq!(reading.notes.len(), usize::from(newest_first));
        }
    }
}
