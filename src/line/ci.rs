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
            ("section_end:soon:x", "section_end:soon:x"),
        ] {
            assert_eq!(peel(text, 1).text, expected, "{text}");
        }
        assert!(peel("section_end:1764331240:prepare_script", 1).envelope.when.is_some());
    }
}
