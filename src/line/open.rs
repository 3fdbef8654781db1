//! Takes envelopes off one text until none fits.

use std::borrow::Cow;

use crate::time;

use super::{Envelope, carrier, ci, clean, container, hosted, json, kernel, logging, pairs, parts, rank, syslog};

/// Envelopes nest a few deep; more than this is hostile text.
const DEPTH: usize = 12;

/// What remains after one envelope.
pub(super) enum Rest<'a> {
    /// The end of the text; the system log's envelopes, whose continuation lines are indented by their width.
    System(&'a str),
    /// The end of the text.
    Tail(&'a str),
    /// A text that had to be decoded.
    Made(String),
}

/// A text without its envelopes.
pub(super) struct Opened<'a> {
    /// The text; it holds line feeds where an envelope held a message of several lines.
    pub(super) text: Cow<'a, str>,
    /// What the envelopes told.
    pub(super) envelope: Envelope,
    /// The width of the system log's envelope right before the text, which its continuation lines are indented by.
    pub(super) column: usize,
}

/// Takes off one envelope, if one stands at the beginning of the text.
fn step<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    // Most lines of a training log have none of these first characters or stop at the next one.
    match text.bytes().next()? {
        b'<' => syslog::priority(text, envelope),
        b'{' => json::object(text, envelope),
        b'(' => rank::parenthesis(text, envelope),
        b'[' => kernel::bracket(text, envelope)
            .or_else(|| rank::bracket(text, envelope))
            .or_else(|| container::kubectl(text, envelope))
            .or_else(|| logging::bracket(text, envelope))
            .or_else(|| json::list(text)),
        b'#' => ci::buildkit(text),
        b'/' => carrier::grep(text),
        b'\t' => carrier::indented(text),
        b'|' => logging::prefect(text).or_else(|| carrier::guest(text)),
        b'_' => ci::buildkite(text, envelope),
        b'*' => carrier::bold(text),
        b'0'..=b'9' => match time::iso(text) {
            // The output of `date -Iseconds` is the message itself.
            Some((found, "")) if found.zone == time::Zone::Offset && found.digits == 0 => None,
            Some((found, rest)) => container::cri(&found, rest, envelope)
                .or_else(|| hosted::cell(found.stamp, rest, envelope))
                .or_else(|| ci::stamped(&found, rest, envelope))
                .or_else(|| kernel::iso(&found, rest, envelope))
                .or_else(|| container::logcli(&found, rest, envelope))
                .or_else(|| container::tail(&found, rest, envelope))
                .or_else(|| syslog::unified(&found, rest, envelope))
                .or_else(|| syslog::iso(&found, rest, envelope))
                .or_else(|| container::stamped(&found, rest, envelope))
                .or_else(|| logging::stamped(found.stamp, rest, envelope)),
            None => kernel::record(text, envelope)
                .or_else(|| syslog::stamped(text, envelope))
                .or_else(|| syslog::bare(text, envelope))
                .or_else(|| time::slashed(text).and_then(|(stamp, rest)| logging::stamped(stamp, rest, envelope)))
                .or_else(|| time::coarse(text).and_then(|(stamp, rest)| logging::stamped(stamp, rest, envelope)))
                .or_else(|| container::compose(text, envelope))
                .or_else(|| rank::label(text, envelope))
                .or_else(|| syslog::yeared(text, envelope))
                .or_else(|| carrier::grep(text))
                .or_else(|| carrier::host(text, envelope))
                .or_else(|| container::foreman(text, envelope))
                .or_else(|| parts::jenkins(text).map(Rest::Tail))
                .or_else(|| logging::prefect(text)),
        },
        b' ' => logging::rich(text).or_else(|| rank::label(text, envelope)).or_else(|| carrier::indented(text)),
        // None of the envelopes that begin with a letter is without all of these.
        b'a'..=b'z' | b'A'..=b'Z' if !has(text, [b':', b'|', b'=']) && !has(text, [b'\t'; 3]) => {
            hosted::dyno(text, envelope).or_else(|| syslog::heading(text, envelope))
        }
        b'a'..=b'z' | b'A'..=b'Z' => kernel::decoded(text, envelope)
            .or_else(|| timed(text).then(|| syslog::stamped(text, envelope))?)
            .or_else(|| syslog::bare(text, envelope))
            .or_else(|| logging::word(text, envelope))
            .or_else(|| has(text, [b'=', b'=', b'=']).then(|| pairs::mixed(text, envelope))?)
            .or_else(|| hosted::dyno(text, envelope))
            .or_else(|| ci::section(text, envelope))
            .or_else(|| ci::job(text, envelope))
            .or_else(|| rank::ansible(text, envelope))
            .or_else(|| container::compose(text, envelope))
            .or_else(|| carrier::host(text, envelope))
            .or_else(|| carrier::grep(text))
            .or_else(|| carrier::guest(text))
            .or_else(|| rank::host(text, envelope))
            .or_else(|| syslog::heading(text, envelope)),
        _ => None,
    }
}

/// Whether one of three bytes stands in a text.
fn has(text: &str, [a, b, c]: [u8; 3]) -> bool {
    memchr::memchr3(a, b, c, text.as_bytes()).is_some()
}

/// Whether a time of the day stands where one after a word or a date could; the words of many languages are dear to look up.
pub(super) fn timed(text: &str) -> bool {
    let near = text.as_bytes().get(..40).unwrap_or(text.as_bytes());
    near.windows(3).any(|part| matches!(part, [b'0'..=b'9', b':', b'0'..=b'9']))
}

/// Takes off all envelopes. A text that had to be decoded and holds several lines is left for the caller to divide.
pub(super) fn open(mut base: Cow<'_, str>, mut envelope: Envelope) -> Opened<'_> {
    let mut start = 0;
    let mut column = 0;
    for _ in 0..DEPTH {
        let text = base.get(start..).unwrap_or("");
        match step(text, &mut envelope) {
            None => break,
            Some(Rest::System(rest)) => {
                column += text.len().saturating_sub(rest.len());
                start = base.len().saturating_sub(rest.len());
            }
            Some(Rest::Tail(rest)) => {
                column = 0;
                start = base.len().saturating_sub(rest.len());
            }
            Some(Rest::Made(text)) => {
                let text = clean::strip_owned(text);
                (base, start, column) = (Cow::Owned(text), 0, 0);
                if base.contains(['\n', '\r']) {
                    break;
                }
            }
        }
    }
    let text = match base {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..).unwrap_or("")),
        Cow::Owned(text) if start == 0 => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.get(start..).unwrap_or("").to_owned()),
    };
    Opened { text, envelope, column }
}
