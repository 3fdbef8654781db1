//! Takes off what dmesg, /dev/kmsg and serial consoles put before a line of the kernel.

use super::Envelope;
use super::open::Rest;
use crate::time::{self, Iso, Stamp, Zone};

/// The facilities of syslog.
const FACILITIES: [&str; 20] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "local0", "local1",
    "local2", "local3", "local4", "local5", "local6", "local7",
];

/// The levels of syslog.
const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];

/// Whether a word is a facility and a level, as `kern.err`.
pub(super) fn facility(word: &str) -> bool {
    word.split_once('.').is_some_and(|(facility, level)| FACILITIES.contains(&facility) && LEVELS.contains(&level))
}

/// What `dmesg -e` prints in place of a whole stamp.
pub(super) enum Relative {
    /// `[Dec 1 06:55]`: a new minute.
    Minute(Stamp),
    /// `[  +0.000919]`: microseconds since the line before.
    Later(u64),
}

/// Digits as microseconds, from `54.717291`.
pub(super) fn boot(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.')?;
    if fraction.len() != 6 || !(whole.bytes().chain(fraction.bytes())).all(|b| b.is_ascii_digit()) {
        return None;
    }
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction.parse().ok()?)
}

/// The text between brackets at the beginning, and what follows.
pub(super) fn bracketed(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('[')?;
    let end = rest.bytes().take(64).position(|b| b == b']')?;
    Some((rest.get(..end)?, rest.get(end + 1..)?))
}

/// `[  T300]` and `[    C1]`: the task or processor that printed the line (`CONFIG_PRINTK_CALLER`, Linux 5.1).
fn caller(text: &str) -> Option<&str> {
    let (inside, rest) = bracketed(text)?;
    let number = inside.trim_start().strip_prefix(['T', 'C'])?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// What follows a stamp: a caller perhaps, and one blank, which is not the message's.
fn message(rest: &str) -> Option<&str> {
    let rest = caller(rest).unwrap_or(rest);
    if rest.is_empty() {
        return Some(rest);
    }
    let rest = rest.strip_prefix(' ')?;
    Some(caller(rest).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(rest))
}

/// Reads the stamps of `dmesg -e`.
pub(super) fn relative(text: &str) -> Option<Relative> {
    let (inside, _) = bracketed(text)?;
    if let Some(delta) = inside.trim_start().strip_prefix('+') {
        return boot(delta).map(Relative::Later);
    }
    let (stamp, rest) = time::minute(inside)?;
    rest.is_empty().then_some(Relative::Minute(stamp))
}

/// Time since boot as the kernel prints it: seconds in at least five places, six digits of a fraction. Vendor kernels add
/// the processor (`119.156884@1`), `dmesg -d` and `journalctl -o short-delta` the distance to the line before.
fn since_boot(inside: &str) -> Option<u64> {
    let (stamp, delta) = inside.split_once('<').map_or((inside, None), |(stamp, delta)| (stamp.trim_end(), Some(delta)));
    if let Some(delta) = delta {
        boot(delta.strip_suffix('>')?.trim())?;
    }
    let stamp = match stamp.split_once('@') {
        Some((stamp, processor)) if processor.bytes().all(|b| b.is_ascii_digit()) => stamp,
        _ => stamp,
    };
    // Without the padding it is as likely a number that a program printed as a list.
    stamp.find('.').filter(|at| *at >= 5)?;
    boot(stamp.trim_start())
}

/// `[   54.717291] `, `[Tue Dec  1 06:55:38 2026] `, `[Dec 1 06:55] ` and `[  +0.000919] `.
pub(super) fn bracket<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let second = *text.as_bytes().get(1)?;
    if !(second == b' ' || second.is_ascii_digit() || second.is_ascii_alphabetic() || second >= 0x80) {
        return None;
    }
    let (inside, rest) = bracketed(text)?;
    let rest = message(rest)?;
    let stamp = if let Some(micros) = since_boot(inside) {
        Some(Stamp::Boot(micros))
    } else if let Some((stamp, "")) = time::ctime(inside) {
        Some(stamp)
    } else {
        match relative(text)? {
            Relative::Minute(stamp) => Some(stamp),
            Relative::Later(_) => None,
        }
    };
    if let Some(stamp) = stamp {
        envelope.saw(stamp);
    }
    envelope.by_kernel(true);
    Some(Rest::System(rest))
}

/// `2026-12-01T06:55:38,717291+00:00 ` of `dmesg --time-format iso`: its comma, six digits and offset are its own.
pub(super) fn iso<'a>(found: &Iso, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if !(found.comma && found.digits == 6 && found.between == 'T' && found.zone == Zone::Offset) {
        return None;
    }
    let rest = message(rest)?;
    envelope.saw(found.stamp);
    envelope.by_kernel(true);
    Some(Rest::System(rest))
}

/// `kern  :err   : ` of `dmesg -x`: facility and level. Anybody may write to the ring buffer, but never as `kern`.
pub(super) fn decoded<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let colon = text.bytes().take(9).position(|b| b == b':').filter(|at| *at >= 6)?;
    let facility = text.get(..colon)?.trim_end();
    let rest = text.get(colon + 1..)?;
    let colon = rest.bytes().take(8).position(|b| b == b':').filter(|at| *at >= 6)?;
    let level = rest.get(..colon)?.trim_end();
    let rest = rest.get(colon + 1..)?.strip_prefix(' ')?;
    if !FACILITIES.contains(&facility) || !LEVELS.contains(&level) {
        return None;
    }
    envelope.by_kernel(facility == "kern");
    Some(Rest::System(rest))
}

