//! Rotated logs: `job.log.1`, `app.log-20261130` and `app.log.2026-11-30` go on in `job.log` and `app.log`, and are older.

use std::cmp::Reverse;

/// Endings that say how a file is written, and not what it is of.
const ENDS: [&str; 20] = [
    "log", "txt", "out", "err", "json", "jsonl", "ndjson", "yaml", "yml", "gz", "zst", "xz", "bz2", "csv", "md", "ou", "er",
    "stdout", "stderr", "z",
];

/// Those of them that say how it is packed.
const PACKED: [&str; 5] = ["gz", "zst", "xz", "bz2", "z"];

/// Logs of a machine, which rotate without an ending.
const MACHINE: [&str; 8] = ["dmesg", "syslog", "messages", "kern", "secure", "journal", "cron", "debug"];

/// Digits of the number that a rotation gives; a longer one is the number of a job or a process.
const DIGITS: usize = 3;

/// How old a piece of a rotated log is; older ones are less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Age {
    /// The highest number is the oldest.
    Numbered(Reverse<u64>),
    /// The day of the rotation, and perhaps the time.
    Dated(String),
    /// What is being written.
    Current,
}

/// The name of the log that a file is a piece of, without how it is packed, and the piece's age: `job.log` of `job.log.2.gz`.
pub(crate) fn piece(name: &str) -> (&str, Age) {
    let plain = packed(name).unwrap_or(name);
    if let Some(stem) = plain.strip_suffix(".old").filter(|stem| is_log(stem)) {
        return (stem, Age::Numbered(Reverse(1)));
    }
    let cuts = plain.match_indices(['.', '-', '_']).map(|(at, _)| plain.split_at(at));
    for (stem, rest) in cuts.filter(|(stem, _)| is_log(stem)) {
        let mark = rest.get(1..).unwrap_or_default();
        if is_date(mark) {
            return (stem, Age::Dated(mark.to_owned()));
        }
        let number = mark.len() <= DIGITS && rest.starts_with('.') && mark.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(number) = mark.parse().ok().filter(|_| number) {
            return (stem, Age::Numbered(Reverse(number)));
        }
    }
    (plain, Age::Current)
}

/// Sorts the names of inputs so that the pieces of a rotated log stand together, the oldest first.
pub(crate) fn in_time(name: &str) -> (String, Age) {
    let start = name.rfind('/').map_or(0, |at| at + 1);
    let (folder, file) = name.split_at(start);
    let (log, age) = piece(file);
    (format!("{folder}{log}"), age)
}

/// What stands before a date at the end of a name: `bert` of `bert-20261130`, which is a rotation only beside a `bert`.
pub(crate) fn undated(name: &str) -> Option<&str> {
    let mut cuts = name.match_indices(['.', '-', '_']).map(|(at, _)| name.split_at(at));
    cuts.find(|(_, rest)| is_date(rest.get(1..).unwrap_or_default())).map(|(stem, _)| stem).filter(|stem| !stem.is_empty())
}

/// A name without one ending that says how the file is written.
pub(crate) fn without_ending(name: &str) -> Option<&str> {
    let (stem, end) = name.rsplit_once('.')?;
    (!stem.is_empty() && ENDS.iter().any(|known| known.eq_ignore_ascii_case(end))).then_some(stem)
}

/// A name without the ending that says how the file is packed.
pub(crate) fn packed(name: &str) -> Option<&str> {
    let (stem, end) = name.rsplit_once('.')?;
    (!stem.is_empty() && PACKED.iter().any(|known| known.eq_ignore_ascii_case(end))).then_some(stem)
}

/// Whether a name is that of a log, behind which a number or a date tells a rotation.
pub(crate) fn is_log(name: &str) -> bool {
    without_ending(name).is_some() || MACHINE.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// A day as logrotate and Python's handlers write it, `20261130` or `2026-11-30`, and perhaps a time.
fn is_date(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).take(8).collect();
    let number = |range: std::ops::Range<usize>| digits.get(range).and_then(|two| std::str::from_utf8(two).ok()?.parse().ok());
    let real =
        matches!(number(0..2), Some(19_u32 | 20)) && matches!(number(4..6), Some(1..=12)) && matches!(number(6..8), Some(1..=31));
    let shape = |dash: bool| {
        let want = if dash { "dddd-dd-dd" } else { "dddddddd" };
        let fits = |(have, want): (u8, u8)| if want == b'd' { have.is_ascii_digit() } else { have == want };
        text.len() >= want.len() && text.bytes().zip(want.bytes()).all(fits)
    };
    let time = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'T' | b't');
    real && (shape(false) || shape(true)) && text.bytes().all(time)
}

#[cfg(test)]
mod tests {
    use super::{Age, in_time, piece, undated};

    #[test]
    fn pieces_are_told_from_numbered_jobs() {
        for (name, log) in [
            ("job.log.1", "job.log"),
            ("job.log.12.gz", "job.log"),
            ("app.log-20261130", "app.log"),
            ("app.log-2026113014.gz", "app.log"),
            ("other.log.2026-11-30", "other.log"),
            ("other.log.2026-11-30_13", "other.log"),
            ("0.log.20261130-063652.gz", "0.log"),
            ("dmesg.0", "dmesg"),
            ("messages-20261129", "messages"),
            ("kern.log.old", "kern.log"),
        ] {
            let (found, age) = piece(name);
            assert_eq!((found, age < Age::Current), (log, true), "{name}");
        }
        for name in
            ["lr0.1.log", "job.log", "train.log.4711", "seed.1", "app.log.99999999", "x-20261130.log", "a.log.1b", ".1", ""]
        {
            assert_eq!(piece(name), (name, Age::Current), "{name}");
        }
        assert_eq!((undated("bert-20261130"), undated("2026-11-30"), undated("bert-4711")), (Some("bert"), None, None));
    }

    #[test]
    fn the_oldest_comes_first() {
        let mut names = ["job.log", "job.log.1", "job.log.10.gz", "job.log.2"];
        names.sort_by_key(|name| in_time(name));
        assert_eq!(names, ["job.log.10.gz", "job.log.2", "job.log.1", "job.log"]);
    }
}
