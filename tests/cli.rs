//! The real program from outside: inputs good and bad, exit codes, colours, a closed pipe, hostile text.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

const BUS: &str = "RuntimeError: DataLoader worker (pid 814) is killed by signal: Bus error. It is possible that \
                   dataloader's workers are out of shared memory. Please try to raise your shared memory limit.\n";
const KILLED: &str = "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n";
const SEGFAULT: &str = "RuntimeError: DataLoader worker (pid 12156) is killed by signal: Segmentation fault. \n";
const QUIET: &str = "epoch 0 [   0/60]  loss 2.4806     37.8 samples/s\n";

/// What the surrounding shell may have set to change the output.
const SCRUBBED: [&str; 9] =
    ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS", "TERM", "LANG", "LC_ALL", "RUST_BACKTRACE"];

/// The program, without the settings of this shell.
fn coroner(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coroner"));
    for name in SCRUBBED {
        command.env_remove(name);
    }
    command.args(arguments).timeout(Duration::from_secs(60));
    command
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder can be made");
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("there is room for a small file");
    }
    folder
}

/// Runs the program in a folder.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    coroner(arguments).current_dir(folder).output().expect("the program starts")
}

/// The JSON report on bytes from standard input.
fn report_on(bytes: &[u8]) -> Value {
    let output = coroner(&["--format", "json"]).write_stdin(bytes).output().expect("the program starts");
    survived(&output);
    json(&output)
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}, {}", String::from_utf8_lossy(&output.stderr)))
}

/// It ended by itself, with a code of the contract, and did not panic.
fn survived(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)) && !said.contains("panicked"), "{}: {said}", output.status);
}

fn class(report: &Value) -> &str {
    report["verdict"]["class"].as_str().expect("a verdict has a class")
}

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

#[test]
fn a_death_has_the_time_of_its_end_and_not_of_the_first_request() {
    let case = "fixtures/unknown/docker26-docker-stop-timeout";
    let output = run(Path::new("."), &["--format", "json", &format!("{case}/events.jsonl"), &format!("{case}/inspect.json")]);
    let report = json(&output);
    assert_eq!(report["deaths"][0]["signal"], "SIGKILL");
    assert_eq!(report["deaths"][0]["time"], "2026-12-01T06:59:32.796948279Z");
}

#[test]
fn a_limit_that_the_kernel_leaves_out_is_the_containers() {
    let id = "6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad1234";
    let scope = format!("/system.slice/docker-{id}.scope");
    let kernel = format!(
        "[Mon Nov 30 06:36:52 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=x,mems_allowed=0,oom_memcg={scope},\
         task_memcg={scope},task=pt_data_worker,pid=13585,uid=0\n[Mon Nov 30 06:36:52 2026] Memory cgroup out of memory: Killed process 13585 \
         (pt_data_worker) total-vm:5000000kB, anon-rss:919600kB, file-rss:1000kB, shmem-rss:20000kB, UID:0 pgtables:2392kB \
         oom_score_adj:0\n"
    );
    let inspect = |memory: u64| {
        format!(
            r#"[{{"Id":"{id}","Created":"2026-11-30T06:36:40Z","Name":"/trainer","State":{{"Status":"exited","OOMKilled":true,"ExitCode":1,"StartedAt":"2026-11-30T06:36:41Z","FinishedAt":"2026-11-30T06:36:54Z"}},"HostConfig":{{"Memory":{memory},"ShmSize":67108864,"IpcMode":"private"}},"Config":{{"Image":"my/img:1"}}}}]"#
        )
    };
    for (memory, limit) in [(1_572_864_000, Value::from(1_572_864_000)), (0, Value::Null)] {
        let folder = folder(&[("dmesg.txt", kernel.as_bytes()), ("inspect.json", inspect(memory).as_bytes())]);
        let report = json(&run(folder.path(), &["--format", "json", "."]));
        let picture = &report["deaths"][0]["memory"];
        assert_eq!((&picture["limit"], &picture["anon"]), (&limit, &Value::Null), "{report:#}");
        assert!(picture["tasks"].to_string().contains("pt_data_worker"), "{picture}");
    }
}

#[test]
fn a_volume_of_which_only_the_name_is_known_is_not_said_to_be_a_disk_for_sure() {
    let event = "LAST SEEN   TYPE      REASON    OBJECT        MESSAGE\n\
                 3m12s       Warning   Evicted   pod/train-0   Usage of EmptyDir volume \"scratch\" exceeds the limit \"12Gi\".\n";
    let report = report_on(event.as_bytes());
    assert_eq!(report["verdict"]["grade"], "suspected");
    assert!(report["deaths"][0]["lacking"].to_string().contains("kubectl get pod train-0 -o yaml"), "{report:#}");
}

