//! JSON for many incidents: one document a line, or all of them in one document with a summary.

use std::io;

use serde_json::{Value, json};

use super::json::{escaped, line};
use super::series::{self, Incident};
use super::{Report, Tally};
use crate::verdict::Class;

/// The schema of the document that holds many reports.
const SCHEMA: &str = "coroner.scan/1";

/// Writes one report on one line.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{}", line(report, None)?)
}

/// One document a line, nothing else: lines of several runs can be put together.
pub(super) struct Lines;

impl series::Roll for Lines {
    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", line(incident.report, Some(incident.name))?)
    }

    fn end(&mut self, _: &Tally, _: &mut dyn io::Write) -> io::Result<()> {
        Ok(())
    }
}

/// All in one document.
#[derive(Default)]
pub(super) struct Whole {
    written: bool,
}

impl series::Roll for Whole {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "{{\"schema\": \"{SCHEMA}\", \"version\": \"{}\", \"incidents\": [", env!("CARGO_PKG_VERSION"))
    }

    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
        write!(out, "{comma}\n{}", line(incident.report, Some(incident.name))?)
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "\n], \"summary\": {}}}", escaped(&summary(tally).to_string()))
    }
}

fn summary(tally: &Tally) -> Value {
    let classes = [Class::ShmExhaustion, Class::OomKill, Class::Unknown, Class::None];
    let classes: serde_json::Map<_, _> = classes.iter().map(|c| (c.slug().to_owned(), tally.class(*c).into())).collect();
    let causes = tally.causes.iter().map(|(cause, count)| (cause.slug().to_owned(), Value::from(*count)));
    let unread: Vec<Value> = tally.unread.iter().map(|n| json!({"input": &*n.input, "text": n.text})).collect();
    json!({
        "incidents": tally.incidents,
        "inputs": tally.inputs,
        "bytes": tally.bytes,
        "classes": classes,
        "causes": causes.collect::<serde_json::Map<_, _>>(),
        "unread": unread,
        "more_unread": tally.more_unread,
        "skipped": tally.skipped,
        "binary": tally.binary,
        "stopped": tally.stopped,
    })
}
