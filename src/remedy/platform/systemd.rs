//! Advice in the words of systemd units.

use super::of_the_program;
use super::words::{Form, Words, form, shell, shm_reason, with};
use crate::remedy::{Case, Step};

/// A step as properties of the unit.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let unit = case.who.unit.as_deref().map_or_else(|| "UNIT.service".to_owned(), shell);
    let limit = case.limit_flag().to_ascii_uppercase();
    match step {
        Step::RaiseShm => form(
            Form::Text,
            format!(
                "A unit uses the machine's /dev/shm, half of the memory unless set ({}); with a tmpfs of its own (`systemctl edit`) it \
                 shares it with nobody. What it uses counts against MemoryMax.",
                shm_reason(case)
            ),
            format!("[Service]\nTemporaryFileSystem=/dev/shm:size={}", case.shm_flag().to_ascii_uppercase()),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory => with(
            format!("Raise the memory limit of the unit{}.{}", case.had_limit(), case.no_help_of_shm()),
            format!("systemctl set-property {unit} MemoryMax={limit}"),
        ),
        Step::RaiseBoth => with(
            "Raise the memory limit of the unit: what it keeps in /dev/shm counts against it, so that a larger one alone makes it worse.",
            format!("systemctl set-property {unit} MemoryMax={limit}"),
        ),
        Step::ReserveMemory => with(
            "Protect the unit's memory from the others, or give each of them a limit.",
            format!("systemctl set-property {unit} MemoryLow={limit}"),
        ),
        Step::TuneDaemon => with(
            "Let systemd-oomd leave the unit alone (ManagedOOMMemoryPressureLimit raises its threshold): the kernel kills then, \
             unless there is memory.",
            format!("systemctl set-property {unit} ManagedOOMPreference=avoid"),
        ),
        Step::RaiseDescriptors => form(
            Form::Text,
            "Raise the limit of open files of the unit (`systemctl edit`), and start it again.",
            "[Service]\nLimitNOFILE=65536",
        ),
        Step::CollectEvidence => with(
            "Fetch the journal of the unit with the kernel's lines, and run coroner on it.",
            format!(
                "journalctl --since '1 hour ago' _TRANSPORT=kernel + _SYSTEMD_UNIT={unit} + UNIT={unit} > journal.log\ncoroner journal.log"
            ),
        ),
        Step::LookAtSender => with(
            "See how the unit ended and who asked for it.",
            format!("systemctl status {unit}; journalctl -u {unit} -o short-precise"),
        ),
        Step::RaiseTime => form(
            Form::Text,
            "Raise the unit's time limits: RuntimeMaxSec for the run, TimeoutStopSec between SIGTERM and SIGKILL.",
            "[Service]\nRuntimeMaxSec=infinity\nTimeoutStopSec=10min",
        ),
        Step::FreeShm | Step::FreeDisk | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
