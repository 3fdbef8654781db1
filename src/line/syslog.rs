//! Takes off what syslog daemons and `journalctl` put before a message: RFC 3164, RFC 5424 and the short forms of journald.

use super::Envelope;
use super::open::Rest;
use crate::time::{self, Iso, Stamp, Zone};

/// The sender of a message, from `host program[pid]: `.
struct Tag<'a> {
    host: &'a str,
    program: &'a str,
    pid: Option<u32>,
    text: &'a str,
}

/// Reads `host program[pid]: message`. A program's name may hold blanks only where a pid follows.
fn tag(text: &str) -> Option<Tag<'_>> {
    let (host, rest) = text.split_once(' ')?;
    let named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if host.is_empty() || host.len() > 255 || host.ends_with(':') || !host.chars().all(named) || level(host) {
        return None;
    }
    // busybox's syslogd writes facility and level: `host kern.err kernel: `.
    let rest = rest.split_once(' ').filter(|(word, _)| super::kernel::facility(word)).map_or(rest, |(_, rest)| rest);
    let window = rest.get(..rest.floor_char_boundary(96)).unwrap_or(rest);
    let (end, after) = match window.find(": ") {
        Some(end) => (end, end + 2),
        None if rest.len() <= 96 && rest.ends_with(':') => (rest.len() - 1, rest.len()),
        None => return None,
    };
    let name = rest.get(..end)?;
    let text = rest.get(after..)?;
    let (program, pid) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((program, pid)) if !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit()) => (program, pid.parse().ok()),
        _ if name.contains([' ', '"', '=', '[', '{', ',']) => return None,
        _ => (name, None),
    };
    (!program.is_empty()).then_some(Tag { host, program, pid, text })
}

/// Whether a word is a logging level: `2026-… ERROR loader: …` has no host.
fn level(word: &str) -> bool {
    matches!(
        word.to_ascii_uppercase().as_str(),
        "DEBUG" | "INFO" | "WARN" | "WARNING" | "ERROR" | "CRITICAL" | "FATAL" | "NOTICE" | "TRACE"
    )
}

/// Takes a tag into the envelope. rsyslog writes line feeds within a message as `#012` and tabulators as `#011`.
fn accept<'a>(tag: &Tag<'a>, envelope: &mut Envelope) -> Rest<'a> {
    envelope.host = Some(tag.host.to_owned());
    envelope.program = Some(tag.program.to_owned());
    envelope.speaker = tag.pid.or(envelope.speaker);
    envelope.by_kernel(tag.program == "kernel");
    message(tag.text)
}

fn message(text: &str) -> Rest<'_> {
    if text.contains("#012") { Rest::Made(text.replace("#012", "\n").replace("#011", "\t")) } else { Rest::System(text) }
}

/// `2026-02-20 14:31:52.478932+0100 0x16b  Default  0x0  0  0  kernel: ` of macOS' `log show`: thread, type, activity, pid and
/// the time to live.
pub(super) fn unified<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let mut rest = rest.strip_prefix(' ')?;
    let mut next = || {
        let (word, more) = rest.trim_start().split_once(' ')?;
        rest = more;
        Some(word)
    };
    let (thread, kind, activity, pid, ttl) = (next()?, next()?, next()?, next()?, next()?);
    let known = matches!(kind, "Default" | "Info" | "Debug" | "Error" | "Fault" | "Activity");
    if !(known && thread.starts_with("0x") && activity.starts_with("0x") && ttl.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let (program, text) = rest.trim_start().split_once(": ")?;
    envelope.speaker = Some(pid.parse().ok()?);
    envelope.program = Some(program.to_owned());
    // It is the log of the machine, whose kernel is not Linux.
    envelope.by_kernel(false);
    envelope.saw(found.stamp);
    Some(Rest::Tail(text))
}

/// What `log show` writes above the log: its columns, and what was asked for.
pub(super) fn heading<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let columns = text.starts_with("Timestamp  ") && text.contains("Thread ") && text.contains("Activity ");
    (columns || text.starts_with("Filtering the log data using ")).then(|| {
        envelope.by_kernel(false);
        Rest::Tail("")
    })
}

/// `Dec  1 06:55:39 host program[pid]: ` and the same with the weekday or the seconds since 1970 of journald.
pub(super) fn stamped<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (stamp, rest) = if text.starts_with(|c: char| c.is_ascii_digit()) {
        time::unix(text)?
    } else {
        time::day_month(text).or_else(|| time::system(text))?
    };
    let tag = tag(rest.strip_prefix(' ')?)?;
    envelope.saw(stamp);
    Some(accept(&tag, envelope))
}

