//! Records: exit documents (JSON or YAML), one file for each format.
//!
//! A format recognises a document by its content, never by the file's name, and turns it into claims about whom it
//! describes, each with the JSON pointer of the field that says so. Free text in a record (a termination message, the last
//! log lines) is handed back as lines, so that it meets the same patterns as everything else.

use serde_json::Value;

use crate::fact::{Claim, Witness};
use crate::time::Stamp;

/// A kind of exit document.
pub struct Format {
    /// The kind's name in reports, as `docker-inspect`.
    pub id: &'static str,
    /// Whether a document is of this kind.
    pub sniff: fn(&Value) -> bool,
    /// Makes the claims.
    pub read: fn(&Value) -> Reading,
}

/// A claim of a record, with the field that says so.
pub struct Entry {
    /// What is claimed, about whom.
    pub claim: Claim,
    /// When, by the record's clock.
    pub when: Option<Stamp>,
    /// The JSON pointer of the field, from the document's root.
    pub pointer: String,
    /// The field as a reader would quote it, as `State.OOMKilled true, ExitCode 137`.
    pub text: String,
    /// On whose word.
    pub witness: Witness,
}

/// Free text found in a record.
pub struct Remark {
    /// The text, perhaps of several lines.
    pub text: String,
    /// The JSON pointer of the field.
    pub pointer: String,
    /// When, by the record's clock.
    pub when: Option<Stamp>,
    /// About whom: a container's or pod's name and id.
    pub who: crate::fact::Who,
}

/// What a document gave.
#[derive(Default)]
pub struct Reading {
    /// Claims, in the document's order.
    pub entries: Vec<Entry>,
    /// Text for the patterns.
    pub remarks: Vec<Remark>,
}
