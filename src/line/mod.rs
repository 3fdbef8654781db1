//! Lines: text without its envelope, and what the envelope told.
//!
//! Envelopes nest (a journal line inside a container's log inside a CI log), so `peel` takes one off after another, each
//! line for itself: people paste logs together. What spans lines (a journal entry, a container's split line, the kernel's
//! indented continuation) is put together before, in `assemble.rs`.

mod ahead;
mod assemble;
mod block;
mod carrier;
mod ci;
mod clean;
mod container;
mod documents;
mod early;
mod habit;
mod hosted;
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
mod sieve;
mod split;
mod syslog;
mod table;
mod wide;

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;

use crate::time::Stamp;

use assemble::Assembler;
use habit::Habits;
use sieve::Way;
use split::Splitter;
use wide::Widener;

pub use clean::{clean, looks_binary};
pub use order::Order;
pub use sieve::Search;

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

/// How much is read at a time, in bytes: what is searched is still near the processor.
const BUFFER: usize = 128 << 10;

/// From how much on other threads are worth starting, in bytes.
const LARGE: u64 = 8 << 20;

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
/// However the bytes are divided into pieces, the lines that speak are the same.
#[derive(Clone)]
pub struct Lines {
    bytes: u64,
    wide: Widener,
    course: Course,
}

/// The way of the bytes from the beginning of an input to its lines.
#[derive(Clone)]
struct Course {
    /// The beginning, until there is enough of it to know the habits of the input; nothing once they are known.
    sample: Option<Vec<u8>>,
    /// Which lines speak; nothing where every line is to be read.
    gate: Option<Search>,
    split: Splitter,
    assemble: Assembler,
}

impl Lines {
    /// Lines of an input of which nothing was read. With a gate, those behind the beginning that say nothing are passed over.
    pub fn new(gate: Option<Search>) -> Self {
        let course = Course { sample: Some(Vec::new()), gate, split: Splitter::default(), assemble: Assembler::default() };
        Self { bytes: 0, wide: Widener::default(), course }
    }

    /// Takes a piece of the input.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        self.bytes += bytes.len() as u64;
        let Self { wide, course, .. } = self;
        wide.push(bytes, &mut |bytes| course.push(bytes, sink));
    }

    /// The gate, once the pieces of the input can be searched before they are taken.
    fn gate(&self) -> Option<Search> {
        self.course.gate.filter(|_| self.course.sample.is_none() && self.wide.is_narrow())
    }

    /// Takes a piece of the input of which the lines are known that may speak.
    fn push_searched(&mut self, bytes: &[u8], speaking: &[Range<usize>], sink: &mut dyn FnMut(Line<'_>)) {
        self.bytes += bytes.len() as u64;
        self.course.push_searched(bytes, speaking, sink);
    }

    /// Ends the input and hands out what is still held.
    pub fn finish(mut self, sink: &mut dyn FnMut(Line<'_>)) -> Count {
        let Self { wide, course, .. } = &mut self;
        wide.finish(&mut |bytes| course.push(bytes, sink));
        let lines = self.course.finish(sink);
        Count { bytes: self.bytes, lines }
    }
}

impl Course {
    /// Takes UTF-8, of which the beginning is looked at before it is cut into lines.
    fn push(&mut self, mut bytes: &[u8], sink: &mut dyn FnMut(Line<'_>)) {
        if let Some(held) = &mut self.sample {
            // The sample has the same bytes however the input is divided into pieces.
            let (now, later) = bytes.split_at(bytes.len().min(habit::SAMPLE.saturating_sub(held.len())));
            held.extend_from_slice(now);
            if held.len() < habit::SAMPLE {
                return;
            }
            bytes = later;
            self.begin(sink);
        }
        match self.gate {
            Some(gate) => self.push_searched(bytes, &gate(bytes), sink),
            None => self.way(sink).read(bytes),
        }
    }

    /// Takes a piece of which the lines are known that may speak.
    fn push_searched(&mut self, bytes: &[u8], speaking: &[Range<usize>], sink: &mut dyn FnMut(Line<'_>)) {
        sieve::push(bytes, speaking, &mut self.way(sink));
    }

    fn way<'a>(&'a mut self, sink: &'a mut dyn FnMut(Line<'_>)) -> Way<'a> {
        let Self { split, assemble, .. } = self;
        Way { split, assemble, sink }
    }

    /// Reads the beginning once its habits are known. Every line is read of a log whose newest line stands first, as the order
    /// needs all stamps, and of an export of the journal, whose binary fields look like any line.
    fn begin(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        let Some(sample) = self.sample.take() else { return };
        self.assemble.habits = Habits::of(&sample);
        let mut order = Order::counted();
        let sink = &mut |line: Line<'_>| {
            line.envelope.when.inspect(|when| order.stamped(line.number, *when));
            sink(line);
        };
        self.way(sink).read(&sample);
        if order.reversed() || self.split.exports() {
            self.gate = None;
        }
    }

    /// Hands out what is held, and tells how many lines there were.
    fn finish(&mut self, sink: &mut dyn FnMut(Line<'_>)) -> u64 {
        self.begin(sink);
        let Self { split, assemble, .. } = self;
        let lines = split.finish(&mut |cut| assemble.push(cut, sink));
        assemble.finish(sink);
        lines
    }
}

/// Reads an input to its end, line by line, in bounded memory.
///
/// A carriage return ends a line as it is shown (a progress bar redraws it), but does not count as one. With a gate, the lines
/// behind the beginning that say nothing are passed over, and other threads search for them where the input is large.
pub fn lines(mut reader: impl Read, gate: Option<Search>, sink: &mut dyn FnMut(Line<'_>)) -> std::io::Result<Count> {
    let mut all = Lines::new(gate);
    let mut buffer = vec![0; BUFFER];
    let threads = ahead::threads();
    let end = loop {
        if let Some(gate) = all.gate().filter(|_| threads > 1 && all.bytes >= LARGE) {
            break ahead::read(&mut reader, gate, threads, &mut |bytes, speaking| all.push_searched(bytes, speaking, sink));
        }
        match ahead::fill(&mut reader, &mut buffer) {
            Ok(0) => break Ok(()),
            Ok(n) => all.push(buffer.get(..n).unwrap_or(&buffer), sink),
            Err(error) => break Err(error),
        }
    };
    let count = all.finish(sink);
    end.map(|()| count)
}

/// The lines of a text that was found in a record, numbered from `first`.
pub fn lines_of(text: &str, first: u64, sink: &mut dyn FnMut(Line<'_>)) {
    let mut all = Lines::new(None);
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
