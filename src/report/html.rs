//! One self-contained page for a post-mortem: no network, no scripts, readable on a phone and on paper, in light and dark.

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::html_parts::{answer, body, heading, told};
use super::name::{later, newest, title};
use super::rolls::CAUSES;
use super::sections::moment;
use super::series::{self, Incident};
use super::text::visible;
use super::{Report, Tally};
use crate::time::Stamp;
use crate::verdict::Class;

const STYLE: &str = include_str!("page.css");

/// Writes the report.
pub(super) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{}", top(&title(report)).into_string())?;
    writeln!(out, "{}", heading(report).into_string())?;
    writeln!(out, "{}", body(report).into_string())?;
    bottom(out)
}

/// Many incidents on one page, each folded.
#[derive(Default)]
pub(super) struct Roll {
    /// The newest moment that any of them tells.
    newest: Option<Stamp>,
}

impl series::Roll for Roll {
    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", top("what died").into_string())
    }

    fn incident(&mut self, Incident { name, report }: Incident<'_>, out: &mut dyn io::Write) -> io::Result<()> {
        let (verdict, class) = (&report.verdict, report.verdict.cause.class());
        self.newest = self.newest.into_iter().chain(newest(report)).reduce(later);
        if class == Class::None {
            return Ok(());
        }
        let page = html! {
            details.incident {
                summary {
                    strong { (visible(name)) }
                    span.answer { span.verdict.(class.slug()) { (class.title()) } " " (answer(verdict.cause, verdict.grade)) }
                    @if let Some(when) = report.deaths.first().and_then(|root| root.when) { time { (moment(when)) } }
                    span.says { (visible(&verdict.summary)) }
                }
                section { (told(report)) }
                (body(report))
            }
        };
        writeln!(out, "{}", page.into_string())
    }

    fn end(&mut self, tally: &Tally, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "{}", summary(tally, self.newest).into_string())?;
        bottom(out)
    }
}

/// The style lifts the summary above the incidents, which are written before it is known.
fn summary(tally: &Tally, newest: Option<Stamp>) -> Markup {
    let classes = [Class::OomKill, Class::ShmExhaustion, Class::Unknown, Class::None];
    html! {
        header.first {
            h1 { "What died" }
            @if tally.stopped { p { "The work was stopped before its end." } }
            p {
                (tally.extent())
                @if let Some(newest) = newest { ", which tell up to " time { (moment(newest)) } }
            }
            @if tally.binary > 0 { p { (tally.binary) " not text: skipped" } }
            p.classes {
                @for class in classes {
                    @if tally.class(class) > 0 { span.verdict.(class.slug()) { (tally.class(class)) " " (class.title()) } }
                }
            }
            @if !tally.common(1).is_empty() {
                table.causes {
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
