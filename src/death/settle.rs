//! Last corrections to the deaths: symptoms of one cause become one death, quotations go, consequences are marked.

use super::identity::{Relation, agree, agree_id, clocks, compare, moments};
use super::{Aside, Death, consequences, reasons};
use crate::fact::{Fact, Resource, What, Who, Why, Witness};
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::Signal;

/// Last corrections, when all evidence is in: symptoms of one full /dev/shm become one death, quotations are dropped,
/// consequences are marked, and the earliest comes first.
pub(super) fn settle(deaths: &mut Vec<Death>, facts: &[Fact], inputs: &[Input]) {
    semaphores(deaths);
    memmaps(deaths, facts);
    reasons::aborts(deaths);
    reasons::sockets(deaths);
    reasons::escalations(deaths);
    reasons::escalated(deaths);
    one_full(deaths, Resource::Shm);
    one_full(deaths, Resource::Disk);
    beside_others(deaths);
    quotations(deaths, facts);
    reasons::survived(deaths);
    let boots = reasons::boots(deaths, facts, inputs);
    consequences::mark(deaths, &boots);
    strangers(deaths, facts, inputs);
    deaths.sort_by_key(|death| (death.late, death.consequence, death.beside, death.order));
    earliest_first(deaths);
}

/// Processes that die of SIGBUS and processes that are refused room suffer from the same full /dev/shm or disk, where nothing
/// says that they are of different places or times.
fn one_full(deaths: &mut Vec<Death>, resource: Resource) {
    for bus in 0..deaths.len() {
        let victim = &deaths[bus];
        if victim.signal != Some(Signal::BUS) || victim.refused(resource).is_some() {
            continue;
        }
        let here = |d: &Death| d.facts.first().map(|f| f.place.input.clone());
        let place = Who { own_pid: None, host_pid: None, ..victim.who.clone() };
        let Some(refused) = deaths.iter().position(|d| {
            let (near, far) = clocks(victim, &moments(d));
            let relation = compare(&place, &Who { own_pid: None, host_pid: None, ..d.who.clone() });
            let together = here(d) == here(victim) || near.is_some() || matches!(relation, Relation::Same(_));
            let apart = far.is_some() || matches!(relation, Relation::Other(_));
            d.refused(resource).is_some() && d.signal.is_none() && together && !apart
        }) else {
            continue;
        };
        let other = deaths[refused].clone();
        let death = &mut deaths[bus];
        death.order = death.order.min(other.order);
        death.facts.extend(other.facts);
        death.facts.sort_by(|a, b| a.place.cmp(&b.place));
        death.joined.extend(other.joined);
        death.aside.extend(other.aside);
        death.traceback = death.traceback.take().or(other.traceback);
        deaths.remove(refused);
        return one_full(deaths, resource);
    }
}

/// The message that workers are gone names several pids, and the signal is known of one: the others went with it.
fn beside_others(deaths: &mut [Death]) {
    for i in 0..deaths.len() {
        let Some(said) = deaths[i].facts.first().filter(|_| deaths[i].vanished()).map(|f| f.place.clone()) else { continue };
        let beside = deaths.iter().position(|d| !d.vanished() && d.facts.iter().any(|f| f.place == said));
        let Some(beside) = beside else { continue };
        deaths[i].consequence = true;
        // The handler of each dying worker spoke, the main process named one of them: the others died of the same.
        let spoken: Vec<Fact> =
            deaths[beside].all(|w| matches!(w, What::Caught { .. } | What::Refused { .. })).cloned().collect();
        if deaths[beside].count > 1 && !spoken.is_empty() {
            deaths[i].signal = deaths[beside].signal;
            deaths[i].facts.extend(spoken);
        }
    }
}

/// ENOSPC out of `SemLock` is a full /dev/shm, though the exception names no file (CPython Modules/_multiprocessing).
fn semaphores(deaths: &mut [Death]) {
    for death in deaths {
        let in_semaphore = death.traceback.as_ref().is_some_and(|t| {
            t.frames.iter().rev().take(3).any(|(file, function)| file.ends_with("synchronize.py") && function == "__init__")
        });
        if !in_semaphore {
            continue;
        }
        for fact in &mut death.facts {
            if let What::Refused { resource: resource @ Resource::Disk, .. } = &mut fact.what {
                *resource = Resource::Shm;
            }
        }
    }
}

/// ENOSPC while joblib dumps arguments for its workers (joblib/_memmapping_reducer.py, 0.10 and later): its folder is in
/// /dev/shm where that has room at first, so a full one, beside no full disk, is what was lacking.
fn memmaps(deaths: &mut [Death], facts: &[Fact]) {
    let full = |shm: bool| {
        facts.iter().any(|fact| match &fact.what {
            What::Filesystem { mount, size, used } => {
                (mount == "/dev/shm") == shm && size.0 > 0 && u128::from(used.0) * 100 >= u128::from(size.0) * 95
            }
            _ => false,
        })
    };
    let dumping = |death: &Death| {
        death.traceback.as_ref().is_some_and(|t| t.frames.iter().any(|(file, _)| file.ends_with("_memmapping_reducer.py")))
    };
    for death in deaths.iter_mut().filter(|death| dumping(death)) {
        if !full(true) || full(false) {
            return;
        }
        for fact in &mut death.facts {
            if let What::Refused { resource: resource @ Resource::Disk, .. } = &mut fact.what {
                *resource = Resource::Shm;
            }
        }
    }
}

