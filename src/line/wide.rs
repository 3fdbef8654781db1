//! UTF-16 to UTF-8, for logs that Windows tools saved: recognised by the byte-order mark, everything else passes.

/// What the first bytes said.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    /// Too few bytes yet.
    #[default]
    Unknown,
    /// Bytes pass unchanged.
    Narrow,
    /// UTF-16, most significant byte last.
    Little,
    /// UTF-16, most significant byte first.
    Big,
}

/// Turns a stream of UTF-16 into UTF-8.
#[derive(Clone, Default)]
pub(super) struct Widener {
    form: Form,
    /// A byte that waits for the second one of its pair.
    half: Option<u8>,
    /// A high surrogate that waits for the low one.
    high: Option<u16>,
}

impl Widener {
    /// Takes a piece and hands out UTF-8.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut dyn FnMut(&[u8])) {
        while self.form == Form::Unknown {
            let Some((&first, rest)) = bytes.split_first() else { return };
            match (self.half, first) {
                (None, 0xff | 0xfe) => {
                    self.half = Some(first);
                    bytes = rest;
                }
                (None, _) => self.form = Form::Narrow,
                (Some(0xff), 0xfe) => (self.form, bytes) = (Form::Little, rest),
                (Some(0xfe), 0xff) => (self.form, bytes) = (Form::Big, rest),
                (Some(held), _) => {
                    self.form = Form::Narrow;
                    out(&[held]);
                }
            }
            if self.form != Form::Unknown {
                self.half = None;
            }
        }
        if self.form == Form::Narrow {
            return out(bytes);
        }
        let mut text = String::with_capacity(bytes.len());
        for &byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let pair = [first, byte];
            let unit = if self.form == Form::Little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
            self.unit(unit, &mut text);
        }
        out(text.as_bytes());
    }

    /// Whether the input is known to be UTF-8 already.
    pub(super) fn is_narrow(&self) -> bool {
        self.form == Form::Narrow
    }

    /// Takes one unit of UTF-16.
    fn unit(&mut self, unit: u16, text: &mut String) {
        if let Some(high) = self.high.take() {
            if let Some(Ok(c)) = char::decode_utf16([high, unit]).next() {
                return text.push(c);
            }
            text.push(char::REPLACEMENT_CHARACTER);
        }
        match unit {
            0xd800..=0xdbff => self.high = Some(unit),
            _ => text.push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER)),
        }
    }

    /// Ends the stream: what waits for its second half is handed out as it is.
    pub(super) fn finish(&mut self, out: &mut dyn FnMut(&[u8])) {
        match (self.form, self.half.take(), self.high.take()) {
            (Form::Unknown, Some(held), _) => out(&[held]),
            (_, Some(_), _) | (_, _, Some(_)) => out("\u{fffd}".as_bytes()),
            _ => {}
        }
    }
}
