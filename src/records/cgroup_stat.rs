//! `memory.stat` of a cgroup: what its memory was made of when somebody looked.
//!
//! After a kill most of it is free again: what is left are files in /dev/shm and on other tmpfs, which nobody removed.

use std::collections::HashMap;

use crate::fact::{What, Who, Witness};
use crate::seen::Form;
use crate::units::Bytes;

use super::{Reading, TextFormat, cgroup_files, texts};

/// Linux mm/memcontrol.c: `anon` and `file` begin cgroup v2's file (4.5 and later), `cache` and `rss` that of v1, which also
/// counts `total_…` with the cgroups below and holds the limit that applies.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "cgroup-stat",
    starts: &["anon ", "cache "],
    read,
    form: Form {
        name: "memory.stat of a cgroup",
        how: "tail -n +1 /sys/fs/cgroup/memory.{stat,max,events}",
        proves: "nothing of a death; how much of the memory was shared memory when it was read",
    },
    samples: &[
        "anon 41943040\nfile 1052770304\nkernel 3145728\nkernel_stack 65536\nshmem 1048576000\nfile_mapped 1048576\n",
        "cache 1052770304\nrss 41943040\nrss_huge 0\nshmem 1048576000\nmapped_file 1048576\nhierarchical_memory_limit 1073741824\ntotal_cache 1052770304\ntotal_rss 41943040\ntotal_shmem 1048576000\n",
        "==> /sys/fs/cgroup/ml/memory.stat <==\nanon 41943040\nfile 1052770304\nshmem 1048576000\n",
    ],
};

/// The numbers of one memory.stat.
struct Stat<'a> {
    path: &'a str,
    line: u64,
    rows: HashMap<&'a str, u64>,
}

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let (mut path, mut stat): (&str, Option<Stat<'_>>) = ("", None);
    let (mut all, mut limits) = (Vec::new(), HashMap::new());
    let mut above = "";
    for (number, line) in texts::numbered(text) {
        let row = line.split_once(' ').and_then(|(key, value)| Some((key, value.parse::<u64>().ok()?)));
        match (row, &mut stat) {
            (Some((key, value)), Some(stat)) if is_key(key) => {
                stat.rows.entry(key).or_insert(value);
            }
            // The kernel prints the same rows in its report of a kill, below a heading of its own.
            (Some((key @ ("anon" | "cache"), value)), None) if !above.contains("Memory cgroup stats for ") => {
                stat = Some(Stat { path, line: number, rows: HashMap::from([(key, value)]) });
            }
            _ => {
                all.extend(stat.take());
                if let Some(found) = cgroup_files::path_of(line) {
                    path = found;
                } else if let (Ok(limit), Some(folder)) = (line.trim().parse::<u64>(), limited(path)) {
                    limits.insert(folder, limit);
                }
            }
        }
        if !line.is_empty() {
            above = line;
        }
    }
    all.extend(stat);
    for stat in all {
        tell(&mut reading, &stat, &limits);
    }
    reading.told()
}

/// A key of memory.stat: a word in small letters.
fn is_key(key: &str) -> bool {
    key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// The folder of a file that holds a limit.
fn limited(path: &str) -> Option<&str> {
    path.strip_suffix("memory.max").or_else(|| path.strip_suffix("memory.limit_in_bytes"))
}

fn tell(reading: &mut Reading, stat: &Stat<'_>, limits: &HashMap<&str, u64>) {
    // What the cgroups below hold counts against the limit as well; v2 adds it up itself.
    let row = |key: &str| stat.rows.get(&*format!("total_{key}")).or_else(|| stat.rows.get(key)).copied().map(Bytes);
    let (Some(shmem), Some(anon)) = (row("shmem"), row("anon").or_else(|| row("rss"))) else { return };
    let folder = stat.path.strip_suffix("memory.stat").unwrap_or_default();
    let told = stat.rows.get("hierarchical_memory_limit").or_else(|| limits.get(folder));
    let limit = told.copied().filter(|limit| (1..cgroup_files::UNLIMITED).contains(limit)).map(Bytes);
    let who = Who { cgroup: cgroup_files::cgroup_of(stat.path), ..Who::default() };
    let name = if stat.path.is_empty() { String::new() } else { format!("{}: ", stat.path) };
    let of = limit.map_or_else(String::new, |limit| format!(", limit {limit}"));
    let text = format!("{name}shmem {}, anon {}{of}", shmem.0, anon.0);
    reading.say(Witness::Kernel, stat.line, &who, None, What::Filled { shmem, anon, limit }, text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_the_same() {
        let filled = |text: &str| read(text).map(|reading| reading.entries[0].claim.what.clone());
        let (shmem, anon) = (Bytes(1_048_576_000), Bytes::mib(40));
        assert_eq!(filled(FORMAT.samples[0]), Some(What::Filled { shmem, anon, limit: None }));
        assert_eq!(filled(FORMAT.samples[1]), Some(What::Filled { shmem, anon, limit: Some(Bytes::mib(1024)) }));
        let with_limit = format!("{}\n==> /sys/fs/cgroup/ml/memory.max <==\n1073741824\n", FORMAT.samples[2]);
        assert_eq!(filled(&with_limit), Some(What::Filled { shmem, anon, limit: Some(Bytes::mib(1024)) }));
        let others = format!("{}\n==> /sys/fs/cgroup/web/memory.max <==\n1073741824\n", FORMAT.samples[2]);
        assert_eq!(filled(&others), Some(What::Filled { shmem, anon, limit: None }));
    }

    #[test]
    fn rows_of_a_report_or_of_anybody_are_none() {
        let report = format!("Memory cgroup stats for /docker/ab:\n{}", FORMAT.samples[0]);
        for text in [report.as_str(), "anon 5\n", "cache 3 hits\n", "anon 1\nfile 2\n"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
