//! An input that is read while it grows.

use std::sync::Arc;

use super::Reading;
use super::collector::Collector;
use crate::fact::Who;
use crate::line;
use crate::patterns;

/// An input that grows: what was read of it so far can be judged at any moment.
pub struct Stream {
    lines: line::Lines,
    collector: Collector,
}

impl Stream {
    /// An input of which nothing was read.
    pub fn new(name: &Arc<str>) -> Self {
        Self { lines: line::Lines::new(Some(patterns::speaking)), collector: Collector::new(name) }
    }

    /// Takes the next piece.
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { lines, collector } = self;
        lines.push(bytes, &mut |line| collector.line(&line, &Who::default()));
    }

    /// What was read, as if the input ended here.
    pub fn so_far(&self) -> Reading {
        let Self { lines, mut collector } = Self { lines: self.lines.clone(), collector: self.collector.clone() };
        collector.count = lines.finish(&mut |line| collector.line(&line, &Who::default()));
        let mut reading = Reading::default();
        collector.finish(&mut reading);
        reading
    }
}
