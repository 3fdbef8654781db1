//! Narrows the classes of a wording to ASCII: what programs print in fixed places are ASCII letters, digits and blanks.
//!
//! A `\w` of all the world's letters costs a millisecond to compile, a `{0,40}` of them ten; a report on a small log is made
//! in less. What may be any letter is written as what it is not (`[^"]`, `\S`), and stays so.

/// The same wording with `\d`, `\w`, `\s`, their opposites and `\b` meant in ASCII.
pub(super) fn ascii(regex: &str) -> String {
    let mut narrow = String::with_capacity(regex.len() + 64);
    let mut depth = 0_u32;
    let mut letters = regex.chars();
    while let Some(c) = letters.next() {
        match c {
            '\\' => {
                let Some(next) = letters.next() else { break };
                let class = match next {
                    'd' | 'D' => "digit",
                    'w' | 'W' => "word",
                    's' | 'S' => "space",
                    'b' | 'B' if depth == 0 => {
                        narrow.push_str(&format!(r"(?-u:\{next})"));
                        continue;
                    }
                    _ => {
                        narrow.extend(['\\', next]);
                        continue;
                    }
                };
                let not = if next.is_ascii_uppercase() { "^" } else { "" };
                // POSIX classes are ASCII, and stand in brackets of their own or of a larger class.
                let (open, close) = if depth == 0 { ("[", "]") } else { ("", "") };
                narrow.push_str(&format!("{open}[:{not}{class}:]{close}"));
            }
            '[' => {
                depth += 1;
                narrow.push(c);
            }
            ']' => {
                depth = depth.saturating_sub(1);
                narrow.push(c);
            }
            _ => narrow.push(c),
        }
    }
    narrow
}

#[cfg(test)]
mod tests {
    use super::ascii;

    #[test]
    fn classes_become_ascii_wherever_they_stand() {
        for (regex, expected) in [
            (r"^pid \d+$", "^pid [[:digit:]]+$"),
            (r"[\w.-]+\s", "[[:word:].-]+[[:space:]]"),
            (r"[^\s\]]\S", r"[^[:space:]\]][[:^space:]]"),
            (r"\bx\.\\d", r"(?-u:\b)x\.\\d"),
            (r"[A-Z][a-z]{2}", "[A-Z][a-z]{2}"),
        ] {
            assert_eq!(ascii(regex), expected);
            assert!(regex::Regex::new(&ascii(regex)).is_ok());
        }
    }
}
