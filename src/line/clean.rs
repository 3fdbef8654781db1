//! Makes bytes readable: invalid UTF-8 is replaced; colours, other terminal sequences, NUL bytes and byte-order marks go; what
//! was escaped for HTML, as in a log that somebody pasted into an issue, is read as it was.

use std::borrow::Cow;

/// How a terminal's escape character looks in logs that made it visible.
const VISIBLE: [&str; 8] = ["^[", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e", "#033"];

/// What calls for a closer look: the characters that are taken out, or begin something that is.
fn special(byte: u8) -> bool {
    SPECIAL.get(usize::from(byte)).copied().unwrap_or(false)
}

/// The same as a table, because every byte of every log is asked.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < table.len() {
        table[at] = matches!(at, 0 | 0x08 | 0x1b | 0x5e | 0x5c | 0x23 | 0x26 | 0xe2 | 0xef);
        at += 1;
    }
    table
};

/// The text of a line.
pub fn clean(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => strip(text),
        Err(_) => Cow::Owned(strip_owned(String::from_utf8_lossy(bytes).into_owned())),
    }
}

/// The same for a text that is already decoded.
pub(super) fn strip_owned(text: String) -> String {
    match strip(&text) {
        Cow::Owned(clean) => clean,
        Cow::Borrowed(same) if same.len() == text.len() => text,
        Cow::Borrowed(part) => part.to_owned(),
    }
}

/// Takes out what is no text.
fn strip(text: &str) -> Cow<'_, str> {
    let Some((before, mut rest)) = first(text).and_then(|first| text.split_at_checked(first)) else { return Cow::Borrowed(text) };
    let mut clean = String::with_capacity(text.len());
    clean.push_str(before);
    while let Some(c) = rest.chars().next() {
        if let Some((c, after)) = entity(rest) {
            clean.push(c);
            rest = after;
            continue;
        }
        if let Some(after) = sequence(rest) {
            rest = after;
            continue;
        }
        if !matches!(c, '\0' | '\u{8}' | '\u{1b}' | '\u{feff}') {
            clean.push(c);
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    Cow::Owned(clean)
}

/// Where the first thing stands that has to go. Most lines have none, and are not copied; an innocent `#`, `\` or progress
/// bar costs no more than a look.
fn first(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|b| special(*b))?;
        let rest = bytes.get(at..)?;
        let goes = match rest {
            [0 | 0x08 | 0x1b, ..] | [0xef, 0xbb, 0xbf, ..] => true,
            [0xef, ..] => false,
            [b'&', ..] => text.get(at..).is_some_and(|rest| entity(rest).is_some()),
            [0xe2, 0x90, 0x9b, ..] | [b'^' | b'\\' | b'#', ..] => text.get(at..).is_some_and(|rest| sequence(rest).is_some()),
            _ => false,
        };
        if goes {
            return Some(at);
        }
        at += 1;
    }
}

/// The character that a text begins with, where it is escaped for HTML, and what follows.
fn entity(text: &str) -> Option<(char, &str)> {
    const NAMES: [(&str, char); 9] = [
        ("lt;", '<'),
        ("gt;", '>'),
        ("amp;", '&'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("#39;", '\''),
        ("#x27;", '\''),
        ("#34;", '"'),
        ("nbsp;", ' '),
    ];
    let rest = text.strip_prefix('&')?;
    NAMES.iter().find_map(|(name, c)| Some((*c, rest.strip_prefix(name)?)))
}

/// What follows the terminal sequence at the beginning of a text, if one stands there.
fn sequence(text: &str) -> Option<&str> {
    let first = text.bytes().next()?;
    if !special(first) {
        return None;
    }
    if let Some(rest) = text.strip_prefix('\u{1b}') {
        return Some(match rest.bytes().next() {
            Some(b'[') => csi(rest.get(1..)?).unwrap_or(rest),
            Some(b']' | b'_' | b'P' | b'^' | b'X') => string(rest.get(1..)?),
            Some(b' '..=b'/') => {
                let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
                let end = rest.chars().next().filter(char::is_ascii).map_or(0, char::len_utf8);
                rest.get(end..)?
            }
            Some(b'0'..=b'~') => rest.get(1..)?,
            _ => rest,
        });
    }
    // Only colours and erasures are believed where the escape character itself is lost to plain text.
    let rest = VISIBLE.iter().find_map(|mark| text.strip_prefix(mark)).or_else(|| text.strip_prefix('\u{241b}'))?;
    let rest = csi(rest.strip_prefix('[')?)?;
    let end = text.len() - rest.len();
    text.get(..end)?.ends_with(['m', 'K', 'A', 'J', 'H']).then_some(rest)
}

/// What follows a control sequence, after its introducer.
fn csi(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c| matches!(c, '0'..='?')).trim_start_matches(|c| matches!(c, ' '..='/'));
    rest.strip_prefix(|c| matches!(c, '@'..='~'))
}

