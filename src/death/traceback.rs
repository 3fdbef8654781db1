//! Python tracebacks, put together from their lines: type, message, frames, chain, and whether a worker raised it.

use std::collections::HashMap;

use crate::fact::{Fact, Opening, What};

/// How many characters of a message are kept; the quoted line has it whole.
const MESSAGE: usize = 512;

/// How many lines may stand between the deepest frame and the exception, where no heading opened the traceback.
const APART: u64 = 8;

/// How many of the deepest frames are kept.
const FRAMES: usize = 64;

/// One Python exception.
#[derive(Clone, Debug, PartialEq)]
pub struct Traceback {
    /// The exception's type, with its module where printed.
    pub kind: String,
    /// The message on the last line.
    pub message: String,
    /// Frames as (file, function), the deepest last.
    pub frames: Vec<(String, String)>,
    /// The DataLoader worker that raised it, where PyTorch passed it on.
    pub worker: Option<u32>,
    /// `Exception ignored in:` stands above: the program went on.
    pub ignored: bool,
    /// Another exception of the same chain was raised before this one.
    pub chained: bool,
    /// A `Traceback` line stood above; without one the last line may be a quotation.
    pub opened: bool,
    /// The line that names the exception.
    pub raised: Fact,
    /// The first line of the traceback, in the same input.
    pub first_line: u64,
}

impl Traceback {
    /// Whether some frame is in this function.
    pub fn passes(&self, function: &str) -> bool {
        self.frames.iter().any(|(_, name)| name == function)
    }

    /// The type without its module.
    pub fn short_kind(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or(&self.kind)
    }
}

/// A traceback whose last line has not come yet.
#[derive(Default)]
struct Open {
    frames: Vec<(String, String)>,
    first_line: Option<u64>,
    opened: bool,
    ignored: bool,
    chained: bool,
    last_line: u64,
    /// A worker's exception was announced; what follows is its original traceback.
    worker: Option<u32>,
}

/// Groups the facts of one input, in reading order. Ranks that write into one log are kept apart by their prefix.
pub(super) fn group(facts: &[&Fact]) -> Vec<Traceback> {
    let mut done: Vec<Traceback> = Vec::new();
    let mut open: HashMap<Option<u32>, Open> = HashMap::new();
    for fact in facts {
        let line = fact.place.line.unwrap_or(0);
        let slot = open.entry(fact.who.rank).or_default();
        match &fact.what {
            What::Traceback(Opening::Ignored) => *slot = Open { ignored: true, first_line: Some(line), ..Open::default() },
            What::Traceback(Opening::Heading) => {
                *slot = Open { first_line: Some(line), chained: slot.chained, ..Open::default() }
            }
            What::Traceback(opening @ (Opening::Plain | Opening::Original)) => {
                // A second opening without a last line in between: the first was cut off, or two processes write at once.
                let first_line = slot.first_line.filter(|_| slot.frames.is_empty()).or(Some(line));
                *slot = Open {
                    first_line,
                    opened: true,
                    // A traceback that was cut off says nothing about the next.
                    ignored: slot.ignored && slot.frames.is_empty(),
                    chained: slot.chained && slot.frames.is_empty(),
                    worker: slot.worker.filter(|_| *opening == Opening::Original),
                    frames: Vec::new(),
                    last_line: line,
                };
            }
            What::Frame { file, function, .. } => {
                if slot.frames.len() == FRAMES {
                    slot.frames.remove(0);
                }
                slot.frames.push((file.clone(), function.clone().unwrap_or_default()));
                slot.first_line.get_or_insert(line);
                slot.last_line = line;
            }
            What::Chained => *slot = Open { chained: true, ..Open::default() },
            What::Raised { kind, message } => {
                let message = &message.chars().take(MESSAGE).collect::<String>();
                let mut part = std::mem::take(slot);
                if !part.opened && line.saturating_sub(part.last_line) > APART {
                    // The frames of a stack that was printed long ago.
                    part.frames.clear();
                }
                let passed_on = fact.who.worker;
                if part.worker.is_some() {
                    // The original exception of a worker: it replaces what the main process announced.
                    if let Some(last) = done.iter_mut().rev().find(|t| t.raised.who.rank == fact.who.rank) {
                        last.kind.clone_from(kind);
                        last.message.clone_from(message);
                        last.frames = part.frames;
                        last.raised = (*fact).clone();
                        continue;
                    }
                }
                slot.worker = passed_on;
                done.push(Traceback {
                    kind: kind.clone(),
                    message: message.clone(),
                    frames: part.frames,
                    worker: fact.who.worker,
                    ignored: part.ignored,
                    chained: part.chained,
                    opened: part.opened,
                    raised: (*fact).clone(),
                    first_line: part.first_line.unwrap_or(line),
                });
            }
            _ => {}
        }
    }
    done
}
