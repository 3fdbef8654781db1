//! The real program from outside: inputs good and bad, exit codes, colours, a closed pipe, hostile text.

mod judged;
mod output;
mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use support::*;

#[test]
fn standard_input_is_read_when_it_is_piped_or_named() {
    for arguments in [&["--format", "json"][..], &["--format", "json", "-"], &["-f", "json", "--", "-"]] {
        let output = coroner(arguments).write_stdin(BUS).assert().code(0).get_output().clone();
        let report = json(&output);
        assert_eq!((class(&report), report["schema"].as_str()), ("shm-exhaustion", Some("coroner.report/1")));
        assert_eq!(report["deaths"][0]["pid"], 814);
    }
}

#[test]
fn files_and_folders_are_one_incident() {
    let folder = folder(&[("quiet.log", QUIET.as_bytes()), ("train.log", BUS.as_bytes())]);
    for paths in [&["train.log"][..], &["quiet.log", "train.log"], &["."]] {
        let report = json(&run(folder.path(), &[&["--format", "json"], paths].concat()));
        assert_eq!(class(&report), "shm-exhaustion", "{paths:?}");
        let names: Vec<&str> =
            report["inputs"].as_array().into_iter().flatten().filter_map(|input| input["name"].as_str()).collect();
        assert!(names.iter().any(|name| name.ends_with("train.log")), "{names:?}");
    }
}

#[test]
fn a_lost_input_does_not_hide_the_others() {
    let folder = folder(&[("train.log", BUS.as_bytes()), ("secret.log", b"x\n")]);
    symlink("loop", folder.path().join("loop")).expect("links can be made");
    for lost in ["missing.log", "loop", "train.log/below"] {
        let output = run(folder.path(), &["--format", "json", lost, "train.log"]);
        assert_eq!(output.status.code(), Some(2), "{lost}");
        let report = json(&output);
        assert_eq!(class(&report), "shm-exhaustion", "{lost}");
        assert_eq!(report["notes"][0]["input"], lost);
        let human = run(folder.path(), &[lost, "train.log"]);
        assert!(String::from_utf8_lossy(&human.stdout).contains(lost), "the human report names {lost}");
    }
    let secret = folder.path().join("secret.log");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("the owner may");
    if fs::read(&secret).is_err() {
        assert_eq!(run(folder.path(), &["secret.log", "train.log"]).status.code(), Some(2));
    }
}

