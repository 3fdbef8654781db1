//! Every folder under `fixtures/` is examined by the program and compared with what a careful reader says about it.
//!
//! `CASE=slug` runs one case, `BLESS=1` writes `verdict.txt`. How to add a case stands in `fixtures/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, thread};

use coroner::examine::{Options, examine};
use coroner::input::Source;
use coroner::report::{Format, Style, write};
use coroner::verdict::Cause;
use serde_json::Value;

/// Cases that are not answered as their truth says, with the reason; one that passes now must be taken off the list.
const KNOWN: &[(&str, &str)] = &[
    ("deepspeed-offload-minus9", "the only subprocess that DeepSpeed lists is not taken for the one that died"),
    ("kubelet-log-memory-eviction-own-pod", "the log of the kubelet tells the kill without a signal or a code"),
    ("circleci-memory-limit-4g", "whose limit CircleCI's sentence means is not told apart; taken for the container's"),
    ("slurm-time-limit-memory-hit-once", "the step was ended with SIGTERM first; the truth names the signal that ended it"),
    ("gh-tab-log-bus-error-share-storage", "a frame in PyTorch's sharing code is not weighed as evidence for /dev/shm"),
    ("aws-batch-host-terminated", "a host that AWS Batch terminated is not taken for a Spot instance"),
    ("cuda-ecc-then-sigabrt-and-forced-kill", "the abort that follows a GPU fault is a death of its own"),
    ("gha-runner-shutdown-signal-137", "the runner ended first; the signal is told of the job, a consequence"),
    ("oomkilled-reason-exit-143-drained", "the eviction through the API is the reason; the truth calls it by its signal"),
    ("slurm-time-limit-then-killed", "the workers of the job were killed in the end; the truth names the first signal"),
    ("timeout-s-kill-two-hours", "the sender stands in the echoed command line, which is not read as testimony"),
    ("drain-eviction-api-grace-137-kubelet-log", "the eviction through the API is the reason; the truth calls it by its signal"),
    ("gnu-timeout-kill-after-echoed-by-set-x", "the sender stands in the echoed command line, which is not read as testimony"),
    ("docker-invalid-shm-size-flag-125", "an option that the engine refuses is counted among failures of the surroundings"),
    ("google-batch-50001-spot-log-says-killed", "the record of the preemption names no signal; the truth names the shell's word"),
    ("honcho-trainer-stopped-rc-minus9", "the pid stands only in the line of the start, which is not read"),
    ("kst-log-utc-kernel-nine-hours-other-python", "the zone of a line's clock is not read where it is an abbreviation"),
];

/// The classes, in the order of the table.
const CLASSES: [&str; 4] = ["shm-exhaustion", "oom-kill", "unknown", "none"];

/// One folder.
#[derive(Clone)]
struct Case {
    id: String,
    folder: PathBuf,
    inputs: Vec<String>,
    case: Value,
}

impl Case {
    fn truth(&self, field: &str) -> &str {
        self.case["truth"][field].as_str().unwrap_or("-")
    }

    /// Whether a careful reader may give this class.
    fn accepts(&self, class: &str) -> bool {
        class == self.truth("class") || self.case["accept"].as_array().is_some_and(|list| list.iter().any(|c| c == class))
    }

    fn known(&self) -> Option<&'static str> {
        KNOWN.iter().find(|(id, _)| *id == self.id).map(|(_, reason)| *reason)
    }
}

/// All cases, or the one that `CASE` names.
fn cases() -> Vec<Case> {
    let only = env::var("CASE").ok();
    let mut cases = Vec::new();
    for class in CLASSES {
        for entry in fs::read_dir(Path::new("fixtures").join(class)).expect("each class has a folder") {
            let folder = entry.expect("the folder can be listed").path();
            let id = folder.file_name().expect("a listed path has a name").to_string_lossy().into_owned();
            if only.as_ref().is_some_and(|only| *only != id) {
                continue;
            }
            let text = fs::read_to_string(folder.join("case.json")).expect("each folder has a case.json");
            let case: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{id}/case.json: {error}"));
            let inputs = case["inputs"].as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned));
            cases.push(Case { inputs: inputs.collect(), id, folder, case });
        }
    }
    assert!(!cases.is_empty(), "no case is called {only:?}");
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    cases
}

/// Examines the inputs of a case in one or more formats, after `damage` has had its way with them.
fn reports<const N: usize>(case: &Case, formats: [Format; N], damage: impl Fn(&[u8]) -> Vec<u8>) -> [String; N] {
    let sources = case.inputs.iter().map(|name| {
        let bytes = fs::read(case.folder.join(name)).expect("the inputs are there");
        Source::stream(name.as_str().into(), io::Cursor::new(damage(&bytes)))
    });
    let report = examine(&sources.collect::<Vec<_>>(), Vec::new(), &Options::default());
    formats.map(|format| {
        let mut text = Vec::new();
        write(&report, format, &Style::default(), &mut text).expect("memory can be written to");
        String::from_utf8(text).expect("reports are UTF-8")
    })
}

