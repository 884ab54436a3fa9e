use super::{Bounds, Logs, Pacing, Standing};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Burst {
    bounds: Bounds,
}

pub(super) fn make(_: &mut Given<'_>, logs: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    let begin = logs.least;
    let end = begin + logs.burst;
    let bounds = Bounds { begin, end };
    Ok(Box::new(Burst { bounds }))
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

    fn admits(&self, _: &Standing) -> bool {
        false
    }

    fn collects(&self, _: &Standing) -> bool {
        true
    }
}
