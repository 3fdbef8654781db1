//! Consequences: deaths that follow from another one, as peers that a launcher ends and exit codes of parents.

use super::Death;
use super::claims::is_echo;
use super::identity::{SAME_TIME, plausible};
use crate::fact::{EvictedFor, How, Resource, What, Why};
use crate::time::Stamp;
use crate::units::Signal;

/// Marks deaths that follow from another one.
pub(super) fn mark(deaths: &mut [Death], boots: &[u64]) {
    // What each death can be to others, found once: there may be a thousand of them.
    let seen: Vec<Seen> = deaths.iter().map(Seen::of).collect();
    for at in 0..deaths.len() {
        let (death, own) = (&deaths[at], &seen[at]);
        let boot = |i: usize| boots.get(i).copied().unwrap_or_default();
        let another = |i: usize| same_log(death, &deaths[i]) && boot(i) != boot(at) || foreign(death, &deaths[i]);
        let others = |test: &dyn Fn(usize, &Seen) -> bool| {
            let meant = |i: usize, other: &Seen| i != at && !deaths[i].late && !own.surely_before(other) && !another(i);
            seen.iter().enumerate().any(|(i, other)| test(i, other) && meant(i, other))
        };
        let earlier = |i: usize| deaths[i].order < death.order;
        let follows = (is_ended(death) || cleaned_up(death)) && others(&|_, other| other.explains)
            // An abort does not explain a time-out: the watchdog that waited made it.
            || is_echoed(death) && others(&|_, other| other.explains && !(own.waited && other.aborted))
            // The job was taken away as a whole: what then ends or is lost went with it.
            || (is_ended(death) || death.vanished() || is_echoed(death)) && others(&|_, other| other.taken_away)
            // A machine that its cloud takes back is lost to all who watch it.
            || own.surroundings && others(&|_, other| other.by_cloud)
            // An exception below the word that the job was ended is the end that was asked for.
            || death.oom.is_none() && others(&|i, other| other.taken_away && earlier(i) && same_log(death, &deaths[i]))
            || death.vanished() && others(&|i, other| other.explains && earlier(i))
            // NCCL's watchdog and a dying runner speak first and abort what they watch.
            || own.aborted && others(&|i, other| other.waited && earlier(i))
            || of_job(death) && others(&|i, other| other.surroundings && earlier(i));
        deaths[at].consequence |= follows;
    }
}

/// What a death can be to others.
struct Seen {
    when: Option<Stamp>,
    explains: bool,
    taken_away: bool,
    waited: bool,
    aborted: bool,
    surroundings: bool,
    by_cloud: bool,
}

impl Seen {
    fn of(death: &Death) -> Self {
        Self {
            when: death.when(),
            explains: explains(death),
            taken_away: taken_away(death),
            waited: waited(death),
            aborted: aborted(death),
            surroundings: surroundings(death),
            by_cloud: by_cloud(death),
        }
    }

    /// Whether it surely came before the other, which then explains nothing of it.
    fn surely_before(&self, other: &Self) -> bool {
        self.when
            .zip(other.when)
            .is_some_and(|(a, b)| a.before(b) == Some(true) && a.gap(b).is_some_and(|gap| gap.sure && gap.seconds > SAME_TIME))
    }
}

/// Whether a kill that only the log of a whole machine tells of was of somebody else: a service of its own, whose program is
/// none that a training job runs.
fn foreign(death: &Death, other: &Death) -> bool {
    let program = other.who.process.as_deref().is_some_and(|process| !plausible(death, process));
    let service = other.who.unit.as_deref().is_some_and(|unit| unit.ends_with(".service"));
    other.oom.is_some() && !same_log(death, other) && program && service && death.who.unit != other.who.unit
}

/// Whether a death can explain others.
fn explains(death: &Death) -> bool {
    death.signal.is_some_and(|signal| signal != Signal::TERM)
        || death.traceback.is_some()
        || death.oom.is_some()
        || death.refused(Resource::Shm).is_some()
}

/// Whether somebody asked the process to end, without a lack of memory.
fn is_ended(death: &Death) -> bool {
    death.signal == Some(Signal::TERM) && death.find(|w| matches!(w, What::Stopped { why: Why::Memory, .. })).is_none()
}

/// Whether a launcher ended it after another death.
fn cleaned_up(death: &Death) -> bool {
    death.find(|w| matches!(w, What::Stopped { why: Why::Cleanup, .. })).is_some()
}

/// Whether the machine or the time was taken from the whole job.
fn taken_away(death: &Death) -> bool {
    death
        .find(|w| match w {
            What::Stopped { why, .. } => matches!(why, Why::TimeLimit | Why::Preemption),
            What::Evicted(reason) => *reason != EvictedFor::Unknown,
            _ => false,
        })
        .is_some()
}

/// Whether a cloud or scheduler says itself that it took the machine back.
fn by_cloud(death: &Death) -> bool {
    death.find(|w| matches!(w, What::Stopped { why: Why::Preemption, .. })).is_some()
}

/// Whether both are told of in one log first.
fn same_log(one: &Death, other: &Death) -> bool {
    one.order.0 == other.order.0
}

/// Whether the process aborted, as a watchdog makes it do.
fn aborted(death: &Death) -> bool {
    death.signal == Some(Signal::ABRT)
}

/// Whether something waited in vain, and perhaps aborted itself for that.
fn waited(death: &Death) -> bool {
    death.find(|w| matches!(w, What::TimedOut { .. })).is_some() && death.signal.is_none_or(|signal| signal == Signal::ABRT)
}

/// Whether nothing is known but a status of the job as a whole.
fn of_job(death: &Death) -> bool {
    death.facts.iter().all(|f| matches!(f.what, What::Ended { how: How::Code(_), .. } | What::Stopped { why: Why::Request, .. }))
}

/// Whether the runner or the machine failed.
fn surroundings(death: &Death) -> bool {
    death.find(|w| matches!(w, What::Infrastructure)).is_some()
}

/// Whether all that is known passes on what happened to somebody else.
fn is_echoed(death: &Death) -> bool {
    let aborted = waited(death) && aborted(death);
    (death.signal.is_none() || aborted)
        && death.facts.iter().all(|f| match &f.what {
            What::Container(container) => container.exit_code.is_none_or(|code| Signal::from_status(code).is_none()),
            What::Ended { how: How::Code(code), .. } => aborted || Signal::from_status(*code).is_none(),
            What::Ended { how: How::Signal(_), .. } | What::Caught { .. } => aborted,
            What::Raised { kind, .. } => is_echo(kind),
            What::PeerLost | What::TimedOut { .. } | What::ShmOption(_) | What::MemoryOption(_) | What::Event(_) => true,
            _ => false,
        })
}
