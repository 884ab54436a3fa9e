//! Every experiment by its name, and the validation that runs them all.

use serde::Serialize;

use super::burst::ExperimentError;
use super::claim::Claim;
use super::effort::Effort;
use super::outcome::Outcome;
use super::{
    contract, firmware, interleave, latency_windows, melded, noisy, palloc, programming, qlc,
    window,
};
use meldsim::profile::{Kind, Profile};

/// An experiment that anybody can repeat by its name.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// The section of the device model whose claims it checks.
    pub section: u32,
    /// The built-in profile of the published device.
    pub profile: &'static str,
    run: Run,
}

type Run = fn(&Profile, Effort, &mut dyn FnMut(f64)) -> Result<Outcome, ExperimentError>;

/// All experiments, by section.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "melded-latency",
        section: 1,
        profile: "melded-tlc-8x8",
        run: |profile, _, progress| melded::latency(profile, progress),
    },
    Experiment {
        name: "melded-throughput",
        section: 1,
        profile: "melded-tlc-8x8",
        run: |profile, _, progress| melded::throughput(profile, progress),
    },
    Experiment {
        name: "qlc-melding",
        section: 1,
        profile: "melded-qlc-8x8",
        run: |profile, _, progress| qlc::qlc_melding(profile, progress),
    },
    Experiment {
        name: "programming",
        section: 1,
        profile: "melded-tlc-8x8",
        run: |profile, _, progress| programming::programming(profile, progress),
    },
    Experiment {
        name: "palloc",
        section: 2,
        profile: "palloc-mlc-8x8x2",
        run: palloc::palloc,
    },
    Experiment {
        name: "noisy-neighbor",
        section: 3,
        profile: "nvmset-2tb",
        run: noisy::noisy_neighbor,
    },
    Experiment {
        name: "latency-windows",
        section: 3,
        profile: "nvmset-2tb",
        run: |profile, _, progress| latency_windows::latency_windows(profile, progress),
    },
    Experiment {
        name: "firmware-scaling",
        section: 4,
        profile: "deepflash",
        run: firmware::scaling,
    },
    Experiment {
        name: "firmware-threads",
        section: 4,
        profile: "deepflash",
        run: firmware::threads,
    },
    Experiment {
        name: "firmware-steady-state",
        section: 4,
        profile: "deepflash",
        run: firmware::steady,
    },
    Experiment {
        name: "firmware-power",
        section: 4,
        profile: "deepflash",
        run: firmware::power,
    },
    Experiment {
        name: "optane-contract",
        section: 5,
        profile: "optane-900p",
        run: contract::optane_contract,
    },
    Experiment {
        name: "interleave-detection",
        section: 5,
        profile: "optane-900p",
        run: interleave::interleave_detection,
    },
    Experiment {
        name: "melding-window",
        section: 6,
        profile: "melded-tlc-8x8",
        run: |profile, _, progress| window::melding_window(profile, progress),
    },
];

impl Experiment {
    /// The experiment of that name.
    pub fn find(name: &str) -> Option<&'static Experiment> {
        EXPERIMENTS
            .iter()
            .find(|experiment| experiment.name == name)
    }

    /// Runs it on `profile`. `progress` is told which share of the work is done, 0 to 1.
    pub fn run(
        &self,
        profile: &Profile,
        effort: Effort,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Outcome, ExperimentError> {
        // Those of the other sections look at how flash is organised.
        if self.section != contract::SECTION {
            profile.require(Kind::Nand)?;
        }
        (self.run)(profile, effort, progress)
    }
}

/// The claims of several experiments.
#[derive(Clone, Debug, Serialize)]
pub struct Validation {
    /// Claims checked.
    pub claims_checked: usize,
    /// Of these, the ones that hold.
    pub claims_held: usize,
    /// Whether all hold.
    pub holds: bool,
    /// The claims.
    pub claims: Vec<Claim>,
}

impl Validation {
    /// Runs the experiments of `section`, or all, each on its own profile.
    pub fn run(
        section: Option<u32>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<Validation, ExperimentError> {
        let chosen: Vec<&Experiment> = EXPERIMENTS
            .iter()
            .filter(|experiment| section.is_none_or(|section| experiment.section == section))
            .collect();
        let mut claims = Vec::new();
        for (index, experiment) in chosen.iter().enumerate() {
            let profile = Profile::builtin(experiment.profile)?;
            let mut part = |share: f64| progress((index as f64 + share) / chosen.len() as f64);
            claims.extend(experiment.run(&profile, Effort::Full, &mut part)?.claims);
        }
        let claims_held = claims.iter().filter(|claim| claim.holds).count();
        Ok(Validation {
            claims_checked: claims.len(),
            claims_held,
            holds: claims_held == claims.len() && !claims.is_empty(),
            claims,
        })
    }

    /// The sections that have claims, in order.
    pub fn sections() -> Vec<u32> {
        let mut sections: Vec<u32> = EXPERIMENTS
            .iter()
            .map(|experiment| experiment.section)
            .collect();
        sections.sort_unstable();
        sections.dedup();
        sections
    }
}