/// What follows a string (a title, a link, a build system's mark), ended by BEL or ST; only its introducer goes if nothing
/// ends it, so that a torn sequence does not swallow the line.
fn string(text: &str) -> &str {
    let end = text.find(['\u{7}', '\u{1b}']);
    match end.and_then(|end| text.get(end..)) {
        Some(rest) => rest.strip_prefix('\u{7}').or_else(|| rest.strip_prefix("\u{1b}\\")).unwrap_or(rest),
        None => text,
    }
}

/// Whether the first bytes of an input (some KiB) are those of a binary file.
///
/// Logs may hold single NUL bytes (PyTorch writes one after each of its worker errors), terminal sequences, and a long hole of
/// NUL bytes at the beginning after a rotation that only truncates.
pub fn looks_binary(head: &[u8]) -> bool {
    const MARKS: [&[u8]; 3] = [&[0xff, 0xfe], &[0xfe, 0xff], &[0xef, 0xbb, 0xbf]];
    const MAGIC: [&[u8]; 7] =
        [b"\x7fELF", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY"];
    if MARKS.iter().any(|mark| head.starts_with(mark)) {
        return false;
    }
    if MAGIC.iter().any(|magic| head.starts_with(magic)) {
        return true;
    }
    let start = head.iter().position(|b| *b != 0).unwrap_or(head.len());
    let head = head.get(start..).unwrap_or_default();
    let odd = head.iter().filter(|b| matches!(b, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    odd >= 8 && odd * 20 >= head.len()
}

#[cfg(test)]
mod tests {
    use super::{clean, looks_binary};

    #[test]
    fn terminal_sequences_nul_bytes_and_marks_go() {
        for (text, expected) in [
            ("plain # text with \\ and ^ in it", "plain # text with \\ and ^ in it"),
            ("\0ERROR: Unexpected bus error", "ERROR: Unexpected bus error"),
            ("\u{1b}[2Kbigshm-1  | pid 1", "bigshm-1  | pid 1"),
            ("\u{1b}[33mout of memory: \u{1b}[0m\u{1b}[31mKilled\u{1b}[0m", "out of memory: Killed"),
            ("\u{1b}[0;mx\u{1b}]8;;http://a\u{7}link\u{1b}]8;;\u{1b}\\y", "xlinky"),
            ("\u{1b}_bk;t=1700000000000\u{7}~~~ Run", "~~~ Run"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}", "xy"),
            ("^[[31mred^[[0m", "red"),
            ("\\u001b[31mred\\u001b[0m", "red"),
            ("#033[31mred#033[0m", "red"),
            ("\u{feff}first", "first"),
            ("path\\element[1] ^[a-z]$", "path\\element[1] ^[a-z]$"),
            ("\u{1b}]torn title", "torn title"),
            ("&nbsp;&nbsp;File &quot;x.py&quot;, line 3, in &lt;module&gt;", "  File \"x.py\", line 3, in <module>"),
            ("dataloader&#39;s &amp; x 2>&1 &c; a & b", "dataloader's & x 2>&1 &c; a & b"),
            ("█▉ 46/61", "█▉ 46/61"),
        ] {
            assert_eq!(clean(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(clean(b"caf\xe9"), "caf\u{fffd}");
    }

    #[test]
    fn binaries_are_told_from_logs() {
        assert!(looks_binary(b"\x7fELF\x02\x01\x01"));
        assert!(looks_binary(&[7, 0, 1, 2, 3, 0, 0, 0, 0, 0, 65, 66, 0, 0, 1]));
        assert!(!looks_binary(b"ERROR: Unexpected bus error encountered in worker.\n\0Traceback\n"));
        assert!(!looks_binary(b""));
        assert!(!looks_binary(&[0; 8192]));
        assert!(!looks_binary(b"\xff\xfeh\0i\0\n\0"));
        assert!(!looks_binary("ошибка шины\n".as_bytes()));
        assert!(!looks_binary(&b"\x1b[31mred\x1b[0m\r\n".repeat(40)));
    }
}
