//! The program: parse, examine, write, exit code. Only this floor writes to standard output and standard error.

mod cli;
mod explain;
mod follow;
mod inputs;
mod interrupt;
mod output;
mod outputs;
mod pipe;
mod size;
mod tee;

use std::io::{self, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::CommandFactory as _;

use cli::{Arguments, Command, Common, Scan, When};
use coroner::context::{self, Tape};
use coroner::examine::{Options, examine};
use coroner::input::walk::Choice;
use coroner::input::{self, Source};
use coroner::note::{Gravity, Note};
use coroner::report::{Format, Incident, Report, Style, Tally};
use coroner::scan::progress::Progress;
use coroner::scan::{Pace, Plan};
use output::{STDOUT, at};
use outputs::{Outputs, color};
use tee::Tee;

/// Usage, or an input that could not be read.
const TROUBLE: u8 = 2;

fn main() -> ExitCode {
    let arguments = Arguments::read();
    match run(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&format!("error: {error}")),
    }
}

fn run(mut arguments: Arguments) -> io::Result<u8> {
    if let Some(command) = &arguments.command {
        return answer(command, arguments.common.color);
    }
    let options = Options { platforms: arguments.common.platform.clone() };
    if let Some(path) = &arguments.follow {
        return follow_log(path, &options, &arguments.common);
    }
    if arguments.tee {
        return pass_on(&options, &arguments.common);
    }
    if arguments.paths.is_empty() {
        if io::stdin().is_terminal() {
            let _ = writeln!(io::stderr(), "{}", Arguments::command().render_help());
            return Ok(TROUBLE);
        }
        arguments.paths.push(PathBuf::from("-"));
    }
    let tape = tape(&arguments.common);
    // Listed before the outputs are opened: a report under way is no input.
    let (sources, notes) = input::open(&arguments.paths, recorded(io::stdin(), tape.as_ref()));
    let mut outputs = Outputs::open(&arguments.common, &arguments.paths, false)?;
    if outputs.are_early() && arguments.paths.iter().all(|path| path.as_os_str() == "-") && pipe::is_pipe() {
        return as_it_comes(&options, outputs, &arguments.common, tape);
    }
    let mut report = examine(&sources, notes, &options);
    if let Some(tape) = tape {
        let sources: Vec<Source<'_>> = sources.into_iter().chain(tape.replay("-")).collect();
        context::add(&sources, [&mut report]);
    }
    outputs.write(&report)?;
    if outputs.has(Format::Gitlab) {
        // An issue is a fault of its file, and to be no text is none.
        for note in report.left_out().filter(|note| note.gravity == Gravity::Remark) {
            complain(&format!("{}: {}", note.input.escape_debug(), note.text));
        }
    }
    outputs.keep()?;
    Ok(code(&report, &arguments.common))
}

/// Does what a command asks for.
fn answer(command: &Command, when: When) -> io::Result<u8> {
    let told = match command {
        Command::Scan(scan) => return many(scan),
        Command::Explain { inputs: true, markdown, .. } => inputs::list(&mut io::stdout().lock(), *markdown).map(|()| 0),
        Command::Explain { cause: None, .. } => explain::list(&mut io::stdout().lock()).map(|()| 0),
        Command::Explain { cause: Some(name), .. } => explain_cause(name),
        Command::Size(options) => {
            let style = Style { color: color(when, io::stdout().is_terminal()), ..Style::default() };
            size::run(options, &style).map(|answer| answer.map_or_else(trouble, |()| 0))
        }
    };
    told.map_err(|error| at(Path::new(STDOUT), &error))
}

