//! Reads the small parts that prefixes are made of: numbers, names, times of the day.

/// Digits at the beginning of a text, at most so many, and what follows.
pub(super) fn digits(text: &str, most: usize) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    (1..=most).contains(&end).then(|| text.split_at_checked(end))?
}

/// A line number and what follows. One after blanks is right-aligned, so that a single blank may end it.
pub(super) fn numbered(text: &str) -> Option<(&str, &str)> {
    let aligned = text.trim_start_matches(' ');
    let (number, rest) = digits(aligned, 9)?;
    let wide = text.len() - aligned.len() + number.len() >= 5;
    match rest.chars().next() {
        None if wide => Some((number, "")),
        Some('\t' | ':') => Some((number, rest.get(1..)?)),
        Some(' ') if wide => Some((number, rest.get(1..)?)),
        // A time of the day and a date begin with digits too.
        _ => None,
    }
}

/// What follows one blank; a line that is otherwise empty may have lost it.
pub(super) fn after(rest: &str) -> Option<&str> {
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

/// Whether a byte may stand in the name of a host or a container.
pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// Whether a name has a letter: a number alone is none.
pub(super) fn letter(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Whether a word is a name that Kubernetes allows.
pub(super) fn dns(name: &str) -> bool {
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    !name.is_empty() && name.len() <= 253 && name.bytes().all(known) && !name.starts_with(['-', '.'])
}

/// `name: text`.
pub(super) fn host(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().take(80).position(|b| !word(b))?;
    let (name, rest) = text.split_at_checked(end)?;
    Some((name, after(rest.strip_prefix(':')?)?)).filter(|_| letter(name) || name.parse::<std::net::Ipv4Addr>().is_ok())
}

/// Whether a name is one of a host: it has a number, and is none of the programs that have one.
pub(super) fn tells(name: &str) -> bool {
    const PROGRAMS: [&str; 6] = ["python", "torch", "mpi", "conda", "pip", "rank"];
    name.bytes().any(|b| b.is_ascii_digit()) && !PROGRAMS.iter().any(|program| name.starts_with(program))
}

/// What follows `10:00:00 `, `10:00:00.123 ` or `10:00:00,123 `.
pub(super) fn clock(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let pair = |at: usize| bytes.get(at..at + 2).is_some_and(|pair| pair.iter().all(u8::is_ascii_digit));
    let colon = |at: usize| bytes.get(at) == Some(&b':');
    if !(pair(0) && colon(2) && pair(3) && colon(5) && pair(6)) {
        return None;
    }
    let rest = text.get(8..)?;
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => digits(fraction, 9)?.1,
        None => rest,
    };
    after(rest)
}

/// Jenkins's Timestamper writes two blanks after the time of the day, which few others do.
pub(super) fn jenkins(text: &str) -> Option<&str> {
    clock(text)?.strip_prefix(' ').filter(|rest| !rest.trim().is_empty())
}
