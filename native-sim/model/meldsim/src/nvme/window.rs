//! Predictable Latency Mode of an NVM set: windows, budgets, events.
//!
//! In: what the host configures and asks for, the commands it begins, time. Out: the window, and the
//! log page. Base specification 2.0: Features 13h and 14h, Log Identifier 0Ah; the names are its.
//!
//! In the deterministic window (DTWIN) the set does nothing in the background. The window ends when
//! its budget of reads, writes or time is used up, or when the host asks for it. Then the set is in
//! the non-deterministic window (NDWIN) and catches up. Time there earns the next budget: none before
//! NDWIN Time Minimum Low, all of it at NDWIN Time Minimum High, in proportion between. Two choices
//! are this model's: an unearned window is refused, and the mode begins with a whole budget earned.

use crate::engine::{Duration, Instant};
use crate::profile::PredictableLatency;

/// The window an NVM set is in, by its number in Feature 14h and in the log's Status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Window {
    /// Predictable latency mode is not enabled.
    #[default]
    Disabled = 0,
    /// The deterministic window (DTWIN).
    Deterministic = 1,
    /// The non-deterministic window (NDWIN).
    NonDeterministic = 2,
}

/// What is to be reported of a set: the data of Predictable Latency Mode Config, Feature 13h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictableLatencyConfig {
    /// Enable Event: the events to be reported, bits as in [`PredictableLatencyLog::event_type`].
    pub enable_event: u16,
    /// DTWIN Reads Threshold: warn when fewer reads are left.
    pub reads_threshold: u64,
    /// DTWIN Writes Threshold.
    pub writes_threshold: u64,
    /// DTWIN Time Threshold, in milliseconds.
    pub time_threshold_ms: u64,
}

/// Predictable Latency Per NVM Set log page (Log Identifier 0Ah).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PredictableLatencyLog {
    /// Status: the window.
    pub status: Window,
    /// Event Type: what was reported and not cleared.
    pub event_type: u16,
    /// DTWIN Reads Typical: random reads of 4 KiB.
    pub dtwin_reads_typical: u64,
    /// DTWIN Writes Typical, in units of the Optimal Write Size.
    pub dtwin_writes_typical: u64,
    /// DTWIN Time Maximum, in milliseconds.
    pub dtwin_time_maximum_ms: u64,
    /// NDWIN Time Minimum High, in milliseconds: for a whole DTWIN after it.
    pub ndwin_time_minimum_high_ms: u64,
    /// NDWIN Time Minimum Low, in milliseconds: for any DTWIN after it.
    pub ndwin_time_minimum_low_ms: u64,
    /// DTWIN Reads Estimate: left in this window, or in the next one.
    pub dtwin_reads_estimate: u64,
    /// DTWIN Writes Estimate.
    pub dtwin_writes_estimate: u64,
    /// DTWIN Time Estimate, in milliseconds.
    pub dtwin_time_estimate_ms: u64,
}

impl PredictableLatencyLog {
    /// Event Type bit 0: fewer reads are left in the DTWIN than the threshold.
    pub const READS_WARNING: u16 = 1;
    /// Event Type bit 1: fewer writes are left than the threshold.
    pub const WRITES_WARNING: u16 = 1 << 1;
    /// Event Type bit 2: less time is left than the threshold.
    pub const TIME_WARNING: u16 = 1 << 2;
    /// Event Type bit 14: autonomous transition to NDWIN, a typical or maximum value was exceeded.
    pub const EXCEEDED: u16 = 1 << 14;
    /// Event Type bit 15: autonomous transition to NDWIN, a deterministic excursion.
    pub const EXCURSION: u16 = 1 << 15;
}

/// Why a window cannot be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowError {
    NotEnabled,
    NotEarned,
}

/// What may still be done in a deterministic window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Budget {
    reads: u64,
    writes: u64,
    time: Duration,
}

/// The state of one set.
#[derive(Debug)]
pub(crate) struct Windows {
    terms: PredictableLatency,
    config: PredictableLatencyConfig,
    window: Window,
    /// When the window began.
    since: Instant,
    /// What the deterministic window began with, and what of it is used; in the non-deterministic
    /// window not in use.
    granted: Budget,
    reads: u64,
    writes: u64,
    /// Whether a whole budget is there without waiting.
    whole_earned: bool,
    events: u16,
}

