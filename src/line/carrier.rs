//! Takes off what carries lines of a log from one place to another: grep, pdsh, compose, a hypervisor's log, an issue.
//!
//! A word and a colon may stand before any text, so these go only where a stamp of the kernel or of syslog follows at once.

use super::Envelope;
use super::open::Rest;
use super::{kernel, syslog};
use crate::time;

/// Whether a text begins as the kernel's lines do.
fn by_kernel(text: &str) -> bool {
    let mut seen = Envelope::default();
    let text = match text.split_once('>') {
        Some((priority, rest)) if priority.len() <= 4 && priority.starts_with('<') => rest,
        _ => text,
    };
    if text.starts_with('[') {
        // The stamps of `dmesg -e` are short, and taken alone tell too little.
        return kernel::bracket(text, &mut seen).is_some() && (seen.boot.is_some() || text.len() > 26 && seen.when.is_some());
    }
    by_syslog(text, &mut seen) && seen.kernel == Some(true)
}

/// Whether a text begins as the lines of syslog daemons do.
fn by_syslog(text: &str, seen: &mut Envelope) -> bool {
    match time::iso(text) {
        Some((found, rest)) => syslog::iso(&found, rest, seen).or_else(|| kernel::iso(&found, rest, seen)).is_some(),
        None => text.starts_with(|c: char| c.is_ascii_alphabetic()) && syslog::stamped(text, seen).is_some(),
    }
}

/// The number of a line as `grep -n` writes it, if one stands there.
fn numbered(text: &str) -> Option<&str> {
    let end = text.bytes().take(10).position(|b| !b.is_ascii_digit()).filter(|end| *end > 0)?;
    text.get(end..)?.strip_prefix(':')
}

/// `/var/log/syslog:`, `kern.log:812:` and `812:` of grep over several files (`-H`) or with numbers (`-n`).
pub(super) fn grep(text: &str) -> Option<Rest<'_>> {
    let rest = match numbered(text) {
        Some(rest) => rest,
        None => {
            let end = text.bytes().take(160).position(|b| matches!(b, b':' | b' ' | b'['))?;
            let (file, rest) = text.split_at_checked(end)?;
            let named = file.contains(['/', '.']) || matches!(file, "syslog" | "messages" | "dmesg" | "kmsg");
            let rest = rest.strip_prefix(':').filter(|_| named)?;
            numbered(rest).unwrap_or(rest)
        }
    };
    (by_kernel(rest) || by_syslog(rest, &mut Envelope::default())).then_some(Rest::Tail(rest))
}

/// `node-a: `, `node-a | ` and `10.0.0.3: ` of pdsh, Ansible and Compose before a line of the kernel.
pub(super) fn host<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let end = text.bytes().take(80).position(|b| !word(b)).filter(|end| *end > 0)?;
    let (name, rest) = text.split_at_checked(end)?;
    let rest = match rest.strip_prefix(": ") {
        Some(rest) => rest,
        None => rest.strip_prefix(' ')?.trim_start_matches(' ').strip_prefix("| ")?,
    };
    if envelope.kernel.is_some() || !by_kernel(rest) {
        return None;
    }
    envelope.host = Some(name.to_owned());
    Some(Rest::Tail(rest))
}

/// Blanks or a tabulator before `[12345.678901] `: a kernel log that was pasted as a quoted block.
pub(super) fn indented(text: &str) -> Option<Rest<'_>> {
    let rest = text.trim_start_matches([' ', '\t']);
    (rest.starts_with('[') && by_kernel(rest)).then_some(Rest::System(rest))
}

/// `In(05) vcpu-5 - Guest: <3>[39291577.009543] ` of vmware.log after its stamp (ESXi 7 and later), and the older
/// `| vcpu-5| I125: Guest: <3>[39291577.009543] `: the console of the guest's kernel.
pub(super) fn guest(text: &str) -> Option<Rest<'_>> {
    let known = ["In(", "Wa(", "Er(", "No(", "Cr(", "Db("].iter().any(|level| text.starts_with(level)) || text.starts_with("| ");
    let (head, rest) = known.then(|| text.split_once("Guest: "))??;
    let head = head.trim_end_matches([' ', '-', ':']);
    (head.len() <= 48 && rest.starts_with(['<', '[']) && by_kernel(rest)).then_some(Rest::Tail(rest))
}

