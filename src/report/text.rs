//! Text for screens: made safe to show, cut and wrapped by display width.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Shows control characters, escape sequences and characters that reorder or hide text in escaped form.
///
/// Quoted text comes from logs, which anybody can write to: a raw escape sequence could recolour or overwrite the verdict.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\x{:02x}", u32::from(c));
            }
            c if reorders_or_hides(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// Bidirectional controls, zero-width characters, line separators and tags.
pub(crate) fn reorders_or_hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Cuts a text in the middle, with ` … ` in place of what is left out; the end of a message says as much as its beginning.
///
/// A number that lost its last digits reads as another number, so words stay whole. Where one is too long for that, the mark
/// stands at it without a blank and shows that it goes on.
pub(crate) fn cut(text: &str, width: usize) -> String {
    const GAP: &str = " … ";
    if columns(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(GAP.width());
    // More than half of what fits is not given up for a whole word.
    let tail = text.len() - take(text.chars().rev(), room / 3).len();
    let end = (tail..=tail + (text.len() - tail) / 2).find(|at| is_border(text, *at));
    let right = text.get(end.unwrap_or(tail)..).unwrap_or_default().trim_start();
    let head = take(text.chars(), room.saturating_sub(columns(right))).len();
    // A name without the value that followed it would take the value after the gap, so that the end of a clause is best.
    let clause = |at: &usize| is_border(text, *at) && text.get(..*at).is_some_and(|left| left.ends_with([',', ';']));
    let clause = (head / 2..=head).rev().find(clause);
    let start = clause.or_else(|| (head / 2..=head).rev().find(|at| is_border(text, *at)));
    let left = text.get(..start.unwrap_or(head)).unwrap_or_default().trim_end();
    let before = if start.is_some() || left.is_empty() { " " } else { "" };
    let after = if end.is_some() || right.is_empty() { " " } else { "" };
    format!("{left}{before}…{after}{right}")
}

/// Whether a text can be parted here without making another word or number of what stands on either side.
fn is_border(text: &str, at: usize) -> bool {
    let Some((left, right)) = text.split_at_checked(at) else { return false };
    let (Some(left), Some(right)) = (left.chars().next_back(), right.chars().next()) else { return true };
    // Marks that stand inside numbers, times and names; a comma does so only before a digit.
    let inside = |c: char| c.is_alphanumeric() || "_.,:=-+%\\".contains(c);
    let opened = "([{<".contains(left) || ")]}>:,;".contains(right);
    let within = inside(left) && inside(right) && (left != ',' || right.is_ascii_digit());
    !(opened || within)
}

/// As many characters as fit into a width.
fn take(chars: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    let mut taken = String::new();
    for c in chars {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        taken.push(c);
    }
    taken
}

/// Breaks a text at blanks into lines of at most `width` columns; a longer word stays whole, so that it can be copied.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Breaks a text into lines of at most `width` columns, in the middle of a word where it must be.
pub(crate) fn fold(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    for line in wrap(text, width) {
        let mut rest = line.as_str();
        while columns(rest) > width {
            let head = take(rest.chars(), width);
            // `width` is at least as wide as any character, so that every round takes one.
            rest = rest.get(head.len()..).unwrap_or_default();
            lines.push(head);
        }
        if !rest.is_empty() {
            lines.push(rest.to_owned());
        }
    }
    lines
}

/// A text filled up with blanks to a width.
pub(crate) fn pad(text: &str, width: usize) -> String {
    let blanks = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(blanks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_characters_are_shown_escaped() {
        assert_eq!(visible("a\x1b[31mb\0c\u{202e}d\u{9b}e\tf"), "a\\x1b[31mb\\x00c\\u{202e}d\\x9be\\tf");
        assert_eq!(visible("总线错误 ok"), "总线错误 ok");
    }

    #[test]
    fn cutting_keeps_both_ends_and_the_width() {
        let long = format!("Memory cgroup out of memory {} anon-rss:919572kB", "x".repeat(200));
        let cut = cut(&long, 60);
        assert!(columns(&cut) <= 60, "{cut}");
        assert!(cut.starts_with("Memory cgroup") && cut.ends_with("919572kB") && cut.contains(" … "), "{cut}");
        assert!(columns(&super::cut(&"总".repeat(100), 21)) <= 21);
        assert_eq!(super::cut("abc", 0), " … ");
    }

    #[test]
    fn a_cut_leaves_no_number_that_the_text_does_not_have() {
        let text = "Memory cgroup out of memory: Killed process 77210 (python), UID:0 total-vm:413756kB, used 1,234,567 \
                    (12.5%) at 06:36:52, task=lab,pid=19300,uid=0 exit code -15";
        let stands = |word: &str| {
            text.match_indices(word).any(|(at, _)| {
                let (left, right) = (&text[..at], &text[at + word.len()..]);
                !left.ends_with(char::is_alphanumeric) && !right.starts_with(char::is_alphanumeric)
            })
        };
        for width in 24..columns(text) {
            let cut = cut(text, width);
            assert!(columns(&cut) <= width, "{cut}");
            for word in cut.split(' ').filter(|word| !word.contains('…')) {
                assert!(stands(word.trim_matches(|c: char| !c.is_alphanumeric())), "{word}: {cut}");
            }
        }
        let id = "6dceaf0149ad".repeat(6);
        let fields = "State.Status exited, State.OOMKilled false, ExitCode 137, HostConfig.Memory 0 (no limit)";
        assert_eq!(super::cut(fields, 66), "State.Status exited, State.OOMKilled false, … 0 (no limit)");
        assert_eq!(super::cut(&id, 20), format!("{}…{}", &id[..12], &id[id.len() - 5..]));
    }

    #[test]
    fn wrapping_breaks_at_blanks_only() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("", 5), Vec::<String>::new());
        assert_eq!(fold("a verylong总线 b", 5), ["a", "veryl", "ong总", "线", "b"]);
        assert_eq!(fold("总总", 0), ["总", "总"]);
    }
}
