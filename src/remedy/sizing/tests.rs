//! Tests of the sizing: the measured tables as rows, what is lacking, and what fits.

use super::*;

fn given(value: u64) -> Vec<Given> {
    vec![Given::new(value, "train.log:3")]
}

fn loader(workers: u64, batch: u64) -> Inputs {
    Inputs { workers: given(workers), batch_bytes: given(batch), ..Inputs::default() }
}

/// One loader of one epoch, as most of the measured runs were.
fn once(workers: u64, batch: u64) -> Inputs {
    Inputs { epochs: given(1), ..loader(workers, batch) }
}

/// What the formula gives to the byte.
fn bytes(inputs: &Inputs) -> Option<u64> {
    work_out(inputs).bytes.map(|bytes| bytes.0)
}

const M: u64 = 1 << 20;
/// A page for a batch of labels.
const LABEL: u64 = 4096;

/// The sizes that real runs with PyTorch 2.15 were found to need, or the formula's value where a run came close to it: the
/// smallest surviving /dev/shm lies between 0.90 and 1.00 of each.
#[test]
fn the_measured_sizes_come_out_to_the_byte() {
    let rows: Vec<(&str, Inputs, u64)> = vec![
        ("W=1 F=1 one 4 MiB +label", Inputs { prefetch: given(1), ..once(1, 4 * M + LABEL) }, 12_640_256),
        ("W=2 F=2 one 4 MiB +label", once(2, 4 * M + LABEL), 25_247_744),
        ("W=4 F=2 one 2 MiB +label", once(4, 2 * M + LABEL), 21_094_400),
        ("W=8 F=2 one 2 MiB +label", once(8, 2 * M + LABEL), 37_953_536),
        ("W=8 F=4 u8 1 MiB", Inputs { prefetch: given(4), ..once(8, M) }, 35_782_656),
        ("W=4 F=2 stack_plain 2 MiB", once(4, 2 * M), 21_053_440),
        ("W=3 F=2 tiny parts=100", once(3, 100 * 4096), 3_346_432),
        ("W=3 F=2 npbatch 1 MiB", once(3, 0), 69_632),
        ("W=4 F=2 one 2 MiB keep=6", Inputs { held: given(6), ..once(4, 2 * M) }, 31_539_200),
        ("W=4 F=2 one 2 MiB epochs=4", loader(4, 2 * M), 23_183_360),
        ("W=4 F=2 one 2 MiB epochs=4 +persistent", Inputs { persistent_workers: given(1), ..loader(4, 2 * M) }, 21_053_440),
        ("W=4 F=2 one 2 MiB drop=copy", Inputs { held: given(0), ..once(4, 2 * M) }, 18_956_288),
        ("W=4 F=2 one 4 MiB epochs=3 drop=del", Inputs { held: given(0), ..loader(4, 4 * M) }, 37_863_424),
        ("W=4 F=2 one 4 MiB epochs=3 keep=5", Inputs { held: given(5), ..loader(4, 4 * M) }, 79_806_464),
        ("W=3 F=2 one 2 MiB ranks=2", Inputs { ranks: given(2), ..once(3, 2 * M) }, 33_693_696),
        ("W=4 F=2 one 2 MiB pin", Inputs { pin_memory: given(1), ..once(4, 2 * M) }, 16_859_136),
        ("W=4 F=2 one 4 MiB epochs=3 pin", Inputs { pin_memory: given(1), ..loader(4, 4 * M) }, 33_669_120),
        ("W=4 F=2 one 2 MiB +lookahead", Inputs { look_ahead: true, ..once(4, 2 * M) }, 23_150_592),
        (
            "W=3 F=2 view 1 MiB of 32",
            Inputs { batch_bytes: Vec::new(), view_of: Some(Given::new(32 * M, "x")), ..once(3, 0) },
            100_732_928,
        ),
        (
            "W=3 F=2 view 4 MiB of 16, file_system",
            Inputs {
                batch_bytes: Vec::new(),
                view_of: Some(Given::new(64 * M, "x")),
                sharing: Sharing { header: 64, page: 4096 },
                ..once(3, 0)
            },
            201_408_512,
        ),
        (
            "W=3 F=2 forkserver, 32 MiB in the data set",
            Inputs { lasting_bytes: given(32 * M), spawned: true, ..once(3, 2 * M) },
            50_401_280,
        ),
        ("W=4 F=2 spawn epochs=2", Inputs { lasting_bytes: given(64 * M), spawned: true, ..loader(4, 4 * M) }, 109_166_592),
    ];
    for (name, inputs, expected) in rows {
        assert_eq!(bytes(&inputs), Some(expected), "{name}");
    }
}