/// Does the work for all cases on all cores, and gives the answers in the order of the cases.
fn each<T: Send>(cases: &[Case], work: impl Fn(&Case) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    let answer = work(case);
                    done.lock().expect("no worker panics while it holds the lock").insert(at, answer);
                }
            });
        }
    });
    done.into_inner().expect("no worker panics while it holds the lock").into_values().collect()
}

/// What the program says about a case.
struct Answer {
    class: String,
    cause: String,
    grade: String,
    signal: Option<String>,
    pids: Vec<u64>,
    /// What is wrong with the document itself.
    broken: Option<String>,
}

fn answer(case: &Case, schema: &jsonschema::Validator) -> Answer {
    let [text] = reports(case, [Format::Json], <[u8]>::to_vec);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error} in {text}", case.id));
    let verdict = &report["verdict"];
    let word = |field: &str| verdict[field].as_str().unwrap_or_default().to_owned();
    let deaths = report["deaths"].as_array().map(Vec::as_slice).unwrap_or_default();
    let root = &report["deaths"][verdict["death"].as_u64().unwrap_or(0) as usize];
    let pids = deaths.iter().flat_map(|death| [&death["pid"], &death["host_pid"]]).filter_map(Value::as_u64).collect();
    let broken = schema.iter_errors(&report).next().map(|error| format!("not as the schema says: {error}"));
    let signal = root["signal"].as_str().map(str::to_owned);
    Answer { class: word("class"), cause: word("cause"), grade: word("grade"), signal, pids, broken }
}

/// Whether a wrong class is stated as if it were certain.
fn confidently_wrong(case: &Case, answer: &Answer) -> bool {
    !case.accepts(&answer.class) && answer.grade != "suspected"
}

/// The cause counts only where the class is the true one; another acceptable class has causes of its own.
fn right_cause(case: &Case, answer: &Answer) -> bool {
    if answer.class == case.truth("class") { answer.cause == case.truth("cause") } else { case.accepts(&answer.class) }
}

/// Everything in which an answer differs from the truth.
fn differences(case: &Case, answer: &Answer) -> Vec<String> {
    let mut list: Vec<String> = answer.broken.iter().cloned().collect();
    if !right_cause(case, answer) {
        let (class, cause) = (case.truth("class"), case.truth("cause"));
        list.push(format!("{class}/{cause}, but the verdict is {}/{} ({})", answer.class, answer.cause, answer.grade));
    }
    let (signal, same_class) = (case.case["truth"]["signal"].as_str(), answer.class == case.truth("class"));
    if same_class && signal.is_some() && signal != answer.signal.as_deref() {
        list.push(format!("{signal:?}, but the verdict has {:?}", answer.signal));
    }
    let pids = case.case["truth"]["pids"].as_array().into_iter().flatten().filter_map(Value::as_u64);
    let lost: Vec<u64> = pids.filter(|pid| !answer.pids.contains(pid)).collect();
    if same_class && !lost.is_empty() {
        list.push(format!("pids {lost:?} are not in {:?}", answer.pids));
    }
    list
}

#[test]
fn verdicts_agree_with_the_truth() {
    let schema = fs::read_to_string("src/report/report.schema.json").expect("the schema is part of the source");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let cases = cases();
    let answers = each(&cases, |case| answer(case, &schema));
    let (mut text, mut failed) = (String::new(), Vec::new());
    let mut table: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut class, mut cause, mut certain) = (0, 0, 0);
    for (case, answer) in cases.iter().zip(&answers) {
        *table.entry((case.truth("class"), &answer.class)).or_default() += 1;
        class += usize::from(case.accepts(&answer.class));
        cause += usize::from(right_cause(case, answer));
        certain += usize::from(confidently_wrong(case, answer));
        let list = differences(case, answer).join("; ");
        match (list.is_empty(), case.known()) {
            (true, None) => {}
            (true, Some(_)) => failed.push(format!("{}: passes now, take it off KNOWN", case.id)),
            (false, None) => failed.push(format!("{}: {list}", case.id)),
            (false, Some(reason)) => drop(writeln!(text, "known: {}: {list} ({reason})", case.id)),
        }
    }
    let _ = writeln!(text, "\n{:>16} {}", "truth \\ verdict", CLASSES.map(|class| format!("{class:>15}")).concat());
    for truth in CLASSES {
        let row = CLASSES.map(|given| format!("{:>15}", table.get(&(truth, given)).unwrap_or(&0)));
        let _ = writeln!(text, "{truth:>16} {}", row.concat());
    }
    let percent = |part: usize| part as f64 * 100.0 / cases.len() as f64;
    let (class, cause) = (percent(class), percent(cause));
    let _ =
        writeln!(text, "{} cases: right class {class:.1} %, right cause {cause:.1} %, confidently wrong {certain}", cases.len());
    let _ = io::stderr().write_all(text.as_bytes());
    assert!(failed.is_empty(), "{} cases fail:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(certain, 0, "a wrong class is graded proven or likely");
    assert!(class >= 97.0 && cause >= 90.0 || env::var_os("CASE").is_some(), "class {class:.1} %, cause {cause:.1} %");
}

