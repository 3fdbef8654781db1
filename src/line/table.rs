//! Takes the message out of a table of log records: the CSV exports of CloudWatch, Insights, Kibana, Grafana, Datadog and Splunk.

use super::assemble::emit;
use super::block::Fate;
use super::{Envelope, json};
use crate::time::Stamp;

/// The names of the columns that hold the text, the likeliest first.
const TEXTS: [&str; 11] = [
    "message",
    "@message",
    "log",
    "line",
    "msg",
    "_raw",
    "content",
    "textpayload",
    "jsonpayload.message",
    "event.original",
    "body",
];

/// The names of the columns that hold the time, the likeliest first.
const TIMES: [&str; 7] = ["@timestamp", "timestamp", "time", "date", "_time", "ts", "datetime"];

/// What else tables of logs begin with.
const FIRST: [&str; 12] = [
    "_id",
    "_index",
    "_source",
    "id",
    "insertid",
    "labels",
    "logname",
    "host",
    "hostname",
    "pod",
    "@logstream",
    "@ingestiontime",
];

/// Longer records and headings are none.
const LONGEST: usize = 1 << 20;

/// A table whose heading was read.
#[derive(Clone)]
pub(super) struct Table {
    separator: char,
    columns: Vec<String>,
    /// A record whose quotation has not ended, and the lines it takes up.
    held: String,
    first: u64,
}

/// The fields of a record, or `None` while a quotation is open.
fn fields(text: &str, separator: char) -> Option<Vec<String>> {
    let mut all = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            c if c == separator && !quoted => all.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    all.push(field);
    (!quoted).then_some(all)
}

