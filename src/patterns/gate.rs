//! The gate: which patterns are worth trying on a line, and which lines of a large input are worth reading at all.
//!
//! Nearly all lines of a large log say nothing. [`speaking`] passes over them without taking their envelopes off: a search by
//! vector instructions for the roots of the stems ([`super::roots`]) over whole buffers, then on the line of a hit a search
//! for the stems themselves. The two never disagree with [`super::read`]: each stem in ASCII has a root, but for the
//! one of rows below a heading; the others are searched for as they are; and a line whose envelope may have changed the letters
//! (escapes of JSON, colours) is let through on its root alone.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::packed::{Config, MatchKind as Packed, Searcher};
use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::ascii::ascii;
use super::roots::{BELOW, NUMBERS, ROOTS, SHORT};
use super::{Caps, Pattern};
use crate::fact::{Claim, Witness};
use crate::line::Line;

/// Finds the patterns whose stems stand in a line.
pub(super) struct Gate {
    search: AhoCorasick,
    /// For each stem, the pattern that needs it.
    owner: Vec<usize>,
    pub(super) patterns: Vec<(&'static Pattern, OnceLock<Regex>)>,
}

pub(super) static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let patterns: Vec<_> = super::all().map(|pattern| (pattern, OnceLock::new())).collect();
    let (stems, owner): (Vec<_>, Vec<_>) =
        patterns.iter().enumerate().flat_map(|(i, (p, _))| p.stems.iter().map(move |stem| (*stem, i))).unzip();
    let search = AhoCorasick::builder().match_kind(MatchKind::Standard).build(stems).expect("the stems are few and short");
    Gate { search, owner, patterns }
});

impl Gate {
    /// The patterns worth trying on a text, in table order.
    pub(super) fn candidates(&self, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = self.search.find_overlapping_iter(text).map(|m| self.owner[m.pattern().as_usize()]).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn claims(&self, index: usize, line: &Line<'_>) -> Vec<Claim> {
        let (pattern, regex) = &self.patterns[index];
        // A line that its envelope gives to another program is not the kernel's, whatever it quotes.
        if pattern.witness == Witness::Kernel && line.envelope.kernel == Some(false) {
            return Vec::new();
        }
        let regex = regex.get_or_init(|| Regex::new(&ascii(pattern.regex)).expect("a test compiles every pattern"));
        regex.captures(&line.text).map_or_else(Vec::new, |captures| (pattern.read)(&Caps { captures, line }))
    }

    /// Whether a line may hold a stem once its envelopes are off.
    fn speaks(&self, line: &[u8]) -> bool {
        memchr::memchr2(b'\\', 0x1b, line).is_some()
            || self.search.is_match(line)
            || NUMBERS.iter().any(|list| memchr::memmem::find(line, list.as_bytes()).is_some())
    }
}

/// Literals that are searched for in one pass over a buffer.
enum Pass {
    Vector(Searcher),
    /// The same without vector instructions, on machines that have none.
    Plain(AhoCorasick),
}

impl Pass {
    fn new<T: AsRef<[u8]>>(literals: impl IntoIterator<Item = T> + Clone) -> Self {
        let vector = Config::new().match_kind(Packed::LeftmostFirst).builder().extend(literals.clone()).build();
        vector.map_or_else(|| Self::Plain(AhoCorasick::new(literals).expect("the roots are few and short")), Self::Vector)
    }

