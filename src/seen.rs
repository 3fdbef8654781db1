//! What was read: one summary for each input.

use std::sync::Arc;

use crate::time::Stamp;

/// The kind of an input, told from its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Mostly lines of the kernel.
    KernelLog,
    /// A system journal or syslog with several speakers.
    Journal,
    /// Text of a training job or any other program.
    TrainingLog,
    /// A document or table that a record format knows, by the format's id.
    Record(&'static str),
    /// Nothing in it.
    Empty,
    /// Not text.
    Binary,
}

impl Kind {
    /// Whether it tells of everything on a machine or in a namespace, and not of one job alone.
    pub fn is_shared(self) -> bool {
        matches!(self, Self::KernelLog | Self::Journal | Self::Record("docker-events" | "k8s-events" | "k8s-event-table"))
    }

    /// The slug of the JSON report.
    pub fn name(self) -> &'static str {
        match self {
            Self::KernelLog => "kernel-log",
            Self::Journal => "journal",
            Self::TrainingLog => "training-log",
            Self::Record(id) => id,
            Self::Empty => "empty",
            Self::Binary => "binary",
        }
    }
}

/// A form in which logs and exit data reach a user: a row of the table that `coroner explain --inputs` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// What it is called, as `docker inspect`.
    pub name: &'static str,
    /// How to produce it, as a command where there is one.
    pub how: &'static str,
    /// What it can prove, in a few words.
    pub proves: &'static str,
}

/// One input after reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name as the user gave it.
    pub name: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// Bytes read.
    pub bytes: u64,
    /// Lines read.
    pub lines: u64,
    /// How many of them the kernel wrote.
    pub kernel_lines: u64,
    /// The machine whose kernel wrote, where its lines name just one.
    pub host: Option<String>,
    /// The earliest and latest wall clock seen on lines of the kernel, or on any line where the kernel wrote none.
    pub span: Option<(Stamp, Stamp)>,
    /// The earliest and latest time since boot seen.
    pub boot_span: Option<(Stamp, Stamp)>,
}
