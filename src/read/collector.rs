//! Collects the facts of one input, line by line and record by record.

use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::mem::Discriminant;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::evidence::{complete, cut, fact};
use super::{Reading, zone};
use crate::fact::{ContainerEvent, Fact, What, Who};
use crate::input;
use crate::line::{self, Line, Order};
use crate::note::Note;
use crate::patterns;
use crate::place::Place;
use crate::records::{self, documents};
use crate::seen::{Input, Kind};
use crate::time::Stamp;

/// How many facts of one pattern are kept for each input; the rest is counted. A DataLoader message repeated by five
/// thousand ranks says no more than by ten thousand.
const REPEATS: usize = 8_000;

/// How many of the last facts of one sort are kept when there are more.
const LAST: usize = 2_000;

/// How much evidence text is kept for each input, in bytes.
const TEXT: usize = 64 << 20;

/// What makes facts alike enough to be counted together: the pattern or format, and the kind of claim.
type Sort = (&'static str, Discriminant<What>, Option<Discriminant<ContainerEvent>>);

/// Collects the facts of one input and what is to be said of it.
#[derive(Clone)]
pub(super) struct Collector {
    name: Arc<str>,
    facts: Vec<Fact>,
    pub(super) kind: Option<Kind>,
    pub(super) count: line::Count,
    kernel_lines: u64,
    journal_lines: u64,
    text_lines: u64,
    span: Option<(Stamp, Stamp)>,
    kernel_span: Option<(Stamp, Stamp)>,
    boot_span: Option<(Stamp, Stamp)>,
    latest: Option<Stamp>,
    pub(super) order: Order,
    hosts: Vec<String>,
    repeats: HashMap<Sort, usize>,
    last: HashMap<Sort, VecDeque<Fact>>,
    text: usize,
    dropped: u64,
}

impl Collector {
    pub(super) fn new(name: &Arc<str>) -> Self {
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

    pub(super) fn lines(&mut self, reader: impl Read, documents: &[RangeInclusive<u64>], reading: &mut Reading) {
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
            Err(error) => reading.notes.push(input::torn(&self.name, &error)),
        }
    }

    pub(super) fn line(&mut self, line: &Line<'_>, about: &Who) {
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
        let claims = claims.into_iter().map(|(pattern, claim)| (pattern.id, pattern.witness, claim));
        for (id, witness, claim) in claims.chain(zone::alone(&line.text)) {
            let place = Place::line(&self.name, line.number);
            let mut fact = fact(claim, id, witness, place, &line.text, envelope);
            complete(&mut fact.who, about);
            fact.since = self.latest.filter(|_| fact.when.is_none());
            self.push(fact);
        }
    }

    /// Records that are laid out as text; tells whether one of them was the whole of it.
    pub(super) fn texts(&mut self, text: &str) -> bool {
        let mut whole = false;
        for (format, read) in records::read_texts(text) {
            self.kind.get_or_insert(Kind::Record(format.id));
            whole |= read.whole;
            self.record(format.id, read, 1);
        }
        whole
    }

    pub(super) fn document(&mut self, document: &documents::Document) {
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

    pub(super) fn finish(mut self, reading: &mut Reading) {
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
        zone::apply(&mut self.facts, [&mut self.span, &mut self.kernel_span]);
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
            // A journal that holds lines of the kernel would hold others of its whole time.
            span: self.kernel_span.filter(|_| kind != Kind::Journal).or(self.span),
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
