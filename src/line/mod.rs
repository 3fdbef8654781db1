//! Lines: text without its envelope, and what the envelope told.
//!
//! Envelopes nest (a journal line inside a container's log inside a CI log), so `peel` takes one off after another, each
//! line for itself: people paste logs together.

use std::borrow::Cow;

use crate::time::Stamp;

/// What the envelopes around a line told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The innermost wall clock.
    pub when: Option<Stamp>,
    /// Seconds since boot.
    pub boot: Option<Stamp>,
    /// The machine.
    pub host: Option<String>,
    /// The program that wrote the line, as syslog tells it (`kernel`, `systemd`, `dockerd`).
    pub program: Option<String>,
    /// The pid that the envelope gives for the speaker; never the dead process.
    pub speaker: Option<u32>,
    /// Whether the kernel wrote the line: `Some(false)` where the envelope names somebody else.
    pub kernel: Option<bool>,
    /// The rank that a launcher put before the line.
    pub rank: Option<u32>,
    /// A container's id or name.
    pub container: Option<String>,
    /// A pod's name.
    pub pod: Option<String>,
    /// A systemd unit.
    pub unit: Option<String>,
}

/// A line of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The text without envelope, colours, NUL bytes and line end; invalid UTF-8 is replaced.
    pub text: Cow<'a, str>,
    /// The line number in the input, from 1.
    pub number: u64,
    /// What the envelopes told.
    pub envelope: Envelope,
}
