//! Many incidents: folders and archives of logs, a verdict for each, on all cores, in a stable order.
//!
//! One thread lists, several examine, and the caller's thread puts the answers in order and hands them out. A bounded
//! number of incidents is under way at any moment, so that memory does not grow with the number of files, nor with that of an
//! archive's members: what is not yet its turn waits with the worker.

mod group;
mod key;
mod link;
mod list;
pub mod progress;
mod stream;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::context;
use crate::examine::{Options, conclude};
use crate::input::leaf::Leaf;
use crate::input::walk::Choice;
use crate::note::Note;
use crate::read::Reading;
use crate::report::{Incident, Report, Tally};
use list::Job;
use stream::Named;

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
    /// Whether globs choose some of them, so that a folder may well have none.
    pub filtered: bool,
    /// How files are put together.
    pub grouping: Grouping,
    /// How many threads examine; 0 takes one for each core.
    pub workers: usize,
    /// For the advice.
    pub options: Options,
    /// Whether the lines around the evidence are wanted, for which the inputs are read once more.
    pub context: bool,
}

/// How long workers have to tell what they know when the work shall stop.
const GRACE: Duration = Duration::from_secs(1);

/// Answers to a job, by its place in the order; an archive gives them in parts.
struct Answer {
    number: u64,
    reports: Vec<Named>,
    last: bool,
}

/// The job whose answers are handed out: the others wait with theirs.
#[derive(Default)]
struct Turn {
    number: Mutex<u64>,
    next: Condvar,
}

impl Turn {
    fn pass(&self, to: u64) {
        *self.number.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.next.notify_all();
    }

    /// Waits until it is a job's turn, or until the work shall stop.
    fn wait(&self, number: u64, stop: &AtomicBool) {
        let mut now = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        while *now != number && !stop.load(Ordering::Relaxed) {
            now = self.next.wait_timeout(now, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How far the work is.
#[derive(Debug, Default)]
pub struct Pace {
    /// Jobs that were found.
    pub listed: AtomicU64,
    /// Jobs that were written.
    pub done: AtomicU64,
    /// Whether all jobs were found.
    pub whole: AtomicBool,
}

impl Pace {
    /// Whether all that there is was written.
    fn is_over(&self) -> bool {
        self.whole.load(Ordering::Relaxed) && self.done.load(Ordering::Relaxed) == self.listed.load(Ordering::Relaxed)
    }
}

/// Examines everything below the paths, and hands out the incidents in the order of the walk; those of a folder
/// come behind those of the folders in it, as files of theirs may belong to it. Stops when `stop` is set, with
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
    let turn = Arc::new(Turn::default());
    for _ in 0..workers {
        let (jobs, answers, plan, stop) = (Arc::clone(&jobs), give_answer.clone(), plan.clone(), Arc::clone(stop));
        let turn = Arc::clone(&turn);
        thread::spawn(move || worker(&jobs, &answers, &turn, &plan, &stop));
    }
    drop(give_answer);
    let mut tally = Tally::default();
    let mut waiting: BTreeMap<u64, Vec<Answer>> = BTreeMap::new();
    let mut next = 0;
    let mut stopped: Option<Instant> = None;
    loop {
        match take_answer.recv_timeout(GLANCE) {
            Ok(answer) => waiting.entry(answer.number).or_default().push(answer),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        while let Some(answers) = waiting.remove(&next) {
            let last = answers.iter().any(|answer| answer.last);
            write(&answers, &mut tally, sink)?;
            if !last {
                break;
            }
            pace.done.fetch_add(1, Ordering::Relaxed);
            next += 1;
            turn.pass(next);
            // The lister may have ended before.
            let _ = give_token.try_send(());
        }
        // Threads in the middle of a large file are left behind: the process ends after the summary.
        if stop.load(Ordering::Relaxed) && stopped.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            break;
        }
    }
    for answers in std::mem::take(&mut waiting).into_values() {
        write(&answers, &mut tally, sink)?;
        pace.done.fetch_add(u64::from(answers.iter().any(|answer| answer.last)), Ordering::Relaxed);
    }
    // Workers that stop may end the loop before the signal is looked at here.
    tally.stopped = stop.load(Ordering::Relaxed) && !pace.is_over();
    Ok(tally)
}

/// Hands out what one job came to.
fn write(answers: &[Answer], tally: &mut Tally, sink: &mut dyn FnMut(Incident<'_>) -> io::Result<()>) -> io::Result<()> {
    for (name, report) in answers.iter().flat_map(|answer| &answer.reports) {
        tally.add(report);
        sink(Incident { name, report })?;
    }
    Ok(())
}

/// Finds jobs; waits for a token before each, so that it runs ahead of the output only so far.
fn lister(paths: &[PathBuf], plan: &Plan, stop: &AtomicBool, pace: &Pace, jobs: &SyncSender<(u64, Job)>, tokens: &Receiver<()>) {
    let mut number = 0;
    let mut give = |job| {
        if stop.load(Ordering::Relaxed) || tokens.recv().is_err() || jobs.send((number, job)).is_err() {
            return false;
        }
        number += 1;
        pace.listed.fetch_add(1, Ordering::Relaxed);
        true
    };
    let mut whole = true;
    list::list(paths, plan, &mut |job| {
        whole = give(job);
        whole
    });
    pace.whole.store(whole, Ordering::Relaxed);
}

/// Examines jobs until there are none left.
fn worker(jobs: &Mutex<Receiver<(u64, Job)>>, answers: &SyncSender<Answer>, turn: &Turn, plan: &Plan, stop: &AtomicBool) {
    loop {
        let taken = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = taken else { return };
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let (mut reports, mut last) = (Vec::new(), true);
        match job {
            Job::Files(name, files, notes) => reports.push((name, files_of_one(&files, notes, plan))),
            // An incident of which nothing is known, so that every format names it.
            Job::Lost(note) => {
                reports.push((Arc::clone(&note.input), conclude(Reading::default(), vec![note], &plan.options)));
            }
            Job::Archive(leaf, wish) => {
                stream::stream(&leaf, wish, plan, stop, &mut |part| {
                    turn.wait(number, stop);
                    // Whoever takes the answers may have left.
                    let _ = answers.send(Answer { number, reports: part, last: false });
                });
                // An archive that was stopped in its middle is not done.
                last = !stop.load(Ordering::Relaxed);
            }
        }
        if answers.send(Answer { number, reports, last }).is_err() {
            return;
        }
    }
}

fn files_of_one(files: &[Leaf], notes: Vec<Note>, plan: &Plan) -> Report {
    let mut reading = Reading::default();
    for leaf in files {
        list::read_into(leaf, &mut reading);
    }
    let mut report = conclude(reading, notes, &plan.options);
    if plan.context {
        context::add(files, [&mut report]);
    }
    report
}
