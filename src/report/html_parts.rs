//! The parts of the page: verdict, remedy, evidence, other deaths, what was read.

use maud::{Markup, html};

use super::html_numbers::numbers;
use super::name::{day, folder, newest, subject, without};
use super::place::below;
use super::sections::{moment, when, who};
use super::text::visible;
use super::{Entry, Report, timeline};
use crate::remedy::Advice;
use crate::units::Bytes;
use crate::verdict::{Cause, Class, Evidence, Grade, Lacking, Verdict};

/// Most deaths after the root that get a section of their own.
const OTHERS: usize = 50;

/// The answer: class, incident and day, cause, grade, one sentence, when and who.
pub(super) fn heading(report: &Report) -> Markup {
    let Verdict { cause, grade, summary, .. } = &report.verdict;
    let about: Vec<String> = [subject(report), day(report)].into_iter().flatten().collect();
    html! {
        header {
            h1 {
                span.(cause.class().slug()) { (cause.class().title()) }
                @if !about.is_empty() { " " span.subject { (about.join(", ")) } }
            }
            @if cause.class() != Class::None { p.cause { (answer(*cause, *grade)) ": " (cause.title()) } }
            p.summary { (visible(summary)) }
            (told(report))
        }
    }
}

/// The cause, and how sure it is.
pub(super) fn answer(cause: Cause, grade: Grade) -> Markup {
    html! { span.grade.(grade.slug()) { (grade.slug()) } " " code { (cause.slug()) } }
}

/// When and who, and what the page rests on. It has no clock of its own, so that the same inputs make the same page.
pub(super) fn told(report: &Report) -> Markup {
    let count = report.inputs.len();
    html! {
        dl {
            @if let Some(root) = report.deaths.first() { (facts(root)) }
            dt { "read" }
            dd {
                (count) @if count == 1 { " input" } @else { " inputs" }
                @if let Some(newest) = newest(report) { ", which tell up to " time { (moment(newest)) } }
            }
        }
    }
}

/// When and who.
fn facts(entry: &Entry) -> Markup {
    html! {
        @for (name, text) in [("when", when(entry)), ("who", who(entry))] {
            @if let Some(text) = text { dt { (name) } dd { (visible(&text)) } }
        }
        @if let Some(signal) = entry.signal { dt { "signal" } dd { (signal.name()) } }
    }
}

/// Everything below the answer.
pub(super) fn body(report: &Report) -> Markup {
    html! {
        @if let Some(root) = report.deaths.first() { (remedy(&root.remedy)) }
        @if let Some(drawing) = timeline::draw(report) { section { h2 { "Timeline" } (drawing) } }
        @if let Some(root) = report.deaths.first() {
            (judgement(report, &root.verdict, true))
            (numbers(root))
        } @else {
            (judgement(report, &report.verdict, true))
        }
        @if report.deaths.len() > 1 {
            section {
                h2 { "Other deaths" }
                @for (index, entry) in report.deaths.iter().enumerate().skip(1).take(OTHERS) { (other(report, index, entry)) }
                @if report.deaths.len() > OTHERS + 1 { p { "and " (report.deaths.len() - OTHERS - 1) " more" } }
            }
        }
        (read(report))
    }
}

fn remedy(list: &[Advice]) -> Markup {
    html! {
        @if !list.is_empty() {
            section {
                h2 { "Do this" }
                ol.steps {
                    @for advice in list {
                        li {
                            p { (prose(&advice.text)) }
                            @if let Some(command) = &advice.command { (copied(command)) }
                        }
                    }
                }
            }
        }
    }
}

/// A sentence in which commands and fields stand between backticks.
fn prose(text: &str) -> Markup {
    let parts = visible(text);
    // Without a partner a backtick is one.
    let paired = parts.matches('`').count().is_multiple_of(2);
    html! {
        @if paired {
            @for (index, part) in parts.split('`').enumerate() { @if index.is_multiple_of(2) { (part) } @else { code { (part) } } }
        } @else { (parts) }
    }
}