#[test]
fn samples_become_storages_of_whole_pages() {
    let sample = |text: &str, list: bool| Some(Sample { tensors: tensors(text).expect(text), list, from: "--sample".to_owned() });
    let from =
        |text, list, size| Inputs { batch_bytes: Vec::new(), batch_size: given(size), sample: sample(text, list), ..once(4, 0) };
    // 2 MiB of floats and a label in eight samples, once with the header of file_system: both fill the last page.
    assert_eq!(bytes(&from("65536:f32,1:i64", false, 8)), Some(21_094_400));
    let named = Inputs { sharing: Sharing { header: 64, page: 4096 }, ..from("65536:f32", false, 8) };
    assert_eq!(bytes(&named), Some(21_094_400));
    // Nine times as large a frame behind each of eight crops.
    let crops = Inputs { workers: given(2), ..from("294912:f32", true, 8) };
    assert_eq!(bytes(&crops), Some(56_680_448));
    // 64 KiB pages: the semaphores and the label take one each.
    let large = Inputs { sharing: Sharing { header: 0, page: 65_536 }, ..from("65536:f32,1:i64", false, 8) };
    assert_eq!(bytes(&large), Some(10 * (2 * M + 65_536) + 20 * 65_536));
}

#[test]
fn a_short_epoch_cannot_fill_the_queues() {
    assert_eq!(bytes(&Inputs { epoch_batches: given(3), ..once(8, M) }), Some(3 * M + 32 * 4096));
    assert_eq!(bytes(&Inputs { epoch_batches: given(3), ..loader(8, M) }), Some(4 * M + 48 * 4096));
    assert_eq!(bytes(&Inputs { epoch_batches: given(1000), ..loader(8, M) }), bytes(&loader(8, M)));
}

#[test]
fn several_loaders_are_counted_by_how_they_are_used() {
    let both = |one: Inputs, together| work_out_all(&[one.clone(), one], together).bytes.map(|bytes| bytes.0);
    let persistent = |batch| Inputs { persistent_workers: given(1), ..loader(4, batch) };
    assert_eq!(both(persistent(4 * M), Together::Alternating), Some(50_495_488));
    assert_eq!(both(loader(4, 4 * M), Together::Alternating), Some(50_446_336));
    assert_eq!(both(Inputs { workers: given(3), ..persistent(2 * M) }, Together::Nested), Some(31_596_544));
    assert_eq!(both(persistent(4 * M), Together::Zip), Some(88_244_224));
    assert_eq!(both(once(4, 4 * M), Together::AtOnce), bytes(&once(4, 4 * M)).map(|one| 2 * one));
    // A small validation loader costs its last batch, not its queue.
    let small = Inputs { workers: given(2), ..persistent(M) };
    let alternating = work_out_all(&[persistent(4 * M), small.clone()], Together::Alternating).bytes;
    assert_eq!(alternating, Some(Bytes((9 + 1 + 1) * 4 * M + M + (20 + 14) * 4096)));
    let sizing = work_out_all(&[persistent(4 * M), small], Together::AtOnce);
    assert!(sizing.terms.iter().any(|term| (term.loader, term.name, term.value) == (2, "workers", Some(2))), "{sizing:?}");
}

#[test]
fn what_fits_is_worked_out_too() {
    let limited = |limit| work_out(&Inputs { limit: Some(Bytes::mib(limit)), ..loader(8, 4 * M) });
    let fit = limited(64).fit.expect("some settings fit");
    assert_eq!((fit.workers, fit.prefetch), (6, 2));
    assert_eq!(fit.bytes.0, (12 + 3) * 4 * M + 38 * 4096);
    assert_eq!(limited(8).fit, None);
    assert!(limited(8).remarks.iter().any(|remark| remark.contains("not enough even for one worker")));
    let enough = limited(512);
    assert_eq!(enough.fit, None);
    assert!(enough.remarks.iter().any(|remark| remark.starts_with("512 MiB is enough")), "{:?}", enough.remarks);
}

