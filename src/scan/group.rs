//! Which files of a folder belong to one incident, told by their names.

use std::collections::{BTreeMap, HashSet};

use super::key;
use crate::input::rotation;

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

/// What an incident is called beyond its folder, and the indices of its files.
pub(super) type Group = (Option<String>, Vec<usize>);

/// The files of one folder, by incident; `whole` says that these are all files of it.
pub(super) fn groups<T: AsRef<str>>(names: &[T], grouping: Grouping, whole: bool) -> Vec<Group> {
    let all = || (0..names.len()).collect::<Vec<usize>>();
    match grouping {
        Grouping::File => names.iter().enumerate().map(|(index, name)| (Some(name.as_ref().to_owned()), vec![index])).collect(),
        Grouping::Dir => vec![(None, all())],
        Grouping::Auto if names.iter().any(|name| is_setup(name.as_ref())) => vec![(None, all())],
        Grouping::Auto => by_names(names, whole),
    }
}

fn by_names<T: AsRef<str>>(names: &[T], whole: bool) -> Vec<Group> {
    let bare: Vec<String> = names.iter().map(|name| key::bare(name.as_ref())).collect();
    let known: HashSet<&str> = bare.iter().map(String::as_str).collect();
    let mut keyed: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (index, (name, bare)) in names.iter().zip(&bare).enumerate() {
        // A date is a rotation only beside the log that it goes on in; else it is the day of a job of its own.
        let key = match rotation::undated(bare).filter(|log| known.contains(log)) {
            Some(log) => key::key(log),
            None => key::key(name.as_ref()),
        };
        keyed.entry(key).or_default().push(index);
    }
    // One job with its surroundings is one incident; of several jobs nobody knows whose the surroundings are.
    if whole && keyed.len() <= 2 && keyed.contains_key(&None) {
        let of = |wanted: bool| keyed.iter().filter(move |(key, _)| key.is_none() == wanted).flat_map(|(_, files)| files);
        let word = |index: &usize| bare.get(*index).map_or("", String::as_str);
        if !of(true).any(|first| of(false).any(|other| key::is_next(word(other), word(first)))) {
            return vec![(None, (0..names.len()).collect())];
        }
    }
    let mut found: Vec<Group> = keyed.into_iter().collect();
    found.sort_by_key(|(_, files)| files.first().copied());
    found
}

/// The first step of every job of GitHub Actions: its folder is one job.
fn is_setup(name: &str) -> bool {
    matches!(name, "1_Set up job.txt" | "1_Set up runner.txt" | "system.txt")
}

/// The folder of a pod, as the kubelet names it: `namespace_pod_uid`. All containers below it are one incident.
pub(super) fn is_pod(folder: &str) -> bool {
    let mut parts = folder.split('_');
    let uid = |text: &str| text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    parts.clone().count() == 3 && parts.next_back().is_some_and(uid)
}

#[cfg(test)]
mod tests {
    use super::{Group, Grouping, groups, is_pod};

    fn auto(names: &[&str]) -> Vec<Group> {
        groups(names, Grouping::Auto, true)
    }

    #[test]
    fn views_of_one_incident_stay_together_and_jobs_do_not() {
        assert_eq!(auto(&["dmesg.txt", "inspect.json", "train.log"]), [(None, vec![0, 1, 2])]);
        assert_eq!(auto(&["dmesg.txt", "slurm-1.out"]), [(None, vec![0, 1])]);
        assert_eq!(auto(&["a.log", "b.log"]), [(Some("a".to_owned()), vec![0]), (Some("b".to_owned()), vec![1])]);
        assert_eq!(auto(&["j1.err", "j1.out", "j2.out"])[0], (Some("j1".to_owned()), vec![0, 1]));
        assert_eq!(auto(&["1_Set up job.txt", "2_Run tests.txt"]), [(None, vec![0, 1])]);
        assert_eq!(auto(&["0_build.txt", "1_lint.txt"]).len(), 2);
        assert_eq!(groups(&["a", "b"], Grouping::Dir, true), [(None, vec![0, 1])]);
        // The numbers of jobs, and runs of one name, are other incidents; ranks, nodes and rotations are not.
        for names in [
            ["4711.log", "4712.log"],
            ["lr0.1.log", "lr0.2.log"],
            ["train.log", "train_2.log"],
            ["run.log", "run2.log"],
            ["a-20261129.log", "a-20261130.log"],
        ] {
            assert_eq!(auto(&names).len(), 2, "{names:?}");
        }
        let all =
            [["rank0.log", "rank1.log"], ["node-a.out", "node-b.out"], ["bert-20261130.log.gz", "bert.log"], ["4711.log", "df"]];
        for names in all {
            assert_eq!(auto(&names).len(), 1, "{names:?}");
        }
        assert_eq!(auto(&["4711.err", "4711.out", "4712.err", "4712.out"]).len(), 2);
        assert!(is_pod("default_trainer-0_0a1b2c3d-0000-1111-2222-333344445555"));
        assert!(!is_pod("a_b_c"));
    }
}
