//! Annotations of GitHub Actions: workflow commands on standard output, escaped so that a log cannot speak through them.

use std::io;

use super::series::{self, Incident};
use super::text::visible;
use super::{Entry, Report, Tally, place};
use crate::note::Gravity;
use crate::verdict::{Class, Grade, Verdict};

/// GitHub shows ten annotations of a level for each step and drops the rest without a word; the tenth sums up.
const SHOWN: usize = 9;

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut roll = Roll::default();
    if report.verdict.cause.class() == Class::None && report.deaths.is_empty() && !report.is_blank() {
        let text = data(&visible(&report.verdict.summary));
        writeln!(out, "::notice title={}::{text}", property(Class::None.title()))?;
    }
    roll.report(None, report, out)?;
    roll.rest(out)
}

/// How many annotations of each level were written, and how many were kept back.
#[derive(Default)]
pub(super) struct Roll {
    counts: [usize; 3],
}

const LEVELS: [&str; 3] = ["error", "warning", "notice"];

impl Roll {
    fn report(&mut self, incident: Option<&str>, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        for entry in &report.deaths {
            let level = match (entry.follows, entry.verdict.grade) {
                (Some(_), _) => 2,
                (None, Grade::Suspected) => 1,
                (None, Grade::Likely | Grade::Proven) => 0,
            };
            self.annotation(level, &properties(incident, report, entry), &text(entry), out)?;
        }
        for note in report.left_out() {
            let (level, title) = if note.gravity == Gravity::Unread { (1, "not read") } else { (2, "skipped") };
            let text = format!("{}: {}", visible(&note.input), visible(&note.text));
            self.annotation(level, &format!("title={}", property(title)), &text, out)?;
        }
        Ok(())
    }

    fn annotation(&mut self, level: usize, properties: &str, text: &str, out: &mut dyn io::Write) -> io::Result<()> {
        let Some((count, name)) = self.counts.get_mut(level).zip(LEVELS.get(level)) else { return Ok(()) };
        *count += 1;
        if *count > SHOWN {
            return Ok(());
        }
        writeln!(out, "::{name} {properties}::{}", data(text))
    }

    fn rest(&self, out: &mut dyn io::Write) -> io::Result<()> {
        for (name, count) in LEVELS.iter().zip(self.counts) {
            if let more @ 1.. = count.saturating_sub(SHOWN) {
                let title = property("more");
                writeln!(out, "::{name} title={title}::{more} more of this level; another format shows all of them")?;
            }
        }
        Ok(())
    }
}

impl series::Roll for Roll {
    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        self.report(Some(incident.name), incident.report, out)
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        self.rest(out)?;
        if tally.stopped {
            let text = data("stopped before the end; this is what was known by then");
            writeln!(out, "::warning title={}::{text}", property("stopped"))?;
        }
        let causes: Vec<String> = tally.common(10).iter().map(|(cause, count)| format!("{count} {}", cause.slug())).collect();
        let died = if causes.is_empty() { "nothing died".to_owned() } else { causes.join(", ") };
        let (all, unread) = (tally.incidents - tally.skipped, tally.unread_count());
        let skipped = if tally.binary > 0 { format!(", {} not text", tally.binary) } else { String::new() };
        let text = format!("{all} examined: {died}; {unread} not read{skipped}");
        writeln!(out, "::notice title={}::{}", property("coroner"), data(&text))
    }
}

/// File, line and title.
fn properties(incident: Option<&str>, report: &Report, entry: &Entry) -> String {
    let Verdict { cause, grade, .. } = &entry.verdict;
    let mut parts = Vec::new();
    if let Some(spot) = place::of(&entry.verdict) {
        if let Some(file) = place::file(spot) {
            parts.push(format!("file={}", property(&visible(file))));
        }
        parts.extend(spot.number().map(|line| format!("line={line}")));
    }
    let of = incident.filter(|_| report.inputs.len() != 1).map_or_else(String::new, |name| format!(" in {}", visible(name)));
    let title = format!("{}: {}, {}{of}", cause.class().title(), cause.slug(), grade.slug());
    parts.push(format!("title={}", property(&title)));
    parts.join(",")
}

/// The sentence, the line that proves it, and the first advice.
fn text(entry: &Entry) -> String {
    let mut text = visible(&entry.verdict.summary);
    if let Some(evidence) = entry.verdict.because.first() {
        text.push_str(&format!("\n{}: {}", visible(&evidence.fact.place.to_string()), visible(evidence.fact.text.trim_end())));
    }
    if let Some(advice) = entry.remedy.first() {
        text.push_str(&format!("\n{}", visible(&advice.text)));
        for line in advice.command.iter().flat_map(|command| command.lines()) {
            text.push_str(&format!("\n  {}", visible(line)));
        }
    }
    text
}

/// The text of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn commands_are_escaped_by_the_rules() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
        assert_eq!(property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
