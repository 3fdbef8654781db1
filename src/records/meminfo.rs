//! `/proc/meminfo`: how much memory the machine has. In a container it is the whole machine's, whatever the limit.

use crate::fact::{What, Who, Witness};
use crate::seen::Form;
use crate::units::Bytes;

use super::{Reading, TextFormat, texts};

/// Linux; `MemAvailable` is of 3.14.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "meminfo",
    starts: &["MemTotal:"],
    read,
    form: Form {
        name: "/proc/meminfo",
        how: "cat /proc/meminfo",
        proves: "nothing of a death; the size of the machine's memory",
    },
    samples: &[
        "MemTotal:       65806520 kB\nMemFree:        40210120 kB\nMemAvailable:   52882212 kB\nShmem:            311020 kB\n",
    ],
};

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let kib = |line: &str, key: &str| {
        let words = line.trim().strip_prefix(key)?.strip_suffix(" kB")?;
        words.trim().parse().ok().map(Bytes::kib)
    };
    let lines: Vec<(u64, &str)> = texts::numbered(text).collect();
    for (at, (number, line)) in lines.iter().enumerate() {
        let Some(total) = kib(line, "MemTotal:") else { continue };
        let available = lines.iter().skip(at).take(4).find_map(|(_, line)| kib(line, "MemAvailable:"));
        reading.say(Witness::Kernel, *number, &Who::default(), None, What::Memory { total, available }, line.trim());
    }
    reading.told()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_and_available_belong_together() {
        let entry = &read(FORMAT.samples[0]).unwrap().entries[0];
        let (total, available) = (Bytes::kib(65_806_520), Some(Bytes::kib(52_882_212)));
        assert_eq!(entry.claim.what, What::Memory { total, available });
        assert_eq!(read("MemTotal: lots\n"), None);
    }
}
