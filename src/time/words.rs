//! The names of months and weekdays in the languages that `dmesg -T` and date(1) print them in.

/// The short English names, by number; the first place is empty.
pub(super) const MONTHS: [&str; 13] = ["", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Beginnings of month names in lower case: English, French, German and Spanish. No entry is the beginning of a word of
/// another month, save that longer ones stand first (`juil` before `jui`, `mär` before `mar`).
const STEMS: [(&str, i8); 30] = [
    ("jan", 1),
    ("ene", 1),
    ("jän", 1),
    ("feb", 2),
    ("fév", 2),
    ("fev", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("apr", 4),
    ("avr", 4),
    ("abr", 4),
    ("may", 5),
    ("mai", 5),
    ("juin", 6),
    ("jun", 6),
    ("juil", 7),
    ("jul", 7),
    ("aug", 8),
    ("aoû", 8),
    ("aou", 8),
    ("ago", 8),
    ("sep", 9),
    ("oct", 10),
    ("okt", 10),
    ("nov", 11),
    ("dec", 12),
    ("déc", 12),
    ("dez", 12),
    ("dic", 12),
];

/// Short weekday names in lower case and without a point: English, French, German and Spanish.
const WEEKDAYS: [&str; 28] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "lun", "mar", "mer", "jeu", "ven", "sam", "dim", "mo", "di", "mi", "do",
    "fr", "sa", "so", "lun", "mié", "jue", "vie", "sáb", "dom", "mie",
];

/// Whether a word begins with a stem, in whatever case; told without copying, because every line's first word is asked.
fn begins(word: &str, stem: &str) -> bool {
    let first = word.bytes().next().filter(u8::is_ascii);
    if first.is_some_and(|letter| Some(letter.to_ascii_lowercase()) != stem.bytes().next()) {
        return false;
    }
    let mut letters = word.chars().flat_map(char::to_lowercase);
    stem.chars().all(|c| letters.next() == Some(c))
}

/// The month that a word names: at most twelve letters that begin as a month does, with or without a final point.
pub(super) fn month(word: &str) -> Option<i8> {
    let word = word.strip_suffix('.').unwrap_or(word);
    if !(3..=12).contains(&word.len()) {
        return None;
    }
    let (_, number) = STEMS.iter().find(|(stem, _)| begins(word, stem))?;
    word.chars().all(char::is_alphabetic).then_some(*number)
}

/// Whether a word is a short weekday name, with or without a final point or comma.
pub(super) fn weekday(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',']);
    (2..=5).contains(&word.len()) && WEEKDAYS.iter().any(|day| day.len() == word.len() && begins(word, day))
}
