//! Records: exit documents (JSON or YAML), one file for each format.
//!
//! A format recognises a document by its content, never by the file's name, and turns it into claims about whom it
//! describes, each with the JSON pointer of the field that says so. Free text in a record (a termination message, the last
//! log lines) is handed back as lines, so that it meets the same patterns as everything else.

mod coredump_json;
mod crictl_inspect;
mod dev_shm;
mod docker_events;
mod docker_inspect;
mod docker_ps;
pub mod documents;
mod ecs;
mod elastic_error;
mod field;
mod json_text;
mod k8s_events;
mod k8s_evicted;
mod k8s_pod;
mod podman_inspect;
mod quantity;
mod sacct_json;
mod yaml_text;

use serde_json::Value;

use crate::fact::{Claim, What, Who, Witness};
use crate::time::Stamp;

use field::Field;

/// A kind of exit document.
pub struct Format {
    /// The kind's name in reports, as `docker-inspect`.
    pub id: &'static str,
    /// Whether a document is of this kind.
    pub sniff: fn(&Value) -> bool,
    /// Makes the claims.
    pub read: fn(&Value) -> Reading,
    /// Documents of this kind, shortened to what the format looks at; no other format may claim them.
    pub samples: &'static [&'static str],
}

/// Every format. They exclude each other, so the order means nothing.
pub static FORMATS: &[Format] = &[
    docker_inspect::FORMAT,
    podman_inspect::FORMAT,
    docker_events::FORMAT,
    docker_ps::FORMAT,
    k8s_pod::FORMAT,
    k8s_events::FORMAT,
    crictl_inspect::FORMAT,
    ecs::FORMAT,
    sacct_json::FORMAT,
    coredump_json::FORMAT,
    elastic_error::FORMAT,
];

/// The format of a document, if any format knows it.
pub fn sniff(document: &Value) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.sniff)(document))
}

/// Reads a document by the format that knows it.
pub fn read(document: &Value) -> Option<(&'static Format, Reading)> {
    sniff(document).map(|format| (format, (format.read)(document)))
}

/// A claim of a record, with the field that says so.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The text, perhaps of several lines.
    pub text: String,
    /// The JSON pointer of the field.
    pub pointer: String,
    /// When, by the record's clock.
    pub when: Option<Stamp>,
    /// About whom: a container's or pod's name and id.
    pub who: Who,
}

/// What a document gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Claims, in the document's order.
    pub entries: Vec<Entry>,
    /// Text for the patterns.
    pub remarks: Vec<Remark>,
}

impl Reading {
    /// Adds a claim on the word of a container runtime or orchestrator.
    fn claim(&mut self, field: &Field<'_>, who: &Who, when: Option<Stamp>, what: What, text: impl Into<String>) {
        self.claim_by(Witness::Runtime, field, who, when, what, text);
    }

    /// Adds a claim on somebody's word.
    fn claim_by(
        &mut self,
        witness: Witness,
        field: &Field<'_>,
        who: &Who,
        when: Option<Stamp>,
        what: What,
        text: impl Into<String>,
    ) {
        self.entries.push(Entry {
            claim: Claim::new(what, who.clone()),
            when,
            pointer: field.pointer().to_owned(),
            text: text.into(),
            witness,
        });
    }

    /// Adds a field's text for the patterns, unless it is empty.
    fn remark(&mut self, field: &Field<'_>, who: &Who, when: Option<Stamp>) {
        if let Some(text) = field.text() {
            self.remarks.push(Remark { text: text.to_owned(), pointer: field.pointer().to_owned(), when, who: who.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_claimed_by_its_own_format_alone_and_says_something() {
        for format in FORMATS {
            assert!(!format.samples.is_empty(), "{} has no sample", format.id);
            for sample in format.samples {
                let document: Value = serde_json::from_str(sample).expect(format.id);
                let claimed: Vec<_> = FORMATS.iter().filter(|other| (other.sniff)(&document)).map(|other| other.id).collect();
                assert_eq!(claimed, [format.id], "{sample}");
                let reading = (format.read)(&document);
                assert!(!reading.entries.is_empty() || !reading.remarks.is_empty(), "{sample}");
                for pointer in
                    reading.entries.iter().map(|entry| &entry.pointer).chain(reading.remarks.iter().map(|remark| &remark.pointer))
                {
                    assert!(document.pointer(pointer).is_some(), "{pointer} in {sample}");
                }
            }
        }
    }
}
