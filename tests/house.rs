//! The laws of the house that the compiler cannot keep; the architecture itself stands in `src/lib.rs`.

use std::fs;

use coroner::verdict::Cause;
use walkdir::WalkDir;

/// Modules by floor: one may use the floors below its own, and itself.
const FLOORS: [&[&str]; 13] = [
    &["units", "time", "place", "note"],
    &["input", "line", "fact", "seen"],
    &["patterns", "records"],
    &["read"],
    &["death"],
    &["verdict"],
    &["remedy"],
    &["report"],
    &["examine", "context"],
    &["scan"],
    &["output", "interrupt", "tee", "follow", "explain", "inputs", "size"],
    &["pipe", "cli"],
    &["lib", "outputs", "main"],
];

/// The one address of each dependency, as the beginnings of paths.
const ADDRESSES: [(&str, &[&str]); 23] = [
    ("regex", &["src/patterns/"]),
    ("regex_automata", &["src/patterns/"]),
    ("memchr", &["src/line/", "src/patterns/"]),
    ("nom", &["src/units", "src/time", "src/line/", "src/remedy/sizing/shape"]),
    ("jiff", &["src/time"]),
    ("serde", &["src/records/", "src/report/json"]),
    (
        "serde_json",
        &["src/line/", "src/records/", "src/report/json", "src/report/ndjson", "src/report/sarif", "src/report/gitlab"],
    ),
    ("serde_saphyr", &["src/records/"]),
    ("colored", &["src/report/human", "src/report/page"]),
    ("unicode_width", &["src/report/text"]),
    ("walkdir", &["src/input"]),
    ("clap", &["src/cli", "src/main", "src/size"]),
    ("flate2", &["src/input/"]),
    ("ruzstd", &["src/input/"]),
    ("lzma_rust2", &["src/input/"]),
    ("bzip2", &["src/input/"]),
    ("zip", &["src/input/"]),
    ("tar", &["src/input/"]),
    ("globset", &["src/input/"]),
    ("quick_junit", &["src/report/junit"]),
    ("maud", &["src/report/html", "src/report/timeline"]),
    ("indicatif", &["src/scan/"]),
    ("signal_hook", &["src/interrupt"]),
];

/// What a law objects to in a file, told by its path and text.
type Law = fn(&str, &str) -> Option<String>;

/// Each law, with a file that breaks it.
const LAWS: [(Law, &str, &str); 6] = [
    (floors, "src/death/mod.rs", "//! Deaths.\nuse crate::verdict::Cause;\n"),
    (floors, "src/fact.rs", "//! Facts.\nuse super::super::report;\n"),
    (addresses, "src/verdict/oom.rs", "//! Rules.\nlet r = regex::Regex::new(\"x\");\n"),
    (shape, "src/seen.rs", "use std::io;\n"),
    (twins, "src/fact.rs", "//! Facts.\n#[derive(Serialize)]\nstruct Fact;\n"),
    (names, "src/line/utils.rs", "//! Lines.\n"),
];

/// The names that follow `before` in the code, where it is not the end of a longer name; comments are no code.
fn names_after<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let found =
        code.flat_map(move |line| line.match_indices(before).map(move |(at, _)| (&line[..at], &line[at + before.len()..])));
    found
        .filter(move |(left, _)| !left.ends_with(word))
        .map(move |(_, right)| right.split(|c| !word(c)).next().unwrap_or_default())
}

fn floors(path: &str, text: &str) -> Option<String> {
    let own = path.strip_prefix("src/")?.split(['/', '.']).next()?;
    let Some(height) = FLOORS.iter().position(|floor| floor.contains(&own)) else { return Some("stands on no floor".to_owned()) };
    let reached = |name: &&str| *name == own || FLOORS[..height].iter().any(|floor| floor.contains(name));
    let higher = names_after(text, "crate::").find(|name| !reached(name)).map(|name| format!("uses crate::{name}"));
    higher.or_else(|| names_after(text, "super::super").next().map(|_| "says super::super".to_owned()))
}

fn addresses(path: &str, text: &str) -> Option<String> {
    let mut strange = ADDRESSES.iter().filter(|(_, homes)| !homes.iter().any(|home| path.starts_with(home)));
    let (name, _) = strange.find(|(name, _)| names_after(text, &format!("{name}::")).next().is_some())?;
    Some(format!("uses {name}, which has another address"))
}

fn shape(_: &str, text: &str) -> Option<String> {
    let bare = (!text.starts_with("//! ")).then_some("does not say in its first line what it is for");
    bare.or_else(|| (text.lines().count() > 400).then_some("has more than 400 lines")).map(str::to_owned)
}

fn twins(path: &str, text: &str) -> Option<String> {
    let derives = !path.starts_with("src/report/json") && names_after(text, "Serialize").next().is_some();
    derives.then(|| "makes a type of the house serializable".to_owned())
}

fn names(path: &str, text: &str) -> Option<String> {
    let items = ["mod ", "fn ", "struct ", "enum ", "trait "].into_iter().flat_map(|item| names_after(text, item));
    let mut said = items.chain(path.split('/')).map(str::to_lowercase);
    said.find(|name| ["util", "helper", "manager"].iter().any(|word| name.contains(word))).map(|name| format!("says {name}"))
}

#[test]
fn the_house_keeps_its_laws() {
    let files = WalkDir::new("src").into_iter().flatten().filter(|file| file.path().extension().is_some_and(|end| end == "rs"));
    let mut broken = Vec::new();
    for file in files {
        let (path, text) = (file.path().to_string_lossy(), fs::read_to_string(file.path()).expect("sources are UTF-8"));
        broken.extend(LAWS.iter().filter_map(|(law, ..)| law(&path, &text)).map(|what| format!("{path} {what}")));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn each_law_can_be_broken() {
    for (law, path, text) in LAWS {
        assert!(law(path, text).is_some(), "{path} breaks no law:\n{text}");
        assert_eq!(law("src/report/json.rs", "//! JSON.\nuse crate::verdict::Cause;\nuse serde::Serialize;\n"), None);
    }
    assert!(shape("src/seen.rs", &"//! x\n".repeat(401)).is_some());
}

#[test]
fn each_cause_has_a_text_and_a_case() {
    let cases = WalkDir::new("fixtures").into_iter().flatten().filter(|file| file.file_name() == "case.json");
    let cases: Vec<String> = cases.map(|file| fs::read_to_string(file.path()).expect("a case is UTF-8")).collect();
    for cause in Cause::ALL {
        let slug = cause.slug();
        assert!(cause.explanation().lines().count() >= 10, "{slug}: the explanation is too short");
        assert!(cases.iter().any(|case| case.contains(&format!("\"cause\": \"{slug}\""))), "{slug}: no case");
    }
}
