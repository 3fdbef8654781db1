//! What every format must keep: samples that are its own, and no document that upsets it.

use proptest::prelude::{Strategy, any, prop, prop_oneof};

use super::*;

/// The words that the formats look for, so that made-up documents come near to real ones.
const WORDS: &[&str] = &[
    "State",
    "ExitCode",
    "Running",
    "OOMKilled",
    "Status",
    "HostConfig",
    "ShmSize",
    "IpcMode",
    "Mounts",
    "Tmpfs",
    "Type",
    "Action",
    "Actor",
    "Attributes",
    "time",
    "status",
    "id",
    "from",
    "kind",
    "Pod",
    "Event",
    "List",
    "items",
    "spec",
    "containers",
    "containerStatuses",
    "name",
    "lastState",
    "terminated",
    "reason",
    "Evicted",
    "message",
    "volumeMounts",
    "/dev/shm",
    "mountPath",
    "taskArn",
    "a:task/b",
    "jobs",
    "job_id",
    "state",
    "exit_code",
    "signal",
    "extraInfo",
    "host",
    "container",
    "die",
    "Names",
    "ID",
    "137",
    "-1",
    "pid",
    "sig",
    "corefile",
    "ü",
    "",
    "finishedAt",
    "OciVersion",
    "PyTorchJob",
    "Workflow",
    "conditions",
    "nodes",
    "TaskStates",
    "Events",
    "Terminated",
    "jobId",
    "jobQueue",
    "attempts",
    "statusReason",
    "TrainingJobStatus",
    "Failed",
    "FailureReason",
    "statusEvents",
    "description",
];

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(WORDS).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        proptest::strategy::Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..8).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn no_document_upsets_a_reader(document in value()) {
        for format in FORMATS {
            (format.sniff)(&document);
            (format.read)(&document);
        }
    }

    #[test]
    fn no_sample_with_a_foreign_value_upsets_its_reader(foreign in value(), pick in any::<prop::sample::Index>()) {
        for format in FORMATS {
            for sample in format.samples {
                let mut document: Value = serde_json::from_str(sample).unwrap();
                let mut spots = Vec::new();
                pointers(&document, String::new(), &mut spots);
                if let Some(spot) = document.pointer_mut(&spots[pick.index(spots.len())]) {
                    *spot = foreign.clone();
                }
                (format.sniff)(&document);
                (format.read)(&document);
            }
        }
    }

    #[test]
    fn no_cut_upsets_the_search(cut in any::<prop::sample::Index>()) {
        for sample in FORMATS.iter().flat_map(|format| format.samples) {
            let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(sample).unwrap()).unwrap();
            for text in [*sample, pretty.as_str(), POD] {
                let at = cut.index(text.len() + 1);
                documents::find(&text.as_bytes()[..at]);
                documents::find(&text.as_bytes()[at..]);
            }
        }
    }

    #[test]
    fn no_bytes_upset_the_search(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        documents::find(&bytes);
    }
}

const POD: &str = "# pod\napiVersion: v1\nkind: Pod\nmetadata:\n  name: \"ü\"\nstatus:\n  message: >-\n    The node was low\n    on memory\n  reason: Evicted\n";

fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Array(list) => list.iter().enumerate().map(|(n, inner)| (n.to_string(), inner)).collect(),
        Value::Object(map) => map.iter().map(|(key, inner)| (key.replace('~', "~0").replace('/', "~1"), inner)).collect(),
        _ => Vec::new(),
    };
    for (key, inner) in members {
        pointers(inner, format!("{at}/{key}"), all);
    }
    all.push(at);
}

#[test]
fn a_wrapped_document_is_read_and_its_pointers_start_at_the_wrapper() {
    for (path, beside) in WRAPPERS {
        for sample in k8s_pod::FORMAT.samples.iter().chain(k8s_events::FORMAT.samples) {
            let inner: Value = serde_json::from_str(sample).unwrap();
            let document = match *path {
                "/data/pod" => serde_json::json!({"data": {"pod": inner}}),
                _ => serde_json::json!({&beside[1..]: "MODIFIED", &path[1..]: inner}),
            };
            let (_, reading) = read(&document).expect(sample);
            let mut pointers = reading.entries.iter().map(|e| &e.pointer).chain(reading.remarks.iter().map(|r| &r.pointer));
            assert!(pointers.all(|pointer| pointer.starts_with(path) && document.pointer(pointer).is_some()), "{sample}");
        }
    }
    assert!(read(&serde_json::json!({"type": "MODIFIED", "object": {"a": 1}})).is_none());
}

#[test]
fn every_sample_is_claimed_by_its_own_format_alone_and_says_something() {
    for format in FORMATS {
        assert!(!format.samples.is_empty(), "{} has no sample", format.id);
        for sample in format.samples {
            let document: Value = serde_json::from_str(sample).expect(format.id);
            let claimed: Vec<_> = FORMATS.iter().filter(|other| (other.sniff)(&document)).map(|other| other.id).collect();
            assert_eq!(claimed, [format.id], "{sample}");
            let reading = (format.read)(&document);
            assert!(!reading.entries.is_empty() || !reading.remarks.is_empty(), "{sample}");
            for pointer in
                reading.entries.iter().map(|entry| &entry.pointer).chain(reading.remarks.iter().map(|remark| &remark.pointer))
            {
                assert!(document.pointer(pointer).is_some(), "{pointer} in {sample}");
            }
        }
    }
}
