//! How shells report that a job died of a signal: bash, dash, busybox, ksh, zsh and fish, in the languages of their catalogues.

use super::shell_words::{ALONE, LINES};
use super::{Caps, Pattern};
use crate::fact::{Claim, How, What, Who, Witness};
use crate::units::Signal;

/// A progress bar that the dead job left without a line end: tqdm's, whatever its unit (`it/s`, `s/block`, `?batch/s`), and
/// those of Keras, which end with a number.
macro_rules! bar {
    () => {
        r"^(?:.*[\d?](?: ?[A-Za-z]\w*/s|s/[A-Za-z]\w*)[^\[\]]*\]\s*|.*\d/\d+ (?:\[[=>.]{8,}\]|━{8,}) [^\[\]]*\d\s*)?"
    };
}

/// How many bytes bash fills a signal's words up to (`LONGEST_SIGNAL_DESC`); longer words stand one blank before the command.
const FILLED: usize = 24;

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // bash, for scripts and -c, all versions and languages. The pid is that of the job's first process, perhaps a wrapper's.
    // The signal's words are filled up to 24 bytes, so longer ones stand one blank before the command; `(core dumped)`, in the
    // same language, stands before the command. ksh writes a colon behind the pid.
    Pattern {
        id: "shell/bash",
        witness: Witness::Supervisor,
        stems: LINES,
        regex: concat!(
            bar!(),
            r#"(?:[^:"'`#|]{1,200}?)(?: ?: ?|, | )(?:[^\d\s:：]{1,12} ?\d+ª?|\d+\.? ?[^\d\s:：.]{1,12}|第 ?\d+ ?[行列]) ?[:：]\s*"#,
            r"(?<pid>\d+):? (?<rest>\S.*)$"
        ),
        read: job,
        samples: &[
            "t.sh: line 1:  9217 Bus error               python3 -c 'import os;os.kill(os.getpid(),7)'",
            "bash: line 1: 25413 Killed                  ( python3 -m espnet2.bin.tts_train --collect_stats true )",
            "/var/spool/slurmd/job00284/slurm_script: line 29:  8156 Killed                  python train.py",
            "t.sh: line 3: 4711 Segmentation fault      (core dumped) python train.py",
            "/var/spool/slurmd/job55102/slurm_script: line 31: 71220 User defined signal 1   python train.py",
            "t.sh: line 3: 4711 CPU time limit exceeded (core dumped) python train.py",
            "run.sh: line 3: 4711 Floating point exception(core dumped) python train.py",
            "t.sh : ligne 1 :  9217 Tué                     python3 train.py",
            "t.sh: línea 5: 777 Terminado (killed)      python train.py",
            "t.sh: Zeile 5:  9217 Abgebrochen (Killed)    python3 train.py",
            "t.sh: 行 1:  9217 已杀死               python3 train.py",
            "t.sh: line 1: 12345: Killed",
            " 31%|███       | 310/1000 [00:10<05:00,  1.2it/s]t.sh: line 1: 12345 Killed                  python train.py",
            "train.sh: 第 12 行：20817 已杀死               python3 train.py --train_path data/spo_0.json",
            "train.sh: 第 3 列：20817 強制結束            python3 train.py",
            "run.sh, linha 7: 20817 Falha de segmentação  (imagem do núcleo gravada) python3 train.py",
            "run.sh línia 7: 20817 Mort                    python3 train.py",
            "run.sh: rivi 12:20817 Tapettu                 python3 train.py",
            "run.sh: 7. sor: 20817 Kilőve                 python3 train.py",
            "run.sh: 7 eilutė: 20817 Segmentacijos klaida    python3 train.py",
            "run.sh: строка 4: 20817 Ошибка сегментации (образ памяти сброшен на диск) python3 train.py",
            "run.sh: 줄 4: 20817 세그먼테이션 오류 (코어 덤프됨) python3 train.py",
            "run.sh: řádek 4: 20817 Zabit                   python3 train.py",
        ],
        near_misses: &[
            "notes.txt: line 3: 5 Killed by the storm",
            "# t.sh: line 1: 12345 Killed                  python train.py",
            "news: line 4: 17 people Killed",
            "t.sh: line 1: 12345 Done                    python train.py",
            "poem.txt: line 4: 17 Mort de la nuit",
            "bash: line 1: 51853 Broken pipe             ali-to-post ark:- ark:-",
        ],
    },
    // bash, the further members of a pipeline below the line of its first.
    Pattern {
        id: "shell/pipeline",
        witness: Witness::Supervisor,
        stems: ALONE,
        regex: r"^ {2,}(?<pid>\d+) (?<rest>[^\d\s|][^|]*\| [^\d\s].*)$",
        read: job,
        samples: &[
            "     34858 Killed                  | gmm-acc-mllt --rand-prune=4.0 exp/tri3/2.mdl ark:- 3.macc",
            "     34858 Bus error               (core dumped) | python3 train.py",
        ],
        near_misses: &[
            "     34856                         | weight-silence-post 0.0 1:2:3:4:5 exp/tri3/2.mdl ark:- ark:-",
            "  12 Killed  | 7 | 3 |",
            "  12 Killed by it  | seven |",
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
            "abort ",
            "abort(",
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
        stems: &["zsh: k", "zsh: b", "zsh: s", "zsh: a", "zsh: t", "zsh: f", "zsh: i"],
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
    // dash, busybox and others say only this, alone on the line, behind a progress bar, or where the dead job's last words had
    // no line end; so does bash of its last command.
    Pattern {
        id: "shell/bare",
        witness: Witness::Supervisor,
        stems: ALONE,
        regex: concat!(
            bar!(),
            r"(?<glued>.*[\d\])}%])?(?<all>(?<words>[^\s:(（][^:(（]{0,40}?)(?: \(\w+\)|\(\w+\))?)(?:: \d+)? ?(?:[(（][^()（）]*[)）])?\s*$"
        ),
        read: bare,
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
            "Abgebrochen (Killed)",
            "Speicherzugriffsfehler (Speicherabzug geschrieben)",
            "段错误（核心已转储）",
            "Epoch 1:  31%|███       | 310/1000 [00:10<05:00,  1.2it/s, loss=0.1]Killed",
            "fill cache:  85%|████████▌ | 12/14 [00:29<00:04,  2.48s/block]Bus error (core dumped)",
            "epoch 3 loss 0.21Killed",
            r#"{"loss": 0.2, "step": 5}Bus error (core dumped)"#,
            "165376/296960 [===============>..............] - ETA: 365s - loss: 2.1371Killed",
            " 12/100 ━━━━━━━━━━━━━━━━━━━━ 3s 40ms/step - accuracy: 0.61 - loss: 2.1371Killed",
        ],
        near_misses: &[
            "step 12 Killed",
            "[user] Killed",
            "epoch 3Zabit",
            "Killed by the scheduler",
            "  Killed",
            "user: Killed",
            "Number of workers Killed",
            "Terminated: true",
        ],
    },
    // A terminal's echo of Ctrl-C, alone or behind a progress bar. Colab writes it too when it takes the machine away, and
    // people write it into pasted sessions, so it is a hint only.
    Pattern {
        id: "shell/ctrl-c",
        witness: Witness::Program,
        stems: &["^C"],
        regex: r"^(?:.*(?:it/s|s/it)[^\[\]]*\]\s*)?\^C\s*$",
        read: |_| vec![Claim::bare(What::Ended { how: How::Signal(Signal::INT), hint: true })],
        samples: &["^C", "Caching images (12.4GB ram):  36% 11250/31020 [00:18<02:11, 199.11it/s]^C"],
        near_misses: &[
            "Press ^C",
            "^CTraceback (most recent call last):",
            "$ python train.py ^C",
            "^CGracefully stopping... (press Ctrl+C again to force)",
        ],
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
    let text = caps.get("rest").or_else(|| caps.get("signal")).unwrap_or_default();
    // SIGPIPE is what another member's end does to a pipeline.
    let Some((signal, behind)) = signal(text).filter(|(signal, _)| *signal != Signal(13)) else { return Vec::new() };
    let apart = behind.trim().is_empty() || behind.starts_with("  ") || text.len() - behind.len() + 2 >= FILLED;
    let command = match remark(behind.trim_start()) {
        Some(rest) => rest,
        None if apart => behind,
        None => return Vec::new(),
    };
    let command = command.trim_start_matches([' ', '|']);
    let process = caps.get("command").or(Some(command)).and_then(program).map(str::to_owned);
    let own_pid = caps.num("pid").map(crate::units::OwnPid);
    let what = What::Ended { how: How::Signal(signal), hint: false };
    vec![Claim::new(what, Who { own_pid, process, job: batch_job(&caps.line.text), ..Who::default() })]
}

/// The job of a script that slurmd keeps as `/var/spool/slurmd/job00284/slurm_script` (src/slurmd/slurmd/req.c, any version).
fn batch_job(line: &str) -> Option<String> {
    let (path, _) = line.split_once("/slurm_script: ")?;
    let digits = path.rsplit_once("/job")?.1;
    let number: u64 = digits.parse().ok()?;
    Some(number.to_string())
}

/// What follows the remark in brackets that a core was written; a subshell's bracket has a blank behind it.
fn remark(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(['(', '（']).filter(|inner| !inner.starts_with(' '))?;
    let mut depth = 1_u32;
    for (at, c) in inner.char_indices() {
        match c {
            '(' | '（' => depth += 1,
            ')' | '）' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return inner.get(at + c.len_utf8()..);
        }
    }
    None
}

/// The signal that a text begins with, in a shell's words, and what stands behind them.
fn signal(text: &str) -> Option<(Signal, &str)> {
    match text {
        "abort" => Some((Signal::ABRT, "")),
        "illegal hardware instruction" => Some((Signal(4), "")),
        _ => Signal::described(text).or_else(|| Signal::from_name(text).map(|signal| (signal, ""))),
    }
}

/// Words that stand alone on their line. They must be written as a shell writes them.
fn bare(caps: &Caps<'_>) -> Vec<Claim> {
    const GLUED: [&str; 5] = ["Killed", "Bus error", "Segmentation fault", "Aborted", "Terminated"];
    // Behind a word of another language that ends in a bracket much may stand.
    let known = |words: &str| if caps.get("glued").is_some() { GLUED.contains(&words) } else { ALONE.contains(&words) };
    let words = [caps.get("all"), caps.get("words")].into_iter().flatten().find(|words| known(words));
    let signal = words.and_then(signal).map(|(signal, _)| signal);
    signal.map(|signal| Claim::bare(What::Ended { how: How::Signal(signal), hint: false })).into_iter().collect()
}

/// Commands that become another program, so that the process that died has that one's name.
const WRAPPERS: [&str; 11] =
    ["eval", "exec", "command", "env", "nohup", "nice", "ionice", "numactl", "taskset", "stdbuf", "setarch"];

/// The program's name in a command line: its first word after the assignments.
fn program(command: &str) -> Option<&str> {
    let first = command.split_whitespace().find(|word| !word.contains('='))?;
    let name = first.rsplit('/').next()?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b));
    (plain && !name.is_empty() && !WRAPPERS.contains(&name)).then_some(name)
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
            ("matlab: line 1031:  2368 Killed                  eval exec $MATLAB -nodisplay", Signal::KILL, 2368, None),
            ("a.sh: 第 12 行：20817 已杀死               python3 train.py", Signal::KILL, 20817, Some("python3")),
            ("a.sh: 第 12 行：20817 段错误               （核心已转储）python3 train.py", Signal::SEGV, 20817, Some("python3")),
            (
                "a.sh: rad 4: 20817 Segmenteringsfel        (minnesutskrift skapad) python3 x.py",
                Signal::SEGV,
                20817,
                Some("python3"),
            ),
            ("a.sh: ред 4: 20817 Грешка в разделянето python3 x.py", Signal::SEGV, 20817, Some("python3")),
            ("     51858 Killed                | gmm-acc-mllt --rand-prune=4.0 a", Signal::KILL, 51858, Some("gmm-acc-mllt")),
        ] {
            let all = claims(text);
            let claim = all.first().expect("the line is read");
            assert_eq!(claim.what, What::Ended { how: How::Signal(signal), hint: false }, "{text}");
            assert_eq!(claim.who.own_pid, Some(OwnPid(pid)), "{text}");
            assert_eq!(claim.who.process.as_deref(), process, "{text}");
        }
    }
}
