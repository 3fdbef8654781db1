//! The fields of journald entries, in whatever form they come: export, verbose or JSON.

use super::Envelope;
use crate::time::Stamp;

/// What of an entry matters, field by field.
#[derive(Clone, Default)]
pub(super) struct Entry {
    envelope: Envelope,
    /// The unit that a message of systemd is about, which counts more than the one that wrote it.
    about: bool,
    /// Whether the program's name is its own (`SYSLOG_IDENTIFIER`).
    named: bool,
    /// Whether the time since boot is the kernel's own.
    own: bool,
    /// How telling the container's name is.
    container: u8,
}

impl Entry {
    /// Takes a field other than the message.
    pub(super) fn field(&mut self, key: &str, value: &str) {
        let micros = || value.parse::<u64>().ok();
        let envelope = &mut self.envelope;
        match key {
            "__REALTIME_TIMESTAMP" => {
                let stamp = value.parse().ok().and_then(Stamp::from_unix_micros);
                envelope.when = stamp.or(envelope.when);
            }
            "_SOURCE_MONOTONIC_TIMESTAMP" => {
                self.own = true;
                envelope.boot = micros().map(Stamp::Boot);
            }
            "__MONOTONIC_TIMESTAMP" if !self.own => envelope.boot = micros().map(Stamp::Boot),
            "_HOSTNAME" => envelope.host = Some(value.to_owned()),
            "SYSLOG_IDENTIFIER" => {
                self.named = true;
                envelope.program = Some(value.to_owned());
            }
            "_COMM" if !self.named => envelope.program = Some(value.to_owned()),
            "_PID" => envelope.speaker = value.parse().ok(),
            "SYSLOG_PID" => envelope.speaker = envelope.speaker.or(value.parse().ok()),
            "_TRANSPORT" => envelope.kernel = Some(value == "kernel"),
            "UNIT" | "USER_UNIT" => {
                self.about = true;
                envelope.unit = Some(value.to_owned());
            }
            "_SYSTEMD_UNIT" | "_SYSTEMD_USER_UNIT" if !self.about => envelope.unit = Some(value.to_owned()),
            "CONTAINER_ID_FULL" => self.contain(3, value),
            "CONTAINER_ID" => self.contain(2, value),
            "CONTAINER_NAME" => self.contain(1, value),
            _ => {}
        }
    }

    fn contain(&mut self, rank: u8, value: &str) {
        if rank > self.container {
            self.container = rank;
            self.envelope.container = Some(value.to_owned());
        }
    }

    /// What the fields told. An outer envelope's rank or pod, which the journal does not know, stays.
    pub(super) fn into_envelope(self, outer: &Envelope) -> Envelope {
        let own = self.envelope;
        Envelope {
            when: own.when.or(outer.when),
            boot: own.boot.or(outer.boot),
            host: own.host.or_else(|| outer.host.clone()),
            program: own.program.or_else(|| outer.program.clone()),
            speaker: own.speaker.or(outer.speaker),
            // Without a transport the entry is at least not known to be the kernel's.
            kernel: own.kernel.or(outer.kernel),
            rank: outer.rank,
            container: own.container.or_else(|| outer.container.clone()),
            pod: outer.pod.clone(),
            unit: own.unit.or_else(|| outer.unit.clone()),
        }
    }
}

/// A field as `journalctl -o export` and `-o verbose` write it: a name in capitals, and a value.
pub(super) fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once('=')?;
    let capital = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    (!key.is_empty() && key.len() <= 64 && key.bytes().all(capital)).then_some((key, value))
}
