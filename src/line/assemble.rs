//! Puts together what writers spread over several lines, and hands every line on without its envelope.

use std::borrow::Cow;

use super::open::{Opened, open};
use super::split::Cut;
use super::{Envelope, Line, clean};

/// Messages of several lines may hold messages of several lines, but not for ever.
const DEPTH: usize = 4;

/// Hands out a text and, where an envelope held several lines, each of them.
pub(super) fn emit(text: Cow<'_, str>, envelope: Envelope, number: u64, depth: usize, sink: &mut dyn FnMut(Line<'_>)) {
    hand(open(text, envelope), number, depth, sink);
}

fn hand(opened: Opened<'_>, number: u64, depth: usize, sink: &mut dyn FnMut(Line<'_>)) {
    if depth < DEPTH && opened.text.contains(['\n', '\r']) {
        for part in opened.text.split(['\n', '\r']).filter(|part| !part.is_empty()) {
            emit(part.into(), opened.envelope.clone(), number, depth + 1, sink);
        }
    } else {
        sink(Line { text: opened.text, number, envelope: opened.envelope });
    }
}

/// The state between lines.
#[derive(Default)]
pub(super) struct Assembler {}

impl Assembler {
    pub(super) fn push(&mut self, cut: Cut<'_>, sink: &mut dyn FnMut(Line<'_>)) {
        emit(clean::clean(cut.bytes), Envelope::default(), cut.number, 0, sink);
    }

    pub(super) fn finish(&mut self, _sink: &mut dyn FnMut(Line<'_>)) {}
}
