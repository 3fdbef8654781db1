//! JSON in a text: values that begin at the start of a line, and what is left of those that were cut off.

use serde_json::Value;

use super::documents::{Found, line_ends};

/// How many broken values are mended; a file of nothing but broken ones is no record.
const MENDED: u32 = 8;

/// A broken value of fewer lines than this is most likely a line of a log.
const LINES: u64 = 3;

/// Looks at every line that could begin a document.
///
/// A value that breaks off may have cost the whole rest of the text, so all such values together may cost only a few times
/// its length.
pub(super) fn find(text: &str, found: &mut Found) {
    let mut budget = text.len().saturating_mul(4).saturating_add(1 << 20);
    let mut mended = 0;
    let (mut at, mut line) = (0, 1);
    let mut first = true;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(start) = value_start(rest) else {
            let next = rest.find('\n').map_or(rest.len(), |end| end + 1);
            first &= rest.get(..next).is_none_or(|passed| passed.trim().is_empty());
            at += next;
            line += 1;
            continue;
        };
        let value_text = rest.get(start..).unwrap_or_default();
        let at_start = std::mem::take(&mut first);
        let mut stream = serde_json::Deserializer::from_str(value_text).into_iter::<Value>();
        let broken = match stream.next() {
            Some(Ok(value)) => {
                let end = start + stream.byte_offset();
                let last = line + line_ends(rest.get(..end).unwrap_or_default());
                found.keep(value, line, last);
                at += end.max(1);
                line = last;
                continue;
            }
            Some(Err(error)) => error,
            None => return,
        };
        let whole = value_text.get(..offset(value_text, broken.line(), broken.column())).unwrap_or_default();
        let lines = line_ends(whole);
        let bad = line + lines;
        // serde_json stops at 128 open brackets, lest the stack overflow.
        let deep = whole.len() >= 127 && !broken.is_eof() && broken.to_string().starts_with("recursion limit");
        budget = budget.saturating_sub(whole.len());
        if budget == 0 {
            found.note(format!("too much broken JSON up to line {bad}: the rest was read as text"));
            return;
        }
        let mut skip = 0;
        let how = if broken.is_eof() { "ends in the middle" } else { "breaks off" };
        if deep {
            found.note(format!("looks like JSON, but is nested too deep at line {bad}: read as text"));
            skip = whole.len();
        } else if mended < MENDED && (lines >= LINES || broken.is_eof()) {
            mended += 1;
            let mended = mend(whole).and_then(|text| serde_json::from_str(&text).ok());
            if mended.is_some_and(|value| found.keep(value, line, bad)) {
                found.note(format!("looks like JSON, but {how} at line {bad}: only what is whole was read"));
                skip = whole.len();
            } else if at_start && (lines >= LINES || broken.is_eof()) {
                found.note(format!("looks like JSON, but {how} at line {bad}: read as text"));
            }
        }
        // The line that broke the value may begin the next one.
        if skip > 0 && lines > 0 {
            let line_start = whole.rfind('\n').map_or(whole.len(), |end| end + 1);
            at += start + line_start;
            line = bad;
        } else {
            let next = rest.find('\n').map_or(rest.len(), |end| end + 1);
            at += next;
            line += 1;
        }
    }
}

/// Where on this line a document may begin: an object with a member, or an array of objects.
///
/// A pasted piece of `docker inspect` may begin with the name of the object.
fn value_start(rest: &str) -> Option<usize> {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b',');
    let mut start = rest.bytes().take_while(|byte| blank(byte)).count();
    for name in ["\"State\":", "\"HostConfig\":"] {
        if rest.get(start..).is_some_and(|text| text.starts_with(name)) {
            start += name.len();
            start += rest.get(start..)?.bytes().take_while(|byte| blank(byte)).count();
        }
    }
    let text = rest.get(start..)?;
    let inner = text.strip_prefix('[').map(str::trim_start).unwrap_or(text);
    inner.strip_prefix('{')?.trim_start().starts_with('"').then_some(start)
}

/// The byte that a line and column of serde_json point at, not beyond the text and not inside a character.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        line => text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    let mut end = start.saturating_add(column).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Cuts a broken value after its last whole member and closes what is open.
fn mend(text: &str) -> Option<String> {
    let (mut depth, mut cut) = (0_usize, 0_usize);
    walk(text, |at, byte| match byte {
        b'{' | b'[' => depth += 1,
        b'}' | b']' => {
            depth = depth.saturating_sub(1);
            cut = at + 1;
        }
        b',' => cut = at,
        _ => {}
    });
    let whole = text.get(..cut).filter(|whole| !whole.is_empty())?;
    let mut open = Vec::new();
    walk(whole, |_, byte| match byte {
        b'{' => open.push('}'),
        b'[' => open.push(']'),
        b'}' | b']' => {
            open.pop();
        }
        _ => {}
    });
    Some(whole.chars().chain(open.into_iter().rev()).collect())
}

/// Visits the brackets and commas outside of strings.
fn walk(text: &str, mut visit: impl FnMut(usize, u8)) {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quoted, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => quoted = !quoted,
            (false, b'{' | b'[' | b'}' | b']' | b',') => visit(at, byte),
            _ => {}
        }
    }
}
