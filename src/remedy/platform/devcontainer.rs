//! Advice in the words of Dev Containers (VS Code, Codespaces).

use super::of_the_program;
use super::words::{Words, json, shm_reason};
use crate::remedy::{Case, Step};

/// A step as part of devcontainer.json.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let (size, limit) = (case.shm_flag(), case.limit_flag());
    let arguments = |list: &[String]| {
        let list: Vec<String> = list.iter().map(|argument| format!("\"{argument}\"")).collect();
        format!("{{\"runArgs\": [{}]}}", list.join(", "))
    };
    match step {
        Step::RaiseShm => json(
            format!(
                "Give the container a larger /dev/shm in devcontainer.json ({}), and rebuild it. One that is made of a Compose file takes \
                 shm_size there.",
                shm_reason(case)
            ),
            arguments(&[format!("--shm-size={size}")]),
        ),
        Step::ShareHostShm => json(
            "Or use the host's /dev/shm, without isolation from other processes; only for images that you trust.",
            arguments(&["--ipc=host".to_owned()]),
        ),
        Step::RaiseMemory => json(
            format!(
                "Raise the memory limit, and rebuild the container; in Codespaces hostRequirements.memory asks for a larger machine.{}",
                case.no_help_of_shm()
            ),
            arguments(&[format!("--memory={limit}"), format!("--memory-swap={limit}")]),
        ),
        Step::RaiseBoth => json(
            "Raise the memory limit with /dev/shm, whose pages count against it, and rebuild the container.",
            arguments(&[format!("--memory={limit}"), format!("--memory-swap={limit}"), format!("--shm-size={size}")]),
        ),
        Step::ReserveMemory => {
            json("Ask for a machine with enough memory.", format!("{{\"hostRequirements\": {{\"memory\": \"{}b\"}}}}", limit))
        }
        Step::RaiseDescriptors => json("Raise the limit of open files.", arguments(&["--ulimit=nofile=65536:65536".to_owned()])),
        Step::FreeShm
        | Step::FreeDisk
        | Step::TuneDaemon
        | Step::CollectEvidence
        | Step::LookAtSender
        | Step::RaiseTime
        | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