/// `**` before a bold passage of Markdown that goes on below: a log that was pasted into an issue. One that ends on its line is
/// as likely a heading of documentation.
pub(super) fn bold(text: &str) -> Option<Rest<'_>> {
    let rest = text.strip_prefix("**").filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    (!rest.contains("**")).then_some(Rest::Tail(rest))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    const KILL: &str = "Out of memory: Killed process 62045 (pytest) total-vm:16436428kB, anon-rss:8866584kB";

    #[test]
    fn carried_lines_of_the_kernel_are_its_own() {
        for prefix in [
            "/var/log/syslog:Nov 16 13:11:26 box kernel: [12345.678901] ",
            "kern.log:812:Nov 16 13:11:26 box kernel: [12345.678901] ",
            "/var/log/kern.log:812:2026-12-01T06:55:46.373897+00:00 box kernel: [12345.678901] ",
            "812:Nov 16 13:11:26 box kernel: ",
            "812:[12345.678901] ",
            "dmesg.txt:[Tue Dec  1 06:55:38 2026] ",
            "  [12345.678901] ",
            "\t[12345.678901] ",
            "        [   54.678901] ",
            "node-a: [12345.678901] ",
            "node-a | [12345.678901] ",
            "node-a: [Tue Dec  1 06:55:38 2026] ",
            "10.0.0.3: [12345.678901] ",
            "10.0.0.3: Nov 16 13:11:26 box kernel: ",
            "Jan 11 10:11:12 box kern.err kernel: ",
            "Jan 11 10:11:12 box kern.err kernel: [12345.678901] ",
            "2024-01-11 10:11:12 box kernel: ",
            "2024-01-11 10:11:12 box kernel: [12345.678901] ",
            "2024 Jan 11 10:11:12 box kernel: ",
            "2023-12-04T10:49:30.127Z In(05) vcpu-5 - Guest: <3>[39291577.009543] ",
            "2015-12-04T10:49:30.127Z| vcpu-5| I125: Guest: <3>[39291577.009543] ",
        ] {
            let text = format!("{prefix}{KILL}");
            let line = peel(&text, 1);
            assert_eq!((line.text.as_ref(), line.envelope.kernel), (KILL, Some(true)), "{prefix}");
        }
        let line = peel("node-a: [12345.678901] x", 1);
        assert_eq!(line.envelope.host.as_deref(), Some("node-a"));
        let dated = peel("2024 Jan 11 10:11:12 box kernel: x", 1).envelope.when;
        assert_eq!(dated, crate::time::Stamp::parse("2024-01-11 10:11:12"));
        let line = peel("/var/log/syslog:Nov 16 13:11:26 box earlyoom[9]: x", 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("x", Some(false)));
    }

    #[test]
    fn what_stands_before_other_text_stays() {
        for text in [
            "> [12345.678901] Out of memory: Killed process 1 (x)",
            "the log says: [12345.678901] Out of memory: Killed process 1 (x)",
            "train.py:812: UserWarning: x",
            "812:x",
            "node-a: Out of memory",
            "node-a | [1] x",
            "loss: [0.693147] x",
            "  [0.693147] x",
            "  File \"x.py\", line 3, in f",
            "In(05) x - Guest: y",
            "/opt/train.sh: line 3: 12 Killed",
            "**Killed**",
            "** Killed",
        ] {
            assert_eq!(peel(text, 1).text, text);
            assert_eq!(peel(text, 1).envelope.kernel, None, "{text}");
        }
        assert_eq!(peel("**RuntimeError: x", 1).text, "RuntimeError: x");
        let line = peel("2024-01-11 10:11:12 box trainer: Killed", 1);
        assert_eq!((line.text.as_ref(), line.envelope.kernel), ("box trainer: Killed", None));
    }
}
