//! Many incidents: folders and archives of logs, a verdict for each, on all cores, in a stable order.
//!
//! One thread lists, several examine, and the caller's thread puts the answers in order and hands them out. A bounded
//! number of incidents is under way at any moment, so that memory does not grow with the number of files.

mod group;
mod list;
pub mod progress;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::context;
use crate::examine::{Options, conclude};
use crate::input::Source;
use crate::input::archive::Found;
use crate::input::walk::Choice;
use crate::note::Note;
use crate::read::{self, Reading};
use crate::report::{Incident, Report, Tally};
use list::Job;

pub use group::Grouping;

/// Incidents under way for each worker, most of them waiting to be written in order.
const AHEAD: usize = 64;

/// How often it is looked whether the work shall stop.
const GLANCE: Duration = Duration::from_millis(50);

/// What the caller chooses.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Which files are read.
    pub choice: Choice,
    /// How files are put together.
    pub grouping: Grouping,
    /// How many threads examine; 0 takes one for each core.
    pub workers: usize,
    /// For the advice.
    pub options: Options,
    /// Whether the lines around the evidence are wanted, for which the inputs are read once more.
    pub context: bool,
}

/// The answers to one job, by its place in the order.
type Answer = (u64, Vec<(Arc<str>, Report)>, Vec<Note>);

/// How far the work is.
#[derive(Debug, Default)]
pub struct Pace {
    /// Jobs that were found.
    pub listed: AtomicU64,
    /// Jobs that were written.
    pub done: AtomicU64,
}

