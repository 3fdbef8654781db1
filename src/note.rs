//! What could not be read, and why. Notes are made anywhere and shown everywhere.

use std::sync::Arc;

/// How much a note matters to the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gravity {
    /// Worth knowing; the report stands.
    Remark,
    /// An input could not be read at all: exit code 2.
    Unread,
}

/// A remark on an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The input's name.
    pub input: Arc<str>,
    /// What happened, in lower case and without a full stop.
    pub text: String,
    /// Whether the input is lost.
    pub gravity: Gravity,
}

impl Note {
    /// A remark that does not change the exit code.
    pub fn remark(input: &Arc<str>, text: impl Into<String>) -> Self {
        Self { input: Arc::clone(input), text: text.into(), gravity: Gravity::Remark }
    }

    /// An input that could not be read.
    pub fn unread(input: &Arc<str>, text: impl Into<String>) -> Self {
        Self { input: Arc::clone(input), text: text.into(), gravity: Gravity::Unread }
    }

    /// Whether an input is lost.
    pub fn is_unread(&self) -> bool {
        self.gravity == Gravity::Unread
    }
}
