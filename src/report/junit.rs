//! JUnit: an incident is a test case, and a death in it is its failure.

use std::io;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::series::{self, Incident};
use super::text::visible;
use super::{Report, Tally};
use crate::note::Note;
use crate::verdict::{Class, Evidence};

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut roll = Roll::default();
    let named = report.inputs.first().map(|input| &input.name).or(report.notes.first().map(|note| &note.input));
    let name = named.map_or("incident", |name| name);
    roll.cases.push(case(name, report));
    finish(roll.cases, out)
}

/// The counts stand before the cases, so that these are kept to the end.
#[derive(Default)]
pub(super) struct Roll {
    cases: Vec<TestCase>,
}

impl series::Roll for Roll {
    fn incident(&mut self, incident: Incident<'_>, _: &mut dyn io::Write) -> io::Result<()> {
        self.cases.push(case(incident.name, incident.report));
        Ok(())
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        if tally.stopped {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("stopped");
            status.set_message("stopped before the end; this is what was known by then");
            let mut case = TestCase::new("the whole scan", status);
            case.set_classname("coroner");
            self.cases.push(case);
        }
        finish(std::mem::take(&mut self.cases), out)
    }
}

fn finish(cases: Vec<TestCase>, out: &mut dyn io::Write) -> io::Result<()> {
    let mut suite = TestSuite::new("coroner");
    suite.add_test_cases(cases);
    let mut whole = quick_junit::Report::new("coroner");
    whole.add_test_suite(suite);
    let text = whole.to_string().map_err(io::Error::other)?;
    writeln!(out, "{}", text.trim_end())
}

fn case(name: &str, report: &Report) -> TestCase {
    let verdict = &report.verdict;
    let said = |note: &Note| format!("{}: {}", visible(&note.input), visible(&note.text));
    let notes: Vec<String> = report.notes.iter().map(said).collect();
    let lost: Vec<String> = report.lost().map(said).collect();
    let status = if verdict.cause.class() != Class::None {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(verdict.cause.slug());
        status.set_message(format!("{}, {}: {}", verdict.cause.slug(), verdict.grade.slug(), visible(&verdict.summary)));
        status.set_description(description(report));
        status
    } else if !lost.is_empty() {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("unread");
        status.set_message(lost.join("; "));
        status
    } else if report.is_blank() {
        let mut status = TestCaseStatus::skipped();
        status.set_message(notes.join("; "));
        status
    } else {
        TestCaseStatus::success()
    };
    let mut case = TestCase::new(visible(name), status);
    case.set_classname("coroner");
    if !notes.is_empty() {
        case.set_system_err(notes.join("\n"));
    }
    case
}

/// Everything that a reader of a test report may want to see of the deaths.
fn description(report: &Report) -> String {
    let mut lines = Vec::new();
    for entry in &report.deaths {
        lines.push(format!(
            "{} ({}): {}",
            entry.verdict.cause.slug(),
            entry.verdict.grade.slug(),
            visible(&entry.verdict.summary)
        ));
        for Evidence { fact, says } in &entry.verdict.because {
            let (place, text) = (visible(&fact.place.to_string()), visible(fact.text.trim_end()));
            lines.push(format!("  {place}: {text} ({})", visible(says)));
        }
        for advice in &entry.remedy {
            lines.push(format!("  do: {}", visible(&advice.text)));
            lines.extend(advice.command.iter().flat_map(|c| c.lines()).map(|line| format!("      {}", visible(line))));
        }
    }
    lines.join("\n")
}
