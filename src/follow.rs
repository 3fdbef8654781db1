//! Follows a log that grows: a death is reported as soon as its last line is there.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use coroner::examine::{Options, conclude};
use coroner::input::reason;
use coroner::line::looks_binary;
use coroner::read::Stream;
use coroner::report::{Entry, Report};
use coroner::verdict::{Cause, Grade};

/// How often the file is looked at. Polling works on network and overlay file systems, where the kernel tells nothing.
const GLANCE: Duration = Duration::from_millis(50);

/// How long lines that belong together are waited for.
pub(crate) const SETTLE: Duration = Duration::from_millis(120);

/// What came of a look.
enum Next {
    /// Bytes.
    Piece(Vec<u8>),
    /// Nothing yet.
    Nothing,
    /// Another file under the name, or none of the old bytes in it.
    Anew,
    /// The end of the pipe.
    End,
}

/// Where the bytes come from.
enum Feed<'a> {
    File { path: &'a Path, open: Option<File>, at: u64 },
    Pipe(Pieces),
}

/// Follows a file, or standard input, until `stop` is set or the pipe is closed; hands out each death once, and once more
/// when later lines change the judgement on it.
pub(crate) fn follow(
    path: &Path,
    options: &Options,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(&Report) -> io::Result<()>,
) -> io::Result<()> {
    let name: Arc<str> = path.to_string_lossy().into();
    let mut stream = Stream::new(&name);
    let mut feed =
        if path.as_os_str() == "-" { Feed::Pipe(pipe(Box::new(io::stdin()))) } else { Feed::File { path, open: None, at: 0 } };
    let mut begun = false;
    let mut told: HashMap<(u64, Option<u32>), (Cause, Grade)> = HashMap::new();
    let mut changed: Option<Instant> = None;
    loop {
        let (came, open) = match feed.take().map_err(|error| failed(&name, &reason(&error)))? {
            Next::Piece(piece) => {
                if !std::mem::replace(&mut begun, true) && looks_binary(&piece) {
                    return Err(failed(&name, "not text; it cannot be followed"));
                }
                stream.push(&piece);
                (true, true)
            }
            Next::Nothing => (false, true),
            Next::End => (false, false),
            Next::Anew => {
                // Lines count from 1 again; what stood in the old file was told.
                report(&stream, options, &mut told, sink)?;
                stream = Stream::new(&name);
                told.clear();
                begun = false;
                (false, true)
            }
        };
        let over = !open || stop.load(Ordering::Relaxed);
        if came {
            changed.get_or_insert_with(Instant::now);
        }
        if changed.is_some_and(|since| !came || over || since.elapsed() >= SETTLE) {
            changed = None;
            report(&stream, options, &mut told, sink)?;
        }
        if over {
            return Ok(());
        }
        if !came {
            thread::sleep(GLANCE);
        }
    }
}

/// An error with what it is about.
fn failed(name: &str, why: &str) -> io::Error {
    io::Error::other(format!("{}: {why}", name.escape_debug()))
}

/// Hands out the deaths that are new or judged anew.
fn report(
    stream: &Stream,
    options: &Options,
    told: &mut HashMap<(u64, Option<u32>), (Cause, Grade)>,
    sink: &mut dyn FnMut(&Report) -> io::Result<()>,
) -> io::Result<()> {
    let whole = conclude(stream.so_far(), Vec::new(), options);
    let fresh: Vec<Entry> = whole
        .deaths
        .iter()
        .filter(|entry| {
            let judged = (entry.verdict.cause, entry.verdict.grade);
            told.insert(key(entry), judged) != Some(judged)
        })
        .cloned()
        .collect();
    let Some(first) = fresh.first() else { return Ok(()) };
    sink(&Report {
        verdict: first.verdict.clone(),
        deaths: fresh,
        notes: Vec::new(),
        inputs: whole.inputs,
        context: whole.context,
    })
}

/// What stays the same about a death while more becomes known: its first line and its pid.
fn key(entry: &Entry) -> (u64, Option<u32>) {
    let lines = entry.verdict.because.iter().filter_map(|evidence| evidence.fact.place.line);
    (lines.min().unwrap_or(0), entry.who.own_pid.map(|pid| pid.0).or(entry.who.host_pid.map(|pid| pid.0)))
}

/// The pieces of a pipe, or the error that ended it.
pub(crate) type Pieces = Receiver<io::Result<Vec<u8>>>;

/// Standard input, read by a thread of its own: a pipe may stay silent for hours.
pub(crate) fn pipe(mut stdin: Box<dyn Read + Send>) -> Pieces {
    let (give, take) = sync_channel(16);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let piece = match stdin.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => Ok(buffer.get(..n).unwrap_or_default().to_vec()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = piece.is_err();
            if give.send(piece).is_err() || failed {
                return;
            }
        }
    });
    take
}

impl Feed<'_> {
    /// Takes a piece, if there is one.
    fn take(&mut self) -> io::Result<Next> {
        match self {
            Self::Pipe(pieces) => match pieces.try_recv() {
                Ok(piece) => piece.map(Next::Piece),
                Err(TryRecvError::Empty) => Ok(Next::Nothing),
                Err(TryRecvError::Disconnected) => Ok(Next::End),
            },
            Self::File { path, open, at } => {
                let mut buffer = vec![0; 64 << 10];
                let n = open.as_mut().map_or(Ok(0), |file| file.read(&mut buffer))?;
                if n > 0 {
                    *at += n as u64;
                    buffer.truncate(n);
                    return Ok(Next::Piece(buffer));
                }
                if !replaced(path, open.as_ref(), *at) {
                    return Ok(Next::Nothing);
                }
                // A rotated log begins anew; one that does not exist yet may come.
                let before = *at > 0;
                *open = File::open(path).ok();
                *at = 0;
                Ok(if before { Next::Anew } else { Next::Nothing })
            }
        }
    }
}

/// Whether another file stands under the name, or the same one was cut.
fn replaced(path: &Path, open: Option<&File>, at: u64) -> bool {
    let Some(held) = open.and_then(|file| file.metadata().ok()) else { return true };
    match path.metadata() {
        Ok(now) => now.len() < at || !same(&held, &now),
        Err(_) => false,
    }
}

#[cfg(unix)]
fn same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
