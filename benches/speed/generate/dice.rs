//! Dice that fall alike on every machine (SplitMix64, Steele, Lea and Flood 2014), and a clock that moves with them.

use jiff::Timestamp;

/// A source of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice that start at a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The bias is below end / 2^64.
        self.bits() % end
    }

    /// A number from `start` up to, and without, `end`.
    pub(crate) fn between(&mut self, start: u64, end: u64) -> u64 {
        start + self.below(end - start)
    }

    /// One of a list.
    pub(crate) fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A clock that is moved on by hand; the text of its second is kept.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    micros: u64,
    second: u64,
    shown: String,
}

impl Clock {
    /// A clock that starts on 30 November 2026 at 06:00 UTC.
    pub(crate) fn new() -> Self {
        Self { micros: 1_796_018_400_000_000, second: 0, shown: String::new() }
    }

    /// Moves on by microseconds.
    pub(crate) fn pass(&mut self, micros: u64) {
        self.micros += micros;
    }

    /// Microseconds since the last full second.
    pub(crate) fn micros(&self) -> u64 {
        self.micros % 1_000_000
    }

    /// Date and time to the second, with `between` between them.
    pub(crate) fn shown(&mut self, between: char) -> &str {
        let second = self.micros / 1_000_000;
        if second != self.second {
            let stamp = Timestamp::from_second(second as i64).expect("a second of this century");
            self.shown = stamp.strftime(&format!("%Y-%m-%d{between}%H:%M:%S")).to_string();
            self.second = second;
        }
        &self.shown
    }
}
