//! The firmware experiments: DeepFlash (FAST'20), the same flash behind firmware of different designs.
//!
//! ```text
//!   firmware-scaling        design x cores                  IOPS, request size -> bandwidth
//!   firmware-threads        NVMQ, CACHE, TRANS threads      IOPS
//!   firmware-steady-state   pristine, GC, journal, both     IOPS
//!   firmware-power          type of core                    cores for 1 M IOPS, energy of a request
//! ```

mod cell;
mod power;
mod scaling;
mod steady;
mod threads;

pub(super) use power::power;
pub(super) use scaling::scaling;
pub(super) use steady::steady;
pub(super) use threads::threads;

use super::claim::{Basis, Claim};
use super::outcome::Grounds;
use meldsim::profile::{FirmwareDesign, Profile};

const SECTION: u32 = 4;
const SOURCE: &str = "J. Zhang, M. Kwon, M. Swift, M. Jung: \"Scalable Parallel Flash Firmware for Many-core Architectures\" (FAST'20)";
/// Requests outstanding, from one submission queue \[A\].
const DEPTH: u32 = 256;
/// The published million.
const MILLION: f64 = 1e6;

/// The designs that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Design {
    Naive,
    ManyLayered,
    Base,
    Full,
}

impl Design {
    const ALL: [Design; 4] = [
        Design::Naive,
        Design::ManyLayered,
        Design::Base,
        Design::Full,
    ];

    fn name(self) -> &'static str {
        match self {
            Design::Naive => "naive",
            Design::ManyLayered => "many-layered",
            Design::Base => "base",
            Design::Full => "full",
        }
    }

    /// The profile with this design on `cores`.
    fn of(self, profile: &Profile, cores: u32) -> Profile {
        let mut profile = profile.clone();
        let firmware = &mut profile.firmware;
        firmware.cores = cores;
        firmware.design = match self {
            Design::Naive => FirmwareDesign::Naive,
            Design::ManyLayered => FirmwareDesign::ManyLayered,
            Design::Base | Design::Full => FirmwareDesign::Pipeline,
        };
        firmware.optimise(self == Design::Full);
        profile
    }
}

fn grounds() -> Grounds {
    Grounds {
        published: vec![format!("{SOURCE}: stages, types of threads, designs and the findings below")],
        fitted: vec![
            "calibrated: firmware.cost.handover, so that naive firmware reaches 813 K IOPS on 32 cores".to_owned(),
            "calibrated: firmware.cost.message, so that the full design passes 1 M IOPS on 12 cores; every other number is predicted"
                .to_owned(),
        ],
        assumed: vec![
            "what each stage takes, how many NVMQ, TRANS and FCMD threads there are, and the flash: not published, see the profile".to_owned(),
            "threads are bound to cores, the heaviest first, each to the core with the least to do; where more cores end to help \
             depends on that"
                .to_owned(),
            format!("random requests of 4 KiB, {DEPTH} outstanding in one submission queue, where nothing else is said"),
        ],
    }
}

/// What a claim says, without what was measured.
struct Said {
    id: &'static str,
    basis: Basis,
    statement: &'static str,
    published: &'static str,
    criterion: &'static str,
}

impl Said {
    fn claim(self, experiment: &str, measured: String, holds: bool) -> Claim {
        Claim {
            id: self.id,
            section: SECTION,
            basis: self.basis,
            statement: self.statement.to_owned(),
            published: self.published.to_owned(),
            measured,
            criterion: self.criterion.to_owned(),
            holds,
            command: format!("meldsim experiment {experiment}"),
        }
    }
}

/// Thousands of requests a second, for people.
fn kiops(iops: f64) -> String {
    format!("{:.0} K", iops / 1e3)
}

#[cfg(test)]
mod tests {
    use super::cell::{Asked, Cell};
    use super::*;
    use crate::experiment::Effort;
    use meldsim::engine::Time;

    fn iops(profile: &Profile) -> f64 {
        Cell::measure(profile, Asked::READS, Effort::Quick)
            .unwrap()
            .iops
    }

    /// Each of the two calibrated numbers decides on its figure.
    #[test]
    fn the_calibrated_figures_rest_on_their_numbers() {
        let preset = Profile::builtin("deepflash").unwrap();
        let mut naive = Design::Naive.of(&preset, 32);
        assert!((iops(&naive) / 813e3 - 1.0).abs() < 0.05);
        naive.firmware.cost.handover = Time::ZERO;
        assert!(iops(&naive) > 1.05 * 813e3);
        let mut full = Design::Full.of(&preset, 12);
        assert!(iops(&full) >= MILLION);
        full.firmware.cost.message = full.firmware.cost.message * 2;
        assert!(iops(&full) < MILLION);
    }

    #[test]
    fn the_base_design_loses_on_small_reads() {
        let preset = Profile::builtin("deepflash").unwrap();
        let [base, full] = [Design::Base, Design::Full].map(|design| iops(&design.of(&preset, 19)));
        assert!(base < 0.5 * full, "{base} {full}");
    }

    #[test]
    fn every_state_is_simulated_as_named() {
        let mut profile = Profile::builtin("deepflash").unwrap();
        profile.firmware.journal = false;
        let worn = Asked {
            is_worn: true,
            ..Asked::WRITES
        };
        let cell = Cell::measure(&profile, worn, Effort::Quick).unwrap();
        let [.., bgc, log] = cell.busy_by_type();
        assert!(bgc > 0.0 && log == 0.0);
        assert!(cell.stats.write_amplification() > 1.5);
    }
}