#[test]
fn a_message_that_a_terminal_broke_is_read_to_its_end() {
    for message in [
        "RuntimeError: unable to write to file \n</torch_18832_2517339012_14>: No space left on \ndevice (28)\n",
        "RuntimeError: unable to allocate shared memory(shm) for file \n</torch_18832_2517339012_14>: No space left on \ndevice (28)\n",
        "OSError: [Errno 28] No space left on device: \n'/psm_1a2b3c4d'\n",
        "OSError: [Errno 28] No space left on \ndevice: '/dev/shm/joblib_memmapping_folder_1/x.pkl'\n",
    ] {
        let text = format!("Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\n{message}");
        let report = report_on(text.as_bytes());
        assert_eq!(report["verdict"]["cause"], "shm-enospc", "{message}");
        assert_eq!(report["deaths"].as_array().map(Vec::len), Some(1), "{message}");
    }
}

#[test]
fn what_only_the_machine_tells_is_not_sure_to_be_of_a_log_that_ended_well() {
    let finished: &[u8] = b"2024-11-02 18:02:10 step 5\n2024-11-02 18:02:11 Training finished successfully.\n";
    for line in [
        "[Sat Nov  2 10:02:12 2024] Out of memory: Killed process 3312 (python) total-vm:12112004kB, anon-rss:2110044kB, \
         file-rss:0kB, shmem-rss:88112kB, UID:1000 pgtables:12044kB oom_score_adj:300\n",
        "[Sat Nov  2 10:02:12 2024] amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n",
    ] {
        let folder = folder(&[("dmesg.txt", line.as_bytes()), ("train.log", finished)]);
        let report = json(&run(folder.path(), &["--format", "json", "."]));
        assert_eq!(report["verdict"]["grade"], "suspected", "{line}");
    }
}

#[test]
fn a_counter_at_zero_speaks_against_memory_only_after_the_death() {
    let (killed, zero) = ("epoch 1\nKilled\n", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n");
    let after = report_on(format!("{killed}+ cat /sys/fs/cgroup/memory.events\n{zero}").as_bytes());
    assert_eq!((&after["verdict"]["cause"], &after["verdict"]["grade"]), (&"sigkill-unexplained".into(), &"suspected".into()));
    let before = report_on(format!("+ cat /sys/fs/cgroup/memory.events\n{zero}{killed}").as_bytes());
    assert_eq!(before["verdict"]["cause"], "oom-suspected");
}

/// The report for people on files that are named with a long path.
fn screen(files: &[(&str, &[u8])]) -> String {
    let folder = folder(files);
    let root = folder.path().join("a folder with a long name/and another one in it");
    fs::create_dir_all(&root).expect("there is room for a folder");
    for (name, _) in files {
        fs::rename(folder.path().join(name), root.join(name)).expect("both lie in one folder");
    }
    String::from_utf8(run(Path::new("."), &[&*root.to_string_lossy()]).stdout).expect("reports are UTF-8")
}

#[test]
fn a_size_that_cannot_be_worked_out_takes_two_lines() {
    let hint = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n";
    let killed = "RuntimeError: DataLoader worker (pid 301) is killed by signal: Bus error. It is possible that dataloader's \
                  workers are out of shared memory. Please try to raise your shared memory limit.\n";
    let gone = "RuntimeError: DataLoader worker (pid(s) 301) exited unexpectedly\n";
    let log = format!("batch size 256, 16 workers, prefetch factor 2\n{hint}{killed}\n{gone}");
    let text = screen(&[("train.log", log.as_bytes()), ("notes.txt", b"nothing here\n")]);
    // No folder stands before each place, and what is lacking for the size is said with what to type.
    assert!(!text.contains("and another one"), "{text}");
    assert!(text.contains("workers 16 (train.log:1), prefetch 2 (train.log:1), batch size 256 (train.log:1)"), "{text}");
    assert!(text.contains("unknown   batch bytes   coroner size --from LOG --batch-bytes SIZE"), "{text}");
}

#[test]
fn other_deaths_tell_who_died_and_do_not_fill_the_screen() {
    let lines: String = (0..20)
        .map(|n| {
            let pid = 5100 + n;
            format!(
                "[  {}.000000] burst_{n}[{pid}]: segfault at 10 ip 000055e81bc213c0 sp 00007ffedbb6ca00 error 6 in hog[13c0,55e81bc21000+1000]\n",
                100 + n
            )
        })
        .collect();
    let text = screen(&[("dmesg.txt", lines.as_bytes())]);
    let (_, others) = text.split_once("other deaths\n").unwrap_or_else(|| panic!("{text}"));
    let others: Vec<&str> = others.lines().collect();
    assert_eq!(others.len(), 7, "{text}");
    assert!(others[..6].iter().all(|line| line.contains("(pid 51")), "{text}");
    assert_eq!(others[6], "  and 13 more; --format json has them all", "{text}");
}
