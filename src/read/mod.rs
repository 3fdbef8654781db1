//! Reading: inputs into facts. Documents go to the record formats, everything else line by line to the patterns.
//!
//! Reading never judges and never fails: any bytes give facts and notes, and one bad input hides no other.

mod evidence;
mod stream;

use evidence::{complete, cut, fact};

use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::io::{Cursor, Read};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::fact::{ContainerEvent, Fact, What, Who};
use crate::input::archive::Found;
use crate::input::{self, Source};
use crate::line::{self, Line, Order};
use crate::note::Note;
use crate::patterns;
use crate::place::Place;
use crate::records::{self, documents};
use crate::seen::{Input, Kind};
use crate::time::Stamp;

pub use stream::Stream;

/// An input up to this size is looked through for documents wherever they stand; a larger one is read as lines. In bytes.
const MIXED: usize = 4 << 20;

/// The same for an input that begins as a document does.
const DOCUMENT: usize = 32 << 20;

/// How many facts of one pattern are kept for each input; the rest is counted. A DataLoader message repeated by ten
/// thousand ranks says no more than by twenty thousand.
const REPEATS: usize = 20_000;

/// How many of the last facts of one sort are kept when there are more.
const LAST: usize = 256;

/// How much evidence text is kept for each input, in bytes.
const TEXT: usize = 64 << 20;

