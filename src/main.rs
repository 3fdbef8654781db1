//! The program: parse, examine, write, exit code. Only this floor writes to standard output and standard error.

mod cli;
mod explain;
mod follow;
mod inputs;
mod interrupt;
mod output;
mod pipe;
mod size;
mod tee;

use std::io::{self, IsTerminal as _, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser as _};

use cli::{Arguments, Command, Common, Scan, When};
use coroner::context::{self, Tape};
use coroner::examine::{Options, examine};
use coroner::input::walk::Choice;
use coroner::input::{self, Source};
use coroner::note::Note;
use coroner::report::{Format, Incident, Report, Series, Style, Tally};
use coroner::scan::progress::Progress;
use coroner::scan::{Pace, Plan};
use output::{Output, Target};
use tee::Tee;

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
            let style = Style { color: color(arguments.common.color, io::stdout().is_terminal()), ..Style::default() };
            return size::run(options, &style).map(|answer| answer.map_or_else(trouble, |()| 0));
        }
        Some(Command::Scan(scan)) => return many(scan),
        None => {}
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
    let mut outputs = open(&arguments.common, &arguments.paths, false)?;
    let early =
        outputs.iter().all(|(target, ..)| target.file.is_none() && matches!(target.format, Format::Human | Format::Brief));
    if early && arguments.paths.iter().all(|path| path.as_os_str() == "-") && pipe::is_pipe() {
        return as_it_comes(&options, outputs, &arguments.common);
    }
    let tape = tape(&outputs);
    let stdin: Box<dyn Read + Send> = match &tape {
        Some(tape) => Box::new(tape.record(io::stdin())),
        None => Box::new(io::stdin()),
    };
    let (sources, notes) = input::open(&arguments.paths, stdin);
    let mut report = examine(&sources, notes, &options);
    if let Some(tape) = tape {
        let sources: Vec<Source<'_>> = sources.into_iter().chain(tape.replay("-")).collect();
        context::add(&sources, [&mut report]);
    }
    write(&report, &mut outputs)?;
    keep(outputs)?;
    Ok(code(&report, &arguments.common))
}

/// Examines a pipe for a reader who need not wait for its end. A later report replaces the one before it.
fn as_it_comes(options: &Options, mut outputs: Vec<Opened>, common: &Common) -> io::Result<u8> {
    let mut last = None;
    let mut tell = |report: &Report| {
        let again = last.replace(code(report, common)).is_some();
        for (target, out, _) in &mut outputs {
            if again && target.format == Format::Human {
                out.write_all(b"\nMore is known now; this replaces the report above.\n\n")?;
            }
        }
        write(report, &mut outputs)?;
        outputs.iter_mut().try_for_each(|(_, out, _)| out.flush())
    };
    if let Some(report) = pipe::watch(options, &mut tell)? {
        tell(&report)?;
    }
    keep(outputs)?;
    Ok(last.unwrap_or_default())
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
    let mut outputs = open(&scan.common, &scan.paths, false)?;
    let choice = Choice::new(&scan.include, &scan.exclude, scan.hidden).map_err(io::Error::other)?;
    let plan = Plan {
        choice,
        grouping: scan.group.grouping(),
        workers: usize::from(scan.jobs),
        options: Options { platforms: scan.common.platform.clone() },
        context: wants_context(&outputs),
    };
    let stop = interrupt::flag()?;
    let mut all: Vec<Series> = outputs.iter().map(|(target, _, style)| Series::new(target.format, style)).collect();
    let pace = Arc::new(Pace::default());
    let progress = Progress::new(&pace, io::stderr().is_terminal());
    let tally = coroner::scan::scan(&scan.paths, &plan, &stop, &pace, &mut |incident| {
        progress.aside(|| {
            for (series, (_, out, _)) in all.iter_mut().zip(&mut outputs) {
                series.incident(incident, out)?;
            }
            Ok(())
        })
    });
    progress.end();
    let tally = tally?;
    end(all, &tally, outputs)?;
    Ok(match scan.common.exit_code {
        _ if tally.unread_count() > 0 || tally.incidents == 0 => TROUBLE,
        true => tally.class_code(),
        false => 0,
    })
}

