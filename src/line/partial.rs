//! Joins the pieces into which container runtimes cut long lines (16 KiB in Docker, containerd and CRI-O), and asciinema the
//! output of a terminal.

use std::borrow::Cow;

use super::assemble::emit;
use super::{Envelope, Line, container};
use crate::time::Stamp;

/// What of a joined line is kept, as of any other.
const MOST: usize = 1 << 20;

/// Docker cuts at this many bytes; a shorter piece without a line feed is the last word of a dead process.
const PIECE: usize = 16_000;

/// The beginning of a line whose end has not come.
#[derive(Clone)]
struct Pending {
    text: String,
    when: Option<Stamp>,
    number: u64,
    /// Whether the piece may go on after a longer while.
    full: bool,
}

/// The unfinished lines of standard output and standard error.
#[derive(Clone, Default)]
pub(super) struct Partials {
    streams: [Option<Pending>; 2],
}

/// A piece of a line, as a runtime wrote it.
struct Piece<'a> {
    text: Cow<'a, str>,
    when: Option<Stamp>,
    error: bool,
    last: bool,
    /// Whether the runtime said that the line goes on.
    told: bool,
}

/// A line of Docker's json-file driver, if it has to be looked at: one that is whole and follows no piece passes.
fn docker(text: &str, waiting: bool) -> Option<Piece<'_>> {
    if !text.starts_with("{\"log\":\"") || (!waiting && text.contains("\\n\",\"")) {
        return None;
    }
    let object: serde_json::Value = serde_json::from_str(text).ok()?;
    let log = object.get("log")?.as_str()?;
    let error = object.get("stream")?.as_str()? == "stderr";
    let when = object.get("time").and_then(serde_json::Value::as_str).and_then(Stamp::parse);
    Some(Piece { text: Cow::Owned(log.to_owned()), when, error, last: log.ends_with('\n'), told: false })
}

/// A line of a CRI log file, if it is a piece or follows one.
fn cri(text: &str, waiting: bool) -> Option<Piece<'_>> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let entry = container::entry(text)?;
    let told = entry.partial;
    (told || waiting).then_some(())?;
    Some(Piece { text: Cow::Borrowed(entry.text), when: Some(entry.stamp), error: entry.error, last: !told, told })
}

/// An event of a cast of asciinema (format 2 and 3): `[0.25, "o", "Killed\r\n"]`, and the exit status of the session, `"x"`.
fn cast(text: &str) -> Option<Piece<'_>> {
    let kind = text.split_once(',')?.1.trim_start();
    if !(kind.starts_with("\"o\"") || kind.starts_with("\"x\"")) {
        return None;
    }
    let event: serde_json::Value = serde_json::from_str(text).ok()?;
    let (_, kind, data) = (event.get(0)?.as_f64()?, event.get(1)?.as_str()?, event.get(2)?.as_str()?);
    let data = if kind == "x" { format!("exit status {data}\n") } else { data.to_owned() };
    let last = data.ends_with(['\n', '\r']);
    Some(Piece { text: Cow::Owned(data), when: None, error: false, last, told: true })
}

impl Partials {
    /// Takes a line if it is a piece of one.
    pub(super) fn take(&mut self, text: &str, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> bool {
        let waiting = self.streams.iter().any(Option::is_some);
        let piece = match text.bytes().next() {
            Some(b'{') => docker(text, waiting),
            Some(b'[') => cast(text),
            Some(b'0'..=b'9') => cri(text, waiting),
            _ => None,
        };
        let Some(piece) = piece else { return false };
        let Some(slot) = self.streams.get_mut(usize::from(piece.error)) else { return false };
        let full = piece.told || piece.text.len() >= PIECE;
        if let Some(mut held) = slot.take() {
            if !held.full && apart(held.when, piece.when) {
                held.end(sink);
            } else {
                if held.text.len() + piece.text.len() <= MOST {
                    held.text.push_str(&piece.text);
                }
                held.full = full;
                if piece.last {
                    held.end(sink);
                } else {
                    *slot = Some(held);
                }
                return true;
            }
        }
        let pending = Pending { text: piece.text.into_owned(), when: piece.when, number, full };
        if piece.last {
            pending.end(sink);
        } else {
            *slot = Some(pending);
        }
        true
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.streams.iter().all(Option::is_none)
    }

    /// Hands out what still waits.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        let mut held: Vec<_> = self.streams.iter_mut().filter_map(Option::take).collect();
        held.sort_by_key(|pending| pending.number);
        for pending in held {
            pending.end(sink);
        }
    }
}

/// Whether two pieces were written too long after each other to be one line.
fn apart(first: Option<Stamp>, second: Option<Stamp>) -> bool {
    first.zip(second).and_then(|(a, b)| a.gap(b)).is_some_and(|gap| gap.seconds > 0.5)
}

impl Pending {
    fn end(self, sink: &mut dyn FnMut(Line<'_>)) {
        let envelope = Envelope { when: self.when, ..Envelope::default() };
        let text = super::clean::strip_owned(self.text);
        for line in text.split(['\n', '\r']).filter(|line| !line.is_empty()) {
            emit(line.into(), envelope.clone(), self.number, 0, sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::line::tests::lines_in;

    #[test]
    fn the_output_of_a_cast_becomes_lines() {
        let cast = "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.4, \"o\", \"$ python train.py\\r\\nKil\"]\n[0.5, \"i\", \"x\"]\n[0.6, \"o\", \"led\\r\\n$ \"]\n[0.7,\"x\",\"137\"]\n";
        let lines: Vec<_> = lines_in(cast).into_iter().map(|line| line.text.into_owned()).collect();
        assert!(lines.contains(&"$ python train.py".to_owned()) && lines.contains(&"Killed".to_owned()), "{lines:?}");
        assert!(lines.iter().any(|line| line.ends_with("exit status 137")), "{lines:?}");
        assert_eq!(lines_in("[0, \"oil\", 3]").first().map(|line| line.text.to_string()).as_deref(), Some("[0, \"oil\", 3]"));
    }
}
