//! Clocks: a wall clock, or seconds since boot. The two are never compared with each other.

mod read;
mod words;

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

pub use read::{Iso, Zone};
pub use read::{coarse, ctime, date, day_month, glog, iso, minute, prefix, slashed, system, unix};

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

/// The time between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The distance in seconds, never negative.
    pub seconds: f64,
    /// Whether both clocks are known to tell the same time: false where a zone is a guess.
    pub sure: bool,
}

impl Wall {
    /// The moment in another year, for a text that told none; 29 February has no place in most years.
    fn in_year(self, year: i16) -> Option<Timestamp> {
        let civil = Offset::UTC.to_datetime(self.at);
        let date = jiff::civil::Date::new(year, civil.month(), civil.day()).ok()?;
        Offset::UTC.to_timestamp(date.to_datetime(civil.time())).ok()
    }

    /// This clock's reading nearest to `other`, whatever year that takes.
    fn nearest(self, other: Timestamp) -> Timestamp {
        if self.dated {
            return self.at;
        }
        let year = Offset::UTC.to_datetime(other).year();
        (-1..=1)
            .filter_map(|step| self.in_year(year.saturating_add(step)))
            .min_by_key(|at| at.as_microsecond().abs_diff(other.as_microsecond()))
            .unwrap_or(self.at)
    }
}

impl Stamp {
    /// Reads a whole text as one stamp.
    pub fn parse(text: &str) -> Option<Self> {
        let (stamp, rest) = read::prefix(text.trim())?;
        rest.is_empty().then_some(stamp)
    }

    /// A zoned wall clock, from microseconds since 1970.
    pub fn from_unix_micros(micros: i64) -> Option<Self> {
        let at = Timestamp::from_microsecond(micros).ok()?;
        (micros > 0).then_some(Self::Wall(Wall { at, zoned: true, dated: true }))
    }

    /// A wall clock from its parts; `None` for an impossible date and for the zero time that Go prints for "never".
    pub(crate) fn wall(year: Option<i16>, civil: DateTime, offset: Option<Offset>) -> Option<Self> {
        if year.is_some_and(|year| year < 1970) {
            return None;
        }
        let at = offset.unwrap_or(Offset::UTC).to_timestamp(civil).ok()?;
        Some(Self::Wall(Wall { at, zoned: offset.is_some(), dated: year.is_some() }))
    }

    /// Microseconds from `self` to `other`, and whether both clocks are sure; `None` between different kinds of clocks.
    fn until(self, other: Self) -> Option<(i64, bool)> {
        match (self, other) {
            (Self::Boot(a), Self::Boot(b)) => Some((i64::try_from(b).ok()?.saturating_sub(i64::try_from(a).ok()?), true)),
            (Self::Wall(a), Self::Wall(b)) => {
                // Where neither told a year, the second one may still lie on the other side of New Year's Eve.
                let (from, to) = if b.dated { (a.nearest(b.at), b.at) } else { (a.at, b.nearest(a.at)) };
                Some((to.as_microsecond().saturating_sub(from.as_microsecond()), a.zoned && b.zoned))
            }
            _ => None,
        }
    }

    /// The time between two moments, or `None` between a wall clock and time since boot.
    ///
    /// A clock without a zone is taken as UTC and makes the gap unsure; a clock without a year is taken in the year that
    /// lies nearest.
    pub fn gap(self, other: Self) -> Option<Gap> {
        let (micros, sure) = self.until(other)?;
        #[allow(clippy::cast_precision_loss)]
        Some(Gap { seconds: micros.unsigned_abs() as f64 / 1e6, sure })
    }

    /// Whether this moment comes before the other, or `None` where the clocks cannot be compared.
    pub fn before(self, other: Self) -> Option<bool> {
        Some(self.until(other)?.0 > 0)
    }

    /// Whether the zone is known; time since boot has none to know.
    pub fn zoned(self) -> bool {
        match self {
            Self::Wall(wall) => wall.zoned,
            Self::Boot(_) => true,
        }
    }

    /// The moment that a clock without a zone means, where its local time is so many seconds ahead of UTC; its year, where it
    /// told none, is the one that lies nearest to `near`. Other stamps have told theirs.
    pub fn in_zone(self, ahead: i32, near: Self) -> Self {
        let (Self::Wall(wall), Self::Wall(near)) = (self, near) else { return self };
        if wall.zoned {
            return self;
        }
        let ahead = i64::from(ahead) * 1_000_000;
        let local = Timestamp::from_microsecond(near.at.as_microsecond().saturating_add(ahead)).unwrap_or(near.at);
        let civil = wall.nearest(local);
        match Timestamp::from_microsecond(civil.as_microsecond().saturating_sub(ahead)) {
            Ok(at) => Self::Wall(Wall { at, zoned: true, dated: true }),
            Err(_) => self,
        }
    }

    /// The same clock, this many microseconds later.
    pub fn later(self, micros: u64) -> Self {
        match self {
            Self::Boot(at) => Self::Boot(at.saturating_add(micros)),
            Self::Wall(wall) => {
                let micros = i64::try_from(micros).unwrap_or(i64::MAX);
                let at = Timestamp::from_microsecond(wall.at.as_microsecond().saturating_add(micros)).unwrap_or(wall.at);
                Self::Wall(Wall { at, ..wall })
            }
        }
    }

    /// The moments this many seconds before and after, as `journalctl --since` takes them; nothing without a date.
    pub fn window(self, seconds: i64) -> Option<(String, String)> {
        let Self::Wall(wall) = self else { return None };
        let edge = |shift: i64| {
            let at = Timestamp::from_second(wall.at.as_second().saturating_add(shift)).unwrap_or(wall.at);
            let civil = Offset::UTC.to_datetime(at);
            let zone = if wall.zoned { " UTC" } else { "" };
            format!("{} {:02}:{:02}:{:02}{zone}", civil.date(), civil.hour(), civil.minute(), civil.second())
        };
        wall.dated.then(|| (edge(-seconds), edge(seconds)))
    }

    /// The time of day for a screen: `06:36:52 UTC`, without `UTC` where the zone is not known.
    pub fn hms(self) -> String {
        match self {
            Self::Wall(wall) => {
                let time = Offset::UTC.to_datetime(wall.at).time();
                let zone = if wall.zoned { " UTC" } else { "" };
                format!("{:02}:{:02}:{:02}{zone}", time.hour(), time.minute(), time.second())
            }
            Self::Boot(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Stamp {
    /// RFC 3339 in UTC with `Z` where the zone is known and without where not; no year where the text told none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boot(at) => write!(f, "{}.{:03} s after boot", at / 1_000_000, at / 1_000 % 1_000),
            Self::Wall(wall) if wall.dated => {
                let text = wall.at.to_string();
                f.write_str(if wall.zoned { &text } else { text.trim_end_matches('Z') })
            }
            Self::Wall(wall) => {
                let civil = Offset::UTC.to_datetime(wall.at);
                let month = words::MONTHS.get(usize::from(civil.month().unsigned_abs())).copied().unwrap_or("");
                write!(f, "{month} {} {:02}:{:02}:{:02}", civil.day(), civil.hour(), civil.minute(), civil.second())
            }
        }
    }
}

#[cfg(test)]
mod tests;