/// `2026-12-01T06:55:40+00:00 host program[pid]: ` of rsyslog and journald.
pub(super) fn iso<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if found.comma {
        return None;
    }
    let tag = tag(rest.strip_prefix(' ')?)?;
    // With a blank between date and time it is as likely a program's own stamp, unless the kernel is named.
    if found.between != 'T' && tag.program != "kernel" {
        return None;
    }
    // The nine digits of a container runtime, the seven of GitHub and a `Z` are seldom a syslog daemon's.
    let likely = found.zone == Zone::Offset && matches!(found.digits, 0 | 3 | 6);
    if !likely && tag.pid.is_none() && tag.program != "kernel" {
        return None;
    }
    envelope.saw(found.stamp);
    Some(accept(&tag, envelope))
}

/// `2024 Jan 11 10:11:12 host kernel: `, as syslog daemons of appliances write it.
pub(super) fn yeared<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (year, rest) = text.split_at_checked(4)?;
    let rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let (_, after) = time::day_month(rest)?;
    let moment = rest.get(..rest.len().saturating_sub(after.len()))?;
    let (date, clock) = moment.rsplit_once(' ')?;
    // ctime(3) takes a year before the time; the weekday is not held against the date.
    let stamp = Stamp::parse(&format!("Thu {date} {year} {clock}"))?;
    let tag = tag(after.strip_prefix(' ')?)?;
    envelope.saw(stamp);
    Some(accept(&tag, envelope))
}

/// `host program[pid]: ` after time since boot, as `journalctl -o short-monotonic` prints it.
///
/// The kernel's own messages may look the same where a thread's name has a blank (`Web Content[107577]: segfault at …`), so
/// its wordings about a process stay, and a pid is asked for.
pub(super) fn bare<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if envelope.boot.is_none() || envelope.host.is_some() || envelope.kernel != Some(true) {
        return None;
    }
    let tag = tag(text)?;
    let own = ["segfault", "trap ", "unhandled ", "bad frame", "potentially"].iter().any(|word| tag.text.starts_with(word));
    if tag.program != "kernel" && (tag.pid.is_none() || own) {
        return None;
    }
    Some(accept(&tag, envelope))
}

/// `<3>` before a message: the priority of RFC 3164, of RFC 5424 and of `dmesg -r`.
pub(super) fn priority<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (digits, rest) = text.strip_prefix('<')?.split_at_checked(text.bytes().take(5).position(|b| b == b'>')? - 1)?;
    let rest = rest.strip_prefix('>')?;
    let priority = digits.parse::<u32>().ok().filter(|n| *n < 192)?;
    if let Some(rest) = rest.strip_prefix("1 ") {
        return structured(rest, priority, envelope);
    }
    // The number alone is little: `<2>` is also a footnote. A kernel's stamp or a syslog one must follow to name the writer.
    if rest.starts_with('[') || time::day_month(rest).is_some() {
        envelope.by_kernel(priority < 8);
    }
    Some(Rest::System(rest))
}

/// `2026-12-01T06:55:39.198080+00:00 host program pid msgid data message` of RFC 5424, after the version.
fn structured<'a>(text: &'a str, priority: u32, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let mut fields = text.splitn(6, ' ');
    let stamp = fields.next()?;
    let (host, program, pid, _) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let rest = data(fields.next()?)?;
    let when = Stamp::parse(stamp);
    if when.is_none() && stamp != "-" {
        return None;
    }
    if let Some(when) = when {
        envelope.saw(when);
    }
    let known = |word: &str| (word != "-").then(|| word.to_owned());
    envelope.host = known(host);
    envelope.program = known(program);
    envelope.speaker = pid.parse().ok().or(envelope.speaker);
    envelope.by_kernel(program == "kernel" && priority < 8);
    Some(message(rest.strip_prefix('\u{feff}').unwrap_or(rest)))
}

