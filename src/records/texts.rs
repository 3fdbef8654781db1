//! Records that are text laid out for people: blocks and tables of several lines, found by how a line of theirs begins.

use crate::seen::Form;

use super::{Reading, TEXTS};

/// A record that is text laid out for people.
pub struct TextFormat {
    /// The kind's name in reports, as `k8s-describe`.
    pub id: &'static str,
    /// Beginnings of lines, blanks left aside, of which at least one stands in every text of this kind; an empty one where
    /// the lines begin in many ways.
    pub starts: &'static [&'static str],
    /// Makes the claims, each with its line; nothing where the text is of another kind.
    pub read: fn(&str) -> Option<Reading>,
    /// Its row in the table of inputs.
    pub form: Form,
    /// Texts of this kind, shortened to what the format looks at; no other format may claim them.
    pub samples: &'static [&'static str],
}

/// Reads a text by every format that finds something of its kind in it: one paste may hold several, and a CI log may have
/// put the time before each of its lines.
///
/// The text is passed once to find the formats worth trying, however many there are.
pub fn read_texts(text: &str) -> Vec<(&'static TextFormat, Reading)> {
    let starts = Starts::default();
    let mut bare: Vec<bool> = TEXTS.iter().map(|format| format.starts.contains(&"")).collect();
    let mut stamped = vec![false; TEXTS.len()];
    for line in text.lines() {
        starts.mark(line, &mut bare);
        if let Some(rest) = unstamped(line) {
            starts.mark(rest, &mut stamped);
        }
    }
    let read = |text: &str, wanted: &[bool]| -> Vec<(&'static TextFormat, Reading)> {
        let tried = TEXTS.iter().zip(wanted).filter(|(_, wanted)| **wanted);
        tried.filter_map(|(format, _)| (format.read)(text).map(|reading| (format, reading))).collect()
    };
    let mut found = read(text, &bare);
    if stamped.contains(&true) {
        let plain: Vec<&str> = text.lines().map(|line| unstamped(line).unwrap_or(line)).collect();
        found.extend(read(&plain.join("\n"), &stamped));
    }
    found
}

/// Whether the first line of a text is one by which a format is known.
pub fn begins(text: &str) -> bool {
    let Some(first) = text.lines().map(str::trim_start).find(|line| !line.is_empty()) else { return false };
    let starts = TEXTS.iter().flat_map(|format| format.starts);
    starts.filter(|start| !start.is_empty()).any(|start| first.starts_with(start))
}

/// The beginnings of lines that each format looks for, by their first letter.
struct Starts {
    by_letter: [Vec<(&'static str, usize)>; 128],
}

impl Default for Starts {
    fn default() -> Self {
        let mut by_letter: [Vec<(&str, usize)>; 128] = std::array::from_fn(|_| Vec::new());
        for (at, format) in TEXTS.iter().enumerate() {
            for start in format.starts.iter().filter(|start| !start.is_empty()) {
                if let Some(row) = start.bytes().next().and_then(|letter| by_letter.get_mut(usize::from(letter))) {
                    row.push((start, at));
                }
            }
        }
        Self { by_letter }
    }
}

impl Starts {
    /// Marks the formats that this line speaks for.
    fn mark(&self, line: &str, wanted: &mut [bool]) {
        let line = line.trim_start_matches([' ', '\t', '\u{feff}']);
        let Some(letter) = line.bytes().next() else { return };
        for (start, at) in self.by_letter.get(usize::from(letter)).into_iter().flatten() {
            if line.starts_with(start)
                && let Some(flag) = wanted.get_mut(*at)
            {
                *flag = true;
            }
        }
    }
}

/// What follows `2024-02-13T10:00:00.1234567Z `, and GitLab's mark of the stream (`00O `, `01E+`) behind it.
fn unstamped(line: &str) -> Option<&str> {
    let bytes = line.as_bytes();
    if !bytes.first().is_some_and(u8::is_ascii_digit) || bytes.get(10) != Some(&b'T') {
        return None;
    }
    let (stamp, rest) = line.split_once(' ')?;
    if !(20..=35).contains(&stamp.len()) || !stamp.ends_with('Z') {
        return None;
    }
    let mark = rest.get(..4).filter(|mark| {
        let mut letters = mark.chars();
        let stream = letters.by_ref().take(2).all(|c| c.is_ascii_hexdigit());
        stream && matches!(letters.next(), Some('O' | 'E')) && matches!(letters.next(), Some(' ' | '+'))
    });
    Some(mark.map_or(rest, |mark| rest.get(mark.len()..).unwrap_or_default()))
}

/// The lines of a text with their numbers, without what follows the last word.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).map(|(number, line)| (number, line.trim_end()))
}

/// The columns of a table whose rows stand below the words of its head.
pub(super) struct Columns<'a> {
    /// Each heading with the column, counted in characters, at which it begins.
    heads: Vec<(&'a str, usize)>,
}

impl<'a> Columns<'a> {
    /// Reads a head, whose headings stand at least two blanks apart where a heading has several words.
    pub(super) fn of(head: &'a str) -> Self {
        let mut heads = Vec::new();
        let mut start: Option<(usize, usize)> = None;
        let mut blanks = 2;
        let mut last = 0;
        for (column, (at, letter)) in head.char_indices().enumerate() {
            if letter == ' ' || letter == '\t' {
                blanks += 1;
                continue;
            }
            if blanks >= 2 {
                if let Some((from, column)) = start {
                    heads.push((head.get(from..last).unwrap_or_default().trim(), column));
                }
                start = Some((at, column));
            }
            blanks = 0;
            last = at + letter.len_utf8();
        }
        if let Some((from, column)) = start {
            heads.push((head.get(from..last).unwrap_or_default().trim(), column));
        }
        Self { heads }
    }

