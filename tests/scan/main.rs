//! Many incidents from outside: grouping, order, summary, exit codes, interruption; and the ways to watch a log that grows.

mod groups;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use coroner::report::Format;
use serde_json::Value;
use tempfile::TempDir;

const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";
const BUS: &str = "RuntimeError: DataLoader worker (pid 814) is killed by signal: Bus error. It is possible that dataloader's \
                   workers are out of shared memory. Please try to raise your shared memory limit.\n";
const SEGFAULT: &str = "RuntimeError: DataLoader worker (pid 12156) is killed by signal: Segmentation fault. \n";
const QUIET: &str = "epoch 0 [   0/60]  loss 2.4806     37.8 samples/s\n";

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let output = program().args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("the program starts");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn files(list: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    for (name, text) in list {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("there is room for a folder");
        fs::write(path, text).expect("there is room for a small file");
    }
    folder
}

/// The incidents with their causes.
fn incidents(folder: &Path, arguments: &[&str]) -> Vec<(String, String)> {
    let output = run(folder, &[&["scan", "-f", "ndjson"], arguments].concat());
    let text = String::from_utf8(output.stdout).expect("reports are UTF-8");
    let line = |line: &str| {
        let report: Value = serde_json::from_str(line).expect("each line is a document");
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (word(&report["incident"]), word(&report["verdict"]["cause"]))
    };
    text.lines().map(line).collect()
}

