//! Entries that take several lines: `journalctl -o export`, `journalctl -o verbose` and the document of `dmesg -J`.

use serde_json::{Map, Value};

use super::assemble::emit;
use super::journal::{Entry, pair};
use super::listing::Listing;
use super::table::Table;
use super::{Envelope, Line, json};
use crate::time::{self, Stamp};

/// What of a message is kept; journald itself takes 48 KiB lines.
const MESSAGE: usize = 1 << 20;

/// An entry that is not complete.
#[derive(Clone)]
pub(super) enum Block {
    /// `KEY=value` lines up to an empty one.
    Export(Journal),
    /// A head line and indented `KEY=value` lines.
    Verbose(Journal),
    /// Records of `dmesg -J`, a field on each line.
    Dmesg(Map<String, Value>, u64),
    /// Records of a table with a heading.
    Table(Table),
    /// A JSON document laid out over many lines.
    Listing(Listing),
}

/// What became of a line.
pub(super) enum Fate {
    /// It belongs to the block.
    Taken,
    /// It was the last one of the block.
    Last,
    /// It does not belong to the block, which is over.
    Strange,
}

/// An entry of the journal in the making.
#[derive(Clone, Default)]
pub(super) struct Journal {
    entry: Entry,
    lines: Vec<(u64, String)>,
    size: usize,
    /// Whether the field last begun is the message, and how far its further lines are indented.
    message: Option<usize>,
}

impl Journal {
    fn field(&mut self, key: &str, value: &str, number: u64, indent: usize) {
        self.message = (key == "MESSAGE").then_some(indent);
        if self.message.is_some() {
            self.line(value, number);
        } else {
            self.entry.field(key, value);
        }
    }

    fn line(&mut self, text: &str, number: u64) {
        self.size = self.size.saturating_add(text.len() + 32);
        if self.size <= MESSAGE {
            self.lines.push((number, text.to_owned()));
        }
    }

    fn end(self, sink: &mut dyn FnMut(Line<'_>)) {
        let envelope = self.entry.into_envelope(&Envelope::default());
        for (number, text) in self.lines {
            emit(text.into(), envelope.clone(), number, 0, sink);
        }
    }
}

impl Block {
    /// Whether a line begins a block.
    pub(super) fn begin(text: &str, number: u64) -> Option<Self> {
        Self::entry(text, number).or_else(|| Table::begin(text).map(Self::Table))
    }

    fn entry(text: &str, number: u64) -> Option<Self> {
        match text.bytes().next()? {
            b'_' if text.starts_with("__CURSOR=") => Some(Self::Export(Journal::default())),
            b'{' | b'[' if Listing::begins(text) => {
                let mut block = Self::Listing(Listing::default());
                block.take(text, number, &mut |_| {});
                Some(block)
            }
            b' ' if text.starts_with("    MESSAGE=") => {
                let mut block = Self::Verbose(Journal::default());
                block.take(text, number, &mut |_| {});
                Some(block)
            }
            b' ' | b'"' | b'{' | b'\t' => {
                let text = text.trim_start().trim_start_matches('{').trim_start();
                let list = text.strip_prefix("\"dmesg\"")?.trim_start().strip_prefix(':')?;
                (list.trim() == "[").then(|| Self::Dmesg(Map::new(), 0))
            }
            b'A'..=b'Z' if text.ends_with(']') => {
                let (stamp, rest) = time::system(text)?;
                rest.starts_with(" [s=").then_some(())?;
                let mut journal = Journal::default();
                if let Stamp::Wall(wall) = stamp {
                    journal.entry.field("__REALTIME_TIMESTAMP", &wall.at.as_microsecond().to_string());
                }
                Some(Self::Verbose(journal))
            }
            _ => None,
        }
    }

    /// A further line of a binary field.
    pub(super) fn more(&mut self, text: &str, number: u64) -> bool {
        match self {
            Self::Export(journal) => {
                if journal.message.is_some() {
                    journal.line(text, number);
                }
                true
            }
            _ => false,
        }
    }

    /// Offers a line to the block.
    pub(super) fn take(&mut self, text: &str, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Fate {
        match self {
            Self::Export(journal) => match pair(text) {
                Some((key, value)) => {
                    journal.field(key, value, number, 0);
                    Fate::Taken
                }
                None if text.is_empty() => Fate::Last,
                None => Fate::Strange,
            },
            Self::Verbose(journal) => {
                let Some(inner) = text.strip_prefix("    ") else { return Fate::Strange };
                if let Some((key, value)) = pair(inner) {
                    journal.field(key, value, number, 5 + key.len());
                } else if let Some(indent) = journal.message {
                    let blanks = text.bytes().take_while(|b| *b == b' ').count().min(indent);
                    journal.line(text.get(blanks..).unwrap_or(""), number);
                } else if !inner.starts_with(' ') {
                    return Fate::Strange;
                }
                Fate::Taken
            }
            Self::Dmesg(record, first) => dmesg(record, first, text, number, sink),
            Self::Table(table) => table.take(text, number, sink),
            Self::Listing(listing) => listing.take(text, number, sink),
        }
    }

    /// Ends the block and hands its message out.
    pub(super) fn end(self, sink: &mut dyn FnMut(Line<'_>)) {
        match self {
            Self::Export(journal) | Self::Verbose(journal) => journal.end(sink),
            Self::Dmesg(record, number) => say(&record, number, sink),
            Self::Table(table) => table.end(sink),
            Self::Listing(listing) => listing.end(sink),
        }
    }
}

/// A line of `dmesg -J` (util-linux 2.38 and later).
fn dmesg(record: &mut Map<String, Value>, first: &mut u64, text: &str, number: u64, sink: &mut dyn FnMut(Line<'_>)) -> Fate {
    let text = text.trim();
    let text = text.strip_suffix(',').unwrap_or(text);
    match text {
        "{" => record.clear(),
        "}" => say(&std::mem::take(record), *first, sink),
        "]" => return Fate::Last,
        _ => {
            let whole = text.starts_with('{');
            let parsed = if whole { serde_json::from_str(text) } else { serde_json::from_str(&format!("{{{text}}}")) };
            let Ok(Value::Object(fields)) = parsed else { return Fate::Strange };
            if whole {
                say(&fields, number, sink);
            } else {
                if fields.contains_key("msg") {
                    *first = number;
                }
                record.extend(fields);
            }
        }
    }
    Fate::Taken
}

/// Hands out a record of `dmesg -J`.
fn say(record: &Map<String, Value>, number: u64, sink: &mut dyn FnMut(Line<'_>)) {
    let Some(message) = record.get("msg").and_then(Value::as_str) else { return };
    let mut envelope = Envelope::default();
    let time = record.get("time").or_else(|| record.get("timestamp"));
    match time.and_then(Value::as_f64) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(seconds) => envelope.saw(Stamp::Boot((seconds * 1e6).round() as u64)),
        None => {
            if let Some(stamp) = time.and_then(json::moment) {
                envelope.saw(stamp);
            }
        }
    }
    // With -x the facility is a word; else it stands above the three bits of the level.
    let kernel = match (record.get("fac"), record.get("pri")) {
        (Some(Value::String(facility)), _) => facility == "kern",
        (Some(Value::Number(facility)), _) => facility.as_u64() == Some(0),
        (_, Some(Value::Number(priority))) => priority.as_u64().is_some_and(|priority| priority < 8),
        _ => true,
    };
    envelope.by_kernel(kernel);
    for line in message.split('\n') {
        emit(line.into(), envelope.clone(), number, 0, sink);
    }
}
