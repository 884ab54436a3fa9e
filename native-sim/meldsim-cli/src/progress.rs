//! A progress line on standard error: only on a terminal, and only when it takes long.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const FIRST_AFTER: Duration = Duration::from_millis(500);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A line that is rewritten in place and cleared at the end.
pub(crate) struct Progress {
    label: &'static str,
    next: Option<Instant>,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(label: &'static str) -> Progress {
        Progress {
            label,
            next: io::stderr()
                .is_terminal()
                .then(|| Instant::now() + FIRST_AFTER),
            shown: false,
        }
    }

    /// Shows the share of the work that is done, 0 to 1.
    pub(crate) fn update(&mut self, share: f64) {
        let now = Instant::now();
        if self.next.is_some_and(|next| now >= next) {
            self.next = Some(now + AGAIN_AFTER);
            self.shown = true;
            let _ = write!(io::stderr(), "\r{}: {:3.0} %", self.label, share * 100.0);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(
                io::stderr(),
                "\r{:width$}\r",
                "",
                width = self.label.len() + 8
            );
        }
    }
}
