//! Claims become facts: with their evidence, cut to what can be kept, and with what the surroundings tell of whom they are about.

use crate::fact::{Claim, Fact, Who, Witness};
use crate::line::Envelope;
use crate::place::Place;

/// How much of a line is kept as evidence, in bytes.
const EVIDENCE: usize = 4 << 10;

/// A claim with its evidence.
pub(super) fn fact(claim: Claim, id: &'static str, witness: Witness, place: Place, text: &str, envelope: &Envelope) -> Fact {
    let Claim { what, mut who } = claim;
    who.rank = who.rank.or(envelope.rank);
    // Engines write ids, Compose and kubectl write names before a line.
    let is_id = |text: &String| text.len() >= 12 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let about = Who {
        container: envelope.container.clone().filter(is_id),
        container_name: envelope.container.clone().filter(|text| !is_id(text)),
        pod: envelope.pod.clone(),
        host: envelope.host.clone(),
        ..Who::default()
    };
    complete(&mut who, &about);
    Fact { what, who, when: envelope.when, since: None, boot: envelope.boot, place, text: cut(text), witness, id }
}

/// Fills in what the surroundings of a line tell of whom it is about.
pub(super) fn complete(who: &mut Who, about: &Who) {
    for (known, more) in [
        (&mut who.container, &about.container),
        (&mut who.container_name, &about.container_name),
        (&mut who.pod, &about.pod),
        (&mut who.pod_uid, &about.pod_uid),
        (&mut who.namespace, &about.namespace),
        (&mut who.host, &about.host),
    ] {
        if known.is_none() {
            known.clone_from(more);
        }
    }
}

/// Evidence is quoted, and a line may have megabytes: its middle is left out. A number that is cut reads as another one, so
/// that the last word before the gap and the first one after it go as well, where there are blanks.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= EVIDENCE {
        return text.to_owned();
    }
    let half = EVIDENCE / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - half..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let (head, tail) = (&text[..head], &text[tail..]);
    let before = head.rsplit_once(' ').map(|(whole, _)| whole).filter(|whole| whole.len() > half / 2);
    let after = tail.split_once(' ').map(|(_, whole)| whole).filter(|whole| whole.len() > half / 2);
    let before = before.map_or_else(|| head.to_owned(), |whole| format!("{whole} "));
    let after = after.map_or_else(|| tail.to_owned(), |whole| format!(" {whole}"));
    format!("{before}…{after}")
}

#[cfg(test)]
mod tests {
    use super::{EVIDENCE, cut};

    #[test]
    fn the_words_on_both_sides_of_the_gap_are_whole() {
        let text = "12345 ".repeat(EVIDENCE);
        for shift in 0..6 {
            let cut = cut(&text[shift..]);
            let (left, right) = cut.split_once(" … ").unwrap();
            assert!(left.ends_with(" 12345") && right.starts_with("12345 ") && cut.len() <= EVIDENCE + 5, "{cut}");
        }
        assert!(cut(&"1".repeat(2 * EVIDENCE)).contains("1…1"));
    }
}
