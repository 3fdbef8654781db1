//! Files of one folder whose names have nothing in common, and that belong together all the same: a record about a pod, a
//! container or a batch job belongs to the other records about it, and to the file that is named after it.

use std::collections::BTreeSet;

use super::group::Group;
use super::key;
use crate::fact::Who;
use crate::input::rotation;

/// Most records of a folder that are looked into; of a folder with more nobody can say that it is one incident.
const RECORDS: usize = 64;

/// Endings of records.
const ENDS: [&str; 5] = [".json", ".jsonl", ".ndjson", ".yaml", ".yml"];

/// Words in the names of records that are written as plain text.
const WORDS: [&str; 12] =
    ["describe", "dmesg", "docker", "events", "inspect", "journal", "kern", "kernel", "kubectl", "messages", "sacct", "scontrol"];

/// Digits of a container's id that tell it from another.
const ID: usize = 12;

/// Whom a record is about.
#[derive(Clone, Debug, Default, PartialEq)]
struct Subject {
    jobs: BTreeSet<String>,
    pods: BTreeSet<(Option<String>, String)>,
    uids: BTreeSet<String>,
    containers: BTreeSet<String>,
}

/// Files that are one incident so far.
struct Node {
    key: Option<String>,
    files: Vec<usize>,
    subject: Subject,
}

/// Puts groups together that are about the same pod, container or job. A record about several of them tells nothing, and two
/// of them are never put together. `about` reads whom a file is about, unless it is too large for a record.
/// `whole` says that these are all files of a folder.
pub(super) fn link<T: AsRef<str>>(names: &[T], groups: &mut Vec<Group>, whole: bool, about: &dyn Fn(usize) -> Option<Vec<Who>>) {
    let all = |wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
        let name = |index: &usize| names.get(*index).is_some_and(|name| wanted(&name.as_ref().to_lowercase()));
        (0..names.len()).filter(name).collect()
    };
    // Any text may be what a command printed; of many of them most are logs.
    let mut records = all(&|name| is_record(name) || name.ends_with(".txt"));
    if records.len() > RECORDS {
        records = all(&is_record);
    }
    if groups.len() < 2 || records.is_empty() || records.len() > RECORDS {
        return;
    }
    let subjects: Vec<(usize, Subject)> =
        records.into_iter().filter_map(|index| Some((index, Subject::of(&about(index)?)?))).collect();
    let subject = |index: &usize| subjects.iter().find(|(known, _)| known == index).map(|(_, subject)| subject);
    let mut nodes: Vec<Node> = Vec::new();
    for (key, files) in groups.drain(..) {
        // What is about the whole folder by its name may be about one of several jobs by what it says.
        let (apart, files): (Vec<usize>, _) = files.into_iter().partition(|index| key.is_none() && subject(index).is_some());
        let mut node = Node { key, files, subject: Subject::default() };
        for found in node.files.iter().filter_map(subject) {
            node.subject.join(found);
        }
        nodes.extend(apart.into_iter().map(|index| Node {
            key: None,
            files: vec![index],
            subject: subject(&index).cloned().unwrap_or_default(),
        }));
        if !node.files.is_empty() {
            nodes.push(node);
        }
    }
    let linked = join(&mut nodes);
    // What was set apart and belongs to nobody goes back.
    let (alone, mut nodes): (Vec<Node>, Vec<Node>) = nodes.into_iter().partition(|node| node.key.is_none());
    let rest: Vec<usize> = alone.into_iter().flat_map(|node| node.files).collect();
    if !rest.is_empty() {
        nodes.push(Node { key: None, files: rest, subject: Subject::default() });
    }
    let surrounded = whole && linked && nodes.len() == 2 && nodes.iter().any(|node| node.key.is_none());
    let one = surrounded || whole && nodes.len() == 1;
    *groups = if one {
        vec![(None, nodes.into_iter().flat_map(|node| node.files).collect())]
    } else {
        nodes.into_iter().map(|node| (node.key, node.files)).collect()
    };
    for (_, files) in groups.iter_mut() {
        files.sort_unstable();
    }
    groups.sort_by_key(|(_, files)| files.first().copied());
}