/// Examines a pipe for a reader who need not wait for its end. Files get the last report only.
fn as_it_comes(options: &Options, mut outputs: Outputs, common: &Common, tape: Option<Tape>) -> io::Result<u8> {
    let stdin = recorded(io::stdin(), tape.as_ref());
    let (mut report, news) = pipe::watch(stdin, options, &mut |report| outputs.tell(report))?;
    if news {
        outputs.tell(&report)?;
    }
    if let Some(source) = tape.and_then(|tape| tape.replay("-")) {
        context::add(&[source], [&mut report]);
    }
    outputs.rest(&report)?;
    outputs.keep()?;
    Ok(code(&report, common))
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

/// Examines many incidents.
fn many(scan: &Scan) -> io::Result<u8> {
    let choice = Choice::new(&scan.include, &scan.exclude, scan.hidden).map_err(io::Error::other)?;
    let plan = Plan {
        choice,
        filtered: !(scan.include.is_empty() && scan.exclude.is_empty()),
        grouping: scan.group.grouping(),
        workers: usize::from(scan.jobs),
        options: Options { platforms: scan.common.platform.clone() },
        context: shows_context(&scan.common),
    };
    let stop = interrupt::flag()?;
    let mut outputs = Outputs::open(&scan.common, &scan.paths, false)?;
    let pace = Arc::new(Pace::default());
    let progress = Progress::new(&pace, io::stderr().is_terminal());
    let tally = coroner::scan::scan(&scan.paths, &plan, &stop, &pace, &mut |incident| outputs.incident(incident, &progress));
    progress.end();
    let tally = tally?;
    let (issues, human) = (outputs.has(Format::Gitlab), outputs.has(Format::Human));
    outputs.end(&tally)?;
    // What some formats have no place for.
    if tally.stopped && !human {
        complain("stopped before the end; the report holds what was known by then");
    }
    if issues && tally.binary > 0 {
        complain(&format!("{} not text: skipped", tally.binary));
    }
    if tally.incidents == 0 && !tally.stopped {
        complain("nothing to read");
    }
    Ok(match scan.common.exit_code {
        _ if tally.unread_count() > 0 || tally.is_blank() => TROUBLE,
        true => tally.class_code(),
        false => 0,
    })
}

/// Follows a log.
fn follow_log(path: &Path, options: &Options, common: &Common) -> io::Result<u8> {
    let stop = interrupt::flag()?;
    let mut outputs = Outputs::open(common, &[path.to_owned()], false)?;
    let mut tally = Tally::default();
    let name = path.to_string_lossy();
    if name != "-" && !path.exists() {
        complain(&format!("{} does not exist yet: waiting for it", name.escape_debug()));
    }
    follow::follow(path, options, &stop, &mut |report| {
        tally.add_further(report);
        outputs.incident_now(Incident { name: &name, report })
    })?;
    outputs.end(&tally)?;
    Ok(if common.exit_code { tally.class_code() } else { 0 })
}

/// Passes standard input on and reports on standard error. Ctrl-C ends the program before it in the pipe; this one ends with
/// its input.
fn pass_on(options: &Options, common: &Common) -> io::Result<u8> {
    let _stop = interrupt::flag()?;
    let mut outputs = Outputs::open(common, &[], true)?;
    let mut tee = Tee::default();
    let tape = tape(common);
    let source = Source::stream("-".into(), recorded(tee.clone(), tape.as_ref()));
    let mut report = examine(&[source], Vec::new(), options);
    tee.drain();
    if let Some(source) = tape.and_then(|tape| tape.replay("-")) {
        context::add(&[source], [&mut report]);
    }
    if tee.was_left() {
        report.notes.push(Note::remark(&"-".into(), "the reader of standard output left: nothing was read after that"));
    }
    outputs.write(&report)?;
    outputs.keep()?;
    match tee.failure() {
        Some(error) => Err(at(Path::new(STDOUT), &error)),
        None => Ok(code(&report, common)),
    }
}

/// Whether a format shows the lines around the evidence.
fn shows_context(common: &Common) -> bool {
    common.format.iter().any(|target| target.format == Format::Html)
}

/// Where standard input is recorded on, for such a format.
fn tape(common: &Common) -> Option<Tape> {
    shows_context(common).then(Tape::default)
}

/// A reader of which is recorded what is read, if there is a tape.
fn recorded(reader: impl Read + Send + 'static, tape: Option<&Tape>) -> Box<dyn Read + Send> {
    match tape {
        Some(tape) => Box::new(tape.record(reader)),
        None => Box::new(reader),
    }
}

/// The exit code for one report.
fn code(report: &Report, common: &Common) -> u8 {
    match common.exit_code {
        _ if report.lost_an_input() => TROUBLE,
        true => report.class_code(),
        false => 0,
    }
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
