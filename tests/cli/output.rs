//! Where reports go: what they may replace, where they are named, and what happens when they cannot be written.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::support::*;

#[test]
fn a_report_does_not_replace_an_input() {
    let folder = folder(&[("train.log", BUS.as_bytes()), ("quiet.log", QUIET.as_bytes())]);
    for arguments in [&["-o", "./train.log", "train.log"][..], &["scan", "train.log", "-f", "json=train.log"]] {
        let output = run(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("train.log is an input"), "{said}");
        assert_eq!(fs::read(folder.path().join("train.log")).ok().as_deref(), Some(BUS.as_bytes()));
    }
    assert_eq!(run(folder.path(), &["-o", "quiet.log", "train.log"]).status.code(), Some(0), "any other file may be replaced");
}

#[test]
fn a_log_below_a_scanned_folder_is_spared_and_an_earlier_report_is_replaced() {
    let folder = folder(&[("dl.log", BUS.as_bytes())]);
    for arguments in [&["scan", ".", "-o", "dl.log"][..], &["scan", ".", "-f", "json=./dl.log"], &[".", "-o", "dl.log"]] {
        let output = run(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("dl.log is below an input"), "{arguments:?}: {said}");
        assert_eq!(fs::read(folder.path().join("dl.log")).ok().as_deref(), Some(BUS.as_bytes()));
    }
    for command in [&["scan"][..], &[]] {
        for format in coroner::report::Format::ALL {
            let target = format!("{}=report.{}", format.name(), format.name());
            for night in ["first", "second"] {
                let output = run(folder.path(), &[command, &[".", "-f", &target]].concat());
                assert_eq!(output.status.code(), Some(0), "{night} {target}: {}", String::from_utf8_lossy(&output.stderr));
            }
            fs::remove_file(folder.path().join(format!("report.{}", format.name()))).expect("it was written");
        }
    }
}

#[test]
fn earlier_reports_and_the_one_under_way_are_no_inputs() {
    let folder = folder(&[("dl.log", BUS.as_bytes())]);
    for format in coroner::report::Format::ALL {
        let kept = format!("{}=kept.{}", format.name(), format.name());
        assert_eq!(run(folder.path(), &["scan", "dl.log", "-f", &kept]).status.code(), Some(0));
    }
    let scan = run(folder.path(), &["scan", "--hidden", "--group", "file", ".", "-f", "json=kept.json"]);
    assert_eq!(scan.status.code(), Some(0), "{}", String::from_utf8_lossy(&scan.stderr));
    let text = fs::read_to_string(folder.path().join("kept.json")).expect("it was written");
    let report: Value = serde_json::from_str(&text).expect("it is a document");
    assert_eq!(report["summary"]["causes"], serde_json::json!({"shm-sigbus": 1}), "{text}");
    assert!(!text.contains(".part"), "{text}");
    let whole = json(&run(folder.path(), &["-f", "json", "."]));
    assert_eq!((whole["inputs"].as_array().map(Vec::len), whole["deaths"].as_array().map(Vec::len)), (Some(1), Some(1)));
    assert!(whole["notes"][0]["text"].as_str().is_some_and(|text| text.contains("a report that coroner wrote")), "{whole}");
}

#[test]
fn a_dash_is_standard_output_and_other_ways_to_say_a_path_are_seen_through() {
    let folder = folder(&[("train.log", BUS.as_bytes())]);
    for arguments in [&["-o", "-"][..], &["-f", "human=-"], &["-f", "human", "-o", "-"], &["scan", "-o", "-"]] {
        let output = run(folder.path(), &[arguments, &["train.log"]].concat());
        assert!(String::from_utf8_lossy(&output.stdout).contains("SIGBUS"), "{arguments:?}");
    }
    assert!(!folder.path().join("-").exists());
    for other in ["html=./zz", "html=../zz"] {
        let path = if other.contains("..") { format!("html={}/zz", folder.path().display()) } else { other.to_owned() };
        let output = run(folder.path(), &["-f", "json=zz", "-f", &path, "train.log"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("two formats cannot go to the same file"), "{said}");
    }
}

#[test]
fn an_issue_of_gitlab_names_a_file_by_its_path_below_the_repository() {
    let folder = folder(&[]);
    let below = folder.path().canonicalize().expect("it is there").join("below");
    fs::create_dir(&below).expect("there is room for a folder");
    fs::write(below.join("dl.log"), BUS).expect("there is room for a small file");
    let absolute = below.join("dl.log").to_string_lossy().into_owned();
    let root = below.parent().expect("it is a folder in another").to_owned();
    for (project, file, path) in [
        (None, absolute.as_str(), "dl.log"),
        (None, "dl.log", "dl.log"),
        (Some(&root), absolute.as_str(), "below/dl.log"),
        (Some(&root), "dl.log", "below/dl.log"),
        (None, "../below/gone.log", "../below/gone.log"),
    ] {
        let mut command = coroner(&["-f", "gitlab", file]);
        command.env_remove("CI_PROJECT_DIR").envs(project.map(|root| ("CI_PROJECT_DIR", root)));
        let output = command.current_dir(&below).output().expect("the program starts");
        assert_eq!(json(&output)[0]["location"]["path"], path, "{project:?} {file}");
    }
}

#[test]
fn an_output_that_fails_is_named() {
    if Path::new("/dev/full").exists() {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("it can be written to");
        for argument in ["/dev/null", "explain"] {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_coroner"));
            let full = full.try_clone().expect("it is open");
            let output = command.arg(argument).stdout(full).stderr(Stdio::piped()).output().expect("the program starts");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said, "error: standard output: no space left on device\n", "{argument}");
            assert_eq!(output.status.code(), Some(2));
        }
    }
}
