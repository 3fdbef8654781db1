//! Reports made by hand, through every format, against `tests/formats/`. `BLESS=1 cargo test --test formats` writes them anew.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use coroner::fact::{Claim, Engine, Fact, How, Role, Shm, What, Who, Witness};
use coroner::note::Note;
use coroner::place::Place;
use coroner::remedy::sizing::{Given, Inputs, work_out};
use coroner::remedy::{Case, advise};
use coroner::report::{Entry, Format, Incident, MemoryPicture, Report, Series, Style, Tally, write};
use coroner::seen::{Input, Kind};
use coroner::time::{Stamp, Wall};
use coroner::units::{Bytes, HostPid, OwnPid, Signal};
use coroner::verdict::{Cause, Evidence, Grade, Lacking, Verdict};

fn fact(place: Place, witness: Witness, text: &str) -> Fact {
    let claim = Claim::bare(What::Ended { how: How::Vanished, hint: false });
    let Claim { what, who } = claim;
    Fact { what, who, when: None, since: None, boot: None, place, text: text.to_owned(), witness, id: "test/made-by-hand" }
}

fn line(input: &str, line: u64, witness: Witness, text: &str, says: &str) -> Evidence {
    Evidence { fact: fact(Place::line(&input.into(), line), witness, text), says: says.to_owned() }
}

fn field(input: &str, pointer: &str, text: &str, says: &str) -> Evidence {
    Evidence { fact: fact(Place::field(&input.into(), pointer), Witness::Runtime, text), says: says.to_owned() }
}

fn verdict(cause: Cause, grade: Grade, summary: &str, because: Vec<Evidence>) -> Verdict {
    Verdict { cause, grade, summary: summary.to_owned(), because, against: vec![], aside: vec![], lacking: vec![] }
}

fn entry(verdict: Verdict, who: Who) -> Entry {
    Entry {
        verdict,
        who,
        signal: None,
        exit_code: None,
        when: None,
        count: 1,
        follows: None,
        memory: None,
        remedy: vec![],
        sizing: None,
    }
}

fn input(name: &str, kind: Kind, bytes: u64, lines: u64) -> Input {
    Input { name: name.into(), kind, bytes, lines, kernel_lines: 0, host: None, span: None, boot_span: None }
}

fn report(deaths: Vec<Entry>, inputs: Vec<Input>) -> Report {
    Report { verdict: deaths[0].verdict.clone(), deaths, notes: vec![], inputs, context: HashMap::new() }
}

fn wall(text: &str, zoned: bool, dated: bool) -> Option<Stamp> {
    Some(Stamp::Wall(Wall { at: text.parse().expect("a moment in RFC 3339"), zoned, dated }))
}

fn oom() -> Report {
    let mut root = verdict(
        Cause::OomCgroup,
        Grade::Proven,
        "The kernel killed DataLoader worker 12: container trainer reached its memory limit of 1.46 GiB.",
        vec![
            line(
                "dmesg.txt",
                586,
                Witness::Kernel,
                "Memory cgroup out of memory: Killed process 13585 (pt_data_worker) total-vm:2411448kB, anon-rss:919572kB, \
                 file-rss:68kB, shmem-rss:0kB, UID:0 pgtables:1980kB oom_score_adj:0",
                "in cgroup /docker/6dceaf0149ad, the container of inspect.json",
            ),
            field("inspect.json", "/0/State", "State.OOMKilled true, ExitCode 1", "a child was killed"),
            line(
                "train.log",
                31,
                Witness::Program,
                "RuntimeError: DataLoader worker (pid 12) is killed by signal: Killed. ",
                "the worker got SIGKILL",
            ),
        ],
    );
    root.aside = vec![line("dmesg.txt", 457, Witness::Kernel, "Killed process 11850 (lab)", "another container, 44f0121710b0")];
    let who = Who {
        role: Role::Worker,
        own_pid: Some(OwnPid(12)),
        host_pid: Some(HostPid(13585)),
        process: Some("pt_data_worker".to_owned()),
        container: Some("6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad6dceaf0149ad6dce".to_owned()),
        container_name: Some("trainer".to_owned()),
        ..Who::default()
    };
    let limit = Bytes(1_572_864_000);
    let case = Case { engine: Some(Engine::Docker), memory_limit: Some(limit), ..Case::new(Cause::OomCgroup, &who) };
    let remedy = advise(&case);
    let first = Entry {
        signal: Some(Signal::KILL),
        exit_code: Some(1),
        when: wall("2026-11-30T06:36:52Z", true, true),
        memory: Some(MemoryPicture {
            limit: Some(limit),
            anon: Some(Bytes(1_564_000_000)),
            shmem: Some(Bytes::kib(410)),
            cache: Some(Bytes(0)),
            tasks: vec![
                ("python".to_owned(), Bytes::mib(290), false),
                ("pt_data_worker".to_owned(), Bytes::mib(898), true),
                ("pt_data_worker".to_owned(), Bytes::mib(863), false),
            ],
        }),
        remedy,
        ..entry(root, who)
    };
    let because = vec![line("train.log", 40, Witness::Supervisor, "exitcode  : 1 (pid: 7)", "the rank raised")];
    let follower = verdict(Cause::PythonException, Grade::Likely, "Rank 0 ended with an exception.", because);
    let second = Entry { follows: Some(0), exit_code: Some(1), ..entry(follower, Who::own(Role::Rank, Some(7))) };
    report(
        vec![first, second],
        vec![
            input("dmesg.txt", Kind::KernelLog, 37_683, 586),
            input("inspect.json", Kind::Record("docker-inspect"), 9_120, 210),
            input("train.log", Kind::TrainingLog, 3_011, 41),
        ],
    )
}

