//! The training job as Docker's json-file driver keeps it: one document a line, long lines cut after 16 KiB.

use std::io::Write;

use crate::dice::{Clock, Dice};
use crate::training::Training;
use crate::{Due, Writer};

/// After so many bytes dockerd starts a new document (`defaultBufSize` in moby's daemon/logger/copier.go).
const CUT: usize = 16 << 10;

/// The job, and the clock of the daemon.
pub(crate) struct Jsonl {
    job: Training,
    clock: Clock,
    plain: Vec<u8>,
}

impl Jsonl {
    /// A job whose long line fits a log of `size` bytes.
    pub(crate) fn new(dice: Dice, size: u64) -> Self {
        Self { job: Training::new(dice, size), clock: Clock::new(), plain: Vec::new() }
    }

    fn document(&mut self, text: &str, out: &mut Vec<u8>) -> std::io::Result<()> {
        write!(out, "{{\"log\":")?;
        serde_json::to_writer(&mut *out, text)?;
        let micros = self.clock.micros();
        writeln!(out, ",\"stream\":\"stderr\",\"time\":\"{}.{micros:06}000Z\"}}", self.clock.shown('T'))
    }
}

impl Writer for Jsonl {
    fn write(&mut self, due: Due, out: &mut Vec<u8>) {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        self.job.write(due, &mut plain);
        self.clock.pass(20_000);
        let text = String::from_utf8_lossy(&plain);
        for line in text.split_inclusive('\n') {
            let mut rest = line;
            while !rest.is_empty() {
                let cut = (0..=CUT.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
                let (part, others) = rest.split_at(cut);
                self.document(part, out).expect("memory takes all");
                rest = others;
            }
        }
        drop(text);
        self.plain = plain;
    }
}
