//! Reports made by hand, each with what is hard to show.

use std::collections::HashMap;
use std::sync::Arc;

use coroner::fact::{Claim, Engine, Fact, How, Role, Shm, What, Who, Witness};
use coroner::note::Note;
use coroner::place::Place;
use coroner::remedy::sizing::{Given, Inputs, work_out};
use coroner::remedy::{Case, advise};
use coroner::report::{Entry, MemoryPicture, Report};
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

/// All of them, with the names of their files.
pub(crate) fn all() -> [(&'static str, Report); 6] {
    [
        ("oom", oom()),
        ("shm", shm()),
        ("suspected", suspected()),
        ("unknown", unknown()),
        ("nothing", nothing()),
        ("hostile", hostile()),
    ]
}