fn shm() -> Report {
    let refusal =
        "RuntimeError: unable to allocate shared memory(shm) for file </torch_13_1201845540_0>: No space left on device (28)";
    let root = verdict(
        Cause::ShmEnospc,
        Grade::Proven,
        "/dev/shm is full: PyTorch could not reserve shared memory for a batch in DataLoader worker 0.",
        vec![
            line("train.log", 47, Witness::Program, refusal, "the reservation failed"),
            field("inspect.json", "/0/HostConfig/ShmSize", "HostConfig.ShmSize 67108864, IpcMode private", "Docker's default"),
        ],
    );
    let given = |value, from: &str| vec![Given::new(value, from)];
    let had = Some(Bytes::mib(64));
    let sizing = work_out(&Inputs {
        workers: given(8, "train.log:1"),
        batch_bytes: given(38_539_264, "64 samples of 3x224x224:f32"),
        batch_size: given(64, "train.log:1"),
        had,
        ..Inputs::default()
    });
    let who = Who { role: Role::Worker, worker: Some(0), own_pid: Some(OwnPid(13)), ..Who::default() };
    let remedy = advise(&Case {
        engine: Some(Engine::Docker),
        image: Some("registry.example/train:2026"),
        shm: Shm::Default(Bytes::mib(64)),
        sizing: Some(&sizing),
        ..Case::new(Cause::ShmEnospc, &who)
    });
    let when = wall("2026-11-30T06:36:52.25Z", false, true);
    let inputs = vec![input("train.log", Kind::TrainingLog, 8_000, 47)];
    report(vec![Entry { when, remedy, sizing: Some(sizing), ..entry(root, who) }], inputs)
}

fn suspected() -> Report {
    let because = vec![line(
        "a very long folder name/with another one/and the log of node 17.log",
        1_234_567,
        Witness::Program,
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        "a worker got SIGBUS; the hint is printed for every SIGBUS",
    )];
    let root = Verdict {
        against: vec![line("df.txt", 2, Witness::Program, "shm 64G 12M 64G 1% /dev/shm", "taken after the death")],
        ..verdict(Cause::ShmSuspected, Grade::Suspected, "A DataLoader worker died of SIGBUS.", because)
    };
    let given = |value, from: &str| Given::new(value, from);
    let sizing = work_out(&Inputs {
        workers: vec![given(8, "train.log:1"), given(4, "val.log:1")],
        batch_size: vec![given(64, "train.log:1")],
        ..Inputs::default()
    });
    let who = Who::role(Role::Worker);
    let remedy = advise(&Case { sizing: Some(&sizing), ..Case::new(Cause::ShmSuspected, &who) });
    let when = Some(Stamp::Boot(133_452_100));
    let inputs = vec![input("train.log", Kind::TrainingLog, 8_000, 47)];
    report(vec![Entry { when, count: 4, remedy, sizing: Some(sizing), signal: Some(Signal::BUS), ..entry(root, who) }], inputs)
}

