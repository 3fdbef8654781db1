//! The report: the only thing that a renderer sees.

use crate::fact::Who;
use crate::note::Note;
use crate::remedy::Advice;
use crate::remedy::sizing::Sizing;
use crate::seen::Input;
use crate::time::Stamp;
use crate::units::{Bytes, Signal};
use crate::verdict::Verdict;

/// What filled the memory when a process was killed for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryPicture {
    /// The limit, if one was hit.
    pub limit: Option<Bytes>,
    /// Anonymous memory.
    pub anon: Option<Bytes>,
    /// Shared memory and tmpfs.
    pub shmem: Option<Bytes>,
    /// Page cache without shared memory.
    pub cache: Option<Bytes>,
    /// The largest processes: name, resident bytes, whether killed.
    pub tasks: Vec<(String, Bytes, bool)>,
}

/// One death, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The judgement.
    pub verdict: Verdict,
    /// Who died.
    pub who: Who,
    /// The signal, if one is known.
    pub signal: Option<Signal>,
    /// The exit code that was reported.
    pub exit_code: Option<i64>,
    /// When.
    pub when: Option<Stamp>,
    /// How many processes died the same way.
    pub count: u64,
    /// The index of the death that this one follows from, if it is a consequence.
    pub follows: Option<usize>,
    /// What filled the memory.
    pub memory: Option<MemoryPicture>,
    /// What to do.
    pub remedy: Vec<Advice>,
    /// The sizing formula, where shared memory is in question.
    pub sizing: Option<Sizing>,
}

/// The whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// All deaths; the root first, then by time.
    pub deaths: Vec<Entry>,
    /// The judgement on the whole: the root death's, or `clean`.
    pub verdict: Verdict,
    /// What could not be read.
    pub notes: Vec<Note>,
    /// What was read.
    pub inputs: Vec<Input>,
}
