//! The timeline of a report: what happened, on one clock across all inputs, as a drawing that needs no script.
//!
//! Moments are placed in percent, and names stand above their lanes: the drawing takes the width that there is, and its text is as
//! large on a phone as on a wide screen.

use maud::{Markup, html};

use super::Report;
use super::moments::{Clock, Event, events, is_wall};
use super::name::folder;
use super::text::{cut, visible};
use crate::seen::Input;

/// Height of a lane with its name above, in pixels.
const LANE: f64 = 40.0;
/// What the ticks' labels take below the lanes.
const FOOT: f64 = 22.0;
/// Side of the square that stands on its corner for a death.
const SIDE: f64 = 11.0;
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

/// One input's line in the drawing.
struct Lane<'a> {
    input: &'a str,
    name: &'a str,
    span: Option<(f64, f64)>,
}

/// The time that is drawn, in seconds.
#[derive(Clone, Copy)]
struct Frame {
    from: f64,
    to: f64,
}

impl Frame {
    /// The frame around sorted events, with some room on both sides.
    fn around(events: &[Event<'_>]) -> Option<Self> {
        let (first, last) = (events.first()?.at, events.last()?.at);
        let room = ((last - first) * 0.06).max(0.5);
        Some(Self { from: first - room, to: last + room })
    }

    /// Where a moment stands, in percent of the width.
    fn percent(self, at: f64) -> f64 {
        (at.clamp(self.from, self.to) - self.from) / (self.to - self.from) * 100.0
    }

    fn x(self, at: f64) -> String {
        format!("{:.2}%", self.percent(at))
    }

    fn holds(self, at: f64) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

/// Draws the report; nothing where no moment is known.
pub(super) fn draw(report: &Report) -> Option<Markup> {
    let (clock, events, untimed) = events(report)?;
    // A single moment is said in the heading and makes no picture.
    if events.len() < 2 {
        return None;
    }
    let frame = Frame::around(&events)?;
    let lanes = lanes(report, clock, &events, frame);
    // The ticks count from the first event whose own clock is the drawing's.
    let zero = events.iter().find(|event| is_wall(event.stamp) == is_wall(clock.stamp)).or(events.first())?;
    Some(html! {
        (drawing(&events, &lanes, frame, zero))
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
        details.more {
            summary { "the same as a list" }
            table.moments { @for event in &events {
                tr {
                    td { @if !event.own { "after " } time { (event.stamp) } }
                    td { @if event.kind == "death" { strong { "death" } } @else { (event.kind) } }
                    td { (cut(&event.text, 300)) }
                }
            } }
        }
    })
}

/// The inputs that have something in the frame.
fn lanes<'a>(report: &'a Report, clock: Clock<'_>, events: &[Event<'_>], frame: Frame) -> Vec<Lane<'a>> {
    let folder = folder(report);
    let lane = |input: &'a Input| {
        let (name, span) = (&*input.name, input.span.or(input.boot_span));
        let span = span.and_then(|(a, b)| Some((clock.seconds(a, name)?, clock.seconds(b, name)?)));
        let span = span.filter(|(a, b)| *b >= frame.from && *a <= frame.to);
        let told = events.iter().any(|event| event.input == name);
        (told || span.is_some()).then(|| Lane { input: name, name: name.strip_prefix(folder).unwrap_or(name), span })
    };
    report.inputs.iter().filter_map(lane).take(LANES).collect()
}

fn drawing(events: &[Event<'_>], lanes: &[Lane<'_>], frame: Frame, zero: &Event<'_>) -> Markup {
    #[allow(clippy::cast_precision_loss)]
    let top = |index: usize| LANE * index as f64;
    let y = |index: usize| top(index) + LANE * 0.65;
    let foot = top(lanes.len() + 1);
    let step = STEPS.iter().copied().find(|step| (frame.to - frame.from) / step <= 7.0).unwrap_or(31_536_000.0);
    let ticks = (-8_i8..=8).map(|n| (n, f64::from(n) * step)).filter(|(_, tick)| frame.holds(zero.at + tick));
    let ticks: Vec<(i8, f64)> = ticks.collect();
    // A narrow screen has room for every other label.
    let odd = |number: i8| ticks.len() > 4 && number % 2 != 0;
    html! {
        svg.timeline height=(n(foot + FOOT)) role="img" aria-label="timeline of deaths and their evidence" {
            @for (number, tick) in &ticks {
                @let x = frame.x(zero.at + tick);
                line.tick x1=(x) x2=(x) y1="0" y2=(n(foot)) {}
                text.small.odd[odd(*number)] x=(x) y=(n(foot + 16.0)) text-anchor=(anchor(frame.percent(zero.at + tick))) {
                    @if *number == 0 { (zero.stamp.hms()) } @else { (plus(*tick)) }
                }
            }
            text.label x="0" y=(n(top(0) + 13.0)) { "deaths" }
            line.lane x1="0" x2="100%" y1=(n(y(0))) y2=(n(y(0))) {}
            @for (index, lane) in lanes.iter().enumerate().map(|(index, lane)| (index + 1, lane)) {
                text.label x="0" y=(n(top(index) + 13.0)) { (cut(&visible(lane.name), 44)) title { (visible(lane.input)) } }
                line.lane x1="0" x2="100%" y1=(n(y(index))) y2=(n(y(index))) {}
                @if let Some((a, b)) = lane.span {
                    @let width = (frame.percent(b) - frame.percent(a)).max(0.4);
                    rect.span x=(frame.x(a)) width=(format!("{width:.2}%")) y=(n(y(index) - 5.0)) height="10" rx="5" {}
                }
            }
            @for event in events {
                @let x = frame.x(event.at);
                @if event.kind == "death" {
                    line.fall x1=(x) x2=(x) y1=(n(y(0))) y2=(n(foot)) {}
                    // The square is turned about its upper corner.
                    rect.death x=(x) y=(n(y(0) - SIDE * std::f64::consts::FRAC_1_SQRT_2)) width=(SIDE) height=(SIDE) { title { (event.text) } }
                } @else if let Some(lane) = lanes.iter().position(|lane| lane.input == event.input) {
                    circle.(event.kind).hollow[!event.own] cx=(x) cy=(n(y(lane + 1))) r="6" { title { (event.text) } }
                }
            }
        }
    }
}

/// A coordinate.
fn n(value: f64) -> String {
    format!("{value:.1}")
}

/// Which side of a label stands at its tick, so that none leaves the drawing.
fn anchor(percent: f64) -> &'static str {
    match percent {
        p if p < 8.0 => "start",
        p if p > 92.0 => "end",
        _ => "middle",
    }
}

/// A distance in time.
fn plus(seconds: f64) -> String {
    match seconds {
        s if s < 0.0 => plus(-s).replace('+', "\u{2212}"),
        s if s < 120.0 && (s - s.round()).abs() > 0.01 => format!("+{s:.1} s"),
        s if s < 120.0 => format!("+{s:.0} s"),
        s if s < 7200.0 => format!("+{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("+{:.0} h", s / 3600.0),
        s => format!("+{:.0} d", s / 86400.0),
    }
}