impl Windows {
    pub(crate) fn new(terms: &PredictableLatency) -> Windows {
        Windows {
            terms: terms.clone(),
            config: PredictableLatencyConfig::default(),
            window: match terms.alternate {
                true => Window::NonDeterministic,
                false => Window::Disabled,
            },
            since: Instant::START,
            granted: Budget {
                reads: 0,
                writes: 0,
                time: Duration::ZERO,
            },
            reads: 0,
            writes: 0,
            whole_earned: true,
            events: 0,
        }
    }

    pub(crate) fn window(&self) -> Window {
        self.window
    }

    pub(crate) fn config(&self) -> PredictableLatencyConfig {
        self.config
    }

    /// Enables or disables the mode, with what is to be reported.
    pub(crate) fn configure(
        &mut self,
        enable: bool,
        config: PredictableLatencyConfig,
        now: Instant,
    ) {
        self.config = config;
        match (enable, self.window) {
            (true, Window::Disabled) => {
                self.window = Window::NonDeterministic;
                self.since = now;
                self.whole_earned = true;
            }
            (false, _) => {
                self.window = Window::Disabled;
                self.events = 0;
            }
            (true, _) => {}
        }
    }

    /// A command arrives. True when that begins a deterministic window: the set alternates by
    /// itself, and has earned a whole one.
    #[inline]
    pub(crate) fn alternate(&mut self, now: Instant) -> bool {
        if !self.terms.alternate || self.window != Window::NonDeterministic {
            return false;
        }
        let outside = now.saturating_since(self.since);
        let is_due = self.whole_earned || outside >= self.terms.ndwin_time_high;
        is_due && self.enter(true, now).is_ok()
    }

    /// The host asks for a window. Asking for the present one changes nothing.
    pub(crate) fn enter(&mut self, deterministic: bool, now: Instant) -> Result<(), WindowError> {
        match (self.window, deterministic) {
            (Window::Disabled, _) => Err(WindowError::NotEnabled),
            (Window::NonDeterministic, true) => {
                self.granted = self.earned(now).ok_or(WindowError::NotEarned)?;
                (self.reads, self.writes) = (0, 0);
                self.window = Window::Deterministic;
                self.since = now;
                Ok(())
            }
            (Window::Deterministic, false) => {
                self.leave(now);
                Ok(())
            }
            (Window::NonDeterministic, false) | (Window::Deterministic, true) => Ok(()),
        }
    }

