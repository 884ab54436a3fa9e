use super::{Wear, WearLevelling};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Static {
    threshold: u32,
}

pub(super) fn make(_: &mut Given<'_>, wear: &Wear) -> Result<Box<dyn WearLevelling>, OptionError> {
    let threshold = wear.threshold;
    Ok(Box::new(Static { threshold }))
}

impl WearLevelling for Static {
    fn order(&self, erases: u32) -> u32 {
        erases
    }

    fn lags(&self, erases: u32, most: u32) -> bool {
        most - erases > self.threshold
    }
}
