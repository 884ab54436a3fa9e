use super::{Bounds, Logs, Pacing, Standing};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Off;

pub(super) fn make(_: &mut Given<'_>, _: &Logs) -> Result<Box<dyn Pacing>, OptionError> {
    Ok(Box::new(Off))
}

impl Pacing for Off {
    fn takes_turns(&self) -> bool {
        false
    }

    fn bounds(&self) -> Bounds {
        Bounds { begin: 0, end: 0 }
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
}
