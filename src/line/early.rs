//! Reads the kernel's stamps of the first hours where their padding is lost: `[12.000002] ` and `[ 1.000002] `.
//!
//! Programs print numbers in brackets too, so this is a habit of a whole log: the numbers never fall, and the kernel's own
//! words stand behind some of them.

use super::kernel;

/// The stamp as it is written, and what follows it and one blank.
pub(super) fn stamped(text: &str) -> Option<(&str, &str)> {
    let (inside, rest) = kernel::bracketed(text)?;
    micros(inside)?;
    Some((inside, rest.strip_prefix(' ')?))
}

/// Microseconds since boot.
pub(super) fn micros(inside: &str) -> Option<u64> {
    kernel::boot(inside.trim_start_matches(' '))
}

/// Whether stamps and texts can only be those of a kernel.
pub(super) fn shown<'a>(mut lines: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    const OWN: [&str; 11] = [
        "Linux version ",
        " invoked oom-killer: ",
        "Out of memory: Kill",
        "emory cgroup out of memory: Kill",
        "Killed process ",
        "oom-kill:constraint=",
        "oom_reaper: reaped process ",
        ": segfault at ",
        "traps: ",
        "Hardware name: ",
        "Mem-Info:",
    ];
    let (mut last, mut own) = (0, false);
    let rising = lines.all(|(stamp, text)| {
        let now = micros(stamp).unwrap_or(0);
        own |= OWN.iter().any(|words| text.contains(words));
        std::mem::replace(&mut last, now) <= now
    });
    rising && own
}

#[cfg(test)]
mod tests {
    use crate::line::lines;
    use crate::time::Stamp;

    fn read(text: &str) -> Vec<(String, Option<bool>, Option<Stamp>)> {
        let mut all = Vec::new();
        lines(text.as_bytes(), None, &mut |l| all.push((l.text.to_string(), l.envelope.kernel, l.envelope.boot))).unwrap();
        all
    }

    #[test]
    fn collapsed_stamps_are_the_kernels() {
        for (first, second) in [("[12.000002] ", "[12.000003] "), ("[ 1.000002] ", "[ 12.000003] ")] {
            let text = format!("{first}python invoked oom-killer: order=0\n{second}Out of memory: Killed process 4 (python)\n");
            let all = read(&text);
            assert_eq!(all[1].0, "Out of memory: Killed process 4 (python)");
            assert_eq!((all[1].1, all[1].2), (Some(true), Some(Stamp::Boot(12_000_003))));
        }
    }

    #[test]
    fn numbers_of_programs_stay() {
        for text in [
            "[0.693147] loss\n[0.593147] loss\n[0.493147] Killed process 4\n[0.393147] loss\n",
            "[1.693147] epoch\n[2.593147] epoch\n[3.493147] Killed\n[4.393147] epoch\n",
        ] {
            assert!(read(text).iter().all(|line| line.0.starts_with('[') && line.1.is_none()), "{text}");
        }
    }
}
