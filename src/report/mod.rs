//! The report: the only thing that a renderer sees.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use crate::fact::Who;
use crate::note::{Gravity, Note};
use crate::remedy::Advice;
use crate::remedy::sizing::Sizing;
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::{Bytes, Signal};
use crate::verdict::Verdict;

mod brief;
mod github;
mod gitlab;
mod html;
mod html_numbers;
mod html_parts;
mod human;
mod json;
mod json_sizing;
mod junit;
mod markdown;
mod moments;
mod name;
mod ndjson;
mod need;
mod page;
mod place;
mod rolls;
mod sarif;
mod sections;
mod series;
mod tally;
mod text;
mod timeline;

pub use series::{Incident, Series};
pub use tally::Tally;

pub use need::Need;

/// What filled the memory when a process was killed for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryPicture {
    /// The limit, if one was hit.
    pub limit: Option<Bytes>,
    /// Anonymous memory.
    pub anon: Option<Bytes>,
    /// Shared memory and tmpfs.
    pub shmem: Option<Bytes>,
    /// Page cache without shared memory.
    pub cache: Option<Bytes>,
    /// The largest processes: name, resident bytes, whether killed.
    pub tasks: Vec<(String, Bytes, bool)>,
}

/// One death, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The judgement.
    pub verdict: Verdict,
    /// Who died.
    pub who: Who,
    /// The signal, if one is known.
    pub signal: Option<Signal>,
    /// The exit code that was reported.
    pub exit_code: Option<i64>,
    /// When.
    pub when: Option<Stamp>,
    /// How many processes died the same way.
    pub count: u64,
    /// The index of the death that this one follows from, if it is a consequence.
    pub follows: Option<usize>,
    /// What filled the memory.
    pub memory: Option<MemoryPicture>,
    /// What to do.
    pub remedy: Vec<Advice>,
    /// The sizing formula, where shared memory is in question.
    pub sizing: Option<Sizing>,
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// All deaths; the root first, then by time.
    pub deaths: Vec<Entry>,
    /// The judgement on the whole: the root death's, or `clean`.
    pub verdict: Verdict,
    /// What could not be read.
    pub notes: Vec<Note>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// The lines around the evidence, by input and number, where somebody asked for them.
    pub context: HashMap<Arc<str>, BTreeMap<u64, String>>,
}

impl Report {
    /// The exit code under `--exit-code`, which tells the class.
    pub fn class_code(&self) -> u8 {
        self.verdict.cause.class().exit_code()
    }

    /// Whether an input could not be read at all, or there was nothing to read.
    pub fn lost_an_input(&self) -> bool {
        self.is_blank() || self.lost().next().is_some()
    }

    /// Whether there was nothing to read, so that nobody can say that nothing died.
    pub fn is_blank(&self) -> bool {
        self.deaths.is_empty() && self.inputs.iter().all(|input| matches!(input.kind, Kind::Empty | Kind::Binary))
    }

    /// What could not be read, or not to its end.
    pub fn lost(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.gravity == Gravity::Unread)
    }

    /// What was not read, for formats that leave other notes out: lost inputs, those that are not text, and all where nothing
    /// was read.
    pub fn left_out(&self) -> impl Iterator<Item = &Note> {
        let binary = |note: &Note| self.inputs.iter().any(|input| input.kind == Kind::Binary && input.name == note.input);
        self.notes.iter().filter(move |note| note.gravity == Gravity::Unread || self.is_blank() || binary(note))
    }
}

/// A way to write a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// For people, one screen for one death.
    Human,
    /// A few stable lines, made for diffs.
    Brief,
    /// One document, whole.
    Json,
    /// One document a line.
    Ndjson,
    /// A job summary in Markdown.
    Markdown,
    /// Annotations of GitHub Actions.
    Github,
    /// A code quality report of GitLab.
    Gitlab,
    /// The interchange format of analysis results, 2.1.0.
    Sarif,
    /// Test results in XML.
    Junit,
    /// One page for a post-mortem.
    Html,
}

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[
        Self::Human,
        Self::Brief,
        Self::Json,
        Self::Ndjson,
        Self::Markdown,
        Self::Github,
        Self::Gitlab,
        Self::Sarif,
        Self::Junit,
        Self::Html,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Brief => "brief",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Markdown => "markdown",
            Self::Github => "github",
            Self::Gitlab => "gitlab",
            Self::Sarif => "sarif",
            Self::Junit => "junit",
            Self::Html => "html",
        }
    }

    /// The format with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// How the formats for people look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether the class and the commands are coloured.
    pub color: bool,
    /// Columns of the screen.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: false, width: 100 }
    }
}

/// Writes a report in a format.
pub fn write(report: &Report, format: Format, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    match format {
        Format::Human => human::write(report, style, out),
        Format::Brief => brief::write(report, out),
        Format::Json => json::write(report, out),
        Format::Ndjson => ndjson::write(report, out),
        Format::Markdown => markdown::write(report, out),
        Format::Github => github::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Junit => junit::write(report, out),
        Format::Html => html::write(report, out),
    }
}
