//! Passing over quiet lines changes nothing: what speaks in a large log is read as if every line of it had been read.

use std::fs;

use coroner::fact::Claim;
use coroner::line::{Envelope, Line, Lines, Search, lines};
use coroner::patterns;
use coroner::time::Stamp;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use walkdir::WalkDir;

/// How many lines back a stamp is looked for; an older one is still true, but may not be the last.
const NEAR: u64 = 8;

/// Where the random mixtures begin, so that a failure is one tomorrow as well.
const SEED: u64 = 2026;

/// What is read of a line: its number, the pattern, the claim, the envelope, and the last stamp near before.
type Said = (u64, &'static str, Claim, Envelope, Option<Stamp>);

/// What a log says.
fn said(text: &[u8], gate: Option<Search>) -> Vec<Said> {
    let mut all = Vec::new();
    let mut latest = None;
    lines(text, gate, &mut |line| {
        latest = line.envelope.when.map(|when| (line.number, when)).or(latest);
        // The zone that `date` prints is taken from the beginning of an input: most of its stems are short.
        for (pattern, claim) in patterns::read(&line).into_iter().filter(|(pattern, _)| pattern.id != "clock/date") {
            let near = latest.filter(|(number, _)| line.envelope.when.is_none() && line.number - number < NEAR);
            let since = near.map(|(_, when)| when);
            all.push((line.number, pattern.id, claim, line.envelope.clone(), since));
        }
    })
    .expect("memory can be read");
    all
}

/// Lines that say nothing, more than the beginning that is always read, each in an envelope.
fn quiet(envelope: impl Fn(usize, &str) -> String, bytes: usize) -> String {
    let mut text = String::new();
    let mut step = 0;
    while text.len() < bytes {
        step += 1;
        text.push_str(&envelope(step, &format!("step {step} loss 2.{:03} lr 0.0003 tokens/s 41{:03}", step % 977, step % 883)));
        text.push('\n');
    }
    text
}

/// More than the beginning that is always read, in bytes.
const LARGE: usize = 70 << 10;

/// Puts a line, told by its number and its text, into an envelope.
type Wrap = fn(usize, &str) -> String;

/// Colours from inside of each third word to its end.
fn coloured(text: &str) -> String {
    let word = |(n, word): (usize, &str)| match word.char_indices().nth(2).filter(|_| n % 3 == 0) {
        Some((at, _)) => format!("{}\u{1b}[01;31m\u{1b}[K{}\u{1b}[m\u{1b}[K", &word[..at], &word[at..]),
        None => word.to_owned(),
    };
    text.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Envelopes that a line may have.
const ENVELOPES: [(&str, Wrap); 16] = [
    ("none", |_, text| text.to_owned()),
    ("stamped", |n, text| format!("2026-12-01 08:{:02}:{:02},123 - INFO - {text}", n / 60 % 60, n % 60)),
    ("rank", |n, text| format!("[rank{}]: {text}", n % 8)),
    ("iso", |n, text| format!("2026-12-01T08:{:02}:{:02}.000000Z {text}", n / 60 % 60, n % 60)),
    ("cri", |n, text| format!("2026-12-01T08:{:02}:{:02}.000000000Z stderr F {text}", n / 60 % 60, n % 60)),
    ("docker", |n, text| {
        let log = serde_json::Value::from(format!("{text}\n"));
        format!(r#"{{"log":{log},"stream":"stderr","time":"2026-12-01T08:{:02}:{:02}.000000Z"}}"#, n / 60 % 60, n % 60)
    }),
    ("json", |n, text| {
        let message = serde_json::Value::from(text);
        format!(r#"{{"timestamp":"2026-12-01T08:{:02}:{:02}Z","level":"info","message":{message}}}"#, n / 60 % 60, n % 60)
    }),
    ("syslog", |n, text| format!("Dec  1 08:{:02}:{:02} gpu-n01 python[41]: {text}", n / 60 % 60, n % 60)),
    ("kernel", |n, text| format!("Dec  1 08:{:02}:{:02} gpu-n01 kernel: [{:5}.000001] {text}", n / 60 % 60, n % 60, n)),
    ("dmesg", |n, text| format!("[{n:5}.000001] {text}")),
    ("kmsg", |n, text| format!("6,{n},{n}000001,-;{text}")),
    ("compose", |_, text| format!("trainer-1  | {text}")),
    ("colour", |_, text| format!("\u{1b}[31m{text}\u{1b}[0m")),
    ("coloured words", |_, text| coloured(text)),
    ("coloured words in json", |n, text| {
        let log = serde_json::Value::from(format!("{}\n", coloured(text)));
        format!(r#"{{"log":{log},"stream":"stderr","time":"2026-12-01T08:{:02}:{:02}.000000Z"}}"#, n / 60 % 60, n % 60)
    }),
    ("crlf", |_, text| format!("{text}\r")),
];

/// Stems shorter than this are seen only in lines that are read for another reason.
const SEEN: usize = 6;

/// All samples and near misses of all patterns, but those found by a short stem alone. Rows of the kernel's table of tasks stand
/// below its heading.
fn samples() -> Vec<String> {
    const HEADING: &str = "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name";
    let all = patterns::all().flat_map(|pattern| {
        let seen = |sample: &&&str| pattern.stems.iter().any(|stem| stem.len() >= SEEN && sample.contains(stem));
        pattern.samples.iter().filter(seen).chain(pattern.near_misses)
    });
    all.map(|sample| if sample.starts_with('[') { format!("{HEADING}\n{sample}") } else { (*sample).to_owned() }).collect()
}

/// Puts each line of a text into an envelope.
fn wrapped(wrap: Wrap, number: usize, text: &str) -> String {
    text.split('\n').map(|line| format!("{}\n", wrap(number, line))).collect()
}

/// What is read otherwise where quiet lines are passed over.
fn different(text: &[u8]) -> Option<String> {
    let (whole, gated) = (said(text, None), said(text, Some(patterns::speaking)));
    let other = whole.iter().zip(&gated).find(|(a, b)| a != b).map(|(a, b)| format!("{a:?}\nbecame {b:?}"));
    other.or_else(|| {
        let more = whole.get(gated.len()).or(gated.get(whole.len()));
        more.map(|more| format!("{} became {}, as {more:?}", whole.len(), gated.len()))
    })
}

#[test]
fn every_sample_is_read_behind_a_large_log_in_every_envelope() {
    let samples = samples();
    for (name, envelope) in ENVELOPES {
        let mut text = quiet(envelope, LARGE);
        for (n, sample) in samples.iter().enumerate() {
            let (heading, row) = sample.split_once('\n').map_or(("", sample.as_str()), |(heading, row)| (heading, row));
            let variants = [row.to_owned(), row.to_uppercase(), row.to_lowercase()].map(|row| format!("{heading}\n{row}"));
            for (more, text_of) in variants.iter().enumerate() {
                text.push_str(&wrapped(envelope, 40 * n + more, text_of));
                text.push_str(&quiet(envelope, 300));
            }
        }
        assert_eq!(different(text.as_bytes()), None, "{name}");
    }
}

#[test]
fn every_input_of_every_case_is_read_behind_a_large_log() {
    let (mut count, mut wrong) = (0, Vec::new());
    for file in WalkDir::new("fixtures").into_iter().flatten() {
        let name = file.file_name().to_string_lossy();
        if !file.file_type().is_file() || matches!(&*name, "case.json" | "verdict.txt" | "README.md") {
            continue;
        }
        let Ok(mut bytes) = fs::read(file.path()) else { continue };
        // A mark of UTF-16, the heading of a table and an export of the journal are known by the beginning of the input, and a
        // table of tasks that was cut before its heading stands there only; `^C` alone on a line is too short to be looked for.
        let cut = ["k419-dmesg-relative-times/dmesg.txt", "colab-ram-cache-ctrl-c-mark/cell-output.txt"];
        let cut = cut.iter().any(|end| file.path().ends_with(end));
        if cut
            || name.ends_with(".csv")
            || bytes.starts_with(b"__CURSOR=")
            || bytes.starts_with(&[0xff, 0xfe])
            || bytes.starts_with(&[0xfe, 0xff])
        {
            continue;
        }
        let mut text = quiet(|_, text| text.to_owned(), LARGE).into_bytes();
        text.append(&mut bytes);
        wrong.extend(different(&text).map(|how| format!("{}: {how}", file.path().display())));
        count += 1;
    }
    assert!(wrong.is_empty(), "{} of {count}: {}", wrong.len(), wrong.join("\n"));
    assert!(count > 700, "only {count} files");
}

#[test]
fn pieces_searched_by_other_threads_are_read_the_same() {
    let stamped = ENVELOPES[1].1;
    let mut text = quiet(stamped, 9 << 20);
    for (n, sample) in samples().iter().enumerate() {
        text.push_str(&wrapped(stamped, n, sample));
        text.push_str(&quiet(stamped, 3000 + 7 * n));
    }
    let mut one_by_one = Vec::new();
    let mut parts = Lines::new(Some(patterns::speaking));
    let mut sink =
        |line: Line<'_>| one_by_one.extend(patterns::read(&line).into_iter().map(|(p, claim)| (line.number, p.id, claim)));
    for piece in text.as_bytes().chunks(1000) {
        parts.push(piece, &mut sink);
    }
    let count = parts.finish(&mut sink);
    let mut ahead = Vec::new();
    let whole = lines(text.as_bytes(), Some(patterns::speaking), &mut |line| {
        ahead.extend(patterns::read(&line).into_iter().map(|(p, claim)| (line.number, p.id, claim)));
    });
    assert_eq!(whole.expect("memory can be read"), count);
    assert!(ahead.len() > 1000 && ahead == one_by_one, "{} and {}", ahead.len(), one_by_one.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(SEED), ..ProptestConfig::with_cases(48) })]

    #[test]
    fn mixtures_are_read_the_same(picks in prop::collection::vec((any::<prop::sample::Index>(), 0..ENVELOPES.len(), 0_usize..4000), 1..60)) {
        let samples = samples();
        let first = ENVELOPES[picks[0].1].1;
        let mut text = quiet(first, LARGE);
        for (n, (pick, envelope, gap)) in picks.iter().enumerate() {
            text.push_str(&wrapped(ENVELOPES[*envelope].1, n, pick.get::<String>(&samples)));
            text.push_str(&quiet(ENVELOPES[*envelope].1, *gap));
        }
        prop_assert_eq!(different(text.as_bytes()), None);
    }
}
