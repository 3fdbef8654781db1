//! A training job: steps with rank prefixes, redrawn progress bars, NCCL's chatter, samples, and jobs that die and start anew.

use std::io::Write;

use crate::dice::{Clock, Dice};
use crate::{Due, Writer};

/// Logs of jobs that died, as PyTorch printed them.
const DEATHS: [&str; 10] = [
    include_str!("../../../fixtures/shm-exhaustion/torch-shm-default-64m-113/stdout.log"),
    include_str!("../../../fixtures/oom-kill/torch-oom-anon-215/stdout.log"),
    include_str!("../../../fixtures/unknown/torch-fault-segv-215/stdout.log"),
    include_str!("../../../fixtures/shm-exhaustion/torch-shm-default-64m-215/stdout.log"),
    include_str!("../../../fixtures/unknown/torch-cuda-oom/train.log"),
    include_str!("../../../fixtures/unknown/torch-fault-abort-215/stdout.log"),
    include_str!("../../../fixtures/oom-kill/torch-oom-anon-113/stdout.log"),
    include_str!("../../../fixtures/unknown/torch-fault-exception-215/stdout.log"),
    include_str!("../../../fixtures/shm-exhaustion/torch-shm-ddp-2ranks-215/stdout.log"),
    include_str!("../../../fixtures/unknown/torch-fd-limit-64-215/stdout.log"),
];

/// Lines of healthy jobs that hold the words of a death.
const LOOK_ALIKES: [&str; 16] = [
    "early stopping: killed the learning-rate warmup after 400 steps",
    "evaluation subprocess finished with exit code 0",
    "batch-size finder: trying 48, will back off on OOM",
    "memory summary: 0 CUDA OOMs, 0 alloc retries",
    "checkpoint worker 3 exited, exitcode 0, restarting it as planned",
    "data server on rank 2 received signal-to-noise request 9",
    "shared memory cache: 812 of 4096 MiB used, eviction off",
    "space left on device /dev/nvme0n1: 812 GiB",
    "watchdog: no hung collectives in the last 600 s, nothing killed",
    "abort_on_nan=False, terminate_on_nan=False",
    "dropped 12 samples whose text says 'Killed' or 'terminated'",
    "loader: 8 workers alive, 0 died, 0 respawned",
    "sample 77: \"what does error 137 of docker mean?\"",
    "torch.distributed.elastic: restarts left 3, failed 0",
    "config: oom_score_adj=0 memory_limit=None shm_size=16g",
    "bus bandwidth 182.4 GB/s (all_reduce, 512 MiB), no errors",
];

/// What a model is asked to go on with; the text of samples.
const WORDS: [&str; 24] = [
    "the",
    "model",
    "of",
    "a",
    "river",
    "and",
    "stone",
    "that",
    "learned",
    "to",
    "count",
    "in",
    "winter",
    "light",
    "because",
    "nobody",
    "had",
    "told",
    "it",
    "otherwise",
    "once",
    "more",
    "quietly",
    "again",
];

/// The mix: a roll of a hundred-sided die below this is a step, a bar and so on; the rest are dumps of the configuration.
const STEP: u64 = 74;
const BAR: u64 = 80;
const NCCL: u64 = 92;
const SAMPLE: u64 = 94;
const WARNING: u64 = 99;

/// The state of the job.
pub(crate) struct Training {
    dice: Dice,
    clock: Clock,
    step: u64,
    dead: usize,
    long_line: usize,
}

impl Training {
    /// A job whose long line fits a log of `size` bytes.
    pub(crate) fn new(dice: Dice, size: u64) -> Self {
        Self { dice, clock: Clock::new(), step: 0, dead: 0, long_line: (size / 8).min(8_400_000) as usize }
    }

    /// Date, time and where a line comes from, as Python's logging writes them.
    fn head(&mut self, rank: u64, level: &str, out: &mut Vec<u8>) {
        let millis = self.clock.micros() / 1000;
        let shown = self.clock.shown(' ');
        write!(out, "[rank{rank}]: {shown},{millis:03} {level} train.py:214 ").expect("memory takes all");
    }

