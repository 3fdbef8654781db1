//! Which files of a folder belong to one incident, told by their names.

use std::collections::BTreeMap;

/// How files are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Files whose names say that they belong together.
    #[default]
    Auto,
    /// Every file is an incident.
    File,
    /// Every folder is an incident.
    Dir,
}

/// Names of files that tell of the whole folder: the several views of one incident, and the ranks of one job.
const VIEWS: [&str; 38] = [
    "alloc",
    "console",
    "container",
    "current",
    "daemon",
    "describe",
    "df",
    "dmesg",
    "docker",
    "error",
    "errors",
    "events",
    "err",
    "inspect",
    "job",
    "journal",
    "kern",
    "kernel",
    "kubectl",
    "log",
    "main",
    "messages",
    "nvidia-smi",
    "out",
    "output",
    "pod",
    "previous",
    "run",
    "sacct",
    "stderr",
    "stdout",
    "std_log",
    "syslog",
    "system",
    "train",
    "training",
    "trainer",
    "wandb",
];

/// Words before a number that tell a part of one job.
const PARTS: [&str; 10] = ["rank", "node", "worker", "gpu", "local_rank", "attempt", "proc", "process", "host", "restart"];

/// Endings that say how a file is written, and not what it is of.
const ENDS: [&str; 16] =
    ["log", "txt", "out", "err", "json", "jsonl", "ndjson", "yaml", "yml", "gz", "zst", "xz", "bz2", "old", "csv", "md"];

/// Endings of archives that hold files.
const ARCHIVES: [&str; 9] = [".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".tbz2", ".txz"];

/// Whether a name says that it is an archive of files, which may hold many incidents.
pub(super) fn is_archive(name: &str) -> bool {
    let name = name.to_lowercase();
    ARCHIVES.iter().any(|end| name.ends_with(end))
}

/// The files of one folder, by incident: what the incident is called beyond the folder, and the indices of its files.
pub(super) fn groups<T: AsRef<str>>(names: &[T], grouping: Grouping) -> Vec<(Option<String>, Vec<usize>)> {
    let all = || (0..names.len()).collect::<Vec<usize>>();
    match grouping {
        Grouping::File => names.iter().enumerate().map(|(index, name)| (Some(name.as_ref().to_owned()), vec![index])).collect(),
        Grouping::Dir => vec![(None, all())],
        Grouping::Auto if names.iter().any(|name| is_setup(name.as_ref())) => vec![(None, all())],
        Grouping::Auto => {
            let mut keyed: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
            for (index, name) in names.iter().enumerate() {
                keyed.entry(key(name.as_ref())).or_default().push(index);
            }
            // One job with its surroundings is one incident; of several jobs nobody knows whose the surroundings are.
            if keyed.len() <= 2 && keyed.contains_key(&None) {
                return vec![(None, all())];
            }
            let mut found: Vec<_> = keyed.into_iter().collect();
            found.sort_by_key(|(_, files)| files.first().copied());
            for (key, files) in &mut found {
                if let (Some(_), [only]) = (&key, files.as_slice()) {
                    *key = names.get(*only).map(|name| name.as_ref().to_owned());
                }
            }
            found
        }
    }
}

/// The first step of every job of GitHub Actions: its folder is one job.
fn is_setup(name: &str) -> bool {
    matches!(name, "1_Set up job.txt" | "1_Set up runner.txt" | "system.txt")
}

/// What a file is of: the name without endings, views and parts; `None` where nothing is left.
fn key(name: &str) -> Option<String> {
    let mut rest = name.to_lowercase();
    while let Some((stem, end)) = rest.rsplit_once('.') {
        let number = !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit());
        if stem.is_empty() || !(number || ENDS.contains(&end) || VIEWS.contains(&end) || is_part(end)) {
            break;
        }
        rest = stem.to_owned();
    }
    loop {
        if VIEWS.contains(&rest.as_str()) || is_part(&rest) || (!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())) {
            return None;
        }
        let Some((stem, end)) = rest.rsplit_once(['-', '_', '.']) else { return Some(rest) };
        if !(VIEWS.contains(&end) || is_part(end)) {
            // `rank_3` is one word in two.
            let whole = PARTS.iter().find_map(|part| {
                let stem = stem.strip_suffix(part)?;
                (end.bytes().all(|byte| byte.is_ascii_digit()) && !end.is_empty()).then_some(stem)
            });
            match whole {
                Some(stem) => rest = stem.trim_end_matches(['-', '_', '.']).to_owned(),
                None => return Some(rest),
            }
        } else {
            rest = stem.to_owned();
        }
        if rest.is_empty() {
            return None;
        }
    }
}

/// A part of a job with its number, as `rank3`.
fn is_part(word: &str) -> bool {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
    name.len() < word.len() && PARTS.contains(&name.trim_end_matches(['-', '_']))
}

/// The folder of a pod, as the kubelet names it: `namespace_pod_uid`. All containers below it are one incident.
pub(super) fn is_pod(folder: &str) -> bool {
    let mut parts = folder.split('_');
    let uid = |text: &str| text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    parts.clone().count() == 3 && parts.next_back().is_some_and(uid)
}

#[cfg(test)]
mod tests {
    use super::{Grouping, groups, is_pod, key};

    fn auto(names: &[&str]) -> Vec<(Option<String>, Vec<usize>)> {
        groups(names, Grouping::Auto)
    }

    #[test]
    fn names_tell_what_a_file_is_of() {
        for (name, of) in [
            ("train.log", None),
            ("dmesg.txt", None),
            ("rank3.log", None),
            ("rank_3.log.gz", None),
            ("0.log", None),
            ("slurm-123.out", Some("slurm-123")),
            ("slurm-123.err", Some("slurm-123")),
            ("resnet-7f9c-describe.txt", Some("resnet-7f9c")),
            ("resnet-7f9c.log.1.gz", Some("resnet-7f9c")),
            ("run5_rank0.log", Some("run5")),
            (".hidden", Some(".hidden")),
            ("", Some("")),
        ] {
            assert_eq!(key(name).as_deref(), of, "{name}");
        }
    }

    #[test]
    fn views_of_one_incident_stay_together_and_jobs_do_not() {
        assert_eq!(auto(&["dmesg.txt", "inspect.json", "train.log"]), [(None, vec![0, 1, 2])]);
        assert_eq!(auto(&["dmesg.txt", "slurm-1.out"]), [(None, vec![0, 1])]);
        assert_eq!(auto(&["a.log", "b.log"]), [(Some("a.log".to_owned()), vec![0]), (Some("b.log".to_owned()), vec![1])]);
        assert_eq!(auto(&["j1.err", "j1.out", "j2.out"])[0], (Some("j1".to_owned()), vec![0, 1]));
        assert_eq!(auto(&["1_Set up job.txt", "2_Run tests.txt"]), [(None, vec![0, 1])]);
        assert_eq!(auto(&["0_build.txt", "1_lint.txt"]).len(), 2);
        assert_eq!(groups(&["a", "b"], Grouping::Dir), [(None, vec![0, 1])]);
        assert!(is_pod("default_trainer-0_0a1b2c3d-0000-1111-2222-333344445555"));
        assert!(!is_pod("a_b_c"));
    }
}
