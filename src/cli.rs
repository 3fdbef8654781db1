//! The command line: arguments under the headings input, output and advice.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap::{Parser, Subcommand, ValueEnum};
use coroner::remedy::Platform;
use coroner::report::Format;

/// Says why a training job died: SIGBUS shm exhaustion, SIGKILL OOM, or unknown, with the evidence.
///
/// Reads training logs, kernel logs, exit data of containers and pods, folders and archives of them, all as one incident.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "\
Exit codes: 0 the report was written; 2 usage, or an input that could not be read.
With --exit-code: 10 shm-exhaustion, 11 oom-kill, 12 unknown, 0 nothing died.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Files, folders or archives; `-` is standard input, which is also read when it is piped and no path is given
    #[arg(value_name = "PATH", help_heading = "Input")]
    pub(crate) paths: Vec<PathBuf>,

    /// How to write the report
    #[arg(short, long, value_name = "FORMAT", default_value = "human", value_parser = formats(), help_heading = "Output")]
    pub(crate) format: Format,

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
    /// How large /dev/shm must be, from workers, prefetch, batch and sample shape; a file called size is ./size
    Size(Box<crate::size::Options>),
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

/// The names of the formats, from the formats' own list.
fn formats() -> impl clap::builder::TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.iter().map(|format| format.name()))
        .try_map(|name| Format::from_name(&name).ok_or("no such format"))
}
