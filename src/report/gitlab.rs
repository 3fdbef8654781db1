//! The code quality report of GitLab: a JSON array with a place and a fingerprint for each death.

use std::io;

use serde_json::json;

use super::json::escaped;
use super::series::{self, Incident};
use super::text::visible;
use super::{Report, Tally, place};
use crate::place::Place;
use crate::verdict::Grade;

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut roll = Roll::default();
    series::Roll::begin(&mut roll, out)?;
    roll.report(None, report, out)?;
    writeln!(out, "\n]")
}

/// Whether an issue was written before.
#[derive(Default)]
pub(super) struct Roll {
    written: bool,
}

impl Roll {
    fn report(&mut self, incident: Option<&str>, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        for (index, entry) in report.deaths.iter().enumerate() {
            let verdict = &entry.verdict;
            let severity = match (entry.follows, verdict.grade) {
                (Some(_), _) => "info",
                (None, Grade::Suspected) => "minor",
                (None, Grade::Likely) => "major",
                (None, Grade::Proven) => "critical",
            };
            let issue = json!({
                "description": format!("{}, {}: {}", verdict.cause.slug(), verdict.grade.slug(), visible(&verdict.summary)),
                "check_name": verdict.cause.slug(),
                "fingerprint": place::fingerprint(incident, entry, index),
                "severity": severity,
                "location": {
                    "path": visible(place::file_of(report, verdict)),
                    "lines": {"begin": place::of(verdict).and_then(Place::number).unwrap_or(1)},
                },
            });
            let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
            write!(out, "{comma}\n  {}", escaped(&issue.to_string()))?;
        }
        Ok(())
    }
}

impl series::Roll for Roll {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        write!(out, "[")
    }

    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        self.report(Some(incident.name), incident.report, out)
    }

    fn end(&mut self, _: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "\n]")
    }
}
