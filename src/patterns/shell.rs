//! How shells report that a job died of a signal: bash, dash, busybox, ksh, zsh and fish, in the languages of their catalogues.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, What, Who, Witness};
use crate::units::Signal;

/// The words for the signals that end jobs, as shells begin them.
const WORDS: &[&str] = &[
    "Killed",
    "Bus error",
    "Segmentation fault",
    "Aborted",
    "Abort trap",
    "Terminated",
    "Floating point exception",
    "Arithmetic exception",
    "Illegal instruction",
    "Hangup",
    "Tué",
    "Processus arrêté",
    "Erreur d",
    "Complété",
    "Abandon",
    "Getötet",
    "Abgebrochen",
    "Bus-Fehler",
    "Bus-Zugriffsfehler",
    "Speicherzugriffsfehler",
    "Beendet",
    "Matado",
    "Terminado",
    "Error del bus",
    "Violación de segmento",
    "Ucciso",
    "Errore di bus",
    "Terminato",
    "Morto",
    "Erro no barramento",
    "Erro do barramento",
    "已杀死",
    "已殺死",
    "总线错误",
    "匯流排錯誤",
    "段错误",
    "段錯誤",
    "已终止",
    "已放弃",
    "強制終了",
    "バスエラー",
    "죽었음",
    "버스 오류",
    "Убито",
    "Убит",
    "Ошибка шины",
];

/// A progress bar that the dead job left without a line end.
macro_rules! bar {
    () => {
        r"^(?:.*(?:it/s|s/it)[^\[\]]*\]\s*)?"
    };
}

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // bash, for scripts and -c. The pid is that of the job's first process, perhaps a wrapper's. `(core dumped)` stands before
    // the command. ksh writes a colon behind the pid.
    Pattern {
        id: "shell/bash",
        witness: Witness::Supervisor,
        stems: WORDS,
        regex: concat!(
            bar!(),
            r#"(?:[^:"'`#|]{1,200}?) ?: (?:[^\d\s:]{1,12} ?\d+|\d+ ?[^\d\s:]{1,12}) ?: +(?<pid>\d+):? "#,
            r"(?<signal>Floating point exception|\S+(?: \S+){0,3}?)(?:\s{2,}|\s*$|\s*\(core dumped\)\s*)(?:\(core dumped\)\s*)?(?<command>.*)$"
        ),
        read: job,
        samples: &[
            "t.sh: line 1:  9217 Bus error               python3 -c 'import os;os.kill(os.getpid(),7)'",
            "bash: line 1: 25413 Killed                  ( python3 -m espnet2.bin.tts_train --collect_stats true )",
            "/var/spool/slurmd/job00284/slurm_script: line 29:  8156 Killed                  python train.py",
            "t.sh: line 3: 4711 Segmentation fault      (core dumped) python train.py",
            "run.sh: line 3: 4711 Floating point exception(core dumped) python train.py",
            "t.sh : ligne 1 :  9217 Tué                     python3 train.py",
            "t.sh: línea 5: 777 Terminado (killed)      python train.py",
            "t.sh: Zeile 5:  9217 Abgebrochen (Killed)    python3 train.py",
            "t.sh: 行 1:  9217 已杀死               python3 train.py",
            "t.sh: line 1: 12345: Killed",
            " 31%|███       | 310/1000 [00:10<05:00,  1.2it/s]t.sh: line 1: 12345 Killed                  python train.py",
        ],
        near_misses: &[
            "notes.txt: line 3: 5 Killed by the storm",
            "# t.sh: line 1: 12345 Killed                  python train.py",
            "news: line 4: 17 people Killed",
        ],
    },
    // bash, the further members of a pipeline below the line of its first.
    Pattern {
        id: "shell/pipeline",
        witness: Witness::Supervisor,
        stems: &[" | "],
        regex: r"^ {2,}(?<pid>\d+) (?<signal>[^\d\s|]\S*(?: \S+){0,3}?)\s{2,}\| [^\d\s].*$",
        read: job,
        samples: &["     34858 Killed                  | gmm-acc-mllt --rand-prune=4.0 exp/tri3/2.mdl ark:- 3.macc"],
        near_misses: &[
            "     34856                         | weight-silence-post 0.0 1:2:3:4:5 exp/tri3/2.mdl ark:- ark:-",
            "  12 Killed  | 7 | 3 |",
        ],
    },
    // Interactive shells with job control: bash `[1]+  Killed`, zsh `[1]  + 12345 killed`.
    Pattern {
        id: "shell/job",
        witness: Witness::Supervisor,
        stems: &[
            "Killed",
            "killed",
            "Bus error",
            "bus error",
            "Segmentation fault",
            "segmentation fault",
            "Aborted",
            "abort",
            "Terminated",
            "terminated",
        ],
        regex: concat!(
            r"^\[\d+\] {0,2}[+-]? +(?:(?<pid>\d+) )?(?<signal>(?i:killed|bus error|segmentation fault|aborted|abort|terminated))",
            r"(?:\s{2,}|\s*\(core dumped\)\s+)(?:\(core dumped\)\s+)?(?<command>\S.*)$"
        ),
        read: job,
        samples: &[
            "[1]+  Killed                  python train.py",
            "[1]+  Bus error               (core dumped) python train.py",
            "[1]  + 12345 killed     python train.py",
            "[1]    12345 segmentation fault (core dumped)  python train.py",
        ],
        near_misses: &["[1] Killed process", "[3] killed the server"],
    },
    Pattern {
        id: "shell/zsh",
        witness: Witness::Supervisor,
        stems: &["zsh: "],
        regex: r"^zsh: (?<signal>killed|bus error|segmentation fault|abort|terminated|floating point exception|illegal hardware instruction)(?: +\(core dumped\))?  +(?<command>\S.*)$",
        read: job,
        samples: &[
            "zsh: killed     python train.py",
            "zsh: bus error  python train.py",
            "zsh: segmentation fault (core dumped)  python train.py",
        ],
        near_misses: &["zsh: command not found: python", "zsh: killed by me"],
    },
    Pattern {
        id: "shell/fish",
        witness: Witness::Supervisor,
        stems: &[" terminated by signal SIG"],
        regex: r#"^(?:fish: )?(?:Job \d+, |Process (?<pid>\d+), )?['“‘"](?<command>[^'”’"]*)['”’"](?: from job \d+, .*)? terminated by signal (?<signal>SIG[A-Z]+) \([^)]*\)\s*$"#,
        read: job,
        samples: &[
            "fish: Job 1, 'python train.py' terminated by signal SIGKILL (Forced quit)",
            "fish: “python train.py” terminated by signal SIGBUS (Misaligned address error)",
        ],
        near_misses: &["process 0 terminated by signal SIGKILL"],
    },
    // dash, busybox and others say only this, alone on the line or behind a progress bar.
    Pattern {
        id: "shell/bare",
        witness: Witness::Supervisor,
        stems: WORDS,
        regex: concat!(
            bar!(),
            r"(?<signal>(?:Killed|Bus error|Segmentation fault|Aborted|Abort trap|Terminated|Floating point exception|Arithmetic exception|Illegal instruction",
            r"|Tué|Processus arrêté|Erreur (?:de|du) bus|Erreur de segmentation|Getötet|Abgebrochen \(Killed\)|Bus-Fehler|Bus-Zugriffsfehler|Speicherzugriffsfehler",
            r"|Matado|Terminado \(killed\)|Error del bus|Violación de segmento|Ucciso|Errore di bus|Morto(?: \(Killed\))?|Erro (?:no|do) barramento",
            r"|已杀死|已殺死|总线错误|匯流排錯誤|段错误|段錯誤|強制終了|バスエラー|죽었음|버스 오류|Убито|Убит|Ошибка шины)(?:: \d+)?) ?(?:\(core dumped\))?\s*$"
        ),
        read: job,
        samples: &[
            "Killed",
            "Bus error",
            "Bus error (core dumped)",
            "Segmentation fault (core dumped)",
            "Aborted (core dumped)",
            "Terminated",
            "Killed: 9",
            "Tué",
            "已杀死",
            "Epoch 1:  31%|███       | 310/1000 [00:10<05:00,  1.2it/s, loss=0.1]Killed",
        ],
        near_misses: &["Killed by the scheduler", "  Killed", "user: Killed", "Number of workers Killed", "Terminated: true"],
    },
    // GNU make and its kin name the target; the shell's word stands on the line above.
    Pattern {
        id: "shell/make",
        witness: Witness::Supervisor,
        stems: &[": *** ["],
        regex: r"^g?make(?:\[\d+\])?: \*\*\* \[[^\]]+\] (?<signal>Killed|Bus error|Segmentation fault|Aborted|Terminated|Floating point exception|Illegal instruction)(?: \(core dumped\))?\s*$",
        read: job,
        samples: &["make: *** [Makefile:2: train] Killed", "make[1]: *** [train] Bus error (core dumped)"],
        near_misses: &["make: *** [Makefile:2: train] Error 1", "make: *** [train] Error 137"],
    },
];

