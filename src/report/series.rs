//! Reports on many incidents, written as they come, so that none has to be kept.

use std::io::{self, Write};

use super::{Format, Report, Style, Tally, github, gitlab, html, junit, markdown, ndjson, rolls, sarif};

/// One incident of many.
#[derive(Clone, Copy, Debug)]
pub struct Incident<'a> {
    /// Its name: the file, or what a group of files has in common.
    pub name: &'a str,
    /// The answer.
    pub report: &'a Report,
}

/// How a format writes many incidents.
pub(super) trait Roll {
    /// What stands before the first.
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// One incident.
    fn incident(&mut self, incident: Incident<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// What stands after the last.
    fn end(&mut self, tally: &Tally, out: &mut dyn Write) -> io::Result<()>;
}

/// A report on many incidents under way.
pub struct Series {
    roll: Box<dyn Roll + Send>,
    begun: bool,
}

impl Series {
    /// A series in a format.
    pub fn new(format: Format, style: &Style) -> Self {
        let roll: Box<dyn Roll + Send> = match format {
            Format::Human => Box::new(rolls::Human::new(*style)),
            Format::Brief => Box::new(rolls::Brief),
            Format::Json => Box::new(ndjson::Whole::default()),
            Format::Ndjson => Box::new(ndjson::Lines),
            Format::Markdown => Box::new(markdown::Roll::default()),
            Format::Github => Box::new(github::Roll::default()),
            Format::Gitlab => Box::new(gitlab::Roll::default()),
            Format::Sarif => Box::new(sarif::Roll::default()),
            Format::Junit => Box::new(junit::Roll::default()),
            Format::Html => Box::new(html::Roll::default()),
        };
        Self { roll, begun: false }
    }

    /// Writes the next incident.
    pub fn incident(&mut self, incident: Incident<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        self.roll.incident(incident, out)
    }

    /// Writes the summary and whatever closes the document.
    pub fn end(&mut self, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        self.roll.end(tally, out)
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.roll.begin(out)?;
        }
        Ok(())
    }
}
