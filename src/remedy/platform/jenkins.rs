//! Advice in the words of Jenkins pipelines.

use super::of_the_program;
use super::words::{Form, Words, form, only, shm_reason};
use crate::remedy::{Case, Step};

/// A step as part of a Jenkinsfile.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let image = groovy(case.image.unwrap_or("IMAGE"));
    let agent = |arguments: String| {
        form(Form::Text, String::new(), format!("agent {{ docker {{ image '{image}'; args '{arguments}' }} }}"))
    };
    let said = |text: String, arguments: String| agent(arguments).map(|(_, command)| (text, command));
    let (size, limit) = (case.shm_flag(), case.limit_flag());
    match step {
        Step::RaiseShm => said(
            format!(
                "Give the agent's container a larger /dev/shm ({}); a pod template takes an emptyDir of medium Memory instead.",
                shm_reason(case)
            ),
            format!("--shm-size={size}"),
        ),
        Step::ShareHostShm => {
            said("Or use the agent's /dev/shm, without isolation between builds.".to_owned(), "--ipc=host".to_owned())
        }
        Step::RaiseMemory | Step::ReserveMemory => said(
            format!("Raise the memory of the agent's container.{}", case.no_help_of_shm()),
            format!("--memory={limit} --memory-swap={limit}"),
        ),
        Step::RaiseBoth => said(
            "Raise the memory of the agent's container with /dev/shm, whose pages count against it.".to_owned(),
            format!("--memory={limit} --memory-swap={limit} --shm-size={size}"),
        ),
        Step::RaiseDescriptors => said("Raise the limit of open files.".to_owned(), "--ulimit nofile=65536:65536".to_owned()),
        Step::RaiseTime => form(Form::Text, "Raise the pipeline's time limit.", "options { timeout(time: 12, unit: 'HOURS') }"),
        Step::LookAtSender => only("See who aborted the build: a person, a time-out of the pipeline, a newer build."),
        Step::CheckSurroundings => {
            only("Look at the agent's own log (-1 and -2 mean that it was lost), and start the build again.")
        }
        Step::FreeShm | Step::FreeDisk | Step::TuneDaemon | Step::CollectEvidence => None,
        of_the_program!() => None,
    }
}

/// A word inside of Groovy's single quotes.
fn groovy(word: &str) -> String {
    word.chars().map(|c| if c.is_control() || "'\\$".contains(c) { '?' } else { c }).collect()
}
