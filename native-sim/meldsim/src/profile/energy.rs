//! `[energy]`: what operations cost.

use serde::{Deserialize, Serialize};

use super::Profile;
use super::units::EnergyAmount as Amount;
use super::validate::Checker;

/// `[energy]`. The array's defaults are \[A\]: the typical 25 mA at 3.3 V of flash data sheets, for as
/// long as each operation takes on the TLC preset; the bus's is \[A\] 5 pJ a bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Energy {
    /// Sensing one page. Unit: energy; range 0 to 1J; default 7uJ \[A\].
    pub read: Amount,
    /// Sensing all pages of a wordline at once. Unit: energy; range 0 to 1J; default 14uJ \[A\].
    pub melded_read: Amount,
    /// Programming a wordline in one shot. Unit: energy; range 0 to 1J; default 413uJ \[A\].
    pub program: Amount,
    /// Programming one page of a wordline of several. Unit: energy; range 0 to 1J; default 214uJ \[A\].
    pub program_page: Amount,
    /// Erasing a block. Unit: energy; range 0 to 1J; default 188uJ \[A\].
    pub erase: Amount,
    /// One byte of data on the bus. Unit: energy; range 0 to 1mJ; default 40pJ \[A\].
    pub bus_byte: Amount,
}

impl Default for Energy {
    fn default() -> Energy {
        Energy {
            read: Amount::from_nj(7_000),
            melded_read: Amount::from_nj(14_000),
            program: Amount::from_nj(413_000),
            program_page: Amount::from_nj(214_000),
            erase: Amount::from_nj(188_000),
            bus_byte: Amount(40),
        }
    }
}

impl Profile {
    pub(super) fn check_energy(&self, checker: &mut Checker) {
        let energy = &self.energy;
        let joule = Amount(1_000_000_000_000);
        let amounts = [
            ("energy.read", energy.read, joule),
            ("energy.melded_read", energy.melded_read, joule),
            ("energy.program", energy.program, joule),
            ("energy.program_page", energy.program_page, joule),
            ("energy.erase", energy.erase, joule),
            ("energy.bus_byte", energy.bus_byte, Amount(1_000_000_000)),
        ];
        for (key, amount, most) in amounts {
            checker.range(key, &amount, Amount(0)..=most);
        }
    }
}
