//! As `credit`, and with little room writes enter the write buffer no faster than `gc.throttle_iops`: one after the other, as
//! at a server that takes as long for each. A drive that holds them before its buffer acknowledges them late, the more so the
//! nearer they come to that rate.

use super::credit::Credit;
use super::entry::Entry;
use super::{Bounds, Logs, Pacing, Standing};
use crate::engine::{Duration, Instant};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Throttle {
    credit: Credit,
    /// Of a page, in all logs together.
    interval: Duration,
    /// Writes are held with less room: a log is collected, or would soon be.
    below: u64,
    entry: Entry,
}

pub(super) fn make(given: &mut Given<'_>, logs: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    let credit = Credit::new(logs);
    Ok(Box::new(Throttle {
        interval: logs.page_interval,
        below: credit.end + logs.superblock,
        entry: Entry::new(given)?,
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

    fn holds_writes(&self) -> bool {
        true
    }

    fn enters(&mut self, room: u64, _: bool, pages: u64, now: Instant) -> Option<Instant> {
        let interval = (room < self.below).then_some(self.interval);
        self.entry.enters(interval, pages, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyOptions;

    #[test]
    fn writes_enter_one_after_the_other_where_room_is_little() {
        let logs = Logs::default();
        let given = PolicyOptions::default();
        let mut policy = make(&mut Given::new("throttle", &given), &logs).unwrap();
        let at = |us| Instant::START + Duration::from_us(us);
        let enough = logs.least + logs.superblock / 4 + logs.superblock;
        assert_eq!(policy.enters(enough, true, 8, at(0)), None);
        assert_eq!(policy.enters(enough, true, 8, at(0)), None);
        assert_eq!(policy.enters(enough - 1, false, 3, at(0)), None);
        assert_eq!(policy.enters(enough - 1, false, 1, at(0)), Some(at(30)));
        assert_eq!(policy.enters(enough - 1, false, 1, at(30)), None);
        // Nothing is saved up.
        assert_eq!(policy.enters(enough - 1, false, 1, at(100)), None);
        assert_eq!(policy.enters(enough - 1, false, 1, at(101)), Some(at(110)));
    }
}
