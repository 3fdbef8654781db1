//! The answer of `coroner size`: how large /dev/shm must be, from what, and what to type.

use std::io;

use super::page::Page;
use super::{Style, human, json_sizing, sections};
use crate::note::Note;
use crate::remedy::Advice;
use crate::remedy::sizing::Sizing;

/// What the answer consists of.
#[derive(Clone, Copy, Debug)]
pub struct Need<'a> {
    /// The formula with its terms.
    pub sizing: &'a Sizing,
    /// What to type.
    pub remedy: &'a [Advice],
    /// What could not be read.
    pub notes: &'a [Note],
}

impl Need<'_> {
    /// Writes the answer for people.
    pub fn write_human(&self, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
        let page = &mut Page::new(style, out);
        let sizing = self.sizing;
        match (sizing.bytes, sizing.recommended) {
            (Some(bytes), Some(size)) => page.line(&format!("/dev/shm must hold {bytes}; with head-room {size}"))?,
            (Some(_), None) => page.line("no shared memory is needed")?,
            (None, _) if sizing.unknown.is_empty() => page.line("the size cannot be worked out")?,
            (None, _) => {
                let lacking: Vec<String> = sizing.unknown.iter().map(|name| name.replace('_', " ")).collect();
                page.hanging("", &format!("the size cannot be worked out without {}", lacking.join(" and ")))?;
            }
        }
        sections::sizing(page, sizing, "")?;
        human::remedy(page, self.remedy)?;
        human::notes(page, self.notes, "")
    }

    /// Writes the answer as JSON.
    pub fn write_json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        json_sizing::write(self, out)
    }
}