/// Follows a log.
fn follow_log(path: &std::path::Path, options: &Options, common: &Common) -> io::Result<u8> {
    let stop = interrupt::flag()?;
    let mut outputs = open(common, &[path.to_owned()], false)?;
    let mut all: Vec<Series> = outputs.iter().map(|(target, _, style)| Series::new(target.format, style)).collect();
    let mut tally = Tally::default();
    let name = path.to_string_lossy();
    follow::follow(path, options, &stop, &mut |report| {
        tally.add(report);
        for (series, (_, out, _)) in all.iter_mut().zip(&mut outputs) {
            series.incident(Incident { name: &name, report }, out)?;
            out.flush()?;
        }
        Ok(())
    })?;
    end(all, &tally, outputs)?;
    Ok(if common.exit_code { tally.class_code() } else { 0 })
}

/// Passes standard input on and reports on standard error. Ctrl-C ends the program before it in the pipe; this one ends with
/// its input.
fn pass_on(options: &Options, common: &Common) -> io::Result<u8> {
    let _stop = interrupt::flag()?;
    let mut outputs = open(common, &[], true)?;
    let mut tee = Tee::default();
    let tape = tape(&outputs);
    let source = match &tape {
        Some(tape) => Source::stream("-".into(), tape.record(tee.clone())),
        None => Source::stream("-".into(), tee.clone()),
    };
    let mut report = examine(&[source], Vec::new(), options);
    tee.drain();
    if let Some(source) = tape.and_then(|tape| tape.replay("-")) {
        context::add(&[source], [&mut report]);
    }
    if tee.was_left() {
        report.notes.push(Note::remark(&"-".into(), "the reader of standard output left: nothing was read after that"));
    }
    write(&report, &mut outputs)?;
    keep(outputs)?;
    match tee.failure() {
        Some(error) => Err(error),
        None => Ok(code(&report, common)),
    }
}

/// Whether a format shows the lines around the evidence.
fn wants_context(outputs: &[Opened]) -> bool {
    outputs.iter().any(|(target, ..)| target.format == Format::Html)
}

/// Where standard input is recorded on, for a format that shows the lines around the evidence.
fn tape(outputs: &[Opened]) -> Option<Tape> {
    wants_context(outputs).then(Tape::default)
}

/// A format, where it goes, and how it looks there.
type Opened = (Target, Output, Style);

/// Opens the places for all formats, none of which may be an input; `aside` keeps standard output free.
fn open(common: &Common, inputs: &[PathBuf], aside: bool) -> io::Result<Vec<Opened>> {
    let targets = output::targets(&common.format, common.output.as_deref()).map_err(io::Error::other)?;
    output::spare(&targets, inputs).map_err(io::Error::other)?;
    let opened = |target: Target| {
        let (output, terminal) = match &target.file {
            Some(path) => (Output::file(path)?, false),
            None if aside => (Output::stream(io::stderr()), io::stderr().is_terminal()),
            None => (Output::stream(io::stdout()), io::stdout().is_terminal()),
        };
        let style = Style { color: color(common.color, terminal), ..Style::default() };
        Ok((target, output, style))
    };
    targets.into_iter().map(opened).collect()
}

/// Writes one report in all formats.
fn write(report: &Report, outputs: &mut [Opened]) -> io::Result<()> {
    outputs.iter_mut().try_for_each(|(target, out, style)| coroner::report::write(report, target.format, style, out))
}

/// Ends reports on many incidents.
fn end(all: Vec<Series>, tally: &Tally, mut outputs: Vec<Opened>) -> io::Result<()> {
    for (series, (_, out, _)) in all.into_iter().zip(&mut outputs) {
        series.end(tally, out)?;
    }
    keep(outputs)
}

/// Gives all files their names, once everything is written: where one report fails, none replaces an older one.
fn keep(mut outputs: Vec<Opened>) -> io::Result<()> {
    outputs.iter_mut().try_for_each(|(_, out, _)| out.flush())?;
    outputs.into_iter().try_for_each(|(_, out, _)| out.keep())
}

/// The exit code for one report.
fn code(report: &Report, common: &Common) -> u8 {
    match common.exit_code {
        _ if report.lost_an_input() => TROUBLE,
        true => report.class_code(),
        false => 0,
    }
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
