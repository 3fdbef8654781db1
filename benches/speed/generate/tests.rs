//! The same arguments give the same bytes; other seeds give others; the deaths that were asked for are read by `coroner`.

use coroner::examine::{Options, examine};
use coroner::input::Source;

use super::*;

/// A log of one MiB, and what it holds.
fn log(kind: Kind, seed: u64) -> (Vec<u8>, Tally) {
    let mut text = Vec::new();
    let arguments = Arguments { kind, size: Bytes(1 << 20), seed, deaths: 10, output: None };
    let tally = generate(&arguments, &mut text).unwrap();
    (text, tally)
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    for &kind in Kind::value_variants() {
        let (text, tally) = log(kind, 1);
        assert_eq!(log(kind, 1), (text.clone(), tally), "{kind:?}");
        assert_ne!(log(kind, 2).0, text, "{kind:?}");
    }
}

#[test]
fn a_log_is_as_large_as_asked_for() {
    for &kind in Kind::value_variants() {
        let (text, tally) = log(kind, 1);
        assert_eq!(text.len() as u64, tally.bytes);
        assert!((1 << 20..(1 << 20) + (1 << 15)).contains(&text.len()), "{kind:?}: {}", text.len());
        assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count() as u64, tally.lines);
        assert!(std::str::from_utf8(&text).is_ok());
    }
}

/// The causes that `coroner` finds in a log.
fn causes(kind: Kind, deaths: u64) -> Vec<&'static str> {
    let mut text = Vec::new();
    let arguments = Arguments { kind, size: Bytes(1 << 20), seed: 1, deaths, output: None };
    generate(&arguments, &mut text).unwrap();
    let report = examine(&[Source::stream("log".into(), text.as_slice())], Vec::new(), &Options::default());
    report.deaths.iter().map(|entry| entry.verdict.cause.slug()).collect()
}

#[test]
fn the_deaths_in_it_are_read_and_the_look_alikes_are_not() {
    for kind in [Kind::Training, Kind::Jsonl, Kind::Ci] {
        let found = causes(kind, 10);
        for cause in ["shm-sigbus", "oom-suspected", "segfault", "cuda-oom", "abort", "python-exception", "fd-limit"] {
            assert!(found.contains(&cause), "{kind:?}: {cause} is not in {found:?}");
        }
        assert!(found.len() >= 10, "{kind:?}: {found:?}");
        assert_eq!(causes(kind, 0), Vec::<&str>::new(), "{kind:?}");
    }
    assert!(causes(Kind::Kernel, 0).iter().all(|&cause| cause == "oom-cgroup"));
    assert!(causes(Kind::Kernel, 0).len() > 10);
}
