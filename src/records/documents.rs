//! Documents in a buffer: the whole of it, one a line, or pasted between lines of a log; JSON or YAML.
//!
//! Only documents that a format knows are returned. Everything else stays text, as JSON that wraps log lines does, and so
//! does what is broken: its lines are still read as lines.

use std::borrow::Cow;

use serde_json::Value;

use super::{json_text, sniff, yaml_plain, yaml_text};

/// Larger buffers are logs: no document that people paste or save reaches this size.
pub const LIMIT: usize = 32 << 20;

/// A document of a known format, and the lines it takes up, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The document.
    pub value: Value,
    /// Its first line.
    pub first_line: u64,
    /// Its last line.
    pub last_line: u64,
}

/// What a search has found so far.
#[derive(Default)]
pub(super) struct Found {
    documents: Vec<Document>,
    note: Option<String>,
}

impl Found {
    /// Keeps a document that a format knows, or the members of a list without a head (`jq .items`); tells whether it was kept.
    pub(super) fn keep(&mut self, value: Value, first_line: u64, last_line: u64) -> bool {
        if sniff(&value).is_some() {
            self.documents.push(Document { value, first_line, last_line });
            return true;
        }
        let Value::Array(items) = value else { return false };
        let before = self.documents.len();
        let known = items.into_iter().filter(|item| item.is_object() && sniff(item).is_some());
        self.documents.extend(known.map(|value| Document { value, first_line, last_line }));
        self.documents.len() > before
    }

    /// Notes what could not be read; the first remark is enough.
    pub(super) fn note(&mut self, text: String) {
        self.note.get_or_insert(text);
    }
}

/// Whether a buffer begins as a document of JSON or YAML does: with a bracket and no log behind it, or with the first key of a
/// resource of Kubernetes.
pub fn begins(bytes: &[u8]) -> bool {
    let text = decode(bytes.get(..64 << 10).unwrap_or(bytes));
    let text = text.trim_start();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let opens = |line: &str| line.starts_with(['{', '[']);
    // A log in JSON has a record on each line; so have events, whose records are documents.
    let record = first.ends_with('}') && lines.next().is_some_and(opens);
    if record && serde_json::from_str(first).is_ok_and(|value| sniff(&value).is_some()) {
        return true;
    }
    let inside = first.get(1..).unwrap_or_default().trim_start();
    opens(first) && !record && (inside.is_empty() || inside.starts_with(['{', '[', '"', '}', ']']))
        || ["apiVersion:", "kind:", "items:", "---"].iter().any(|start| first.starts_with(start))
}

/// Finds the documents of a buffer of at most [`LIMIT`] bytes, and says what was broken.
///
/// Time and memory are linear in the buffer's length, whatever stands in it.
pub fn find(bytes: &[u8]) -> (Vec<Document>, Option<String>) {
    if bytes.len() > LIMIT {
        return (Vec::new(), None);
    }
    let text = decode(bytes);
    let mut found = Found::default();
    json_text::find(&text, &mut found);
    yaml_text::find(&text, &mut found);
    yaml_plain::find(&text, &mut found);
    found.documents.sort_by_key(|document| document.first_line);
    (found.documents, found.note)
}

