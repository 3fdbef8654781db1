//! The parts of the page: verdict, evidence, memory against its limit, remedy, notes.

use maud::{Markup, html};

use super::sections::{when, who};
use super::text::{cut, visible};
use super::{Entry, MemoryPicture, Report, timeline};
use crate::remedy::Advice;
use crate::remedy::sizing::Sizing;
use crate::units::Bytes;
use crate::verdict::{Class, Evidence, Lacking, Verdict};

/// Most deaths after the root that get a section of their own.
const OTHERS: usize = 50;

/// The answer: class, cause, grade, one sentence, when and who.
pub(super) fn heading(report: &Report) -> Markup {
    let Verdict { cause, grade, summary, .. } = &report.verdict;
    let root = report.deaths.first();
    html! {
        header {
            h1.(cause.class().slug()) { (cause.class().title()) }
            p.cause {
                @if cause.class() != Class::None { code { (cause.slug()) } ", " (grade.slug()) ": " (cause.title()) }
            }
            p.summary { (visible(summary)) }
            @if let Some(root) = root { (facts(root)) }
        }
    }
}

/// When and who.
fn facts(entry: &Entry) -> Markup {
    html! {
        dl {
            @for (name, text) in [("when", when(entry)), ("who", who(entry))] {
                @if let Some(text) = text { dt { (name) } dd { (visible(&text)) } }
            }
            @if let Some(signal) = entry.signal { dt { "signal" } dd { (signal.name()) } }
        }
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
                            p { (visible(&advice.text)) }
                            @if let Some(command) = &advice.command { (copied(command)) }
                        }
                    }
                }
            }
        }
    }
}

/// A command; one click selects it whole.
fn copied(command: &str) -> Markup {
    let lines: Vec<String> = command.lines().map(visible).collect();
    html! { pre.command tabindex="0" title="click to select" { (lines.join("\n")) } }
}

fn judgement(report: &Report, verdict: &Verdict, open: bool) -> Markup {
    let lists = [("Because", &verdict.because, open), ("Against", &verdict.against, open), ("Set aside", &verdict.aside, false)];
    html! {
        @for (name, list, open) in lists {
            @if !list.is_empty() {
                section {
                    h2 { (name) }
                    @for (index, proof) in list.iter().enumerate() { (evidence(report, proof, open && index < 3)) }
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

fn evidence(report: &Report, Evidence { fact, says }: &Evidence, open: bool) -> Markup {
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
                code { (visible(&fact.place.to_string())) } " "
                span.witness.(fact.witness.name()) { (fact.witness.name()) } " "
                (visible(says))
            }
            pre { (visible(fact.text.trim_end())) }
            @if around.len() > 1 {
                details {
                    summary.aside { "the lines around it" }
                    pre.around {
                        @for (number, text) in around {
                            span.here[Some(number) == fact.place.number()] { (number) "  " (visible(text)) "\n" }
                        }
                    }
                }
            }
            p.aside {
                @if let Some(at) = fact.when { (at) ", " }
                "read by " code { (fact.id) }
            }
        }
    }
}

fn other(report: &Report, index: usize, entry: &Entry) -> Markup {
    let Verdict { cause, grade, summary, .. } = &entry.verdict;
    html! {
        details {
            summary {
                (index + 1) ". " span.verdict.(cause.class().slug()) { (cause.class().title()) } " "
                code { (cause.slug()) } ", " (grade.slug())
                @if entry.count > 1 { ", " (entry.count) " times" }
                @if let Some(root) = entry.follows { ", follows from death " (root + 1) }
            }
            p { (visible(summary)) }
            (facts(entry))
            (judgement(report, &entry.verdict, false))
            (numbers(entry))
            (remedy(&entry.remedy))
        }
    }
}

/// Memory and /dev/shm against their limits.
fn numbers(entry: &Entry) -> Markup {
    html! {
        @if let Some(picture) = &entry.memory { (memory(picture)) }
        @if let Some(need) = &entry.sizing { (sizing(need)) }
    }
}

fn memory(picture: &MemoryPicture) -> Markup {
    let parts = [("anonymous", picture.anon), ("shared", picture.shmem), ("cache", picture.cache)];
    let known: Vec<(&str, Bytes)> = parts.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    let used = known.iter().map(|(_, bytes)| bytes.0).fold(0, u64::saturating_add);
    let whole = picture.limit.map_or(0, |limit| limit.0).max(used);
    let largest = picture.tasks.iter().map(|(_, rss, _)| rss.0).max().unwrap_or(0).max(whole);
    html! {
        @if !known.is_empty() || !picture.tasks.is_empty() {
            section {
                h2 { "Memory at the kill" @if let Some(limit) = picture.limit { ", limit " (limit) } }
                @if !known.is_empty() {
                    div.bar { @for (name, bytes) in &known { i.(name) style=(share(bytes.0, whole)) {} } }
                    p.legend { @for (name, bytes) in &known { span { i.(name) {} (name) " " (bytes) } } }
                }
                @for (process, rss, killed) in &picture.tasks {
                    div.task {
                        span { (cut(&visible(process), 40)) @if *killed { strong { " killed" } } }
                        div.bar { i.alive[!*killed].killed[*killed] style=(share(rss.0, largest)) {} }
                        span.number { (rss) }
                    }
                }
            }
        }
    }
}

fn sizing(need: &Sizing) -> Markup {
    let whole = [need.bytes, need.had, need.recommended].iter().flatten().map(|bytes| bytes.0).max().unwrap_or(0);
    html! {
        section {
            h2 { "How large /dev/shm must be" }
            @for (name, bytes) in [("had", need.had), ("needed", need.bytes), ("recommended", need.recommended)] {
                @if let Some(bytes) = bytes {
                    div.task { span { (name) } div.bar { i.(name) style=(share(bytes.0, whole)) {} } span.number { (bytes) } }
                }
            }
            details {
                summary { "the formula and where its numbers come from" }
                p { code { (need.formula) } }
                div.drawing { table {
                    @for term in &need.terms {
                        tr {
                            td { (term.name) }
                            td.number { @if let Some(value) = term.value { (value) } @else { "unknown" } }
                            td { (visible(&term.from)) }
                        }
                    }
                } }
                @for remark in &need.remarks { p { (visible(remark)) } }
            }
        }
    }
}

/// A share as a width.
fn share(part: u64, whole: u64) -> String {
    #[allow(clippy::cast_precision_loss)]
    let percent = if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 };
    format!("width:{percent:.2}%")
}

/// What was read and what could not be.
fn read(report: &Report) -> Markup {
    html! {
        section {
            h2 { "Read" }
            div.drawing { table { @for input in report.inputs.iter().take(100) {
                tr { td { (visible(&input.name)) } td { (input.kind.name()) } td.number { (input.lines) " lines" } td.number { (Bytes(input.bytes)) } }
            } } }
            @if report.inputs.len() > 100 { p { "and " (report.inputs.len() - 100) " more" } }
            @if !report.notes.is_empty() {
                ul { @for note in &report.notes { li { code { (visible(&note.input)) } ": " (visible(&note.text)) } } }
            }
        }
    }
}