fn unknown() -> Report {
    let mut root = verdict(
        Cause::SigkillUnexplained,
        Grade::Likely,
        "Something killed the trainer with SIGKILL; what is here says it was not the container's memory limit.",
        vec![
            field("inspect.json", "/0/State", "ExitCode 137, OOMKilled false", "no OOM kill in this container"),
            line("events.jsonl", 9, Witness::Runtime, "container die 6dceaf (exitCode=137)", "no kill event before it"),
        ],
    );
    root.lacking = vec![
        Lacking {
            what: "the host's kernel log around 06:36 UTC".to_owned(),
            how: Some("journalctl -k --since '2026-11-30 06:35' --until '2026-11-30 06:38'".to_owned()),
            would: "show a host-wide OOM kill, or rule it out".to_owned(),
        },
        Lacking { what: "who may send signals on the host".to_owned(), how: None, would: "name the sender".to_owned() },
    ];
    let who = Who { role: Role::Main, container_name: Some("trainer".to_owned()), ..Who::default() };
    let remedy = advise(&Case { engine: Some(Engine::Docker), lacking: true, ..Case::new(Cause::SigkillUnexplained, &who) });
    let when = wall("1972-11-30T06:36:52Z", false, false);
    let inputs = vec![input("inspect.json", Kind::Record("docker-inspect"), 9_000, 200)];
    report(vec![Entry { when, remedy, signal: Some(Signal::KILL), exit_code: Some(137), ..entry(root, who) }], inputs)
}

fn nothing() -> Report {
    let name: Arc<str> = "core.bin".into();
    let missing: Arc<str> = "missing.log".into();
    Report {
        deaths: vec![],
        verdict: verdict(Cause::Clean, Grade::Proven, "Nothing in the inputs says that a process died.", vec![]),
        notes: vec![Note::remark(&name, "not text: skipped"), Note::unread(&missing, "no such file")],
        inputs: vec![input("train.log", Kind::TrainingLog, 8_000, 1), input("core.bin", Kind::Binary, 100, 0)],
        context: HashMap::new(),
    }
}

fn hostile() -> Report {
    let text =
        "\x1b]0;owned\x07\x1b[2J\x1b[1;32mnothing died\x1b[0m\0\r\u{202e}gnp.exe\u{2028}\u{9b}31m <script>::error::x</script>";
    let because = vec![line("\x1b[31mevil\nname.log", 1, Witness::Program, text, "quoted\ttext\x7f")];
    let root = verdict(Cause::Other, Grade::Suspected, "A process called \x1b[5mpython\u{feff} ended.", because);
    let who = Who {
        process: Some("\x1b[8mhidden".to_owned()),
        container_name: Some("$(reboot)\n".to_owned()),
        job: Some("総\u{202d}".to_owned()),
        ..Who::default()
    };
    let remedy = advise(&Case::new(Cause::Other, &who));
    let memory = Some(MemoryPicture { tasks: vec![("\x1b[2Ka".to_owned(), Bytes(1), true)], ..MemoryPicture::default() });
    let mut made = report(vec![Entry { remedy, memory, ..entry(root, who) }], vec![input("\x1b[31mevil\n", Kind::Empty, 0, 0)]);
    made.context.insert("\x1b[31mevil\nname.log".into(), [(1, text.to_owned()), (2, "</pre><b>\x1b".to_owned())].into());
    Report { notes: vec![Note::remark(&"\x1b[1mn".into(), "\x1b[1mt")], ..made }
}

