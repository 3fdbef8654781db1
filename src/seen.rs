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
    /// The earliest and latest wall clock seen on lines of the kernel, or on any line where the kernel wrote none.
    pub span: Option<(Stamp, Stamp)>,
    /// The earliest and latest time since boot seen.
    pub boot_span: Option<(Stamp, Stamp)>,
}
