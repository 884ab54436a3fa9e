//! What was done to a device before the run, as a specification.

use std::str::FromStr;

use super::medium::Medium;
use super::{Device, DeviceError};

/// How the namespaces of a device have been used: see [`Device::precondition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// Share of each namespace that holds data, from its start. Unit: percent; range 1 to 100.
    pub fill_percent: u32,
    /// Share of that data, from its start, that was overwritten at random for so long that garbage
    /// collection came to its steady state; the rest was written once, in order. Unit: percent;
    /// range 0 to 100.
    pub random_percent: u32,
}

impl Default for Precondition {
    fn default() -> Precondition {
        Precondition {
            fill_percent: 100,
            random_percent: 100,
        }
    }
}

impl FromStr for Precondition {
    type Err = String;

    /// Reads `fill=100,random=75`; what is left out is 100.
    fn from_str(text: &str) -> Result<Precondition, String> {
        let mut precondition = Precondition::default();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("\"{part}\" has no value; write fill=100,random=75"))?;
            let (least, percent) = match key {
                "fill" => (1, &mut precondition.fill_percent),
                "random" => (0, &mut precondition.random_percent),
                _ => return Err(format!("\"{key}\" is unknown; use fill and random")),
            };
            let range = least..=100;
            let read = value.parse().ok().filter(|value| range.contains(value));
            *percent = read.ok_or_else(|| {
                format!("{key} is \"{value}\"; use a whole number of percent, {least} to 100")
            })?;
        }
        Ok(precondition)
    }
}

impl Device {
    /// Puts the device into the state it would be in after a long past: all namespaces hold as much
    /// data as `precondition` says, and where that was overwritten at random, its pages lie as
    /// garbage collection leaves them in steady state. The state is computed by its closed form
    /// (see `docs/model.md`): it takes no simulated time and nanoseconds a page.
    ///
    /// Everything the namespaces held before is gone. Where the namespaces of an NVM set are larger
    /// than the set, which thin ones may be, each counts as its share of the set.
    ///
    /// Memory that is mapped by address has no past: nothing changes.
    pub fn precondition(&mut self, precondition: &Precondition) -> Result<(), DeviceError> {
        if self.outstanding() > 0 {
            return Err(DeviceError::Busy);
        }
        match &mut self.medium {
            Medium::Nand(nand) => nand.precondition(&self.front, precondition),
            Medium::Xpoint(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(u32, u32), String> {
        let read = text.parse::<Precondition>()?;
        Ok((read.fill_percent, read.random_percent))
    }

    #[test]
    fn specifications_are_read() {
        assert_eq!(read("fill=80,random=25"), Ok((80, 25)));
        assert_eq!(read("random=0"), Ok((100, 0)));
        assert_eq!(read("fill=1"), Ok((1, 100)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("", "no value"),
            ("fill", "\"fill\" has no value"),
            ("fil=3", "\"fil\" is unknown"),
            ("fill=0", "fill is \"0\""),
            ("random=101", "random is \"101\""),
            ("random=many", "0 to 100"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