/// A job's end by a signal, in words that must be known; the command tells the program's name.
fn job(caps: &Caps<'_>) -> Vec<Claim> {
    let words = caps.get("signal").unwrap_or_default().trim();
    let signal = match words {
        "abort" => Some(Signal::ABRT),
        "illegal hardware instruction" => Some(Signal(4)),
        // A number alone would be a pid that the regex took for a word.
        _ if words.bytes().all(|b| b.is_ascii_digit()) => None,
        _ => Signal::from_description(words),
    };
    let process = caps.get("command").and_then(program).map(str::to_owned);
    let own_pid = caps.num("pid").map(crate::units::OwnPid);
    let what = |signal| What::Ended { how: How::Signal(signal), hint: false };
    signal.map(|signal| Claim::new(what(signal), Who { own_pid, process, ..Who::default() })).into_iter().collect()
}

/// The program's name in a command line: its first word after the assignments.
fn program(command: &str) -> Option<&str> {
    let first = command.split_whitespace().find(|word| !word.contains('='))?;
    let name = first.rsplit('/').next()?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b));
    (plain && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::fact::{How, What};
    use crate::patterns::tests::claims;
    use crate::units::{OwnPid, Signal};

    #[test]
    fn bash_tells_the_signal_the_pid_and_the_program() {
        for (text, signal, pid, process) in [
            ("t.sh: línea 5: 777 Terminado (killed)      python train.py", Signal::KILL, 777, Some("python")),
            (
                "a.sh: line 17: 3321 Aborted                 (core dumped) CUDA_VISIBLE_DEVICES=0 python x.py",
                Signal::ABRT,
                3321,
                Some("python"),
            ),
            ("a.sh: line 17: 3321 Floating point exception(core dumped) /usr/bin/python3 x.py", Signal(8), 3321, Some("python3")),
            ("bash: line 1: 25413 Killed                  ( python3 -m x )", Signal::KILL, 25413, None),
        ] {
            let all = claims(text);
            let claim = all.first().expect("the line is read");
            assert_eq!(claim.what, What::Ended { how: How::Signal(signal), hint: false }, "{text}");
            assert_eq!(claim.who.own_pid, Some(OwnPid(pid)), "{text}");
            assert_eq!(claim.who.process.as_deref(), process, "{text}");
        }
    }
}
