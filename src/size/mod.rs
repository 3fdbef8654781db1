//! `coroner size`: how large /dev/shm must be for a loader, from options and logs.

mod options;

use std::io::{self, Write as _};

use coroner::input;
use coroner::note::{Gravity, Note};
use coroner::remedy::sizing::{self, Inputs, Sizing};
use coroner::remedy::{Case, advise_size};
use coroner::report::{Need, Style};

pub(crate) use options::{Options, platforms};

/// A right call, for error messages.
const EXAMPLE: &str = "coroner size --workers 8 --batch-size 64 --sample 3x224x224:f32,1:i64";

/// Answers. An error that the user can mend is the inner one.
pub(crate) fn run(options: &Options, style: &Style) -> io::Result<Result<(), String>> {
    let (told, notes) = if options.from.is_empty() { (Inputs::default(), Vec::new()) } else { read(options) };
    let loaders = match options.inputs(&told) {
        Ok(loaders) => loaders,
        Err(error) => return Ok(Err(error)),
    };
    if let (true, Some(lacking)) = (options.from.is_empty(), lacking(&loaders)) {
        return Ok(Err(format!("{lacking}, as {EXAMPLE}")));
    }
    let sizing = sizing::work_out_all(&loaders, options.together);
    if options.bytes || options.exact {
        return one_number(&sizing, options, &notes);
    }
    let mut out = io::stdout().lock();
    let who = Default::default();
    let case =
        Case { sizing: Some(&sizing), platforms: &options.platform, ..Case::new(coroner::verdict::Cause::ShmEnospc, &who) };
    let remedy = if sizing.recommended.is_some() { advise_size(&case) } else { Vec::new() };
    let need = Need { sizing: &sizing, remedy: &remedy, notes: &notes };
    match options.format.as_str() {
        "json" => need.write_json(&mut out)?,
        _ => need.write_human(style, &mut out)?,
    }
    out.flush()?;
    Ok(match notes.iter().find(|note| note.gravity == Gravity::Unread) {
        Some(note) => Err(said(note)),
        None => Ok(()),
    })
}

/// What logs tell of the loader.
fn read(options: &Options) -> (Inputs, Vec<Note>) {
    let (sources, notes) = input::open(&options.from, io::stdin());
    coroner::examine::loader(&sources, notes)
}

/// What the options leave out, where nothing else can tell it.
fn lacking(loaders: &[Inputs]) -> Option<&'static str> {
    loaders.iter().find_map(|loader| {
        let batch = !loader.batch_bytes.is_empty() || loader.view_of.is_some() && loader.sample.is_none();
        match (loader.workers.is_empty(), batch, &loader.sample, loader.batch_size.is_empty()) {
            (true, ..) => Some("how many workers? give --workers"),
            (_, true, ..) | (_, _, Some(_), false) => None,
            (_, _, Some(_), true) => Some("how many samples are in a batch? give --batch-size"),
            (_, _, None, _) => Some("how large is a batch? give --batch-size with --sample, or --batch-bytes"),
        }
    })
}

/// Only the number, for command lines.
fn one_number(sizing: &Sizing, options: &Options, notes: &[Note]) -> io::Result<Result<(), String>> {
    if let Some(note) = notes.iter().find(|note| note.gravity == Gravity::Unread) {
        return Ok(Err(said(note)));
    }
    let number = if options.exact { sizing.bytes } else { sizing.recommended };
    let Some(number) = number else {
        let why = sizing.remarks.join(" ");
        let lacking = sizing.unknown.join(" and ").replace('_', " ");
        return Ok(Err(match (lacking.is_empty(), why.is_empty()) {
            (true, _) => why,
            (false, true) => format!("the size cannot be worked out without {lacking}; give it, as {EXAMPLE}"),
            (false, false) => format!("the size cannot be worked out without {lacking}. {why} Give it, as {EXAMPLE}"),
        }));
    };
    writeln!(io::stdout().lock(), "{}", number.0).map(Ok)
}

/// A note as an error.
fn said(note: &Note) -> String {
    format!("{}: {}", note.input, note.text)
}
