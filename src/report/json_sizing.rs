//! The sizing in JSON: a part of the report, and the whole answer of `coroner size`.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::json::{self, Step};
use super::need::Need;
use crate::remedy::sizing::{Fit, MemoryNeed, Sizing, Term};
use crate::units::Bytes;

/// The schema that the answer of `coroner size` obeys; a new number would be a break.
const SCHEMA: &str = "coroner.size/1";

#[derive(Serialize)]
pub(super) struct Twin {
    formula: &'static str,
    inputs: BTreeMap<String, Input>,
    unknown: Vec<&'static str>,
    bytes: Option<u64>,
    recommended: Option<u64>,
    had: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Settings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Limits>,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Input {
    value: Option<u64>,
    from: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<Input>,
}

#[derive(Serialize)]
struct Settings {
    limit: u64,
    workers: u64,
    prefetch: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Limits {
    limit: u64,
    processes: Option<u64>,
    recommended: u64,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    sizing: Twin,
    remedy: Vec<Step>,
    notes: Vec<Remark>,
}

#[derive(Serialize)]
struct Remark {
    input: String,
    text: String,
}

impl Twin {
    pub(super) fn new(sizing: &Sizing) -> Self {
        let mut inputs: BTreeMap<String, Input> = BTreeMap::new();
        for Term { loader, name, value, from } in &sizing.terms {
            let key = if *loader > 0 { format!("loader_{loader}.{name}") } else { (*name).to_owned() };
            let input = Input { value: *value, from: from.clone(), others: Vec::new() };
            match inputs.get_mut(&key) {
                // A second value for the same name contradicts the first: both are shown, so neither is used.
                Some(first) => first.others.push(input),
                None => {
                    inputs.insert(key, input);
                }
            }
        }
        let settings =
            |fit: Fit| Settings { limit: fit.limit.0, workers: fit.workers, prefetch: fit.prefetch, bytes: fit.bytes.0 };
        let limits = |memory: MemoryNeed| Limits {
            limit: memory.limit.0,
            processes: memory.processes.map(|Bytes(bytes)| bytes),
            recommended: memory.recommended.0,
        };
        Self {
            formula: sizing.formula,
            inputs,
            unknown: sizing.unknown.clone(),
            bytes: sizing.bytes.map(|bytes| bytes.0),
            recommended: sizing.recommended.map(|bytes| bytes.0),
            had: sizing.had.map(|bytes| bytes.0),
            fit: sizing.fit.map(settings),
            memory: sizing.memory.map(limits),
            remarks: sizing.remarks.clone(),
        }
    }
}

/// Writes the answer as one document with a line end.
pub(super) fn write(need: &Need<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let remark = |note: &crate::note::Note| Remark { input: note.input.to_string(), text: note.text.clone() };
    let document = Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        sizing: Twin::new(need.sizing),
        remedy: need.remedy.iter().map(Step::new).collect(),
        notes: need.notes.iter().map(remark).collect(),
    };
    writeln!(out, "{}", json::escaped(&serde_json::to_string_pretty(&document)?))
}
