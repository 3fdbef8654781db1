//! Advice in the words of LXC and Proxmox.

use super::of_the_program;
use super::words::{Form, Words, form, shell, shm_reason, with};
use crate::remedy::{Case, Step};

/// A step as lines of the container's configuration.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_flag();
    let mount = format!("lxc.mount.entry: tmpfs dev/shm tmpfs rw,nosuid,nodev,size={size},create=dir 0 0");
    let name = case.who.container_name.as_deref().map_or_else(|| "ID".to_owned(), shell);
    match step {
        Step::RaiseShm => form(
            Form::Text,
            format!(
                "Mount a tmpfs of that size at /dev/shm in the container's configuration ({}), on Proxmox /etc/pve/lxc/ID.conf (plain LXC \
                 writes ` = ` for the colon), and start it anew. It counts against the container's memory.",
                shm_reason(case)
            ),
            mount,
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::ReserveMemory => {
            memory(case, &name, &format!("Raise the container's memory, in MiB.{}", case.no_help_of_shm()))
        }
        Step::RaiseBoth => memory(
            case,
            &name,
            "Raise the container's memory, in MiB: what is used of /dev/shm counts against it, so that a larger one alone makes it worse.",
        ),
        Step::FreeShm => with(
            "See what is left in /dev/shm of the container.",
            format!("lxc-attach -n {name} -- sh -c 'df -h /dev/shm; ls -la /dev/shm'"),
        ),
        Step::RaiseDescriptors => {
            form(Form::Text, "Raise the limit of open files of the container.", "lxc.prlimit.nofile: 65536")
        }
        Step::CollectEvidence => with(
            "Fetch the kernel log of the host, where OOM kills inside of containers are told, and run coroner on all files together.",
            "journalctl -k --since '1 hour ago' > kernel.log\ncoroner train.log kernel.log",
        ),
        Step::FreeDisk | Step::TuneDaemon | Step::LookAtSender | Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}

/// More memory for the container.
fn memory(case: &Case<'_>, name: &str, text: &str) -> Words {
    let limit = case.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.0.div_ceil(1 << 20).to_string());
    with(text, format!("pct set {name} --memory {limit}"))
}
