//! Reads a large input while other threads search the pieces that were read.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::sieve::Search;

/// How much is read at a time, in bytes.
const PIECE: usize = 256 << 10;

/// How many pieces wait for each thread: enough that none is idle, few enough that memory stays small.
const WAITING: usize = 2;

/// More threads than this find nothing to do: reading itself takes its time.
const MOST: usize = 4;

/// A piece of the input and how much of it is filled.
type Piece = (Vec<u8>, usize);

/// A thread that searches pieces, and gives them back in the order in which it got them.
struct Searcher {
    pieces: Sender<Piece>,
    searched: Receiver<(Piece, Vec<Range<usize>>)>,
}

/// How many threads are worth starting; with one core, or where it cannot be told, none.
pub(super) fn threads() -> usize {
    thread::available_parallelism().map_or(0, usize::from).min(MOST)
}

/// Reads to the end, and hands out each piece in order with the lines of it that may speak.
pub(super) fn read(
    reader: &mut impl Read,
    search: Search,
    threads: usize,
    take: &mut impl FnMut(&[u8], &[Range<usize>]),
) -> Result<()> {
    thread::scope(|scope| {
        let searchers: Vec<Searcher> = (0..threads)
            .map(|_| {
                let (pieces, given) = channel::<Piece>();
                let (give, searched) = channel();
                scope.spawn(move || {
                    for (bytes, size) in given {
                        let lines = search(bytes.get(..size).unwrap_or_default());
                        if give.send(((bytes, size), lines)).is_err() {
                            return;
                        }
                    }
                });
                Searcher { pieces, searched }
            })
            .collect();
        let mut free: Vec<Vec<u8>> = Vec::new();
        let mut waiting: VecDeque<&Searcher> = VecDeque::new();
        let mut finish = |searcher: &Searcher| {
            let ((bytes, size), lines) = searcher.searched.recv().ok()?;
            take(bytes.get(..size).unwrap_or_default(), &lines);
            Some(bytes)
        };
        let mut end = Ok(());
        for searcher in searchers.iter().cycle() {
            let mut bytes = free.pop().unwrap_or_else(|| vec![0; PIECE]);
            match fill(reader, &mut bytes) {
                Ok(0) => break,
                Ok(size) => {
                    if searcher.pieces.send((bytes, size)).is_err() {
                        break;
                    }
                    waiting.push_back(searcher);
                }
                Err(error) => {
                    end = Err(error);
                    break;
                }
            }
            if waiting.len() >= WAITING * searchers.len()
                && let Some(first) = waiting.pop_front()
            {
                free.extend(finish(first));
            }
        }
        for searcher in waiting {
            finish(searcher);
        }
        end
    })
}

/// Reads once, whatever interrupts it.
pub(super) fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<usize> {
    loop {
        match reader.read(bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