/// What makes facts alike enough to be counted together: the pattern or format, and the kind of claim.
type Sort = (&'static str, std::mem::Discriminant<What>, Option<std::mem::Discriminant<ContainerEvent>>);

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
    prints: Vec<((usize, u64), Arc<str>)>,
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

/// Reads one input; what it gives is added to what was read before.
pub fn one(name: &Arc<str>, mut reader: Box<dyn Read + '_>, reading: &mut Reading) {
    let mut head = Vec::new();
    let mut limit = MIXED;
    let mut read = reader.by_ref().take(limit as u64 + 1).read_to_end(&mut head);
    if read.is_ok() && head.len() > limit && documents::begins(&head) {
        limit = DOCUMENT;
        read = reader.by_ref().take((limit - head.len()) as u64 + 1).read_to_end(&mut head);
    }
    if let Err(error) = read {
        let end = if head.is_empty() { "" } else { " to its end" };
        reading.notes.push(Note::unread(name, format!("cannot be read{end}: {}", input::reason(&error))));
        if head.is_empty() {
            return;
        }
    }
    let whole = head.len() <= limit;
    if whole && !head.is_empty() {
        let mut hasher = std::hash::DefaultHasher::new();
        head.hash(&mut hasher);
        let print = (head.len(), hasher.finish());
        if let Some((_, first)) = reading.prints.iter().find(|(known, _)| *known == print) {
            reading.notes.push(Note::remark(name, format!("the same text as {first}: read once")));
            return;
        }
        reading.prints.push((print, Arc::clone(name)));
    }
    let mut collector = Collector::new(name);
    if head.is_empty() {
        reading.notes.push(Note::remark(name, "empty"));
        collector.kind = Some(Kind::Empty);
    } else if line::looks_binary(&head[..head.len().min(8 << 10)]) || !whole && is_void(&head) {
        reading.notes.push(Note::remark(name, "not text: skipped"));
        collector.kind = Some(Kind::Binary);
        collector.count.bytes = head.len() as u64;
    } else if !whole {
        let rest = Cursor::new(head).chain(reader);
        collector.order = Order::counted();
        collector.lines(rest, &[], reading);
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

/// Whether there is nothing but NUL bytes for as long as anybody would wait: a log has a hole where it was cut, but a device
/// or a bomb has nothing else.
fn is_void(head: &[u8]) -> bool {
    head.iter().all(|byte| *byte == 0)
}

/// Collects the facts of one input and what is to be said of it.
#[derive(Clone)]
struct Collector {
    name: Arc<str>,
    facts: Vec<Fact>,
    kind: Option<Kind>,
    count: line::Count,
    kernel_lines: u64,
    journal_lines: u64,
    text_lines: u64,
    span: Option<(Stamp, Stamp)>,
    kernel_span: Option<(Stamp, Stamp)>,
    boot_span: Option<(Stamp, Stamp)>,
    latest: Option<Stamp>,
    order: Order,
    hosts: Vec<String>,
    repeats: HashMap<Sort, usize>,
    last: HashMap<Sort, VecDeque<Fact>>,
    text: usize,
    dropped: u64,
}

impl Collector {
    fn new(name: &Arc<str>) -> Self {
        Self {
            name: Arc::clone(name),
            facts: Vec::new(),
            kind: None,
            count: line::Count::default(),
            kernel_lines: 0,
            journal_lines: 0,
            text_lines: 0,
            span: None,
            kernel_span: None,
            boot_span: None,
            latest: None,
            order: Order::default(),
            hosts: Vec::new(),
            repeats: HashMap::new(),
            last: HashMap::new(),
            text: 0,
            dropped: 0,
        }
    }

    fn lines(&mut self, reader: impl Read, documents: &[RangeInclusive<u64>], reading: &mut Reading) {
        let mut next = 0;
        let result = line::lines(reader, Some(patterns::speaking), &mut |line| {
            while documents.get(next).is_some_and(|range| *range.end() < line.number) {
                next += 1;
            }
            if documents.get(next).is_none_or(|range| !range.contains(&line.number)) {
                self.line(&line, &Who::default());
            }
        });
        match result {
            Ok(count) => self.count = count,
            Err(error) => {
                reading.notes.push(Note::unread(&self.name, format!("cannot be read to its end: {}", input::reason(&error))))
            }
        }
    }

    fn line(&mut self, line: &Line<'_>, about: &Who) {
        let envelope = &line.envelope;
        let claims = patterns::read(line);
        let kernel = envelope.kernel == Some(true) || claims.iter().any(|(p, _)| p.witness == crate::fact::Witness::Kernel);
        self.kernel_lines += u64::from(kernel);
        self.journal_lines += u64::from(envelope.kernel == Some(false));
        self.text_lines += u64::from(!line.text.trim().is_empty());
        if let Some(host) = envelope.host.as_ref().filter(|host| kernel && self.hosts.len() < 2 && !self.hosts.contains(host)) {
            self.hosts.push(host.clone());
        }
        if let Some(when) = envelope.when {
            self.order.stamped(line.number, when);
            self.latest = Some(when);
            widen(&mut self.span, when);
            if kernel {
                widen(&mut self.kernel_span, when);
            }
        }
        if let Some(boot) = envelope.boot {
            widen(&mut self.boot_span, boot);
        }
        for (pattern, claim) in claims {
            let place = Place::line(&self.name, line.number);
            let mut fact = fact(claim, pattern.id, pattern.witness, place, &line.text, envelope);
            complete(&mut fact.who, about);
            fact.since = self.latest.filter(|_| fact.when.is_none());
            self.push(fact);
        }
    }

    /// Records that are laid out as text; tells whether one of them was the whole of it.
    fn texts(&mut self, text: &str) -> bool {
        let mut whole = false;
        for (format, read) in records::read_texts(text) {
            self.kind.get_or_insert(Kind::Record(format.id));
            whole |= read.whole;
            self.record(format.id, read, 1);
        }
        whole
    }

    fn document(&mut self, document: &documents::Document) {
        let Some((format, read)) = records::read(&document.value) else { return };
        self.kind.get_or_insert(Kind::Record(format.id));
        self.record(format.id, read, document.first_line);
    }

    fn record(&mut self, id: &'static str, read: records::Reading, first_line: u64) {
        for entry in read.entries {
            let place = Place {
                input: Arc::clone(&self.name),
                line: entry.line.or(Some(first_line).filter(|line| *line > 1)),
                shown: None,
                pointer: Some(entry.pointer.into()).filter(|p: &Arc<str>| !p.is_empty()),
            };
            if let Some(when) = entry.when {
                widen(&mut self.span, when);
            }
            self.push(Fact {
                what: entry.claim.what,
                who: entry.claim.who,
                when: entry.when,
                since: None,
                boot: None,
                place,
                text: cut(&entry.text),
                witness: entry.witness,
                id,
            });
        }
        for remark in read.remarks {
            let before = self.facts.len();
            line::lines_of(&remark.text, remark.line.unwrap_or(first_line), &mut |line| self.line(&line, &remark.who));
            for fact in &mut self.facts[before..] {
                fact.place.pointer = Some(remark.pointer.as_str().into()).filter(|p: &Arc<str>| !p.is_empty());
                fact.when = fact.when.or(remark.when);
            }
        }
    }

    fn push(&mut self, fact: Fact) {
        let event = match &fact.what {
            What::Event(event) => Some(std::mem::discriminant(event)),
            _ => None,
        };
        let sort = (fact.id, std::mem::discriminant(&fact.what), event);
        let repeats = self.repeats.entry(sort).or_default();
        *repeats += 1;
        if *repeats <= REPEATS && self.text <= TEXT {
            self.text += fact.text.len();
            self.facts.push(fact);
            return;
        }
        // What is said last is nearest to the end that is asked about.
        let last = self.last.entry(sort).or_default();
        last.push_back(fact);
        if last.len() > LAST {
            last.pop_front();
            self.dropped += 1;
        }
    }

    fn finish(mut self, reading: &mut Reading) {
        if !self.last.is_empty() {
            self.facts.extend(std::mem::take(&mut self.last).into_values().flatten());
            self.facts.sort_by_key(|fact| fact.place.line);
        }
        if self.order.reversed() {
            let text = if self.order.known() {
                for place in self.facts.iter_mut().map(|fact| &mut fact.place) {
                    place.shown = place.line;
                    place.line = place.line.map(|line| self.order.turned(line, self.count.lines));
                }
                self.facts.sort_by_key(|fact| fact.place.line);
                "the newest line stands first: read from the end"
            } else {
                "the newest line stands first, and it is too large to be turned: what happened first is not certain"
            };
            reading.notes.push(Note::remark(&self.name, text));
        }
        if self.dropped > 0 {
            reading.notes.push(Note::remark(
                &self.name,
                format!("{} further lines that say the same were counted, not kept", self.dropped),
            ));
        }
        let others = self.text_lines.saturating_sub(self.kernel_lines);
        let kind = self.kind.unwrap_or(match (self.kernel_lines, self.journal_lines) {
            (0, 0) => Kind::TrainingLog,
            (kernel, journal) if journal > 0 && kernel + journal > others / 2 => Kind::Journal,
            (kernel, _) if kernel > others / 2 => Kind::KernelLog,
            (_, journal) if journal > others / 2 => Kind::Journal,
            _ => Kind::TrainingLog,
        });
        reading.facts.extend(self.facts);
        reading.inputs.push(Input {
            name: Arc::clone(&self.name),
            kind,
            bytes: self.count.bytes,
            lines: self.count.lines,
            kernel_lines: self.kernel_lines,
            host: if let [host] = self.hosts.as_slice() { Some(host.clone()) } else { None },
            span: self.kernel_span.or(self.span),
            boot_span: self.boot_span,
        });
    }
}

/// Widens a span of time by a moment of the same clock.
fn widen(span: &mut Option<(Stamp, Stamp)>, moment: Stamp) {
    let Some((first, last)) = span else {
        *span = Some((moment, moment));
        return;
    };
    if moment.before(*first) == Some(true) {
        *first = moment;
    }
    if last.before(moment) == Some(true) {
        *last = moment;
    }
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
