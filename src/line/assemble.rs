//! Puts together what writers spread over several lines, and hands every line on without its envelope.

use std::borrow::Cow;

use super::block::{Block, Fate};
use super::habit::Habits;
use super::kernel::{self, Relative};
use super::open::{Opened, open};
use super::partial::Partials;
use super::split::Cut;
use super::{Envelope, Line, clean};
use crate::time::Stamp;

/// Messages of several lines may hold messages of several lines, but not for ever.
const DEPTH: usize = 4;

/// The narrowest envelope of the system log that continuation lines are known by; less is any indented text.
const NARROWEST: usize = 8;

/// How many lines such a table may have, other programs' lines between its rows counted.
const ROWS: u32 = 1 << 16;

/// The longest record that is put together from the kernel's pieces.
const RECORD: usize = 64 << 10;

/// Hands out a text and, where an envelope held several lines, each of them.
pub(super) fn emit(text: Cow<'_, str>, envelope: Envelope, number: u64, depth: usize, sink: &mut dyn FnMut(Line<'_>)) {
    hand(open(text, envelope), number, depth, sink);
}

fn hand(opened: Opened<'_>, number: u64, depth: usize, sink: &mut dyn FnMut(Line<'_>)) {
    if depth < DEPTH && memchr::memchr2(b'\n', b'\r', opened.text.as_bytes()).is_some() {
        for part in opened.text.split(['\n', '\r']).filter(|part| !part.is_empty()) {
            emit(part.into(), opened.envelope.clone(), number, depth + 1, sink);
        }
    } else {
        sink(Line { text: opened.text, number, envelope: opened.envelope });
    }
}

/// The state between lines.
#[derive(Clone, Default)]
pub(super) struct Assembler {
    /// The prefixes of all lines.
    pub(super) habits: Habits,
    block: Option<Block>,
    partials: Partials,
    /// The last line of a system log: its envelope, and how far its further lines are indented.
    trail: Option<(Envelope, usize)>,
    /// The running clock of `dmesg -e`, which prints a minute once and then only distances.
    clock: Option<Stamp>,
    /// A record of the kernel that may go on in the next one.
    held: Option<Held>,
    /// How many more lines may be rows of the kernel's table of tasks.
    rows: u32,
}

/// A record of the kernel and its line number.
#[derive(Clone)]
struct Held {
    line: Line<'static>,
    /// Whether the next record must say itself that it goes on, as in /dev/kmsg.
    flagged: bool,
}

