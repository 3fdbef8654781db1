//! The JSON format, frozen by the contract: twins of the domain types, so that those can change without breaking readers.

use std::io;

use serde::Serialize;

use super::json_sizing::Twin;
use super::text::reorders_or_hides;
use super::{Entry, MemoryPicture, Report};
use crate::fact::Witness;
use crate::note::Gravity;
use crate::remedy::Advice;
use crate::time::Stamp;
use crate::units::Bytes;
use crate::verdict::{Evidence, Lacking, Verdict};

/// The schema that the documents obey; a new number would be a break.
const SCHEMA: &str = "coroner.report/1";

/// Writes the report as one document with a line end.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(&Document::new(report, None))?;
    writeln!(out, "{}", escaped(&text))
}

/// The report as a document on one line, under the incident's name if it has one.
pub(super) fn line(report: &Report, incident: Option<&str>) -> io::Result<String> {
    Ok(escaped(&serde_json::to_string(&Document::new(report, incident))?))
}

/// Escapes what JSON lets stand although a terminal may obey it. Outside of strings JSON is printable ASCII, so that
/// every such character is inside one.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || !(c.is_control() || reorders_or_hides(c)) {
            safe.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            safe.push_str(&format!("\\u{unit:04x}"));
        }
    }
    safe
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    incident: Option<String>,
    verdict: Answer,
    deaths: Vec<Death>,
    notes: Vec<Remark>,
    inputs: Vec<Source>,
}

#[derive(Serialize)]
struct Answer {
    class: &'static str,
    cause: &'static str,
    grade: &'static str,
    death: Option<usize>,
    summary: String,
    lacking: Vec<Lack>,
}

#[derive(Serialize)]
struct Death {
    class: &'static str,
    cause: &'static str,
    grade: &'static str,
    signal: Option<String>,
    exit_code: Option<i64>,
    pid: Option<u32>,
    host_pid: Option<u32>,
    process: Option<String>,
    worker: Option<u32>,
    rank: Option<u32>,
    container: Option<String>,
    container_name: Option<String>,
    pod: Option<String>,
    namespace: Option<String>,
    unit: Option<String>,
    cgroup: Option<String>,
    node: Option<String>,
    job: Option<String>,
    time: Option<String>,
    clock: Option<&'static str>,
    uptime: Option<f64>,
    count: u64,
    follows: Option<usize>,
    summary: String,
    because: Vec<Proof>,
    against: Vec<Proof>,
    aside: Vec<Proof>,
    lacking: Vec<Lack>,
    memory: Option<Memory>,
    remedy: Vec<Step>,
    sizing: Option<Twin>,
}

#[derive(Serialize)]
struct Proof {
    place: Spot,
    text: String,
    says: String,
    witness: &'static str,
    pattern: &'static str,
    time: Option<String>,
}

#[derive(Serialize)]
struct Spot {
    input: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointer: Option<String>,
}

#[derive(Serialize)]
struct Lack {
    what: String,
    how: Option<String>,
    would: String,
}

#[derive(Serialize)]
struct Memory {
    limit: Option<u64>,
    anon: Option<u64>,
    shmem: Option<u64>,
    cache: Option<u64>,
    tasks: Vec<Task>,
}

#[derive(Serialize)]
struct Task {
    process: String,
    rss: u64,
    killed: bool,
}

#[derive(Serialize)]
pub(super) struct Step {
    step: &'static str,
    platform: &'static str,
    text: String,
    command: Option<String>,
}

#[derive(Serialize)]
struct Remark {
    input: String,
    text: String,
    unread: bool,
}

#[derive(Serialize)]
struct Source {
    name: String,
    kind: &'static str,
    bytes: u64,
    lines: u64,
}

impl Document {
    fn new(report: &Report, incident: Option<&str>) -> Self {
        let note = |note: &crate::note::Note| Remark {
            input: note.input.to_string(),
            text: note.text.clone(),
            unread: note.gravity == Gravity::Unread,
        };
        let source = |input: &crate::seen::Input| Source {
            name: input.name.to_string(),
            kind: input.kind.name(),
            bytes: input.bytes,
            lines: input.lines,
        };
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            incident: incident.map(str::to_owned),
            verdict: Answer::new(&report.verdict, !report.deaths.is_empty()),
            deaths: report.deaths.iter().map(Death::new).collect(),
            notes: report.notes.iter().map(note).collect(),
            inputs: report.inputs.iter().map(source).collect(),
        }
    }
}

