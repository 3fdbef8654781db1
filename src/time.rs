//! Clocks: a wall clock, or seconds since boot. The two are never compared with each other.

use jiff::Timestamp;

/// A moment by one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stamp {
    /// A wall clock.
    Wall(Wall),
    /// Time since the machine booted, in microseconds.
    Boot(u64),
}

/// A moment by a wall clock, with what the text left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wall {
    /// The moment; taken as UTC where the zone is not known.
    pub at: Timestamp,
    /// Whether the text told the zone.
    pub zoned: bool,
    /// Whether the text told the year; without it, `at` lies in 1972, a leap year.
    pub dated: bool,
}