    /// When the deterministic window ends at the latest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.window == Window::Deterministic).then(|| self.since + self.granted.time)
    }

    /// Reads of 4 KiB and writes of the optimal size are begun. True when they end the
    /// deterministic window: they were more than its budget.
    pub(crate) fn account(&mut self, reads: u64, writes: u64, now: Instant) -> bool {
        if self.window != Window::Deterministic {
            return false;
        }
        self.reads += reads;
        self.writes += writes;
        self.warn(now);
        let exceeded = self.reads > self.granted.reads || self.writes > self.granted.writes;
        if exceeded {
            self.transition(PredictableLatencyLog::EXCEEDED, now);
        }
        exceeded
    }

    /// True when the deterministic window ends now because its time is up.
    pub(crate) fn expire(&mut self, now: Instant) -> bool {
        let expired = self.deadline().is_some_and(|deadline| deadline <= now);
        if expired {
            self.warn(now);
            self.transition(PredictableLatencyLog::EXCEEDED, now);
        }
        expired
    }

    /// Work in the background could not be put off: the deterministic window, if it is one, ends.
    pub(crate) fn excursion(&mut self, now: Instant) -> bool {
        let ends = self.window == Window::Deterministic;
        if ends {
            self.transition(PredictableLatencyLog::EXCURSION, now);
        }
        ends
    }

    /// The log page; events stay in it until they are cleared.
    pub(crate) fn log(&mut self, now: Instant, retain: bool) -> PredictableLatencyLog {
        self.warn(now);
        let terms = &self.terms;
        let left = match self.window {
            Window::Deterministic => Some(self.left(now)),
            _ => self.earned(now),
        };
        let log = PredictableLatencyLog {
            status: self.window,
            event_type: self.events,
            dtwin_reads_typical: terms.dtwin_reads,
            dtwin_writes_typical: terms.dtwin_writes,
            dtwin_time_maximum_ms: ms(terms.dtwin_time),
            ndwin_time_minimum_high_ms: ms(terms.ndwin_time_high),
            ndwin_time_minimum_low_ms: ms(terms.ndwin_time_low),
            dtwin_reads_estimate: left.map_or(0, |budget| budget.reads),
            dtwin_writes_estimate: left.map_or(0, |budget| budget.writes),
            dtwin_time_estimate_ms: left.map_or(0, |budget| ms(budget.time)),
        };
        if !retain {
            self.events = 0;
        }
        log
    }

    fn transition(&mut self, cause: u16, now: Instant) {
        self.events |= cause & self.config.enable_event;
        self.leave(now);
    }

    fn leave(&mut self, now: Instant) {
        self.window = Window::NonDeterministic;
        self.since = now;
        self.whole_earned = false;
    }

    fn left(&self, now: Instant) -> Budget {
        let elapsed = now.saturating_since(self.since);
        Budget {
            reads: self.granted.reads.saturating_sub(self.reads),
            writes: self.granted.writes.saturating_sub(self.writes),
            time: self.granted.time.saturating_sub(elapsed),
        }
    }

    /// The budget of a deterministic window that began now.
    fn earned(&self, now: Instant) -> Option<Budget> {
        let terms = &self.terms;
        let high = terms.ndwin_time_high;
        let outside = match self.whole_earned {
            true => high,
            false => now.saturating_since(self.since).min(high),
        };
        let share = |whole: u64| {
            let part = u128::from(whole) * u128::from(outside.as_ps()) / u128::from(high.as_ps());
            u64::try_from(part).unwrap_or(whole)
        };
        (outside >= terms.ndwin_time_low).then(|| Budget {
            reads: share(terms.dtwin_reads),
            writes: share(terms.dtwin_writes),
            time: Duration::from_ps(share(terms.dtwin_time.as_ps())),
        })
    }

    /// Notes what has fallen below its threshold.
    fn warn(&mut self, now: Instant) {
        if self.window != Window::Deterministic {
            return;
        }
        let left = self.left(now);
        let config = &self.config;
        let warnings = [
            (
                left.reads < config.reads_threshold,
                PredictableLatencyLog::READS_WARNING,
            ),
            (
                left.writes < config.writes_threshold,
                PredictableLatencyLog::WRITES_WARNING,
            ),
            (
                ms(left.time) < config.time_threshold_ms,
                PredictableLatencyLog::TIME_WARNING,
            ),
        ];
        for (below, bit) in warnings {
            if below {
                self.events |= bit & config.enable_event;
            }
        }
    }
}

