//! A job summary in Markdown: the verdict, its evidence folded, and the commands to copy.

use std::io::{self, Write as _};

use super::rolls::CAUSES;
use super::sections::{when, who};
use super::series::{self, Incident};
use super::text::{cut, visible};
use super::{Entry, Report, Tally};
use crate::verdict::{Class, Evidence, Lacking, Verdict};

/// GitHub takes a summary of at most 1024 KiB; what comes after this many bytes is counted only.
const ROOM: usize = 900 << 10;
/// Longest quotation.
const QUOTE: usize = 400;
/// Most deaths after the root that are told.
const OTHERS: usize = 20;

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "## {}\n", heading(&report.verdict))?;
    body(report, out)
}

/// How much was written, and how many incidents were left out.
#[derive(Default)]
pub(super) struct Roll {
    written: usize,
    left_out: u64,
}

impl series::Roll for Roll {
    fn incident(&mut self, Incident { name, report }: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        if report.verdict.cause.class() == Class::None {
            return Ok(());
        }
        let mut text = Vec::new();
        writeln!(text, "### {}: {}\n", code(name), heading(&report.verdict))?;
        body(report, &mut text)?;
        if self.written + text.len() > ROOM {
            self.left_out += 1;
            return Ok(());
        }
        self.written += text.len();
        out.write_all(&text)
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "## Summary\n")?;
        if tally.stopped {
            writeln!(out, "Stopped before the end.\n")?;
        }
        let skipped = if tally.binary > 0 { format!(", {} not text", tally.binary) } else { String::new() };
        writeln!(out, "{}, {} not read{skipped}.\n", tally.extent(), tally.unread_count())?;
        if self.left_out > 0 {
            writeln!(out, "Too many for a summary, counted only: {}.\n", self.left_out)?;
        }
        let common = tally.common(CAUSES);
        if !common.is_empty() {
            writeln!(out, "| died | cause | class |\n|---:|---|---|")?;
        }
        for (cause, count) in common {
            writeln!(out, "| {count} | `{}` | {} |", cause.slug(), cause.class().title())?;
        }
        for note in tally.unread.iter().take(20) {
            writeln!(out, "- {}: {}", code(&note.input), plain(&note.text))?;
        }
        Ok(())
    }
}

fn heading(verdict: &Verdict) -> String {
    match verdict.cause.class() {
        Class::None => Class::None.title().to_owned(),
        class => format!("{}: `{}`, {}", class.title(), verdict.cause.slug(), verdict.grade.slug()),
    }
}

fn body(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{}\n", plain(&report.verdict.summary))?;
    match report.deaths.split_first() {
        Some((root, rest)) => {
            death(root, out)?;
            others(rest, out)?;
        }
        None => judgement(&report.verdict, out)?,
    }
    if !report.notes.is_empty() {
        writeln!(out, "**Notes**\n")?;
        for note in &report.notes {
            writeln!(out, "- {}: {}", code(&note.input), plain(&note.text))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn death(entry: &Entry, out: &mut dyn io::Write) -> io::Result<()> {
    for (name, text) in [("When", when(entry)), ("Who", who(entry))] {
        if let Some(text) = text {
            writeln!(out, "- **{name}:** {}", plain(&text))?;
        }
    }
    writeln!(out)?;
    if !entry.remedy.is_empty() {
        writeln!(out, "**Do this**\n")?;
    }
    for (number, advice) in entry.remedy.iter().enumerate() {
        writeln!(out, "{}. {}", number + 1, plain(&advice.text))?;
        if let Some(command) = &advice.command {
            fenced(command, "   ", out)?;
        }
    }
    writeln!(out)?;
    judgement(&entry.verdict, out)
}

fn judgement(verdict: &Verdict, out: &mut dyn io::Write) -> io::Result<()> {
    for (name, list) in [("Because", &verdict.because), ("Against", &verdict.against), ("Set aside", &verdict.aside)] {
        if list.is_empty() {
            continue;
        }
        writeln!(out, "<details><summary>{name}: {}</summary>\n", list.len())?;
        for Evidence { fact, says } in list {
            writeln!(out, "- {} ({}): {}", code(&fact.place.to_string()), fact.witness.name(), plain(says))?;
            fenced(&cut(fact.text.trim_end(), QUOTE), "  ", out)?;
        }
        writeln!(out, "\n</details>\n")?;
    }
    if !verdict.lacking.is_empty() {
        writeln!(out, "**Lacking**\n")?;
        for Lacking { what, how, would } in &verdict.lacking {
            writeln!(out, "- {}: would {}", plain(what), plain(would))?;
            if let Some(how) = how {
                fenced(how, "  ", out)?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

fn others(rest: &[Entry], out: &mut dyn io::Write) -> io::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    writeln!(out, "**Other deaths**\n")?;
    for entry in rest.iter().take(OTHERS) {
        let link = if entry.follows.is_some() { ", follows from the first" } else { "" };
        writeln!(out, "- {}{link}: {}", heading(&entry.verdict), plain(&entry.verdict.summary))?;
    }
    if let more @ 1.. = rest.len().saturating_sub(OTHERS) {
        writeln!(out, "- and {more} more")?;
    }
    writeln!(out)
}

/// Text in a block of code, behind a fence that is longer than any in the text.
fn fenced(text: &str, indent: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let fence = "`".repeat(ticks(text).max(2) + 1);
    writeln!(out, "{indent}{fence}text")?;
    for line in text.lines() {
        writeln!(out, "{indent}{}", visible(line))?;
    }
    writeln!(out, "{indent}{fence}")
}

/// Text as a span of code.
fn code(text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(ticks(&text) + 1);
    // A span may not begin or end with its own mark.
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// The longest run of backticks.
fn ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text in which nothing is markup: no emphasis, link, image, tag, mention or table.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '!' | '|' | '~' | '$' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{code, plain};

    #[test]
    fn text_is_no_markup() {
        assert_eq!(plain("<b>*x*</b> [a](b) @me"), "&lt;b&gt;\\*x\\*&lt;/b&gt; \\[a\\](b) &#64;me");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`"), "`` ` ``");
    }
}
