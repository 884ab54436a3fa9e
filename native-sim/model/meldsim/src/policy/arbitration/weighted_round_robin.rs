use super::round_robin::RoundRobin;
use super::{Arbitration, Shares};
use crate::policy::{Given, OptionError};

pub(super) fn make(
    _: &mut Given<'_>,
    shares: &Shares,
) -> Result<Box<dyn Arbitration>, OptionError> {
    Ok(Box::new(RoundRobin::new(true, *shares)))
}
