//! The timeline of a report: what happened, on one clock across all inputs, as a drawing that needs no script.

use maud::{Markup, html};

use super::Report;
use super::text::{cut, visible};
use crate::fact::{Fact, Witness};
use crate::time::Stamp;
use crate::verdict::Evidence;

/// Width of the drawing, in its own units.
const WIDTH: f64 = 960.0;
/// Where the lanes begin; the names of the inputs stand before.
const LEFT: f64 = 190.0;
/// Height of a lane.
const LANE: f64 = 34.0;
/// Most lanes; a folder of a thousand logs is no drawing.
const LANES: usize = 16;
/// Distances between ticks, in seconds.
const STEPS: [f64; 22] = [
    0.1,
    0.2,
    0.5,
    1.0,
    2.0,
    5.0,
    10.0,
    15.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    900.0,
    1800.0,
    3600.0,
    7200.0,
    21600.0,
    43200.0,
    86400.0,
    604_800.0,
    2_592_000.0,
];

/// Something that happened.
struct Event<'a> {
    at: f64,
    stamp: Stamp,
    /// Whether the moment is the event's own, or only the last one that was seen before it.
    own: bool,
    kind: &'static str,
    input: &'a str,
    text: String,
}

/// One input's line in the drawing.
struct Lane<'a> {
    name: &'a str,
    span: Option<(f64, f64)>,
}