/// Examines everything below the paths, and hands out the incidents in the order of the walk. Stops when `stop` is set, with
/// what is known by then.
///
/// # Errors
///
/// Those of `sink`.
pub fn scan(
    paths: &[PathBuf],
    plan: &Plan,
    stop: &Arc<AtomicBool>,
    pace: &Arc<Pace>,
    sink: &mut dyn FnMut(Incident<'_>) -> io::Result<()>,
) -> io::Result<Tally> {
    let workers = if plan.workers > 0 { plan.workers } else { thread::available_parallelism().map_or(1, usize::from) };
    let (give_job, take_job) = sync_channel::<(u64, Job)>(workers);
    let (give_answer, take_answer) = sync_channel::<Answer>(workers * 2);
    let (give_token, take_token) = sync_channel::<()>(workers * AHEAD);
    for _ in 0..workers * AHEAD {
        // The channel has room for all of them.
        let _ = give_token.try_send(());
    }
    {
        let (paths, plan, stop, pace) = (paths.to_vec(), plan.clone(), Arc::clone(stop), Arc::clone(pace));
        thread::spawn(move || lister(&paths, &plan, &stop, &pace, &give_job, &take_token));
    }
    let jobs = Arc::new(Mutex::new(take_job));
    for _ in 0..workers {
        let (jobs, answers, plan, stop) = (Arc::clone(&jobs), give_answer.clone(), plan.clone(), Arc::clone(stop));
        thread::spawn(move || worker(&jobs, &answers, &plan, &stop));
    }
    drop(give_answer);
    let mut tally = Tally::default();
    let mut waiting: BTreeMap<u64, Answer> = BTreeMap::new();
    let mut next = 0;
    loop {
        match take_answer.recv_timeout(GLANCE) {
            Ok(answer) => {
                waiting.insert(answer.0, answer);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        while let Some((_, reports, lost)) = waiting.remove(&next) {
            write(&reports, &lost, &mut tally, sink)?;
            pace.done.fetch_add(1, Ordering::Relaxed);
            next += 1;
            // The lister may have ended before.
            let _ = give_token.try_send(());
        }
        if stop.load(Ordering::Relaxed) {
            // Threads in the middle of a large file are left behind: the process ends after the summary.
            tally.stopped = true;
            break;
        }
    }
    for (_, reports, lost) in std::mem::take(&mut waiting).into_values() {
        write(&reports, &lost, &mut tally, sink)?;
    }
    Ok(tally)
}

/// Hands out what one job came to.
fn write(
    reports: &[(Arc<str>, Report)],
    lost: &[Note],
    tally: &mut Tally,
    sink: &mut dyn FnMut(Incident<'_>) -> io::Result<()>,
) -> io::Result<()> {
    tally.lost(lost);
    for (name, report) in reports {
        tally.add(report);
        sink(Incident { name, report })?;
    }
    Ok(())
}

/// Finds jobs; waits for a token before each, so that it runs ahead of the output only so far.
fn lister(paths: &[PathBuf], plan: &Plan, stop: &AtomicBool, pace: &Pace, jobs: &SyncSender<(u64, Job)>, tokens: &Receiver<()>) {
    let mut number = 0;
    list::list(paths, &plan.choice, plan.grouping, &mut |job| {
        if stop.load(Ordering::Relaxed) || tokens.recv().is_err() || jobs.send((number, job)).is_err() {
            return false;
        }
        number += 1;
        pace.listed.fetch_add(1, Ordering::Relaxed);
        true
    });
}

/// Examines jobs until there are none left.
fn worker(jobs: &Mutex<Receiver<(u64, Job)>>, answers: &SyncSender<Answer>, plan: &Plan, stop: &AtomicBool) {
    loop {
        let taken = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = taken else { return };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (reports, lost) = match job {
            Job::Files(name, files) => (vec![(name, files_of_one(&files, plan))], Vec::new()),
            Job::Archive(name, path) => (archive(&name, path, plan), Vec::new()),
            Job::Lost(note) => (Vec::new(), vec![note]),
        };
        if answers.send((number, reports, lost)).is_err() {
            return;
        }
    }
}

fn files_of_one(files: &[(Arc<str>, PathBuf)], plan: &Plan) -> Report {
    let sources: Vec<Source<'_>> = files.iter().map(|(name, path)| Source::file(Arc::clone(name), path.clone())).collect();
    let mut report = conclude(read::read(&sources), Vec::new(), &plan.options);
    if plan.context {
        context::add(&sources, [&mut report]);
    }
    report
}

/// The incidents in an archive. Its files come in any order, so that they are put together at the end.
fn archive(name: &Arc<str>, path: PathBuf, plan: &Plan) -> Vec<(Arc<str>, Report)> {
    let mut members: Vec<(Arc<str>, Reading)> = Vec::new();
    let mut notes: Vec<Note> = Vec::new();
    let source = Source::file(Arc::clone(name), path);
    source.each(&mut |found| match found {
        Found::Input(name, reader) => {
            let mut reading = Reading::default();
            read::one(name, reader, &mut reading);
            members.push((Arc::clone(name), reading));
        }
        Found::Note(note) => notes.push(note),
    });
    let mut folders: BTreeMap<String, Vec<(Arc<str>, Reading)>> = BTreeMap::new();
    for (name, reading) in members {
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        folders.entry(folder).or_default().push((name, reading));
    }
    let mut reports = Vec::new();
    for (folder, members) in folders {
        let names: Vec<&str> = members.iter().map(|(name, _)| name.rsplit('/').next().unwrap_or(name)).collect();
        let groups = group::groups(&names, plan.grouping);
        let mut members: HashMap<usize, (Arc<str>, Reading)> = members.into_iter().enumerate().collect();
        for (key, indices) in groups {
            let mut together = Reading::default();
            let mut only = None;
            let single = indices.len() == 1;
            for index in indices {
                if let Some((name, reading)) = members.remove(&index) {
                    only = Some(name);
                    together.join(reading);
                }
            }
            let name = match (only.filter(|_| single), key) {
                (Some(only), _) => only,
                (None, Some(key)) => Path::new(&folder).join(key).to_string_lossy().into(),
                (None, None) => folder.trim_end_matches('!').into(),
            };
            reports.push((name, conclude(together, Vec::new(), &plan.options)));
        }
    }
    if !notes.is_empty() {
        match reports.first_mut() {
            Some((_, report)) => report.notes.extend(notes),
            None => reports.push((Arc::clone(name), conclude(Reading::default(), notes, &plan.options))),
        }
    }
    if plan.context {
        context::add(&[source], reports.iter_mut().map(|(_, report)| report));
    }
    reports
}
