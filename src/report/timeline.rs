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

/// What a report tells: when and whether that is its own moment, who says it, in which input, in which words.
type Told<'a> = (Option<(Stamp, bool)>, &'static str, &'a str, String);

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
        let span = input.span.or(input.boot_span).and_then(|(a, b)| Some((clock.seconds(a)?, clock.seconds(b)?)));
        let told = events.iter().any(|event| event.input == &*input.name);
        if (told || span.is_some_and(|(a, b)| b >= from && a <= to)) && lanes.len() < LANES {
            lanes.push(Lane { name: &input.name, span });
        }
    }
    #[allow(clippy::cast_precision_loss)]
    let y = |index: usize| 30.0 + LANE * (index as f64 + 0.5);
    let height = y(lanes.len()) + LANE + 10.0;
    let step = STEPS.iter().copied().find(|step| (to - from) / step <= 7.0).unwrap_or(31_536_000.0);
    // The ticks count from the first event whose own clock is the drawing's.
    let zero = events.iter().find(|event| is_wall(event.stamp) == is_wall(clock.stamp)).or(events.first())?;
    let origin = zero.at;
    let ticks = (-8..=8).map(|n| f64::from(n) * step).filter(|tick| (from..=to).contains(&(origin + tick)));
    Some(html! {
        div.drawing {
            svg viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label="timeline of deaths and their evidence" {
                @for tick in ticks {
                    line.tick x1=(n(x(origin + tick))) x2=(n(x(origin + tick))) y1="24" y2=(n(height - 20.0)) {}
                    text.small x=(n(x(origin + tick))) y=(n(height - 6.0)) text-anchor="middle" {
                        @if tick == 0.0 { (zero.stamp.hms()) } @else { (plus(tick)) }
                    }
                }
                text.label x="8" y=(n(y(0) + 4.0)) { "deaths" }
                line.lane x1=(LEFT) x2=(WIDTH - 16.0) y1=(n(y(0))) y2=(n(y(0))) {}
                @for (index, lane) in lanes.iter().enumerate() {
                    text.label x="8" y=(n(y(index + 1) + 4.0)) { (cut(&visible(lane.name.rsplit('/').next().unwrap_or(lane.name)), 24)) title { (visible(lane.name)) } }
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
        @if clock.boot.is_some() {
            p.aside { "Moments since boot are placed by the death that both clocks saw." }
        }
        @if untimed > 0 {
            p.aside { "Facts without a moment on this clock: " (untimed) "." }
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
        s if s < 0.0 => plus(-s).replace('+', "\u{2212}"),
        s if s < 1.0 => format!("+{s:.1} s"),
        s if s < 120.0 => format!("+{s:.0} s"),
        s if s < 7200.0 => format!("+{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("+{:.0} h", s / 3600.0),
        s => format!("+{:.0} d", s / 86400.0),
    }
}

/// The drawing's clock.
#[derive(Clone, Copy)]
struct Clock {
    /// Where it counts from.
    stamp: Stamp,
    /// A moment since boot, and where it lies on a wall clock; known where one death was seen by both.
    boot: Option<(Stamp, f64)>,
}

impl Clock {
    /// The clock that most moments have; a wall clock if the time since boot can be placed on it.
    fn of(report: &Report, moments: &[Stamp]) -> Option<Self> {
        let wall = moments.iter().copied().find(|at| is_wall(*at));
        let boot = moments.iter().copied().find(|at| !is_wall(*at));
        let (Some(wall), Some(since)) = (wall, boot) else { return Some(Self { stamp: wall.or(boot)?, boot: None }) };
        let shared = report.deaths.iter().find_map(|entry| {
            let kernel = entry.verdict.because.iter().filter(|e| e.fact.witness == Witness::Kernel && e.fact.when.is_none());
            let kill =
                kernel.filter_map(|evidence| evidence.fact.boot).reduce(|a, b| if a.before(b) == Some(true) { b } else { a });
            Some((kill?, seconds(wall, entry.when?)?))
        });
        let walls = moments.iter().filter(|at| is_wall(**at)).count();
        let stamp = if shared.is_some() || walls * 2 >= moments.len() { wall } else { since };
        Some(Self { stamp, boot: shared })
    }

    fn seconds(self, at: Stamp) -> Option<f64> {
        seconds(self.stamp, at).or_else(|| self.boot.and_then(|(boot, place)| Some(place + seconds(boot, at)?)))
    }
}

fn is_wall(stamp: Stamp) -> bool {
    matches!(stamp, Stamp::Wall(_))
}

/// Seconds from one moment to another of the same clock.
fn seconds(from: Stamp, to: Stamp) -> Option<f64> {
    let gap = from.gap(to)?.seconds;
    Some(if to.before(from) == Some(true) { -gap } else { gap })
}

/// Everything with a moment, by the clock that most of it has; and how much has none.
fn events(report: &Report) -> Option<(Clock, Vec<Event<'_>>, usize)> {
    let mut all: Vec<Told<'_>> = Vec::new();
    for entry in &report.deaths {
        let verdict = &entry.verdict;
        all.push((entry.when.map(|at| (at, true)), "death", "", visible(&verdict.summary)));
        for Evidence { fact, says } in verdict.because.iter().chain(&verdict.against).chain(&verdict.aside) {
            let text = format!("{}: {}: {}", visible(&fact.place.to_string()), visible(says), visible(&fact.text));
            all.push((moment(fact), kind(fact.witness), &fact.place.input, text));
        }
    }
    let moments: Vec<Stamp> = all.iter().filter_map(|(at, ..)| at.map(|(at, _)| at)).collect();
    let clock = Clock::of(report, &moments)?;
    let mut events: Vec<Event<'_>> = Vec::new();
    let mut untimed = 0;
    for (at, kind, input, text) in all {
        match at.and_then(|(stamp, own)| Some((clock.seconds(stamp)?, stamp, own))) {
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
