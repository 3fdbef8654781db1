//! How large /dev/shm must be, from the job's own numbers.

use crate::units::Bytes;

/// One term of the formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The term's name, as `workers`.
    pub name: &'static str,
    /// Its value, if known or assumed.
    pub value: Option<u64>,
    /// Where the value came from: `train.log:3`, or `assumed: PyTorch's default`.
    pub from: String,
}

/// The formula with what is known of its terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// The formula in words.
    pub formula: &'static str,
    /// All terms.
    pub terms: Vec<Term>,
    /// The names of the terms that are lacking.
    pub unknown: Vec<&'static str>,
    /// What is needed to the byte, if all terms are known.
    pub bytes: Option<Bytes>,
    /// The need with head-room, rounded up.
    pub recommended: Option<Bytes>,
    /// The size that /dev/shm had, if known.
    pub had: Option<Bytes>,
    /// What is worth saying beside the numbers, each a sentence.
    pub remarks: Vec<String>,
}
