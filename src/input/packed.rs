//! Compressed streams: a reader for each format, whose errors say what they mean to the user.

use std::cell::Cell;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read};
use std::rc::Rc;

use bzip2::read::MultiBzDecoder;
use flate2::bufread::GzDecoder;

use super::magic::Magic;
use super::xz::Blocks;
use super::zstd::Frames;

/// What is wrong with a compressed stream, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage {
    /// The packed bytes came to their end.
    ended: Rc<Cell<bool>>,
    /// Something else follows the packed data.
    trailing: Rc<Cell<bool>>,
}

impl Damage {
    /// A reader of packed bytes whose end is noticed.
    pub(super) fn watch<R: Read>(&self, inner: R) -> Ended<R> {
        Ended { inner, ended: Rc::clone(&self.ended) }
    }

    /// Whether the packed bytes came to their end.
    pub(super) fn ended(&self) -> bool {
        self.ended.get()
    }

    /// Whether something that is not compressed follows.
    pub(super) fn trailing(&self) -> bool {
        self.trailing.get()
    }
}

/// The unpacked bytes of a stream.
pub(super) fn unpacked<'a>(kind: Magic, reader: Box<dyn Read + 'a>, damage: &Damage) -> Box<dyn Read + 'a> {
    let reader: Box<dyn Read + 'a> = Box::new(damage.watch(reader));
    let plain: Box<dyn Read + 'a> = match kind {
        Magic::Gzip => Box::new(Members { state: State::Between(BufReader::new(reader)), damage: damage.clone(), first: true }),
        Magic::Bzip2 => Box::new(MultiBzDecoder::new(reader)),
        Magic::Xz => Box::new(Blocks::new(reader)),
        Magic::Zstd => Box::new(Frames::new(reader)),
        Magic::Zip | Magic::Tar => reader,
    };
    Box::new(Plain { inner: plain, ended: Rc::clone(&damage.ended) })
}

/// Notices the end of the packed bytes.
pub(super) struct Ended<R> {
    inner: R,
    ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Ended<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.ended.set(n == 0 && !buffer.is_empty());
        Ok(n)
    }
}

/// Turns the errors of decoders into words that help: what failed after its end is cut off, anything else is damaged.
struct Plain<R> {
    inner: R,
    ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Plain<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| told(error, self.ended.get()))
    }
}

/// The words for an error of a decoder; those of the system and of this program's own bounds are good already.
pub(super) fn told(error: io::Error, ended: bool) -> io::Error {
    match error.kind() {
        ErrorKind::Interrupted | ErrorKind::FileTooLarge => error,
        _ if error.raw_os_error().is_some() => error,
        ErrorKind::OutOfMemory => io::Error::new(ErrorKind::OutOfMemory, "unpacking it would take too much memory"),
        kind if ended || kind == ErrorKind::UnexpectedEof => io::Error::new(ErrorKind::UnexpectedEof, "it is cut off"),
        _ => io::Error::new(ErrorKind::InvalidData, "it is damaged"),
    }
}

/// The members of a gzip file one after another, as `gzip -d` reads them: padding behind them is passed over, and anything
/// else is left out.
struct Members<R: Read> {
    state: State<R>,
    damage: Damage,
    first: bool,
}

enum State<R: Read> {
    Between(BufReader<R>),
    Inside(Box<GzDecoder<BufReader<R>>>),
    Over,
}

impl<R: Read> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return Ok(0),
                State::Between(mut source) => {
                    while !self.first && source.fill_buf()?.first() == Some(&0) {
                        source.consume(1);
                    }
                    let next = source.fill_buf()?;
                    if next.is_empty() {
                        return Ok(0);
                    }
                    // The mark may be torn by the end of the buffer; a member that begins so is read, and found cut off.
                    if !self.first && next.first() != Some(&0x1f) {
                        self.damage.trailing.set(true);
                        return Ok(0);
                    }
                    self.first = false;
                    self.state = State::Inside(Box::new(GzDecoder::new(source)));
                }
                State::Inside(mut member) => match member.read(buffer)? {
                    0 if !buffer.is_empty() => self.state = State::Between(member.into_inner()),
                    n => {
                        self.state = State::Inside(member);
                        return Ok(n);
                    }
                },
            }
        }
    }
}
