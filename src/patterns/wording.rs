//! A wording, compiled: the literals that every line of it holds, and its regex, which is tried only on a line that holds them.
//!
//! Nearly all wordings are anchored and lines are short, so that an automaton, which tells only whether a line matches, costs more
//! to build than it saves. A wording that often fails gets one.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memchr::memmem::Finder;
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

use super::ascii::ascii;

/// Shorter literals stand in most lines.
const LEAST: usize = 2;

/// How many literals are looked for before the regex is tried.
const MOST: usize = 3;

/// After so many lines that held its literals and did not match, a wording gets an automaton.
const PATIENCE: u32 = 32;

/// One wording, compiled when a line first needs it.
pub(super) struct Wording {
    source: &'static str,
    needs: OnceLock<Needs>,
    regex: OnceLock<Regex>,
    misses: AtomicU32,
    automaton: OnceLock<Regex>,
}

/// What every line of a wording holds.
struct Needs {
    /// What it begins with.
    start: String,
    /// What it holds somewhere.
    parts: Vec<Finder<'static>>,
}

impl Wording {
    pub(super) fn new(source: &'static str) -> Self {
        let (needs, regex, automaton) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { source, needs, regex, misses: AtomicU32::new(0), automaton }
    }

    /// The groups of a match.
    pub(super) fn captures(&self, text: &str) -> Option<Captures> {
        if !self.needs.get_or_init(|| Needs::of(self.source)).hold(text) {
            return None;
        }
        if self.misses.load(Ordering::Relaxed) >= PATIENCE {
            let config = Config::new().dfa(false).onepass(false).which_captures(WhichCaptures::None);
            let automaton = self.automaton.get_or_init(|| compile(self.source, config).expect("it was compiled before"));
            if !automaton.is_match(text) {
                return None;
            }
        }
        let config = Config::new().hybrid(false).dfa(false);
        let regex = self.regex.get_or_init(|| compile(self.source, config).expect("a test compiles every wording"));
        let mut captures = regex.create_captures();
        regex.captures(text, &mut captures);
        if !captures.is_match() {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(captures)
    }
}

/// A wording in ASCII is compiled for bytes, of which a class of many letters takes one state instead of twenty. A group that
/// would end inside of a letter is then none ([`super::Caps::get`]).
fn compile(source: &str, config: Config) -> Result<Regex, Box<BuildError>> {
    let config = config.utf8_empty(!source.is_ascii());
    let letters = syntax::Config::new().unicode(!source.is_ascii()).utf8(!source.is_ascii());
    Regex::builder().configure(config).syntax(letters).build(&ascii(source)).map_err(Box::new)
}

impl Needs {
    fn of(source: &str) -> Self {
        let mut parts = literals(source);
        let start = match parts.first() {
            Some((0, start)) if source.starts_with('^') => start.clone(),
            _ => String::new(),
        };
        parts.retain(|(_, part)| part.len() >= LEAST && *part != start);
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.len()));
        parts.truncate(MOST);
        Self { start, parts: parts.iter().map(|(_, part)| Finder::new(part).into_owned()).collect() }
    }

    fn hold(&self, text: &str) -> bool {
        text.starts_with(&self.start) && self.parts.iter().all(|part| part.find(text.as_bytes()).is_some())
    }
}

/// The literals that stand outside of all groups and classes of a regex and are not optional, each with the count of what stands
/// before it; none of a regex with alternatives outside of groups.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut literal, mut items, mut begun) = (String::new(), 0, 0);
    let mut rest = source.strip_prefix('^').unwrap_or(source);
    while let Some(c) = rest.chars().next() {
        let (size, plain) = match c {
            '|' => return Vec::new(),
            '(' => (group(rest), None),
            '[' => (class(rest), None),
            '.' | '$' => (1, None),
            '\\' => match rest[1..].chars().next() {
                Some(escaped) if !escaped.is_ascii_alphanumeric() => (1 + escaped.len_utf8(), Some(escaped)),
                // A code point or a property has a tail in braces, a boundary has none; either way it is no literal.
                Some(_) => (2, None),
                None => (1, None),
            },
            c => (c.len_utf8(), Some(c)),
        };
        rest = &rest[size..];
        let (least, quantifier) = times(rest);
        if plain.is_some() && literal.is_empty() {
            begun = items;
        }
        literal.extend(plain.into_iter().flat_map(|c| std::iter::repeat_n(c, least)));
        if (plain.is_none() || quantifier > 0) && !literal.is_empty() {
            found.push((begun, std::mem::take(&mut literal)));
        }
        items += 1;
        rest = &rest[quantifier..];
    }
    if !literal.is_empty() {
        found.push((begun, literal));
    }
    found
}

/// How often at least what stands before is repeated, and the size of what says so.
fn times(rest: &str) -> (usize, usize) {
    let (least, size) = match rest.chars().next() {
        Some('?' | '*') => (0, 1),
        Some('+') => (1, 1),
        Some('{') => {
            let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
            (digits.parse().unwrap_or(0), rest.find('}').map_or(rest.len(), |end| end + 1))
        }
        _ => return (1, 0),
    };
    (least, size + usize::from(rest[size..].starts_with('?')))
}

/// The size of a group with all that is in it.
fn group(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => class(&text[at..]),
            c => c.len_utf8(),
        };
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The size of a class in brackets.
fn class(text: &str) -> usize {
    let mut at = 1;
    // A closing bracket that comes first is meant as it is.
    at += text[at..].len() - text[at..].trim_start_matches('^').len();
    at += usize::from(text[at..].starts_with(']'));
    while let Some(c) = text[at..].chars().next() {
        at += match c {
            '\\' => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            '[' => class(&text[at..]),
            ']' => return at + 1,
            c => c.len_utf8(),
        };
    }
    at
}

#[cfg(test)]
mod tests {
    use regex_automata::meta::Config;

    use super::{Needs, PATIENCE, Wording, compile, literals};

    #[test]
    fn a_wording_reads_the_same_before_and_after_it_lost_patience() {
        for pattern in crate::patterns::all() {
            let wording = Wording::new(pattern.regex);
            let read = || -> Vec<bool> {
                crate::patterns::all().flat_map(|other| other.samples).map(|text| wording.captures(text).is_some()).collect()
            };
            let before = read();
            wording.misses.store(PATIENCE, super::Ordering::Relaxed);
            assert_eq!(before, read(), "{}", pattern.id);
        }
    }

    #[test]
    fn literals_outside_of_groups_are_needed() {
        for (regex, expected) in [
            (r"^Killed process (?<pid>\d+) \((?<comm>.*)\)", &[(0, "Killed process "), (16, " ("), (19, ")")][..]),
            (r"^a?bc+d{2}e {3,}?f", &[(1, "bc"), (3, "dd"), (4, "e   "), (6, "f")]),
            (r"^(?:x|y)z [^\]\[(]w\.\)", &[(1, "z "), (4, "w.)")]),
            (r"a|b", &[]),
            (r"^[]x]a\bc$", &[(1, "a"), (3, "c")]),
        ] {
            let found = literals(regex);
            assert_eq!(found.iter().map(|(at, part)| (*at, part.as_str())).collect::<Vec<_>>(), expected, "{regex}");
        }
    }

    #[test]
    fn every_sample_holds_what_its_wording_needs() {
        for pattern in crate::patterns::all() {
            let needs = Needs::of(pattern.regex);
            let regex = compile(pattern.regex, Config::new()).expect(pattern.id);
            for text in crate::patterns::all().flat_map(|other| other.samples) {
                assert!(needs.hold(text) || !regex.is_match(*text), "{}: {text}", pattern.id);
            }
        }
    }
}
