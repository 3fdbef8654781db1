//! The program: parse, examine, write, exit code. Only this file writes to standard output and standard error.

mod cli;
mod explain;
mod inputs;
mod size;

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use cli::{Arguments, Command, When};
use coroner::examine::Options;
use coroner::input;
use coroner::remedy::Platform;
use coroner::report::{Report, Style};

/// Usage, or an input that could not be read.
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&format!("error: {error}")),
    }
}

fn run(mut arguments: Arguments) -> io::Result<u8> {
    match &arguments.command {
        Some(Command::Explain { inputs: true, markdown, .. }) => {
            return inputs::list(&mut io::stdout().lock(), *markdown).map(|()| 0);
        }
        Some(Command::Explain { cause: None, .. }) => return explain::list(&mut io::stdout().lock()).map(|()| 0),
        Some(Command::Explain { cause: Some(name), .. }) => return explain_cause(name),
        Some(Command::Size(options)) => {
            let style = Style { color: color(arguments.color, io::stdout().is_terminal()), ..Style::default() };
            return size::run(options, &style).map(|answer| answer.map_or_else(trouble, |()| 0));
        }
        None => {}
    }
    if arguments.paths.is_empty() {
        if io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "{}", Arguments::command().render_help());
            return Ok(TROUBLE);
        }
        arguments.paths.push(PathBuf::from("-"));
    }
    let report = examine(&arguments.paths, &arguments.platform);
    write(&report, &arguments)?;
    Ok(match arguments.exit_code {
        _ if report.lost_an_input() => TROUBLE,
        true => report.class_code(),
        false => 0,
    })
}

/// Prints the page of a cause, or names the causes that were perhaps meant.
fn explain_cause(name: &str) -> io::Result<u8> {
    match explain::find(name) {
        Ok(cause) => io::stdout().lock().write_all(cause.explanation().as_bytes()).map(|()| 0),
        Err(near) => {
            let near = if near.is_empty() { String::new() } else { format!("; perhaps {}", near.join(", ")) };
            let _ = writeln!(io::stderr(), "error: there is no cause `{}`{near}", name.escape_debug());
            let _ = writeln!(io::stderr(), "`coroner explain` lists all causes");
            Ok(TROUBLE)
        }
    }
}

/// Writes the report to where it was asked for.
fn write(report: &Report, arguments: &Arguments) -> io::Result<()> {
    let stdout = io::stdout();
    let mut out: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(File::create(path).map_err(|error| at(path, &error))?),
        None => Box::new(stdout.lock()),
    };
    let terminal = arguments.output.is_none() && io::stdout().is_terminal();
    let style = Style { color: color(arguments.color, terminal), ..Style::default() };
    let mut buffer = BufWriter::new(&mut out);
    coroner::report::write(report, arguments.format, &style, &mut buffer)?;
    buffer.flush()
}

/// Whether to use colour.
fn color(when: When, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => terminal && !dumb && !set("NO_COLOR"),
    }
}

/// An error with the path that it is about.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Says what the user can mend.
fn trouble(error: String) -> u8 {
    complain(&format!("error: {error}"));
    TROUBLE
}

/// Says on standard error what went wrong; the error that cannot be said is lost.
fn complain(text: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::from(TROUBLE)
}

/// Opens the inputs and examines them as one incident.
fn examine(paths: &[PathBuf], platforms: &[Platform]) -> Report {
    let (sources, notes) = input::open(paths, io::stdin());
    coroner::examine::examine(&sources, notes, &Options { platforms: platforms.to_vec() })
}