/// Draws the report; nothing where no moment is known.
pub(super) fn draw(report: &Report) -> Option<Markup> {
    let (clock, mut events, untimed) = events(report)?;
    // A single moment is said in the heading and makes no picture.
    if events.len() < 2 {
        return None;
    }
    events.sort_by(|a, b| a.at.total_cmp(&b.at));
    let (first, last) = (events.first()?.at, events.last()?.at);
    let room = ((last - first) * 0.06).max(1.0);
    let (from, to) = (first - room, last + room);
    let x = |at: f64| LEFT + (at.clamp(from, to) - from) / (to - from) * (WIDTH - LEFT - 16.0);
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for input in &report.inputs {
        let span = input.span.or(input.boot_span).and_then(|(a, b)| Some((seconds(clock, a)?, seconds(clock, b)?)));
        let told = events.iter().any(|event| event.input == &*input.name);
        if (told || span.is_some_and(|(a, b)| b >= from && a <= to)) && lanes.len() < LANES {
            lanes.push(Lane { name: &input.name, span });
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let y = |index: usize| 30.0 + LANE * (index as f64 + 0.5);
    let height = y(lanes.len()) + LANE + 10.0;
    let step = STEPS.iter().copied().find(|step| (to - from) / step <= 7.0).unwrap_or(31_536_000.0);
    let zero = events.first()?.stamp;
    let ticks = (0..8).map(|n| f64::from(n) * step).take_while(|tick| first + tick <= to);
    Some(html! {
        div.drawing {
            svg viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label="timeline of deaths and their evidence" {
                @for tick in ticks {
                    line.tick x1=(n(x(first + tick))) x2=(n(x(first + tick))) y1="24" y2=(n(height - 20.0)) {}
                    text.small x=(n(x(first + tick))) y=(n(height - 6.0)) text-anchor="middle" {
                        @if tick == 0.0 { (zero.hms()) } @else { (plus(tick)) }
                    }
                }
                text.label x="8" y=(n(y(0) + 4.0)) { "deaths" }
                line.lane x1=(LEFT) x2=(WIDTH - 16.0) y1=(n(y(0))) y2=(n(y(0))) {}
                @for (index, lane) in lanes.iter().enumerate() {
                    text.label x="8" y=(n(y(index + 1) + 4.0)) { (cut(&visible(lane.name), 24)) title { (visible(lane.name)) } }
                    line.lane x1=(LEFT) x2=(WIDTH - 16.0) y1=(n(y(index + 1))) y2=(n(y(index + 1))) {}
                    @if let Some((a, b)) = lane.span {
                        @if b >= from && a <= to {
                            rect.span x=(n(x(a))) width=(n((x(b) - x(a)).max(2.0))) y=(n(y(index + 1) - 5.0)) height="10" rx="5" {}
                        }
                    }
                }
                @for event in &events {
                    @let lane = if event.kind == "death" { Some(0) } else { lanes.iter().position(|l| l.name == event.input).map(|i| i + 1) };
                    @if let Some(lane) = lane {
                        @if event.kind == "death" {
                            line.fall x1=(n(x(event.at))) x2=(n(x(event.at))) y1=(n(y(0))) y2=(n(height - 20.0)) {}
                            path.death d=(format!("M{0:.1} {1:.1}l8 8l-8 8l-8 -8z", x(event.at), y(0) - 8.0)) { title { (event.text) } }
                        } @else {
                            circle class=(format!("{}{}", event.kind, if event.own { "" } else { " hollow" }))
                                cx=(n(x(event.at))) cy=(n(y(lane))) r="6" { title { (event.text) } }
                        }
                    }
                }
            }
        }
        p.legend {
            span { i.death {} "death" } span { i.kernel {} "kernel" } span { i.runtime {} "container or scheduler" }
            span { i.program {} "program" } span { i.hollow {} "not before" } span { i.span {} "time that the input covers" }
        }
        @if untimed > 0 {
            p.aside { (untimed) " of the facts have no moment on this clock." }
        }
        details {
            summary { "the same as a list" }
            div.drawing { table { @for event in &events {
                tr {
                    td { @if !event.own { "after " } (event.stamp) }
                    td { @if event.kind == "death" { strong { "death" } } @else { (event.kind) } }
                    td { (cut(&event.text, 300)) }
                }
            } } }
        }
    })
}

/// A coordinate.
fn n(value: f64) -> String {
    format!("{value:.1}")
}

/// A distance in time.
fn plus(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("+{s:.1} s"),
        s if s < 120.0 => format!("+{s:.0} s"),
        s if s < 7200.0 => format!("+{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("+{:.0} h", s / 3600.0),
        s => format!("+{:.0} d", s / 86400.0),
    }
}

/// Seconds from one moment to another of the same clock.
fn seconds(from: Stamp, to: Stamp) -> Option<f64> {
    let gap = from.gap(to)?.seconds;
    Some(if to.before(from) == Some(true) { -gap } else { gap })
}

/// Everything with a moment, by the clock that most of it has; and how much has none.
fn events(report: &Report) -> Option<(Stamp, Vec<Event<'_>>, usize)> {
    let mut all: Vec<(Option<(Stamp, bool)>, &'static str, &str, String)> = Vec::new();
    for entry in &report.deaths {
        let verdict = &entry.verdict;
        all.push((entry.when.map(|at| (at, true)), "death", "", visible(&verdict.summary)));
        for Evidence { fact, says } in verdict.because.iter().chain(&verdict.against).chain(&verdict.aside) {
            let text = format!("{}: {}: {}", visible(&fact.place.to_string()), visible(says), visible(&fact.text));
            all.push((moment(fact), kind(fact.witness), &fact.place.input, text));
        }
    }
    let timed = |wall: bool| all.iter().filter(|(at, ..)| at.is_some_and(|(at, _)| matches!(at, Stamp::Wall(_)) == wall)).count();
    let wall = timed(true) >= timed(false);
    let clock = all.iter().filter_map(|(at, ..)| *at).map(|(at, _)| at).find(|at| matches!(at, Stamp::Wall(_)) == wall)?;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut untimed = 0;
    for (at, kind, input, text) in all {
        match at.and_then(|(stamp, own)| Some((seconds(clock, stamp)?, stamp, own))) {
            // Several deaths may rest on the same line.
            Some((at, ..)) if events.iter().any(|e| e.kind == kind && e.text == text && (e.at - at).abs() < 1e-9) => {}
            Some((at, stamp, own)) => events.push(Event { at, stamp, own, kind, input, text }),
            None => untimed += 1,
        }
    }
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
