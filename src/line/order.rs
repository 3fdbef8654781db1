//! Tells inputs that stand with the newest line first, as consoles export them, from those in the order of time.

use crate::time::Stamp;

/// How often a line must be older than the one before it, that an input counts as reversed.
const FALLS: u64 = 7;

/// The order of an input's lines, from their stamps.
#[derive(Clone, Debug)]
pub struct Order {
    /// The first line of each stamped record.
    starts: Vec<u64>,
    /// Whether the beginnings are kept, which takes as much memory as there are records.
    kept: bool,
    last: Option<(u64, Stamp)>,
    falls: u64,
    climbs: u64,
}

impl Default for Order {
    fn default() -> Self {
        Self { kept: true, ..Self::counted() }
    }
}

impl Order {
    /// An order that is only noticed: lines of an endless input cannot be turned.
    pub fn counted() -> Self {
        Self { starts: Vec::new(), kept: false, last: None, falls: 0, climbs: 0 }
    }

    /// Takes the stamp of a line.
    pub fn stamped(&mut self, line: u64, when: Stamp) {
        if let Some((before, last)) = self.last {
            // A message of several lines has one stamp.
            if line <= before {
                return;
            }
            self.falls += u64::from(when.before(last) == Some(true));
            self.climbs += u64::from(last.before(when) == Some(true));
        }
        self.last = Some((line, when));
        if self.kept {
            self.starts.push(line);
        }
    }

    /// Ranks that write into one log pass each other now and then; in a reversed one nearly every line is older than the last.
    pub fn reversed(&self) -> bool {
        self.falls >= FALLS && self.falls > 8 * self.climbs
    }

    /// Whether lines can be turned.
    pub fn known(&self) -> bool {
        self.kept
    }

    /// The number that a line of a reversed input of so many lines would have in the order of time. What stands between two
    /// stamps belongs to the first and keeps its order; what stands before the first stays the head of the input.
    pub fn turned(&self, line: u64, lines: u64) -> u64 {
        let next = self.starts.partition_point(|start| *start <= line);
        let (Some(first), Some(start)) = (self.starts.first(), next.checked_sub(1).and_then(|at| self.starts.get(at))) else {
            return line;
        };
        let lines = lines.max(line);
        let end = self.starts.get(next).map_or(lines, |next| next - 1);
        first.saturating_add(lines.max(end) - end).saturating_add(line.saturating_sub(*start))
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use crate::time::Stamp;

    #[test]
    fn records_are_turned_and_their_lines_stay_together() {
        let mut order = Order::default();
        for (line, minute) in [(2, 9), (3, 8), (5, 7), (5, 7), (8, 6), (9, 5), (10, 4), (11, 3), (12, 2)] {
            order.stamped(line, Stamp::parse(&format!("2026-09-12T08:{minute:02}:00Z")).unwrap());
        }
        assert!(order.reversed());
        let turned: Vec<u64> = (1..=12).map(|line| order.turned(line, 12)).collect();
        assert_eq!(turned, [1, 12, 10, 11, 7, 8, 9, 6, 5, 4, 3, 2]);
    }

    #[test]
    fn single_steps_back_are_not_an_order() {
        let mut order = Order::default();
        for line in 1..100 {
            order.stamped(line, Stamp::from_unix_micros(1_000_000_000_000_000 + i64::try_from(line ^ 1).unwrap()).unwrap());
        }
        assert!(!order.reversed());
    }
}
