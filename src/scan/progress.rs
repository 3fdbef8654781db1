//! How far a scan is, on standard error: only on a terminal, and only when it takes longer than half a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Pace;

/// Work that is done by then needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar under way.
pub struct Progress {
    bar: ProgressBar,
    over: Arc<AtomicBool>,
}

impl Progress {
    /// Shows the pace of a scan; `terminal` tells whether standard error is one.
    pub fn new(pace: &Arc<Pace>, terminal: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let over = Arc::new(AtomicBool::new(false));
        if terminal {
            // How many there are is not known before the last folder was listed, which is near the end.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} done, {elapsed}") {
                bar.set_style(style);
            }
            let (bar, over, pace) = (bar.clone(), Arc::clone(&over), Arc::clone(pace));
            thread::spawn(move || draw(&bar, &over, &pace));
        }
        Self { bar, over }
    }

    /// Does something that writes to the terminal, without the bar in its way.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}

fn draw(bar: &ProgressBar, over: &AtomicBool, pace: &Pace) {
    thread::sleep(PATIENCE);
    if over.load(Ordering::Relaxed) {
        return;
    }
    bar.set_position(pace.done.load(Ordering::Relaxed));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    while !over.load(Ordering::Relaxed) {
        bar.set_position(pace.done.load(Ordering::Relaxed));
        bar.tick();
        thread::sleep(Duration::from_millis(100));
    }
    bar.finish_and_clear();
}
