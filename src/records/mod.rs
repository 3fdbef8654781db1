//! Records: exit documents (JSON or YAML) and tables laid out for people, one file for each format.
//!
//! A format recognises a document by its content, never by the file's name, and turns it into claims about whom it
//! describes, each with the JSON pointer of the field that says so. Free text in a record (a termination message, the last
//! log lines) is handed back as lines, so that it meets the same patterns as everything else.

mod aws_batch;
mod cgroup_files;
mod cgroup_stat;
mod cloud_jobs;
mod cloud_machines;
mod cloud_run;
mod coredump_json;
mod crictl_inspect;
mod crictl_ps;
mod dev_shm;
mod docker_events;
mod docker_inspect;
mod docker_ps;
pub mod documents;
mod ecs;
mod elastic_error;
mod field;
mod google_cloud;
mod json_text;
mod k8s_describe;
mod k8s_event_table;
mod k8s_events;
mod k8s_evicted;
mod k8s_pod;
mod k8s_workload;
mod kubelet_log;
mod meminfo;
mod nomad;
mod notebook;
mod podman_inspect;
mod qacct;
mod quantity;
mod sacct_json;
mod sacct_text;
mod scontrol_text;
mod slurm_state;
mod texts;
mod yaml_plain;
mod yaml_text;

use serde_json::Value;

use crate::fact::{Claim, What, Who, Witness};
use crate::seen::Form;
use crate::time::Stamp;

use field::Field;
pub use texts::{TextFormat, begins, read_texts};

/// A kind of exit document.
pub struct Format {
    /// The kind's name in reports, as `docker-inspect`.
    pub id: &'static str,
    /// Whether a document is of this kind.
    pub sniff: fn(&Value) -> bool,
    /// Makes the claims.
    pub read: fn(&Value) -> Reading,
    /// Its row in the table of inputs.
    pub form: Form,
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
    k8s_workload::FORMAT,
    nomad::FORMAT,
    aws_batch::FORMAT,
    cloud_jobs::SAGEMAKER,
    cloud_jobs::VERTEX,
    cloud_jobs::GOOGLE_BATCH,
    cloud_run::FORMAT,
    google_cloud::OPERATION,
    google_cloud::AUDIT,
    cloud_machines::FORMAT,
    coredump_json::FORMAT,
    elastic_error::FORMAT,
];

/// Every record that is text laid out for people. Their lines meet the patterns as well.
pub static TEXTS: &[TextFormat] = &[
    k8s_describe::FORMAT,
    k8s_event_table::FORMAT,
    kubelet_log::FORMAT,
    sacct_text::FORMAT,
    scontrol_text::FORMAT,
    scontrol_text::SEFF,
    qacct::FORMAT,
    nomad::STATUS,
    cgroup_files::FORMAT,
    cgroup_stat::FORMAT,
    crictl_ps::FORMAT,
    meminfo::FORMAT,
    notebook::JUPYTER,
    notebook::KAGGLE,
];

/// The format of a document, if any format knows it.
pub fn sniff(document: &Value) -> Option<&'static Format> {
    open(document).map(|(format, ..)| format)
}

/// Reads a document by the format that knows it.
pub fn read(document: &Value) -> Option<(&'static Format, Reading)> {
    let (format, path, inner) = open(document)?;
    let mut reading = (format.read)(inner);
    if !path.is_empty() {
        let pointers = reading.entries.iter_mut().map(|entry| &mut entry.pointer);
        for pointer in pointers.chain(reading.remarks.iter_mut().map(|remark| &mut remark.pointer)) {
            pointer.insert_str(0, path);
        }
    }
    Some((format, reading))
}

/// The wrappers in which other programs hand on a document: where it is, and the member that stands beside it.
///
/// The watch API and `kubectl get -w --output-watch-events`, eventrouter, and exporters of pods.
const WRAPPERS: &[(&str, &str)] = &[("/object", "/type"), ("/event", "/verb"), ("/data/pod", "/data")];

/// The format of a document, and the document itself with its pointer where it stands in a wrapper.
fn open(document: &Value) -> Option<(&'static Format, &'static str, &Value)> {
    let known = |inner: &Value| FORMATS.iter().find(|format| (format.sniff)(inner));
    if let Some(format) = known(document) {
        return Some((format, "", document));
    }
    WRAPPERS.iter().find_map(|(path, beside)| {
        document.pointer(beside)?;
        let inner = document.pointer(path).filter(|inner| inner.is_object())?;
        known(inner).map(|format| (format, *path, inner))
    })
}

/// The first object of a list, or the one object that a document is.
fn first(document: &Value) -> Option<&Value> {
    match document {
        Value::Array(list) => list.iter().find(|one| one.is_object()),
        Value::Object(_) => Some(document),
        _ => None,
    }
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
    /// The line in the text, where the record is a text and not a document.
    pub line: Option<u64>,
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
    /// Whether nothing else of the text is anybody's own words: its lines are not read once more.
    pub whole: bool,
}

impl Reading {
    /// What the members of a list say, or the one object that a document is.
    fn of_each(document: &Value, mut read_one: impl FnMut(&mut Self, &Field<'_>)) -> Self {
        let mut reading = Self::default();
        for one in Field::root(document).each() {
            read_one(&mut reading, &one);
        }
        reading
    }

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

    /// Adds a claim that a line of a text makes.
    fn say(&mut self, witness: Witness, line: u64, who: &Who, when: Option<Stamp>, what: What, text: impl Into<String>) {
        let (claim, pointer, text) = (Claim::new(what, who.clone()), String::new(), text.into());
        self.entries.push(Entry { claim, when, pointer, line: Some(line), text, witness });
    }

    /// The reading, unless it says nothing.
    fn told(self) -> Option<Self> {
        (!self.entries.is_empty() || !self.remarks.is_empty()).then_some(self)
    }

    /// Adds a field's text for the patterns, unless it is empty.
    fn remark(&mut self, field: &Field<'_>, who: &Who, when: Option<Stamp>) {
        if let Some(text) = field.text() {
            let pointer = field.pointer().to_owned();
            self.remarks.push(Remark { text: text.to_owned(), pointer, line: None, when, who: who.clone() });
        }
    }

    /// Adds a part of a field's text for the patterns.
    fn remark_part(&mut self, field: &Field<'_>, text: &str, who: &Who, when: Option<Stamp>) {
        let (pointer, text) = (field.pointer().to_owned(), text.to_owned());
        self.remarks.push(Remark { text, pointer, line: None, when, who: who.clone() });
    }

    /// Adds a part of a text's line for the patterns, which cannot read the line as a whole.
    fn remark_line(&mut self, line: u64, text: &str, who: &Who) {
        let (pointer, text) = (String::new(), text.to_owned());
        self.remarks.push(Remark { text, pointer, line: Some(line), when: None, who: who.clone() });
    }
}

#[cfg(test)]
mod tests;
