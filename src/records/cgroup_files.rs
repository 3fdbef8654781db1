//! The memory files of a cgroup, given as files or pasted below `$ cat PATH`, `==> PATH <==` or after `PATH:` of grep.
//!
//! The counters are the kernel's, since the cgroup was made: `oom_kill` counts processes killed for memory, `max`, `oom` and
//! failcnt only say that the limit was touched. `memory.events` counts the cgroups below as well.

use crate::fact::{Scope, What, Who, Witness};
use crate::seen::Form;
use crate::units::Bytes;

use super::{Reading, TextFormat, texts};

/// Linux 4.13 and later count kills in memory.events (v2) and memory.oom_control (v1); memory.events.local is of 5.2.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "cgroup-memory",
    starts: &["oom_kill ", "/sys/fs/cgroup/", "==> /sys/fs/cgroup/", "$ cat /sys/fs/cgroup/", "# cat /sys/fs/cgroup/", "memory."],
    read,
    form: Form {
        name: "memory files of a cgroup",
        how: "tail -n +1 /sys/fs/cgroup/memory.{events,events.local,max,peak}; cgroup v1: memory.oom_control",
        proves: "that processes were killed for memory in a cgroup or below it, how many, and the limit; not when",
    },
    samples: &[
        "low 0\nhigh 0\nmax 1234\noom 3\noom_kill 2\noom_group_kill 0\n",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        "==> /sys/fs/cgroup/system.slice/docker-6dceaf01.scope/memory.events <==\nlow 0\nmax 81\noom 1\noom_kill 1\n\n==> /sys/fs/cgroup/system.slice/docker-6dceaf01.scope/memory.max <==\n134217728\n",
        "$ cat /sys/fs/cgroup/memory.max\n134217728\n",
        "/sys/fs/cgroup/ml/memory.events.local:oom_kill 3\n",
    ],
};

/// The words that stand before the numbers of memory.events and memory.oom_control.
const KEYS: [&str; 9] =
    ["low", "high", "max", "oom", "oom_kill", "oom_group_kill", "oom_kill_disable", "under_oom", "sock_throttled"];

/// What v1 prints where no limit is set: the largest number of whole pages.
pub(super) const UNLIMITED: u64 = 9_000_000_000_000_000_000;

/// How many claims are made of one text: no machine has more cgroups whose processes were killed.
const ENOUGH: usize = 1000;

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut heading = "";
    // How many lines of counters stand directly above: one word `oom_kill 2` alone is anybody's.
    let mut above = 0;
    let lines: Vec<(u64, &str)> = texts::numbered(text).collect();
    let first_version = lines.iter().any(|(_, line)| line.trim().starts_with("oom_kill_disable "));
    for (at, (number, line)) in lines.iter().enumerate() {
        if reading.entries.len() >= ENOUGH {
            break;
        }
        let line = line.trim_start_matches('\u{feff}');
        if let Some(path) = path_of(line) {
            (heading, above) = (path, 0);
            continue;
        }
        let (path, value) = match line.split_once(':') {
            Some((path, value)) if is_memory_file(path) => (path, value.trim()),
            _ => (heading, line),
        };
        if value.is_empty() {
            continue;
        }
        let counter = value.split_once(' ').filter(|(key, _)| KEYS.contains(key));
        let Some((key, count)) = counter else {
            limit(&mut reading, path, value, *number);
            (heading, above) = ("", 0);
            continue;
        };
        let below = lines.get(at + 1).and_then(|(_, next)| next.split_once(' ')).is_some_and(|(key, _)| KEYS.contains(&key));
        let known = !path.is_empty() || above > 0 || below;
        above += 1;
        let kills = count.trim().parse::<u64>().ok().filter(|_| key == "oom_kill" && known);
        let Some(kills) = kills else { continue };
        let file = path.rsplit('/').next().unwrap_or_default();
        let whose = match file {
            "memory.events.local" => "this cgroup alone",
            "memory.oom_control" => "this cgroup",
            _ if first_version && file.is_empty() => "this cgroup",
            _ => "this cgroup and those below it",
        };
        let who = Who { cgroup: cgroup_of(path), ..Who::default() };
        let name = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let text = format!("{name}oom_kill {kills} (counts {whose}, since it was made)");
        let what = match kills {
            0 => What::NoneKilled,
            _ => What::OomReported { by: "the cgroup's counter", scope: Scope::Cgroup },
        };
        reading.say(Witness::Kernel, *number, &who, None, what, text);
    }
    reading.told()
}