fn all() -> [(&'static str, Report); 6] {
    [
        ("oom", oom()),
        ("shm", shm()),
        ("suspected", suspected()),
        ("unknown", unknown()),
        ("nothing", nothing()),
        ("hostile", hostile()),
    ]
}

fn rendered(report: &Report, format: Format, style: &Style) -> String {
    let mut out = Vec::new();
    write(report, format, style, &mut out).expect("memory takes every byte");
    String::from_utf8(out).expect("reports are UTF-8")
}

#[test]
fn every_report_looks_as_it_did_in_every_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let mut changed = Vec::new();
    for (name, report) in all() {
        for format in Format::ALL {
            let text = rendered(&report, *format, &Style::default());
            let path = folder.join(format!("{name}.{}.txt", format.name()));
            if std::env::var_os("BLESS").is_some() {
                fs::write(&path, &text).unwrap();
            } else if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                changed.push(format!("{}:\n{text}", path.display()));
            }
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

#[test]
fn nothing_hostile_reaches_the_screen() {
    for (name, report) in all() {
        for format in Format::ALL {
            let text = rendered(&report, *format, &Style::default());
            let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{202d}\u{2028}\u{feff}".contains(c);
            assert!(!text.contains(bad), "{name} {}", format.name());
        }
    }
}

#[test]
fn a_screen_is_enough_for_one_death() {
    for (name, report) in all() {
        let text = rendered(&report, Format::Human, &Style::default());
        assert!(text.lines().count() <= 45, "{name} takes {} lines", text.lines().count());
        for line in text.lines() {
            assert!(line.chars().count() <= 100 || line.contains("  docker"), "{name}: {line}");
            assert_eq!(line, line.trim_end(), "{name}");
        }
        let colored = rendered(&report, Format::Human, &Style { color: true, width: 100 });
        assert!(name == "nothing" || colored.contains("\x1b[1;3"), "{name}");
        rendered(&report, Format::Human, &Style { color: false, width: 0 });
    }
}

#[test]
fn json_obeys_its_schema_and_the_schema_names_every_field() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../src/report/report.schema.json")).unwrap();
    let mut closed = schema.clone();
    close(&mut closed);
    let (open, closed) = (jsonschema::validator_for(&schema).unwrap(), jsonschema::validator_for(&closed).unwrap());
    for (name, report) in all() {
        let mut document: serde_json::Value = serde_json::from_str(&rendered(&report, Format::Json, &Style::default())).unwrap();
        let errors: Vec<String> = closed.iter_errors(&document).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        document["verdict"]["cause"] = "a-new-cause".into();
        document["a-new-field"] = 1.into();
        assert!(open.is_valid(&document), "{name}");
        document["verdict"]["class"] = 7.into();
        assert!(!open.is_valid(&document), "{name}");
    }
    assert!(open.is_valid(&serde_json::json!({"schema": "coroner.report/1", "deaths": [{"memory": null}]})));
}

#[test]
fn sarif_obeys_its_schema() {
    // The parts of the published schema that name what is written; everything else is forbidden there, as in the whole.
    let schema: serde_json::Value = serde_json::from_str(include_str!("formats/sarif-2.1.0.part.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for (name, report) in all() {
        let document: serde_json::Value = serde_json::from_str(&rendered(&report, Format::Sarif, &Style::default())).unwrap();
        let errors: Vec<String> = schema.iter_errors(&document).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(document["runs"][0]["results"].as_array().map(Vec::len), Some(report.deaths.len()), "{name}");
    }
}

#[test]
fn machines_can_read_every_format() {
    for (name, report) in all() {
        for format in [Format::Json, Format::Ndjson, Format::Gitlab, Format::Sarif] {
            let text = rendered(&report, format, &Style::default());
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{name} {}", format.name());
        }
        let lines = rendered(&report, Format::Ndjson, &Style::default()).lines().count();
        assert_eq!(lines, 1, "{name}");
        let issues = rendered(&report, Format::Gitlab, &Style::default());
        let issues: Vec<serde_json::Value> = serde_json::from_str(&issues).unwrap();
        let prints: std::collections::HashSet<_> = issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
        assert_eq!(prints.len(), report.deaths.len(), "{name}: fingerprints are unique");
        for line in rendered(&report, Format::Github, &Style::default()).lines() {
            assert!(["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level)), "{name}: {line}");
        }
    }
}

#[test]
fn the_page_needs_no_network_and_no_script() {
    for (name, report) in all() {
        let page = rendered(&report, Format::Html, &Style::default());
        for outside in ["<script", "http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{name} has {outside}");
        }
        let svg = page.matches("<svg").count();
        assert!(svg <= 1 && page.ends_with("</html>\n"), "{name}");
    }
}

#[test]
fn many_incidents_make_one_document_in_every_format() {
    for format in Format::ALL {
        let mut out = Vec::new();
        let mut series = Series::new(*format, &Style::default());
        let mut tally = Tally::default();
        for (name, report) in all() {
            tally.add(&report);
            series.incident(Incident { name, report: &report }, &mut out).unwrap();
        }
        series.end(&tally, &mut out).unwrap();
        let text = String::from_utf8(out).expect("reports are UTF-8");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/formats/many.{}.txt", format.name()));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(&*text), "{}", path.display());
        match format {
            Format::Json | Format::Gitlab | Format::Sarif => assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok()),
            Format::Ndjson => assert_eq!(text.lines().count(), all().len()),
            _ => {}
        }
        let mut none = Vec::new();
        Series::new(*format, &Style::default()).end(&Tally::default(), &mut none).unwrap();
        let text = String::from_utf8(none).expect("reports are UTF-8");
        if matches!(format, Format::Json | Format::Gitlab | Format::Sarif) {
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        }
    }
}

/// Forbids fields that the schema does not name, which readers must accept but the program must not write.
fn close(schema: &mut serde_json::Value) {
    match schema {
        serde_json::Value::Object(fields) => {
            if fields.get("type").is_some_and(|kind| kind == "object") && fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), false.into());
            }
            fields.values_mut().for_each(close);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
