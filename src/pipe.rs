//! Standard input as a pipe that may stay open (`kubectl logs -f POD | coroner`): deaths are reported while it does.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::follow::{Pieces, SETTLE, pipe};
use coroner::examine::{Options, conclude, examine};
use coroner::input::{Source, torn};
use coroner::line::looks_binary;
use coroner::note::{Gravity, Note};
use coroner::read::{Reading, Stream, held, read};
use coroner::report::{Entry, Report};

/// Fewer bytes than this may be the first of an archive's mark.
const WORD: usize = 16;

/// A pipe that brings more than this while lines that belong together are waited for, in bytes, is still catching up with what
/// was written before: one report on it is enough.
const FLOOD: usize = 256 << 10;

/// How pipes are named among the inputs.
const NAME: &str = "-";

/// Whether standard input is a pipe or a socket. What is read from a file is all there.
#[cfg(unix)]
pub(crate) fn is_pipe() -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata("/dev/stdin").is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
}

/// Whether standard input is a pipe or a socket: it cannot be told here, and is read to its end.
#[cfg(not(unix))]
pub(crate) fn is_pipe() -> bool {
    false
}

/// Examines standard input. While it stays open, `early` gets what is known soon after a death was told, and again when more
/// becomes known; the report at the end is given back, and whether it holds more than `early` had.
pub(crate) fn watch(
    stdin: Box<dyn Read + Send>,
    options: &Options,
    early: &mut dyn FnMut(&Report) -> io::Result<()>,
) -> io::Result<(Report, bool)> {
    let pieces = pipe(stdin);
    let (mut head, mut failed) = (Vec::<u8>::new(), None);
    // What it is shows in its first bytes, in however small pieces they come; a line that is all there is needs no more of them.
    while head.len() < WORD && failed.is_none() {
        let odd = head.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
        let piece = if head.is_empty() || odd { pieces.recv().map_err(Into::into) } else { pieces.recv_timeout(SETTLE) };
        match piece {
            Ok(Ok(piece)) => head.extend_from_slice(&piece),
            Ok(Err(error)) => failed = Some(error),
            Err(_) => break,
        }
    }
    if looks_binary(&head) {
        return Ok((whole(Cursor::new(head).chain(Rest { pieces, piece: Cursor::default() }), options), true));
    }
    let mut taken = Taken { limit: held(&[]), ..Taken::default() };
    taken.push(&head);
    let mut told: Option<Report> = None;
    let mut wait = Wait::new(head.len());
    while failed.is_none() {
        match pieces.recv_timeout(wait.left()) {
            Ok(Ok(piece)) => {
                taken.push(&piece);
                wait.came(piece.len());
                if !wait.is_over() {
                    continue;
                }
            }
            Ok(Err(error)) => failed = Some(error),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if failed.is_some() || !wait.is_due() {
            continue;
        }
        let begun = Instant::now();
        let report = conclude(taken.reading(), Vec::new(), options);
        wait = Wait::after(begun.elapsed());
        if is_news(&report, told.as_ref()) {
            early(&report)?;
            told = Some(report);
        }
    }
    let unread = failed.map(|error| torn(&Arc::from(NAME), &error));
    let report = conclude(taken.reading(), unread.into_iter().collect(), options);
    let news = told.is_none() || is_news(&report, told.as_ref());
    Ok((report, news))
}

/// How long it is waited before what came is judged: for a moment of silence, or for as long as one where others talk on.
struct Wait {
    since: Option<Instant>,
    bytes: usize,
    most: Duration,
}

impl Wait {
    /// A wait that begins with this many bytes.
    fn new(bytes: usize) -> Self {
        Self { since: Some(Instant::now()), bytes, most: SETTLE }
    }

    /// A wait that begins with the next piece. Where judging took long, it takes a small part of the time only.
    fn after(cost: Duration) -> Self {
        Self { since: None, bytes: 0, most: SETTLE.max(cost * 4) }
    }

    /// How long the next piece is waited for; a moment of silence ends every wait.
    fn left(&self) -> Duration {
        match self.since {
            Some(since) if self.bytes <= FLOOD => self.most.saturating_sub(since.elapsed()).min(SETTLE),
            _ => SETTLE,
        }
    }

    fn came(&mut self, bytes: usize) {
        self.since.get_or_insert_with(Instant::now);
        self.bytes += bytes;
    }

    /// Whether a pipe that talks on was waited for long enough; one that is flooded begins to wait anew.
    fn is_over(&mut self) -> bool {
        let over = self.since.is_some_and(|since| since.elapsed() >= self.most);
        let flooded = self.bytes > FLOOD;
        if over && flooded {
            *self = Self { since: Some(Instant::now()), bytes: 0, ..*self };
        }
        over && !flooded
    }

    /// Whether anything came that was not judged.
    fn is_due(&self) -> bool {
        self.since.is_some()
    }
}

/// What was taken from a pipe: all of it as long as it may hold documents, else what its lines said.
#[derive(Default)]
struct Taken {
    head: Vec<u8>,
    limit: usize,
    stream: Option<Stream>,
}

impl Taken {
    fn push(&mut self, piece: &[u8]) {
        if let Some(stream) = &mut self.stream {
            return stream.push(piece);
        }
        self.head.extend_from_slice(piece);
        if self.head.len() > self.limit {
            self.limit = held(&self.head);
        }
        if self.head.len() > self.limit {
            let mut stream = Stream::new(&Arc::from(NAME));
            stream.push(&std::mem::take(&mut self.head));
            self.stream = Some(stream);
        }
    }

    /// What was read, as if the pipe ended here.
    fn reading(&self) -> Reading {
        match &self.stream {
            Some(stream) => stream.so_far(),
            None => read(&[Source::stream(NAME.into(), self.head.as_slice())]),
        }
    }
}

/// Whether a report tells of other deaths than the one before, judges them otherwise, or lost what was to come; a further line
/// of evidence is no news.
fn is_news(report: &Report, told: Option<&Report>) -> bool {
    let judged = |report: &Report| -> Vec<_> {
        let pids = |entry: &Entry| (entry.who.own_pid, entry.who.host_pid);
        report.deaths.iter().map(|entry| (pids(entry), entry.verdict.cause, entry.verdict.grade)).collect()
    };
    let lost = |note: &Note| note.gravity == Gravity::Unread;
    let told_of = |told: &Report| judged(told) == judged(report) && !report.notes.iter().any(lost);
    told.map_or(!report.deaths.is_empty(), |told| !told_of(told))
}

/// Examines what is all there, or comes without a pause.
fn whole(reader: impl Read + Send, options: &Options) -> Report {
    examine(&[Source::stream(NAME.into(), reader)], Vec::new(), options)
}

/// What of a pipe was not yet read.
struct Rest {
    pieces: Pieces,
    piece: Cursor<Vec<u8>>,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.piece.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            let Ok(piece) = self.pieces.recv() else { return Ok(0) };
            self.piece = Cursor::new(piece?);
        }
    }
}
