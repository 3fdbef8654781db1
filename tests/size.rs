//! `coroner size` from outside: the numbers, the three outputs, what it takes from logs, and what it says to wrong input.

use std::fs;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Runs `coroner size` with these arguments.
fn size(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"] {
        command.env_remove(name);
    }
    command.arg("size").args(arguments).output().expect("the program starts")
}

/// What it prints when all is well.
fn said(arguments: &[&str]) -> String {
    let output = size(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the answer is UTF-8")
}

/// The answer in JSON.
fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&said(&[arguments, &["--format", "json"]].concat())).expect("the answer is JSON")
}

/// What it says to wrong input.
fn refused(arguments: &[&str]) -> String {
    let output = size(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("the message is UTF-8")
}

#[test]
fn one_number_is_made_for_command_lines() {
    for (arguments, number) in [
        (&["--workers", "4", "--prefetch", "2", "--batch-bytes", "2097152", "--exact"][..], "23183360\n"),
        (&["--workers", "4", "--batch-bytes", "2m", "--exact", "--epochs", "1"], "21053440\n"),
        (&["-w4", "--batch-bytes", "2Mi", "--exact", "--persistent"], "21053440\n"),
        (&["-w4", "--batch-bytes", "2MB", "--exact", "--pin-memory", "--epochs=1"], "16859136\n"),
        (&["-w", "4", "--batch-bytes", "2097152", "--exact", "--strategy", "file_system", "--epochs", "1"], "21094400\n"),
        (&["--workers=8", "--prefetch=2", "--batch-size=64", "--sample=3x224x224:f32,1:i64", "--bytes"], "872415232\n"),
        (&["-w8", "-p2", "-b64", "-s3x224x224:f32", "-s", "1:i64", "--bytes"], "872415232\n"),
        (&["-w3", "--view-of", "32m", "--epochs", "1", "--exact"], "100732928\n"),
        (
            &["-w3", "--batch-bytes", "2m", "--start-method", "spawn", "--dataset-bytes", "32m", "--epochs", "1", "--exact"],
            "50401280\n",
        ),
        (&["-w3", "--batch-bytes", "2m", "--ranks", "2", "--epochs", "1", "--exact"], "33693696\n"),
        (
            &[
                "--loader",
                "workers=3 batch-bytes=2m persistent",
                "--loader",
                "workers=3 batch_bytes=2m persistent",
                "--together",
                "nested",
                "--exact",
            ],
            "31596544\n",
        ),
        (
            &[
                "--persistent",
                "--batch-bytes=4m",
                "--loader",
                "workers=4",
                "--loader",
                "workers=4",
                "--together",
                "zip",
                "--exact",
            ],
            "88244224\n",
        ),
    ] {
        assert_eq!(said(arguments), number, "{arguments:?}");
    }
}

#[test]
fn people_see_each_term_and_what_to_type() {
    let text = said(&["--workers", "8", "--prefetch", "2", "--batch-size", "64", "--sample", "3x224x224:f32,1:i64"]);
    for part in ["698.5 MiB", "832 MiB", "--workers", "each tensor in whole pages", "--shm-size=832m", "sizeLimit: 832Mi"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let fits = said(&["--workers", "8", "--batch-bytes", "4m", "--limit", "64m"]);
    assert!(fits.contains("64 MiB is enough for workers=6 with prefetch=2"), "{fits}");
    let memory = said(&["--workers", "8", "--batch-bytes", "38m", "--memory-limit", "512m"]);
    assert!(memory.contains("the limit must be 1.50 GiB"), "{memory}");
}

#[test]
fn programs_get_the_formula_to_the_byte() {
    let answer = json(&["--workers", "4", "--batch-bytes", "2m", "--limit", "16m"]);
    assert_eq!(answer["schema"], "coroner.size/1");
    assert_eq!((answer["bytes"].as_u64(), answer["recommended"].as_u64()), (Some(23_183_360), Some(128 << 20)));
    assert_eq!(answer["inputs"]["workers"]["from"], "--workers");
    assert_eq!(answer["inputs"]["prefetch"]["from"], "assumed: PyTorch's default");
    assert_eq!(answer["fit"]["workers"].as_u64(), Some(4));
    assert_eq!(answer["fit"]["prefetch"].as_u64(), Some(1));
    let several = json(&["--batch-bytes", "2m", "--loader", "workers=4", "--loader", "workers=2"]);
    assert_eq!(several["inputs"]["loader_2.workers"]["value"].as_u64(), Some(2));
}

#[test]
fn logs_tell_what_the_options_leave_out() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("there is room for a small file");
        path.to_string_lossy().into_owned()
    };
    let log = file("train.log", "args: Namespace(batch_size=64, num_workers=8)\nepoch 0\n");
    let answer = json(&["--from", &log, "--sample", "3x224x224:f32,1:i64"]);
    assert_eq!(answer["recommended"].as_u64(), Some(832 << 20), "{answer}");
    assert!(answer["inputs"]["workers"]["from"].as_str().is_some_and(|from| from.ends_with("train.log:1")), "{answer}");
    // What a refused request left in /dev/shm is a lower bound.
    let listing = file("shm.txt", "total 0\n0 -rw-r--r-- 1 root root 33554432 Nov 30 06:36 torch_13_1201845540_0\n");
    let bound = json(&["--from", &log, "--from", &listing]);
    assert!(bound["remarks"][0].as_str().is_some_and(|remark| remark.contains("at least 608.2 MiB")), "{bound}");
    // An option has the last word.
    let fewer = json(&["--from", &log, "--workers", "2", "--sample", "3x224x224:f32,1:i64"]);
    assert_eq!(fewer["inputs"]["workers"]["value"].as_u64(), Some(2));
    // Of two worker counts neither is used, and both are shown.
    let other = file("other.log", "args: Namespace(batch_size=64, num_workers=4)\n");
    let doubt = json(&["--from", &log, "--from", &other, "--sample", "3x224x224:f32"]);
    assert_eq!(doubt["unknown"], serde_json::json!(["workers"]), "{doubt}");
    let error = refused(&["--from", &log, "--from", &other, "--sample", "3x224x224:f32", "--bytes"]);
    assert!(error.contains("different values for workers") && error.contains("--workers 8"), "{error}");
    let missing = size(&["--from", "/nonexistent/train.log", "--workers", "2", "--batch-bytes", "2m", "--bytes"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn wrong_input_is_told_what_is_wrong_and_what_is_right() {
    for (arguments, wrong, right) in [
        (&[][..], "give --workers", "coroner size --workers 8"),
        (&["--workers", "4"], "--batch-bytes", "--sample 3x224x224:f32"),
        (&["--workers", "4", "--sample", "3x224x224"], "give --batch-size", "--batch-size 64"),
        (&["--workers", "0", "--batch-bytes", "2m"], "1 or more", "a right one is 2"),
        (&["--workers", "-4", "--batch-bytes", "2m"], "negative", "a right one is 2"),
        (&["--workers", "4.5", "--batch-bytes", "2m"], "not a whole number", "a right one is 2"),
        (&["--workers", "99999999999999999999", "--batch-bytes", "2m"], "too large", "a right one is 2"),
        (&["--workers", "4", "--batch-bytes", "2x"], "not a size", "64m"),
        (&["--workers", "4", "--batch-bytes", "0"], "no memory", "16m"),
        (&["--workers", "4", "--batch-size", "8", "--sample", "3x224:f31"], "`f31` is not a type", "f32"),
        (&["--workers", "4", "--batch-size", "8", "--sample", "3by224"], "not a sample", "3x224x224:f32,1:i64"),
        (&["--workers", "4", "--batch-size", "8", "--sample", "0x224"], "a size of 0", "3x224x224:f32,1:i64"),
        (&["--workers", "4", "--batch-size", "8", "--sample", "9999999999x9999999999"], "too large", ""),
        (&["--workers", "4", "--batch-bytes", "2m", "--limit", "64"], "64 bytes", "64m"),
        (&["--workers", "4", "--batch-bytes", "2m", "--page-size", "5000"], "power of two", "4096"),
        (&["--workers", "4", "--batch-bytes", "2m", "--dataset-bytes", "1g"], "--start-method", "spawn"),
        (&["--loader", "workers=4 batchbytes=2m"], "--batchbytes", "workers=4 prefetch=2"),
        (&["--loader", ""], "empty", "workers=4 prefetch=2"),
        (&["--workers", "18446744073709551615", "--batch-bytes", "16m", "--bytes"], "too large", ""),
        (&["--workers", "4", "--batch-size", "18446744073709551615", "--sample", "3x224x224", "--exact"], "too large", ""),
    ] {
        let message = refused(arguments);
        assert!(message.contains(wrong) && message.contains(right), "{arguments:?}: {message}");
        assert!(message.starts_with("error: "), "{message}");
    }
}

#[test]
fn a_file_called_size_has_a_path() {
    let folder = TempDir::new().expect("a temporary folder can be made");
    fs::write(folder.path().join("size"), "epoch 0\n").expect("there is room for a small file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    let output = command.arg("./size").current_dir(folder.path()).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("nothing died"), "{}", String::from_utf8_lossy(&output.stdout));
}
