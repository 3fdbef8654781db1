//! Takes off what container runtimes and their log commands put before a line: CRI, `--timestamps`, compose, `kubectl --prefix`.

use super::Envelope;
use super::open::Rest;
use crate::time::{self, Iso, Stamp, Zone};

/// A line of a CRI log file (containerd, CRI-O; Kubernetes 1.5 and later).
pub(super) struct Cri<'a> {
    pub(super) stamp: Stamp,
    /// Whether it was written to standard error.
    pub(super) error: bool,
    /// Whether the line goes on in the next entry.
    pub(super) partial: bool,
    pub(super) text: &'a str,
}

/// Reads `2026-12-01T06:55:40.304207123Z stdout F text`.
pub(super) fn entry(text: &str) -> Option<Cri<'_>> {
    // Every date begins so; most other lines end here.
    if text.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let (found, rest) = time::iso(text)?;
    stream(&found, rest)
}

/// What follows the stamp of a CRI log file.
fn stream<'a>(found: &Iso, rest: &'a str) -> Option<Cri<'a>> {
    let rest = rest.strip_prefix(' ')?;
    let (error, rest) = match rest.strip_prefix("stdout ") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("stderr ")?),
    };
    let (tags, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let partial = match tags.split(':').next()? {
        "F" => false,
        "P" => true,
        _ => return None,
    };
    Some(Cri { stamp: found.stamp, error, partial, text })
}

/// A line of a CRI log file.
pub(super) fn cri<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let entry = stream(found, rest)?;
    envelope.saw(entry.stamp);
    Some(Rest::Tail(entry.text))
}

/// The stamp of `kubectl logs --timestamps` and `docker logs -t`: RFC 3339 with a zone, then one blank.
pub(super) fn stamped<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if found.between != 'T' || found.comma || found.zone == Zone::Open {
        return None;
    }
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    envelope.saw(found.stamp);
    Some(Rest::Tail(rest))
}

/// `2026-09-12T08:00:00.123000+00:00 train/main/6f1b2c3d4e5f ` of `aws logs tail`: the time, then the log stream, which has the
/// names of its task in it.
pub(super) fn tail<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if !(found.between == 'T' && found.zone == Zone::Offset && !found.comma) {
        return None;
    }
    let rest = rest.strip_prefix(' ')?;
    let (stream, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let known = |b: u8| b.is_ascii_alphanumeric() || b"-_./$[]:#".contains(&b);
    let parts = stream.len() <= 512 && stream.bytes().all(known) && !stream.starts_with('/') && stream.contains('/');
    // The last part is an id: a task, a job's host, a version.
    if !parts || !stream.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    envelope.saw(found.stamp);
    envelope.container = Some(stream.to_owned());
    Some(Rest::Tail(text))
}

/// `2026-09-12T08:41:51.000Z {app="t",pod="t-0"} ` of logcli (`2026-09-12T08:41:51Z` in its older versions).
pub(super) fn logcli<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let rest = rest.strip_prefix(" {")?;
    let (labels, text) = match rest.strip_prefix('}') {
        Some(text) => ("", text),
        None => {
            let end = rest.find("\"}")?;
            rest.split_at_checked(end + 1).and_then(|(labels, rest)| Some((labels, rest.strip_prefix('}')?)))?
        }
    };
    let name = labels.split('=').next().unwrap_or_default();
    if found.zone == Zone::Open || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let mut left = labels;
    while let Some((key, value)) = left.split_once("=\"") {
        let Some((value, more)) = value.split_once('"') else { break };
        let slot = match key {
            "pod" | "pod_name" => Some(&mut envelope.pod),
            "container" | "container_name" => Some(&mut envelope.container),
            "host" | "hostname" | "node" | "node_name" => Some(&mut envelope.host),
            _ => None,
        };
        if let Some(slot) = slot {
            *slot = Some(value.to_owned());
        }
        left = more.trim_start_matches([',', ' ']);
    }
    envelope.saw(found.stamp);
    // The labels are padded to the longest; an odd number of blanks that a traceback may have stays after the first.
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let padded = if matches!(blanks, 1 | 3 | 5) { 1 } else { blanks };
    Some(Rest::Tail(text.get(padded..)?))
}

