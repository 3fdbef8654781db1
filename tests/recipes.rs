//! The recipes under `packaging/` are run: their shell, with the real program, and with stand-ins for the commands of the platform
//! that print what such a command printed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A training whose worker the kernel killed, and the kernel's log of that time.
const LOG: &str = "fixtures/oom-kill/torch-oom-anon-215/stdout.log";
const KERNEL: &str = "fixtures/oom-kill/torch-oom-anon-215/dmesg.txt";
/// A training that ended well.
const CLEAN: &str = "fixtures/none/torch-clean-215/stdout.log";

/// What `kubectl get` and `kubectl logs` print of a pod; its log has the form of CRI, which kubectl takes off.
const KUBECTL: &str = r#"case "$*" in
"get pod trainer-0 -n training -o json") cat "$ROOT/fixtures/oom-kill/cri-partial-line-oomkilled-exit-1/pod.json" ;;
"logs trainer-0 -n training --previous "*)
    sed 's|^[^ ]* [^ ]* [FP] |[pod/trainer-0/trainer] |' "$ROOT/fixtures/oom-kill/cri-partial-line-oomkilled-exit-1/0.log" ;;
"get events -n training --field-selector involvedObject.name=trainer-0 -o json")
    echo '{"apiVersion": "v1", "items": [], "kind": "List", "metadata": {"resourceVersion": ""}}' ;;
*) echo "unexpected: kubectl $*" >&2; exit 1 ;;
esac"#;

/// A record as `scontrol show job` prints it, for a job of which only the exit code is still open.
const SCONTROL: &str = r#"[ "$*" = "show job 4711" ] || exit 1
cat <<END
JobId=4711 JobName=train
   UserId=ada(1000) GroupId=ml(1000) MCS_label=N/A
   JobState=COMPLETING Reason=OutOfMemory Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=$CODE
   StartTime=2026-12-01T07:21:38 EndTime=2026-12-01T07:21:40 Deadline=N/A
   NodeList=labvm
   StdErr=$PWD/train.log
   StdOut=$PWD/train.log
END"#;

/// A folder to work in, and the commands on its path.
struct Place {
    folder: TempDir,
}

