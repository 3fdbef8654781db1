//! Standard input handed on to standard output byte for byte, while it is examined.

use std::io::{self, Read, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A reader of standard input that passes on what it reads. Clones share the one stream.
#[derive(Clone, Default)]
pub(crate) struct Tee(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    failed: Option<io::Error>,
    over: bool,
}

impl Tee {
    /// Passes on what the examination did not want to read.
    pub(crate) fn drain(&mut self) {
        let mut buffer = vec![0; 64 << 10];
        while self.read(&mut buffer).is_ok_and(|n| n > 0) {}
    }

    /// The error that ended the passing on; a reader that left early is none.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.state().failed.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Whether the reader of standard output left before the end, after which nothing more is read.
    pub(crate) fn was_left(&self) -> bool {
        self.state().failed.as_ref().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Tee {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        if state.over {
            return Ok(0);
        }
        let n = io::stdin().lock().read(buffer)?;
        let mut out = io::stdout().lock();
        let passed = out.write_all(buffer.get(..n).unwrap_or_default()).and_then(|()| out.flush());
        state.over = n == 0 || passed.is_err();
        state.failed = passed.err();
        Ok(n)
    }
}
