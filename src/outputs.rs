//! All places that one run writes to: each format with its file or stream.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use crate::cli::{Common, When};
use crate::output::{self, Output, Target};
use coroner::report::{Format, Incident, Report, Series, Style, Tally};
use coroner::scan::progress::Progress;

/// A format, where it goes, and how it looks there.
struct Place {
    format: Format,
    out: Output,
    style: Style,
    series: Series,
    standard: bool,
    terminal: bool,
    told: bool,
}

/// The places of a run.
pub(crate) struct Outputs(Vec<Place>);

impl Outputs {
    /// Opens the places for all formats, none of which may be an input; `aside` keeps standard output free.
    pub(crate) fn open(common: &Common, inputs: &[PathBuf], aside: bool) -> io::Result<Self> {
        let targets = output::targets(&common.format, common.output.as_deref()).map_err(io::Error::other)?;
        output::spare(&targets, inputs).map_err(io::Error::other)?;
        let opened = |Target { format, file }: Target| {
            let (out, terminal) = match &file {
                Some(path) => (Output::file(path)?, false),
                None if aside => (Output::stream("standard error", io::stderr()), io::stderr().is_terminal()),
                None => (Output::stream(output::STDOUT, io::stdout()), io::stdout().is_terminal()),
            };
            let style = Style { color: color(common.color, terminal), ..Style::default() };
            let (series, standard) = (Series::new(format, &style), file.is_none());
            Ok(Place { format, out, style, series, standard, terminal, told: false })
        };
        targets.into_iter().map(opened).collect::<io::Result<_>>().map(Self)
    }

    /// Whether a format is written.
    pub(crate) fn has(&self, format: Format) -> bool {
        self.0.iter().any(|place| place.format == format)
    }

    /// Whether somebody may read a report before the last.
    pub(crate) fn are_early(&self) -> bool {
        self.0.iter().any(Place::is_early)
    }

    /// Writes one report to all.
    pub(crate) fn write(&mut self, report: &Report) -> io::Result<()> {
        self.each(|place| place.write(report))
    }

    /// Writes a report to those who need not wait for the last; it replaces the one before it.
    pub(crate) fn tell(&mut self, report: &Report) -> io::Result<()> {
        self.each(|place| if place.is_early() { place.tell(report) } else { Ok(()) })
    }

    /// Writes the last report to those who waited for it.
    pub(crate) fn rest(&mut self, report: &Report) -> io::Result<()> {
        self.each(|place| if place.is_early() { Ok(()) } else { place.write(report) })
    }

    /// Writes one incident of many. `progress` is a bar that stands where a terminal would show the text.
    pub(crate) fn incident(&mut self, incident: Incident<'_>, progress: &Progress) -> io::Result<()> {
        self.each(|place| {
            if !place.terminal {
                return place.series.incident(incident, &mut place.out);
            }
            let mut text = Vec::new();
            place.series.incident(incident, &mut text)?;
            if text.is_empty() {
                return Ok(());
            }
            progress.aside(|| place.out.write_all(&text).and_then(|()| place.out.flush()))
        })
    }

    /// Writes one incident at once.
    pub(crate) fn incident_now(&mut self, incident: Incident<'_>) -> io::Result<()> {
        self.each(|place| place.series.incident(incident, &mut place.out).and_then(|()| place.out.flush()))
    }

    /// Ends reports on many incidents.
    pub(crate) fn end(mut self, tally: &Tally) -> io::Result<()> {
        self.each(|place| place.series.end(tally, &mut place.out))?;
        self.keep()
    }

    /// Gives all files their names, once everything is written: where one report fails, none replaces an older one.
    pub(crate) fn keep(mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|place| place.out.flush())?;
        self.0.into_iter().try_for_each(|place| place.out.keep())
    }

    /// Writes to all. The work ends where nobody is left to read, and goes on where a file is.
    fn each(&mut self, write: impl FnMut(&mut Place) -> io::Result<()>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(write)?;
        if self.0.iter().all(|place| place.out.is_left()) { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

impl Place {
    /// Whether it is standard output in a format of which a reader takes one report after another.
    fn is_early(&self) -> bool {
        self.standard && matches!(self.format, Format::Human | Format::Brief | Format::Ndjson)
    }

    fn write(&mut self, report: &Report) -> io::Result<()> {
        coroner::report::write(report, self.format, &self.style, &mut self.out)
    }

    fn tell(&mut self, report: &Report) -> io::Result<()> {
        if std::mem::replace(&mut self.told, true) && self.format == Format::Human {
            self.out.write_all(b"\nMore is known now; this replaces the report above.\n\n")?;
        }
        self.write(report)?;
        self.out.flush()
    }
}

/// Whether to use colour.
pub(crate) fn color(when: When, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && !dumb && !set("NO_COLOR"),
    }
}