    fn find(&self, bytes: &[u8], from: usize) -> Option<usize> {
        match self {
            Self::Vector(search) => search.find_in(bytes, (from..bytes.len()).into()).map(|found| found.start()),
            Self::Plain(search) => search.find(bytes.get(from..)?).map(|found| from + found.start()),
        }
    }
}

/// The passes over text in ASCII, and the one that text in other letters needs besides.
static PASSES: LazyLock<(Vec<Pass>, Pass)> = LazyLock::new(|| {
    let ascii = ROOTS.iter().chain([&SHORT]).map(|roots| Pass::new(roots.iter()));
    let stems =
        GATE.patterns.iter().flat_map(|(pattern, _)| pattern.stems).filter(|stem| root(stem).is_none() && **stem != BELOW);
    let mut wide: Vec<&str> = stems.copied().collect();
    wide.sort_unstable();
    wide.dedup();
    (ascii.collect(), Pass::new(wide))
});

/// The root of a stem; none has a stem whose letters are searched for as they are, where the text is not ASCII.
fn root(stem: &str) -> Option<&'static str> {
    ROOTS.iter().chain([&SHORT]).flat_map(|roots| roots.iter()).find(|root| stem.contains(**root)).copied()
}

/// The lines of a buffer that may speak, each from its first byte to its mark (a line feed or a carriage return); the ends of
/// the buffer count as marks.
///
/// What is passed over would give no claim.
pub fn speaking(bytes: &[u8]) -> Vec<Range<usize>> {
    let (ascii, wide) = &*PASSES;
    let wide = (!bytes.is_ascii()).then_some(wide);
    // Where each pass stands. The nearest hit is looked at first.
    let mut passes: Vec<_> = ascii.iter().chain(wide).map(|pass| (pass, pass.find(bytes, 0))).collect();
    let mut lines = Vec::new();
    while let Some(hit) = passes.iter().filter_map(|(_, at)| *at).min() {
        let (before, behind) = bytes.split_at(hit);
        let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |mark| mark + 1);
        let end = memchr::memchr2(b'\n', b'\r', behind).map_or(bytes.len(), |length| hit + length);
        if bytes.get(start..end).is_some_and(|line| GATE.speaks(line)) {
            lines.push(start..end);
        }
        for (pass, at) in &mut passes {
            if at.is_some_and(|at| at < end) {
                *at = pass.find(bytes, end);
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{BELOW, GATE, PASSES, Pass, ROOTS, root, speaking};

    #[test]
    fn every_stem_has_a_root_or_letters_of_its_own() {
        let stems = GATE.patterns.iter().flat_map(|(pattern, _)| pattern.stems);
        let bare: Vec<_> = stems.filter(|stem| root(stem).is_none() && stem.is_ascii() && **stem != BELOW).collect();
        assert!(bare.is_empty(), "without a root in src/patterns/roots.rs: {bare:?}");
    }

    #[test]
    fn every_root_is_needed() {
        let stems: Vec<_> = GATE.patterns.iter().flat_map(|(pattern, _)| pattern.stems).collect();
        let idle: Vec<_> =
            ROOTS.iter().flat_map(|roots| roots.iter()).filter(|root| !stems.iter().any(|stem| stem.contains(**root))).collect();
        assert!(idle.is_empty(), "no stem has these roots: {idle:?}");
    }

    #[test]
    fn the_passes_are_small_enough_for_vector_instructions() {
        for roots in ROOTS {
            assert!(roots.len() <= 64 && roots.iter().all(|root| root.len() >= 4), "{roots:?}");
        }
        let (ascii, wide) = &*PASSES;
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        let slow = ascii.iter().chain([wide]).filter(|pass| matches!(pass, Pass::Plain(_))).count();
        #[cfg(target_arch = "x86_64")]
        assert!(slow == 0 || !std::arch::is_x86_feature_detected!("ssse3"), "{slow} passes go without vector instructions");
        #[cfg(target_arch = "aarch64")]
        assert_eq!(slow, 0, "passes go without vector instructions");
    }

    #[test]
    fn only_lines_with_a_stem_are_found() {
        let text = b"epoch 1 failed to improve\nKilled\r\nexit stage left\nBus error\n";
        let found: Vec<_> = speaking(text).into_iter().map(|line| &text[line]).collect();
        assert_eq!(found, [&b"Killed"[..], b"Bus error"]);
    }
}
