//! Writes a log of a given kind, size and seed: the same bytes each time, on any machine.
//!
//! `cargo run --release --example generate -- --kind training --size 1g --seed 1 -o train.log`
//!
//! What it holds is told on standard error, with its FNV-1a checksum: bytes, line feeds, deaths, lines that only look like one.

mod ci;
mod dice;
mod hits;
mod jsonl;
mod kernel;
mod training;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use coroner::units::Bytes;
use dice::Dice;

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A training job with progress bars, rank prefixes, NCCL's chatter and one line of megabytes
    Training,
    /// A kernel log with an out-of-memory report every 40 KB or so
    Kernel,
    /// The training job as Docker's json-file keeps it
    Jsonl,
    /// A log of GitHub Actions: installation, tests, a short training
    Ci,
    /// Every line tells of a death
    Hits,
}

/// Writes a log: the same bytes for the same arguments.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to write
    #[arg(long, value_enum, default_value_t = Kind::Training)]
    kind: Kind,

    /// How large, as 64m or 1g (1024-based); the log ends with the first line that reaches it
    #[arg(long, default_value = "64m")]
    size: Bytes,

    /// Where the dice start
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// How many jobs die in it, evenly spread; for the kinds training, jsonl and ci
    #[arg(long, default_value_t = 10)]
    deaths: u64,

    /// The file to write; standard output otherwise
    #[arg(short, long)]
    output: Option<PathBuf>,
}

/// What a log holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    bytes: u64,
    lines: u64,
    deaths: u64,
    look_alikes: u64,
    checksum: u64,
}

/// What is due at a place of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// Whatever the kind writes most of the time
    Ordinary,
    /// A line that looks like a death and is none
    LookAlike,
    /// A job that dies
    Death,
    /// The line of megabytes
    LongLine,
}

/// One kind of log.
trait Writer {
    /// Appends what is due.
    fn write(&mut self, due: Due, out: &mut Vec<u8>);
}

/// A look-alike stands in every 256 KiB: 4096 of them in a GiB.
const LOOK_ALIKE_EVERY: u64 = 256 << 10;

/// Where the deaths and the long line stand: deaths in the middle of equal parts, the long line after a third.
struct Plan {
    size: u64,
    deaths: u64,
    long_line: bool,
}

impl Plan {
    /// What is due after `tally`.
    fn due(&self, tally: &Tally, long_line_done: bool) -> Due {
        let next_death = (2 * tally.deaths + 1) * (self.size / (2 * self.deaths.max(1)));
        if tally.deaths < self.deaths && tally.bytes >= next_death {
            Due::Death
        } else if self.long_line && !long_line_done && tally.bytes >= self.size / 3 {
            Due::LongLine
        } else if tally.bytes >= (tally.look_alikes + 1) * LOOK_ALIKE_EVERY {
            Due::LookAlike
        } else {
            Due::Ordinary
        }
    }
}

/// Writes a whole log.
fn generate(arguments: &Arguments, sink: &mut dyn Write) -> io::Result<Tally> {
    let (dice, size) = (Dice::new(arguments.seed), arguments.size.0);
    let mut writer: Box<dyn Writer> = match arguments.kind {
        Kind::Training => Box::new(training::Training::new(dice, size)),
        Kind::Kernel => Box::new(kernel::Kernel::new(dice)),
        Kind::Jsonl => Box::new(jsonl::Jsonl::new(dice, size)),
        Kind::Ci => Box::new(ci::Ci::new(dice)),
        Kind::Hits => Box::new(hits::Hits::new(dice)),
    };
    let dying = matches!(arguments.kind, Kind::Training | Kind::Jsonl | Kind::Ci);
    let long_line = matches!(arguments.kind, Kind::Training | Kind::Jsonl);
    let plan = Plan { size, deaths: if dying { arguments.deaths } else { 0 }, long_line };
    let mut tally = Tally { checksum: 0xcbf2_9ce4_8422_2325, ..Tally::default() };
    let (mut long_line_done, mut block) = (false, Vec::with_capacity(1 << 20));
    while tally.bytes < size {
        let due = if dying { plan.due(&tally, long_line_done) } else { Due::Ordinary };
        match due {
            Due::Death => tally.deaths += 1,
            Due::LookAlike => tally.look_alikes += 1,
            Due::LongLine => long_line_done = true,
            Due::Ordinary => {}
        }
        block.clear();
        writer.write(due, &mut block);
        for &byte in &block {
            tally.checksum = (tally.checksum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            tally.lines += u64::from(byte == b'\n');
        }
        tally.bytes += block.len() as u64;
        sink.write_all(&block)?;
    }
    sink.flush()?;
    Ok(tally)
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let sink: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(File::create(path)?),
        None => Box::new(io::stdout().lock()),
    };
    let tally = generate(&arguments, &mut io::BufWriter::with_capacity(1 << 20, sink))?;
    let Tally { bytes, lines, deaths, look_alikes, checksum } = tally;
    writeln!(io::stderr(), "bytes {bytes} lines {lines} deaths {deaths} look-alikes {look_alikes} fnv1a {checksum:016x}")
}

#[cfg(test)]
mod tests;
