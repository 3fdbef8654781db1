//! Patterns: the wordings by which programs tell of a death, one table for each speaker.
//!
//! A pattern turns one line into claims. It holds no state and judges nothing. Its regex is compiled and tried only on a
//! line that holds one of its stems (`gate.rs`).

#[macro_use]
mod raised;
mod ascii;
mod builds;
mod ci;
mod clock;
mod clouds;
mod containers_text;
mod crash;
mod dataloader;
mod elastic;
mod exhaustion;
mod finished;
mod forms;
mod gate;
mod hosted;
mod index;
mod keepers;
mod kernel_fault;
mod kernel_oom;
mod kernel_stats;
mod kubernetes;
mod languages;
mod limits;
mod listing;
mod lost;
mod nccl;
mod oomd;
mod paddle;
mod pbs;
mod pools;
mod preempted;
mod python;
mod ray;
mod resources;
mod runtime_log;
mod schedulers;
mod serving;
mod settings;
mod shell;
mod shell_words;
mod shm;
mod slurm;
mod status;
mod sudo;
mod systemd;
mod trainers;
mod wording;
mod workflows;

use regex_automata::util::captures::Captures;

use crate::fact::{Claim, Witness};
use crate::line::Line;
use crate::units::{Bytes, Signal};

use gate::GATE;

pub use forms::LOGS;
pub use gate::speaking;

/// One wording.
pub struct Pattern {
    /// `speaker/name`, shown nowhere but in tests and debugging.
    pub id: &'static str,
    /// On whose word.
    pub witness: Witness,
    /// Literals, at least one of which stands in every line that the regex reads.
    pub stems: &'static [&'static str],
    /// The wording, with named groups.
    pub regex: &'static str,
    /// Makes the claims; an empty list means that the line says nothing after all.
    pub read: fn(&Caps<'_>) -> Vec<Claim>,
    /// Real lines, without envelope.
    pub samples: &'static [&'static str],
    /// Lines that look alike and must not be read by this pattern.
    pub near_misses: &'static [&'static str],
}

/// The named groups of a match, and the line they were found in.
pub struct Caps<'a> {
    captures: Captures,
    /// The whole line.
    pub line: &'a Line<'a>,
}

impl<'a> Caps<'a> {
    /// A group's text, if it took part in the match.
    pub fn get(&self, group: &str) -> Option<&str> {
        self.line.text.get(self.captures.get_group_by_name(group)?.range())
    }

    /// A group's text as an owned string.
    pub fn text(&self, group: &str) -> Option<String> {
        self.get(group).map(str::to_owned)
    }

    /// A group as a number.
    pub fn num<T: std::str::FromStr>(&self, group: &str) -> Option<T> {
        self.get(group)?.trim().parse().ok()
    }

    /// A group in KiB, as the kernel prints sizes.
    pub fn kib(&self, group: &str) -> Option<Bytes> {
        self.num(group).map(Bytes::kib)
    }

    /// A group as a size with a unit.
    pub fn bytes(&self, group: &str) -> Option<Bytes> {
        self.get(group)?.parse().ok()
    }

    /// A group as a signal's name, number or description.
    pub fn signal(&self, group: &str) -> Option<Signal> {
        let text = self.get(group)?;
        text.trim().parse::<u8>().ok().map(Signal).or_else(|| Signal::from_name(text)).or_else(|| Signal::from_description(text))
    }
}

/// The speakers' tables. Order means nothing: no line is read by two patterns (a test proves it on all samples).
const SPEAKERS: &[&[Pattern]] = &[
    builds::TABLE,
    ci::TABLE,
    clock::TABLE,
    clouds::TABLE,
    containers_text::TABLE,
    crash::TABLE,
    dataloader::TABLE,
    elastic::TABLE,
    exhaustion::TABLE,
    finished::TABLE,
    keepers::TABLE,
    hosted::TABLE,
    kernel_fault::TABLE,
    kernel_oom::TABLE,
    kernel_stats::TABLE,
    kubernetes::TABLE,
    limits::TABLE,
    languages::TABLE,
    listing::TABLE,
    lost::TABLE,
    nccl::TABLE,
    oomd::TABLE,
    paddle::TABLE,
    pbs::TABLE,
    pools::TABLE,
    preempted::TABLE,
    ray::TABLE,
    resources::TABLE,
    runtime_log::TABLE,
    schedulers::TABLE,
    serving::TABLE,
    settings::TABLE,
    shell::TABLE,
    shm::TABLE,
    slurm::TABLE,
    status::TABLE,
    sudo::TABLE,
    systemd::TABLE,
    trainers::TABLE,
    workflows::TABLE,
];

/// The bones of Python tracebacks. They are a layer of their own, because the last line of a traceback (`RuntimeError:
/// DataLoader worker …`) is both the end of a traceback and a wording of one of the [`SPEAKERS`].
const BONES: &[&[Pattern]] = &[python::TABLE];

/// All patterns, in table order.
pub fn all() -> impl Iterator<Item = &'static Pattern> {
    SPEAKERS.iter().chain(BONES).flat_map(|table| table.iter())
}

/// Everything that the patterns read in a line.
pub fn read(line: &Line<'_>) -> Vec<(&'static Pattern, Claim)> {
    let mut all = Vec::new();
    for index in GATE.candidates(&line.text) {
        all.extend(GATE.claims(index, line).into_iter().map(|claim| (GATE.patterns[index].0, claim)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Envelope;

    fn line(text: &str) -> Line<'_> {
        Line { text: text.into(), number: 1, envelope: Envelope::default() }
    }

    /// What all patterns claim of a line without envelope.
    pub(super) fn claims(text: &str) -> Vec<Claim> {
        read(&line(text)).into_iter().map(|(_, claim)| claim).collect()
    }

    fn ids(text: &str, layer: &[&[Pattern]]) -> Vec<&'static str> {
        let own = |id: &str| layer.iter().flat_map(|table| table.iter()).any(|p| p.id == id);
        let mut ids: Vec<_> = read(&line(text)).into_iter().map(|(p, _)| p.id).filter(|id| own(id)).collect();
        ids.dedup();
        ids
    }

    #[test]
    fn every_sample_is_read_by_its_own_pattern_and_no_other() {
        let mut wrong = Vec::new();
        for layer in [SPEAKERS, BONES] {
            for pattern in layer.iter().flat_map(|table| table.iter()) {
                assert!(!pattern.samples.is_empty(), "{} has no sample", pattern.id);
                for sample in pattern.samples {
                    let found = ids(sample, layer);
                    if found != [pattern.id] {
                        wrong.push(format!("{} is read by {found:?}: {sample}", pattern.id));
                    }
                }
                let read = pattern.near_misses.iter().filter(|miss| ids(miss, layer).contains(&pattern.id));
                wrong.extend(read.map(|miss| format!("{} reads its near miss: {miss}", pattern.id)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_pattern_has_an_id_of_its_own_and_a_near_miss() {
        let mut ids: Vec<_> = GATE.patterns.iter().map(|(p, _)| p.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for (pattern, _) in &GATE.patterns {
            assert!(!pattern.near_misses.is_empty(), "{} has no near miss", pattern.id);
        }
    }
}
