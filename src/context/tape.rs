//! The beginning and the end of a stream, kept while it is read: a pipe cannot be read again for the lines around the evidence.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::input::Source;
use crate::line::looks_binary;

/// How much of each end is kept, in bytes. What kills a job is told at the end of its log, and how it was started at the beginning.
const KEPT: usize = 4 << 20;

/// What was kept of one stream. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Whether something lay between them, and how many lines ended there.
    gap: bool,
    lines: u64,
}

impl Tape {
    /// A reader that keeps what is read through it.
    pub fn record<R: Read>(&self, reader: R) -> Recorded<R> {
        Recorded { reader, tape: self.clone() }
    }

    /// What was kept, with every line at its number: empty ones stand for those that were not kept. Nothing for an archive with
    /// a hole in it.
    pub fn replay(&self, name: &str) -> Option<Source<'static>> {
        let mut kept = self.kept();
        let (mut head, mut tail) = (std::mem::take(&mut kept.head), std::mem::take(&mut kept.tail));
        if kept.gap {
            if looks_binary(head.get(..8 << 10).unwrap_or(&head)) {
                return None;
            }
            // Half a line on either side would be quoted as a whole one.
            head.truncate(head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
            tail.drain(..tail.iter().position(|byte| *byte == b'\n').unwrap_or(tail.len()));
        }
        let gap = io::repeat(b'\n').take(kept.lines);
        Some(Source::stream(name.into(), io::Cursor::new(head).chain(gap).chain(io::Cursor::new(tail))))
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        // Twice as much is let in before the older half goes, so that no byte is moved more than once.
        if self.tail.len() > 2 * KEPT {
            let lost = self.tail.drain(..self.tail.len() - KEPT);
            self.lines += lost.filter(|byte| *byte == b'\n').count() as u64;
            self.gap = true;
        }
    }
}

/// A reader that keeps what is read through it.
#[derive(Debug)]
pub struct Recorded<R> {
    reader: R,
    tape: Tape,
}

impl<R: Read> Read for Recorded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.tape.kept().push(buffer.get(..n).unwrap_or_default());
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write as _};

    use super::{KEPT, Tape};

    fn replayed(text: &[u8]) -> Option<String> {
        let tape = Tape::default();
        io::copy(&mut tape.record(text), &mut io::sink()).unwrap();
        let source = tape.replay("-")?;
        let mut again = String::new();
        source.open().unwrap().read_to_string(&mut again).unwrap();
        Some(again)
    }

    #[test]
    fn lines_keep_their_numbers_and_are_whole_or_not_there() {
        assert_eq!(replayed(b"one\ntwo").unwrap(), "one\ntwo");
        let mut text = Vec::new();
        let count = 4 * KEPT / 64;
        for number in 1..=count {
            writeln!(text, "line {number:050}").unwrap();
        }
        let again = replayed(&text).unwrap();
        let lines: Vec<&str> = again.lines().collect();
        assert_eq!(lines.len(), count);
        assert!(lines.iter().filter(|line| line.is_empty()).count() > count / 8);
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
            assert_eq!(*line, format!("line {:050}", index + 1));
        }
        assert!(!lines[0].is_empty() && !lines[count - 1].is_empty());
    }

    #[test]
    fn an_archive_with_a_hole_is_not_replayed() {
        let mut text = b"\x1f\x8b\x08".to_vec();
        text.resize(4 * KEPT, 7);
        assert!(replayed(&text).is_none());
        text.truncate(100);
        let tape = Tape::default();
        io::copy(&mut tape.record(&text[..]), &mut io::sink()).unwrap();
        assert!(tape.replay("-").is_some());
    }
}