/// A limit in bytes, where the heading says that the number is one.
fn limit(reading: &mut Reading, path: &str, value: &str, number: u64) {
    let file = path.rsplit('/').next().unwrap_or_default();
    if !matches!(file, "memory.max" | "memory.limit_in_bytes") {
        return;
    }
    let Some(bytes) = value.parse::<u64>().ok().filter(|bytes| (1..UNLIMITED).contains(bytes)) else { return };
    let who = Who { cgroup: cgroup_of(path), ..Who::default() };
    reading.say(Witness::Kernel, number, &who, None, What::MemoryOption(Bytes(bytes)), format!("{path}: {bytes}"));
}

/// The path in `==> PATH <==` of head and tail, or behind the prompt that printed the file.
pub(super) fn path_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let between = line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <=="));
    let path = between.or_else(|| {
        let (before, path) = line.rsplit_once("cat ").unwrap_or(("", line));
        let prompted = before.is_empty() || before.trim_end().ends_with(['$', '#', '>', '+', '%']) || before.ends_with("sudo ");
        prompted.then_some(path.trim_end_matches(':'))
    })?;
    is_memory_file(path).then_some(path)
}

fn is_memory_file(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    file.starts_with("memory.") && !path.contains(' ') && (path.starts_with('/') || path == file)
}

/// The cgroup that a file belongs to; none for the root, which is a container's own as the container sees it.
pub(super) fn cgroup_of(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/sys/fs/cgroup")?;
    let rest = rest.strip_prefix("/memory/").map_or(rest, |rest| rest);
    let folder = rest.rsplit_once('/').map(|(folder, _)| folder.trim_start_matches('/'))?;
    (!folder.is_empty()).then(|| format!("/{folder}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        read(text).map(|reading| reading.entries.into_iter().map(|entry| entry.text).collect()).unwrap_or_default()
    }

    #[test]
    fn kills_are_told_with_their_reach() {
        assert_eq!(said(FORMAT.samples[0]), ["oom_kill 2 (counts this cgroup and those below it, since it was made)"]);
        assert_eq!(said(FORMAT.samples[1]), ["oom_kill 1 (counts this cgroup, since it was made)"]);
        let entries = read(FORMAT.samples[2]).unwrap().entries;
        assert_eq!(entries[0].claim.who.cgroup.as_deref(), Some("/system.slice/docker-6dceaf01.scope"));
        assert_eq!((entries[0].line, &entries[1].claim.what), (Some(5), &What::MemoryOption(Bytes::mib(128))));
    }

    #[test]
    fn a_touched_limit_is_no_death() {
        for text in [
            "==> /sys/fs/cgroup/memory/memory.failcnt <==\n99\n",
            "oom_kill 3\n",
            "$ cat /sys/fs/cgroup/memory/memory.limit_in_bytes\n9223372036854771712\n",
            "memory.max\n",
        ] {
            assert_eq!(said(text), Vec::<String>::new(), "{text}");
        }
        // That none was killed is testimony all the same.
        let entries = read("low 0\nhigh 0\nmax 1234\noom 3\noom_kill 0\n").unwrap().entries;
        assert_eq!(entries.iter().map(|entry| &entry.claim.what).collect::<Vec<_>>(), [&What::NoneKilled]);
    }
}