/// Joins nodes until none fits to another; whether any did.
fn join(nodes: &mut Vec<Node>) -> bool {
    let mut linked = false;
    loop {
        let pair = (0..nodes.len()).find_map(|at| {
            let own = &nodes.get(at)?.subject;
            if own.is_empty() {
                return None;
            }
            let fits = |other: &Node| own.is_same(&other.subject) && !own.clashes(&other.subject);
            let others = || nodes.iter().enumerate().filter(|(index, _)| *index != at);
            let same = others().find(|(_, other)| fits(other)).map(|(index, _)| index);
            same.or_else(|| {
                let mut named = others().filter(|(_, other)| other.subject.is_empty() && own.is_name(other.key.as_deref()));
                // A number that two files have in their names may be that of neither.
                named.next().filter(|_| named.next().is_none()).map(|(index, _)| index)
            })
            .map(|other| (at, other))
        });
        let Some((one, other)) = pair else { return linked };
        linked = true;
        let gone = nodes.remove(one.max(other));
        let Some(kept) = nodes.get_mut(one.min(other)) else { return linked };
        kept.subject.join(&gone.subject);
        kept.files.extend(gone.files);
        kept.key = kept.key.take().or(gone.key);
    }
}

/// Whether a name is that of a record, by its ending or by a word in it.
fn is_record(name: &str) -> bool {
    let plain = rotation::packed(name).unwrap_or(name);
    ENDS.iter().any(|end| plain.ends_with(end)) || key::bare(name).split(['-', '_', '.', ' ']).any(|word| WORDS.contains(&word))
}

impl Subject {
    /// The one pod, container or job that claims are about; nothing where there are several or none.
    fn of(all: &[Who]) -> Option<Self> {
        let mut found = Self::default();
        for who in all {
            // A step belongs to its job.
            found.jobs.extend(who.job.iter().filter_map(|job| job.split('.').next()).map(str::to_owned));
            found.pods.extend(who.pod.iter().map(|pod| (who.namespace.clone(), pod.clone())));
            found.uids.extend(who.pod_uid.clone());
            found.containers.extend(who.container.iter().filter_map(|id| id.get(..ID)).map(str::to_owned));
        }
        let pods = found.pods.iter().map(|(_, pod)| pod).collect::<BTreeSet<_>>().len().max(found.uids.len());
        let count = [found.jobs.len(), pods, found.containers.len()].into_iter().find(|count| *count > 0);
        (count == Some(1)).then_some(found)
    }

    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn join(&mut self, other: &Self) {
        self.jobs.extend(other.jobs.iter().cloned());
        self.pods.extend(other.pods.iter().cloned());
        self.uids.extend(other.uids.iter().cloned());
        self.containers.extend(other.containers.iter().cloned());
    }

    fn same_pod(&self, other: &Self) -> bool {
        let space = |a: &Option<String>, b: &Option<String>| a.is_none() || b.is_none() || a == b;
        self.pods.iter().any(|(own, pod)| other.pods.iter().any(|(theirs, name)| name == pod && space(own, theirs)))
    }

    /// Whether both are about one thing.
    fn is_same(&self, other: &Self) -> bool {
        let common = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_disjoint(b);
        common(&self.jobs, &other.jobs)
            || common(&self.uids, &other.uids)
            || common(&self.containers, &other.containers)
            || self.same_pod(other)
    }

    /// Whether they are about two jobs or two pods, whatever else they share.
    fn clashes(&self, other: &Self) -> bool {
        let apart = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_empty() && !b.is_empty() && a.is_disjoint(b);
        let pods = !self.pods.is_empty() && !other.pods.is_empty() && !self.same_pod(other);
        pods || apart(&self.jobs, &other.jobs) || apart(&self.uids, &other.uids)
    }

    /// Whether a file is named after it.
    fn is_name(&self, key: Option<&str>) -> bool {
        let Some(key) = key else { return false };
        let job = |job: &String| {
            let rest = key.strip_suffix(job.as_str());
            rest.is_some_and(|rest| !rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
        };
        let pod = |(space, pod): &(Option<String>, String)| {
            let space = space.as_deref().unwrap_or_default();
            key == pod || key == format!("{pod}_{space}") || key == format!("{space}_{pod}") || key == format!("{space}-{pod}")
        };
        let id = |id: &String| key.contains(id.as_str());
        self.jobs.iter().any(job) || self.pods.iter().any(pod) || self.containers.iter().any(id)
    }
}
