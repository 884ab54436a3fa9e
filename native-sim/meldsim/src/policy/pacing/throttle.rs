use super::credit::Credit;
use super::{Bounds, Logs, Pacing, Standing};
use crate::engine::{Duration, Instant};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Throttle {
    credit: Credit,
    /// Of a page, in all logs together.
    interval: Duration,
    /// The host programs at this rate with less room: a log is collected, or would soon be.
    below: u64,
    /// When the host may program its next page.
    next: Instant,
}

pub(super) fn make(_: &mut Given<'_>, logs: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    let credit = Credit::new(logs);
    Ok(Box::new(Throttle {
        interval: logs.page_interval,
        below: credit.end + logs.superblock,
        next: Instant::START,
        credit,
    }))
}

impl Pacing for Throttle {
    fn bounds(&self) -> Bounds {
        self.credit.bounds()
    }

    fn steady_room(&self) -> Option<u64> {
        self.credit.steady_room()
    }

    fn most_credit(&self) -> u64 {
        self.credit.most_credit()
    }

    fn earned(&mut self, log: &Standing, freed: u64) -> u64 {
        self.credit.earned(log, freed)
    }

    fn programmed(&mut self, _: &Standing, pages: u32, now: Instant) {
        self.next = self.next.max(now) + self.interval * u64::from(pages);
    }

    fn not_before(&self, log: &Standing, now: Instant) -> Option<Instant> {
        (log.room < self.below && self.next > now).then_some(self.next)
    }
}
