//! Verdicts: what a death died of, how sure that is, what speaks for and against it, and what is lacking.

mod cause;

pub use cause::{Cause, Class, Grade};

use crate::fact::Fact;

/// A fact with what it proves.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The fact.
    pub fact: Fact,
    /// What it says about this death, in a few words.
    pub says: String,
}

/// Something that would settle the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// What is missing.
    pub what: String,
    /// The command that gets it.
    pub how: Option<String>,
    /// What it would tell.
    pub would: String,
}

/// A judgement on one death.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Why it died.
    pub cause: Cause,
    /// How sure that is.
    pub grade: Grade,
    /// One sentence.
    pub summary: String,
    /// What speaks for it.
    pub because: Vec<Evidence>,
    /// What speaks against it.
    pub against: Vec<Evidence>,
    /// What was seen and set aside, with the reason.
    pub aside: Vec<Evidence>,
    /// What is missing.
    pub lacking: Vec<Lacking>,
}
