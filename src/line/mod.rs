//! Lines: text without its envelope, and what the envelope told.
//!
//! Envelopes nest (a journal line inside a container's log inside a CI log), so `peel` takes one off after another, each
//! line for itself: people paste logs together. What spans lines (a journal entry, a container's split line, the kernel's
//! indented continuation) is put together before, in `assemble.rs`.

mod assemble;
mod block;
mod carrier;
mod ci;
mod clean;
mod container;
mod documents;
mod early;
mod habit;
mod journal;
mod json;
mod kernel;
mod listing;
mod logging;
mod open;
mod order;
mod pairs;
mod partial;
mod parts;
mod rank;
mod split;
mod syslog;
mod table;
mod wide;

use std::borrow::Cow;
use std::io::Read;

use crate::time::Stamp;

use assemble::Assembler;
use habit::Habits;
use split::Splitter;
use wide::Widener;

pub use clean::looks_binary;
pub use order::Order;

/// What the envelopes around a line told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The innermost wall clock, where an outer one does not tell more: a zone, or a year.
    pub when: Option<Stamp>,
    /// Seconds since boot.
    pub boot: Option<Stamp>,
    /// The machine.
    pub host: Option<String>,
    /// The program that wrote the line, as syslog tells it (`kernel`, `systemd`, `dockerd`).
    pub program: Option<String>,
    /// The pid that the envelope gives for the speaker; never the dead process.
    pub speaker: Option<u32>,
    /// Whether the kernel wrote the line: `Some(false)` where the envelope names somebody else.
    pub kernel: Option<bool>,
    /// The rank that a launcher put before the line.
    pub rank: Option<u32>,
    /// A container's id or name.
    pub container: Option<String>,
    /// A pod's name.
    pub pod: Option<String>,
    /// A systemd unit.
    pub unit: Option<String>,
}

impl Envelope {
    /// Keeps the clock that tells most: an inner one, unless it lacks the zone or the year of the outer one.
    fn saw(&mut self, stamp: Stamp) {
        match (stamp, self.when) {
            (Stamp::Boot(_), _) => self.boot = Some(stamp),
            (Stamp::Wall(new), Some(Stamp::Wall(old))) if (old.zoned, old.dated) > (new.zoned, new.dated) => {}
            _ => self.when = Some(stamp),
        }
    }

    /// Notes who wrote the line, unless an outer envelope has already given it to a program.
    fn by_kernel(&mut self, kernel: bool) {
        if self.kernel != Some(false) {
            self.kernel = Some(kernel);
        }
    }
}

/// A line of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text without envelope, colours, NUL bytes and line end; invalid UTF-8 is replaced.
    pub text: Cow<'a, str>,
    /// The line number in the input, from 1.
    pub number: u64,
    /// What the envelopes told.
    pub envelope: Envelope,
}

/// How much was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes.
    pub bytes: u64,
    /// Lines, as line feeds divide them; an unfinished last line counts.
    pub lines: u64,
}

/// Cuts bytes into lines, fed piece by piece.
///
/// However the bytes are divided into pieces, the lines are the same.
#[derive(Clone)]
pub struct Lines {
    bytes: u64,
    wide: Widener,
    /// The beginning, until there is enough of it to know the habits of the input; nothing once they are known.
    sample: Option<Vec<u8>>,
    split: Splitter,
    assemble: Assembler,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            bytes: 0,
            wide: Widener::default(),
            sample: Some(Vec::new()),
            split: Splitter::default(),
            assemble: Assembler::default(),
        }
    }
}

impl Lines {
    /// Takes a piece of the input.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        self.bytes += bytes.len() as u64;
        let Self { wide, sample, split, assemble, .. } = self;
        wide.push(bytes, &mut |bytes| narrow(bytes, sample, split, assemble, sink));
    }

    /// Ends the input and hands out what is still held.
    pub fn finish(mut self, sink: &mut dyn FnMut(Line<'_>)) -> Count {
        let Self { wide, sample, split, assemble, .. } = &mut self;
        wide.finish(&mut |bytes| narrow(bytes, sample, split, assemble, sink));
        if let Some(sample) = sample.take() {
            assemble.habits = Habits::of(&sample);
            split.push(&sample, &mut |cut| assemble.push(cut, sink));
        }
        let lines = split.finish(&mut |cut| assemble.push(cut, sink));
        assemble.finish(sink);
        Count { bytes: self.bytes, lines }
    }
}

/// Passes UTF-8 on to be cut into lines, after the beginning was looked at.
fn narrow(
    mut bytes: &[u8],
    sample: &mut Option<Vec<u8>>,
    split: &mut Splitter,
    assemble: &mut Assembler,
    sink: &mut dyn FnMut(Line<'_>),
) {
    if let Some(held) = sample {
        // The sample has the same bytes however the input is divided into pieces.
        let (now, later) = bytes.split_at(bytes.len().min(habit::SAMPLE.saturating_sub(held.len())));
        held.extend_from_slice(now);
        if held.len() < habit::SAMPLE {
            return;
        }
        bytes = later;
        assemble.habits = Habits::of(held);
        split.push(held, &mut |cut| assemble.push(cut, sink));
        *sample = None;
    }
    split.push(bytes, &mut |cut| assemble.push(cut, sink));
}

/// Reads an input to its end, line by line, in bounded memory.
///
/// A carriage return ends a line as it is shown (a progress bar redraws it), but does not count as one.
pub fn lines(mut reader: impl Read, sink: &mut dyn FnMut(Line<'_>)) -> std::io::Result<Count> {
    let mut all = Lines::default();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(all.finish(sink)),
            Ok(n) => all.push(buffer.get(..n).unwrap_or(&buffer), sink),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                all.finish(sink);
                return Err(error);
            }
        }
    }
}

/// The lines of a text that was found in a record, numbered from `first`.
pub fn lines_of(text: &str, first: u64, sink: &mut dyn FnMut(Line<'_>)) {
    let mut all = Lines::default();
    let mut place = |line: Line<'_>| sink(Line { number: line.number.saturating_sub(1).saturating_add(first), ..line });
    all.push(text.as_bytes(), &mut place);
    all.finish(&mut place);
}

/// Takes the envelopes off one text; a message of several lines stays one text.
pub fn peel(text: &str, number: u64) -> Line<'_> {
    let opened = open::open(clean::clean(text.as_bytes()), Envelope::default());
    Line { text: opened.text, number, envelope: opened.envelope }
}

#[cfg(test)]
mod tests;
