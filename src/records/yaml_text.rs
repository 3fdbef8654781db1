//! YAML of Kubernetes in a text: blocks of lines that begin with `apiVersion:` or `kind:`, and what is left of broken ones.

use serde_json::Value;

use super::documents::Found;

/// How many blocks that nobody knows are parsed, and how many attempts broken ones get, before the rest is left as text.
const STRANGERS: u32 = 1000;
const ATTEMPTS: u32 = 24;

/// The members of a Kubernetes object or event; any other word at the start of a line ends a block.
const KEYS: [&str; 27] = [
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "status",
    "items",
    "reason",
    "message",
    "note",
    "type",
    "count",
    "action",
    "source",
    "related",
    "regarding",
    "involvedObject",
    "firstTimestamp",
    "lastTimestamp",
    "eventTime",
    "series",
    "reportingComponent",
    "reportingController",
    "reportingInstance",
    "deprecatedSource",
    "deprecatedCount",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
];

/// What a line is to the block above it.
enum Part {
    Inside,
    Begins,
    Ends,
}

/// A block of lines: where it begins, and which keys it has had.
struct Block<'a> {
    start: usize,
    first_line: u64,
    keys: Vec<&'a str>,
}

/// Finds the blocks and reads those that hold pods or events.
pub(super) fn find(text: &str, found: &mut Found) {
    if !text.contains("kind: ") {
        return;
    }
    let mut reader = Reader { found, strangers: STRANGERS, attempts: ATTEMPTS };
    let mut block: Option<Block<'_>> = None;
    let (mut at, mut line) = (0, 0);
    for whole in text.split_inclusive('\n') {
        line += 1;
        let content = whole.trim_end_matches(['\n', '\r']);
        let part = match &mut block {
            Some(block) => block.part(content),
            None if starts(content) => Part::Begins,
            None => Part::Inside,
        };
        if !matches!(part, Part::Inside)
            && let Some(block) = block.take()
        {
            reader.read(text.get(block.start..at).unwrap_or_default(), block.first_line);
        }
        if matches!(part, Part::Begins) && starts(content) {
            block = Some(Block { start: at, first_line: line, keys: key(content).into_iter().collect() });
        }
        at += whole.len();
    }
    if let Some(block) = block {
        reader.read(text.get(block.start..).unwrap_or_default(), block.first_line);
    }
}

fn starts(content: &str) -> bool {
    content.starts_with("apiVersion: ") || content.starts_with("kind: ")
}

/// The key at the start of a line.
fn key(content: &str) -> Option<&str> {
    let (key, rest) = content.split_once(':')?;
    (KEYS.contains(&key) && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some(key)
}

impl<'a> Block<'a> {
    fn part(&mut self, content: &'a str) -> Part {
        let inner = content.is_empty() || content.starts_with([' ', '\t', '#']) || content == "-" || content.starts_with("- ");
        match key(content) {
            _ if inner => Part::Inside,
            Some(key) if self.keys.contains(&key) => Part::Begins,
            Some(key) => {
                self.keys.push(key);
                Part::Inside
            }
            None => Part::Ends,
        }
    }
}

struct Reader<'f> {
    found: &'f mut Found,
    strangers: u32,
    attempts: u32,
}

impl Reader<'_> {
    fn read(&mut self, block: &str, first_line: u64) {
        let kinds = [
            "kind: Pod",
            "kind: List",
            "kind: Event",
            "kind: Job",
            "kind: Workflow",
            "kind: Execution",
            "kind: Task",
            "kind: \"",
            "kind: '",
        ];
        // The jobs of Kubeflow and Ray: `kind: PyTorchJob`.
        let job = || block.lines().any(|line| line.starts_with("kind: ") && line.trim_end().ends_with("Job"));
        if self.strangers == 0 || !(kinds.iter().any(|kind| block.contains(kind)) || job()) {
            return;
        }
        let block = block.trim_end();
        let lines: Vec<&str> = block.split_inclusive('\n').collect();
        let last_line = (first_line + lines.len() as u64).saturating_sub(1);
        let error = match parse(block) {
            Ok(value) => {
                if !self.found.keep(value, first_line, last_line) {
                    self.strangers -= 1;
                }
                return;
            }
            Err(error) => error,
        };
        self.strangers -= 1;
        let bad = error.line.clamp(1, lines.len());
        let bad_line = (first_line + bad as u64).saturating_sub(1);
        // The lines before the error, and then fewer and fewer of them.
        let cuts = [bad - 1, lines.len() - 1, bad.saturating_sub(2), lines.len().saturating_sub(3)];
        for cut in cuts.into_iter().filter(|cut| *cut > 1 && !error.hostile) {
            if self.attempts == 0 {
                break;
            }
            self.attempts -= 1;
            let shorter = lines.get(..cut).unwrap_or_default().concat();
            if let Ok(value) = parse(&shorter) {
                let last = (first_line + cut as u64).saturating_sub(1);
                if self.found.keep(value, first_line, last) {
                    let how = if bad >= lines.len() { "ends in the middle" } else { "breaks off" };
                    self.found.note(format!("looks like YAML, but {how} at line {bad_line}: only what is whole was read"));
                }
                return;
            }
        }
        if lines.len() > 2 {
            self.found.note(format!("looks like YAML, but cannot be read at line {bad_line}: read as text"));
        }
    }
}

/// Where a parse failed, and whether for want of patience with aliases or depth rather than for a broken text.
pub(super) struct Broken {
    line: usize,
    hostile: bool,
}

/// Parses one document. Lists of many pods must pass, but aliases, which kubectl never writes, may not blow it up.
pub(super) fn parse(text: &str) -> Result<Value, Broken> {
    use serde_saphyr::{DuplicateKeyPolicy, Error};
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 8_000_000,
            max_nodes: 4_000_000,
            max_aliases: 1_000,
            max_recorded_anchor_events: 20_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000,
        },
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| Broken {
        line: error.location().and_then(|location| usize::try_from(location.line()).ok()).unwrap_or(1),
        hostile: matches!(
            error.without_snippet(),
            Error::Budget { .. }
                | Error::AliasError { .. }
                | Error::AliasReplayLimitExceeded { .. }
                | Error::AliasExpansionLimitExceeded { .. }
                | Error::AliasReplayStackDepthExceeded { .. }
        ),
    })
}
