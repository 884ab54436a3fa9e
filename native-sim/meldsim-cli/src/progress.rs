//! Progress on standard error, when it takes long: a line that is rewritten on a terminal, and where it is asked for, a line
//! now and then on a pipe.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::interrupt;
use crate::output::is_quiet;
use meldsim::device::Aging;
use meldsim_stats::count;
use meldsim_workload::Reached;

const FIRST_AFTER: Duration = Duration::from_millis(500);
const AGAIN_AFTER: Duration = Duration::from_millis(100);
/// On a pipe, a line for each such share of the work.
const STEP: f64 = 0.1;

/// Shows which share of the work is done and how long the rest will take. Several threads may update it.
pub(crate) struct Progress {
    label: &'static str,
    start: Instant,
    /// Each update counts: on a pipe there are few lines, and none is to be left out.
    counts_all: bool,
    line: Mutex<Line>,
}

struct Line {
    /// When the line may be written again; never when it is not shown.
    next: Option<Instant>,
    /// On a pipe, the share at which the next line is due.
    next_share: Option<f64>,
    /// Characters on the terminal.
    shown: usize,
}

impl Progress {
    pub(crate) fn new(label: &'static str) -> Progress {
        let is_shown = io::stderr().is_terminal() && !is_quiet();
        let start = Instant::now();
        Progress {
            label,
            start,
            counts_all: false,
            line: Mutex::new(Line {
                next: is_shown.then(|| start + FIRST_AFTER),
                next_share: None,
                shown: 0,
            }),
        }
    }

    /// Also tells a pipe or a file, a line for each tenth of the work.
    pub(crate) fn on_pipes(mut self) -> Progress {
        let is_pipe = !io::stderr().is_terminal() && !is_quiet();
        self.counts_all = is_pipe;
        if let Ok(line) = self.line.get_mut() {
            line.next_share = is_pipe.then_some(STEP);
        }
        self
    }

    /// Shows the share of the work that is done, 0 to 1.
    pub(crate) fn update(&self, share: f64) {
        self.show(share, |now| self.text(share, now));
    }

    /// Shows how far a run is, of a trace the share that is read; and whether to go on: not when it was interrupted.
    pub(crate) fn of_run(&self, reached: Reached<'_>, read: f64) -> ControlFlow<()> {
        match reached {
            Reached::Past(aging) => {
                // It may take long before it is asked again.
                if let (0, Ok(mut line)) = (aging.pages, self.line.lock()) {
                    line.next = line.next.map(|_| Instant::now());
                }
                self.show(0.0, |_| past(aging));
            }
            Reached::Jobs(share) => self.update(share),
            Reached::Trace => self.update(read),
        }
        interrupt::flow()
    }

    fn show(&self, share: f64, text: impl Fn(Instant) -> String) {
        let now = Instant::now();
        // On a terminal, when another thread has the lock, it writes the line.
        let line = match self.counts_all {
            true => self.line.lock().ok(),
            false => self.line.try_lock().ok(),
        };
        let Some(mut line) = line else {
            return;
        };
        if line.next.is_some_and(|next| now >= next) {
            line.next = Some(now + AGAIN_AFTER);
            let text = text(now);
            let width = line.shown.max(text.len());
            line.shown = text.len();
            let _ = write!(io::stderr(), "\r{text:width$}");
        }
        // The last tenth is followed by the result.
        if line.next_share.is_some_and(|next| share >= next) && share < 1.0 {
            line.next_share = Some((share / STEP).floor() * STEP + STEP);
            let _ = writeln!(io::stderr(), "{}", text(now));
        }
    }

    /// The same, and whether to go on: not when it was interrupted.
    pub(crate) fn flow(&self, share: f64) -> ControlFlow<()> {
        self.update(share);
        interrupt::flow()
    }

    fn text(&self, share: f64, now: Instant) -> String {
        let (label, percent) = (self.label, share * 100.0);
        let left = left(now - self.start, share);
        let left = left.map_or(String::new(), |left| format!(", {left} left"));
        format!("{label}: {percent:3.0} %{left}")
    }
}

/// How far a past is. When its passes are alike is not known before.
fn past(aging: &Aging) -> String {
    match aging.pages {
        0 => "preconditioning".to_owned(),
        pages => format!(
            "preconditioning: {} pages, pass {} of at most {}",
            count(pages as f64),
            aging.passes + 1,
            Aging::MOST_PASSES
        ),
    }
}

/// How long the rest takes if it goes on as it did: `40 s`, `12 min`, `3 h`. Of little work nothing is said.
fn left(elapsed: Duration, share: f64) -> Option<String> {
    if share < 0.02 {
        return None;
    }
    let seconds = (elapsed.as_secs_f64() * (1.0 - share) / share).ceil();
    Some(match seconds {
        s if s < 100.0 => format!("{s} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    })
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(Line { shown: 1.., .. }) = self.line.get_mut() {
            let width = self.line.get_mut().map_or(0, |line| line.shown);
            let _ = write!(io::stderr(), "\r{:width$}\r", "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_says_which_of_its_passes_it_is_in() {
        let (mut aging, mut begun) = (Aging::default(), Aging::default());
        (aging.pages, aging.passes) = (120_000_000, 2);
        begun.pages = 0;
        assert_eq!(past(&begun), "preconditioning");
        let text = past(&aging);
        assert!(text.ends_with("pages, pass 3 of at most 16"), "{text}");
    }

    #[test]
    fn what_is_left_is_reckoned_from_what_is_done() {
        let left = |seconds, share| left(Duration::from_secs(seconds), share);
        assert_eq!(left(1, 0.01), None);
        assert_eq!(left(10, 0.25).as_deref(), Some("30 s"));
        assert_eq!(left(60, 0.1).as_deref(), Some("9 min"));
        assert_eq!(left(3600, 0.25).as_deref(), Some("3 h"));
        assert_eq!(left(10, 1.0).as_deref(), Some("0 s"));
    }
}
