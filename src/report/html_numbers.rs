//! Memory and shared memory on the page, drawn against their limits.

use maud::{Markup, html};

use super::text::{cut, visible};
use super::{Entry, MemoryPicture};
use crate::remedy::sizing::Sizing;
use crate::units::Bytes;

/// Memory and /dev/shm against their limits.
pub(super) fn numbers(entry: &Entry) -> Markup {
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
    let told = [("had", need.had), ("needed", need.bytes), ("recommended", need.recommended)];
    let known: Vec<(&str, Bytes)> = told.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))).collect();
    let whole = known.iter().map(|(_, bytes)| bytes.0).max().unwrap_or(0);
    let lacking: Vec<String> = need.unknown.iter().map(|name| name.replace('_', " ")).collect();
    html! {
        section {
            h2 { "How large /dev/shm must be" }
            // A single bar would always be full.
            @if let [(name, bytes)] = known[..] { p { (name) " " strong.number { (bytes) } } }
            @if known.len() > 1 {
                @for (name, bytes) in known {
                    div.task { span { (name) } div.bar { i.(name) style=(share(bytes.0, whole)) {} } span.number { (bytes) } }
                }
            }
            @if !lacking.is_empty() { p { "What it needs is unknown without " (lacking.join(" and ")) "." } }
            details.more {
                summary { "the formula and where its numbers come from" }
                p { code { (need.formula) } }
                table.terms {
                    @for term in &need.terms {
                        tr {
                            td { (term.name) }
                            td.number { @if let Some(value) = term.value { (value) } @else { "unknown" } }
                            td { (visible(&term.from)) }
                        }
                    }
                }
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
