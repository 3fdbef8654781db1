//! The index of the stems: every place where one of them stands, in one pass over a text, however many there are.
//!
//! Of the three fours in any six bytes, one begins on a grid of every third byte. So six bytes of each stem are chosen, their
//! three fours go into a set, and of a large input the four bytes at every third place are looked up in that set. No look waits for the one
//! before, so that a gigabyte takes a quarter of a second; vector instructions, which take 64 literals a pass, need more for all
//! of them. What the set lets through is compared with the stems themselves.

use std::ops::Range;

use crate::line::clean;

/// How many bytes are looked up at a time.
const GRAM: usize = 4;

/// The distance of the places that are looked at in a large input.
const STEP: usize = 3;

/// How many bytes of a stem are in the index: a gram at each place of the grid.
const WINDOW: usize = GRAM + STEP - 1;

/// How many places are looked at before anything is decided.
const BLOCK: usize = 8;

/// The set of grams has 2^18 bits, which stay in the processor's nearest cache; some three thousand are set.
const BITS: u32 = 18;
const WORDS: usize = 1 << (BITS - 6);

/// Lines as healthy jobs, machines and builds print them. Of each stem, those six bytes are chosen that are rare in them.
const ORDINARY: &str = include_str!("ordinary.txt");

/// How JSON, rsyslog and Python write the beginnings of colours.
#[rustfmt::skip]
const COLOURS: [&str; 30] = [
    "u001b[", "u001B[", "#033[0", "#033[1", "#033[3", "#033[4", "#033[9", "#033[K", "#033[m", "\\x1b[0", "\\x1b[1",
    "\\x1b[3", "\\x1b[4", "\\x1b[9", "\\x1b[K", "\\x1b[m", "\\x1B[0", "\\x1B[1", "\\x1B[3", "\\x1B[4", "\\x1B[9", "\\x1B[K",
    "\\x1B[m", "\\033[0", "\\033[1", "\\033[3", "\\033[4", "\\033[9", "\\033[K", "\\033[m",
];

/// Whom these belong to.
const COLOUR: usize = usize::MAX;

/// A literal that is searched for.
struct Stem {
    text: &'static [u8],
    owner: usize,
    /// Where its six bytes in the index begin; nothing for a stem that is shorter.
    window: Option<usize>,
    /// The part around these that no escaping of JSON changes.
    plain: Range<usize>,
}

/// A gram of a stem.
#[derive(Clone, Copy)]
struct Entry {
    gram: u32,
    stem: u16,
    /// Where in the stem it begins.
    at: u16,
    /// The six bytes it is of, and where in them it begins; many stems share a gram, and few their six bytes.
    six: Option<([u8; WINDOW], usize)>,
}

impl Entry {
    /// Whether the six bytes stand around a gram.
    fn stands(&self, bytes: &[u8], at: usize) -> bool {
        let around = |(six, back): &([u8; WINDOW], usize)| {
            at.checked_sub(*back).and_then(|start| bytes.get(start..)?.first_chunk()) == Some(six)
        };
        self.six.as_ref().is_none_or(around)
    }
}

/// Finds stems.
pub(super) struct Index {
    set: Box<[u64; WORDS]>,
    /// Where the entries of each word of the set begin.
    starts: Vec<u16>,
    entries: Vec<Entry>,
    stems: Vec<Stem>,
}

/// Four bytes as a number.
fn gram(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk::<GRAM>().map(|four| u32::from_le_bytes(*four))
}

/// The place of a gram in the set: a word, and a bit of it.
fn place(gram: u32) -> (usize, u32) {
    let hash = gram.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS);
    ((hash >> 6) as usize, hash & 63)
}

