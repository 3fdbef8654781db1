//! The kubelet's eviction manager in its log: which pod it evicted, and for which resource, which an earlier line tells.

use crate::fact::{EvictedFor, What, Who, Witness};
use crate::line;
use crate::seen::Form;

use super::{Reading, TextFormat, texts};

/// pkg/kubelet/eviction/eviction_manager.go; structured messages from 1.19, sentences with `%s` before.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "kubelet-evictions",
    starts: &[""],
    read,
    form: Form {
        name: "evictions in the kubelet's log",
        how: "journalctl -u kubelet",
        proves: "which pod was evicted, and whether for memory or disk",
    },
    samples: &[
        "W0312 11:52:43.123456    1234 eviction_manager.go:344] \"Eviction manager: attempting to reclaim\" resourceName=\"memory\"\nI0312 11:52:44.123456    1234 eviction_manager.go:614] \"Eviction manager: pod is evicted successfully\" pod=\"ml/train-0\"\n",
        "W0312 11:52:43.123456    1234 eviction_manager.go:329] eviction manager: attempting to reclaim ephemeral-storage\nI0312 11:52:44.123456    1234 eviction_manager.go:565] eviction manager: pod train-0_ml(713b7f3f-883d-4d30-aebe-07380797ed54) is evicted successfully\n",
    ],
};

fn read(text: &str) -> Option<Reading> {
    if !text.contains("eviction_manager.go:") {
        return None;
    }
    let mut reading = Reading::default();
    let mut resource = "";
    for (number, whole) in texts::numbered(text).filter(|(_, line)| line.contains("eviction_manager.go:")) {
        let after = |words: &str| whole.find(words).and_then(|at| whole.get(at + words.len()..));
        if let Some(rest) = after("anager: attempting to reclaim") {
            let word = rest.split("resourceName=\"").last().unwrap_or(rest).trim_start();
            resource = word.split(['"', ' ']).next().unwrap_or_default();
        } else if let Some(who) = evicted(whole) {
            let why = match resource {
                "memory" => EvictedFor::Memory,
                "" => EvictedFor::Unknown,
                _ => EvictedFor::Disk,
            };
            let line = line::peel(whole, number);
            let aim = if resource.is_empty() { String::new() } else { format!(" (to reclaim {resource})") };
            let text = format!("{}{aim}", line.text.trim());
            reading.say(Witness::Runtime, number, &who, line.envelope.when, What::Evicted(why), text);
        }
    }
    reading.told()
}

/// The pod in `pod="namespace/name"` or `pod name_namespace(uid)`.
fn evicted(line: &str) -> Option<Who> {
    if !line.contains("is evicted successfully") {
        return None;
    }
    if let Some((_, rest)) = line.split_once(" pod=\"") {
        let (namespace, pod) = rest.split('"').next()?.split_once('/')?;
        return Some(Who { pod: Some(pod.to_owned()), namespace: Some(namespace.to_owned()), ..Who::default() });
    }
    let (_, rest) = line.split_once("anager: pod ")?;
    let (pod, rest) = rest.split(' ').next()?.split_once('_')?;
    let (namespace, uid) = rest.split_once('(')?;
    let pod_uid = uid.strip_suffix(')').map(str::to_owned);
    Some(Who { pod: Some(pod.to_owned()), namespace: Some(namespace.to_owned()), pod_uid, ..Who::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resource_comes_from_the_line_above() {
        let told = |sample: &str| read(sample).unwrap().entries.remove(0);
        let entry = told(FORMAT.samples[0]);
        assert_eq!(entry.claim.what, What::Evicted(EvictedFor::Memory));
        assert_eq!((entry.claim.who.pod.as_deref(), entry.line), (Some("train-0"), Some(2)));
        let entry = told(FORMAT.samples[1]);
        assert_eq!(entry.claim.what, What::Evicted(EvictedFor::Disk));
        assert_eq!(entry.claim.who.pod_uid.as_deref(), Some("713b7f3f-883d-4d30-aebe-07380797ed54"));
    }
}