/// What follows the structured data: `-`, or elements in brackets with quoted values.
fn data(text: &str) -> Option<&str> {
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('-') {
        return after.strip_prefix(' ').or(Some(after).filter(|rest| rest.is_empty()));
    }
    while rest.starts_with('[') {
        let (mut quoted, mut escaped, mut end) = (false, false, None);
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = !quoted,
                b']' if !quoted => {
                    end = Some(at + 1);
                    break;
                }
                _ => {}
            }
        }
        rest = rest.get(end?..)?;
    }
    rest.strip_prefix(' ').or(Some(rest).filter(|rest| rest.is_empty()))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    const KILL: &str = "Memory cgroup out of memory: Killed process 331 (pt_data_worker) total-vm:154592kB, anon-rss:48kB";

    #[test]
    fn every_form_of_syslog_and_journalctl_gives_the_bare_message() {
        for (prefix, boot, when) in [
            ("Dec  1 06:55:46 node1 kernel: [   61.730269] ", true, true),
            ("2026-12-01T06:55:46.373897+00:00 node1 kernel: [   61.730269] ", true, true),
            ("<3>1 2026-12-01T06:55:46.373897+00:00 node1 kernel - - - [   61.730269] ", true, true),
            ("<3>1 2026-12-01T06:55:46.373897+00:00 node1 kernel - - [a@1 b=\"c] \\\"d\"] [   61.730269] ", true, true),
            ("<3>Dec  1 06:55:39 node1 kernel: [   54.717291] ", true, true),
            ("Dec 01 06:55:46 node1 kernel: ", false, true),
            ("Dec 01 06:55:46.385687 node1 kernel: ", false, true),
            ("2026-12-01T06:55:46+0000 node1 kernel: ", false, true),
            ("2026-12-01T06:55:46.385687+0000 node1 kernel: ", false, true),
            ("2026-12-01T06:55:46Z node1 kernel: ", false, true),
            ("Tue 2026-12-01 06:55:46 UTC node1 kernel: ", false, true),
            ("[   61.730269] node1 kernel: ", true, false),
            ("[   61.730269 <    0.000114 >] node1 kernel: ", true, false),
            ("1796108146.385687 node1 kernel: ", false, true),
        ] {
            let line = format!("{prefix}{KILL}");
            let line = peel(&line, 1);
            assert_eq!(line.text, KILL, "{prefix}");
            assert_eq!(line.envelope.kernel, Some(true), "{prefix}");
            assert_eq!(line.envelope.host.as_deref(), Some("node1"), "{prefix}");
            assert_eq!((line.envelope.boot.is_some(), line.envelope.when.is_some()), (boot, when), "{prefix}");
        }
    }

    #[test]
    fn other_programs_are_named_and_are_not_the_kernel() {
        let line = peel("Feb 16 13:57:29 host-m1 earlyoom[1233]: mem avail: 12841 of 31808 MiB", 1);
        assert_eq!(line.text, "mem avail: 12841 of 31808 MiB");
        assert_eq!(line.envelope.program.as_deref(), Some("earlyoom"));
        assert_eq!((line.envelope.speaker, line.envelope.kernel), (Some(1233), Some(false)));
        let line = peel("May 12 17:20:02 localhost systemd: Started Session 911 of user root.", 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("Started Session 911 of user root.", Some(false)));
        let line =
            peel("[   61.730269] node1 systemd[1]: train.service: A process of this unit has been killed by the OOM killer.", 1);
        assert_eq!(line.envelope.kernel, Some(false));
        assert!(line.text.starts_with("train.service: "));
        // A daemon that quotes the kernel is not the kernel.
        let line = peel("Dec 01 06:55:46 node1 logger[9]: [   61.730269] Out of memory: Killed process 1 (x)", 1);
        assert_eq!(line.envelope.kernel, Some(false));
    }

    #[test]
    fn the_log_of_macos_is_the_machines() {
        let line =
            peel("2026-02-20 14:31:52.478932+0100 0x16b      Default     0x0                  0      0    kernel: low swap", 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("low swap", Some(false)));
        assert!(line.envelope.when.is_some());
        let line = peel("Timestamp                       Thread     Type        Activity             PID    TTL", 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("", Some(false)));
        assert_eq!(peel("Filtering the log data using \"process == 0\"", 1).envelope.kernel, Some(false));
        assert_eq!(peel("2026-02-20 14:31:52.478932+0100 0x16b is read", 1).envelope.kernel, None);
    }

    #[test]
    fn messages_without_a_sender_keep_their_words() {
        for text in ["Dec 01 06:55:46", "May the force: be with you", "<b>bold</b>", "<999>x"] {
            assert_eq!(peel(text, 1).envelope.program, None, "{text}");
        }
        let line = peel("2026-12-01T06:55:45.123456789Z Bus error: 10", 1);
        assert_eq!(line.text, "Bus error: 10");
        assert_eq!(peel("Dec 01 06:55:46 node1 kernel: a#012b#011c", 1).text, "a\nb\tc");
    }
}