impl Table {
    /// Reads a heading: names alone, among them one of a time and one of a text.
    pub(super) fn begin(text: &str) -> Option<Self> {
        // Most lines end here: the first name, if any, is none of a table's.
        let bytes = text.as_bytes();
        let within = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'"' | b'@' | b'_' | b'.');
        let end = bytes.iter().take(40).position(|b| !within(b)).filter(|end| *end > 0)?;
        if !matches!(bytes.get(end)?, b',' | b'\t' | b';') {
            return None;
        }
        let first = text.get(..end)?.trim_matches('"');
        let known = TEXTS.iter().chain(&TIMES).chain(&FIRST).any(|name| first.eq_ignore_ascii_case(name));
        if !known || text.len() > 2000 {
            return None;
        }
        let separator = char::from(*bytes.get(end)?);
        let name = |field: &String| {
            field.len() <= 80
                && field.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '@' | '-' | ' ' | '/' | ':'))
        };
        let columns: Vec<String> = fields(text, separator)?.iter().map(|field| field.trim().to_ascii_lowercase()).collect();
        let has = |keys: &[&str]| keys.iter().any(|key| columns.iter().any(|column| column == key));
        (columns.iter().all(name) && has(&TEXTS) && has(&TIMES)).then(|| Self {
            separator,
            columns,
            held: String::new(),
            first: 0,
        })
    }

    /// Offers a line to the table.
    pub(super) fn take(&mut self, text: &str, number: u64, sink: &mut dyn FnMut(super::Line<'_>)) -> Fate {
        if self.held.is_empty() {
            if text.is_empty() {
                return Fate::Last;
            }
            self.first = number;
        } else {
            self.held.push('\n');
        }
        self.held.push_str(text);
        let Some(mut fields) = fields(&self.held, self.separator) else {
            if self.held.len() > LONGEST {
                self.release(sink);
                return Fate::Last;
            }
            return Fate::Taken;
        };
        let texts = self.find(&TEXTS);
        if fields.len() > self.columns.len() && texts == Some(self.columns.len() - 1) {
            // A text without quotation marks may hold the separator.
            let rest = fields.split_off(self.columns.len() - 1);
            fields.push(rest.join(&self.separator.to_string()));
        }
        if fields.len() != self.columns.len() {
            // The line that does not fit is handed back; what was held before it is not lost.
            let strange = self.held == text;
            if strange {
                self.held.clear();
                return Fate::Strange;
            }
            self.release(sink);
            return Fate::Last;
        }
        self.record(&fields, sink);
        self.held.clear();
        Fate::Taken
    }

    fn find(&self, keys: &[&str]) -> Option<usize> {
        keys.iter().find_map(|key| self.columns.iter().position(|column| column == key))
    }

    /// Hands out the text of a record, each of its lines with the number it stands at.
    fn record(&self, fields: &[String], sink: &mut dyn FnMut(super::Line<'_>)) {
        let get = |keys: &[&str]| self.find(keys).and_then(|at| fields.get(at)).filter(|field| !field.is_empty());
        let Some(text) = get(&TEXTS) else { return };
        let mut envelope = Envelope::default();
        let time = get(&TIMES);
        let stamp = time.and_then(|time| Stamp::parse(time).or_else(|| json::moment(&time.as_str().into())));
        if let Some(stamp) = stamp {
            envelope.saw(stamp);
        }
        envelope.pod = get(&["kubernetes.pod.name", "kubernetes.pod_name", "pod", "pod_name", "podname"]).cloned();
        envelope.container =
            get(&["kubernetes.container.name", "kubernetes.container_name", "container", "container_name", "container.name"])
                .cloned();
        envelope.host = get(&["host.name", "host", "hostname", "kubernetes.node.name", "kubernetes.host"]).cloned();
        let before = self.find(&TEXTS).map_or(0, |at| {
            fields.iter().take(at).map(|field| field.bytes().filter(|b| *b == b'\n').count() as u64).sum::<u64>()
        });
        for (line, number) in text.split('\n').zip(self.first + before..) {
            emit(line.trim_end_matches('\r').into(), envelope.clone(), number, 0, sink);
        }
    }

    /// Hands out as lines what proved to be no record.
    fn release(&mut self, sink: &mut dyn FnMut(super::Line<'_>)) {
        for (line, number) in std::mem::take(&mut self.held).split('\n').zip(self.first..) {
            emit(line.into(), Envelope::default(), number, 0, sink);
        }
    }

    /// Ends the table.
    pub(super) fn end(mut self, sink: &mut dyn FnMut(super::Line<'_>)) {
        if !self.held.is_empty() {
            self.release(sink);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::line::lines;
    use crate::time::Stamp;

    fn read(text: &str) -> Vec<(u64, String, bool)> {
        let mut all = Vec::new();
        lines(text.as_bytes(), None, &mut |line| all.push((line.number, line.text.to_string(), line.envelope.when.is_some())))
            .unwrap();
        all
    }

    #[test]
    fn the_message_column_is_read() {
        for (text, expected) in [
            (
                "timestamp,message\n1789200627000,\"  File \"\"/opt/train.py\"\", line 88, in <module>\"\n1789200628000,\"a,b\"\n",
                vec![(2, "  File \"/opt/train.py\", line 88, in <module>", true), (3, "a,b", true)],
            ),
            (
                "\"@timestamp\",message\n\"Sep 12, 2026 @ 08:10:30.000\",\"a\nb\"\n\nafter\n",
                vec![(2, "a", true), (3, "b", true), (5, "after", false)],
            ),
            ("@timestamp,@message\r\n2026-09-12 08:10:30.000,x, y\r\n", vec![(2, "x, y", true)]),
            ("Date\tHost\tMessage\n2026-09-12T08:10:30Z\tgpu1\tKilled\n", vec![(2, "Killed", true)]),
            ("timestamp,message\n", vec![]),
            ("timestamp,message\nnot a record\nmore\n", vec![(2, "not a record", false), (3, "more", false)]),
            ("timestamp,message\n1789200627000,\"open\nmore\n", vec![(2, "1789200627000,\"open", false), (3, "more", false)]),
            ("epoch, time, message lengths: 3\n", vec![(1, "epoch, time, message lengths: 3", false)]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(n, t, w)| (n, t.to_owned(), w)).collect();
            assert_eq!(read(text), expected, "{text}");
        }
        let mut when = None;
        lines("timestamp,message\n1789200627000,x\n".as_bytes(), None, &mut |line| when = line.envelope.when).unwrap();
        assert_eq!(when, Stamp::parse("2026-09-12T08:10:27Z"));
    }
}
