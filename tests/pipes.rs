//! Pipes at both ends of the real program: one that keeps talking, and one whose reader leaves.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";
const QUIET: &str = "epoch 0 [   0/60]  loss 2.4806     37.8 samples/s\n";

/// The program with pipes at both ends.
fn piped(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts")
}

#[test]
fn a_death_is_told_while_others_keep_talking_and_told_once() {
    let mut child = piped(&["-f", "brief"]);
    let (mut input, output) = (child.stdin.take().expect("it was piped"), child.stdout.take().expect("it was piped"));
    let (heard, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
    let others = {
        let (heard, open) = (Arc::clone(&heard), Arc::clone(&open));
        thread::spawn(move || {
            input.write_all(KILLED.as_bytes()).expect("the program reads");
            // Never silent; it goes on for a while after the death was told, and gives up after half a minute.
            let mut after = 0;
            for _ in 0..600 {
                input.write_all(QUIET.as_bytes()).expect("the program reads");
                thread::sleep(Duration::from_millis(50));
                after += u32::from(heard.load(Ordering::Relaxed));
                if after > 12 {
                    break;
                }
            }
            open.store(false, Ordering::Relaxed);
        })
    };
    let mut output = BufReader::new(output);
    let mut first = String::new();
    output.read_line(&mut first).expect("the program writes UTF-8");
    assert!(open.load(Ordering::Relaxed), "the death is told while the pipe talks: {first}");
    assert!(first.starts_with("oom-kill oom-suspected suspected SIGKILL pid=8107"), "{first}");
    heard.store(true, Ordering::Relaxed);
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("the program writes UTF-8");
    assert!(!rest.contains("pid=8107"), "a death is told once: {rest}");
    others.join().expect("the pipe is written to its end");
    assert!(child.wait().expect("the program ends").success());
}
