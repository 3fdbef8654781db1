//! Large inputs: what is told of a small one is told of it behind megabytes of other text as well.

use std::io::Cursor;

use coroner::examine::{Options, examine};
use coroner::input::Source;
use coroner::report::Report;

const DEATH: &str = "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ";

/// Above the size up to which an input is looked through for documents, in bytes.
const LARGE: usize = 5 << 20;

fn report(text: impl Into<Vec<u8>>) -> Report {
    examine(&[Source::stream("input".into(), Cursor::new(text.into()))], Vec::new(), &Options::default())
}

fn cause(text: impl Into<Vec<u8>>) -> &'static str {
    report(text).verdict.cause.slug()
}

/// A text so many times as fit into the bytes.
fn repeated(text: &str, bytes: usize) -> String {
    text.repeat(bytes / text.len() + 1)
}

#[test]
fn records_one_a_line_are_read_however_many_there_are() {
    let events = include_str!("../fixtures/oom-kill/docker20-oom-restart-loop/events.jsonl");
    let other = events.lines().next().map(|line| format!("{line}\n")).expect("there are events");
    assert_eq!(cause(repeated(&other, LARGE) + events), "oom-cgroup");
    let jobs = repeated("4710|train|COMPLETED|0:0\n", LARGE);
    assert_eq!(cause(format!("JobID|JobName|State|ExitCode\n{jobs}4711|train|OUT_OF_MEMORY|0:125\n")), "oom-cgroup");
}

#[test]
fn a_message_in_numbers_is_read_behind_a_large_journal() {
    let journal = include_str!("../fixtures/oom-kill/journald-json-byte-array-oom/journal.jsonl");
    let numbers: String =
        journal.lines().filter(|line| line.contains("\"MESSAGE\": [")).map(|line| format!("{line}\n")).collect();
    assert_eq!((numbers.lines().count(), cause(numbers.clone())), (2, "oom-cgroup"));
    let quiet = repeated("{\"_TRANSPORT\": \"kernel\", \"MESSAGE\": \"usb 1-1: new device\"}\n", LARGE);
    assert_eq!(cause(quiet + &numbers), "oom-cgroup");
}

#[test]
fn a_stamp_holds_for_a_death_below_a_redrawn_bar() {
    let bar = "\r 10%|█         | 1/9".repeat(300);
    let log = format!("2026-06-01T20:52:33Z INFO epoch 3\n{bar}\n{DEATH}\n");
    let told = |text: String| report(text).deaths.first().and_then(|death| death.when).map(|when| when.to_string());
    assert_eq!(told(log.clone()).as_deref(), Some("2026-06-01T20:52:33Z"));
    assert_eq!(told(repeated("step 1 loss 2.0 lr 0.0003\n", 100 << 10) + &log), told(log));
}

#[test]
fn a_hole_before_a_log_is_none_in_it() {
    let mut text = vec![0; LARGE];
    assert_eq!(report(text.clone()).notes.first().map(|note| note.text.as_str()), Some("not text: skipped"));
    text.extend_from_slice(format!("\n{DEATH}\n").as_bytes());
    assert_eq!(cause(text), "oom-suspected");
}

#[test]
fn what_was_not_looked_for_is_said() {
    let large = report(repeated("step 1 loss 2.0 lr 0.0003\n", LARGE));
    assert!(large.notes.iter().any(|note| note.text.contains("without a look for documents")), "{:?}", large.notes);
    assert!(report("step 1 loss 2.0 lr 0.0003\n").notes.is_empty());
}