#[test]
fn nothing_to_read_is_told() {
    let folder = folder(&[("empty.log", b"")]);
    fs::create_dir(folder.path().join("nothing")).expect("there is room for a folder");
    assert_eq!(run(folder.path(), &["nothing"]).status.code(), Some(2));
    for arguments in [&["--format", "json", "empty.log"], &["--format", "json", "/bin/true"]] {
        let output = run(folder.path(), arguments);
        survived(&output);
        let report = json(&output);
        assert_eq!(class(&report), "none");
        assert!(report["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{arguments:?} is worth a note");
    }
}

#[test]
fn odd_line_ends_and_bytes_are_read() {
    let inputs: [(&str, Vec<u8>); 6] = [
        ("CRLF", KILLED.replace('\n', "\r\n").into_bytes()),
        ("old Mac line ends", format!("{QUIET}{KILLED}").replace('\n', "\r").into_bytes()),
        ("no end of line", KILLED.trim_end().as_bytes().to_vec()),
        ("NUL before the line", [b"\0\0\0", KILLED.as_bytes()].concat()),
        ("invalid UTF-8 around it", [b"\x80 loss \xff\n\xc3(\n", KILLED.as_bytes(), b"\xf0\x28\x8c\x28"].concat()),
        ("byte order mark", [b"\xef\xbb\xbf", KILLED.as_bytes()].concat()),
    ];
    for (what, bytes) in inputs {
        let report = report_on(&bytes);
        assert_eq!((class(&report), &report["deaths"][0]["pid"]), ("oom-kill", &8107.into()), "{what}");
    }
}

#[test]
fn megabytes_of_progress_do_not_hide_the_last_line() {
    let bar = "\rEpoch 3:  41%|####1     | 812/1980 [05:11<07:28,  2.60it/s, loss=0.412]";
    let report = report_on(format!("{}\n{KILLED}", bar.repeat(5_000_000 / bar.len())).as_bytes());
    assert_eq!((class(&report), &report["deaths"][0]["pid"]), ("oom-kill", &8107.into()));
}

#[test]
fn broken_and_deep_documents_are_survived() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: x\nstatus:\n\t- [broken\n";
    let inputs: [(&str, Vec<u8>); 8] = [
        ("inspect.json", br#"[{"Id": "abc", "State": {"OOMKilled": tru"#.to_vec()),
        ("pod.yaml", pod.as_bytes().to_vec()),
        ("arrays.json", b"[".repeat(200_000)),
        ("objects.json", br#"{"State":"#.repeat(100_000)),
        ("deep.yaml", [b"kind: Pod\na: ".to_vec(), b"{a: ".repeat(100_000)].concat()),
        ("dashes.yaml", [b"kind: Pod\n".to_vec(), b"- ".repeat(100_000)].concat()),
        ("aliases.yaml", b"kind: Pod\na: &a [x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n".to_vec()),
        ("numbers.json", br#"[{"State": {"ExitCode": 1e999, "Pid": -99999999999999999999}}]"#.to_vec()),
    ];
    for (name, bytes) in inputs {
        let folder = folder(&[(name, &bytes), ("train.log", KILLED.as_bytes())]);
        let output = run(folder.path(), &["--format", "json", name, "train.log"]);
        survived(&output);
        assert_eq!(class(&json(&output)), "oom-kill", "{name} hides the other input");
    }
}

#[test]
fn options_may_stand_before_scan() {
    let folder = folder(&[("dl.log", KILLED.as_bytes())]);
    assert_eq!(run(folder.path(), &["--exit-code", "scan", "dl.log"]).status.code(), Some(11));
    let output = run(folder.path(), &["-f", "json", "--platform", "slurm", "scan", "dl.log"]);
    let report = json(&output);
    assert_eq!((report["schema"].as_str(), &report["summary"]["incidents"]), (Some("coroner.scan/1"), &1.into()));
    for wrong in [
        &["--follow", "dl.log", "scan", "dl.log"][..],
        &["--tee", "scan", "dl.log"],
        &["dl.log", "-f", "brief", "scan", "dl.log"],
        &["-f", "json", "size", "--workers", "8"],
        &["--exit-code", "explain"],
        &["-o", "a", "scan", "-o", "b", "dl.log"],
    ] {
        let output = run(folder.path(), wrong);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.starts_with("error: "), "{wrong:?}: {said}");
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_coroner"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let mut input = child.stdin.take().expect("it was piped");
    input.write_all(BUS.repeat(100).as_bytes()).expect("the program reads all of its input");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn colour_follows_the_option_and_the_terminal() {
    let colored = |arguments: &[&str], set: &[(&str, &str)]| {
        let output = coroner(arguments).envs(set.iter().copied()).write_stdin(BUS).output().expect("the program starts");
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&[], &[]), "a pipe is no terminal");
    assert!(!colored(&["--color", "auto"], &[("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colored(&["--color", "always"], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]), "what is said here and now counts more");
    assert!(!colored(&["--color", "always", "--format", "json"], &[]), "JSON has no colour");
}

#[test]
fn the_exit_code_tells_the_class_when_asked() {
    for (input, code) in [(BUS, 10), (KILLED, 11), (SEGFAULT, 12), (QUIET, 0)] {
        coroner(&["--exit-code"]).write_stdin(input).assert().code(code);
        coroner(&[]).write_stdin(input).assert().code(0);
    }
    let folder = folder(&[("train.log", BUS.as_bytes())]);
    assert_eq!(run(folder.path(), &["--exit-code", "train.log", "missing.log"]).status.code(), Some(2));
}

#[test]
fn usage_is_explained() {
    coroner(&["--format", "poem"]).write_stdin(BUS).assert().code(2);
    coroner(&["--no-such-option"]).write_stdin(BUS).assert().code(2);
    coroner(&["--help"]).assert().code(0);
    let version = coroner(&["--version"]).assert().code(0).get_output().clone();
    assert_eq!(String::from_utf8_lossy(&version.stdout), format!("coroner {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn causes_are_explained() {
    let list = coroner(&["explain"]).assert().code(0).get_output().clone();
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    for cause in coroner::verdict::Cause::ALL {
        assert!(list.contains(cause.slug()), "{} is not in the list", cause.slug());
        let page = coroner(&["explain", cause.slug()]).assert().code(0).get_output().clone();
        assert!(page.stdout.len() > 200, "{} has a page", cause.slug());
    }
    let output = coroner(&["explain", "oom-cgruop"]).assert().code(2).get_output().clone();
    assert!(String::from_utf8_lossy(&output.stderr).contains("oom-cgroup"), "the cause that was meant is named");
}

#[test]
fn quoted_text_cannot_command_the_terminal() {
    let evil = "a\u{7}b\u{9b}31mc\u{202e}d\u{8}e\u{1b}]0;title\u{7}f\u{1b}[2J";
    let oom = format!(
        "[   12.500000] Memory cgroup out of memory: Killed process 4242 ({evil}) total-vm:9kB, anon-rss:8kB, file-rss:0kB, \
         shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0\n"
    );
    let lines = format!("{evil}\n{oom}{evil}\n");
    let name = std::ffi::OsStr::from_bytes(b"e\x1b[31mvil\xff.log");
    let folder = TempDir::new().expect("a temporary folder can be made");
    fs::write(folder.path().join(name), &lines).expect("there is room for a small file");
    for format in ["human", "brief"] {
        let mut command = coroner(&["--format", format]);
        let output = command.current_dir(folder.path()).arg(name).output().expect("the program starts");
        survived(&output);
        let text = String::from_utf8(output.stdout).expect("reports are UTF-8");
        assert!(text.contains("4242"), "the line was read: {text}");
        let hostile = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
        assert!(!text.contains(hostile), "{format}: {}", text.escape_debug());
    }
}

/// The program with pipes at both ends.
fn brief() -> std::process::Child {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_coroner"));
    let piped = command.args(["--format", "brief"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    piped.spawn().expect("the program starts")
}

#[test]
fn an_open_pipe_tells_of_a_death_at_once_and_of_nothing_twice() {
    let mut child = brief();
    let (mut input, output) = (child.stdin.take().expect("it was piped"), child.stdout.take().expect("it was piped"));
    input.write_all(KILLED.as_bytes()).expect("the program reads");
    // The pipe is open still: without an early report this line would never come.
    let mut output = BufReader::new(output);
    let mut first = String::new();
    output.read_line(&mut first).expect("the program writes UTF-8");
    assert!(first.starts_with("oom-kill oom-suspected suspected SIGKILL pid=8107"), "{first}");
    input.write_all(QUIET.as_bytes()).expect("the program reads");
    drop(input);
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("the program writes UTF-8");
    assert!(!rest.contains("oom-suspected"), "{rest}");
    assert!(child.wait().expect("the program ends").success());
}

#[test]
fn an_archive_may_come_in_any_pieces() {
    let mut child = brief();
    let mut input = child.stdin.take().expect("it was piped");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(KILLED.as_bytes()).expect("memory can be written to");
    let packed = packer.finish().expect("memory can be written to");
    input.write_all(&packed[..1]).expect("the program reads");
    std::thread::sleep(Duration::from_millis(300));
    input.write_all(&packed[1..]).expect("the program reads");
    drop(input);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.stdout.starts_with(b"oom-kill oom-suspected"), "{}", String::from_utf8_lossy(&output.stdout));
}