fn ms(time: Duration) -> u64 {
    time.as_us() / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: PredictableLatencyConfig = PredictableLatencyConfig {
        enable_event: u16::MAX,
        reads_threshold: 10,
        writes_threshold: 5,
        time_threshold_ms: 20,
    };

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_ms(ms)
    }

    /// 100 reads, 50 writes, 200 ms; earned in 100 ms, from 40 ms on.
    fn enabled() -> Windows {
        let mut windows = Windows::new(&PredictableLatency {
            alternate: false,
            dtwin_reads: 100,
            dtwin_writes: 50,
            dtwin_time: Duration::from_ms(200),
            ndwin_time_high: Duration::from_ms(100),
            ndwin_time_low: Duration::from_ms(40),
        });
        windows.configure(true, CONFIG, at(0));
        windows
    }

    #[test]
    fn no_window_before_the_mode_is_enabled() {
        let mut windows = Windows::new(&PredictableLatency::default());
        assert_eq!(windows.enter(true, at(0)), Err(WindowError::NotEnabled));
        assert!(!windows.account(1 << 40, 0, at(0)) && !windows.expire(at(1 << 20)));
        assert_eq!(windows.log(at(0), false).status, Window::Disabled);
        let mut windows = enabled();
        assert_eq!(windows.window(), Window::NonDeterministic);
        windows.enter(true, at(0)).unwrap();
        windows.configure(false, CONFIG, at(1));
        assert_eq!(windows.window(), Window::Disabled);
    }

    #[test]
    fn more_than_the_budget_ends_the_window() {
        for (reads, writes) in [(101, 0), (0, 51)] {
            let mut windows = enabled();
            windows.enter(true, at(5)).unwrap();
            assert!(!windows.account(100, 50, at(6)), "just the budget");
            assert!(windows.account(reads - 100.min(reads), writes - 50.min(writes), at(7)));
            assert_eq!(windows.window(), Window::NonDeterministic);
            let log = windows.log(at(7), false);
            let exceeded = PredictableLatencyLog::EXCEEDED;
            assert_eq!(
                (log.status, log.event_type & 0xC000),
                (Window::NonDeterministic, exceeded)
            );
            assert_eq!(windows.log(at(7), false).event_type, 0, "cleared");
        }
    }

    #[test]
    fn time_ends_the_window() {
        let mut windows = enabled();
        windows.enter(true, at(5)).unwrap();
        assert_eq!(windows.deadline(), Some(at(205)));
        assert!(!windows.expire(at(204)));
        assert!(windows.expire(at(205)));
        assert_eq!(
            (windows.window(), windows.deadline()),
            (Window::NonDeterministic, None)
        );
    }

    #[test]
    fn a_window_is_earned_by_time_outside() {
        let mut windows = enabled();
        windows.enter(true, at(0)).unwrap();
        windows.enter(false, at(10)).unwrap();
        assert_eq!(windows.log(at(49), true).dtwin_reads_estimate, 0);
        assert_eq!(windows.enter(true, at(49)), Err(WindowError::NotEarned));
        let log = windows.log(at(60), true);
        assert_eq!(
            (
                log.dtwin_reads_estimate,
                log.dtwin_writes_estimate,
                log.dtwin_time_estimate_ms
            ),
            (50, 25, 100)
        );
        windows.enter(true, at(60)).unwrap();
        assert_eq!(windows.deadline(), Some(at(160)));
        assert!(!windows.account(50, 0, at(61)) && windows.account(1, 0, at(62)));
        windows.enter(true, at(162)).unwrap();
        assert_eq!(windows.log(at(162), true).dtwin_reads_estimate, 100);
    }

    #[test]
    fn a_set_can_alternate_by_itself() {
        let mut windows = enabled();
        assert!(!windows.alternate(at(1000)), "not unless told");
        windows.terms.alternate = true;
        assert!(windows.alternate(at(1000)), "earned from the start");
        assert!(!windows.alternate(at(1001)));
        assert!(windows.account(101, 0, at(1002)));
        assert!(
            !windows.alternate(at(1101)),
            "part of a window is not enough"
        );
        assert!(windows.alternate(at(1102)));
        assert_eq!(windows.deadline(), Some(at(1302)));
    }

    #[test]
    fn warnings_come_before_the_end_and_only_those_enabled() {
        let mut windows = enabled();
        windows.enter(true, at(0)).unwrap();
        windows.account(90, 45, at(1));
        assert_eq!(windows.log(at(180), true).event_type, 0);
        windows.account(1, 0, at(2));
        assert_eq!(
            windows.log(at(3), true).event_type,
            PredictableLatencyLog::READS_WARNING
        );
        windows.account(0, 1, at(4));
        let all = PredictableLatencyLog::READS_WARNING
            | PredictableLatencyLog::WRITES_WARNING
            | PredictableLatencyLog::TIME_WARNING;
        assert_eq!(windows.log(at(181), true).event_type, all);
        let silent = PredictableLatencyConfig {
            enable_event: PredictableLatencyLog::EXCURSION,
            ..CONFIG
        };
        let mut windows = enabled();
        windows.configure(true, silent, at(0));
        windows.enter(true, at(0)).unwrap();
        windows.account(99, 49, at(199));
        assert_eq!(windows.log(at(199), true).event_type, 0);
        assert!(windows.excursion(at(199)) && !windows.excursion(at(199)));
        assert_eq!(
            windows.log(at(199), true).event_type,
            PredictableLatencyLog::EXCURSION
        );
    }
}
