//! YAML of clouds in a text: blocks of members that are told by a word of their own, as they have no `kind` at their head.

use super::documents::Found;
use super::yaml_text::parse;

/// Words that stand in the YAML that `gcloud` prints of operations, audit logs, Vertex AI and Batch jobs.
const MARKS: [&str; 6] =
    ["kind: compute#operation", "methodName: ", "/locations/", "operationType: compute.", "statusEvents:", "state: JOB_STATE_"];

/// How many blocks that hold a mark and are of no known kind are parsed before the rest is left as text.
const STRANGERS: u32 = 1000;

/// Finds the blocks and reads those that a format knows.
pub(super) fn find(text: &str, found: &mut Found) {
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return;
    }
    let mut strangers = STRANGERS;
    let mut block: Option<(usize, u64)> = None;
    let (mut at, mut line) = (0, 0);
    let mut read = |from: (usize, u64), to: usize| {
        let part = text.get(from.0..to).unwrap_or_default();
        if strangers == 0 || !MARKS.iter().any(|mark| part.contains(mark)) {
            return;
        }
        let last = (from.1 + part.trim_end().lines().count() as u64).saturating_sub(1);
        if !parse(part).is_ok_and(|value| value.is_object() && found.keep(value, from.1, last)) {
            strangers -= 1;
        }
    };
    for whole in text.split_inclusive('\n') {
        line += 1;
        let content = whole.trim_end_matches(['\n', '\r']);
        let inside = content.is_empty() || content.starts_with([' ', '\t']) || content == "-" || content.starts_with("- ");
        if !inside && !is_member(content) {
            if let Some(from) = block.take() {
                read(from, at);
            }
        } else if block.is_none() && is_member(content) {
            block = Some((at, line));
        }
        at += whole.len();
    }
    if let Some(from) = block {
        read(from, text.len());
    }
}

/// Whether a line begins a member of the outermost object: `name: …` or `name:`.
fn is_member(content: &str) -> bool {
    let Some((key, rest)) = content.split_once(':') else { return false };
    let word = key.starts_with(|c: char| c.is_ascii_lowercase()) && key.bytes().all(|b| b.is_ascii_alphanumeric());
    // A member of Kubernetes belongs to a block that the other search finds.
    word && (rest.is_empty() || rest.starts_with(' ')) && key != "apiVersion"
}

#[cfg(test)]
mod tests {
    use crate::records::documents::find;

    #[test]
    fn operations_are_found_between_separators() {
        let one = "endTime: '2024-06-02T03:46:41.118-07:00'\nid: '5017'\nkind: compute#operation\noperationType: compute.instances.preempted\ntargetLink: https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/i\n";
        let text = format!("$ gcloud compute operations list --format yaml\n---\n{one}---\n{one}\n$ exit\n");
        let spans: Vec<(u64, u64)> = find(text.as_bytes()).0.iter().map(|d| (d.first_line, d.last_line)).collect();
        assert_eq!(spans, [(3, 7), (9, 13)]);
        assert!(find(b"info: step\nmethodName: none\nloss: 3\n").0.is_empty());
        assert!(find("methodName: {a: [\n".repeat(20_000).as_bytes()).0.is_empty());
    }
}
