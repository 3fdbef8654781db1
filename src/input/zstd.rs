//! Zstandard files of several frames, as rotated and appended logs have them.

use std::io::{self, BufRead as _, BufReader, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

type Frame<R> = StreamingDecoder<BufReader<R>, FrameDecoder>;

/// Where the reader stands.
enum State<R: Read> {
    Between(BufReader<R>),
    Inside(Box<Frame<R>>),
    Over,
}

/// Reads frame after frame.
pub(super) struct Frames<R: Read>(State<R>);

impl<R: Read> Frames<R> {
    /// The frames of a file.
    pub(super) fn new(reader: R) -> Self {
        Self(State::Between(BufReader::new(reader)))
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.0, State::Over) {
                State::Over => return Ok(0),
                State::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    if skip(&mut source)? {
                        self.0 = State::Between(source);
                        continue;
                    }
                    let frame = StreamingDecoder::new(source).map_err(|error| io::Error::other(error.to_string()))?;
                    self.0 = State::Inside(Box::new(frame));
                }
                State::Inside(mut frame) => match frame.read(buffer)? {
                    0 if !buffer.is_empty() => self.0 = State::Between(frame.into_inner()),
                    n => {
                        self.0 = State::Inside(frame);
                        return Ok(n);
                    }
                },
            }
        }
    }
}

/// Passes over a frame of somebody's own data; `false` where none stands there.
fn skip<R: Read>(source: &mut BufReader<R>) -> io::Result<bool> {
    let &[0x50..=0x5f, 0x2a, 0x4d, 0x18, a, b, c, d, ..] = source.fill_buf()? else { return Ok(false) };
    source.consume(8);
    let size = u64::from(u32::from_le_bytes([a, b, c, d]));
    io::copy(&mut source.by_ref().take(size), &mut io::sink())?;
    Ok(true)
}
