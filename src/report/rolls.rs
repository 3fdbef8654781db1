//! Many incidents in the formats for people: a few lines for each that died, and the summary.

use std::io;

use super::page::Page;
use super::series::{self, Incident};
use super::text::{columns, cut, pad, visible};
use super::{Style, Tally, brief, human};
use crate::verdict::Class;

/// Most causes in the summary.
pub(super) const CAUSES: usize = 10;
/// Most lost inputs that the summary names.
const LOST: usize = 20;

/// The human format: who died of what and the line that proves it. Incidents without a death are counted only.
pub(super) struct Human(Style);

impl Human {
    /// A list in this style.
    pub(super) fn new(style: Style) -> Self {
        Self(style)
    }
}

impl series::Roll for Human {
    fn incident(&mut self, Incident { name, report }: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let page = &mut Page::new(&self.0, out);
        let verdict = &report.verdict;
        if verdict.cause.class() == Class::None {
            return Ok(());
        }
        // A name alone at the beginning of a line could be read as a command by the CI system that shows it.
        page.line(&format!("= {}", visible(name)))?;
        let class = verdict.cause.class();
        let title = page.painted(class.title(), human::color(class));
        page.line(&format!("  {title}   {}, {}", verdict.cause.slug(), verdict.grade.slug()))?;
        page.hanging("  ", &verdict.summary)?;
        if let Some(evidence) = verdict.because.iter().find(|e| e.fact.place.line.is_some()).or(verdict.because.first()) {
            // The incident's name stands above; only what it does not say is repeated.
            let place = &evidence.fact.place;
            let below = place.input.strip_prefix(name).and_then(|rest| rest.strip_prefix(['/', '!']));
            let input = below.unwrap_or_else(|| place.input.rsplit('/').next().unwrap_or(&place.input)).trim_start_matches('/');
            let place = match place.number() {
                Some(line) if *place.input == *name => format!("line {line}"),
                Some(line) => format!("{input}:{line}"),
                None => input.to_owned(),
            };
            let lead = format!("  {}   ", visible(&place));
            let room = page.width().saturating_sub(columns(&lead)).max(40);
            page.line(&format!("{lead}{}", cut(visible(&evidence.fact.text).trim_end(), room)))?;
        }
        if let more @ 1.. = report.deaths.len().saturating_sub(1) {
            page.line(&format!("  and {more} more {}", if more == 1 { "death" } else { "deaths" }))?;
        }
        page.line("")
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        let page = &mut Page::new(&self.0, out);
        if tally.stopped {
            page.line("stopped before the end; this is what was known by then")?;
        }
        let noun = if tally.incidents == 1 { "incident" } else { "incidents" };
        page.line(&format!("{} {noun} in {} inputs", tally.incidents, tally.inputs))?;
        for class in [Class::OomKill, Class::ShmExhaustion, Class::Unknown, Class::None] {
            let count = tally.class(class);
            if count > 0 {
                let title = page.painted(class.title(), human::color(class));
                page.line(&format!("  {}{title}", pad(&count.to_string(), 8)))?;
            }
        }
        let common = tally.common(CAUSES);
        if !common.is_empty() {
            page.section("most common causes")?;
        }
        for (cause, count) in common {
            page.line(&format!("  {}{}   {}", pad(&count.to_string(), 8), pad(cause.slug(), 20), cause.title()))?;
        }
        if tally.binary > 0 {
            page.section(&format!("{} not text: skipped", tally.binary))?;
        }
        if tally.unread_count() > 0 {
            page.section(&format!("{} not read", tally.unread_count()))?;
        }
        for note in tally.unread.iter().take(LOST) {
            page.hanging("  ", &format!("{}: {}", note.input, note.text))?;
        }
        match tally.unread_count().saturating_sub(LOST as u64) {
            0 => Ok(()),
            more => page.line(&format!("  and {more} more")),
        }
    }
}

/// The brief format: the incident's name above its lines.
pub(super) struct Brief;

impl series::Roll for Brief {
    fn incident(&mut self, Incident { name, report }: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "= {}", visible(name))?;
        brief::write(report, out)
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        let stopped = if tally.stopped { " stopped" } else { "" };
        writeln!(out, "total {} inputs={} unread={}{stopped}", tally.incidents, tally.inputs, tally.unread_count())?;
        for (cause, count) in &tally.causes {
            writeln!(out, "total {count} {}", cause.slug())?;
        }
        Ok(())
    }
}
