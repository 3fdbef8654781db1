//! The moments of a report on one clock: deaths, what the witnesses tell, and how far each input reaches.

use super::name::{folder, without};
use super::place::below;
use super::text::visible;
use super::{Entry, Report};
use crate::fact::{Fact, Witness};
use crate::time::Stamp;
use crate::verdict::Evidence;

/// How far a death may lie from the kernel's line about it to be the same moment: some clocks tell whole seconds only.
const SAME: f64 = 2.0;

/// Something that happened.
pub(super) struct Event<'a> {
    /// Seconds by the drawing's clock.
    pub(super) at: f64,
    /// The moment as it was told.
    pub(super) stamp: Stamp,
    /// Whether the moment is the event's own, or only the last one that was seen before it.
    pub(super) own: bool,
    /// `death`, or who tells it.
    pub(super) kind: &'static str,
    /// The input that tells it; none for a death.
    pub(super) input: &'a str,
    /// What is told.
    pub(super) text: String,
}

/// What a report tells: when and whether that is its own moment, who says it, in which input, in which words.
type Told<'a> = (Option<(Stamp, bool)>, &'static str, &'a str, String);

/// The drawing's clock.
#[derive(Clone, Copy)]
pub(super) struct Clock<'a> {
    /// Where it counts from.
    pub(super) stamp: Stamp,
    /// A moment since boot, where it lies on a wall clock, and in which input; known where one death was seen by both.
    pub(super) boot: Option<(Stamp, f64, &'a str)>,
}

impl<'a> Clock<'a> {
    /// The clock that most moments have; a wall clock if the time since boot can be placed on it.
    fn of(report: &'a Report, moments: &[Stamp]) -> Option<Self> {
        let wall = moments.iter().copied().find(|at| is_wall(*at));
        let boot = moments.iter().copied().find(|at| !is_wall(*at));
        let (Some(wall), Some(since)) = (wall, boot) else { return Some(Self { stamp: wall.or(boot)?, boot: None }) };
        let shared = report.deaths.iter().find_map(|entry| {
            let kernel = entry.verdict.because.iter().filter(|e| e.fact.witness == Witness::Kernel && e.fact.when.is_none());
            let lines = kernel.filter_map(|evidence| Some((evidence.fact.boot?, &*evidence.fact.place.input)));
            let (kill, input) = lines.reduce(|a, b| if a.0.before(b.0) == Some(true) { b } else { a })?;
            Some((kill, seconds(wall, entry.when?)?, input))
        });
        let walls = moments.iter().filter(|at| is_wall(**at)).count();
        let stamp = if shared.is_some() || walls * 2 >= moments.len() { wall } else { since };
        Some(Self { stamp, boot: shared })
    }

    /// A moment that an input tells. Machines boot at different times, so that of another input's boot nothing is known.
    pub(super) fn seconds(self, at: Stamp, input: &str) -> Option<f64> {
        let placed =
            || self.boot.filter(|(.., known)| *known == input).and_then(|(boot, place, _)| Some(place + seconds(boot, at)?));
        seconds(self.stamp, at).or_else(placed)
    }

    /// Where a death lies. The kernel's own line about it is the kill, also where another clock tells it more finely.
    fn death(self, entry: &Entry) -> Option<f64> {
        let kernel = entry.verdict.because.iter().map(|evidence| &evidence.fact).filter(|fact| fact.witness == Witness::Kernel);
        let lines = kernel.clone().filter_map(|fact| self.seconds(moment(fact)?.0, &fact.place.input));
        let kill = lines.reduce(f64::max);
        let input = kernel.map(|fact| &*fact.place.input).next().unwrap_or_default();
        let told = self.seconds(entry.when?, input)?;
        Some(kill.filter(|kill| (kill - told).abs() < SAME).unwrap_or(told))
    }
}

/// Whether this is a wall clock's moment.
pub(super) fn is_wall(stamp: Stamp) -> bool {
    matches!(stamp, Stamp::Wall(_))
}

/// Seconds from one moment to another of the same clock.
fn seconds(from: Stamp, to: Stamp) -> Option<f64> {
    let gap = from.gap(to)?.seconds;
    Some(if to.before(from) == Some(true) { -gap } else { gap })
}

/// Everything with a moment, in its order, by the clock that most of it has; and how much has none.
pub(super) fn events(report: &Report) -> Option<(Clock<'_>, Vec<Event<'_>>, usize)> {
    let folder = folder(report);
    let mut all: Vec<Told<'_>> = Vec::new();
    for Entry { verdict, .. } in &report.deaths {
        for Evidence { fact, says } in verdict.because.iter().chain(&verdict.against).chain(&verdict.aside) {
            let text = format!("{}: {}: {}", below(&fact.place, folder), visible(&without(says, folder)), visible(&fact.text));
            all.push((moment(fact), kind(fact.witness), &fact.place.input, text));
        }
    }
    let told = all.iter().filter_map(|(at, ..)| at.map(|(at, _)| at));
    let moments: Vec<Stamp> = report.deaths.iter().filter_map(|entry| entry.when).chain(told).collect();
    let clock = Clock::of(report, &moments)?;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut untimed = 0;
    for (at, kind, input, text) in all {
        match at.and_then(|(stamp, own)| Some((clock.seconds(stamp, input)?, stamp, own))) {
            // Several deaths may rest on the same line.
            Some((at, ..)) if events.iter().any(|e| e.kind == kind && e.text == text && (e.at - at).abs() < 1e-9) => {}
            Some((at, stamp, own)) => events.push(Event { at, stamp, own, kind, input, text }),
            None => untimed += 1,
        }
    }
    for entry in &report.deaths {
        match clock.death(entry).zip(entry.when) {
            Some((at, stamp)) => {
                events.push(Event { at, stamp, own: true, kind: "death", input: "", text: visible(&entry.verdict.summary) });
            }
            None => untimed += 1,
        }
    }
    // What is told of the same moment stays in its order: a death comes after what killed it.
    events.sort_by(|a, b| a.at.total_cmp(&b.at));
    Some((clock, events, untimed))
}

/// The moment of a fact, and whether it is its own.
fn moment(fact: &Fact) -> Option<(Stamp, bool)> {
    fact.when.map(|at| (at, true)).or_else(|| fact.boot.map(|at| (at, true))).or_else(|| fact.since.map(|at| (at, false)))
}

/// The colour of a witness.
fn kind(witness: Witness) -> &'static str {
    match witness {
        Witness::Kernel | Witness::Probe => "kernel",
        Witness::Runtime | Witness::Supervisor => "runtime",
        Witness::Program | Witness::Arithmetic => "program",
    }
}
