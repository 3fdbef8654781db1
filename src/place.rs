//! Where a piece of evidence stands: an input, and a line or a field in it.

use std::fmt;
use std::sync::Arc;

/// A place in an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The input's name as the user gave it, `-` for standard input.
    pub input: Arc<str>,
    /// The line in the order of time, counted from 1; a record that spans lines is named by its first one.
    pub line: Option<u64>,
    /// The line's number in the input, where it is another one: an input with its newest line first.
    pub shown: Option<u64>,
    /// The JSON pointer of a field, for structured inputs.
    pub pointer: Option<Arc<str>>,
}

impl Place {
    /// A line of an input.
    pub fn line(input: &Arc<str>, line: u64) -> Self {
        Self { input: Arc::clone(input), line: Some(line), shown: None, pointer: None }
    }

    /// A field of a structured input.
    pub fn field(input: &Arc<str>, pointer: &str) -> Self {
        Self { input: Arc::clone(input), line: None, shown: None, pointer: Some(pointer.into()) }
    }

    /// The number of the line in the input, as people count.
    pub fn number(&self) -> Option<u64> {
        self.shown.or(self.line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input)?;
        match (self.number(), &self.pointer) {
            (Some(line), _) => write!(f, ":{line}"),
            (None, Some(pointer)) if !pointer.is_empty() => write!(f, " {pointer}"),
            _ => Ok(()),
        }
    }
}