/// The parts of a record of /dev/kmsg: priority with facility, microseconds, flag, message.
pub(super) fn parts(text: &str) -> Option<(u32, u64, char, &str)> {
    let (priority, rest) = text.split_at_checked(text.bytes().take(5).position(|b| b == b',')?)?;
    let priority = priority.parse().ok()?;
    let (head, message) = rest.split_once(';')?;
    let mut fields = head.get(1..)?.splitn(4, ',');
    fields.next()?.parse::<u64>().ok()?;
    let micros = fields.next()?.parse().ok()?;
    let flag = fields.next()?;
    fields.next().is_none_or(|more| more.starts_with("caller=")).then_some(())?;
    let flag = flag.chars().next().filter(|c| flag.len() == 1 && matches!(c, '-' | 'c' | '+'))?;
    Some((priority, micros, flag, message))
}

/// `3,3219,833272447,-;` of /dev/kmsg. Facilities above 0 are writers in user space.
pub(super) fn record<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (priority, micros, _, message) = parts(text)?;
    envelope.saw(Stamp::Boot(micros));
    envelope.by_kernel(priority < 8);
    Some(if message.contains("\\x") { Rest::Made(unescape(message)) } else { Rest::System(message) })
}

/// Undoes `\xNN`, by which /dev/kmsg writes control characters, backslashes and bytes above 0x7e.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        let (before, after) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.get(2..4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (taken, size) = byte.map_or((b'\\', 1), |byte| (byte, 4));
        bytes.push(taken);
        rest = after.get(size..).unwrap_or("");
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::line::peel;
    use crate::time::Stamp;

    const KILL: &str = "Memory cgroup out of memory: Killed process 331 (pt_data_worker) total-vm:154592kB, anon-rss:48kB";

    #[test]
    fn every_form_of_dmesg_gives_the_bare_message() {
        for (prefix, kernel, boot, when) in [
            ("[   61.730269] ", Some(true), true, false),
            ("[   61.730269 <    0.000114>] ", Some(true), true, false),
            ("[9143134.805765] ", Some(true), true, false),
            ("[  119.156884@1] ", Some(true), true, false),
            ("[   61.730269] [T300] ", Some(true), true, false),
            ("[   61.730269][  T300] ", Some(true), true, false),
            ("<3>[   61.730269] ", Some(true), true, false),
            ("<11>[   61.730269] ", Some(false), true, false),
            ("kern  :err   : [   61.730269] ", Some(true), true, false),
            ("user  :err   : [   61.730269] ", Some(false), true, false),
            ("kern  :err   : [Tue Dec  1 06:55:45 2026] ", Some(true), false, true),
            ("kern  :warn  : 2025-01-21T04:41:44,283302+00:00 ", Some(true), false, true),
            ("[Tue Dec  1 06:55:45 2026] ", Some(true), false, true),
            ("[Di Aug 12 06:55:45 2025] ", Some(true), false, true),
            ("[Dec 1 06:55] ", Some(true), false, true),
            ("[Oct28 16:57] ", Some(true), false, true),
            ("[  +0.000114] ", Some(true), false, false),
            ("[ +10.231150] ", Some(true), false, false),
            ("2026-12-01T06:55:45,730269+00:00 ", Some(true), false, true),
            ("3,3219,61730269,-;", Some(true), true, false),
            ("3,3219,61730269,-,caller=T300;", Some(true), true, false),
            ("12,3219,61730269,-;", Some(false), true, false),
            ("", None, false, false),
        ] {
            let line = format!("{prefix}{KILL}");
            let line = peel(&line, 7);
            assert_eq!(line.text, KILL, "{prefix}");
            assert_eq!(line.number, 7);
            assert_eq!(line.envelope.kernel, kernel, "{prefix}");
            assert_eq!(line.envelope.boot.is_some(), boot, "{prefix}");
            assert_eq!(line.envelope.when.is_some(), when, "{prefix}");
        }
        assert_eq!(peel("[   61.730269] x", 1).envelope.boot, Some(Stamp::Boot(61_730_269)));
    }

    #[test]
    fn what_only_looks_like_a_kernel_prefix_stays() {
        for text in [
            "[    331]     0   331    38648    16276   163840        0             0 pt_data_worker",
            "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name",
            "[0.693147] loss",
            "[1/1] currentAttempt done.",
            "kernel:x",
            "3,4,5;6",
        ] {
            assert_eq!(peel(text, 1).text, text);
            assert_eq!(peel(text, 1).envelope.kernel, None, "{text}");
        }
        assert_eq!(peel("[   61.729517]  <TASK>", 1).text, " <TASK>");
        let table = peel("[   61.730141] [    331]     0   331 pt_data_worker", 1);
        assert_eq!(table.text, "[    331]     0   331 pt_data_worker");
        let segfault = peel("[162898.336101] Web Content[107577]: segfault at 0 ip 00000000004005d7", 1);
        assert_eq!(
            (segfault.text.as_ref(), segfault.envelope.kernel),
            ("Web Content[107577]: segfault at 0 ip 00000000004005d7", Some(true))
        );
    }

    #[test]
    fn escapes_of_kmsg_are_undone() {
        assert_eq!(peel("6,1,2,-;anon 1\\x0afile 2\\x5c\\xzz", 1).text, "anon 1\nfile 2\\\\xzz");
    }
}
