//! The command line: arguments under the headings input, output and advice.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use coroner::remedy::Platform;
use coroner::scan::Grouping;

use crate::output::{Target, target};

/// Says why a training job died: SIGBUS shm exhaustion, SIGKILL OOM, or unknown, with the evidence.
///
/// Reads training logs, kernel logs, exit data of containers and pods, folders and archives of them, all as one incident.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true)]
#[command(override_usage = "coroner [OPTIONS] [PATH]...\n       coroner <COMMAND>")]
#[command(after_help = "\
Exit codes: 0 the report was written; 2 usage, or an input that could not be read.
With --exit-code: 10 shm-exhaustion, 11 oom-kill, 12 unknown, 0 nothing died.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Files, folders or archives; `-` is standard input, which is also read when it is piped and no path is given
    #[arg(value_name = "PATH", help_heading = "Input")]
    pub(crate) paths: Vec<PathBuf>,

    /// Follow a log that grows and report each death at once, until Ctrl-C; `-` follows standard input
    #[arg(long, value_name = "FILE", help_heading = "Input", conflicts_with = "paths")]
    pub(crate) follow: Option<PathBuf>,

    /// Pass standard input on unchanged, and report on standard error at its end
    #[arg(long, help_heading = "Input", conflicts_with_all = ["paths", "follow"])]
    pub(crate) tee: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Arguments {
    /// Reads the command line. Options before `scan` count as if they stood behind it.
    pub(crate) fn read() -> Self {
        let mut all = Self::parse();
        if let Err(text) = all.sort() {
            Self::command().error(ErrorKind::ArgumentConflict, text).exit();
        }
        all
    }

    /// Gives a command the options before it, or says that it takes none of them.
    fn sort(&mut self) -> Result<(), &'static str> {
        let Some(command) = &mut self.command else { return Ok(()) };
        if !self.paths.is_empty() {
            return Err("a command stands before all paths; a file of that name is given with its folder, as ./scan");
        }
        if self.follow.is_some() || self.tee {
            return Err("--follow and --tee go without a command");
        }
        match command {
            Command::Scan(scan) => scan.common.join(&mut self.common),
            Command::Explain { .. } | Command::Size(_) if self.common.is_any() => {
                Err("only `scan` takes options before it; those of other commands stand behind them")
            }
            Command::Explain { .. } | Command::Size(_) => Ok(()),
        }
    }
}

/// What all examinations take.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// How to write the report: human, brief, json, ndjson, markdown, github, gitlab, sarif, junit, html. With `=FILE` it
    /// goes into a file; may be given more than once
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = target, help_heading = "Output")]
    pub(crate) format: Vec<Target>,

    /// When to use colour; NO_COLOR switches `auto` off
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, help_heading = "Output")]
    pub(crate) color: When,

    /// Write the report into a file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Tell the class by the exit code
    #[arg(long, help_heading = "Output")]
    pub(crate) exit_code: bool,

    /// Where the job runs, if the inputs do not tell; may be given more than once
    #[arg(long, value_name = "PLATFORM", value_parser = crate::size::platforms(), help_heading = "Advice")]
    pub(crate) platform: Vec<Platform>,
}

impl Common {
    /// Adds what was given before these.
    fn join(&mut self, before: &mut Self) -> Result<(), &'static str> {
        if self.output.is_some() && before.output.is_some() {
            return Err("--output can be given once");
        }
        self.format.splice(0..0, before.format.drain(..));
        self.platform.splice(0..0, before.platform.drain(..));
        self.output = self.output.take().or(before.output.take());
        self.exit_code |= before.exit_code;
        if self.color == When::Auto {
            self.color = before.color;
        }
        Ok(())
    }

    /// Whether anything but a colour is given.
    fn is_any(&self) -> bool {
        !self.format.is_empty() || !self.platform.is_empty() || self.output.is_some() || self.exit_code
    }
}

/// What else can be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What a cause means, what proves it, what it is mistaken for, what to do; without CAUSE, a list of all causes
    Explain {
        /// The cause, as `oom-cgroup`
        cause: Option<String>,

        /// List what can be read instead: each form, how to produce it, what it can prove
        #[arg(long, conflicts_with = "cause")]
        inputs: bool,

        /// Write that list as a table in Markdown
        #[arg(long, requires = "inputs")]
        markdown: bool,
    },
    /// Examine many incidents: a verdict for each file, or for each group of files that belong together, and a summary
    #[command(after_help = "\
With --exit-code: 11 where an oom-kill occurred, else 10 for shm-exhaustion, else 12 for unknown, 0 where nothing died.")]
    Scan(Scan),
    /// How large /dev/shm must be, from workers, prefetch, batch and sample shape; a file called size is ./size
    Size(Box<crate::size::Options>),
}

/// Many incidents.
#[derive(Debug, Args)]
pub(crate) struct Scan {
    /// Folders, files and archives
    #[arg(value_name = "PATH", help_heading = "Input", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Read only files whose name or path below PATH matches; may be given more than once
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(crate) include: Vec<String>,

    /// Leave out files and folders whose name or path below PATH matches; may be given more than once
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    pub(crate) exclude: Vec<String>,

    /// Read hidden files and folders too
    #[arg(long, help_heading = "Input")]
    pub(crate) hidden: bool,

    /// Which files are one incident: each file, all of a folder, or those that belong together by their names or by what records say
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Group::Auto, help_heading = "Input")]
    pub(crate) group: Group,

    /// How many files are read at the same time; 0 takes one for each core
    #[arg(short, long, value_name = "NUMBER", default_value_t = 0, help_heading = "Input")]
    pub(crate) jobs: u16,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Which files are one incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// Those that belong together by their names or by what records say
    Auto,
    /// Each file
    File,
    /// All files of a folder
    Dir,
}

impl Group {
    /// The same for the scan.
    pub(crate) fn grouping(self) -> Grouping {
        match self {
            Self::Auto => Grouping::Auto,
            Self::File => Grouping::File,
            Self::Dir => Grouping::Dir,
        }
    }
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal
    Auto,
    /// Even into files and pipes
    Always,
    /// Never
    Never,
}
