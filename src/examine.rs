//! The whole way of an incident: sources are read, facts gathered into deaths, deaths judged, and advice given.

use std::collections::HashMap;

use crate::death::{self, Context, Death, Victim};
use crate::fact::{Limit, Resource, Setting, Shm, What};
use crate::input::Source;
use crate::note::Note;
use crate::read::{self, Reading};
use crate::remedy::sizing::{self, Given, Inputs};
use crate::remedy::{self, Case, Filled, Platform};
use crate::report::{Entry, MemoryPicture, Report};
use crate::units::{Bytes, Signal};
use crate::verdict::{self, Class, Verdict};

/// How many processes of the kernel's task table a report shows.
const TASKS: usize = 6;

/// What the caller chooses.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The platforms to give advice for; empty means those that the evidence shows.
    pub platforms: Vec<Platform>,
}

/// Examines all sources as one incident. `notes` are those that were made when the sources were listed.
pub fn examine(sources: &[Source<'_>], notes: Vec<Note>, options: &Options) -> Report {
    conclude(read::read(sources), notes, options)
}

/// Judges what was read of one incident.
pub fn conclude(reading: Reading, notes: Vec<Note>, options: &Options) -> Report {
    let gathered = death::gather(&reading.facts, &reading.inputs);
    let mut judged: Vec<(Death, Verdict)> = gathered
        .deaths
        .into_iter()
        .filter(|death| !death.late)
        .map(|death| {
            let verdict = verdict::judge(&death, &gathered.context);
            (death, verdict)
        })
        .collect();
    // The earliest death that is not a consequence is the root; the rest keeps its order.
    judged.sort_by_key(|(death, _)| death.consequence);
    let root = judged.first().map(|(_, verdict)| verdict.clone());
    let deaths = judged
        .into_iter()
        .enumerate()
        .map(|(index, (death, verdict))| entry(death, verdict, &gathered.context, index, options))
        .collect();
    let verdict = root.unwrap_or_else(|| verdict::clean(&gathered.context));
    let notes = notes.into_iter().chain(reading.notes).collect();
    Report { deaths, verdict, notes, inputs: reading.inputs, context: HashMap::new() }
}

/// A judged death with its advice.
fn entry(death: Death, verdict: Verdict, context: &Context, index: usize, options: &Options) -> Entry {
    let shm_in_question = verdict.cause.class() == Class::ShmExhaustion || verdict.cause.slug() == "oom-shm-charged";
    let sizing = shm_in_question.then(|| sizing::work_out(&told(Some(&death), context)));
    let record = death.containers().next().map(|(_, container)| container.clone());
    let report = death.oom.as_ref().map(|(report, _)| report);
    let filled = report.map(|report| Filled::of(report));
    let shm = verdict::shm_of(&death, context);
    let speakers: Vec<&'static str> = death.facts.iter().chain(shm.map(|(fact, _)| fact)).map(|fact| fact.id).collect();
    let case = Case {
        speakers: &speakers,
        filled: filled.as_ref(),
        fargate: record.as_ref().is_some_and(|c| c.fargate),
        init: record.as_ref().is_some_and(|c| c.init),
        engine: record.as_ref().map(|c| c.engine),
        image: record.as_ref().and_then(|c| c.image.as_deref()),
        memory_limit: limit(&death),
        parent_cgroup: death.parent_cgroup(),
        usage: report.and_then(|r| r.usage),
        shm: shm.map_or(Shm::Unknown, |(_, shm)| shm),
        sizing: sizing.as_ref(),
        platforms: &options.platforms,
        ..Case::new(verdict.cause, &death.who)
    };
    let remedy = remedy::advise(&case);
    let memory = report.map(|report| MemoryPicture {
        limit: report.limit,
        anon: report.anon.filter(|_| !report.of_victim),
        shmem: report.shmem.filter(|_| !report.of_victim),
        cache: report.cache,
        tasks: {
            let mut tasks: Vec<_> = report
                .tasks
                .iter()
                .map(|task| (task.process.clone(), task.rss, report.victims.iter().any(|victim| victim.pid == task.pid)))
                .collect();
            if report.tasks.is_empty() && report.of_victim {
                let held =
                    |victim: &Victim| Bytes(victim.anon.unwrap_or_default().0.saturating_add(victim.shmem.unwrap_or_default().0));
                tasks.extend(
                    report
                        .victims
                        .iter()
                        .map(|victim| (victim.process.clone(), held(victim), true))
                        .filter(|(_, held, _)| held.0 > 0),
                );
            }
            tasks.sort_by_key(|(_, rss, _)| std::cmp::Reverse(*rss));
            tasks.truncate(TASKS);
            tasks
        },
    });
    Entry {
        signal: death.signal.or_else(|| death.exit_code.and_then(Signal::from_status)),
        exit_code: death.exit_code,
        // A line of the kernel's may tell nothing but the time since boot.
        when: death.when().or_else(|| death.facts.iter().find_map(|fact| fact.boot)),
        count: death.count.max(1),
        follows: (death.consequence && index > 0).then_some(0),
        memory,
        remedy,
        sizing,
        who: death.who,
        verdict,
    }
}

/// What sources tell of a loader and of what is around it, for the sizing formula; judges nothing.
pub fn loader(sources: &[Source<'_>], notes: Vec<Note>) -> (Inputs, Vec<Note>) {
    let reading = read::read(sources);
    let gathered = death::gather(&reading.facts, &reading.inputs);
    let told = told(gathered.deaths.first(), &gathered.context);
    (told, notes.into_iter().chain(reading.notes).collect())
}

/// What the inputs tell for the sizing formula.
fn told(death: Option<&Death>, context: &Context) -> Inputs {
    let given = |setting: Setting| -> Vec<Given> {
        context.settings(setting).map(|(fact, value)| Given::new(value, fact.place.to_string())).collect()
    };
    let had = death.and_then(|death| verdict::shm_of(death, context)).and_then(|(_, shm)| match shm {
        Shm::Sized(size) | Shm::Default(size) => Some(size),
        Shm::Unknown | Shm::Host | Shm::Unsized | Shm::Elsewhere => None,
    });
    let refused = death.and_then(|death| death.refused(Resource::Shm)).and_then(|fact| match fact.what {
        What::Refused { bytes: Some(Bytes(bytes)), .. } => Some(Given::new(bytes, fact.place.to_string())),
        _ => None,
    });
    // A listing may hold several: the largest says most.
    let left = || given(Setting::RefusedBytes).into_iter().max_by_key(|left| left.value);
    let report = death.and_then(|death| death.oom.as_ref()).map(|(report, _)| report);
    Inputs {
        workers: given(Setting::Workers),
        prefetch: given(Setting::Prefetch),
        batch_size: given(Setting::BatchSize),
        pin_memory: given(Setting::PinMemory),
        persistent_workers: given(Setting::PersistentWorkers),
        epochs: given(Setting::Epochs),
        ranks: given(Setting::RanksPerNode),
        had: had.or_else(|| context.dev_shm().map(|(_, size, _)| size)),
        memory_limit: death.and_then(limit),
        // What is no shared memory: the processes' own.
        processes: report.and_then(|report| Filled::of(report).processes()),
        refused: refused.or_else(left),
        ..Inputs::default()
    }
}

/// The memory limit that was in force.
fn limit(death: &Death) -> Option<Bytes> {
    let reported = death.oom.as_ref().and_then(|(report, _)| report.limit);
    reported.or_else(|| match death.containers().next().and_then(|(_, container)| container.memory) {
        Some(Limit::Bytes(limit)) => Some(limit),
        _ => None,
    })
}
