//! Exit statuses as wrappers, supervisors and Python's subprocess word them.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Why, Witness};
use crate::units::{OwnPid, Signal};

/// The words around a code. Those under six letters are for small inputs.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "a code", "b code", "c code", "d code", "e code", "f code", "g code", "h code", "i code", "j code", "k code", "l code",
    "m code", "n code", "o code", "p code", "q code", "r code", "s code", "t code", "u code", "v code", "w code", "x code",
    "y code", "z code", "T code", "E code", "D code", "xit Code", "xitCode", "xitcode", "xit status", " status",
    "eturn code", "rc=1", "rc=2", "rc=124", "rc=134", "rc=135", "rc=136", "rc=138", "rc=137", "rc=139", "rc=143", "rc=247",
    "rc=250", "rc=-", " Exit 1", "xit_code", "xit_status",
];

/// The words before a negative one.
#[rustfmt::skip]
const NEGATIVE: &[&str] = &[
    "exitcode=-", "exitcode: -", "exit code: -", "exit code -", "return code -", "return code: -", "returncode", "rc=-",
    " rc=-6", " rc=-7", " rc=-9", "(rc=-6", "(rc=-7", "(rc=-9", ",rc=-6", ",rc=-7", ",rc=-9", ":rc=-6", ":rc=-7", ":rc=-9",
    " rc=-1", "(rc=-1", ",rc=-1", ":rc=-1",
];

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // CPython's subprocess.py, 3.6 and later; accelerate's `simple_launcher` raises it of the training script.
    Pattern {
        id: "status/subprocess-signal",
        witness: Witness::Supervisor,
        stems: &[" died with <Signals.", " died with unknown signal "],
        regex: r"^(?:(?:E {2,}| ?)(?:[\w.]+: )?(?:subprocess\.)?CalledProcessError: Command |(?:[Ee]rror: |ERROR:? )?Command '[^<]+' )(?:.* )?died with (?:<Signals\.(?<signal>SIG\w+): \d+>|unknown signal (?<number>\d+))\.\s*$",
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.signal("number"));
            let how = signal.map_or(How::Vanished, How::Signal);
            vec![Claim::new(What::Ended { how, hint: false }, Who::role(Role::Rank))]
        },
        samples: &[
            "subprocess.CalledProcessError: Command '['sh', '-c', 'kill -9 $$']' died with <Signals.SIGKILL: 9>.",
            "CalledProcessError: Command '['/home/u/xv/bin/python', '-c', 'import os;os.kill(os.getpid(),7)']' died with <Signals.SIGBUS: 7>.",
            "subprocess.CalledProcessError: Command '['x']' died with unknown signal 35.",
            "Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.",
        ],
        near_misses: &[
            "    return \"Command '%s' died with %r.\" % (",
            "\"Command 'x' died with <Signals.SIGKILL: 9>.\"",
            "the Command 'x' died with <Signals.SIGKILL: 9>.",
        ],
    },
    // Only numbers that stand for a signal say how the child ended; all others are consequences of an error told above.
    Pattern {
        id: "status/subprocess-code",
        witness: Witness::Arithmetic,
        stems: &["returned non-zero exit status "],
        regex: r"^(?:E {2,}| ?)(?:[\w.]+: )?(?:subprocess\.)?CalledProcessError: Command .* returned non-zero exit status (?<code>-?\d+)\.?\s*$",
        read: deadly,
        samples: &[
            "subprocess.CalledProcessError: Command '['sh', '-c', 'exit 137']' returned non-zero exit status 137.",
            "CalledProcessError: Command '['python', 'train.py']' returned non-zero exit status -9",
        ],
        near_misses: &[
            "subprocess.CalledProcessError: Command '['x']' returned non-zero exit status 1.",
            "The command returned non-zero exit status 137.",
        ],
    },
    // The repr of a multiprocessing process; `<Process(name, stopped[SIGKILL])>` up to Python 3.7.
    Pattern {
        id: "status/multiprocessing",
        witness: Witness::Supervisor,
        stems: &[" stopped exitcode=", ", stopped["],
        regex: concat!(
            r"<\w*Process(?: name='(?<name>[^']*)' pid=(?<pid>\d+) parent=\d+ stopped exitcode=(?:-(?<signal>SIG\w+)|(?<code>-?\d+))",
            r"|\((?<oldname>[^,()]+), stopped\[(?:(?<oldsignal>SIG\w+)|(?<oldcode>-?\d+))\])(?: daemon)?[)>]"
        ),
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.signal("oldsignal")).map(How::Signal);
            let code = caps.num("code").or_else(|| caps.num("oldcode")).filter(|code| *code != 0).map(How::of_returncode);
            let who = Who {
                role: Role::Worker,
                own_pid: caps.num("pid").map(OwnPid),
                process: caps.text("name").or_else(|| caps.text("oldname")),
                ..Who::default()
            };
            signal.or(code).map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "multiprocessing exitcode -7 <SpawnProcess name='SpawnProcess-1' pid=9170 parent=9161 stopped exitcode=-SIGBUS>",
            "[<Process name='Process-1' pid=9170 parent=9161 stopped exitcode=-SIGKILL daemon>]",
            "<ForkProcess(ForkPoolWorker-1, stopped[SIGKILL] daemon)>",
        ],
        near_misses: &[
            "<Process name='Process-1' pid=9170 parent=9161 started>",
            "<Process name='Process-1' pid=9170 parent=9161 stopped exitcode=0>",
        ],
    },
    Pattern {
        id: "status/make",
        witness: Witness::Arithmetic,
        stems: &["] Error "],
        regex: r"^g?make(?:\[\d+\])?: \*\*\* \[[^\]]+\] Error (?<code>\d+)\s*$",
        read: deadly,
        samples: &["make: *** [Makefile:2: train] Error 137", "make[1]: *** [train] Error 135"],
        near_misses: &["make: *** [Makefile:2: train] Error 1", "make: *** [Makefile:2: train] Killed"],
    },
    // GNU and busybox time, findutils' xargs.
    Pattern {
        id: "status/by-signal",
        witness: Witness::Supervisor,
        stems: &["terminated by signal "],
        regex: r"^(?:Command|xargs: (?<process>[^:\s]+):) terminated by signal (?<signal>\d+)\s*$",
        read: |caps| {
            let who = Who { process: caps.text("process"), ..Who::default() };
            let how = caps.signal("signal").map_or(How::Vanished, How::Signal);
            vec![Claim::new(What::Ended { how, hint: false }, who)]
        },
        samples: &["Command terminated by signal 9", "xargs: python: terminated by signal 7"],
        near_misses: &["fish: Job 1, 'python' terminated by signal SIGKILL (Forced quit)", "The Command terminated by signal 9"],
    },
    // supervisor/options.py and process.py.
    Pattern {
        id: "status/supervisord",
        witness: Witness::Supervisor,
        stems: &["exited: ", "reaped unknown pid "],
        regex: r"^(?:[^'`]*(?:INFO|WARN) )?(?:exited: (?<process>\S+) \((?:terminated by (?<signal>SIG\w+|signal \d+)(?: \(core dumped\))?|exit status (?<code>\d+)); not expected\)|reaped unknown pid (?<pid>\d+) \(terminated by (?<orphan>SIG(?:KILL|BUS|SEGV|ABRT))(?: \(core dumped\))?\))\s*$",
        read: |caps| {
            let number =
                caps.get("signal").and_then(|text| text.strip_prefix("signal ")).and_then(|n| n.parse().ok()).map(Signal);
            let signal = caps.signal("signal").or(number).or_else(|| caps.signal("orphan")).map(How::Signal);
            let code = caps.num("code").map(How::Code);
            // A process that nobody waited for is none of its programs.
            let role = if caps.get("pid").is_some() { Role::Unknown } else { Role::Main };
            let who = Who { process: caps.text("process"), ..Who::own(role, caps.num("pid")) };
            signal.or(code).map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "2024-03-01 10:00:00,123 INFO exited: train (terminated by SIGKILL; not expected)",
            "exited: train (terminated by SIGBUS (core dumped); not expected)",
            "exited: train (exit status 1; not expected)",
            "2023-08-13 22:30:52,517 INFO reaped unknown pid 72 (terminated by SIGKILL)",
        ],
        near_misses: &["exited: train (exit status 0; expected)", "exited: none"],
    },
    // The words of wrappers that nobody wrote a standard for: a launcher's log, just, mprocs, poe, watchexec.
    Pattern {
        id: "status/in-words",
        witness: Witness::Supervisor,
        stems: &[
            "y signal ",
            "th signal ",
            "to signal ",
            "on signal ",
            "y SIGK",
            "y SIGB",
            "y SIGS",
            "y SIGA",
            "th SIG",
            "to SIG",
            "signal: SIG",
        ],
        regex: concat!(
            r#"^(?:[^"'#{}<>=|]{0,100}[^\w"'#{}<>=|-])?(?:killed|terminated|exited|died|stopped|ended|crashed|failed)(?: unexpectedly)?(?: on line \d+)?"#,
            r" (?:by|with|due to|on)(?: signal)?:? (?:(?<name>SIG(?:KILL|BUS|SEGV|ABRT))|(?<number>[679]|11))(?: \(?(?:SIG)?[A-Za-z ]{3,24}\)?)?(?:[.,;!].{0,80})?\s*$"
        ),
        read: in_words,
        samples: &[
            "child 4420 killed by signal 9",
            "Process 4411 (python) killed by SIGKILL",
            "Child exited due to signal 9 Killed",
            "WARNING: Worker 3 exited with signal SIGKILL, restarting",
            "train.py exited with signal 7",
            "Error: Command failed with signal SIGKILL",
            "error: Recipe `train` was terminated on line 3 by signal 9",
            "Error: Subprocess terminated by signal: SIGBUS",
        ],
        near_misses: &[
            "if a worker is killed by signal 9, lower the batch size",
            "the container may be killed by SIGKILL",
            "step failed with 9",
            "- exit 137: killed by SIGKILL",
            "the grace period ended with 11 workers",
        ],
    },
    // Python's `returncode` and `exitcode` behind words of a wrapper, honcho's `(rc=-9)`.
    Pattern {
        id: "status/negative",
        witness: Witness::Supervisor,
        stems: NEGATIVE,
        regex: r#"^[^"'`#{}]{1,100}[\s(:,](?:exit ?code|return ?code|rc)(?:=|: ?| )(?<code>-(?:6|7|9|11))\)?[.,;]?\s*$"#,
        read: |caps| {
            let taken = in_others(&caps.line.text);
            if taken { Vec::new() } else { deadly(caps) }
        },
        samples: &["run.py: subprocess died: returncode=-9", "train.1 stopped (rc=-9)", "A worker died: exitcode=-7"],
        near_misses: &["if rc=-9 then retry with less", "run.py: subprocess died: returncode=-15", "returncode: 1"],
    },
    // npm and its relatives.
    Pattern {
        id: "status/npm",
        witness: Witness::Supervisor,
        stems: &["npm ERR! signal ", "npm error signal ", "\" was terminated by signal SIG"],
        regex: r#"^(?:npm (?:ERR!|error) signal (?<signal>SIG\w+)|error: script "[^"]*" was terminated by signal (?<signal2>SIG\w+)(?: \([^)]*\))?)\s*$"#,
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.signal("signal2"));
            let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
            what.map(|what| Claim::new(what, Who::role(Role::Rank))).into_iter().collect()
        },
        samples: &["npm ERR! signal SIGKILL", "error: script \"train\" was terminated by signal SIGKILL (Forced quit)"],
        near_misses: &["npm ERR! code 1"],
    },
    // tini -vv and dumb-init -v, the main process of a container.
    Pattern {
        id: "status/init",
        witness: Witness::Supervisor,
        stems: &["Main child exited with signal", " was terminated by signal "],
        regex: concat!(
            r"^(?:\[INFO  tini \(\d+\)\] )?(?:Main child exited with signal \(with signal '(?<signal>[^']*)'\)",
            r"|\[dumb-init\] A child with PID (?<pid>\d+) was terminated by signal (?<number>\d+)\.)\s*$"
        ),
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.signal("number"));
            let who = Who::own(Role::Main, caps.num("pid"));
            let how = signal.map_or(How::Vanished, How::Signal);
            vec![Claim::new(What::Ended { how, hint: false }, who)]
        },
        samples: &[
            "[INFO  tini (1)] Main child exited with signal (with signal 'Killed')",
            "[dumb-init] A child with PID 7 was terminated by signal 9.",
        ],
        near_misses: &["[INFO  tini (1)] Main child exited normally (with status '1')"],
    },
    // GNU timeout -v; without -v it kills in silence.
    Pattern {
        id: "status/timeout",
        witness: Witness::Supervisor,
        stems: &["timeout: sending signal "],
        regex: r#"^timeout: sending signal (?<signal>\w+) to command ['‘"`](?<process>[^'’"]*)['’"]\s*$"#,
        read: |caps| {
            let who = Who { process: caps.text("process"), ..Who::default() };
            vec![Claim::new(What::Stopped { by: "timeout", why: Why::Timeout, signal: caps.signal("signal") }, who)]
        },
        samples: &["timeout: sending signal KILL to command ‘python’", "timeout: sending signal TERM to command 'sleep'"],
        near_misses: &["timeout: sending signal failed"],
    },
    // Kaldi's and ESPnet's run.pl, PyCharm, CI runners' last words, horovod's `Exit code:`, scripts that echo `$?`: a bare number.
    Pattern {
        id: "status/code",
        witness: Witness::Arithmetic,
        stems: CODE,
        regex: concat!(
            r"^(?:\[\d+\] ?[+-]? +Exit (?<job>\d+)\s{2,}\S.*",
            r#"|(?:ERROR: |##\[error\]|Error: |[\w.]+(?:Error|Exception): )?(?i:(?:(?:process|command|program|script|job|run|training|application|subprocess) |(?:[^\s:'"`#]+ ){2,8})?"#,
            r"(?:completed|finished|exited|failed|ended|terminated|returned|died|crashed)(?: with)?(?: a)?(?: non-?zero)? (?:exit ?|return ?)?(?:code|status)):? \(?(?<code>-?\d+)\)?",
            r"(?:\.|: .*| \((?:interrupted by signal \d+: ?)?(?<name>SIG\w+)\))?",
            r"|(?i:exit ?code|exit[_ ]status|return ?code|rc)(?: was| is)? ?[:=]? ?(?<bare>-?\d+))\s*$"
        ),
        read: |caps| {
            // Containers, pods, tasks and CI systems have speakers of their own, who say more.
            const OTHERS: [&str; 11] = [
                "Bash command failed",
                "ontainer",
                "pod",
                "task",
                "Task",
                "##[error]",
                "Error: Process completed",
                "script returned",
                "command terminated with",
                "Exit code: ",
                "(PID ",
            ];
            let text = &caps.line.text;
            // LSF's report, which is about the job.
            let lsf = text.starts_with("Exited with exit code ") && text.trim_end().ends_with('.');
            if lsf || OTHERS.iter().any(|word| text.contains(word)) { Vec::new() } else { deadly(caps) }
        },
        samples: &[
            "Process finished with exit code 137 (interrupted by signal 9: SIGKILL)",
            "Finished with exit code -9 (SIGKILL)",
            "ExitCode 137",
            "exit status 137",
            "rc=137",
            "Training script train.py exited with code 137",
            "Process Process-3 died with exitcode -9",
            "RuntimeError: training process exited with code -9",
            "exitcode: -9",
            "[1]+  Exit 137                python train.py",
        ],
        near_misses: &[
            "ExitCode 1",
            "exit status 0",
            "# Ended (code 0) at Thu Dec 29 11:21:38 CST 2022, elapsed time 58 seconds",
            "srun: error: gpu003: task 0: Exited with exit code 137",
            "RuntimeError: DataLoader worker (pid 9184) exited unexpectedly with exit code 137.",
            "Exit code 137 means that the process was killed",
            "Exited with exit code 140.",
        ],
    },
];

