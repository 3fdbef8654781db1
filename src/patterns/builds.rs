//! Builds and task runners that report the death of a tool: compilers, Gradle, npm, docker build.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Witness};
use crate::units::Signal;

fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    let who = Who { process: c.text("process").or_else(|| c.text("process2")).or_else(|| c.text("process3")), ..Who::default() };
    let signal = ["signal", "signal2", "signal3"].iter().find_map(|group| c.signal(group));
    let what = |signal| What::Ended { how: How::Signal(signal), hint: false };
    signal.map(|signal| Claim::new(what(signal), who)).into_iter().collect()
}

/// A status that stands for a signal; any other tells of an error that is told above.
fn deadly(c: &Caps<'_>) -> Vec<Claim> {
    let code = ["code", "code2", "code3", "code4", "code5"].iter().find_map(|group| c.num::<i64>(group));
    let deadly = code.filter(|code| Signal::from_status(*code).is_some_and(|signal| (1..=15).contains(&signal.0)));
    let what = |code| What::Ended { how: How::Code(code), hint: false };
    deadly.map(|code| Claim::new(what(code), Who::role(Role::Job))).into_iter().collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // gcc's driver (gcc/gcc.c; `internal compiler error` to gcc 9), collect2 and nvcc: the compiler proper or the linker died.
    Pattern {
        id: "build/compiler",
        witness: Witness::Supervisor,
        stems: &[
            " signal terminated program ",
            "internal compiler error: Killed",
            " terminated with signal ",
            "' died due to signal ",
        ],
        regex: concat!(
            r"^(?:[\w./+-]+: (?:fatal error: (?<signal>[A-Z][\w ]+) signal terminated program (?<process>[\w+.-]+)|internal compiler error: (?<killed>Killed) \(program (?<process2>[\w+.-]+)\))",
            r"|collect2: (?:fatal )?error: ld terminated with signal (?<signal2>\d+) \[[\w ]+\].*|nvcc error +: '(?<process3>[\w+.-]+)' died due to signal (?<signal3>\d+).*)\s*$"
        ),
        read: |c| {
            let mut claims = signalled(c);
            if c.get("killed").is_some() {
                let who = Who { process: c.text("process2"), ..Who::default() };
                claims.push(Claim::new(What::Ended { how: How::Signal(Signal::KILL), hint: false }, who));
            }
            claims
        },
        samples: &[
            "x86_64-linux-gnu-gcc: fatal error: Killed signal terminated program cc1plus",
            "c++: internal compiler error: Killed (program cc1plus)",
            "collect2: fatal error: ld terminated with signal 9 [Killed]",
            "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
        ],
        near_misses: &["gcc: fatal error: no input files", "see gcc: fatal error: Killed signal terminated program cc1plus"],
    },
    // Gradle's process API, npm and its kin, docker build with and without BuildKit: a bare number.
    Pattern {
        id: "build/code",
        witness: Witness::Arithmetic,
        stems: &[
            " finished with non-zero exit value ",
            "npm ERR! ",
            "npm error ",
            "ELIFECYCLE",
            "returned a non-zero code: ",
            "did not complete successfully: exit code: ",
        ],
        regex: concat!(
            r"^(?:(?:> )?Process '.+' finished with non-zero exit value (?<code>\d+)|npm (?:ERR!|error) (?:Exit status|errno|code) (?<code2>\d+)",
            r"|\s?ELIFECYCLE\s+Command failed with exit code (?<code3>\d+)\.|(?:ERROR: .*|.*)?[Tt]he command '[^']*' returned a non-zero code: (?<code4>\d+)",
            r"|(?:ERROR: |#\d+ ERROR: |.*failed to solve: )?(?:executor failed running|process) .* did not complete successfully: exit code: (?<code5>\d+))\s*$"
        ),
        read: deadly,
        samples: &[
            "> Process 'Gradle Test Executor 1' finished with non-zero exit value 137",
            "npm ERR! Exit status 137",
            "npm error code 137",
            " ELIFECYCLE  Command failed with exit code 137.",
            "The command '/bin/sh -c pip install flash-attn' returned a non-zero code: 137",
            "ERROR: process \"/bin/sh -c python setup.py bdist_wheel\" did not complete successfully: exit code: 137",
        ],
        near_misses: &[
            "npm ERR! Exit status 1",
            "> Process 'Gradle Test Executor 1' finished with non-zero exit value 1",
            "npm ERR! code ELIFECYCLE",
        ],
    },
    // Gradle's launcher: the daemon's process is gone; it guesses itself.
    Pattern {
        id: "build/gradle-daemon",
        witness: Witness::Supervisor,
        stems: &["Gradle build daemon disappeared unexpectedly"],
        regex: r"^(?:> )?Gradle build daemon disappeared unexpectedly \(it may have been killed or may have crashed\)\s*$",
        read: |_| vec![Claim::new(What::Ended { how: How::Vanished, hint: true }, Who::default())],
        samples: &["Gradle build daemon disappeared unexpectedly (it may have been killed or may have crashed)"],
        near_misses: &["The Gradle build daemon disappeared unexpectedly because we stopped it"],
    },
];