impl Answer {
    /// The root is always the first death.
    fn new(verdict: &Verdict, dead: bool) -> Self {
        Self {
            class: verdict.cause.class().slug(),
            cause: verdict.cause.slug(),
            grade: verdict.grade.slug(),
            death: dead.then_some(0),
            summary: verdict.summary.clone(),
            lacking: verdict.lacking.iter().map(Lack::new).collect(),
        }
    }
}

impl Death {
    fn new(entry: &Entry) -> Self {
        let Entry { verdict, who, .. } = entry;
        let proofs = |list: &[Evidence]| list.iter().map(Proof::new).collect();
        Self {
            class: verdict.cause.class().slug(),
            cause: verdict.cause.slug(),
            grade: verdict.grade.slug(),
            signal: entry.signal.map(|signal| signal.name()),
            exit_code: entry.exit_code,
            pid: who.own_pid.map(|pid| pid.0),
            host_pid: who.host_pid.map(|pid| pid.0),
            process: who.process.clone(),
            worker: who.worker,
            rank: who.rank,
            container: who.container.clone(),
            container_name: who.container_name.clone(),
            pod: who.pod.clone(),
            namespace: who.namespace.clone(),
            unit: who.unit.clone(),
            cgroup: who.cgroup.clone(),
            node: who.host.clone(),
            job: who.job.clone(),
            time: entry.when.and_then(rfc3339),
            clock: entry.when.map(clock),
            uptime: entry.when.and_then(uptime),
            count: entry.count,
            follows: entry.follows,
            summary: verdict.summary.clone(),
            because: proofs(&verdict.because),
            against: proofs(&verdict.against),
            aside: proofs(&verdict.aside),
            lacking: verdict.lacking.iter().map(Lack::new).collect(),
            memory: entry.memory.as_ref().map(Memory::new),
            remedy: entry.remedy.iter().map(Step::new).collect(),
            sizing: entry.sizing.as_ref().map(Twin::new),
        }
    }
}

impl Proof {
    fn new(evidence: &Evidence) -> Self {
        let Evidence { fact, says } = evidence;
        let witness: Witness = fact.witness;
        Self {
            place: Spot {
                input: fact.place.input.to_string(),
                line: fact.place.number(),
                pointer: fact.place.pointer.as_ref().map(ToString::to_string),
            },
            text: fact.text.clone(),
            says: says.clone(),
            witness: witness.name(),
            pattern: fact.id,
            time: fact.when.and_then(rfc3339),
        }
    }
}

impl Lack {
    fn new(lacking: &Lacking) -> Self {
        Self { what: lacking.what.clone(), how: lacking.how.clone(), would: lacking.would.clone() }
    }
}

impl Memory {
    fn new(memory: &MemoryPicture) -> Self {
        let number = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0);
        let task =
            |(process, rss, killed): &(String, Bytes, bool)| Task { process: process.clone(), rss: rss.0, killed: *killed };
        Self {
            limit: number(memory.limit),
            anon: number(memory.anon),
            shmem: number(memory.shmem),
            cache: number(memory.cache),
            tasks: memory.tasks.iter().map(task).collect(),
        }
    }
}

impl Step {
    pub(super) fn new(advice: &Advice) -> Self {
        Self { step: advice.step, platform: advice.platform.slug(), text: advice.text.clone(), command: advice.command.clone() }
    }
}

/// The moment as RFC 3339; none where the text gave no year, or where the clock counts from boot.
fn rfc3339(stamp: Stamp) -> Option<String> {
    match stamp {
        Stamp::Wall(wall) if wall.dated => Some(wall.at.to_string()),
        Stamp::Wall(_) | Stamp::Boot(_) => None,
    }
}

/// Which clock the moment was read from.
fn clock(stamp: Stamp) -> &'static str {
    match stamp {
        Stamp::Wall(wall) if wall.zoned => "utc",
        Stamp::Wall(_) => "unzoned",
        Stamp::Boot(_) => "boot",
    }
}

/// Seconds since boot.
fn uptime(stamp: Stamp) -> Option<f64> {
    match stamp {
        #[allow(clippy::cast_precision_loss)]
        Stamp::Boot(micros) => Some(micros as f64 / 1e6),
        Stamp::Wall(_) => None,
    }
}
