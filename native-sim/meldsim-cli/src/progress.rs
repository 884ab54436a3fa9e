//! A progress line on standard error: only on a terminal, and only when it takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const FIRST_AFTER: Duration = Duration::from_millis(500);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A line that is rewritten in place and cleared at the end. Several threads may update it.
pub(crate) struct Progress {
    label: &'static str,
    line: Mutex<Line>,
}

struct Line {
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(label: &'static str) -> Progress {
        let next = io::stderr()
            .is_terminal()
            .then(|| Instant::now() + FIRST_AFTER);
        Progress {
            label,
            line: Mutex::new(Line { next, shown: false }),
        }
    }

    /// Shows the share of the work that is done, 0 to 1.
    pub(crate) fn update(&self, share: f64) {
        let now = Instant::now();
        // When another thread has the lock, it writes the line.
        let Ok(mut line) = self.line.try_lock() else {
            return;
        };
        if line.next.is_some_and(|next| now >= next) {
            line.next = Some(now + AGAIN_AFTER);
            line.shown = true;
            let _ = write!(io::stderr(), "\r{}: {:3.0} %", self.label, share * 100.0);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.line.get_mut().is_ok_and(|line| line.shown) {
            let _ = write!(
                io::stderr(),
                "\r{:width$}\r",
                "",
                width = self.label.len() + 8
            );
        }
    }
}
