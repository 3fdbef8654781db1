//! Remedies: what to do, said for the platform at hand.
//!
//! A cause asks for steps, which know no platform; a platform says each step once. So neither a new cause nor a new platform
//! needs a text for every pair.

mod code;
mod compose;
mod docker;
mod general;
mod kubernetes;
pub mod sizing;
mod step;

pub use step::{Step, steps_for};

use crate::fact::{Engine, Shm, Who};
use crate::units::Bytes;
use crate::verdict::Cause;
use sizing::Sizing;

/// Most pieces of advice for one death: a longer list is not read.
const MOST: usize = 4;

/// Where the job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Docker Engine.
    Docker,
    /// Docker Compose.
    Compose,
    /// Kubernetes.
    Kubernetes,
    /// The training program itself.
    Code,
    /// Any platform.
    Any,
}

impl Platform {
    /// Those that can be asked for on the command line.
    pub const CHOICES: &[Self] = &[Self::Docker, Self::Compose, Self::Kubernetes];

    /// The public slug.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Compose => "compose",
            Self::Kubernetes => "kubernetes",
            Self::Code => "pytorch",
            Self::Any => "any",
        }
    }
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The step's public slug, as `raise-shm`.
    pub step: &'static str,
    /// Where it applies.
    pub platform: Platform,
    /// What to do and its price.
    pub text: String,
    /// The exact command, flag or YAML.
    pub command: Option<String>,
}

/// What advice depends on.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Why the process died.
    pub cause: Cause,
    /// Who died.
    pub who: &'a Who,
    /// Who runs the container, if an exit record tells.
    pub engine: Option<Engine>,
    /// The container's image.
    pub image: Option<&'a str>,
    /// The memory limit that was in force.
    pub memory_limit: Option<Bytes>,
    /// What was in use under the limit at the kill.
    pub usage: Option<Bytes>,
    /// What was mounted at /dev/shm.
    pub shm: Shm,
    /// How large /dev/shm must be.
    pub sizing: Option<&'a Sizing>,
    /// Whether the verdict names what is lacking, with the commands that get it.
    pub lacking: bool,
    /// The platforms that the user asked for; empty means those that the inputs show.
    pub platforms: &'a [Platform],
}

impl<'a> Case<'a> {
    /// A death of which only the cause and the victim are known.
    pub fn new(cause: Cause, who: &'a Who) -> Self {
        Self {
            cause,
            who,
            engine: None,
            image: None,
            memory_limit: None,
            usage: None,
            shm: Shm::Unknown,
            sizing: None,
            lacking: false,
            platforms: &[],
        }
    }

    /// The size that /dev/shm should get, if the sizing knows one.
    fn shm_size(&self) -> Option<Bytes> {
        self.sizing?.recommended
    }

    /// The size that /dev/shm had.
    fn shm_had(&self) -> Option<Bytes> {
        match self.shm {
            Shm::Sized(bytes) | Shm::Default(bytes) => Some(bytes),
            Shm::Unknown | Shm::Host | Shm::Unsized | Shm::Elsewhere => self.sizing?.had,
        }
    }

    /// A memory limit with room: twice the one that was reached, in steps that people write. It is a guess, and said to be one.
    ///
    /// A whole machine has no limit that could be raised.
    fn larger_limit(&self) -> Option<Bytes> {
        if self.cause == Cause::OomHost {
            return None;
        }
        let limit = self.memory_limit.or(self.usage)?;
        let step = Bytes::mib(if limit < Bytes::mib(1024) { 256 } else { 1024 });
        limit.0.checked_mul(2)?.div_ceil(step.0).checked_mul(step.0).map(Bytes)
    }

    /// The command line of the engine.
    fn engine_command(&self) -> &'static str {
        match self.engine {
            Some(Engine::Podman) => "podman",
            Some(Engine::Docker | Engine::Kubernetes | Engine::Ecs) | None => "docker",
        }
    }

    /// The container's name or id for a command line, quoted for a shell.
    fn container(&self) -> String {
        let id = self.who.container.as_deref().map(|id| id.get(..12).unwrap_or(id));
        self.who.container_name.as_deref().or(id).map_or_else(|| "NAME".to_owned(), shell)
    }

    /// The image for a command line, quoted for a shell.
    fn image(&self) -> String {
        self.image.map_or_else(|| "IMAGE".to_owned(), shell)
    }

    /// The pod for a command line, with its namespace.
    fn pod(&self) -> String {
        let pod = self.who.pod.as_deref().map_or_else(|| "POD".to_owned(), shell);
        match self.who.namespace.as_deref() {
            Some(namespace) => format!("-n {} {pod}", shell(namespace)),
            None => pod,
        }
    }
}