    /// One state of a progress bar.
    fn bar(&mut self, done: u64, out: &mut Vec<u8>) {
        let filled = (done / 10) as usize;
        let loss = self.dice.between(1_000, 3_000);
        let rate = self.dice.between(300, 900);
        write!(
            out,
            "\rEpoch {}: {done:3}%|{:█<filled$}{:width$}| {}/1000 [02:{:02}<01:{:02}, {}.{:02}it/s, loss={}.{:03}]",
            self.step / 20_000,
            "",
            "",
            done * 10,
            done % 60,
            59 - done % 60,
            rate / 100,
            rate % 100,
            loss / 1000,
            loss % 1000,
            width = 10 - filled,
        )
        .expect("memory takes all");
    }

    fn ordinary(&mut self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let rank = self.dice.below(8);
        let roll = self.dice.below(100);
        if roll < STEP {
            self.step += 1;
            let (loss, grad) = (self.dice.between(10_000, 30_000), self.dice.below(2_000));
            self.head(rank, "INFO", out);
            let (step, rate, memory) = (self.step, self.dice.between(40_000, 60_000), self.dice.between(500, 720));
            writeln!(
                out,
                "step {step}/4000000 loss {}.{:04} lr {}.{:02}e-04 grad_norm {}.{:03} tokens/s {rate} mem {}.{}GB",
                loss / 10_000,
                loss % 10_000,
                grad % 9 + 1,
                grad % 100,
                grad / 1000,
                grad % 1000,
                memory / 10,
                memory % 10
            )
        } else if roll < BAR {
            let (start, redraws) = (self.dice.below(60), self.dice.between(1, 40));
            for redraw in 0..redraws {
                self.bar(start + redraw, out);
            }
            writeln!(out)
        } else if roll < NCCL {
            let (channel, pid, next) = (self.dice.below(24), self.dice.between(2_000, 4_000), (rank + 1) % 8);
            let way = self.dice.one_of(&["SHM/direct/direct", "P2P/CUMEM/read", "NET/IB/0/GDRDMA"]);
            writeln!(
                out,
                "gpu-07:{pid}:{} [{rank}] NCCL INFO Channel {channel:02}/0 : {rank}[{rank}] -> {next}[{next}] via {way}",
                pid + 312
            )
        } else if roll < SAMPLE {
            self.head(rank, "INFO", out);
            write!(out, "sample {}:", self.step)?;
            for _ in 0..self.dice.between(20, 160) {
                write!(out, " {}", self.dice.one_of(&WORDS))?;
            }
            writeln!(out)
        } else if roll < WARNING {
            self.head(rank, "WARNING", out);
            let scale = 1 << self.dice.between(10, 20);
            writeln!(out, "gradient overflow in group {}, step skipped, loss scale now {scale}.0", self.dice.below(4))
        } else {
            self.head(rank, "INFO", out);
            write!(out, "config {{")?;
            for key in 0..self.dice.between(40, 200) {
                write!(out, "\"layer_{key}.weight\": {}, ", self.dice.below(1_000_000))?;
            }
            writeln!(out, "\"end\": true}}")
        }
    }
}

impl Writer for Training {
    fn write(&mut self, due: Due, out: &mut Vec<u8>) {
        let passed = self.dice.between(1_000, 40_000);
        self.clock.pass(passed);
        let written = match due {
            Due::Ordinary => self.ordinary(out),
            Due::LookAlike => {
                let rank = self.dice.below(8);
                self.head(rank, "INFO", out);
                writeln!(out, "{}", self.dice.one_of(&LOOK_ALIKES))
            }
            Due::Death => {
                self.dead += 1;
                // Some of them hold a NUL, at which ripgrep and grep would stop: "binary file matches".
                out.write_all(DEATHS[(self.dead - 1) % DEATHS.len()].replace('\0', "").as_bytes())
            }
            Due::LongLine => {
                // A bar that was redirected into a file: redrawn for hours, and no line feed in it.
                let end = out.len() + self.long_line;
                while out.len() < end {
                    let done = self.dice.below(100);
                    self.bar(done, out);
                }
                writeln!(out)
            }
        };
        written.expect("memory takes all");
    }
}
