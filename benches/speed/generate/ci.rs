//! A raw log of GitHub Actions: groups, installation, tests with colour, builds, and steps in which a training dies.

use std::io::Write;

use crate::dice::{Clock, Dice};
use crate::training::Training;
use crate::{Due, Writer};

/// Packages that pip tells of.
const PACKAGES: [&str; 8] = ["numpy", "torch", "triton", "networkx", "sympy", "filelock", "fsspec", "pillow"];

/// The job's log, and the short training in some of its steps.
pub(crate) struct Ci {
    dice: Dice,
    clock: Clock,
    training: Training,
    plain: Vec<u8>,
}

impl Ci {
    /// A log from its beginning.
    pub(crate) fn new(mut dice: Dice) -> Self {
        let training = Training::new(Dice::new(dice.bits()), 0);
        Self { dice, clock: Clock::new(), training, plain: Vec::new() }
    }

    fn ordinary(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let dice = &mut self.dice;
        match dice.below(20) {
            0 => writeln!(out, "##[group]Run python -m pytest -x --maxfail=1 shard_{}", dice.below(64)),
            1 => writeln!(out, "##[endgroup]"),
            2 | 3 => {
                let (minor, patch) = (dice.below(30), dice.below(9));
                writeln!(out, "Requirement already satisfied: {}=={minor}.{patch}.0 in /opt/venv", dice.one_of(&PACKAGES))
            }
            4 | 5 => writeln!(out, "   Compiling parser-{} v0.{}.1", dice.below(400), dice.below(60)),
            6..=15 => {
                let (module, test, done) = (dice.below(80), dice.below(900), dice.below(100));
                let verdict = dice.one_of(&["PASSED", "PASSED", "PASSED", "SKIPPED", "XFAIL"]);
                writeln!(out, "tests/test_{module}.py::test_case_{test}[cpu-float32] \u{1b}[32m{verdict}\u{1b}[0m [{done:3}%]")
            }
            _ => {
                self.training.write(Due::Ordinary, out);
                Ok(())
            }
        }
    }
}

impl Writer for Ci {
    fn write(&mut self, due: Due, out: &mut Vec<u8>) {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        match due {
            Due::Ordinary => self.ordinary(&mut plain).expect("memory takes all"),
            due => self.training.write(due, &mut plain),
        }
        for line in plain.split_inclusive(|&byte| byte == b'\n') {
            let passed = self.dice.between(100, 90_000);
            self.clock.pass(passed);
            let micros = self.clock.micros();
            write!(out, "{}.{micros:06}0Z ", self.clock.shown('T')).expect("memory takes all");
            out.extend_from_slice(line);
        }
        self.plain = plain;
    }
}
