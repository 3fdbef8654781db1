//! The brief format: a line for each death and for each piece of evidence, stable and made for diffs.

use std::io;

use super::text::{cut, visible};
use super::{Entry, Report};
use crate::verdict::{Evidence, Lacking, Verdict};

/// Longest quotation; the whole text is in the JSON report.
const QUOTE: usize = 240;

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    if report.is_blank() {
        // "None" would be an answer, and there is none.
        writeln!(out, "nothing was read")?;
    } else if report.deaths.is_empty() {
        writeln!(out, "{}: {}", heading(&report.verdict), visible(&report.verdict.summary))?;
        judgement(&report.verdict, out)?;
    }
    for entry in &report.deaths {
        writeln!(out, "{}{}: {}", heading(&entry.verdict), victim(entry), visible(&entry.verdict.summary))?;
        if let Some(root) = entry.follows {
            writeln!(out, "  follows death {}", root + 1)?;
        }
        judgement(&entry.verdict, out)?;
    }
    for note in &report.notes {
        writeln!(out, "note {}: {}", visible(&note.input), visible(&note.text))?;
    }
    Ok(())
}

/// Class, cause and grade.
fn heading(verdict: &Verdict) -> String {
    let cause = verdict.cause;
    format!("{} {} {}", cause.class().slug(), cause.slug(), verdict.grade.slug())
}

/// Signal and pids, as far as they are known.
fn victim(entry: &Entry) -> String {
    let mut text = format!(" {}", entry.signal.map_or_else(|| "-".to_owned(), |signal| signal.name()));
    if let Some(pid) = entry.who.own_pid {
        text.push_str(&format!(" pid={pid}"));
    }
    if let Some(pid) = entry.who.host_pid {
        text.push_str(&format!(" host_pid={pid}"));
    }
    if entry.count > 1 {
        text.push_str(&format!(" count={}", entry.count));
    }
    text
}

/// Everything that a verdict rests on.
fn judgement(verdict: &Verdict, out: &mut dyn io::Write) -> io::Result<()> {
    for (label, list) in [("", &verdict.because), ("against ", &verdict.against), ("aside ", &verdict.aside)] {
        for Evidence { fact, says } in list {
            let (place, text) = (visible(&fact.place.to_string()), cut(visible(&fact.text).trim_end(), QUOTE));
            writeln!(out, "  {label}{place} {} {} | {text}", fact.witness.name(), visible(says))?;
        }
    }
    for Lacking { what, how, would } in &verdict.lacking {
        let how = how.as_deref().unwrap_or("-");
        writeln!(out, "  lacking {} | {} | {}", visible(what), visible(how), visible(would))?;
    }
    Ok(())
}
