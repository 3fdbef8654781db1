//! The gate: which patterns are worth trying on a line, and which lines of a large input are worth reading at all.
//!
//! Nearly all lines of a large log say nothing. [`speaking`] passes over them without taking their envelopes off. What it passes
//! over gives no claim that a stem of six bytes or more finds, but for the one of rows below a heading. Shorter stems are seen
//! only in lines that are read for another reason.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;

use super::index::Index;
use super::wording::Wording;
use super::{Caps, Pattern};
use crate::fact::{Claim, Witness};
use crate::line::Line;

/// The stem of rows that stand below a heading; the reading of lines goes on below it (`line::assemble`). Progress bars and
/// tables are full of it, so it is not in the index.
pub(super) const BELOW: &str = "         ";

/// How journald writes a message that is not UTF-8 into JSON: as a list of numbers, in which no stem can be seen. The beginnings
/// of such lists, as journalctl writes them and as tools write them anew.
const NUMBERS: [&str; 2] = ["\"MESSAGE\":[", "\"MESSAGE\": ["];

/// Finds the patterns whose stems stand in a line.
pub(super) struct Gate {
    index: Index,
    /// Those with a stem too short for the index.
    short: Vec<(usize, memmem::Finder<'static>)>,
    pub(super) patterns: Vec<(&'static Pattern, Wording)>,
}

pub(super) static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let patterns: Vec<_> = super::all().map(|pattern| (pattern, Wording::new(pattern.regex))).collect();
    let stems = || patterns.iter().enumerate().flat_map(|(i, (p, _))| p.stems.iter().map(move |stem| (i, *stem)));
    let unseen = |stem: &str| stem == BELOW || stem.len() < 4;
    let short = stems().filter(|(_, stem)| unseen(stem)).map(|(i, stem)| (i, memmem::Finder::new(stem))).collect();
    let numbers = NUMBERS.iter().map(|list| (patterns.len(), *list));
    let index = Index::new(stems().filter(|(_, stem)| !unseen(stem)).chain(numbers));
    Gate { index, short, patterns }
});

impl Gate {
    /// The patterns worth trying on a text, in table order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let mut found = self.index.owners(text.as_bytes());
        found.extend(self.short.iter().filter(|(_, stem)| stem.find(text.as_bytes()).is_some()).map(|(i, _)| *i));
        found.retain(|i| *i < self.patterns.len());
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn claims(&self, index: usize, line: &Line<'_>) -> Vec<Claim> {
        let (pattern, wording) = &self.patterns[index];
        // A line that its envelope gives to another program is not the kernel's, whatever it quotes.
        if pattern.witness == Witness::Kernel && line.envelope.kernel == Some(false) {
            return Vec::new();
        }
        wording.captures(&line.text).map_or_else(Vec::new, |captures| (pattern.read)(&Caps { captures, line }))
    }
}

/// The lines of a buffer that may speak, each from its first byte to its mark (a line feed or a carriage return); the ends of
/// the buffer count as marks.
///
/// What is passed over holds no stem of six bytes or more, with its colours or without.
pub fn speaking(bytes: &[u8]) -> Vec<Range<usize>> {
    GATE.index.lines(bytes)
}

#[cfg(test)]
mod tests {
    use super::speaking;

    #[test]
    fn only_lines_with_a_stem_are_found() {
        let text = b"epoch 1 failed to improve\nKilled\r\nexit stage left\nBus error\n";
        let found: Vec<_> = speaking(text).into_iter().map(|line| &text[line]).collect();
        assert_eq!(found, [&b"Killed"[..], b"Bus error"]);
    }
}
