//! One self-contained page for a post-mortem: no network, no scripts, readable on a phone and on paper, in light and dark.

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::html_parts::{body, heading};
use super::rolls::CAUSES;
use super::series::{self, Incident};
use super::text::visible;
use super::{Report, Tally};
use crate::verdict::Class;

const STYLE: &str = include_str!("page.css");

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let title = match report.verdict.cause.class() {
        Class::None => "nothing died".to_owned(),
        class => format!("{}: {}", class.title(), report.verdict.cause.slug()),
    };
    writeln!(out, "{}", top(&title).into_string())?;
    writeln!(out, "{}", heading(report).into_string())?;
    writeln!(out, "{}", body(report).into_string())?;
    bottom(out)
}

/// Many incidents on one page, each folded.
pub(super) struct Roll;

impl series::Roll for Roll {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", top("what died").into_string())
    }

    fn incident(&mut self, Incident { name, report }: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let class = report.verdict.cause.class();
        if class == Class::None {
            return Ok(());
        }
        let page = html! {
            details.incident {
                summary {
                    strong { (visible(name)) }
                    span.verdict.(class.slug()) { (class.title()) }
                    span { (report.verdict.cause.slug()) ", " (report.verdict.grade.slug()) }
                }
                (heading(report))
                (body(report))
            }
        };
        writeln!(out, "{}", page.into_string())
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", summary(tally).into_string())?;
        bottom(out)
    }
}

/// The style lifts the summary above the incidents, which are written before it is known.
fn summary(tally: &Tally) -> Markup {
    let classes = [Class::OomKill, Class::ShmExhaustion, Class::Unknown, Class::None];
    html! {
        header.first {
            h1 { "What died" }
            @if tally.stopped { p { "The work was stopped before its end." } }
            p { (tally.incidents) " incidents in " (tally.inputs) " inputs" }
            p.classes {
                @for class in classes {
                    @if tally.class(class) > 0 { span.verdict.(class.slug()) { (tally.class(class)) " " (class.title()) } }
                }
            }
            @if !tally.common(1).is_empty() {
                table {
                    @for (cause, count) in tally.common(CAUSES) {
                        tr { td.number { (count) } td { code { (cause.slug()) } } td { (cause.title()) } }
                    }
                }
            }
            @if tally.unread_count() > 0 {
                details {
                    summary { (tally.unread_count()) " not read" }
                    ul { @for note in &tally.unread { li { code { (visible(&note.input)) } ": " (visible(&note.text)) } } }
                    @if tally.more_unread > 0 { p { "and " (tally.more_unread) " more" } }
                }
            }
        }
    }
}

fn top(title: &str) -> Markup {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:";
                // Without it a browser asks the server for an icon.
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (PreEscaped(MARK)) } }
        }
    };
    // The page is written in parts, so that its frame is opened here and closed in `bottom`.
    let text = page.into_string();
    PreEscaped(text.split(MARK).next().unwrap_or_default().to_owned())
}

/// Where the frame of the page is cut.
const MARK: &str = "<!--here-->";

fn bottom(out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "<footer>coroner {}</footer></main></body></html>", env!("CARGO_PKG_VERSION"))
}
