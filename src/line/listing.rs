//! Takes log records out of a JSON document that is laid out over many lines: answers of Elasticsearch, Loki, CloudWatch,
//! Google Cloud and their consoles. What holds no log records comes out as the lines it is.

use serde_json::Value;

use super::assemble::emit;
use super::block::Fate;
use super::{Envelope, Line, json};

/// What is held of a document before it is given up, in bytes; records of logs are far smaller.
const HELD: usize = 1 << 20;

/// How deep a document may nest.
const DEPTH: usize = 64;

/// An object or list that has not ended.
#[derive(Clone)]
struct Open {
    /// Whether it is a list.
    list: bool,
    /// Where it begins among the held lines; `None` once they were handed out.
    at: Option<usize>,
    /// Whether a text as records have it stands in it.
    text: bool,
}

/// A document in the making.
#[derive(Clone, Default)]
pub(super) struct Listing {
    held: Vec<(u64, String)>,
    size: usize,
    open: Vec<Open>,
}

impl Listing {
    /// Whether a line begins a document that may hold records. Indented ones are not looked at: they may go on a message.
    pub(super) fn begins(text: &str) -> bool {
        matches!(text.trim_end(), "{" | "[" | "[{")
    }

    /// Offers a line to the document.
    pub(super) fn take(&mut self, text: &str, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Fate {
        let mark = text.trim();
        let mark = mark.strip_suffix(',').unwrap_or(mark);
        let likely = mark.starts_with(['{', '}', '[', ']', '"', '-']) || mark.starts_with(|c: char| c.is_ascii_digit());
        // `dmesg -J` has a reader of its own.
        if !(likely || matches!(mark, "true" | "false" | "null")) || mark.starts_with("\"dmesg\"") || self.open.len() > DEPTH {
            return Fate::Strange;
        }
        let line = self.held.len();
        self.size += text.len() + 32;
        self.held.push((number, text.to_owned()));
        if mark.starts_with('{') && mark.ends_with('}') && mark.len() > 2 {
            if self.record(line, sink) {
                self.forget();
            }
            return Fate::Taken;
        }
        let closing = mark.bytes().take_while(|b| matches!(b, b'}' | b']')).count();
        for _ in 0..closing {
            let Some(open) = self.open.pop() else {
                self.release(sink);
                return Fate::Last;
            };
            let ends = self.open.is_empty();
            if open.list || !(ends || self.open.last().is_some_and(|outer| outer.list) || open.text) {
                continue;
            }
            match open.at {
                Some(at) if self.record(at, sink) => self.forget(),
                _ if open.text => self.mention(),
                _ => {}
            }
        }
        let rest = mark.get(closing..).unwrap_or_default().trim_start_matches([',', ' ']);
        if closing == 0 && rest.starts_with('"') && json::TEXTS.iter().any(|key| begins(rest, key)) {
            self.mention();
        }
        for list in opening(rest) {
            self.open.push(Open { list, at: Some(line).filter(|_| line < self.held.len()), text: false });
        }
        if self.open.is_empty() {
            self.release(sink);
            return Fate::Last;
        }
        if self.size > HELD {
            self.release(sink);
            self.forget();
        }
        Fate::Taken
    }

    /// Notes that the innermost object has a text.
    fn mention(&mut self) {
        if let Some(open) = self.open.iter_mut().rev().find(|open| !open.list) {
            open.text = true;
        }
    }

    /// Hands out the message of the record that begins at a held line, and what stands before it as lines.
    fn record(&mut self, at: usize, sink: &mut dyn FnMut(Line<'_>)) -> bool {
        let Some(lines) = self.held.get(at..).filter(|lines| !lines.is_empty()) else { return false };
        let text: Vec<&str> = lines.iter().map(|(_, text)| text.trim()).collect();
        let text = text.join("\n");
        // The name of the object may stand on its first line.
        let from = text.find('{').unwrap_or(0);
        let text = text.get(from..).unwrap_or_default();
        let Ok(value) = serde_json::from_str::<Value>(text.strip_suffix(',').unwrap_or(text)) else { return false };
        let mut envelope = Envelope::default();
        let Some(message) = json::told(&value, &mut envelope) else { return false };
        let speaks = |line: &str| json::TEXTS.iter().any(|key| begins(line.trim().trim_start_matches('{').trim_start(), key));
        let number = lines.iter().find(|(_, text)| speaks(text)).or(lines.first()).map_or(0, |(number, _)| *number);
        for (number, text) in self.held.drain(..at) {
            emit(text.into(), Envelope::default(), number, 0, sink);
        }
        emit(super::clean::strip_owned(message).into(), envelope, number, 0, sink);
        self.held.clear();
        self.size = 0;
        true
    }

    /// After a record the beginnings of what is still open are no longer held.
    fn forget(&mut self) {
        for open in &mut self.open {
            (open.at, open.text) = (None, false);
        }
    }

    /// Hands out as lines what is held.
    fn release(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        for (number, text) in self.held.drain(..) {
            emit(text.into(), Envelope::default(), number, 0, sink);
        }
        self.size = 0;
    }

    /// Ends the document.
    pub(super) fn end(mut self, sink: &mut dyn FnMut(Line<'_>)) {
        self.release(sink);
    }
}

/// Whether a line begins with a key.
fn begins(line: &str, key: &str) -> bool {
    line.strip_prefix('"').and_then(|line| line.strip_prefix(key)).is_some_and(|rest| rest.starts_with('"'))
}

/// The brackets that a line opens and does not close: whether each is a list's.
fn opening(line: &str) -> Vec<bool> {
    let trimmed = line.trim_end_matches([' ', '{', '[']);
    line.get(trimmed.len()..).unwrap_or_default().bytes().filter(|b| *b != b' ').map(|b| b == b'[').collect()
}

#[cfg(test)]
mod tests {
    use crate::line::lines;

    fn read(text: &str) -> Vec<(u64, String)> {
        let mut all = Vec::new();
        lines(text.as_bytes(), None, &mut |line| all.push((line.number, line.text.to_string()))).unwrap();
        all
    }

    fn messages(text: &str) -> Vec<(u64, String)> {
        read(text).into_iter().filter(|(_, text)| text.starts_with(char::is_uppercase)).collect()
    }

    #[test]
    fn records_in_laid_out_documents_are_read() {
        let hits = "{\n \"took\": 5,\n \"hits\": {\n  \"hits\": [\n   {\n    \"_id\": \"x\",\n    \"_source\": {\n     \"@timestamp\": \"2026-09-12T08:10:30Z\",\n     \"message\": \"Killed\",\n     \"kubernetes\": {\n      \"pod\": {\n       \"name\": \"t-0\"\n      }\n     }\n    }\n   },\n   {\n    \"_source\": {\n     \"message\": \"Bus error\",\n     \"@timestamp\": \"2026-09-12T08:10:29Z\"\n    }\n   }\n  ]\n }\n}\nAfter\n";
        assert_eq!(messages(hits), [(9, "Killed".into()), (19, "Bus error".into()), (26, "After".into())]);
        let events = "{\n    \"events\": [\n        {\n            \"timestamp\": 1789200627000,\n            \"message\": \"A\\nB\",\n            \"ingestionTime\": 1789200627001\n        }\n    ],\n    \"nextForwardToken\": \"f/1\"\n}\n";
        assert_eq!(messages(events), [(5, "A".into()), (5, "B".into())]);
        let gcloud = "[\n  {\n    \"insertId\": \"a\",\n    \"resource\": {\n      \"labels\": {\n        \"pod_name\": \"p\"\n      },\n      \"type\": \"k8s_container\"\n    },\n    \"textPayload\": \"Killed\",\n    \"timestamp\": \"2026-09-12T08:10:30Z\"\n  }\n]\n";
        assert_eq!(messages(gcloud), [(10, "Killed".into())]);
        assert_eq!(
            messages("[\n{\"timestamp\":1789200627000,\"message\":\"A\"},\n{\"timestamp\":1789200627000,\"message\":\"B\"}\n]\n")
                .len(),
            2
        );
    }

    #[test]
    fn other_documents_come_out_as_they_are() {
        for text in [
            "{\n \"a\": {\n  \"message\": \"Killed\"\n },\n \"b\": [\n  1,\n  2\n ]\n}\nAfter",
            "{\nnot json\n}",
            "[\n",
            "[\n {\n  \"Id\": \"a\",\n  \"State\": {\n   \"Error\": \"\"\n  }\n }\n]",
        ] {
            let expected: Vec<_> = text.lines().map(str::to_owned).zip(1..).map(|(text, number)| (number, text)).collect();
            assert_eq!(read(text), expected);
        }
    }
}
