//! The zone of an input's clocks, where a line of it tells the machine's local time and the clocks agree with that.

use crate::fact::{Claim, Fact, What, Witness};
use crate::time::{self, Stamp};

/// How far the nearest clock without a zone may be from the local time that was printed, in seconds: less than the least step
/// of zones, so that a writer of another zone does not pass for one of this.
const AGREES: f64 = 1500.0;

/// What comes below the printed time came later, but for clocks that differ a little.
const BACK: f64 = 300.0;

/// The local time that `date -Iseconds` printed, alone on its line or behind a few words of a script (`Started at: …`). No
/// pattern reads it: it has no letters that other lines with a stamp lack, and would cost all of them. So it is read in the
/// first 64 KiB of an input only, and beside lines that speak.
pub(super) fn alone(text: &str) -> Option<(&'static str, Witness, Claim)> {
    let at = text.rfind([' ', 'T']).and_then(|at| text.get(..at)?.rfind(' ')).map_or(0, |at| at + 1);
    let at = if text.ends_with(|c: char| c.is_ascii_digit()) && text.len() <= 80 { at } else { return None };
    let (words, date) = text.split_at_checked(at)?;
    let said = words.is_empty() || words.starts_with(|c: char| c.is_ascii_uppercase()) && words.ends_with([' ', ':']);
    let long = said && (20..=32).contains(&date.len()) && date.starts_with(|c: char| c.is_ascii_digit());
    let (at, offset) = long.then(|| time::date(date))??;
    Some(("clock/alone", Witness::Program, Claim::bare(What::Clock { at, offset })))
}

/// Gives the zone that `date` printed to the clocks without one below it, and to the ends of the spans.
///
/// The clock before it or the first of all must agree with the local time, or with UTC, in which containers write whatever the
/// zone of their machine.
pub(super) fn apply(facts: &mut [Fact], spans: [&mut Option<(Stamp, Stamp)>; 2]) {
    let found = facts.iter().find_map(|fact| match fact.what {
        What::Clock { at, offset } => Some((fact.place.line, fact.since, at, offset)),
        _ => None,
    });
    let Some((line, since, at, offset)) = found else { return };
    let first = spans.iter().find_map(|span| span.map(|(first, _)| first));
    let near: Vec<Stamp> = [since, first].into_iter().flatten().filter(|stamp| !stamp.zoned()).collect();
    let agrees = |ahead: i32| near.iter().any(|stamp| stamp.in_zone(ahead, at).gap(at).is_some_and(|gap| gap.seconds < AGREES));
    let Some(ahead) = [offset, 0].into_iter().find(|ahead| agrees(*ahead)) else { return };
    let place = |stamp: &mut Option<Stamp>| {
        let Some(placed) = stamp.map(|stamp| stamp.in_zone(ahead, at)) else { return };
        let before = placed.before(at) == Some(true) && placed.gap(at).is_some_and(|gap| gap.seconds > BACK);
        if !before {
            *stamp = Some(placed);
        }
    };
    for fact in facts.iter_mut().filter(|fact| fact.place.line > line) {
        place(&mut fact.when);
        place(&mut fact.since);
    }
    for (first, last) in spans.into_iter().flatten() {
        *first = first.in_zone(ahead, at);
        *last = last.in_zone(ahead, at);
    }
}

#[cfg(test)]
mod tests {
    use crate::fact::What;
    use crate::input::Source;
    use crate::read::read;

    fn when(text: &str) -> String {
        let reading = read(&[Source::stream("log".into(), text.as_bytes())]);
        let fact = reading.facts.iter().find(|fact| matches!(fact.what, What::Ended { .. })).expect("the death is read");
        fact.when.expect("its line has a clock").to_string()
    }

    const DEATH: &str = "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ";

    #[test]
    fn the_zone_of_date_holds_for_clocks_that_agree_with_it() {
        let log = |date: &str, first: &str, second: &str| format!("{date}\n[{first}] step 1\n[{second}] {DEATH}\n");
        let local = log("Mon Nov 30 14:30:01 +0800 2026", "2026-11-30 14:30:05", "2026-12-01 02:36:52");
        assert_eq!(when(&local), "2026-11-30T18:36:52Z");
        let iso = log("2026-11-30T14:30:01+08:00", "2026-11-30 14:30:05", "2026-12-01 02:36:52");
        assert_eq!(when(&iso), "2026-11-30T18:36:52Z");
        let utc = log("Mon Nov 30 14:30:01 +0800 2026", "2026-11-30 06:30:05", "2026-11-30 18:36:52");
        assert_eq!(when(&utc), "2026-11-30T18:36:52Z");
        let nobodys = log("Mon Nov 30 14:30:01 +0800 2026", "2026-11-30 11:30:05", "2026-11-30 18:36:52");
        assert_eq!(when(&nobodys), "2026-11-30T18:36:52");
        let ambiguous = log("Mon Nov 30 14:30:01 CST 2026", "2026-11-30 14:30:05", "2026-12-01 02:36:52");
        assert_eq!(when(&ambiguous), "2026-12-01T02:36:52");
        let west = log("Mon Jun  1 14:30:01 PDT 2026", "2026-06-01 14:30:05", "2026-06-03 02:36:52");
        assert_eq!(when(&west), "2026-06-03T09:36:52Z");
    }
}
