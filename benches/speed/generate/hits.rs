//! Every line tells of a death: the worst that a reader of deaths can be given.

use std::io::Write;

use crate::dice::Dice;
use crate::{Due, Writer};

/// The largest pid of Linux, unless `kernel.pid_max` was raised.
const PIDS: u64 = 32_768;

/// The dice.
pub(crate) struct Hits {
    dice: Dice,
}

impl Hits {
    /// A log from its beginning.
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice }
    }
}

impl Writer for Hits {
    fn write(&mut self, _: Due, out: &mut Vec<u8>) {
        let (pid, rank) = (self.dice.between(2, PIDS), self.dice.below(8));
        let written = match self.dice.below(6) {
            0 => writeln!(out, "RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed. "),
            1 => writeln!(out, "RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Bus error. "),
            2 => writeln!(out, "RuntimeError: DataLoader worker (pid(s) {pid}) exited unexpectedly"),
            3 => writeln!(
                out,
                "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: {rank} (pid: {pid}) of \
                 binary: /opt/conda/bin/python"
            ),
            4 => writeln!(out, "srun: error: gpu-07: task {rank}: Out Of Memory"),
            _ => writeln!(
                out,
                "RuntimeError: unable to allocate shared memory(shm) for file </torch_{pid}_745145825_0>: No space left on device \
                 (28)"
            ),
        };
        written.expect("memory takes all");
    }
}