#[test]
fn verdicts_stand_as_blessed() {
    let (cases, bless) = (cases(), env::var_os("BLESS").is_some());
    let failed = each(&cases, |case| {
        let [now] = reports(case, [Format::Brief], <[u8]>::to_vec);
        let path = case.folder.join("verdict.txt");
        if bless {
            return fs::write(&path, now).err().map(|error| format!("{}: {error}", path.display()));
        }
        let then = fs::read_to_string(&path).unwrap_or_default();
        (then != now).then(|| format!("{}\n- was\n{then}- is\n{now}", case.id))
    });
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    let first = failed.iter().take(5).cloned().collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} verdicts differ (BLESS=1 writes them), the first are\n{first}", failed.len());
}

#[test]
fn the_order_of_the_inputs_does_not_matter() {
    let all: Vec<Case> = cases().into_iter().filter(|case| case.inputs.len() > 1).collect();
    let changed = each(&all, |case| {
        let reversed = Case { inputs: case.inputs.iter().rev().cloned().collect(), ..case.clone() };
        let verdict = |case: &Case| {
            let [text] = reports(case, [Format::Json], <[u8]>::to_vec);
            let report: Value = serde_json::from_str(&text).expect("the report is JSON");
            ["class", "cause", "grade", "summary"].map(|field| report["verdict"][field].to_string())
        };
        let (given, other) = (verdict(case), verdict(&reversed));
        (given != other).then(|| format!("{}: {given:?}, reversed {other:?}", case.id))
    });
    let changed: Vec<String> = changed.into_iter().flatten().collect();
    assert!(changed.is_empty(), "{} cases:\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn cases_are_well_formed() {
    for case in cases() {
        let id = &case.id;
        assert_eq!(case.case["id"].as_str(), Some(id.as_str()), "{id}: the id is the folder's name");
        let cause = Cause::from_slug(case.truth("cause")).unwrap_or_else(|| panic!("{id}: no such cause"));
        assert_eq!(cause.class().slug(), case.truth("class"), "{id}: the class follows from the cause");
        assert!(case.folder.parent().is_some_and(|class| class.ends_with(case.truth("class"))), "{id}: wrong folder");
        assert!(case.truth("why").len() > 20, "{id}: why is that the truth?");
        assert_eq!(case.inputs.len(), case.case["kinds"].as_array().map_or(0, Vec::len), "{id}: a kind for each input");
        let files =
            fs::read_dir(&case.folder).expect("it was listed").flatten().filter_map(|file| file.file_name().into_string().ok());
        let mut files: Vec<String> = files.filter(|name| name != "case.json" && name != "verdict.txt").collect();
        let mut inputs = case.inputs.clone();
        files.sort();
        inputs.sort();
        assert_eq!(files, inputs, "{id}: the files are the inputs");
    }
    for (id, _) in KNOWN {
        assert!(CLASSES.iter().any(|class| Path::new("fixtures").join(class).join(id).is_dir()), "KNOWN: no case is called {id}");
    }
}

/// How many ways there are to damage a file.
const DAMAGES: usize = 10;

/// Cuts a file in the middle of anything, from either end, or loses lines of it.
fn damage(bytes: &[u8], way: usize) -> Vec<u8> {
    let lines = |keep: fn(usize) -> bool| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
        lines.filter(|(at, _)| keep(*at)).flat_map(|(_, line)| line).copied().collect()
    };
    match way {
        0..5 => bytes[..bytes.len() * (way + 1) / 6].to_vec(),
        5..8 => bytes[bytes.len() * (way - 4) / 4..].to_vec(),
        8 => lines(|at| at % 2 == 0),
        _ => lines(|at| at % 5 != 3),
    }
}

#[test]
fn damaged_inputs_are_survived() {
    let cases = cases();
    let failed = each(&cases, |case| {
        let formats = [Format::Json, Format::Human];
        let survived = |way| catch_unwind(AssertUnwindSafe(|| reports(case, formats, |bytes| damage(bytes, way)))).is_ok();
        (0..DAMAGES).find(|way| !survived(*way)).map(|way| format!("{}, damage {way}", case.id))
    });
    let failed: Vec<String> = failed.into_iter().flatten().collect();
    assert!(failed.is_empty(), "{} cases:\n{}", failed.len(), failed.join("\n"));
}
