//! Which files are one incident: by the names that schedulers and kubelets give, by what records are about, on disk and in
//! archives.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{BUS, KILLED, QUIET, files};

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, namespace: ml, uid: UID}\nstatus:\n  phase: Failed\n  \
                   containerStatuses:\n  - name: main\n    state: {terminated: {exitCode: 137, reason: OOMKilled}}\n";
const EVENT: &str = "apiVersion: v1\nkind: Event\nmetadata: {name: NAME.17, namespace: ml}\ninvolvedObject: {kind: Pod, name: \
                     NAME, namespace: ml}\nreason: Evicted\nmessage: \"The node was low on resource: memory.\"\n";
const SACCT: &str = "JobID|JobName|State|ExitCode\n4711|train|OUT_OF_MEMORY|0:125\n4711.batch|batch|FAILED|1:0\n";

/// A name and a text.
type File<'a> = (&'a str, &'a str);

/// The reports on all incidents.
fn reports(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    command.args(["scan", "-f", "ndjson"]).args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("reports are UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is a document")).collect()
}

/// What the incidents are called.
fn names(folder: &Path, arguments: &[&str]) -> Vec<String> {
    reports(folder, arguments).iter().map(|report| report["incident"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The same files packed, each format by its name.
fn pack(list: &[File<'_>], into: &Path) {
    let mut builder = tar::Builder::new(Vec::new());
    let mut writer = zip::ZipWriter::new(fs::File::create(into.join("a.zip")).expect("there is room for a small file"));
    for (name, text) in list {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        builder.append_data(&mut header, name, text.as_bytes()).expect("there is room for a small file");
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("there is room for a small file");
        writer.write_all(text.as_bytes()).expect("there is room for a small file");
    }
    writer.finish().expect("there is room for a small file");
    fs::write(into.join("a.tar"), builder.into_inner().expect("memory takes every byte"))
        .expect("there is room for a small file");
}

#[test]
fn the_number_of_a_job_tells_it_from_others() {
    let cases: [(&[File<'_>], &[&str]); 7] = [
        (&[("4711.log", KILLED), ("4712.log", BUS), ("4713.log", QUIET)], &["x/4711.log", "x/4712.log", "x/4713.log"]),
        (&[("4711.err", KILLED), ("4711.out", QUIET), ("4712.err", BUS), ("4712.out", QUIET)], &["x/4711", "x/4712"]),
        (&[("bert.e4711", KILLED), ("bert.e4712", BUS), ("bert.o4711", QUIET)], &["x/bert.4711", "x/bert.e4712"]),
        (&[("slurm-9_1.out", KILLED), ("slurm-9_2.out", BUS)], &["x/slurm-9_1.out", "x/slurm-9_2.out"]),
        (&[("train.log", KILLED), ("train_2.log", BUS)], &["x/train.log", "x/train_2.log"]),
        (&[("lr0.1.log", KILLED), ("lr0.2.log", BUS)], &["x/lr0.1.log", "x/lr0.2.log"]),
        (&[("slurm-9-node1.out", KILLED), ("slurm-9-node2.out", QUIET)], &["x"]),
    ];
    for (list, expected) in cases {
        let list: Vec<(String, &str)> = list.iter().map(|(name, text)| (format!("x/{name}"), *text)).collect();
        let list: Vec<(&str, &str)> = list.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let folder = files(&list);
        let found = names(folder.path(), &["x"]);
        // Where all files are one incident it is called by what they have in common.
        assert!(found == expected || expected == ["x"] && found == ["x/slurm-9"], "{list:?}: {found:?}");
    }
}

#[test]
fn records_about_one_thing_are_one_incident() {
    let (pod, event) = (POD.replace("UID", "0a1b2c3d-0000-1111-2222-333344445555"), EVENT);
    let one = |text: &str| text.replace("NAME", "trainer-0");
    let two = |text: &str| text.replace("NAME", "trainer-1").replace("0a1b", "0a1c");
    let inspect = include_str!("../../fixtures/oom-kill/docker26-oom-child-main-exit0/inspect.json");
    let events = include_str!("../../fixtures/oom-kill/docker26-oom-child-main-exit0/events.jsonl");
    let folder = files(&[
        ("pod/a.yaml", &one(&pod)),
        ("pod/b.yaml", &one(event)),
        ("two/a.yaml", &one(&pod)),
        ("two/b.yaml", &two(&pod)),
        ("two/c.yaml", &two(event)),
        ("two/trainer-0.log", QUIET),
        ("two/trainer-1.log", QUIET),
        ("docker/a.json", inspect),
        ("docker/b.jsonl", events),
        ("slurm/sacct.txt", SACCT),
        ("slurm/4711.out", QUIET),
        ("slurm/4712.out", QUIET),
    ]);
    assert_eq!(names(folder.path(), &["pod"]), ["pod"]);
    assert_eq!(names(folder.path(), &["docker"]), ["docker"]);
    let inputs = |report: &Value| -> Vec<String> {
        let names = report["inputs"].as_array().into_iter().flatten();
        names
            .filter_map(|input| input["name"].as_str())
            .map(|name| name.split_once('/').unwrap_or_default().1.to_owned())
            .collect()
    };
    let found: Vec<_> = reports(folder.path(), &["two"]).iter().map(inputs).collect();
    assert_eq!(found, [vec!["a.yaml", "trainer-0.log"], vec!["b.yaml", "c.yaml", "trainer-1.log"]]);
    let found: Vec<_> = reports(folder.path(), &["slurm"]).iter().map(inputs).collect();
    assert_eq!(found, [vec!["4711.out", "sacct.txt"], vec!["4712.out"]]);
}

#[test]
fn files_named_one_by_one_and_files_in_archives_are_grouped_alike() {
    let pod = "pods/ml_trainer-0_0a1b2c3d-0000-1111-2222-333344445555";
    let (main, side) = (format!("{pod}/main/0.log"), format!("{pod}/side/0.log"));
    let list = [("j/j-rank0.log", KILLED), ("j/j-rank1.log", QUIET), (main.as_str(), KILLED), (side.as_str(), QUIET)];
    let folder = files(&list);
    pack(&list, folder.path());
    assert_eq!(names(folder.path(), &["j", "pods"]), ["j/j", pod]);
    assert_eq!(names(folder.path(), &["j/j-rank0.log", &main, "j/j-rank1.log"]), ["j/j", &main]);
    assert_eq!(names(folder.path(), &["--group", "dir", "j/j-rank0.log", "j/j-rank1.log"]), ["j"]);
    assert_eq!(names(folder.path(), &["--group", "file", "j/j-rank0.log", "j/j-rank1.log"]).len(), 2);
    fs::copy(folder.path().join("a.zip"), folder.path().join("noext")).unwrap();
    fs::copy(folder.path().join("a.tar"), folder.path().join("b.gz")).unwrap();
    for archive in ["a.zip", "a.tar", "noext", "b.gz"] {
        let expected = [format!("{archive}!/j/j"), format!("{archive}!/{pod}")];
        assert_eq!(names(folder.path(), &[archive]), expected);
    }
}

#[test]
fn the_oldest_piece_of_a_log_is_read_first() {
    for (old, new) in [("job.log.1", "job.log"), ("job.log-20261129", "job.log"), ("job.log.2026-11-29", "job.log.2026-11-30")] {
        let list = [(format!("x/{old}"), BUS), (format!("x/{new}"), KILLED)];
        let folder = files(&list.each_ref().map(|(name, text)| (name.as_str(), *text)));
        let found = reports(folder.path(), &["x"]);
        let causes: Vec<&str> = found.iter().filter_map(|report| report["verdict"]["cause"].as_str()).collect();
        assert_eq!(causes, ["shm-sigbus"], "{old}");
    }
}

#[test]
fn a_place_is_cut_where_a_part_of_its_path_ends() {
    let folder = files(&[("x/gn1-dmesg.txt", BUS), ("x/gn1.out", QUIET), ("x/gn2.out", QUIET)]);
    let output = Command::new(env!("CARGO_BIN_EXE_coroner")).args(["scan", "x"]).current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("= x/gn1\n") && text.contains("  gn1-dmesg.txt:1   "), "{text}");
}

#[test]
fn globs_choose_among_the_members_of_archives() {
    let list = [("job1/a.log", KILLED), ("job2/b.log", BUS), ("job2/c.txt", QUIET)];
    let folder = files(&list);
    pack(&list, folder.path());
    for archive in ["a.zip", "a.tar"] {
        let member = |name: &str| format!("{archive}!/{name}");
        assert_eq!(names(folder.path(), &[archive, "--exclude", "job1"]), [member("job2/b.log"), member("job2/c.txt")]);
        assert_eq!(names(folder.path(), &[archive, "--include", "*.log"]), [member("job1/a.log"), member("job2/b.log")]);
    }
    let all = names(folder.path(), &[".", "--include", "*.log"]);
    assert_eq!((all.len(), all.iter().filter(|name| name.contains('!')).count()), (6, 4), "{all:?}");
    assert_eq!(names(folder.path(), &[".", "--include", "a.zip"]).len(), 3, "all of what a glob names is read");
    let mut writer = zip::ZipWriter::new(fs::File::create(folder.path().join("outer.zip")).unwrap());
    writer.start_file("a.tar", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&fs::read(folder.path().join("a.tar")).unwrap()).unwrap();
    writer.finish().unwrap();
    let member = |name: &str| format!("outer.zip!/a.tar!/{name}");
    assert_eq!(names(folder.path(), &["outer.zip", "--include", "*.log"]), [member("job1/a.log"), member("job2/b.log")]);
}

#[test]
fn nothing_counts_twice_and_what_is_passed_over_is_told() {
    let folder = files(&[("logs/a.log", KILLED), ("logs/b.log", BUS)]);
    std::os::unix::fs::symlink("a.log", folder.path().join("logs/latest.log")).unwrap();
    std::os::unix::fs::symlink("gone", folder.path().join("logs/dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join("logs/pipe")).status().unwrap().success());
    let found = reports(folder.path(), &["logs", "logs/a.log", "./logs"]);
    let called: Vec<_> = found.iter().filter_map(|report| report["incident"].as_str()).collect();
    assert_eq!(called, ["logs/a.log", "logs/b.log"]);
    let notes: Vec<String> =
        found.iter().flat_map(|r| r["notes"].as_array().cloned().unwrap_or_default()).map(|n| n.to_string()).collect();
    for words in ["a link to nothing", "no regular file", "named twice"] {
        assert!(notes.iter().any(|note| note.contains(words)), "{words}: {notes:?}");
    }
}

#[test]
fn a_folder_between_the_parts_of_an_incident_tears_none() {
    let list = [("run/main.log", KILLED), ("run/config/notes.log", QUIET), ("run/rank_0/out.log", KILLED), ("run-b/x.log", BUS)];
    let folder = files(&list);
    pack(&list, folder.path());
    let count = |path: &str| reports(folder.path(), &[path]).len();
    assert_eq!([count("run"), count("run-b")], [2, 1], "{:?}", names(folder.path(), &["run"]));
    assert_eq!([count("a.zip"), count("a.tar")], [3, 3], "{:?}", names(folder.path(), &["a.zip", "a.tar"]));
}

#[test]
fn what_lies_about_one_job_is_not_told_by_a_part_of_a_folder() {
    let jobs: Vec<String> = (0..2_000).map(|n| format!("l/ajob-{n}.log")).collect();
    let mut list: Vec<File<'_>> = jobs.iter().map(|name| (name.as_str(), QUIET)).collect();
    list.extend([("l/bjob-1.log", KILLED), ("l/kern.log", QUIET)]);
    let folder = files(&[]);
    pack(&list, folder.path());
    assert_eq!(reports(folder.path(), &["a.tar"]).len(), list.len());
}
