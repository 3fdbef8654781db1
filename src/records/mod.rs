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
pub mod k8s_describe;
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

/// A record that is text laid out for people: blocks or tables of several lines.
pub struct TextFormat {
    /// The kind's name in reports, as `kubectl-describe`.
    pub id: &'static str,
    /// Makes the claims, each with its line; nothing where the text is of another kind.
    pub read: fn(&str) -> Option<Reading>,
}

/// Every text format. Their lines meet the patterns as well.
pub static TEXTS: &[TextFormat] = &[TextFormat { id: k8s_describe::ID, read: k8s_describe::read_text }];

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
    /// The JSON pointer of the field, from the document's root; empty where the record is a text.
    pub pointer: String,
    /// The line in the text, counted from 1, where the record is a text (`kubectl describe`) and not a document.
    pub line: Option<u64>,
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
            line: None,
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
    use proptest::prelude::{Strategy, any, prop, prop_oneof};

    use super::*;

    /// The words that the formats look for, so that made-up documents come near to real ones.
    const WORDS: &[&str] = &[
        "State",
        "ExitCode",
        "Running",
        "OOMKilled",
        "Status",
        "HostConfig",
        "ShmSize",
        "IpcMode",
        "Mounts",
        "Tmpfs",
        "Type",
        "Action",
        "Actor",
        "Attributes",
        "time",
        "status",
        "id",
        "from",
        "kind",
        "Pod",
        "Event",
        "List",
        "items",
        "spec",
        "containers",
        "containerStatuses",
        "name",
        "lastState",
        "terminated",
        "reason",
        "Evicted",
        "message",
        "volumeMounts",
        "/dev/shm",
        "mountPath",
        "taskArn",
        "a:task/b",
        "jobs",
        "job_id",
        "state",
        "exit_code",
        "signal",
        "extraInfo",
        "host",
        "container",
        "die",
        "Names",
        "ID",
        "137",
        "-1",
        "pid",
        "sig",
        "corefile",
        "ü",
        "",
        "finishedAt",
        "OciVersion",
    ];

    fn word() -> impl Strategy<Value = String> {
        prop::sample::select(WORDS).prop_map(str::to_owned)
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            proptest::strategy::Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            word().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((word(), inner), 0..8).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest::proptest! {
        #[test]
        fn no_document_upsets_a_reader(document in value()) {
            for format in FORMATS {
                (format.sniff)(&document);
                (format.read)(&document);
            }
        }

        #[test]
        fn no_sample_with_a_foreign_value_upsets_its_reader(foreign in value(), pick in any::<prop::sample::Index>()) {
            for format in FORMATS {
                for sample in format.samples {
                    let mut document: Value = serde_json::from_str(sample).unwrap();
                    let mut spots = Vec::new();
                    pointers(&document, String::new(), &mut spots);
                    if let Some(spot) = document.pointer_mut(&spots[pick.index(spots.len())]) {
                        *spot = foreign.clone();
                    }
                    (format.sniff)(&document);
                    (format.read)(&document);
                }
            }
        }

        #[test]
        fn no_cut_upsets_the_search(cut in any::<prop::sample::Index>()) {
            for sample in FORMATS.iter().flat_map(|format| format.samples) {
                let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(sample).unwrap()).unwrap();
                for text in [*sample, pretty.as_str(), POD] {
                    let at = cut.index(text.len() + 1);
                    documents::find(&text.as_bytes()[..at]);
                    documents::find(&text.as_bytes()[at..]);
                }
            }
        }

        #[test]
        fn no_bytes_upset_the_search(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            documents::find(&bytes);
        }
    }

    const POD: &str = "# pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: \"ü\"\nstatus:\n  message: >-\n    The node was low\n    on memory\n  reason: Evicted\n";

    fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
        let members: Vec<(String, &Value)> = match value {
            Value::Array(list) => list.iter().enumerate().map(|(n, inner)| (n.to_string(), inner)).collect(),
            Value::Object(map) => map.iter().map(|(key, inner)| (key.replace('~', "~0").replace('/', "~1"), inner)).collect(),
            _ => Vec::new(),
        };
        for (key, inner) in members {
            pointers(inner, format!("{at}/{key}"), all);
        }
        all.push(at);
    }

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