fn names(list: &[(String, String)]) -> Vec<&str> {
    list.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn files_that_belong_together_are_one_incident() {
    let pod = "pods/default_trainer-0_0a1b2c3d-0000-1111-2222-333344445555";
    let folder = files(&[
        ("ci/job-1.log", KILLED),
        ("ci/job-2.log", BUS),
        ("ci/job-3.log", QUIET),
        ("one/dmesg.txt", QUIET),
        ("one/train.log", KILLED),
        (&format!("{pod}/main/0.log"), KILLED),
        (&format!("{pod}/sidecar/0.log"), QUIET),
        ("gha/0_build.txt", KILLED),
        ("gha/build/1_Set up job.txt", QUIET),
        ("gha/build/2_Run.txt", KILLED),
        ("gha/1_lint.txt", QUIET),
    ]);
    let auto = incidents(folder.path(), &["."]);
    let expected = ["ci/job-1.log", "ci/job-2.log", "ci/job-3.log", "gha/build", "gha/1_lint.txt", "one", pod];
    assert_eq!(names(&auto), expected);
    let causes: Vec<&str> = auto.iter().map(|(_, cause)| cause.as_str()).collect();
    assert_eq!(causes[..3], ["oom-suspected", "shm-sigbus", "clean"]);
    assert_eq!(incidents(folder.path(), &["--group", "file", "one", "ci"]).len(), 5);
    assert_eq!(names(&incidents(folder.path(), &["--group", "dir", "ci", "one"])), ["ci", "one"]);
}

#[test]
fn the_order_is_the_same_however_many_work() {
    let list: Vec<(String, &str)> =
        (0..120).map(|n| (format!("{:02}/job-{n:03}.log", n % 7), [KILLED, BUS, QUIET, SEGFAULT][n % 4])).collect();
    let list: Vec<(&str, &str)> = list.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = files(&list);
    let one = run(folder.path(), &["scan", "--jobs", "1", "."]).stdout;
    for workers in ["2", "7", "0"] {
        assert!(run(folder.path(), &["scan", "--jobs", workers, "."]).stdout == one, "{workers}");
    }
    let text = String::from_utf8(one).unwrap();
    assert!(text.contains("120 incidents in 120 inputs") && text.contains("30      SIGKILL OOM"), "{text}");
}

#[test]
fn standard_input_is_one_incident() {
    let mut child = program().args(["scan", "-f", "ndjson", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(KILLED.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["incident"], &report["deaths"][0]["pid"]), (&"-".into(), &8107.into()));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn globs_hidden_files_and_loops() {
    let folder = files(&[("a.log", KILLED), ("b.txt", BUS), (".c.log", BUS), ("old/d.log", BUS), (".git/e.log", BUS)]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("old/loop")).unwrap();
    assert_eq!(names(&incidents(folder.path(), &["."])), ["old/d.log", "a.log", "b.txt"]);
    assert_eq!(names(&incidents(folder.path(), &[".", "--include", "*.log"])), ["old/d.log", "a.log"]);
    assert_eq!(names(&incidents(folder.path(), &[".", "--exclude", "old"])), ["a.log", "b.txt"]);
    assert_eq!(names(&incidents(folder.path(), &[".", "--exclude", "old/*.log"])), ["a.log", "b.txt"]);
    assert!(names(&incidents(folder.path(), &[".", "--hidden"])).contains(&".c.log"));
    assert_eq!(run(folder.path(), &["scan", ".", "--include", "[z"]).status.code(), Some(2));
}

#[test]
fn exit_codes_follow_the_worst() {
    let folder = files(&[("k.log", KILLED), ("b.log", BUS), ("s.log", SEGFAULT), ("q.log", QUIET)]);
    for (paths, code) in [
        (&["k.log", "b.log", "s.log", "q.log"][..], 11),
        (&["s.log", "b.log"], 10),
        (&["s.log", "q.log"], 12),
        (&["q.log"], 0),
        (&["q.log", "missing.log"], 2),
    ] {
        assert_eq!(run(folder.path(), &[&["scan", "--exit-code"], paths].concat()).status.code(), Some(code), "{paths:?}");
    }
    assert_eq!(run(folder.path(), &["scan", "k.log"]).status.code(), Some(0));
    assert_eq!(run(folder.path(), &["scan"]).status.code(), Some(2));
    fs::create_dir(folder.path().join("empty")).unwrap();
    assert_eq!(run(folder.path(), &["scan", "empty"]).status.code(), Some(2));
}

#[test]
fn every_format_takes_many_and_odd_names() {
    let folder = files(&[("a\nb\u{1b}[31m.log", KILLED), ("::error::x.log", BUS)]);
    fs::write(folder.path().join("core.bin"), [0_u8, 159, 146, 150, 1, 2, 3, 0, 255].repeat(600)).unwrap();
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::ffi::OsStrExt as _;
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff.log")), SEGFAULT).unwrap();
    }
    for format in Format::ALL {
        let output = run(folder.path(), &["scan", "-f", format.name(), "."]);
        assert_eq!(output.status.code(), Some(0), "{}", format.name());
        let text = String::from_utf8(output.stdout).expect("reports are UTF-8");
        assert!(!text.contains('\u{1b}') && !text.lines().any(|line| line.starts_with("::error::")), "{}: {text}", format.name());
        // A list of issues has no place for a file that is no text.
        let said = if *format == Format::Gitlab { "1 not text: skipped\n" } else { "" };
        assert_eq!(String::from_utf8_lossy(&output.stderr), said, "no bar without a terminal");
    }
}

#[test]
fn several_formats_are_written_in_one_run_or_not_at_all() {
    let folder = files(&[("k.log", KILLED)]);
    for command in [&[][..], &["scan"]] {
        let arguments = [command, &["-f", "human", "-f", "sarif=out.sarif", "-f", "junit=out.xml", "k.log"]].concat();
        let output = run(folder.path(), &arguments);
        assert!(String::from_utf8_lossy(&output.stdout).contains("SIGKILL OOM"));
        let sarif: Value = serde_json::from_slice(&fs::read(folder.path().join("out.sarif")).unwrap()).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "oom-suspected");
        assert!(fs::read_to_string(folder.path().join("out.xml")).unwrap().contains("failures=\"1\""));
        fs::remove_file(folder.path().join("out.xml")).unwrap();
    }
    for wrong in
        [&["-f", "json", "-f", "brief"][..], &["-f", "json=a", "-f", "brief=a"], &["-f", "json=a", "-o", "b"], &["-f", "json="]]
    {
        assert_eq!(run(folder.path(), &[wrong, &["k.log"]].concat()).status.code(), Some(2), "{wrong:?}");
    }
    fs::write(folder.path().join("kept"), "before").unwrap();
    let left = fs::read_dir(folder.path()).unwrap().count();
    if Path::new("/dev/full").exists() {
        assert_eq!(run(folder.path(), &["-f", "json=kept", "-f", "brief=/dev/full", "k.log"]).status.code(), Some(2));
        assert_eq!(run(folder.path(), &["-o", "/dev/full", "k.log"]).status.code(), Some(2));
    }
    assert_eq!(run(folder.path(), &["-o", "no/such/folder", "k.log"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "before", "a report that failed replaces nothing");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), left, "nothing is left behind");
}

#[test]
fn an_interrupted_scan_tells_what_it_knows() {
    let folder = files(&[("0.log", KILLED)]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let formats = ["-f", "human", "-f", "markdown=markdown", "-f", "github=github", "-f", "junit=junit", "-f", "sarif=sarif"];
    let mut command = program();
    command.args(["scan", "0.log", "pipe"]).args(formats).current_dir(folder.path()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Nobody writes to the pipe, so that the second incident never ends.
    thread::sleep(Duration::from_millis(1500));
    interrupt(child.id());
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{text}");
    assert!(text.contains("SIGKILL OOM") && text.contains("stopped before the end"), "{text}");
    for (format, said) in [
        ("markdown", "Stopped before the end"),
        ("github", "::warning title=stopped::"),
        ("junit", "type=\"stopped\""),
        ("sarif", "\"executionSuccessful\":false"),
    ] {
        let text = fs::read_to_string(folder.path().join(format)).unwrap();
        assert!(text.contains("oom-suspected") && text.contains(said), "{format}: {text}");
    }
}

fn interrupt(pid: u32) {
    let sent = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn a_death_is_told_while_the_log_grows() {
    let folder = files(&[("train.log", QUIET)]);
    let path = folder.path().join("train.log");
    let mut child = program()
        .args(["--follow", "train.log", "-f", "brief"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut until = |words: &str| {
        let line = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(words)));
        assert!(line.is_some(), "{words} is not told");
    };
    let append = |text: &str| fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    append(KILLED);
    until("pid=8107");
    let begun = Instant::now();
    append(&KILLED.replace("8107", "8108"));
    until("pid=8108");
    // The promise is 200 ms; a machine under test may be busy.
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    fs::rename(&path, folder.path().join("train.log.1")).unwrap();
    fs::write(&path, BUS).unwrap();
    until("pid=814");
    until("train.log:1 ");
    interrupt(child.id());
    until("total 3 inputs=1 ");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_that_cannot_be_followed_yet_or_ever_is_told() {
    let folder = files(&[]);
    fs::write(folder.path().join("x.gz"), b"\x1f\x8b\x08\0\0\0\0\0").unwrap();
    for (path, why) in [("x.gz", "x.gz: not text"), (".", ".: is a directory")] {
        let output = run(folder.path(), &["--follow", path]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
    let mut command = program();
    command.args(["--follow", "typo.log"]).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let said = BufReader::new(child.stderr.take().unwrap()).lines().next();
    assert_eq!(said.unwrap().unwrap(), "typo.log does not exist yet: waiting for it");
    interrupt(child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_could_not_be_read_or_has_nothing_in_it_is_named_in_every_format() {
    let folder = files(&[("ok.log", QUIET), ("empty.log", "")]);
    fs::write(folder.path().join("core.bin"), [0_u8, 159, 146, 150, 1, 2, 3, 0, 255].repeat(600)).unwrap();
    fs::create_dir(folder.path().join("bare")).unwrap();
    for command in [&["scan"][..], &[]] {
        for format in Format::ALL {
            let output =
                run(folder.path(), &[command, &["-f", format.name(), "gone.log", "bare", "core.bin", "ok.log"]].concat());
            assert_eq!(output.status.code(), Some(2), "{}", format.name());
            let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
            for words in ["gone.log", "no such file or directory", "bare", "a folder without files", "not text"] {
                let words = if *format == Format::Junit && words == "not text" { "skipped" } else { words };
                assert!(text.contains(words), "{command:?} {} does not say {words}: {text}", format.name());
            }
        }
        for nothing in [&["empty.log"][..], &["core.bin"], &["bare"], &["empty.log", "core.bin"]] {
            let output = run(folder.path(), &[command, &["-f", "brief"], nothing].concat());
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.code() == Some(2) && !text.contains("clean"), "{command:?} {nothing:?}: {text}");
        }
    }
    let junit = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["scan", "-f", "junit"], arguments].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().nth(1).unwrap_or_default().to_owned()
    };
    assert!(junit(&["gone.log", "ok.log"]).contains("tests=\"2\" skipped=\"0\" failures=\"0\" errors=\"1\""));
    assert!(junit(&["core.bin", "ok.log"]).contains("tests=\"2\" skipped=\"1\" failures=\"0\" errors=\"0\""));
    let summary = run(folder.path(), &["scan", "."]);
    let text = String::from_utf8_lossy(&summary.stdout);
    assert!(text.contains("3 incidents in 3 inputs\n  1       nothing died\n  2       nothing to read\n"), "{text}");
}

#[test]
fn devices_end() {
    for device in ["/dev/zero", "/dev/urandom", "/dev/null"] {
        if Path::new(device).exists() {
            let output = run(Path::new("/"), &["-f", "json", device]);
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["verdict"]["class"], "none", "{device}");
            assert!(!report["notes"].as_array().unwrap().is_empty(), "{device}");
        }
    }
}

/// A log in which the death stands among other lines, and what its page says of them.
const LOADED: &str = "loading the data\nepoch 0\nRuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";

#[test]
fn a_page_has_the_lines_around_the_evidence_wherever_the_log_came_from() {
    let folder = files(&[("a/one.log", LOADED), ("b/two.log", &LOADED.replace("8107", "8108"))]);
    let pack = |name: &str| {
        let mut tar = tar::Builder::new(fs::File::create(folder.path().join(name)).unwrap());
        tar.append_dir_all("a", folder.path().join("a")).unwrap();
        tar.append_dir_all("b", folder.path().join("b")).unwrap();
        tar.finish().unwrap();
    };
    pack("logs.tar");
    let shown = |page: &[u8]| String::from_utf8_lossy(page).matches("loading the data").count();
    let path = |name: &str| fs::File::open(folder.path().join(name)).unwrap();
    assert_eq!(shown(&run(folder.path(), &["scan", "a", "b", "-f", "html"]).stdout), 2);
    assert_eq!(shown(&run(folder.path(), &["scan", "logs.tar", "-f", "html"]).stdout), 2);
    assert_eq!(shown(&run(folder.path(), &["a", "-f", "html"]).stdout), 1);
    let pipe = |arguments: &[&str], name: &str| {
        let mut child =
            program().args(arguments).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::copy(&mut path(name), &mut child.stdin.take().unwrap()).unwrap();
        child.wait_with_output().unwrap().stdout
    };
    assert_eq!(shown(&pipe(&["-f", "html"], "a/one.log")), 1);
    assert_eq!(shown(&pipe(&["-f", "html"], "logs.tar")), 2);
    assert_eq!(pipe(&["--tee", "-f", "html=page.html"], "a/one.log"), LOADED.as_bytes());
    assert_eq!(shown(&fs::read(folder.path().join("page.html")).unwrap()), 1);
}

#[test]
fn a_list_quotes_no_part_of_a_number() {
    let pid = 1_234_567_u64;
    let pads = (0..70).map(|n| {
        let line = format!(
            "[  100.000000] Memory cgroup out of memory: Killed process {pid} ({}) total-vm:{pid}kB, anon-rss:{pid}kB, file-rss:0kB, \
             shmem-rss:0kB, UID:0 pgtables:2392kB oom_score_adj:0\n",
            "p".repeat(n % 15 + 1)
        );
        (format!("{}/{}.log", n, "d".repeat(n)), line)
    });
    let list: Vec<(String, String)> = pads.collect();
    let list: Vec<(&str, &str)> = list.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = files(&list);
    for format in ["human", "brief", "markdown", "html"] {
        let text = String::from_utf8(run(folder.path(), &["scan", ".", "-f", format]).stdout).unwrap();
        assert!(text.contains("Killed process"), "{text}");
        for number in text.split(|c: char| !c.is_ascii_digit()).filter(|word| word.len() > 2 && word.starts_with("123")) {
            assert_eq!(number, "1234567", "{text}");
        }
    }
}
