//! Takes lines of `key=value` pairs apart, as logrus, containerd, dockerd and Go's slog write them.

use super::Envelope;
use super::open::Rest;
use crate::time;

/// A value: quoted with Go's escapes, or bare up to the next blank; and what follows.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(rest) = text.strip_prefix('"') else {
        let end = text.find(' ').unwrap_or(text.len());
        return Some((text.get(..end)?.to_owned(), text.get(end..)?));
    };
    let mut value = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, rest.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    None
}

/// `time="…" level=info msg="…" more=…`: the message, then the fields after it as they are.
pub(super) fn pairs<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let mut rest = text.strip_prefix("time=").or_else(|| text.strip_prefix("ts="))?;
    let (moment, after) = value(rest)?;
    let stamp = time::prefix(&moment).map(|(stamp, _)| stamp)?;
    rest = after;
    let mut level = false;
    for _ in 0..8 {
        let (key, after) = rest.strip_prefix(' ')?.split_once('=')?;
        if key.is_empty() || key.contains([' ', '"']) {
            return None;
        }
        let (mut found, after) = value(after)?;
        rest = after;
        level |= key == "level";
        if key == "msg" && level {
            envelope.saw(stamp);
            found.push_str(rest);
            return Some(Rest::Made(found));
        }
    }
    None
}

/// `level=err host=node1 msg="…"`: other keys first. A level and a quoted message have to be among the pairs.
pub(super) fn mixed<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let (mut rest, mut level, mut stamp, mut host) = (text, false, None, None);
    for _ in 0..12 {
        let (key, after) = rest
            .get(..rest.floor_char_boundary(64))
            .unwrap_or(rest)
            .split_once('=')
            .and_then(|(key, _)| Some((key, rest.get(key.len() + 1..)?)))?;
        if key.is_empty() || !key.bytes().all(known) {
            return None;
        }
        let quoted = after.starts_with('"');
        let (mut found, after) = value(after)?;
        match key {
            "level" | "lvl" | "severity" => level = true,
            "time" | "ts" | "t" | "timestamp" => stamp = time::prefix(&found).map(|(stamp, _)| stamp),
            "host" | "hostname" | "node" => host = Some(found),
            "msg" | "message" if quoted && level => {
                if let Some(stamp) = stamp {
                    envelope.saw(stamp);
                }
                envelope.host = host.or(envelope.host.take());
                found.push_str(after);
                return Some(Rest::Made(found));
            }
            _ => {}
        }
        rest = after.strip_prefix(' ')?;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    #[test]
    fn the_message_is_taken_out_of_its_pairs() {
        for (text, expected) in [
            (
                r#"time="2017-05-12T17:21:19.611204817Z" level=info msg="libcontainerd: new, pid: 108020""#,
                "libcontainerd: new, pid: 108020",
            ),
            (
                r#"time="2026-12-01T06:55:40Z" level=info msg="TaskOOM event container_id:\"6dce\"""#,
                r#"TaskOOM event container_id:"6dce""#,
            ),
            (
                r#"time=2026-06-24T06:11:04.226Z level=ERROR source=db.go:1109 msg="compaction failed" err="no space left on device""#,
                r#"compaction failed err="no space left on device""#,
            ),
            ("time=12 level=x", "time=12 level=x"),
            (r#"level=err ts=2026-06-24T06:11:04Z host=n1 msg="[12345.678901] Killed""#, "Killed"),
            (r#"facility=kern level=err msg="Killed" a=b"#, "Killed a=b"),
            (r#"loss=0.3 msg="x""#, r#"loss=0.3 msg="x""#),
            ("oom-kill:constraint=CONSTRAINT_NONE,level=1", "oom-kill:constraint=CONSTRAINT_NONE,level=1"),
            (r#"time="2026-12-01T06:55:40Z" level=info msg="open"#, r#"time="2026-12-01T06:55:40Z" level=info msg="open"#),
        ] {
            assert_eq!(peel(text, 1).text, expected);
        }
        let line = peel(r#"May 12 17:21:19 localhost dockerd[58932]: time="2017-05-12T17:21:19Z" level=info msg="x""#, 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("x", Some(false)));
    }
}
