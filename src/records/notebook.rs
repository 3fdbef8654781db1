//! Notebooks that keep what their cells wrote: Jupyter's `.ipynb`, and the log that Kaggle saves of a run.
//!
//! Only the outputs are read. The source of a cell is what somebody asked for, and tells of no death.

use serde_json::Value;

use crate::fact::Who;
use crate::seen::Form;

use super::{Reading, Remark, TextFormat};

/// nbformat 4 (2015 and later), as Jupyter, Colab and VS Code save it.
pub(super) const JUPYTER: TextFormat = TextFormat {
    id: "jupyter-notebook",
    starts: &["\"nbformat\"", "\"cells\"", "{\"cells\"", "{ \"cells\"", "{\"nbformat\"", "{\"metadata\""],
    read: read_jupyter,
    form: Form {
        name: "Jupyter notebooks (.ipynb)",
        how: "the saved notebook, or papermill IN.ipynb OUT.ipynb",
        proves: "what the cells wrote: signals of workers, refusals, exceptions",
    },
    samples: &[
        "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": [\n      \"Killed\\n\"\n     ]\n    }\n   ],\n   \"source\": []\n  }\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
    ],
};

/// The log of a Kaggle notebook's version, as the site and `kaggle kernels output` give it.
pub(super) const KAGGLE: TextFormat = TextFormat {
    id: "kaggle-log",
    starts: &["\"stream_name\"", "{\"stream_name\"", "[{\"stream_name\"", ",{\"stream_name\""],
    read: read_kaggle,
    form: Form {
        name: "log of a Kaggle notebook (JSON)",
        how: "kaggle kernels output USER/NOTEBOOK",
        proves: "what the notebook wrote, and that it was restarted for memory",
    },
    samples: &["[{\"stream_name\":\"stderr\",\"time\":8.21,\"data\":\"Killed\\n\"}\n]\n"],
};

/// Finds the lines on which the strings of a document stand, in the order of the document.
struct Lines<'a> {
    text: &'a str,
    /// How far was looked, and the number of the line there.
    at: usize,
    line: u64,
    /// The first number that is free: two strings on one line still have an order.
    free: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1, free: 1 }
    }

    /// The line of a string. One that is written with other escapes than usual is taken for the next line.
    fn find(&mut self, string: &str) -> u64 {
        let part: String = string.chars().take(48).collect();
        let written = serde_json::to_string(&part).unwrap_or_default();
        let written = written.get(..written.len().saturating_sub(1)).unwrap_or_default();
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some(found) = rest.find(written).filter(|_| written.len() > 1) {
            self.line += rest.bytes().take(found).filter(|byte| *byte == b'\n').count() as u64;
            self.at += found + written.len();
        }
        let line = self.line.max(self.free);
        self.free = line + (string.trim_end_matches('\n').matches('\n').count() as u64) + 1;
        line
    }
}

/// The strings of a text that may be a list of its lines.
fn strings(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => parts.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn remark(reading: &mut Reading, line: u64, text: String) {
    let (pointer, who) = (String::new(), Who::default());
    reading.remarks.push(Remark { text, pointer, line: Some(line), when: None, who });
}

fn read_jupyter(text: &str) -> Option<Reading> {
    let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    document.get("nbformat").filter(|version| version.is_number())?;
    let cells = document.get("cells")?.as_array()?;
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut lines = Lines::new(text);
    for output in cells.iter().filter_map(|cell| cell.get("outputs")?.as_array()).flatten() {
        // A stream's text keeps its line ends; a traceback has one entry for each frame.
        let streamed = strings(output.get("text"));
        let raised = strings(output.get("traceback"));
        let shown = strings(output.get("data").and_then(|data| data.get("text/plain")));
        for (parts, end) in [(streamed, ""), (raised, "\n"), (shown, "")] {
            let Some(first) = parts.first().map(|first| lines.find(first)) else { continue };
            let text = parts.join(end);
            lines.free = lines.free.max(first + text.trim_end_matches('\n').matches('\n').count() as u64 + 1);
            remark(&mut reading, first, text);
        }
    }
    Some(reading)
}

fn read_kaggle(text: &str) -> Option<Reading> {
    let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let records = document.as_array()?;
    let known = |record: &Value| record.get("stream_name").is_some_and(Value::is_string) && record.get("data").is_some();
    if !records.iter().all(known) || records.is_empty() {
        return None;
    }
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut lines = Lines::new(text);
    let mut held: Option<(u64, String)> = None;
    for data in records.iter().filter_map(|record| record.get("data")?.as_str()) {
        let line = lines.find(data);
        let (first, text) = held.get_or_insert_with(|| (line, String::new()));
        text.push_str(data);
        // A record ends wherever the buffer did.
        if text.ends_with(['\n', '\r']) {
            remark(&mut reading, *first, std::mem::take(text));
            held = None;
        }
    }
    if let Some((first, text)) = held {
        remark(&mut reading, first, text);
    }
    Some(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_at_their_lines_and_sources_are_not() {
        let text = "{\n \"cells\": [\n  {\n   \"outputs\": [\n    {\n     \"text\": [\n      \"epoch 0\\n\",\n      \"Killed\\n\"\n     ]\n    },\n    {\n     \"traceback\": [\n      \"Traceback\",\n      \"  a\\n  b\",\n      \"E: c\"\n     ]\n    }\n   ],\n   \"source\": [\n    \"Bus error\\n\"\n   ]\n  }\n ],\n \"nbformat\": 4\n}\n";
        let reading = read_jupyter(text).unwrap();
        let found: Vec<_> = reading.remarks.iter().map(|remark| (remark.line, remark.text.as_str())).collect();
        assert_eq!(found, [(Some(7), "epoch 0\nKilled\n"), (Some(13), "Traceback\n  a\n  b\nE: c")]);
        assert!(read_jupyter("{\"cells\": []}").is_none());
    }

    #[test]
    fn kaggle_cuts_lines_between_records() {
        let text = "[{\"stream_name\":\"stdout\",\"time\":1.0,\"data\":\"a\\n\"}\n,{\"stream_name\":\"stderr\",\"time\":2.0,\"data\":\"Kil\"}\n,{\"stream_name\":\"stderr\",\"time\":2.1,\"data\":\"led\\n\"}]";
        let reading = read_kaggle(text).unwrap();
        let found: Vec<_> = reading.remarks.iter().map(|remark| (remark.line, remark.text.as_str())).collect();
        assert_eq!(found, [(Some(1), "a\n"), (Some(2), "Killed\n")]);
        assert!(read_kaggle("[{\"a\": 1}]").is_none());
    }
}