/// Whether a line has a speaker of its own, who says more.
fn in_others(text: &str) -> bool {
    const OTHERS: [&str; 25] = [
        "xception: ",
        "Worker with pid",
        "non-zero exit code",
        "nanny",
        "fish: ",
        "Command terminated by signal",
        "exited: ",
        "[dumb-init]",
        "mpirun noticed",
        "DataLoader",
        "ontainer",
        "exits with return code",
        "exited with status code",
        "failed (exitcode",
        "Process completed",
        "return code list",
        "step ",
        "Task exited",
        "crashed with exit code",
        "entrypoint command",
        "User process",
        "Python process",
        "xargs",
        "scheduler died",
        "Child process unexpectedly",
    ];
    OTHERS.iter().any(|word| text.contains(word))
}

/// An end by a signal, told in a sentence. Advice and supposition use the same words.
fn in_words(caps: &Caps<'_>) -> Vec<Claim> {
    const DOUBTS: [&str; 14] =
        ["if ", "If ", "when ", "When ", "may ", "might", "could", "would", "will ", "avoid", "can be", "should", "?", "grep"];
    let text = &caps.line.text;
    let listed = text.trim_start().starts_with(['-', '*', '•', '>', '|', '+', '$']);
    if listed || in_others(text) || DOUBTS.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    // A number without the word is no signal.
    let number = caps.get("number").filter(|_| text.contains("signal")).and_then(|number| number.parse().ok()).map(Signal);
    let signal = caps.signal("name").or(number);
    let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
    what.map(Claim::bare).into_iter().collect()
}

/// A status that stands for a signal by arithmetic; any other number says nothing of how the program died.
fn deadly(caps: &Caps<'_>) -> Vec<Claim> {
    let code = ["code", "job", "bare"].iter().find_map(|group| caps.num::<i64>(group));
    let deadly = code.filter(|code| Signal::from_status(*code).is_some_and(|signal| (1..=15).contains(&signal.0)));
    // A printed name wins over its number, which other systems than Linux count otherwise (138 is SIGBUS on macOS).
    let named = |code| caps.signal("name").filter(|name| Signal::from_status(code) != Some(*name)).map(How::Signal);
    let what = |code| What::Ended { how: named(code).unwrap_or_else(|| How::of_returncode(code)), hint: false };
    deadly.map(|code| Claim::new(what(code), Who::role(Role::Rank))).into_iter().collect()
}
