//! Collection has the flash until `gc.burst_size` is freed, and the host waits. With `throttled` or `percent` it does not
//! stand still: its writes enter the write buffer at `gc.throttle_iops`, or at so many percent of their own mean rate. Those that
//! come faster wait before the buffer, and a burst that takes long makes a queue of them.
//!
//! ```text
//!   room -- begin -- collected, writes enter at the rate -- end -- writes enter as they come -- begin -- ...
//! ```

use super::entry::Entry;
use super::{Bounds, Logs, Pacing, Standing};
use crate::engine::{Duration, Instant};
use crate::policy::{Given, OptionError};

/// The host's pages are counted in windows of so long.
const WINDOW: Duration = Duration::from_ms(50);
/// The mean is that of about so many windows.
const REMEMBERED: u64 = 256;
/// The mean is counted in fractions of pages.
const FRACTION: u64 = 1 << 16;

#[derive(Debug)]
struct Burst {
    bounds: Bounds,
    /// A host that does not stand still programs with more room than this.
    floor: u64,
    /// Of a page, by `gc.throttle_iops`; zero: it is no limit.
    interval: Duration,
    /// Of the mean rate; 0: it is no limit.
    percent: u64,
    entry: Entry,
    mean: Mean,
}

/// Pages that enter in a window, on average.
#[derive(Debug)]
struct Mean {
    window_end: Instant,
    /// Pages of the window that has not ended.
    pages: u64,
    /// Windows so far, up to those that are remembered.
    windows: u64,
    /// In fractions of pages.
    pages_a_window: u64,
}

pub(super) fn make(given: &mut Given<'_>, logs: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    let begin = logs.least;
    let end = begin + logs.burst;
    let interval = match given.number("throttled", false, false..=true)? {
        true => logs.page_interval,
        false => Duration::ZERO,
    };
    Ok(Box::new(Burst {
        bounds: Bounds { begin, end },
        floor: (logs.floor + logs.least) / 2,
        interval,
        percent: given.number("percent", 0, 0..=1000)?,
        entry: Entry::new(given)?,
        mean: Mean {
            window_end: Instant::START + WINDOW,
            pages: 0,
            windows: 0,
            pages_a_window: 0,
        },
    }))
}

impl Mean {
    /// Windows that have ended count.
    fn end_windows(&mut self, now: Instant) {
        while self.window_end <= now {
            self.windows = (self.windows + 1).min(REMEMBERED);
            self.pages_a_window -= self.pages_a_window / self.windows;
            self.pages_a_window += self.pages * FRACTION / self.windows;
            let is_at_rest = self.pages == 0 && self.windows == REMEMBERED;
            self.pages = 0;
            self.window_end += WINDOW;
            // What is left of a mean is forgotten by less than one a window: from here on windows without pages change nothing.
            if is_at_rest && self.pages_a_window < REMEMBERED {
                let idle = now.saturating_since(self.window_end).as_ps() / WINDOW.as_ps();
                self.window_end += WINDOW * idle;
            }
        }
    }

    /// The time of a page at so many percent of it; zero where there is no limit, or nothing was counted yet.
    fn interval(&self, percent: u64) -> Duration {
        let rate = u128::from(self.pages_a_window * percent);
        let window = u128::from(WINDOW.as_ps()) * u128::from(100 * FRACTION);
        Duration::from_ps(window.checked_div(rate).unwrap_or(0) as u64)
    }
}

impl Pacing for Burst {
    fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn steady_room(&self) -> Option<u64> {
        None
    }

    fn most_credit(&self) -> u64 {
        0
    }

    fn earned(&mut self, _: &Standing, _: u64) -> u64 {
        0
    }

    fn admits(&self, log: &Standing) -> bool {
        self.holds_writes() && log.room > self.floor
    }

    fn collects(&self, _: &Standing) -> bool {
        true
    }

    fn holds_writes(&self) -> bool {
        self.percent > 0 || self.interval > Duration::ZERO
    }

    fn enters(&mut self, _: u64, is_collected: bool, pages: u64, now: Instant) -> Option<Instant> {
        self.mean.end_windows(now);
        let interval = is_collected.then(|| self.interval.max(self.mean.interval(self.percent)));
        let later = self.entry.enters(interval, pages, now);
        if later.is_none() {
            self.mean.pages += pages;
        }
        later
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyOptions;

    /// A policy with these options, at a page in 10 us where it is throttled.
    fn burst(options: &[(&str, &str)]) -> Box<dyn Pacing> {
        let mut given = PolicyOptions::default();
        for (name, value) in options {
            given.set("burst", name, value);
        }
        make(&mut Given::new("burst", &given), &Logs::default()).unwrap()
    }

    /// When so many writes of a page enter, all asking from `begin` on.
    fn entries(policy: &mut dyn Pacing, count: u64, begin: Instant) -> Vec<u64> {
        let mut now = begin;
        let mut entries = Vec::new();
        for _ in 0..count {
            while let Some(at) = policy.enters(0, true, 1, now) {
                assert!(at > now);
                now = at;
            }
            entries.push((now - begin).as_us());
        }
        entries
    }

    #[test]
    fn without_a_rate_the_host_stands_still() {
        let policy = burst(&[]);
        let mut log = Standing::new(0);
        log.room = u64::MAX;
        assert!(!policy.admits(&log) && !policy.holds_writes());
    }

    #[test]
    fn throttled_writes_enter_at_their_interval_but_for_those_ahead() {
        let mut policy = burst(&[("throttled", "true")]);
        assert_eq!(entries(&mut *policy, 4, Instant::START), [0, 10, 20, 30]);
        let mut policy = burst(&[("throttled", "true"), ("ahead", "2")]);
        let begin = Instant::START + Duration::from_ms(1);
        assert_eq!(entries(&mut *policy, 5, begin), [0, 0, 0, 10, 20]);
    }

    #[test]
    fn writes_enter_at_a_share_of_their_mean_rate() {
        let mut policy = burst(&[("percent", "50")]);
        // A page every 20 us, for longer than is remembered.
        let mut now = Instant::START;
        for _ in 0..2 * 256 * 2500 {
            assert_eq!(policy.enters(0, false, 1, now), None);
            now += Duration::from_us(20);
        }
        let entries = entries(&mut *policy, 100, now);
        // Rounded by a fraction of a page a window.
        assert!(entries[99].abs_diff(99 * 40) <= 1, "{entries:?}");
    }

    #[test]
    fn nothing_is_held_before_anything_was_counted() {
        let mut policy = burst(&[("percent", "50")]);
        assert_eq!(entries(&mut *policy, 3, Instant::START), [0, 0, 0]);
    }

    #[test]
    fn writes_enter_as_they_come_while_nothing_is_collected() {
        let mut policy = burst(&[("throttled", "true")]);
        for _ in 0..3 {
            assert_eq!(policy.enters(0, false, 8, Instant::START), None);
        }
        assert_eq!(entries(&mut *policy, 2, Instant::START), [0, 10]);
    }
}