impl Index {
    /// An index of stems, each with the number of its owner.
    pub(super) fn new(stems: impl Iterator<Item = (usize, &'static str)>) -> Self {
        let common = Common::of(ORDINARY.as_bytes());
        let stems = stems.chain(COLOURS.map(|colour| (COLOUR, colour)));
        let stems: Vec<Stem> = stems.map(|(owner, text)| Stem::new(owner, text.as_bytes(), &common)).collect();
        let loose: Vec<Entry> = stems.iter().zip(0..).flat_map(|(stem, number)| stem.entries(number)).collect();
        let mut set = Box::new([0; WORDS]);
        let mut starts = vec![0_u16; WORDS + 1];
        for entry in &loose {
            let (word, bit) = place(entry.gram);
            set[word] |= 1 << bit;
            starts[word + 1] += 1;
        }
        for word in 0..WORDS {
            starts[word + 1] += starts[word];
        }
        // Each goes behind those of its word that have their place.
        let (mut entries, mut next) = (loose.clone(), starts.clone());
        for entry in loose {
            let slot = &mut next[place(entry.gram).0];
            entries[usize::from(*slot)] = entry;
            *slot += 1;
        }
        Self { set, starts, entries, stems }
    }

    /// Whether a gram may be one of a stem.
    fn may(&self, gram: u32) -> bool {
        let (word, bit) = place(gram);
        self.set[word] >> bit & 1 != 0
    }

    /// The places on a grid at which a gram of a stem may stand are visited in order; the visitor may send the search on.
    fn visit<const STEP: usize>(&self, bytes: &[u8], visitor: &mut impl FnMut(usize) -> Option<usize>) {
        let mut at = 0;
        'blocks: while let Some(block) = bytes.get(at..at + (BLOCK - 1) * STEP + GRAM) {
            let mut hits = 0_u32;
            for n in 0..BLOCK {
                let four = gram(&block[n * STEP..]).unwrap_or_default();
                hits |= u32::from(self.may(four)) << n;
            }
            while hits != 0 {
                let hit = at + hits.trailing_zeros() as usize * STEP;
                if let Some(next) = visitor(hit) {
                    at = next;
                    continue 'blocks;
                }
                hits &= hits - 1;
            }
            at += BLOCK * STEP;
        }
        while let Some(four) = bytes.get(at..).and_then(gram) {
            let next = if self.may(four) { visitor(at) } else { None };
            at = next.unwrap_or(at + STEP);
        }
    }

    /// The stems whose six bytes stand around a place, or that are shorter and have a gram there, each with the place where it
    /// would begin.
    fn at(&self, bytes: &[u8], at: usize) -> impl Iterator<Item = (&Stem, usize)> {
        let four = bytes.get(at..).and_then(gram).unwrap_or_default();
        let (word, _) = place(four);
        let range = usize::from(self.starts[word])..usize::from(self.starts[word + 1]);
        let same = self.entries[range].iter().filter(move |entry| entry.gram == four && entry.stands(bytes, at));
        same.filter_map(move |entry| Some((&self.stems[usize::from(entry.stem)], at.checked_sub(usize::from(entry.at))?)))
    }

    /// The owners of all stems in a text of one line; an owner may come more than once.
    pub(super) fn owners(&self, text: &[u8]) -> Vec<usize> {
        let mut owners = Vec::new();
        self.visit::<1>(text, &mut |at| {
            // At every place there is one of the three grams of a stem, of which the first is enough.
            let begins = self.at(text, at).filter(|(stem, start)| at - start == stem.window.unwrap_or(0));
            owners.extend(begins.filter(|(stem, start)| stem.stands(text, *start)).map(|(stem, _)| stem.owner));
            None
        });
        owners
    }

    /// The lines of a large text that hold a stem of six bytes or more, each from its first byte to its mark (a line feed or a
    /// carriage return); the ends of the text count as marks.
    ///
    /// A line whose letters an envelope may have changed is among them if it holds the part of a stem that the escapes of JSON
    /// and HTML leave alone. One with colours is looked at without them, as they may stand inside of words.
    pub(super) fn lines(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut line = Bounds::default();
        self.visit::<STEP>(bytes, &mut |at| {
            let holds = self.at(bytes, at).filter(|(stem, _)| stem.window.is_some()).any(|(stem, start)| {
                if stem.owner != COLOUR && stem.stands(bytes, start) {
                    return true;
                }
                line.enclose(bytes, at);
                if stem.owner == COLOUR { line.speaks(self, bytes) } else { line.escaped && stem.plain_stands(bytes, start) }
            });
            holds.then(|| {
                line.enclose(bytes, at);
                lines.push(line.range.clone());
                line.range.end
            })
        });
        let found = lines.len();
        line = Bounds::default();
        // The escape character itself is no six bytes, nor is how a terminal shows it.
        for at in memchr::memchr2_iter(0x1b, b'^', bytes) {
            if bytes[at] == b'^' && !bytes[at..].starts_with(b"^[[") {
                continue;
            }
            if line.enclose(bytes, at) && line.speaks(self, bytes) {
                lines.push(line.range.clone());
            }
        }
        if lines.len() > found {
            lines.sort_unstable_by_key(|line| line.start);
            lines.dedup();
        }
        lines
    }