    /// The cell of a row below a heading; empty where the table or the row has none.
    pub(super) fn cell<'b>(&self, row: &'b str, heading: &str) -> &'b str {
        let Some(at) = self.heads.iter().position(|(name, _)| *name == heading) else { return "" };
        let from = self.heads.get(at).map_or(0, |(_, column)| *column);
        let to = self.heads.get(at + 1).map(|(_, column)| *column);
        let offset = |column: usize| row.char_indices().nth(column).map_or(row.len(), |(at, _)| at);
        row.get(offset(from)..to.map_or(row.len(), offset)).unwrap_or_default().trim()
    }

    /// Whether the table has this heading.
    pub(super) fn has(&self, heading: &str) -> bool {
        self.heads.iter().any(|(name, _)| *name == heading)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::What;

    #[test]
    fn every_text_is_claimed_by_its_own_format_alone() {
        for format in TEXTS {
            assert!(!format.samples.is_empty(), "{} has no sample", format.id);
            for sample in format.samples {
                for text in [(*sample).to_owned(), sample.replace('\n', "\r\n")] {
                    let claimed: Vec<_> = read_texts(&text).into_iter().map(|(format, _)| format.id).collect();
                    assert_eq!(claimed, [format.id], "{sample}");
                }
            }
        }
    }

    #[test]
    fn a_time_before_each_line_hides_nothing() {
        for format in TEXTS {
            for sample in format.samples {
                for stamp in ["2024-02-13T10:00:00.1234567Z ", "2024-02-13T10:00:00.123456Z 00O "] {
                    let text: Vec<String> = sample.lines().map(|line| format!("{stamp}{line}")).collect();
                    let claimed: Vec<_> = read_texts(&text.join("\n")).into_iter().map(|(format, _)| format.id).collect();
                    assert_eq!(claimed, [format.id], "{sample}");
                }
            }
        }
    }

    /// The kinds of claims of a text.
    fn kinds(format: &TextFormat, text: &str) -> Vec<std::mem::Discriminant<What>> {
        let entries = (format.read)(text).map(|reading| reading.entries).unwrap_or_default();
        entries.iter().map(|entry| std::mem::discriminant(&entry.claim.what)).collect()
    }

    #[test]
    fn no_cut_of_a_text_upsets_a_reader_and_no_cut_makes_more_of_it() {
        for format in TEXTS {
            for sample in format.samples {
                let whole = kinds(format, sample);
                for (at, letter) in sample.char_indices() {
                    let cut = kinds(format, &sample[..at]);
                    assert!(cut.len() <= whole.len(), "{}: {}", format.id, &sample[..at]);
                    assert!(letter != '\n' || cut.iter().all(|kind| whole.contains(kind)), "{}: {}", format.id, &sample[..at]);
                    (format.read)(&sample[at..]);
                }
                let lines: Vec<&str> = sample.lines().collect();
                for drop in 0..lines.len() {
                    let rest: Vec<&str> = lines.iter().enumerate().filter(|(n, _)| *n != drop).map(|(_, line)| *line).collect();
                    assert!(kinds(format, &rest.join("\n")).len() <= whole.len(), "{}: {}", format.id, rest.join("\n"));
                }
            }
        }
    }

    #[test]
    fn columns_are_found_below_their_headings() {
        let columns = Columns::of("CONTAINER ID   STATUS      NAMES");
        assert_eq!(columns.cell("3c0e9f74bcf1   Exited (1)  büro", "NAMES"), "büro");
        assert_eq!(columns.cell("3c0e9f74bcf1   Exited (1)  büro", "CONTAINER ID"), "3c0e9f74bcf1");
        assert_eq!((columns.cell("ü", "NAMES"), columns.cell("", "PORTS"), columns.has("STATUS")), ("", "", true));
    }
}