/// The text without a byte order mark; UTF-16 is told by its mark, as editors on Windows write it.
fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |rest: &[u8], read: fn([u8; 2]) -> u16| {
        let units =
            rest.chunks_exact(2).map(|pair| read([pair.first().copied().unwrap_or(0), pair.last().copied().unwrap_or(0)]));
        Cow::Owned(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// The number of line ends in a text.
pub(super) fn line_ends(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str =
        r#"{"Status":"exited","Running":false,"OOMKilled":true,"Pid":0,"ExitCode":137,"FinishedAt":"2026-12-01T06:36:24Z"}"#;
    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nstatus:\n  containerStatuses:\n  - name: a\n    state:\n      terminated:\n        exitCode: 137\n        reason: OOMKilled\n";

    fn spans(text: &str) -> Vec<(u64, u64)> {
        find(text.as_bytes()).0.iter().map(|document| (document.first_line, document.last_line)).collect()
    }

    #[test]
    fn json_is_found_wherever_a_line_begins_with_it() {
        let inspect = format!("[\n    {{\n        \"Id\": \"a\",\n        \"State\": {STATE}\n    }}\n]\n");
        assert_eq!(spans(&inspect), [(1, 6)]);
        assert_eq!(spans(&format!("$ docker inspect a\n{inspect}$ docker inspect b\n{inspect}bye\n")), [(2, 7), (9, 14)]);
        assert_eq!(spans(&format!("{STATE}\r\n{STATE}\r\n")), [(1, 1), (2, 2)]);
        assert_eq!(spans(&format!("log\n        \"State\": {STATE},\n...\n")), [(2, 2)]);
        assert_eq!(spans(&format!("\u{feff}{STATE}")), [(1, 1)]);
        assert_eq!(spans("{\"log\":\"[rank0]: boom\\n\",\"stream\":\"stderr\"}\n[INFO] {\"a\": 1}\n"), []);
    }

    #[test]
    fn a_document_is_told_from_a_log_by_its_beginning() {
        for text in ["[\n {\"Id\": 1}]", "{\"items\": [", "\u{feff}[{\"Id\":1", "apiVersion: v1\nkind: Pod", "---\nkind: Pod"] {
            assert!(begins(text.as_bytes()), "{text}");
        }
        for text in ["[rank0]: step 1", "[INFO] x", "{\"log\":\"a\"}\n{\"log\":\"b\"}\n", "epoch 1", "", "[ 12.5] x"] {
            assert!(!begins(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn utf_16_is_read_by_its_mark() {
        for (mark, unit) in [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)] {
            let mut bytes = mark.to_vec();
            bytes.extend(POD.replace('\n', "\r\n").encode_utf16().flat_map(unit));
            assert_eq!(find(&bytes).0.len(), 1);
        }
    }

    #[test]
    fn yaml_is_found_between_prompts_and_separators() {
        assert_eq!(spans(POD), [(1, 11)]);
        assert_eq!(spans(&format!("# a comment\n---\n{POD}---\n{POD}...\n")), [(3, 13), (15, 25)]);
        assert_eq!(spans(&format!("$ kubectl get pod a -o yaml\n{POD}\n$ kubectl logs a\nKilled\n")), [(2, 12)]);
        assert_eq!(spans(&format!("$ kubectl get pod a -o yaml\n{POD}{POD}")), [(2, 12), (13, 23)]);
        assert_eq!(spans(&POD.replace('\n', "\r\n")), [(1, 11)]);
        assert_eq!(spans("apiVersion: v1\nkind: ConfigMap\ndata:\n  kind: Pod\n"), []);
    }

    #[test]
    fn what_is_cut_off_is_read_as_far_as_it_is_whole() {
        let inspect = format!(
            "[\n    {{\n        \"Id\": \"a\",\n        \"State\": {STATE},\n        \"Image\": \"sha256:07\",\n        \"Resolv"
        );
        let (documents, note) = find(inspect.as_bytes());
        assert_eq!(documents.len(), 1);
        assert_eq!(documents[0].value.pointer("/0/State/ExitCode"), Some(&Value::from(137)));
        assert_eq!(note.as_deref(), Some("looks like JSON, but ends in the middle at line 6: only what is whole was read"));

        let (documents, note) = find(POD.trim_end_matches("Killed\n").replace("reason: OOM", "reason: \"OOM").as_bytes());
        assert_eq!(documents[0].value.pointer("/status/containerStatuses/0/state/terminated/exitCode"), Some(&Value::from(137)));
        assert_eq!(note.as_deref(), Some("looks like YAML, but ends in the middle at line 11: only what is whole was read"));

        let (documents, note) = find(b"{\n  \"a\": [\n    1,\n    2");
        assert_eq!(
            (documents.len(), note.as_deref()),
            (0, Some("looks like JSON, but ends in the middle at line 4: read as text"))
        );
    }

    #[test]
    fn hostile_documents_cost_no_stack_and_little_time() {
        let (documents, note) = find("[{\"a\":".repeat(200_000).as_bytes());
        assert!(documents.is_empty() && note.is_some());
        assert!(find("{\"a\":\n".repeat(200_000).as_bytes()).0.is_empty());
        assert!(find("[{\n".repeat(200_000).as_bytes()).0.is_empty());
        assert!(find("{\"a\":[1,2,\n".repeat(100_000).as_bytes()).0.is_empty());
        assert!(find("apiVersion: v1\nkind: Pod\n".repeat(20_000).as_bytes()).0.is_empty());
        assert!(find(format!("kind: Pod\nspec: {}", "[".repeat(100_000)).as_bytes()).0.is_empty());
        let mut laughs = "apiVersion: v1\nkind: Pod\nspec:\n  a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..12 {
            laughs.push_str(&format!("  a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(",")));
        }
        let (documents, note) = find(laughs.as_bytes());
        assert!(documents.is_empty() && note.is_some());
    }
}