    /// Whether a text holds a stem of six bytes or more, or what escapes leave of one.
    fn holds(&self, text: &[u8]) -> bool {
        let mut holds = false;
        self.visit::<STEP>(text, &mut |at| {
            let mut stems = self.at(text, at).filter(|(stem, _)| stem.window.is_some() && stem.owner != COLOUR);
            holds |= stems.any(|(stem, start)| stem.plain_stands(text, start));
            holds.then_some(text.len())
        });
        holds
    }
}

impl Stem {
    fn new(owner: usize, text: &'static [u8], common: &Common) -> Self {
        let escaped = |byte: &u8| matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&') || !(b' '..=b'~').contains(byte);
        // Six bytes that an escape may change are taken only where there are no others.
        let cost = |window: &[u8]| (window.iter().any(escaped), window.windows(GRAM).map(|four| common.count(four)).sum::<u32>());
        let window = text.windows(WINDOW).map(cost).zip(0..).min().map(|(_, at)| at);
        let (from, to) = window.map_or((0, 0), |at| (at, at + WINDOW));
        let start = text[..from].iter().rposition(escaped).map_or(0, |at| at + 1);
        let end = text[to..].iter().position(escaped).map_or(text.len(), |at| to + at);
        Self { text, owner, window, plain: start..end }
    }

    /// Its grams. One that is too short for the grid has only its first.
    fn entries(&self, number: u16) -> impl Iterator<Item = Entry> {
        let grams = if self.window.is_some() { STEP } else { 1 };
        let first = self.window.unwrap_or(0);
        (first..first + grams).filter_map(move |at| {
            let six = self.window.and_then(|window| Some((*self.text[window..].first_chunk()?, at - window)));
            Some(Entry { gram: gram(&self.text[at..])?, stem: number, at: u16::try_from(at).ok()?, six })
        })
    }

    fn part_stands(&self, part: Range<usize>, bytes: &[u8], start: usize) -> bool {
        bytes.get(start + part.start..start + part.end) == Some(&self.text[part])
    }

    fn stands(&self, bytes: &[u8], start: usize) -> bool {
        self.part_stands(0..self.text.len(), bytes, start)
    }

    fn plain_stands(&self, bytes: &[u8], start: usize) -> bool {
        self.part_stands(self.plain.clone(), bytes, start)
    }
}

/// A line of a text, and what may have changed its letters.
#[derive(Default)]
struct Bounds {
    range: Range<usize>,
    escaped: bool,
    /// Whether it holds a stem once its colours are off, if that was asked.
    speaks: Option<bool>,
}

impl Bounds {
    /// Goes to the line around a place, and says whether that is another one. A long line with many hits is measured once.
    fn enclose(&mut self, bytes: &[u8], at: usize) -> bool {
        if self.range.contains(&at) {
            return false;
        }
        let (before, behind) = bytes.split_at(at);
        let start = memchr::memrchr2(b'\n', b'\r', before).map_or(0, |mark| mark + 1);
        let end = memchr::memchr2(b'\n', b'\r', behind).map_or(bytes.len(), |length| at + length);
        *self = Self { range: start..end, escaped: memchr::memchr2(b'\\', b'&', &bytes[start..end]).is_some(), speaks: None };
        true
    }

    fn speaks(&mut self, index: &Index, bytes: &[u8]) -> bool {
        let range = self.range.clone();
        *self.speaks.get_or_insert_with(|| index.holds(clean(&bytes[range]).as_bytes()))
    }
}

/// How often grams stand in ordinary lines. Some share a place, which makes one look more common than it is.
struct Common(Vec<u16>);

impl Common {
    const BITS: u32 = 14;

    fn slot(four: &[u8]) -> usize {
        gram(four).map_or(0, |gram| gram.wrapping_mul(0x9E37_79B1) >> (u32::BITS - Self::BITS)) as usize
    }

