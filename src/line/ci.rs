//! Takes off what CI systems put before a line: the stamps of GitHub Actions and GitLab, and GitLab's section marks.

use super::Envelope;
use super::open::Rest;
use crate::time::{self, Iso, Zone};

/// `2024-02-13T10:00:00.1234567Z ` of GitHub Actions, and `2024-05-20T12:00:00.123456Z 00O ` of GitLab (runner 17.0 and
/// later: stream number, `O` or `E`, and `+` where a line goes on).
pub(super) fn stamped<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if found.between != 'T' || found.zone != Zone::Zulu {
        return None;
    }
    let rest = match (found.digits, rest.strip_prefix(' ')) {
        (7, Some(rest)) => rest,
        (7, None) if rest.is_empty() => rest,
        (6, Some(rest)) => {
            let (stream, rest) = rest.split_at_checked(3)?;
            let stream = stream.as_bytes();
            if !(stream.iter().take(2).all(u8::is_ascii_hexdigit) && matches!(stream.last(), Some(b'O' | b'E'))) {
                return None;
            }
            rest.strip_prefix([' ', '+'])?
        }
        _ => return None,
    };
    envelope.saw(found.stamp);
    Some(Rest::Tail(rest))
}

/// `job<TAB>step<TAB>2024-02-13T10:00:00.1234567Z text` of `gh run view --log`.
pub(super) fn job<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let mut rest = text;
    for _ in 0..2 {
        let near = rest.as_bytes().get(..200).unwrap_or(rest.as_bytes());
        let tab = memchr::memchr(b'\t', near)?;
        rest = rest.get(tab + 1..)?;
    }
    let (found, rest) = time::iso(rest)?;
    (found.digits == 7).then(|| stamped(&found, rest, envelope))?
}

/// `_bk;t=1700000000000` of Buildkite, where the escape characters around it are lost.
pub(super) fn buildkite<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let rest = text.strip_prefix("_bk;t=")?;
    let (seconds, rest) = rest.split_at_checked(10)?;
    let (stamp, _) = time::unix(seconds)?;
    let (millis, rest) = rest.split_at_checked(3)?;
    if !millis.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    envelope.saw(stamp);
    Some(Rest::Tail(rest.trim_start_matches('\u{7}')))
}

/// `#15 312.4 Killed` of BuildKit's plain progress: the step and the seconds since it began.
pub(super) fn buildkit(text: &str) -> Option<Rest<'_>> {
    let (step, rest) = text.strip_prefix('#')?.split_once(' ')?;
    let (seconds, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (whole, fraction) = seconds.split_once('.')?;
    let number = |digits: &str, most| (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    (number(step, 4) && number(whole, 6) && number(fraction, 3)).then_some(Rest::Tail(rest))
}

/// `section_start:1764331201:prepare_executor` of GitLab. A carriage return follows it, so it is a line of its own here.
pub(super) fn section<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let rest = text.strip_prefix("section_start:").or_else(|| text.strip_prefix("section_end:"))?;
    let (seconds, _) = rest.split_once(':')?;
    let (stamp, _) = time::unix(seconds)?;
    envelope.saw(stamp);
    Some(Rest::Tail(""))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    #[test]
    fn stamps_and_marks_go_and_commands_stay() {
        for (text, expected) in [
            (
                "2024-02-13T10:00:00.1234567Z ##[error]Process completed with exit code 137.",
                "##[error]Process completed with exit code 137.",
            ),
            ("2024-05-20T12:00:00.123456Z 00O Killed", "Killed"),
            ("2024-05-20T12:00:00.123456Z 01E+ed", "ed"),
            ("section_start:1764331201:prepare_executor", ""),
            ("build\tRun train\t2024-02-13T10:00:00.1234567Z   File \"x\"", "  File \"x\""),
            ("a\tb\tc", "a\tb\tc"),
            ("_bk;t=1700000000000\u{7}Killed", "Killed"),
            ("_bk;t=17", "_bk;t=17"),
            ("#15 312.4 Killed", "Killed"),
            ("#15 312.4   File \"x\"", "  File \"x\""),
            ("#15 ERROR: process \"x\"", "#15 ERROR: process \"x\""),
            ("# 15 312.4 x", "# 15 312.4 x"),
            ("#15 v1.2 x", "#15 v1.2 x"),
            ("08:00:00  Killed", "Killed"),
            ("08:00:00      File \"x\"", "    File \"x\""),
            ("[2024-02-13T10:00:00.123Z] Killed", "Killed"),
            ("[2024-02-13T10:00:00.123Z]   File \"x\"", "  File \"x\""),
            ("[Pipeline] sh", "[Pipeline] sh"),
            ("section_end:soon:x", "section_end:soon:x"),
        ] {
            assert_eq!(peel(text, 1).text, expected, "{text}");
        }
        assert!(peel("section_end:1764331240:prepare_script", 1).envelope.when.is_some());
    }
}
