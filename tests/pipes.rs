//! Pipes at both ends of the real program: one that keeps talking, and one whose reader leaves.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";
const BUS: &str = "RuntimeError: DataLoader worker (pid 814) is killed by signal: Bus error. It is possible that dataloader's \
                   workers are out of shared memory. Please try to raise your shared memory limit.\n";
const QUIET: &str = "epoch 0 [   0/60]  loss 2.4806     37.8 samples/s\n";

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_coroner"))
}

/// The program with pipes at both ends.
fn piped(arguments: &[&str]) -> Child {
    command().args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts")
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

#[test]
fn a_program_gets_a_document_for_each_verdict_and_a_file_the_last() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("last.json");
    let to_file = format!("json={}", file.display());
    let mut child = piped(&["-f", "ndjson", "-f", &to_file]);
    let (mut input, output) = (child.stdin.take().expect("it was piped"), child.stdout.take().expect("it was piped"));
    let mut lines = BufReader::new(output).lines();
    // The pipe stays open: without early reports the first line would never come.
    for (text, pid, deaths) in [(KILLED, 8107, 1), (BUS, 814, 2)] {
        input.write_all(text.as_bytes()).expect("the program reads");
        let line = lines.next().expect("a line comes").expect("it is UTF-8");
        let report: serde_json::Value = serde_json::from_str(&line).expect("each line is a document");
        let told = report["deaths"].as_array().expect("deaths are listed");
        assert!(told.len() == deaths && told.iter().any(|death| death["pid"] == pid), "{line}");
    }
    assert!(!file.exists(), "a file is complete or not there");
    drop(input);
    assert!(lines.next().is_none(), "nothing is told twice");
    assert!(child.wait().expect("the program ends").success());
    let last: serde_json::Value = serde_json::from_slice(&std::fs::read(file).expect("it is there now")).expect("it is JSON");
    assert_eq!(last["deaths"].as_array().map(Vec::len), Some(2));
}

#[test]
fn files_are_written_to_their_end_though_the_reader_of_standard_output_leaves() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for number in 0..200 {
        let name = format!("job-{number}.log");
        std::fs::write(folder.path().join(name), KILLED.repeat(20)).expect("there is room for a small file");
    }
    for arguments in [&["scan", "-f", "brief", "-f", "sarif=out.sarif", "."][..], &["-f", "brief", "-f", "sarif=out.sarif", "."]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
        command.args(arguments).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{arguments:?}");
        let sarif = std::fs::read(folder.path().join("out.sarif")).expect("the file is there");
        let sarif: serde_json::Value = serde_json::from_slice(&sarif).expect("it is whole");
        assert!(sarif["runs"][0]["results"].as_array().is_some_and(|results| !results.is_empty()), "{arguments:?}");
    }
}

#[test]
fn a_pipe_that_stays_open_is_followed() {
    let mut child =
        command().args(["--follow", "-", "-f", "ndjson"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    input.write_all(KILLED.as_bytes()).unwrap();
    let line = lines.next().unwrap().unwrap();
    assert!(line.contains("8107"), "{line}");
    drop(input);
    assert!(lines.next().is_none() && child.wait().unwrap().success());
}

#[test]
fn tee_passes_every_byte_on() {
    let mut bytes = QUIET.repeat(400).into_bytes();
    bytes.extend(b"\r\0\xff\xfe no line end\n");
    bytes.extend(KILLED.as_bytes());
    bytes.extend((0..=255).collect::<Vec<u8>>().repeat(3000));
    let broken = [b"\x1f\x8b\x08 no gzip at all ".to_vec(), vec![7; 300_000]].concat();
    for (bytes, died) in [(bytes, true), (broken, false)] {
        let mut child = command()
            .args(["--tee", "-f", "brief"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let sent = bytes.clone();
        let sender = thread::spawn(move || input.write_all(&sent).unwrap());
        let output = child.wait_with_output().unwrap();
        sender.join().unwrap();
        assert!(output.stdout == bytes, "{} of {} bytes", output.stdout.len(), bytes.len());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(said.contains("pid=8107"), died, "{said}");
    }
    // What comes is passed on at once, and a reader that leaves is no failure.
    let mut child = command().arg("--tee").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    input.write_all(b"now").unwrap();
    let mut three = [0; 3];
    output.read_exact(&mut three).unwrap();
    assert_eq!(&three, b"now");
    drop(output);
    while input.write_all(QUIET.as_bytes()).is_ok() {}
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