    fn of(text: &[u8]) -> Self {
        let mut counts = vec![0_u16; 1 << Self::BITS];
        for four in text.windows(GRAM) {
            counts[Self::slot(four)] += 1;
        }
        Self(counts)
    }

    fn count(&self, four: &[u8]) -> u32 {
        u32::from(self.0[Self::slot(four)])
    }
}
#[cfg(test)]
mod tests {
    use super::{COLOURS, Index, STEP, WINDOW};

    fn lines<'a>(stems: &[&'static str], text: &'a str) -> Vec<&'a str> {
        Index::new(stems.iter().copied().enumerate()).lines(text.as_bytes()).into_iter().map(|line| &text[line]).collect()
    }

    #[test]
    fn a_stem_is_found_wherever_the_grid_falls() {
        for before in 0..40 {
            for after in 0..40 {
                let line = format!("{}Killed{}", "-".repeat(before), "+".repeat(after));
                assert_eq!(lines(&["Killed"], &line), [&line]);
                assert_eq!(Index::new([(7, "Killed"), (8, "tun")].into_iter()).owners(line.as_bytes()), [7]);
            }
        }
    }

    #[test]
    fn what_is_shorter_than_the_grid_wants_is_found_in_a_line_only() {
        let index = Index::new([(0, "Tu\u{e9}"), (1, "abort")].into_iter());
        assert_eq!(index.owners("abort: Tu\u{e9}".as_bytes()), [1, 0]);
        for before in 0..STEP {
            assert!(index.lines(format!("{}abort Tu\u{e9}", "-".repeat(before)).as_bytes()).is_empty());
        }
    }

    #[test]
    fn escapes_and_colours_do_not_hide_a_stem() {
        let stems = &["exited: \"code\" of worker", "Bus error (core dumped)"];
        let text = [
            r#"{"log":"exited: \"code\" of worker 3"}"#,
            "\u{1b}[31mBus error \u{1b}[0m(core dumped)",
            r#"{"log":"\u001b[31mBus error \u001b[0m(core dumped)"}"#,
            r#"{"log":"B\u001b[31mu\u001b[0ms error (core dumped)"}"#,
            "Bu\u{1b}[01;31m\u{1b}[Ks erro\u{1b}[m\u{1b}[Kr (core dumped)",
            "Bus ^[[31merror^[[0m (core dumped)",
            "trainer: Bus #033[31merror#033[0m (core dumped)",
            "exited: &quot;code&quot; of worker 3",
            "\u{1b}[31mBus error\u{1b}[0m: none",
            "exited: code of worker",
            r"\\ Bus error: none",
        ];
        assert_eq!(lines(stems, &text.join("\r\n")), text[..8]);
    }

    #[test]
    fn six_rare_bytes_are_chosen() {
        let index = Index::new([(0, "Epoch 1/90, batch kumquat lost"), (1, r#"a "quoted" word"#)].into_iter());
        let chosen = |n: usize| {
            let stem = &index.stems[n];
            std::str::from_utf8(&stem.text[stem.window.unwrap_or(0)..][..WINDOW]).unwrap_or_default()
        };
        assert!("batch kumquat lost".contains(chosen(0)), "{}", chosen(0));
        assert!(!chosen(1).contains('"') && index.entries.len() == (2 + COLOURS.len()) * STEP, "{}", chosen(1));
    }

    /// The search is quick as long as the set is sparse and healthy logs hold little of it.
    #[test]
    fn the_set_stays_small_and_healthy_logs_hold_little_of_it() {
        let stems = || crate::patterns::all().flat_map(|pattern| pattern.stems).filter(|stem| stem.len() >= WINDOW);
        let index = Index::new(stems().copied().filter(|stem| !stem.trim().is_empty()).enumerate());
        let set: u32 = index.set.iter().map(|word| word.count_ones()).sum();
        assert!(set < 5000, "{set} of {} grams", super::WORDS * 64);
        let (mut looks, mut hits) = (0, 0);
        for case in std::fs::read_dir("fixtures/none").expect("the fixtures are there").flatten() {
            let log = std::fs::read(case.path().join("train.log")).unwrap_or_default();
            looks += log.len() / STEP;
            index.visit::<STEP>(&log, &mut |_| {
                hits += 1;
                None
            });
        }
        assert!(looks > 30_000 && hits < looks / 16, "{hits} of {looks} looks");
    }
}