/// A command; one click selects it whole.
fn copied(command: &str) -> Markup {
    let lines: Vec<String> = command.lines().map(visible).collect();
    html! {
        pre.command tabindex="0" { (lines.join("\n")) }
        p.hint { "one click, or a long press, selects all of it" }
    }
}

fn judgement(report: &Report, verdict: &Verdict, open: bool) -> Markup {
    let folder = folder(report);
    let lists = [("Because", &verdict.because, open), ("Against", &verdict.against, open), ("Set aside", &verdict.aside, false)];
    html! {
        @for (name, list, open) in lists {
            @if !list.is_empty() {
                section {
                    h2 { (name) }
                    @for (index, proof) in list.iter().enumerate() { (evidence(report, proof, folder, open && index < 3)) }
                }
            }
        }
        @if !verdict.lacking.is_empty() {
            section {
                h2 { "Lacking" }
                ul {
                    @for Lacking { what, how, would } in &verdict.lacking {
                        li { (visible(what)) ": would " (visible(would)) @if let Some(how) = how { (copied(how)) } }
                    }
                }
            }
        }
    }
}

fn evidence(report: &Report, Evidence { fact, says }: &Evidence, folder: &str, open: bool) -> Markup {
    let around: Vec<(u64, &str)> = match (report.context.get(&fact.place.input), fact.place.number()) {
        (Some(lines), Some(line)) => {
            let near = lines.range(line.saturating_sub(3)..=line.saturating_add(3));
            near.map(|(number, text)| (*number, text.as_str())).collect()
        }
        _ => Vec::new(),
    };
    html! {
        details.evidence open[open] {
            summary {
                code { (below(&fact.place, folder)) } " "
                span.witness.(fact.witness.name()) { (fact.witness.name()) } " "
                (visible(&without(says, folder)))
            }
            pre { (visible(fact.text.trim_end())) }
            @if around.len() > 1 {
                details.more {
                    summary.aside { "the lines around it" }
                    pre.around {
                        @for (number, text) in around {
                            span.here[Some(number) == fact.place.number()] { (number) "  " (visible(text)) "\n" }
                        }
                    }
                }
            }
            p.aside {
                @if let Some(at) = fact.when { time { (at) } ", " }
                "read by " code { (fact.id) }
            }
        }
    }
}

/// A death after the root, told without being opened: which, when, and its sentence.
fn other(report: &Report, index: usize, entry: &Entry) -> Markup {
    let Verdict { cause, grade, summary, .. } = &entry.verdict;
    html! {
        details.other {
            summary {
                (index + 1) ". " span.verdict.(cause.class().slug()) { (cause.class().title()) } " " (answer(*cause, *grade))
                @if let Some(when) = entry.when { ", " time { (moment(when)) } }
                @if entry.count > 1 { ", " (entry.count) " times" }
                @if let Some(root) = entry.follows { ", follows from death " (root + 1) }
                span.says { (visible(summary)) }
            }
            dl { (facts(entry)) }
            (judgement(report, &entry.verdict, false))
            (numbers(entry))
            (remedy(&entry.remedy))
        }
    }
}

/// What was read and what could not be.
fn read(report: &Report) -> Markup {
    html! {
        section {
            h2 { "Read" }
            table.inputs { @for input in report.inputs.iter().take(100) {
                tr { td { (visible(&input.name)) } td { (input.kind.name()) } td.number { (input.lines) " lines" } td.number { (Bytes(input.bytes)) } }
            } }
            @if report.inputs.len() > 100 { p { "and " (report.inputs.len() - 100) " more" } }
            @if !report.notes.is_empty() {
                ul { @for note in &report.notes { li { code { (visible(&note.input)) } ": " (visible(&note.text)) } } }
            }
        }
    }
}
