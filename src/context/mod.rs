//! The lines around the evidence, for those who want to read on: the inputs are read once more, but only where it stands.

mod tape;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader, Read};
use std::sync::Arc;

use crate::input::Again;
use crate::input::archive::Found;
use crate::report::Report;

pub use tape::{Recorded, Tape};

/// Lines before and after.
const AROUND: u64 = 3;
/// What is kept of a line, in bytes.
const WIDTH: usize = 600;
/// Deaths whose evidence is looked up.
const DEATHS: usize = 50;

/// Adds the lines around the evidence to reports, no two of which read the same input. What cannot be read twice stays without,
/// unless it was recorded on a [`Tape`].
pub fn add<'a>(sources: &[impl Again], reports: impl IntoIterator<Item = &'a mut Report>) {
    let mut reports: Vec<&mut Report> = reports.into_iter().collect();
    let mut wanted: HashMap<Arc<str>, (usize, BTreeSet<u64>)> = HashMap::new();
    for (index, report) in reports.iter().enumerate() {
        wanted.extend(around(report).into_iter().map(|(input, lines)| (input, (index, lines))));
    }
    for source in sources {
        if wanted.is_empty() {
            break;
        }
        source.again(&mut |found| {
            if let Found::Input(name, reader) = found
                && let Some((index, lines)) = wanted.remove(name)
                && let Some(report) = reports.get_mut(index)
            {
                report.context.insert(Arc::clone(name), read(reader, &lines));
            }
        });
    }
}

/// The numbers of the lines around a report's evidence, by input.
fn around(report: &Report) -> BTreeMap<Arc<str>, BTreeSet<u64>> {
    let mut wanted: BTreeMap<Arc<str>, BTreeSet<u64>> = BTreeMap::new();
    let verdicts = report.deaths.iter().take(DEATHS).map(|entry| &entry.verdict).chain([&report.verdict]);
    let evidence = verdicts.flat_map(|v| v.because.iter().chain(&v.against).chain(&v.aside));
    for place in evidence.map(|evidence| &evidence.fact.place) {
        if let Some(line) = place.number() {
            let lines = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
            wanted.entry(Arc::clone(&place.input)).or_default().extend(lines);
        }
    }
    wanted
}

/// Reads these lines; an error ends the reading, as it was told before.
fn read(reader: impl Read, lines: &BTreeSet<u64>) -> BTreeMap<u64, String> {
    let mut found = BTreeMap::new();
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let (mut number, mut line) = (1, Vec::new());
    while lines.last().is_some_and(|last| number <= *last) {
        let Ok(buffer) = reader.fill_buf() else { break };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        // A progress bar is redrawn after each carriage return; its last state counts.
        let shown = piece.trim_ascii_end().rsplit(|byte| *byte == b'\r').next().unwrap_or_default();
        if shown.len() < piece.trim_ascii_end().len() {
            line.clear();
        }
        line.extend_from_slice(shown.get(..WIDTH.saturating_sub(line.len()).min(shown.len())).unwrap_or_default());
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() || used == 0 {
            if lines.contains(&number) && !line.is_empty() {
                found.insert(number, String::from_utf8_lossy(&line).into_owned());
            }
            line.clear();
            number += 1;
        }
        if used == 0 {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_the_lines_that_are_wanted_are_kept() {
        let text = format!("one\nbar 1%\rbar 2%\n{}\nfour\r\nfive", "x".repeat(200_000));
        let found = read(text.as_bytes(), &[2, 3, 4, 5, 9].into());
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert_eq!(
            (found[&2].as_str(), found[&3].len(), found[&4].as_str(), found[&5].as_str()),
            ("bar 2%", 600, "four", "five")
        );
    }
}
