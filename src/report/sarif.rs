//! SARIF 2.1.0: the interchange format of analysis results, with a rule for each cause.

use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

use super::json::escaped;
use super::series::{self, Incident};
use super::text::visible;
use super::{Entry, Report, Tally, place};
use crate::note::{Gravity, Note};
use crate::place::Place;
use crate::verdict::{Cause, Class, Evidence, Grade};

/// Where the schema stands.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut roll = Roll::default();
    series::Roll::begin(&mut roll, out)?;
    roll.report(None, report, out)?;
    close(report.notes.clone(), false, out)
}

/// Whether a result was written before, and what is to be told at the end.
#[derive(Default)]
pub(super) struct Roll {
    written: bool,
}

impl Roll {
    fn report(&mut self, incident: Option<&str>, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        for (index, entry) in report.deaths.iter().enumerate() {
            let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
            write!(out, "{comma}\n    {}", escaped(&result(incident, report, entry, index).to_string()))?;
        }
        Ok(())
    }
}

impl series::Roll for Roll {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        let rule = |cause: &Cause| {
            json!({
                "id": cause.slug(),
                "shortDescription": {"text": cause.title()},
                "help": {"text": cause.explanation(), "markdown": cause.explanation()},
                "properties": {"tags": [cause.class().slug()]},
            })
        };
        let rules: Vec<Value> = Cause::ALL.iter().filter(|cause| cause.class() != Class::None).map(rule).collect();
        let driver = json!({
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": rules,
        });
        // The results are written one by one, so that a run over many logs needs no memory for them.
        write!(
            out,
            "{{\"$schema\": \"{SCHEMA}\", \"version\": \"2.1.0\", \"runs\": [{{\n  \"tool\": {{\"driver\": {}}},\n  \
             \"columnKind\": \"unicodeCodePoints\",\n  \"results\": [",
            escaped(&driver.to_string())
        )
    }

    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        self.report(Some(incident.name), incident.report, out)
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        let mut notes = tally.unread.clone();
        let all: Arc<str> = "the whole scan".into();
        notes.extend((tally.more_unread > 0).then(|| Note::unread(&all, format!("{} more not read", tally.more_unread))));
        notes.extend((tally.binary > 0).then(|| Note::remark(&all, format!("{} not text: skipped", tally.binary))));
        close(notes, tally.stopped, out)
    }
}

/// The end of the document: what could not be read, and whether anything was left.
fn close(mut notes: Vec<Note>, stopped: bool, out: &mut dyn io::Write) -> io::Result<()> {
    if stopped {
        notes.push(Note::unread(&"the whole scan".into(), "stopped before the end; this is what was known by then"));
    }
    let notification = |note: &Note| {
        let level = if note.gravity == Gravity::Unread { "error" } else { "note" };
        json!({"level": level, "message": {"text": format!("{}: {}", visible(&note.input), visible(&note.text))}})
    };
    let invocation = json!({
        "executionSuccessful": !notes.iter().any(|note| note.gravity == Gravity::Unread),
        "toolExecutionNotifications": notes.iter().map(notification).collect::<Vec<_>>(),
    });
    writeln!(out, "\n  ],\n  \"invocations\": [{}]\n}}]}}", escaped(&invocation.to_string()))
}

fn result(incident: Option<&str>, report: &Report, entry: &Entry, index: usize) -> Value {
    let verdict = &entry.verdict;
    let level = match (entry.follows, verdict.grade) {
        (Some(_), _) => "note",
        (None, Grade::Suspected) => "warning",
        (None, Grade::Likely | Grade::Proven) => "error",
    };
    let first = place::of(verdict);
    let main = json!({"physicalLocation": physical(place::file_of(report, verdict), first.and_then(Place::number), None)});
    let related = |(id, evidence): (usize, &Evidence)| {
        let place = &evidence.fact.place;
        json!({
            "id": id,
            "physicalLocation": physical(&place.input, place.number(), Some(&evidence.fact.text)),
            "message": {"text": visible(&evidence.says)},
        })
    };
    let mut text = visible(&verdict.summary);
    for advice in &entry.remedy {
        text.push_str(&format!("\n{}", visible(&advice.text)));
        for line in advice.command.iter().flat_map(|command| command.lines()) {
            text.push_str(&format!("\n    {}", visible(line)));
        }
    }
    json!({
        "ruleId": verdict.cause.slug(),
        "level": level,
        "message": {"text": text},
        "locations": [main],
        "relatedLocations": verdict.because.iter().enumerate().map(related).collect::<Vec<_>>(),
        "partialFingerprints": {"coroner/v1": place::fingerprint(incident, entry, index)},
        "properties": {
            "class": verdict.cause.class().slug(),
            "grade": verdict.grade.slug(),
            "incident": incident.map(visible),
            "signal": entry.signal.map(|signal| signal.name()),
        },
    })
}

/// A place in a file, with the quoted line if one is given.
fn physical(file: &str, line: Option<u64>, text: Option<&str>) -> Value {
    let mut found = json!({"artifactLocation": {"uri": uri(file)}});
    let mut region = serde_json::Map::new();
    region.extend(line.map(|line| ("startLine".to_owned(), line.into())));
    if let (Some(text), Some(_)) = (text, line) {
        region.insert("snippet".to_owned(), json!({"text": visible(text)}));
    }
    if let (Value::Object(fields), false) = (&mut found, region.is_empty()) {
        fields.insert("region".to_owned(), Value::Object(region));
    }
    found
}

/// A path as a URI reference: everything is encoded that is not plainly allowed.
fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("./a b/ü:1.log"), "a%20b/%C3%BC%3A1.log");
        assert_eq!(uri("/var/log/kern.log"), "file:///var/log/kern.log");
    }
}