#[test]
fn a_memory_limit_must_hold_shared_memory_too() {
    let under = |limit, processes| {
        let inputs = Inputs { memory_limit: Some(Bytes::mib(limit)), processes, ..loader(8, 38_539_264) };
        work_out(&inputs)
    };
    assert_eq!(under(4096, None).memory, None);
    let tight = under(512, None);
    assert_eq!(tight.memory.map(|memory| memory.recommended), Some(Bytes::mib(1536)));
    assert!(tight.fit.is_some_and(|fit| fit.bytes <= Bytes::mib(256)), "{tight:?}");
    let known = under(1024, Some(Bytes::mib(900)));
    assert_eq!(known.memory.map(|memory| memory.recommended), Some(Bytes::mib(1792)));
    assert_eq!(under(2048, Some(Bytes::mib(900))).memory, None);
}

#[test]
fn many_small_tensors_warn_of_descriptors() {
    let text = vec!["1:i64"; 128].join(",");
    let sample = Some(Sample { tensors: tensors(&text).expect("it is right"), list: false, from: "--sample".to_owned() });
    let sizing = work_out(&Inputs { batch_bytes: Vec::new(), batch_size: given(4), sample, ..loader(3, 0) });
    assert!(sizing.remarks.iter().any(|remark| remark.contains("ulimit -n")), "{:?}", sizing.remarks);
}

#[test]
fn the_example_of_eight_workers_is_recommended_832_mib() {
    let sizing = work_out(&loader(8, 38_539_264));
    assert_eq!(sizing.bytes.map(|bytes| bytes.to_string()).as_deref(), Some("698.5 MiB"));
    assert_eq!(sizing.recommended, Some(Bytes::mib(832)));
    let persistent = work_out(&Inputs { persistent_workers: given(1), ..loader(8, 38_539_264) });
    assert_eq!(persistent.bytes.map(|bytes| bytes.to_string()).as_deref(), Some("661.7 MiB"));
    let pinned = work_out(&Inputs { pin_memory: given(1), ..loader(8, 38_539_264) });
    assert_eq!(pinned.bytes, Some(Bytes(16 * 38_539_264 + 48 * 4096)));
}

#[test]
fn what_is_lacking_is_named_and_bounded() {
    let inputs = Inputs {
        workers: given(8),
        batch_size: given(64),
        had: Some(Bytes::mib(64)),
        refused: Some(Given::new(33_554_432, "train.log:47")),
        ..Inputs::default()
    };
    let sizing = work_out(&inputs);
    assert_eq!((sizing.bytes, sizing.recommended), (None, None));
    assert_eq!(sizing.unknown, ["sample_bytes"]);
    assert!(sizing.remarks.iter().any(|remark| remark.contains("at least 608.2 MiB")), "{:?}", sizing.remarks);
    assert!(sizing.remarks.iter().any(|remark| remark.contains("up to 3.36 MiB")), "{:?}", sizing.remarks);
    assert_eq!(work_out(&Inputs::default()).unknown, ["workers", "sample_bytes"]);
}

#[test]
fn of_two_worker_counts_neither_is_used() {
    let workers = vec![Given::new(8, "a.log:1"), Given::new(4, "b.log:2"), Given::new(8, "b.log:3")];
    let sizing = work_out(&Inputs { workers, batch_bytes: given(4096), ..Inputs::default() });
    assert_eq!(sizing.bytes, None);
    assert_eq!(sizing.unknown, ["workers"]);
    assert_eq!(sizing.terms.iter().filter(|term| term.name == "workers").count(), 2);
    assert!(sizing.remarks.iter().any(|remark| remark.contains("8 (a.log:1), 4 (b.log:2)")), "{:?}", sizing.remarks);
}

#[test]
fn absurd_numbers_do_not_overflow() {
    for value in [0, 1, u64::MAX / 2, u64::MAX] {
        let all = || given(value);
        let inputs = Inputs {
            workers: all(),
            prefetch: all(),
            batch_bytes: all(),
            held: all(),
            ranks: all(),
            lasting_bytes: all(),
            epoch_batches: all(),
            sharing: Sharing { header: value, page: value },
            had: Some(Bytes(value)),
            ..Inputs::default()
        };
        work_out(&inputs);
        work_out(&Inputs { batch_bytes: Vec::new(), refused: Some(Given::new(value, "x")), ..inputs });
    }
    assert_eq!(work_out(&loader(u64::MAX, u64::MAX)).bytes, None);
}

#[test]
fn recommendations_are_round_and_above_the_need() {
    assert_eq!(recommend(Bytes(1)), Some(Bytes::mib(128)));
    assert_eq!(recommend(Bytes::mib(1000)), Some(Bytes::mib(1280)));
    assert_eq!(recommend(Bytes::mib(8192)), Some(Bytes::mib(9216)));
    assert_eq!(recommend(Bytes(u64::MAX)), None);
}
