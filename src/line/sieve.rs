//! Passes over the lines of a large input that say nothing, so that they are never decoded.
//!
//! A search over the bytes (the gate) names the lines that may speak. They are handed on together with what their reading
//! depends on: the line before, the beginning of the record that they stand in, the last stamp. The rest is counted. Every
//! piece of the input also hands on the line that its end cuts, so that a sample of the quiet lines tells the times and the
//! writers of the whole.

use std::ops::Range;

use super::assemble::Assembler;
use super::peel;
use super::split::Splitter;
use super::{Envelope, Line, clean};

/// Finds the lines of a buffer that may speak, each from its first byte to its mark; the ends of the buffer count as marks.
pub type Search = fn(&[u8]) -> Vec<Range<usize>>;

/// How far back the beginning of a record is looked for, in lines.
const RECORD_LINES: usize = 400;

/// The same in bytes.
const RECORD_BYTES: usize = 64 << 10;

/// How many lines back the stamp of a line without one is looked for; a progress bar redraws itself some hundred times an epoch.
const STAMP: usize = 512;

/// How far into a line its stamp is looked for, in bytes; behind the prefixes of launchers and collectors, it stands here.
const NEAR: usize = 160;

/// How many of the last quiet lines of a piece are asked for a stamp, for the lines without one in the next piece.
const LAST: usize = 8;

/// A line as long as this may be a piece of a longer one that a container's runtime cut (at 16 KiB).
const CUT: usize = 16_000;

/// Where lines are handed on.
pub(super) struct Way<'a> {
    pub(super) split: &'a mut Splitter,
    pub(super) assemble: &'a mut Assembler,
    pub(super) sink: &'a mut dyn FnMut(Line<'_>),
}

impl Way<'_> {
    /// Hands bytes on to be read.
    pub(super) fn read(&mut self, bytes: &[u8]) {
        let Self { split, assemble, sink } = self;
        split.push(bytes, &mut |cut| assemble.push(cut, *sink));
    }

    /// What the envelopes of a line tell, if a clock is among them: one of the wall, or also the kernel's.
    fn clocks(&self, line: &[u8], boot: bool) -> Option<Envelope> {
        // Most lines without a stamp have no time of the day near their beginning, nor seconds since 1970, nor a bracket of the
        // kernel's.
        let near = line.get(..NEAR).unwrap_or(line);
        let timed = memchr::memchr_iter(b':', near)
            .any(|colon| matches!(near.get(colon.wrapping_sub(1)..colon + 2), Some([b'0'..=b'9', _, b'0'..=b'9'])));
        let counted = || near.split(|b| !b.is_ascii_digit()).any(|digits| digits.len() >= 10);
        if !(timed || boot && near.contains(&b'[') || counted()) {
            return None;
        }
        let text = clean::clean(line);
        let mut outer = Envelope::default();
        let inner = peel(self.assemble.habits.peel(text.trim_end(), &mut outer), 0).envelope;
        let (when, boot) = (inner.when.or(outer.when), inner.boot.or(outer.boot));
        when.or(boot).is_some().then_some(Envelope { when, boot, kernel: inner.kernel.or(outer.kernel), ..inner })
    }

    /// Where the last line with a wall clock stands before a line without one.
    fn stamp(&self, before: &[u8], line: &[u8]) -> Option<Range<usize>> {
        let stamped = |line: &[u8]| self.clocks(line, false).is_some_and(|envelope| envelope.when.is_some());
        if stamped(line) {
            return None;
        }
        backwards(before).take(STAMP).find(|range| before.get(range.clone()).is_some_and(stamped))
    }

    /// Whether a line begins here that depends on none before it.
    fn rests(&self) -> bool {
        self.split.rests() && self.assemble.rests()
    }
}

/// Takes a piece of the input, with the lines of it that may speak.
pub(super) fn push(bytes: &[u8], speaking: &[Range<usize>], way: &mut Way<'_>) {
    let mut at = 0;
    // The line that the piece before began, and all that it draws in.
    while !way.rests() && at < bytes.len() {
        at = through(bytes, at, way);
    }
    let whole = memchr::memrchr2(b'\n', b'\r', bytes).map_or(0, |mark| mark + 1);
    let Some(lines) = bytes.get(..whole).filter(|_| at < whole) else {
        return way.read(bytes.get(at..).unwrap_or_default());
    };
    for line in speaking.iter().filter(|line| line.end < whole) {
        if line.start < at {
            continue;
        }
        let before = lines.get(at..line.start).unwrap_or_default();
        let text = lines.get(line.start..line.end).unwrap_or_default();
        if let Some(stamped) = way.stamp(before, text) {
            way.split.skip(before.get(..stamped.start).unwrap_or_default());
            way.read(before.get(stamped.clone()).unwrap_or_default());
            at += stamped.end;
        }
        let before = lines.get(at..line.start).unwrap_or_default();
        let record = record(before, text);
        way.split.skip(before.get(..record).unwrap_or_default());
        at += record;
        while at < whole && (at <= line.start || !way.rests()) {
            at = through(lines, at, way);
        }
    }
    let rest = lines.get(at..).unwrap_or_default();
    way.split.skip(rest);
    echo(rest, way);
    way.read(bytes.get(whole..).unwrap_or_default());
}

/// Tells the time of lines that were just passed over: hands on the last of them with a clock, for the lines without one that
/// follow, and for the time at which the input ends.
fn echo(quiet: &[u8], way: &mut Way<'_>) {
    let lines = backwards(quiet).take(LAST).map(|range| quiet.get(range).unwrap_or_default());
    let found = lines.enumerate().find_map(|(back, line)| Some((back, line, way.clocks(line, true)?)));
    if let Some((back, line, envelope)) = found {
        let number = way.split.number().saturating_sub(1 + back as u64);
        (way.sink)(Line { text: clean::clean(line), number, envelope });
    }
}

/// Hands on one line from a position, and tells where the next begins.
fn through(bytes: &[u8], at: usize, way: &mut Way<'_>) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |mark| mark + 1);
    way.read(rest.get(..length).unwrap_or(rest));
    at + length
}

/// The lines before a position, the nearest first, each with its mark.
fn backwards(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut end = bytes.len();
    std::iter::from_fn(move || {
        let inner = bytes.get(..end.checked_sub(1)?)?;
        let start = memchr::memrchr2(b'\n', b'\r', inner).map_or(0, |mark| mark + 1);
        Some(start..std::mem::replace(&mut end, start))
    })
}

/// Where the record of a line begins among the lines before: at least one line back, as a writer may have torn it.
fn record(before: &[u8], line: &[u8]) -> usize {
    let mut start = before.len();
    let mut inner = inside(line);
    let least = before.len().saturating_sub(RECORD_BYTES);
    for (lines, range) in backwards(before).take(RECORD_LINES).take_while(|range| range.start >= least).enumerate() {
        let text = before.get(range.clone()).unwrap_or_default();
        if lines > 0 && !inner && text.len() < CUT {
            break;
        }
        start = range.start;
        inner = inside(text);
    }
    start
}

/// Whether a line may stand inside a record of several lines: it is indented, is a member of a document, or a field of a
/// journal's export.
fn inside(line: &[u8]) -> bool {
    let field = |line: &[u8]| {
        let name = line.iter().take_while(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_')).count();
        name > 0 && line.get(name) == Some(&b'=') && !line.starts_with(b"__CURSOR=")
    };
    match line.first() {
        Some(b' ' | b'\t' | b'"' | b'}' | b']') => true,
        Some(b'{') => line.trim_ascii_end() != b"{",
        _ => field(line),
    }
}
