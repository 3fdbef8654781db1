//! Advice in the words of systemd-nspawn.

use super::of_the_program;
use super::words::{Form, Words, form, shell, shm_reason, with};
use crate::remedy::{Case, Step};

/// A step as settings of the machine.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_flag().to_ascii_uppercase();
    let limit = case.limit_flag().to_ascii_uppercase();
    let unit = case.who.unit.as_deref().map_or_else(|| "systemd-nspawn@MACHINE.service".to_owned(), shell);
    match step {
        Step::RaiseShm => form(
            Form::Text,
            format!(
                "Mount a tmpfs of that size in /etc/systemd/nspawn/MACHINE.nspawn ({}), or start it with --tmpfs=/dev/shm:size={size}. It \
                 counts against MemoryMax of the machine's unit.",
                shm_reason(case)
            ),
            format!("[Files]\nTemporaryFileSystem=/dev/shm:size={size}"),
        ),
        Step::ShareHostShm => form(
            Form::Text,
            "Or bind the host's /dev/shm, without isolation; only for machines that you trust.",
            "[Files]\nBind=/dev/shm",
        ),
        Step::RaiseMemory | Step::ReserveMemory => with(
            format!("Raise the memory limit of the machine's unit.{}", case.no_help_of_shm()),
            format!("systemctl set-property {unit} MemoryMax={limit}"),
        ),
        Step::RaiseBoth => with(
            "Raise the memory limit of the machine's unit: what is used of /dev/shm counts against it.",
            format!("systemctl set-property {unit} MemoryMax={limit}"),
        ),
        Step::RaiseDescriptors => form(Form::Text, "Raise the limit of open files of the machine.", "[Exec]\nLimitNOFILE=65536"),
        Step::CollectEvidence => with(
            "Fetch the journal of the host, and run coroner on all files together.",
            "journalctl --since '1 hour ago' > journal.log\ncoroner train.log journal.log",
        ),
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::LookAtSender | Step::RaiseTime | Step::CheckSurroundings => {
            None
        }
        of_the_program!() => None,
    }
}
