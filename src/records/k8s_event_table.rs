//! Tables of Kubernetes events: `kubectl get events`, and the end of `kubectl describe` of a pod or node.
//!
//! Most messages mean something on their own and are left to the patterns. Here are read those that need their reason or
//! whom they are about: node-problem-detector's quotation of the kernel, the kubelet's and the controllers' bare words.

use crate::fact::Witness;
use crate::fact::{Role, What, Who};
use crate::seen::Form;

use super::texts::Columns;
use super::{Reading, TextFormat, k8s_events, texts};

/// kubernetes/kubectl pkg/cmd/events and pkg/describe; node-problem-detector config/kernel-monitor.json.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "k8s-event-table",
    starts: &["LAST SEEN", "NAMESPACE", "Type ", "LASTSEEN"],
    read,
    form: Form {
        name: "kubectl get events, kubectl describe node",
        how: "kubectl get events -A --sort-by=.lastTimestamp; kubectl describe node NAME",
        proves: "eviction and its reason, failed probes, kills for memory that node-problem-detector or the kubelet saw on the node",
    },
    samples: &[
        "NAMESPACE   LAST SEEN   TYPE      REASON       OBJECT            MESSAGE\ndefault     12m         Warning   OOMKilling   node/node-1       Memory cgroup out of memory: Killed process 23699 (python) total-vm:1854692kB, anon-rss:130176kB, file-rss:1024kB\n",
        "LAST SEEN   TYPE      REASON                OBJECT        MESSAGE\n2m          Warning   ExceededGracePeriod   pod/train-0   Container runtime did not kill the pod within specified grace period.\n",
        "Name:               node-1\nRoles:              <none>\nEvents:\n  Type     Reason      Age   From            Message\n  ----     ------      ----  ----            -------\n  Warning  OOMKilling  12m   kernel-monitor  Memory cgroup out of memory: Killed process 23699 (python) total-vm:1854692kB, anon-rss:130176kB, file-rss:1024kB\n",
    ],
};

/// The reasons whose messages no pattern can read.
const READ_HERE: [&str; 8] = [
    "ExceededGracePeriod",
    "NodeNotReady",
    "NodeControllerEviction",
    "TaintManagerEviction",
    "Evicted",
    "SpotInterrupted",
    "SpotInterruption",
    "PreemptScheduled",
];

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut table: Option<Columns<'_>> = None;
    // What `kubectl describe` describes.
    let mut described = Who::default();
    let mut name = "";
    for (number, line) in texts::numbered(text) {
        let bare = line.trim_start();
        if let Some(value) = line.strip_prefix("Name:") {
            (name, described, table) = (value.trim(), Who::default(), None);
        } else if line.starts_with("Roles:") && described.pod.is_none() {
            described.host = Some(name.to_owned());
        } else if line.starts_with("Node:") || line.starts_with("Containers:") {
            described = Who { pod: Some(name.to_owned()), ..Who::default() };
        }
        let head = ["NAMESPACE ", "LAST SEEN ", "LASTSEEN ", "Type "].iter().any(|start| bare.starts_with(start));
        if head {
            let columns = Columns::of(line);
            table = (columns.has("MESSAGE") && columns.has("REASON") || columns.has("Message") && columns.has("From"))
                .then_some(columns);
            continue;
        }
        let Some(columns) = &table else { continue };
        if bare.is_empty() || bare.starts_with("----") {
            continue;
        }
        row(&mut reading, columns, line, number, &described);
    }
    reading.told()
}

fn row(reading: &mut Reading, columns: &Columns<'_>, line: &str, number: u64, described: &Who) {
    let cell = |upper: &str, lower: &str| {
        let found = columns.cell(line, upper);
        if found.is_empty() { columns.cell(line, lower).to_owned() } else { found.to_owned() }
    };
    // A wide cell pushes the rest of its row to the right, so the words are looked for as well.
    let mut reason = cell("REASON", "Reason");
    let known = |word: &str| word == "OOMKilling" || READ_HERE.contains(&word);
    if !known(&reason) {
        match line.split_whitespace().take(5).find(|word| known(word)) {
            Some(word) => word.clone_into(&mut reason),
            None => return,
        }
    }
    let object = line.split_whitespace().find_map(|word| word.split_once('/').filter(|(kind, _)| is_kind(kind)));
    let who = match object {
        Some((kind, name)) if kind.eq_ignore_ascii_case("node") => Who { host: Some(name.to_owned()), ..Who::default() },
        Some((kind, name)) if kind.eq_ignore_ascii_case("pod") => {
            let namespace = columns.cell(line, "NAMESPACE");
            let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
            Who { pod: Some(name.to_owned()), namespace, ..Who::default() }
        }
        _ => described.clone(),
    };
    let message = message(line, &reason, object.map(|(_, name)| name));
    // The kubelet's own sentences are read as lines; Karpenter evicts under the same word.
    if reason == "Evicted" && !message.starts_with("Evicted pod") {
        return;
    }
    if reason == "OOMKilling" {
        reading.remark_line(number, message, &who);
    } else if let Some(what) = k8s_events::claim(&reason, message) {
        let who = if what == What::Infrastructure { who } else { Who { role: Role::Main, ..who } };
        reading.say(Witness::Runtime, number, &who, None, what, line.trim());
    }
}

fn is_kind(kind: &str) -> bool {
    ["node", "pod", "pytorchjob", "mpijob", "tfjob", "job"].iter().any(|name| kind.eq_ignore_ascii_case(name))
}

/// What follows the object, or the speaker, which stands at least two blanks before the message.
fn message<'a>(line: &'a str, reason: &str, object: Option<&str>) -> &'a str {
    let after = |word: &str| line.find(word).and_then(|at| line.get(at + word.len()..));
    let rest = match object {
        Some(name) => after(name),
        // `Type  Reason  Age  From  Message`; the age may hold `(x3 over 5m)`.
        None => after(reason).and_then(|rest| {
            let mut cells = rest.trim_start().split("  ").filter(|cell| !cell.trim().is_empty());
            cells.nth(2).and_then(|cell| rest.find(cell).and_then(|at| rest.get(at..)))
        }),
    };
    rest.unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Why;

    #[test]
    fn the_kernels_line_is_handed_on_with_its_node() {
        for sample in [FORMAT.samples[0], FORMAT.samples[2]] {
            let remarks = read(sample).unwrap().remarks;
            assert_eq!(remarks[0].who.host.as_deref(), Some("node-1"));
            assert!(remarks[0].text.starts_with("Memory cgroup out of memory: Killed process 23699"), "{}", remarks[0].text);
            assert_eq!(remarks[0].line, Some(sample.lines().count() as u64));
        }
    }

    #[test]
    fn bare_words_are_read_by_their_reason() {
        let entry = &read(FORMAT.samples[1]).unwrap().entries[0];
        assert!(matches!(entry.claim.what, What::Stopped { why: Why::StopTimeout, .. }));
        assert_eq!(entry.claim.who.pod.as_deref(), Some("train-0"));
    }
}