/// What only programs tell, in a log that later says it ended in good order, was quoted (a training sample, a printed README),
/// survived, or of an earlier attempt. The kernel's words count as a program's where they stand in a program's log without a
/// clock.
fn quotations(deaths: &mut Vec<Death>, facts: &[Fact]) {
    let finished: Vec<&Fact> = facts.iter().filter(|fact| fact.what == What::Finished).collect();
    deaths.retain(|death| {
        let said = |f: &Fact| {
            f.witness == Witness::Program || matches!(f.what, What::Ended { .. } | What::Stopped { why: Why::Cleanup, .. })
        };
        let quoted = death.oom.as_ref().is_none_or(|(report, _)| report.quoted);
        let by_programs = quoted && death.facts.iter().all(|f| said(f) || matches!(f.what, What::Oom(_)));
        let Some(last) = death.facts.last() else { return false };
        let survived = finished.iter().any(|fact| {
            fact.place.input == last.place.input
                && fact.place.line > last.place.line
                && agree_id(&fact.who.container, &last.who.container)
                && agree(&fact.who.container_name, &last.who.container_name)
        });
        !(by_programs && survived)
    });
}

/// Deaths that only the log of a whole machine tells of, and deaths in containers that no record is about, explain nothing of
/// the job whose own log or record was given.
fn strangers(deaths: &mut [Death], facts: &[Fact], inputs: &[Input]) {
    let own = |name: &str| inputs.iter().any(|i| &*i.name == name && matches!(i.kind, Kind::TrainingLog | Kind::Record(_)));
    let records: Vec<&Who> = facts.iter().filter(|f| matches!(f.what, What::Container(_))).map(|f| &f.who).collect();
    let placed = |d: &Death| d.who.container.is_some() || d.who.pod.is_some();
    let foreign =
        |d: &Death| placed(d) && !records.is_empty() && records.iter().all(|r| matches!(compare(&d.who, r), Relation::Other(_)));
    let stranger = |d: &Death| foreign(d) || !d.facts.iter().any(|f| own(&f.place.input));
    // Two containers that died ten minutes apart died for reasons of their own; the later death is the one asked about.
    let told: Vec<Vec<Stamp>> = deaths.iter().map(|death| edges(&moments(death))).collect();
    let apart = |one: usize, other: usize| {
        let (own, others) = (&told[one], &told[other]);
        let (one, other) = (&deaths[one], &deaths[other]);
        let places = placed(one) && placed(other) && matches!(compare(&one.who, &other.who), Relation::Other(Aside::Place));
        let pairs = own.iter().flat_map(|a| others.iter().map(move |b| (a.gap(*b), a.before(*b))));
        let mut sure = pairs.filter_map(|(gap, before)| Some((gap.filter(|gap| gap.sure)?, before?))).peekable();
        places && sure.peek().is_some() && sure.all(|(gap, before)| before && gap.seconds > 600.0)
    };
    let explain: Vec<usize> = (0..deaths.len()).filter(|at| !deaths[*at].late && !deaths[*at].consequence).collect();
    let before: Vec<bool> = (0..deaths.len()).map(|at| explain.iter().any(|other| apart(at, *other))).collect();
    for (death, before) in deaths.iter_mut().zip(before) {
        death.beside |= before;
    }
    if deaths.iter().any(|d| !d.late && !d.beside && !stranger(d)) {
        for death in deaths.iter_mut() {
            death.beside |= stranger(death);
        }
    }
}

/// The first and the last of each clock's moments: what lies between them says no more of what was before.
fn edges(moments: &[Stamp]) -> Vec<Stamp> {
    let clock = |stamp: Stamp| match stamp {
        Stamp::Wall(wall) => Some((wall.zoned, wall.dated)),
        Stamp::Boot(_) => None,
    };
    let mut edges: Vec<(Stamp, Stamp)> = Vec::new();
    for &moment in moments {
        match edges.iter_mut().find(|(first, _)| clock(*first) == clock(moment)) {
            Some((first, _)) if moment.before(*first) == Some(true) => *first = moment,
            Some((_, last)) if last.before(moment) == Some(true) => *last = moment,
            Some(_) => {}
            None => edges.push((moment, moment)),
        }
    }
    edges.into_iter().flat_map(|(first, last)| [first, last]).collect()
}

/// Brings the death to the front that happened first by comparable clocks, where it is of the kind that explains others.
fn earliest_first(deaths: &mut [Death]) {
    let candidates = deaths.iter().take_while(|d| !d.late && !d.consequence && !d.beside).count();
    let explains =
        |d: &Death| d.oom.is_some() || d.refused(Resource::Shm).is_some() || matches!(d.signal, Some(Signal::BUS | Signal::KILL));
    let mut first = 0;
    for at in 1..candidates {
        let (Some(one), Some(other)) = (deaths[first].when(), deaths[at].when()) else { continue };
        let apart = one.gap(other).is_some_and(|gap| gap.seconds > 2.0);
        if explains(&deaths[at]) && apart && other.before(one) == Some(true) {
            first = at;
        }
    }
    if let Some(front) = deaths.get_mut(..=first) {
        front.rotate_right(1);
    }
}
