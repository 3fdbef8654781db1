//! The code quality report of GitLab: a JSON array with a place and a fingerprint for each death.

use std::io;
use std::path::PathBuf;

use serde_json::{Value, json};

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
                    "path": below(&visible(place::file_of(report, verdict))),
                    "lines": {"begin": place::of(verdict).and_then(Place::number).unwrap_or(1)},
                },
            });
            self.issue(&issue, out)?;
        }
        for note in report.lost() {
            let text = format!("not read: {}", visible(&note.text));
            self.issue(
                &json!({
                    "description": text,
                    "check_name": "not-read",
                    "fingerprint": place::hash(&["not read", &note.input, &note.text]),
                    "severity": "minor",
                    "location": {"path": below(&visible(&note.input)), "lines": {"begin": 1}},
                }),
                out,
            )?;
        }
        Ok(())
    }

    fn issue(&mut self, issue: &Value, out: &mut dyn io::Write) -> io::Result<()> {
        let comma = if std::mem::replace(&mut self.written, true) { "," } else { "" };
        write!(out, "{comma}\n  {}", escaped(&issue.to_string()))
    }
}

/// GitLab knows a file by its path below the repository; one that lies elsewhere keeps its own.
fn below(file: &str) -> String {
    let Ok(here) = std::env::current_dir() else { return file.to_owned() };
    let root = std::env::var_os("CI_PROJECT_DIR").map_or_else(|| here.clone(), PathBuf::from);
    let whole = here.join(file);
    let path = whole.strip_prefix(&root).or_else(|_| whole.strip_prefix(&here));
    path.map_or_else(|_| file.to_owned(), |path| path.to_string_lossy().into_owned())
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