/// `[pod/trainer-0/main] ` of `kubectl logs --prefix`.
pub(super) fn kubectl<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (names, rest) = text.strip_prefix("[pod/")?.split_once("] ")?;
    let (pod, container) = names.split_once('/')?;
    if names.len() > 320 || names.contains(' ') {
        return None;
    }
    envelope.pod = Some(pod.to_owned());
    envelope.container = Some(container.to_owned());
    Some(Rest::Tail(rest))
}

/// `trainer-1  | ` of Docker Compose (`trainer_1  | ` before version 2): a container's name, padded, and a bar.
pub(super) fn compose<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let end = text.bytes().take(80).position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')))?;
    let (name, rest) = text.split_at_checked(end)?;
    let bar = rest.trim_start_matches(' ').strip_prefix('|')?;
    // A service with a container_name of its own bears no number; Compose still pads it to two blanks at least.
    if !rest.starts_with(' ') || !(numbered(name) || rest.starts_with("  ")) {
        return None;
    }
    let rest = if bar.is_empty() { bar } else { bar.strip_prefix(' ')? };
    envelope.container = Some(name.to_owned());
    Some(Rest::Tail(rest))
}

/// `10:00:01 train.1   | ` of foreman and honcho: the time, a process with its number, padded, and a bar.
pub(super) fn foreman<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let rest = super::parts::clock(text)?;
    let (name, rest) = rest.split_once(' ')?;
    let (process, number) = name.rsplit_once('.')?;
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    if process.is_empty() || !process.bytes().all(word) || number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let rest = rest.trim_start_matches(' ').strip_prefix('|')?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    envelope.container = Some(name.to_owned());
    Some(Rest::Tail(rest))
}

/// Whether a name ends in the number that Compose gives to each container, or names a host of a SageMaker job. Tables of
/// other programs have bars too.
fn numbered(name: &str) -> bool {
    let number = name.rsplit(['-', '_']).next().filter(|number| number.len() < name.len());
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) || name.contains("algo-")
}

#[cfg(test)]
mod tests {
    use crate::line::peel;
    use crate::time::Stamp;

    #[test]
    fn runtimes_and_their_commands_are_taken_off() {
        for (text, expected) in [
            ("2026-12-01T06:55:40.304207123Z stdout F ERROR: x", "ERROR: x"),
            ("2026-12-01T06:55:40.304207123+02:00 stderr P   File \"a.py\", line 3, in f", "  File \"a.py\", line 3, in f"),
            ("2026-12-01T06:55:40.304207123Z stdout F", ""),
            ("2021-06-20T09:11:30.185333113Z Killed", "Killed"),
            ("bigshm-1  | pid 1: touched 16 MiB of shm", "pid 1: touched 16 MiB of shm"),
            ("algo-1-abcde_1  | Bus error (core dumped)", "Bus error (core dumped)"),
            ("a1b2c3d4e5-algo-1-q7x2k  | x", "x"),
            ("trainer-1  | 2026-12-01T06:55:40.304207123Z Killed", "Killed"),
            ("[pod/trainer-0/main] Killed", "Killed"),
            ("2026-09-12T08:00:00.123000+00:00 train/main/6f1b2c3d4e5f   File \"x\"", "  File \"x\""),
            ("2026-09-12T08:00:00.123000+00:00 job-1/algo-1-1695 RuntimeError: x", "RuntimeError: x"),
            ("2026-09-12T08:41:51.000Z {app=\"t\",pod=\"t-0\"} Killed", "Killed"),
            ("2026-09-12T08:41:51Z {}   File \"x\"", "  File \"x\""),
            ("2026-09-12T08:41:51Z {\"a\": 1}", "{\"a\": 1}"),
            ("10:00:01 train.1   | Killed", "Killed"),
            ("10:00:01 train.1 |   File \"x\"", "  File \"x\""),
            ("10:00:01 train | x", "10:00:01 train | x"),
            ("204 | model.encoder | Linear", "204 | model.encoder | Linear"),
            ("Name | Type | Params", "Name | Type | Params"),
        ] {
            assert_eq!(peel(text, 1).text, expected, "{text}");
        }
        let line = peel("[pod/trainer-0/main] 2026-12-01T06:55:40Z Killed", 1);
        assert_eq!(line.envelope.pod.as_deref(), Some("trainer-0"));
        assert_eq!(line.envelope.container.as_deref(), Some("main"));
        assert_eq!(line.envelope.when, Stamp::parse("2026-12-01T06:55:40Z"));
        assert_eq!(line.envelope.kernel, None);
    }
}
