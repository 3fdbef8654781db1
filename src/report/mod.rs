//! The report: the only thing that a renderer sees.

use std::io;

use crate::fact::Who;
use crate::note::{Gravity, Note};
use crate::remedy::Advice;
use crate::remedy::sizing::Sizing;
use crate::seen::Input;
use crate::time::Stamp;
use crate::units::{Bytes, Signal};
use crate::verdict::Verdict;

mod brief;
mod human;
mod json;
mod json_sizing;
mod need;
mod page;
mod sections;
mod text;

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
}

impl Report {
    /// The exit code under `--exit-code`, which tells the class.
    pub fn class_code(&self) -> u8 {
        self.verdict.cause.class().exit_code()
    }

    /// Whether an input could not be read at all.
    pub fn lost_an_input(&self) -> bool {
        self.notes.iter().any(|note| note.gravity == Gravity::Unread)
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
}

impl Format {
    /// All formats.
    pub const ALL: &[Self] = &[Self::Human, Self::Brief, Self::Json];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Brief => "brief",
            Self::Json => "json",
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
    }
}
