//! The tally of many incidents: how many died of what, and what could not be read.

use std::collections::BTreeMap;

use super::Report;
use super::human::counted;
use crate::note::Note;
use crate::verdict::{Cause, Class};

/// How many lost inputs are named; the rest is counted, so that a million of them do not fill the memory.
const NAMED: usize = 100;

/// What many incidents come to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many incidents were examined.
    pub incidents: u64,
    /// How many inputs were read.
    pub inputs: u64,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many incidents had this cause; the root death's counts.
    pub causes: BTreeMap<Cause, u64>,
    /// Inputs that could not be read, the first hundred of them.
    pub unread: Vec<Note>,
    /// How many more could not be read.
    pub more_unread: u64,
    /// How many incidents had nothing to read in them.
    pub skipped: u64,
    /// How many inputs were skipped because they are not text.
    pub binary: u64,
    /// Whether the work was stopped before its end.
    pub stopped: bool,
}

impl Tally {
    /// Counts an incident.
    pub fn add(&mut self, report: &Report) {
        self.incidents += 1;
        self.inputs += report.inputs.len() as u64;
        self.bytes += report.inputs.iter().map(|input| input.bytes).sum::<u64>();
        self.binary += report.inputs.iter().filter(|input| input.kind == crate::seen::Kind::Binary).count() as u64;
        if report.is_blank() {
            self.skipped += 1;
        } else {
            *self.causes.entry(report.verdict.cause).or_default() += 1;
        }
        for note in report.lost() {
            if self.unread.len() < NAMED {
                self.unread.push(note.clone());
            } else {
                self.more_unread += 1;
            }
        }
    }

    /// Counts a further incident in inputs that were counted before, and of which more was read since.
    pub fn add_further(&mut self, report: &Report) {
        (self.inputs, self.bytes, self.binary) = (0, 0, 0);
        self.add(report);
    }

    /// Whether there was nothing to read at all.
    pub fn is_blank(&self) -> bool {
        self.incidents == self.skipped
    }

    /// How much was examined, as `9 incidents in 8 inputs`.
    pub fn extent(&self) -> String {
        format!("{} in {}", counted(self.incidents, "incident"), counted(self.inputs, "input"))
    }

    /// How many inputs could not be read.
    pub fn unread_count(&self) -> u64 {
        self.unread.len() as u64 + self.more_unread
    }

    /// How many incidents died of this class.
    pub fn class(&self, class: Class) -> u64 {
        self.causes.iter().filter(|(cause, _)| cause.class() == class).map(|(_, count)| count).sum()
    }

    /// The most common causes of death, at most `most` of them.
    pub fn common(&self, most: usize) -> Vec<(Cause, u64)> {
        let mut causes: Vec<_> = self.causes.iter().map(|(c, n)| (*c, *n)).filter(|(c, _)| c.class() != Class::None).collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(*count), *cause));
        causes.truncate(most);
        causes
    }

    /// The exit code under `--exit-code`: the class of the first that occurred in the order of what can be acted upon.
    pub fn class_code(&self) -> u8 {
        let order = [Class::OomKill, Class::ShmExhaustion, Class::Unknown];
        order.into_iter().find(|class| self.class(*class) > 0).unwrap_or(Class::None).exit_code()
    }
}