impl Assembler {
    /// Takes a line as the input has it.
    pub(super) fn push(&mut self, cut: Cut<'_>, sink: &mut dyn FnMut(Line<'_>)) {
        let mut text = clean::clean(cut.bytes);
        let number = cut.number;
        let mut envelope = Envelope::default();
        if !self.habits.is_empty() {
            text = match text {
                Cow::Borrowed(text) => Cow::Borrowed(self.habits.peel(text, &mut envelope)),
                Cow::Owned(text) => Cow::Owned(self.habits.peel(&text, &mut envelope).to_owned()),
            };
        }
        if let Some(block) = &mut self.block {
            if cut.more && block.more(&text, number) {
                return;
            }
            let fate = block.take(&text, number, sink);
            if !matches!(fate, Fate::Taken)
                && let Some(block) = self.block.take()
            {
                block.end(sink);
            }
            if !matches!(fate, Fate::Strange) {
                return;
            }
        }
        if let Some(block) = Block::begin(&text, number) {
            self.flush(sink);
            self.trail = None;
            self.block = Some(block);
            return;
        }
        if self.partials.take(&text, number, sink) {
            return;
        }
        if let Some(line) = self.inherited(&text, number) {
            self.release(sink);
            return sink(line);
        }
        self.line(text, envelope, number, sink);
    }

    /// A line that stands for itself.
    fn line(&mut self, text: Cow<'_, str>, envelope: Envelope, number: u64, sink: &mut dyn FnMut(Line<'_>)) {
        let digit = text.starts_with(|c: char| c.is_ascii_digit());
        let flag = if digit { kernel::parts(&text).map(|(_, _, flag, _)| flag) } else { None };
        let relative = if text.starts_with('[') { kernel::relative(&text) } else { None };
        let mut opened = open(text, envelope);
        match relative {
            Some(Relative::Minute(stamp)) => self.clock = Some(stamp),
            Some(Relative::Later(micros)) => {
                self.clock = self.clock.map(|stamp| stamp.later(micros));
                opened.envelope.when = opened.envelope.when.or(self.clock);
            }
            None => {}
        }
        // Behind a container's or CI system's prefix the indentation shows only now.
        if opened.envelope.kernel.is_none()
            && let Some(line) = self.inherited(&opened.text, number)
        {
            self.release(sink);
            return sink(line);
        }
        if opened.column >= NARROWEST {
            self.trail = Some((opened.envelope.clone(), opened.column));
        } else if !opened.text.is_empty() {
            self.trail = None;
        }
        self.rows = match self.rows {
            _ if heads(&opened.text) => ROWS,
            rows if opened.text.starts_with('[') || opened.envelope.kernel == Some(false) => rows.saturating_sub(1),
            _ => 0,
        };
        if let Some(mut held) = self.held.take() {
            let joins = flag.map_or(!held.flagged && opened.envelope.kernel == Some(true), |flag| flag == 'c');
            if joins && flag.is_some() == held.flagged && held.line.text.len() + opened.text.len() <= RECORD {
                held.line.text.to_mut().push_str(&opened.text);
                self.held = Some(held);
                if !self.unfinished() {
                    self.release(sink);
                }
                return;
            }
            sink(held.line);
        }
        if flag.is_some() && !opened.text.contains('\n') || torn(&opened) {
            let line = Line { text: opened.text.into_owned().into(), number, envelope: opened.envelope };
            self.held = Some(Held { line, flagged: flag.is_some() });
            return;
        }
        hand(opened, number, 0, sink);
    }

    /// Whether the held record may still go on. One that was torn at the kernel's record size takes a single further piece.
    fn unfinished(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.flagged)
    }

    /// A continuation line of the system log: indented to the message above it, with no prefix of its own.
    fn inherited<'a>(&self, text: &str, number: u64) -> Option<Line<'a>> {
        let (envelope, column) = self.trail.as_ref()?;
        let blanks = text.as_bytes().get(..*column)?;
        let rest = text.get(*column..)?;
        (blanks.iter().all(|b| *b == b' ') && !rest.trim_start().is_empty()).then(|| Line {
            text: rest.to_owned().into(),
            number,
            envelope: envelope.clone(),
        })
    }

    /// Whether nothing waits for a further line, and no table goes on. The running clock of `dmesg -e` always does.
    pub(super) fn rests(&self) -> bool {
        self.block.is_none() && self.held.is_none() && self.clock.is_none() && self.rows == 0 && self.partials.is_empty()
    }

    fn release(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        if let Some(held) = self.held.take() {
            sink(held.line);
        }
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        self.release(sink);
        self.partials.finish(sink);
    }

    /// Hands out what is still held.
    pub(super) fn finish(&mut self, sink: &mut dyn FnMut(Line<'_>)) {
        if let Some(block) = self.block.take() {
            block.end(sink);
        }
        self.flush(sink);
    }
}

/// Whether a line is the heading of the kernel's table of tasks: `[ pid ]   uid  tgid total_vm …` (mm/oom_kill.c).
fn heads(text: &str) -> bool {
    text.starts_with('[') && text.trim_start_matches(['[', ' ']).starts_with("pid ") && text.contains(" total_vm ")
}

/// Whether a line is the kernel's list of an OOM kill, cut before its end: with long cgroup paths it passes the size of a
/// record (about 1000 bytes) and goes on in a second one (Linux 5.10 and later).
fn torn(opened: &Opened<'_>) -> bool {
    opened.envelope.kernel == Some(true)
        && opened.text.starts_with("oom-kill:constraint=")
        && opened.text.len() > 512
        && !opened.text.contains(",uid=")
}
