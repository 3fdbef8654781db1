//! Xz files, unpacked as far as their bytes go: what stands before a cut is read.

use std::io::{self, Read};

use lzma_rust2::{Action, Status, XzStream};

/// Memory that an xz stream may ask for, in KiB; `xz -9` asks for 65 MiB.
const MEMORY: u32 = 160 << 10;

/// How much of the packed bytes is read at once, in bytes.
const PIECE: usize = 32 << 10;

/// How much is unpacked at once, in bytes: where the data is damaged, at most this much before it is lost.
const PLAIN: usize = 64 << 10;

/// Reads stream after stream.
pub(super) struct Blocks<R> {
    inner: R,
    stream: XzStream,
    packed: Vec<u8>,
    /// Where the unread packed bytes begin.
    at: usize,
    over: bool,
}

impl<R: Read> Blocks<R> {
    /// The streams of a file.
    pub(super) fn new(inner: R) -> Self {
        Self { inner, stream: XzStream::new_mem_limit(true, MEMORY), packed: Vec::new(), at: 0, over: false }
    }
}

impl<R: Read> Read for Blocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = buffer.len().min(PLAIN);
        let buffer = buffer.get_mut(..size).unwrap_or_default();
        while !self.over && !buffer.is_empty() {
            let mut action = Action::Run;
            if self.at == self.packed.len() {
                self.packed.resize(PIECE, 0);
                let size = self.inner.read(&mut self.packed);
                self.packed.truncate(size.as_ref().map_or(0, |size| *size));
                self.at = 0;
                if size? == 0 {
                    action = Action::Finish;
                }
            }
            let packed = self.packed.get(self.at..).unwrap_or_default();
            let done = self.stream.process(packed, buffer, action)?;
            self.at += done.bytes_consumed;
            self.over = done.status == Status::StreamEnd;
            if done.bytes_produced > 0 {
                return Ok(done.bytes_produced);
            }
            if matches!(action, Action::Finish) && !self.over {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
