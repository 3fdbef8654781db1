//! The program, and folders for it to work in.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub(super) const BUS: &str = "RuntimeError: DataLoader worker (pid 814) is killed by signal: Bus error. It is possible that \
                   dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n";
pub(super) const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";
pub(super) const SEGFAULT: &str = "RuntimeError: DataLoader worker (pid 12156) is killed by signal: Segmentation fault. \n";
pub(super) const QUIET: &str = "epoch 0 [   0/60]  loss 2.4806     37.8 samples/s\n";

/// What the surrounding shell may have set to change the output.
const SCRUBBED: [&str; 9] =
    ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS", "TERM", "LANG", "LC_ALL", "RUST_BACKTRACE"];

/// The program, without the settings of this shell.
pub(super) fn coroner(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    for name in SCRUBBED {
        command.env_remove(name);
    }
    command.args(arguments).timeout(Duration::from_secs(60));
    command
}

/// A folder with these files.
pub(super) fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("there is room for a small file");
    }
    folder
}

/// Runs the program in a folder.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> Output {
    coroner(arguments).current_dir(folder).output().expect("the program starts")
}

/// The JSON report on bytes from standard input.
pub(super) fn report_on(bytes: &[u8]) -> Value {
    let output = coroner(&["--format", "json"]).write_stdin(bytes).output().expect("the program starts");
    survived(&output);
    json(&output)
}

pub(super) fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}, {}", String::from_utf8_lossy(&output.stderr)))
}

/// It ended by itself, with a code of the contract, and did not panic.
pub(super) fn survived(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)) && !said.contains("panicked"), "{}: {said}", output.status);
}

pub(super) fn class(report: &Value) -> &str {
    report["verdict"]["class"].as_str().expect("a verdict has a class")
}
