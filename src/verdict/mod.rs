//! Verdicts: what a death died of, how sure that is, what speaks for and against it, and what is lacking.
//!
//! Rules see deaths and their circumstances, never text. Each rule is a plain function; the first that finds something
//! wins, and their order is the order of proof: who saw the kill, who counted the memory, who sent the signal, what the
//! process said of itself.

mod cause;
mod crash;
mod exhausted;
mod killed;
mod lacking;
mod oom;
mod says;
mod shm;

pub use cause::{Cause, Class, Grade};
pub use shm::shm_of;

use crate::death::{Context, Death, Join, SilentLog};
use crate::fact::{Fact, Witness};

/// A fact with what it proves.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The fact.
    pub fact: Fact,
    /// What it says about this death, in a few words.
    pub says: String,
}

/// Something that would settle the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// What is missing.
    pub what: String,
    /// The command that gets it.
    pub how: Option<String>,
    /// What it would tell.
    pub would: String,
}

/// A judgement on one death.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Why it died.
    pub cause: Cause,
    /// How sure that is.
    pub grade: Grade,
    /// One sentence.
    pub summary: String,
    /// What speaks for it.
    pub because: Vec<Evidence>,
    /// What speaks against it.
    pub against: Vec<Evidence>,
    /// What was seen and set aside, with the reason.
    pub aside: Vec<Evidence>,
    /// What is missing.
    pub lacking: Vec<Lacking>,
}

/// What a rule finds.
struct Finding {
    cause: Cause,
    grade: Grade,
    summary: String,
    /// Facts from outside the death that speak for the finding, each with what it says.
    because: Vec<Evidence>,
    /// Facts that speak against it.
    against: Vec<Evidence>,
}

impl Finding {
    fn new(cause: Cause, grade: Grade, summary: impl Into<String>) -> Self {
        Self { cause, grade, summary: summary.into(), because: Vec::new(), against: Vec::new() }
    }

    fn because(mut self, fact: &Fact, says: impl Into<String>) -> Self {
        self.because.push(Evidence { fact: fact.clone(), says: says.into() });
        self
    }

    fn against(mut self, fact: &Fact, says: impl Into<String>) -> Self {
        self.against.push(Evidence { fact: fact.clone(), says: says.into() });
        self
    }
}

/// A rule: looks at a death and its circumstances.
type Rule = fn(&Death, &Context) -> Option<Finding>;

/// All rules, strongest proof first.
const RULES: &[Rule] = &[
    crash::hardware,
    oom::reported_by_kernel,
    oom::evicted,
    oom::killed_by_daemon,
    oom::reported_by_runtime,
    oom::reported_by_supervisor,
    shm::refused,
    shm::bus_error,
    killed::by_named_sender,
    killed::not_for_memory,
    killed::without_witness,
    exhausted::refused,
    crash::by_signal,
    exhausted::raised,
    exhausted::waited,
    exhausted::stopped,
    exhausted::vanished,
];

/// How many pieces of evidence a verdict keeps.
const EVIDENCE: usize = 16;

/// Judges one death.
pub fn judge(death: &Death, context: &Context) -> Verdict {
    let found = RULES.iter().find_map(|rule| rule(death, context)).unwrap_or_else(|| exhausted::anything_else(death));
    let grade =
        found.because.iter().filter_map(|e| Some(most(death.join_of(&e.fact)?, e.fact.witness))).fold(found.grade, Grade::min);
    let (grade, summary) =
        match context.silent_log(death).filter(|_| found.cause.class() == Class::OomKill || found.cause == Cause::GpuFault) {
            // The kill is certain; that the process was of the job is not, unless its log stops at that time.
            Some(SilentLog::Stops) => (grade.min(Grade::Likely), found.summary),
            Some(SilentLog::Unsure) => (
                Grade::Suspected,
                format!(
                    "{} Nothing joins it to the log that was given, which tells of no death: it may be another job's process.",
                    found.summary
                ),
            ),
            None => (grade, found.summary),
        };
    let mut because: Vec<Evidence> = Vec::new();
    let mut against = found.against;
    for fact in &death.facts {
        let stands = |list: &[Evidence]| list.iter().any(|e| e.fact.place == fact.place && e.fact.text == fact.text);
        let repeated = because.iter().filter(|e| e.fact.id == fact.id && e.fact.what == fact.what).count() >= 2;
        if repeated || stands(&because) || stands(&against) || stands(&found.because) {
            continue;
        }
        if let Some(says) = says::about(fact, death, found.cause) {
            because.push(Evidence { fact: fact.clone(), says });
        }
    }
    // Evidence that the rule itself named is the reason for the verdict: it is never cut.
    let room = EVIDENCE.saturating_sub(found.because.len());
    because.sort_by_key(|e| std::cmp::Reverse(e.fact.witness));
    because.truncate(room);
    let because = found.because.into_iter().chain(because).collect();
    against.truncate(EVIDENCE);
    let aside =
        death.aside.iter().map(|(fact, _, why)| Evidence { fact: fact.clone(), says: why.clone() }).take(EVIDENCE).collect();
    let lacking = lacking::of(death, context, found.cause, grade);
    Verdict { cause: found.cause, grade, summary, because, against, aside, lacking }
}

/// The best grade that a join can carry.
fn most(join: Join, witness: Witness) -> Grade {
    match join {
        Join::HostPid | Join::Container | Join::Pod | Join::Job | Join::Unit | Join::SamePid | Join::OnlyOneInTime => {
            Grade::Proven
        }
        Join::ProgramAndTime => Grade::Likely,
        // The record of the one container that was given beside the log, without a clock that speaks against it.
        Join::OnlyOne if witness == Witness::Runtime => Grade::Likely,
        Join::ProgramAndUnsureTime | Join::Program | Join::OnlyOne => Grade::Suspected,
    }
}

/// The verdict where nothing died.
pub fn clean(context: &Context) -> Verdict {
    let read = context.inputs.iter().map(|i| i.lines).sum::<u64>();
    let finished = context.facts.iter().find(|f| f.what == crate::fact::What::Finished);
    let because: Vec<Evidence> = finished
        .map(|f| Evidence { fact: f.clone(), says: "the program says that it came to its end".to_owned() })
        .into_iter()
        .collect();
    let summary = match (read, because.is_empty()) {
        (_, false) => "Nothing in the inputs says that a process died, and the run says that it came to its end.".to_owned(),
        _ => "Nothing in the inputs says that a process died.".to_owned(),
    };
    // Silence is no proof: a killed main process writes nothing, and an unknown wording is not read.
    let grade = if because.is_empty() { Grade::Suspected } else { Grade::Likely };
    Verdict {
        cause: Cause::Clean,
        grade,
        summary,
        lacking: if because.is_empty() { lacking::of_nothing(context) } else { Vec::new() },
        because,
        against: Vec::new(),
        aside: Vec::new(),
    }
}
