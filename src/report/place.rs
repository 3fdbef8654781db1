//! The place that stands for a death in formats that point at one line, and a fingerprint that stays the same from run to run.

use super::text::visible;
use super::{Entry, Report};
use crate::place::Place;
use crate::verdict::Verdict;

/// The place of the evidence that carries a verdict: the first that has a line, or else the first.
pub(super) fn of(verdict: &Verdict) -> Option<&Place> {
    let mut places = verdict.because.iter().map(|evidence| &evidence.fact.place);
    places.clone().find(|place| place.line.is_some()).or_else(|| places.next())
}

/// A place to show to people, without the folder that all inputs are in.
pub(super) fn below(place: &Place, folder: &str) -> String {
    let text = place.to_string();
    visible(text.strip_prefix(folder).unwrap_or(&text))
}

/// The file of a place, for formats that want a path; standard input is none.
pub(super) fn file(place: &Place) -> Option<&str> {
    let name = place.input.strip_prefix("./").unwrap_or(&place.input);
    (name != "-").then_some(name)
}

/// The path to show for a report on standard input, or on nothing.
pub(super) fn file_of<'a>(report: &'a Report, verdict: &'a Verdict) -> &'a str {
    of(verdict).and_then(file).or_else(|| report.inputs.iter().find_map(|input| plain(&input.name))).unwrap_or("stdin")
}

fn plain(name: &str) -> Option<&str> {
    let name = name.strip_prefix("./").unwrap_or(name);
    (name != "-").then_some(name)
}

/// A number that names a death, over what does not change when the program's words do.
pub(super) fn fingerprint(incident: Option<&str>, entry: &Entry, index: usize) -> String {
    let place = of(&entry.verdict);
    let text = entry.verdict.because.first().map_or("", |evidence| evidence.fact.text.as_str());
    let parts = [
        incident.unwrap_or_default().to_owned(),
        entry.verdict.cause.slug().to_owned(),
        place.map(ToString::to_string).unwrap_or_default(),
        text.to_owned(),
        index.to_string(),
    ];
    hash(&parts.each_ref().map(String::as_str))
}

/// A number that names what consists of these parts: FNV-1a.
pub(super) fn hash(parts: &[&str]) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in parts.join("\0").bytes() {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}
