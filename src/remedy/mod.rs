//! Remedies: what to do, said for the platform at hand.
//!
//! A cause asks for steps, which know no platform; a platform says each step once. So neither a new cause nor a new platform
//! needs a text for every pair.

mod filled;
mod platform;
pub mod sizing;
mod step;

pub use filled::Filled;
pub use platform::{Form, Platform};
pub use step::{Step, steps_for};

use crate::fact::{Engine, Shm, Who};
use crate::units::Bytes;
use crate::verdict::{Cause, Class};
use platform::shell;
use sizing::Sizing;

/// Most pieces of advice for one death: a longer list is not read.
const MOST: usize = 4;

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
    /// The language of the command.
    pub form: Form,
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
    /// The container ran on Fargate.
    pub fargate: bool,
    /// The container is one of those that run before the main ones.
    pub init: bool,
    /// Who speaks in the inputs: the ids of the patterns and formats that read something.
    pub speakers: &'a [&'static str],
    /// What filled the memory limit, from the kernel's report.
    pub filled: Option<&'a Filled>,
    /// The container's image.
    pub image: Option<&'a str>,
    /// The memory limit that was in force.
    pub memory_limit: Option<Bytes>,
    /// The cgroup above the container's own whose limit it was.
    pub parent_cgroup: Option<&'a str>,
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
            fargate: false,
            init: false,
            speakers: &[],
            filled: None,
            image: None,
            memory_limit: None,
            parent_cgroup: None,
            usage: None,
            shm: Shm::Unknown,
            sizing: None,
            lacking: false,
            platforms: &[],
        }
    }

    /// The size that /dev/shm should get, if the sizing knows one. Where it was the memory that ran out, /dev/shm was large enough.
    fn shm_size(&self) -> Option<Bytes> {
        let enough = self.shm_had().filter(|_| self.cause == Cause::OomShmCharged);
        self.sizing.and_then(|sizing| sizing.recommended).or(enough)
    }

    /// The size that /dev/shm had.
    fn shm_had(&self) -> Option<Bytes> {
        match self.shm {
            Shm::Sized(bytes) | Shm::Default(bytes) => Some(bytes),
            Shm::Unknown | Shm::Host | Shm::Unsized | Shm::Elsewhere => self.sizing.and_then(|sizing| sizing.had),
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
        if let Some(both) = self.limit_for_both().filter(|both| *both > limit) {
            return Some(both);
        }
        let step = Bytes::mib(if limit < Bytes::mib(1024) { 256 } else { 1024 });
        limit.0.checked_mul(2)?.div_ceil(step.0).checked_mul(step.0).map(Bytes)
    }

    /// Where shared memory filled the limit: what the processes used beside it and all of /dev/shm, with room.
    fn limit_for_both(&self) -> Option<Bytes> {
        let processes = self.filled.filter(|_| self.cause == Cause::OomShmCharged)?.processes()?;
        sizing::recommend(Bytes(processes.0.checked_add(self.shm_size()?.0)?))
    }

    /// The size for /dev/shm as engines take it, or a word to put one in for.
    fn shm_flag(&self) -> String {
        self.shm_size().map_or_else(|| "SIZE".to_owned(), |size| size.as_flag())
    }

    /// The size for /dev/shm as Kubernetes takes it, or a word to put one in for.
    fn shm_quantity(&self) -> String {
        self.shm_size().map_or_else(|| "SIZE".to_owned(), |size| size.as_quantity())
    }

    /// The size for /dev/shm where only a number can stand: without a known one, a size to start with.
    fn shm_or_start(&self) -> Bytes {
        self.shm_size().unwrap_or(Bytes::mib(1024))
    }

    /// What to say beside a size to start with.
    fn start_word(&self) -> &'static str {
        if self.shm_size().is_some() { "" } else { "; 1 GiB here is only a start" }
    }

    /// A larger memory limit as engines take it, or a word to put one in for.
    fn limit_flag(&self) -> String {
        self.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.as_flag())
    }

    /// A larger memory limit as Kubernetes takes it, or a word to put one in for.
    fn limit_quantity(&self) -> String {
        self.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.as_quantity())
    }

    /// The memory limit that leaves the processes what they have beside the recommended /dev/shm.
    fn limit_with_shm(&self) -> Option<Bytes> {
        let sum = self.memory_limit?.0.checked_add(self.shm_size()?.0)?;
        sum.div_ceil(Bytes::mib(256).0).checked_mul(Bytes::mib(256).0).map(Bytes)
    }

    /// The limit that was reached, and what is done to it.
    fn had_limit(&self) -> String {
        let had = self.memory_limit.map_or_else(String::new, |limit| format!(" of {limit}"));
        let least = self.memory_limit.or(self.usage).unwrap_or_default().0;
        let raised = match self.larger_limit() {
            Some(larger) if larger.0 > least.saturating_mul(5) / 2 => format!(", here to {larger}"),
            Some(_) => ", here to twice as much".to_owned(),
            None => String::new(),
        };
        format!("{had}{raised}")
    }

    /// Whether a larger /dev/shm would have helped.
    fn no_help_of_shm(&self) -> &'static str {
        match self.cause {
            Cause::OomCgroup => " A larger /dev/shm would not have helped.",
            _ => "",
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
    let platforms = platform::choose(case);
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
                form: Form::Text,
            }),
            (Shm::Host, Step::RaiseShm) => list.extend(platform::say(Platform::Linux, *step, case)),
            _ => list.extend(platforms.iter().filter_map(|platform| platform::say(*platform, *step, case))),
        }
        // What only the program can do is not said again for each platform, and what no platform has words for is said in general.
        // The host's /dev/shm is an offer of some platforms only.
        if list.len() == before && *step != Step::ShareHostShm {
            let of_program = platform::say(Platform::Code, *step, case);
            list.extend(of_program.or_else(|| platform::say(Platform::Any, *step, case)));
        }
    }
    list.truncate(MOST);
    // What filled the limit is the reason for all that follows.
    let told = case.filled.filter(|_| case.cause.class() == Class::OomKill).map(Filled::words);
    if let (Some(first), Some(told)) = (list.first_mut(), told.filter(|told| !told.is_empty())) {
        first.text = format!("{told} {}", first.text);
    }
    list
}

/// A step in the words of a platform; none where the platform has no part in it.
pub fn say(platform: Platform, step: Step, case: &Case<'_>) -> Option<Advice> {
    platform::say(platform, step, case)
}

/// How to give /dev/shm the size that was worked out, and nothing else.
pub fn advise_size(case: &Case<'_>) -> Vec<Advice> {
    platform::choose(case).into_iter().filter_map(|platform| platform::say(platform, Step::RaiseShm, case)).collect()
}

#[cfg(test)]
mod tests;