impl Place {
    /// A place with `coroner`, a copy of a log as `train.log`, and these commands.
    fn new(log: &str, commands: &[(&str, &str)]) -> Self {
        let place = Self { folder: TempDir::new().expect("a temporary folder can be made") };
        fs::create_dir(place.path("bin")).expect("the folder is new");
        symlink(env!("CARGO_BIN_EXE_coroner"), place.path("bin/coroner")).expect("the folder is new");
        fs::copy(Path::new(ROOT).join(log), place.path("train.log")).expect("the log is a fixture");
        for (name, script) in commands {
            place.script(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn script(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("there is room for a script");
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }

    /// Runs a command in the folder, with its commands before those of this machine.
    fn run(&self, words: &[&str], settings: &[(&str, &str)]) -> Output {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").expect("tests have a path"));
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.folder.path()).env("PATH", path).env("ROOT", ROOT);
        command.envs(settings.iter().copied()).output().unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    /// The same, which must end with 0; what it printed.
    fn say(&self, words: &[&str], settings: &[(&str, &str)]) -> String {
        let output = self.run(words, settings);
        assert!(output.status.success(), "{words:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("reports are UTF-8")
    }
}

fn packaged(name: &str) -> PathBuf {
    Path::new(ROOT).join("packaging").join(name)
}

fn yaml(name: &str) -> Value {
    let text = fs::read_to_string(packaged(name)).expect("the recipe is there");
    serde_saphyr::from_str(&text).expect("the recipe is YAML")
}

/// A stand-in for the training: it prints the log, and fails.
fn training() -> (&'static str, String) {
    ("python", format!("cat '{ROOT}/{LOG}'; exit 1"))
}

/// A stand-in for `dmesg`.
fn dmesg() -> (&'static str, String) {
    ("dmesg", format!("cat '{ROOT}/{KERNEL}'"))
}

/// The kernel's log as `journalctl -k -o short-iso-precise` prints it.
fn journal() -> (&'static str, String) {
    ("journalctl", format!("sed 's/^[^]]*\\] /2026-12-01T07:21:39.000000+0000 labvm kernel: /' '{ROOT}/{KERNEL}'"))
}

#[test]
fn github_actions() {
    let ((python, train), (dmesg, kernel)) = (training(), dmesg());
    let place = Place::new(CLEAN, &[(python, &train), (dmesg, &kernel), ("sudo", "shift; exec \"$@\"")]);
    let recipe = yaml("github-actions/train.yml");
    let steps = recipe["jobs"]["train"]["steps"].as_array().unwrap();
    let bash = |step: &Value| {
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()].map(String::from)
    };
    let train = bash(&steps[0]);
    assert!(!place.run(&train.each_ref().map(String::as_str), &[]).status.success(), "a training that fails must fail its step");
    assert_eq!(steps[1]["if"], "failure()");
    let why = bash(&steps[1]);
    let said = place.say(&why.each_ref().map(String::as_str), &[("GITHUB_STEP_SUMMARY", "summary.md")]);
    assert!(said.lines().any(|line| line.starts_with("::error ") && line.contains("file=dmesg.txt")), "{said}");
    let summary = place.read("summary.md");
    assert!(summary.contains("SIGKILL OOM") && summary.contains("proven"), "{summary}");
}

#[test]
fn gitlab() {
    let recipe = yaml("gitlab/train.gitlab-ci.yml");
    let job = &recipe["train"];
    let lines = |key: &str| job[key].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n");
    let report = job["artifacts"]["reports"]["codequality"].as_str().unwrap();
    let (python, train) = training();
    let place = Place::new(CLEAN, &[(python, &train)]);
    assert!(!place.run(&["bash", "-e", "-c", &lines("script")], &[]).status.success(), "a training that fails must fail its job");
    let said = place.say(&["bash", "-e", "-c", &lines("after_script")], &[]);
    assert!(said.starts_with("SIGKILL OOM"), "{said}");
    let findings: Value = serde_json::from_str(&place.read(report)).unwrap();
    assert_eq!(findings[0]["check_name"], "oom-suspected", "{findings}");

    let place = Place::new(CLEAN, &[]);
    assert!(place.say(&["bash", "-e", "-c", &lines("after_script")], &[]).contains("clean"));
    assert_eq!(serde_json::from_str::<Value>(&place.read(report)).unwrap(), serde_json::json!([]));
}

#[test]
fn jenkins() {
    let recipe = fs::read_to_string(packaged("jenkins/Jenkinsfile")).unwrap();
    let scripts: Vec<&str> = recipe.split("sh '''").skip(1).map(|rest| rest.split("'''").next().unwrap()).collect();
    let (python, train) = training();
    let place = Place::new(CLEAN, &[(python, &train)]);
    // A script that begins with `#!` is run as it is.
    place.script("train.sh", scripts[0]);
    place.script("why.sh", scripts[1]);
    assert!(!place.run(&["./train.sh"], &[]).status.success(), "a training that fails must fail its stage");
    assert!(place.say(&["./why.sh"], &[]).starts_with("SIGKILL OOM"));
    assert!(recipe.contains("junit testResults: 'why.xml'"));
    let report = place.read("why.xml");
    assert!(report.contains("<failure") && report.contains("oom-suspected"), "{report}");
}

#[test]
fn slurm_epilog() {
    let (journalctl, kernel) = journal();
    let commands = [("scontrol", SCONTROL), (journalctl, &kernel), ("runuser", "shift 3; exec \"$@\"")];
    let place = Place::new(LOG, &commands);
    let epilog = packaged("slurm/epilog.sh");
    let end = |job: &str, code: &str| {
        let settings = [("SLURM_JOB_ID", job), ("SLURM_JOB_USER", "ada"), ("CODE", code), ("CORONER_REPORTS", "reports")];
        assert_eq!(place.say(&[epilog.to_str().unwrap()], &settings), "");
        fs::read_dir(place.path("reports")).map_or(0, Iterator::count)
    };
    assert_eq!(end("4711", "0:0"), 0, "a job that ended well needs no report");
    assert_eq!(end("4712", "1:0"), 0, "without a record there is nothing to read, and the node must not be drained");
    assert_eq!(end("4711", "1:0"), 1);
    let report = fs::read_dir(place.path("reports")).unwrap().next().unwrap().unwrap();
    assert!(report.file_name().to_string_lossy().starts_with("4711-"));
    let report = fs::read_to_string(report.path()).unwrap();
    assert!(report.starts_with("SIGKILL OOM   oom-cgroup, proven") && report.contains("joined by the same pid"), "{report}");
}

#[test]
fn kubectl_logs_previous() {
    let place = Place::new(CLEAN, &[("kubectl", KUBECTL)]);
    let why = packaged("kubectl/why.sh");
    let words = [why.to_str().unwrap(), "trainer-0", "-n", "training"];
    let report: Value = serde_json::from_str(&place.say(&words, &[("CORONER_ARGUMENTS", "--format json")])).unwrap();
    assert_eq!(report["verdict"]["cause"], "oom-cgroup", "{report}");
    let inputs: Vec<_> = report["inputs"].as_array().unwrap().iter().map(|input| input["name"].as_str().unwrap()).collect();
    assert_eq!(inputs, ["events.json", "pod.json", "trainer-0.log"]);
    assert_eq!(place.run(&words[..1], &[]).status.code(), Some(2), "no pod is named");
}

#[test]
fn journalctl_kernel() {
    let (journalctl, kernel) = journal();
    let place = Place::new(LOG, &[(journalctl, &kernel)]);
    let why = packaged("journalctl/why.sh");
    let said = place.say(&[why.to_str().unwrap(), "2 hours ago", "train.log"], &[]);
    assert!(said.starts_with("SIGKILL OOM   oom-cgroup, proven"), "{said}");
}

#[test]
fn cron_over_a_folder() {
    let place = Place::new(CLEAN, &[]);
    let table = fs::read_to_string(packaged("cron/coroner.cron")).unwrap();
    let line = table.lines().find(|line| line.contains(" root ")).unwrap();
    let command = line.split_whitespace().skip(6).collect::<Vec<_>>().join(" ");
    let [folder, state] = ["logs", "last-run"].map(|name| place.path(name).display().to_string());
    let command = command
        .replace("/usr/local/lib/coroner", packaged("cron").to_str().unwrap())
        .replace("/var/log/training", &folder)
        .replace("/var/lib/coroner/last-run", &state);
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, log: &str, when: &str| {
        fs::copy(Path::new(ROOT).join(log), place.path("logs").join(name)).unwrap();
        place.say(&["touch", "-d", when, &format!("{folder}/{name}")], &[]);
    };
    let run = || place.say(&["sh", "-c", &command], &[]);
    write("clean.log", CLEAN, "1 hour ago");
    assert_eq!(run(), "", "nothing died, no mail");
    write("died.log", LOG, "10 minutes ago");
    write("still running.log", LOG, "now");
    place.say(&["touch", "-d", "20 minutes ago", &state], &[]);
    place.say(&["touch", "-d", "11 minutes ago", &format!("{folder}/died.log")], &[]);
    let said = run();
    assert!(said.contains("died.log") && said.contains("SIGKILL OOM"), "{said}");
    assert!(!said.contains("still running.log"), "{said}");
    assert_eq!(run(), "", "each death is told once");
}