/// What to do about a death, best first.
pub fn advise(case: &Case<'_>) -> Vec<Advice> {
    let platforms = platforms(case);
    let mut list = Vec::new();
    for step in steps_for(case.cause) {
        let before = list.len();
        match (case.shm, step) {
            // The host's /dev/shm is in use already: no flag of a container makes it larger.
            (Shm::Host, Step::ShareHostShm) => continue,
            (_, Step::CollectEvidence) if case.lacking => list.push(Advice {
                step: step.slug(),
                platform: Platform::Any,
                text: "Fetch the first thing that is lacking, and run coroner on all files together.".to_owned(),
                command: None,
            }),
            (Shm::Host, Step::RaiseShm) => list.extend(say(Platform::Any, *step, case)),
            _ => list.extend(platforms.iter().filter_map(|platform| say(*platform, *step, case))),
        }
        // What only the program can do is not said again for each platform, and what no platform has words for is said in general.
        if list.len() == before {
            list.extend(say(Platform::Code, *step, case).or_else(|| say(Platform::Any, *step, case)));
        }
    }
    list.truncate(MOST);
    list
}

/// How to give /dev/shm the size that was worked out, and nothing else.
pub fn advise_size(case: &Case<'_>) -> Vec<Advice> {
    let platforms = platforms(case);
    platforms.iter().filter_map(|platform| say(*platform, Step::RaiseShm, case)).collect()
}

/// The platforms to speak for: those asked for, else those that the evidence shows, else the two most used.
fn platforms(case: &Case<'_>) -> Vec<Platform> {
    if !case.platforms.is_empty() {
        return case.platforms.to_vec();
    }
    match case.engine {
        Some(Engine::Docker | Engine::Podman) => return vec![Platform::Docker],
        Some(Engine::Kubernetes) => return vec![Platform::Kubernetes],
        Some(Engine::Ecs) => return vec![Platform::Any],
        None => {}
    }
    let Who { pod, pod_uid, container, container_name, job, unit, .. } = case.who;
    if pod.is_some() || pod_uid.is_some() {
        vec![Platform::Kubernetes]
    } else if container.is_some() || container_name.is_some() {
        vec![Platform::Docker]
    } else if job.is_some() || unit.is_some() {
        vec![Platform::Any]
    } else {
        vec![Platform::Docker, Platform::Kubernetes]
    }
}

/// A step in the words of a platform; none where the platform has no part in it.
fn say(platform: Platform, step: Step, case: &Case<'_>) -> Option<Advice> {
    let (text, command) = match platform {
        Platform::Docker => docker::say(step, case),
        Platform::Compose => compose::say(step, case),
        Platform::Kubernetes => kubernetes::say(step, case),
        Platform::Code => code::say(step, case),
        Platform::Any => general::say(step, case),
    }?;
    Some(Advice { step: step.slug(), platform, text, command })
}

/// The words of a piece of advice, and its command.
type Words = Option<(String, Option<String>)>;

/// Words with a command.
fn with(text: impl Into<String>, command: impl Into<String>) -> Words {
    Some((text.into(), Some(command.into())))
}

/// Words without a command.
fn only(text: impl Into<String>) -> Words {
    Some((text.into(), None))
}

/// A word for a POSIX shell. Names come from the inputs, and whoever copies a command must not run what stands in them.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    // A dash in front would make an option of it, quoted or not; no engine allows such a name.
    let word = word.trim_start_matches('-');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let safe: String = word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("'{}'", safe.replace('\'', "'\\''"))
}

/// What is said beside a size for /dev/shm.
fn shm_reason(case: &Case<'_>) -> String {
    match (case.shm_had(), case.shm_size().and(case.sizing)) {
        (Some(had), Some(Sizing { bytes: Some(bytes), .. })) => format!("it had {had} and needs {bytes}"),
        (Some(had), _) => format!("it had {had}; the size is workers × prefetch + 3 batches"),
        (None, Some(Sizing { bytes: Some(bytes), .. })) => format!("it needs {bytes}"),
        (None, _) => "the size is workers × prefetch + 3 batches".to_owned(),
    }
}

#[cfg(test)]
mod tests;
