//! Cuts bytes at line feeds and carriage returns, in bounded memory, and takes the binary fields of a journal export apart.

/// What is kept of the beginning and of the end of an overlong line.
const HALF: usize = 512 << 10;

/// The largest binary field of a journal export that is believed; journald itself stops at 768 MiB, messages far earlier.
const FIELD: u64 = 64 << 20;

/// A piece between two marks.
#[derive(Clone, Copy)]
pub(super) struct Cut<'a> {
    /// The bytes, without the mark.
    pub(super) bytes: &'a [u8],
    /// The line number, from 1.
    pub(super) number: u64,
    /// Whether this continues the field of a journal export that the piece before began.
    pub(super) more: bool,
}

/// A line that grows; of an overlong one, the middle is forgotten.
#[derive(Clone, Default)]
struct Growing {
    head: Vec<u8>,
    tail: Vec<u8>,
    cut: bool,
    more: bool,
}

impl Growing {
    fn push(&mut self, mut bytes: &[u8]) {
        let room = (2 * HALF).saturating_sub(self.head.len());
        if !self.cut && room > 0 {
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.head.extend_from_slice(now);
            bytes = later;
        }
        if bytes.is_empty() {
            return;
        }
        if !self.cut {
            self.cut = true;
            self.tail = self.head.split_off(HALF.min(self.head.len()));
        }
        let skipped = bytes.len().saturating_sub(HALF);
        self.tail.extend_from_slice(bytes.get(skipped..).unwrap_or(bytes));
        if self.tail.len() > 3 * HALF {
            self.tail.drain(..self.tail.len() - HALF);
        }
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Hands out the line and forgets it.
    fn give(&mut self, number: u64, out: &mut dyn FnMut(Cut<'_>)) {
        if self.cut {
            self.head.extend_from_slice(" … ".as_bytes());
            let from = self.tail.len().saturating_sub(HALF);
            self.head.extend_from_slice(self.tail.get(from..).unwrap_or(&self.tail));
            self.tail = Vec::new();
            self.cut = false;
        }
        out(Cut { bytes: &self.head, number, more: self.more });
        self.more = false;
        if self.head.capacity() > 4 * HALF {
            self.head = Vec::new();
        }
        self.head.clear();
    }
}

/// Where in a journal export the splitter stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    /// Lines.
    #[default]
    Text,
    /// The eight bytes that tell the length of a binary field, least significant first.
    Length { got: u8, value: u64 },
    /// So many bytes of a binary field are to come.
    Field { left: u64 },
}

/// Cuts a stream into lines.
#[derive(Clone, Default)]
pub(super) struct Splitter {
    line: Growing,
    feeds: u64,
    /// Whether anything of the present line was handed out at a carriage return.
    shown: bool,
    /// Whether anything came since the last line feed.
    begun: bool,
    /// Whether the stream is inside an entry of a journal export, the only place with binary fields.
    export: bool,
    /// Whether it ever was.
    exports: bool,
    mode: Mode,
}

impl Splitter {
    /// Takes a piece of the stream.
    ///
    /// A binary field of a journal export comes out as `MESSAGE=` with its first line, and then its other lines.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut dyn FnMut(Cut<'_>)) {
        while let Some(&first) = bytes.first() {
            match self.mode {
                Mode::Text => {
                    let end = memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
                    let (text, rest) = bytes.split_at(end);
                    self.begun |= !text.is_empty();
                    // A log that was cut to nothing while its writer went on has a hole of NUL bytes before its first line.
                    let hole = if self.line.is_empty() { text.iter().take_while(|b| **b == 0).count() } else { 0 };
                    self.line.push(text.get(hole..).unwrap_or_default());
                    bytes = rest;
                    if let Some((&mark, rest)) = rest.split_first() {
                        bytes = rest;
                        self.mark(mark, out);
                    }
                }
                Mode::Length { got, value } => {
                    bytes = bytes.get(1..).unwrap_or_default();
                    self.feeds += u64::from(first == b'\n');
                    let value = value | u64::from(first) << (8 * u32::from(got.min(7)));
                    self.mode = match got {
                        0..7 => Mode::Length { got: got + 1, value },
                        _ if value > 0 && value <= FIELD => Mode::Field { left: value },
                        _ => Mode::Text,
                    };
                }
                Mode::Field { left } => {
                    let size = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let (field, rest) = bytes.split_at(size);
                    bytes = rest;
                    let mut parts = field.split(|b| *b == b'\n');
                    self.line.push(parts.next().unwrap_or_default());
                    for part in parts {
                        self.line.give(self.feeds + 1, out);
                        self.feeds += 1;
                        self.line.push(part);
                        self.line.more = true;
                    }
                    self.begun = true;
                    self.mode = match left - size as u64 {
                        0 => Mode::Text,
                        left => Mode::Field { left },
                    };
                }
            }
        }
    }

    /// Whether a line begins here.
    pub(super) fn rests(&self) -> bool {
        self.mode == Mode::Text && self.line.is_empty() && !self.export
    }

    /// Whether there was an entry of a journal export.
    pub(super) fn exports(&self) -> bool {
        self.exports
    }

    /// The number of the line that comes next.
    pub(super) fn number(&self) -> u64 {
        self.feeds + 1
    }

    /// Passes over whole lines, which only count.
    pub(super) fn skip(&mut self, lines: &[u8]) {
        if lines.is_empty() {
            return;
        }
        self.feeds += memchr::memchr_iter(b'\n', lines).count() as u64;
        let shown = lines.last() == Some(&b'\r');
        (self.shown, self.begun) = (shown, shown);
    }

    /// A line feed or a carriage return.
    fn mark(&mut self, mark: u8, out: &mut dyn FnMut(Cut<'_>)) {
        let number = self.feeds + 1;
        if mark == b'\r' {
            self.begun = true;
            if !self.line.is_empty() {
                self.line.give(number, out);
                self.shown = true;
            }
            return;
        }
        self.feeds += 1;
        if self.line.is_empty() && self.shown {
            (self.shown, self.begun) = (false, false);
            return;
        }
        (self.shown, self.begun) = (false, false);
        let text = &self.line.head;
        if self.export && !text.is_empty() && text.iter().all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b'_')) {
            self.line.push(b"=");
            self.mode = Mode::Length { got: 0, value: 0 };
            return;
        }
        // An entry begins with its cursor and ends with an empty line.
        self.export = text.starts_with(b"__CURSOR=") || (self.export && !text.is_empty());
        self.exports |= self.export;
        self.line.give(number, out);
    }

    /// Ends the stream and tells how many lines it had.
    pub(super) fn finish(&mut self, out: &mut dyn FnMut(Cut<'_>)) -> u64 {
        let number = self.feeds + 1;
        if !self.line.is_empty() {
            self.line.give(number, out);
            self.begun = true;
        }
        self.feeds + u64::from(self.begun)
    }
}
