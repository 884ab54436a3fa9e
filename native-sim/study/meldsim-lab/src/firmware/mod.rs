//! The firmware experiments: DeepFlash (FAST'20), the same flash behind firmware of different designs.
//!
//! ```text
//!   firmware-scaling        design x cores                  IOPS, request size -> bandwidth
//!   firmware-threads        NVMQ, CACHE, TRANS threads      IOPS
//!   firmware-steady-state   pristine, GC, journal, both     IOPS without end and in bursts
//!   firmware-flash          SLC, MLC, TLC x cores; dies     IOPS
//!   firmware-power          type of core                    cores for 1 M IOPS, energy of a request
//! ```

mod flash;
mod power;
mod scaling;
mod steady;
mod threads;

pub(super) use flash::FLASH;
pub(super) use power::POWER;
pub(super) use scaling::SCALING;
pub(super) use steady::STEADY_STATE;
pub(super) use threads::THREADS;

use crate::prelude::*;
use meldsim::Duration;
use meldsim::device::{Device, Precondition, Stats};
use meldsim::nvme::{Directive, NamespaceId};
use meldsim::profile::{FirmwareBinding, FirmwareThreads, Profile};
use meldsim_host::{Access, Source, Until, WarmUp, measure};
use meldsim_measured::Scale;

const PAPER: &str = "\"Scalable Parallel Flash Firmware for Many-core Architectures\" (FAST'20)";
/// What all of them have in common.
const FIRMWARE: Experiment = Experiment {
    paper: PAPER,
    profile: "deepflash",
    options: Options::Scale,
    ..Experiment::DEFAULT
};
/// Requests outstanding, from one submission queue \[A\].
const DEPTH: u32 = 256;
/// Bytes outstanding at most: large requests need no more to keep the flash busy.
const MOST_OUTSTANDING_BYTES: u64 = 4 << 20;
/// Bytes that the requests touch: every channel many times over.
const SPAN_BYTES: u64 = 4 << 30;
const SEED: u64 = 1;

/// Cores of the published platform, with which the full design passes the million.
const FULL_CORES: u32 = 12;
/// The 25 threads of the published platform, with ILOCK, BGC and LOG: more of each type than in the profile, in proportion.
/// CACHE has the published two.
const PLATFORM_THREADS: FirmwareThreads = FirmwareThreads {
    nvmq: 10,
    cache: 2,
    trans: 4,
    fcmd: 6,
};

/// Two throughputs closer than this are the same.
const SAME: f64 = 0.01;
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

    /// The profile with this design on `cores` of one hardware thread each, on which the costs were fitted.
    fn of(self, profile: &Profile, cores: u32) -> Profile {
        let mut profile = profile.clone();
        let firmware = &mut profile.firmware;
        firmware.cores = cores;
        firmware.core.threads = 1;
        firmware.binding = FirmwareBinding::Spread;
        let designs = meldsim_firmware::register();
        firmware.design = match self {
            Design::Naive => designs.naive,
            Design::ManyLayered => designs.many_layered,
            Design::Base | Design::Full => designs.pipeline,
        };
        firmware.optimise(self == Design::Full);
        profile
    }

    /// The profile with this design on the published platform: 25 threads on 12 cores with the profile's hardware threads.
    fn on_platform(self, profile: &Profile) -> Profile {
        let firmware = &profile.firmware;
        let (core, binding) = (firmware.core.clone(), firmware.binding);
        let mut profile = self.of(profile, FULL_CORES);
        (profile.firmware.core, profile.firmware.binding) = (core, binding);
        profile.firmware.threads = PLATFORM_THREADS;
        profile
    }
}

/// For how long requests are not counted, and then are. Reads are steady when every thread has been busy for a while, writes
/// when their buffer is full.
fn times(access: Access, scale: Scale) -> (Duration, Duration) {
    let (warm_up, counted) = match (scale, access.writes()) {
        (Scale::Full, true) => (25, 25),
        (Scale::Full, false) => (3, 25),
        (Scale::Quick, true) => (8, 6),
        (Scale::Quick, false) => (2, 6),
    };
    (Duration::from_ms(warm_up), Duration::from_ms(counted))
}

/// A load on a device in a given state.
#[derive(Clone, Copy, Debug)]
struct Specification {
    access: Access,
    request_bytes: u64,
    /// The device is full and has been overwritten before.
    is_worn: bool,
}

impl Specification {
    /// Random reads of 4 KiB.
    const READS: Specification = Specification {
        access: Access::RandomRead,
        request_bytes: 4 << 10,
        is_worn: false,
    };
    /// Random writes of 4 KiB.
    const WRITES: Specification = Specification {
        access: Access::RandomWrite,
        ..Specification::READS
    };
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
struct Cell {
    iops: f64,
    mb_s: f64,
    mean_us: f64,
    /// Cores at work on average, and of these at the work of each type of thread.
    cores_busy: f64,
    stats: Stats,
}

impl Cell {
    fn measure(profile: &Profile, spec: Specification, scale: Scale) -> Result<Cell> {
        let (warm_up, counted) = times(spec.access, scale);
        Cell::over(profile, spec, WarmUp::Time(warm_up), Until::Time(counted))
    }

    /// What comes after the warm-up, until its end.
    fn over(profile: &Profile, spec: Specification, warm_up: WarmUp, until: Until) -> Result<Cell> {
        let (mut device, nsid) = prepared(profile, spec)?;
        let bytes = spec.request_bytes;
        let requests = spec.access.requests(&device, nsid, bytes, SEED);
        let depth = DEPTH.min((MOST_OUTSTANDING_BYTES / bytes) as u32);
        let source = Source::new(depth, requests);
        let measured = measure(&mut device, [source], warm_up, until, |_, _, _| {})?;
        let (tally, stats) = (measured.all(), measured.after);
        let busy = stats.firmware_busy_ps().iter().sum::<u64>();
        // From the first completion that counts to the last: nothing waits to begin.
        let elapsed = (tally.duration - measured.first).as_secs_f64();
        let iops = tally.requests.saturating_sub(1) as f64 / elapsed;
        Ok(Cell {
            iops,
            mb_s: iops * spec.request_bytes as f64 / 1e6,
            mean_us: tally.mean_us(),
            cores_busy: busy as f64 / stats.now_ps as f64,
            stats,
        })
    }

    /// Cores at the work of each type of thread: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    fn busy_by_type(&self) -> [f64; 7] {
        let busy = self.stats.firmware_busy_ps();
        busy.map(|busy| busy as f64 / self.stats.now_ps as f64)
    }

    /// Energy of the cores for a request, in microjoules.
    fn core_uj(&self) -> f64 {
        let watts = self.stats.firmware_energy_nj as f64 / 1e9 / (self.stats.now_ps as f64 / 1e12);
        watts / self.iops * 1e6
    }
}

/// A device in the state that the load asks for, and its namespace.
fn prepared(profile: &Profile, spec: Specification) -> Result<(Device, NamespaceId)> {
    let mut device = Device::new(profile)?;
    let capacity = device.stats().capacity_pages * profile.mapping_unit().0;
    let span_bytes = match spec.is_worn {
        true => capacity,
        false => SPAN_BYTES.min(capacity),
    };
    let nsid = device.create_namespace(span_bytes)?;
    if spec.is_worn {
        device.precondition(&Precondition::default())?;
    } else if !spec.access.writes() {
        let lbas = span_bytes / profile.controller.lba_size.0;
        device.preload(nsid, 0, lbas, Directive::NONE)?;
    }
    Ok((device, nsid))
}

/// An outcome with the provenance that all firmware experiments share.
fn report(run: &Run, about: impl Into<String>) -> Outcome {
    run.report(about)
        .published(format!("J. Zhang, M. Kwon, M. Swift, M. Jung: {PAPER}: stages, types of threads, designs and the findings below"))
        .fitted("calibrated: firmware.cost.handover, so that naive firmware reaches 813 K IOPS on 32 cores")
        .fitted("calibrated: firmware.cost.message, so that the full design passes 1 M IOPS on 12 cores")
        .fitted("chosen after results were seen: bus.rate, so that 16 channels carry 4.7 GB/s; the number of threads and their binding to cores")
        .assumed("the time of each stage, the number of NVMQ, TRANS and FCMD threads, and the flash are not published: see the profile")
        .assumed(
            "threads are bound to cores, the heaviest first, each to the least loaded core. The number of cores from which more do not help \
             depends on that",
        )
        .assumed(format!("requests are random, of 4 KiB, {DEPTH} outstanding in one submission queue, unless a row says otherwise"))
}

/// The fewest cores from which on all throughputs are the same.
fn end(iops_by_cores: &[(u32, f64)]) -> u32 {
    let best = iops_by_cores
        .iter()
        .map(|&(_, iops)| iops)
        .fold(0.0, f64::max);
    let before = iops_by_cores
        .iter()
        .rposition(|&(_, iops)| iops < (1.0 - SAME) * best);
    let first = before.map_or(0, |before| before + 1);
    iops_by_cores.get(first).map_or(0, |&(cores, _)| cores)
}

/// Thousands of requests a second, for people.
fn kiops(iops: f64) -> String {
    format!("{:.0} K", iops / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deepflash() -> Profile {
        meldsim_firmware::register();
        Profile::builtin(FIRMWARE.profile).unwrap()
    }

    fn iops(profile: &Profile) -> f64 {
        Cell::measure(profile, Specification::READS, Scale::Quick)
            .unwrap()
            .iops
    }

    /// Each of the two calibrated numbers decides on its figure.
    #[test]
    fn the_calibrated_figures_rest_on_their_numbers() {
        let preset = deepflash();
        let mut naive = Design::Naive.of(&preset, 32);
        assert!((iops(&naive) / 813e3 - 1.0).abs() < 0.05);
        naive.firmware.cost.handover = Duration::ZERO;
        assert!(iops(&naive) > 1.05 * 813e3);
        let mut full = Design::Full.of(&preset, 12);
        assert!(iops(&full) >= MILLION);
        full.firmware.cost.message = full.firmware.cost.message * 2;
        assert!(iops(&full) < MILLION);
    }

    #[test]
    fn the_base_design_loses_on_small_reads() {
        let preset = deepflash();
        let [base, full] = [Design::Base, Design::Full].map(|design| iops(&design.of(&preset, 19)));
        assert!(base < 0.5 * full, "{base} {full}");
    }

    #[test]
    fn every_state_is_simulated_as_named() {
        let mut profile = deepflash();
        profile.firmware.journal = false;
        let worn = Specification {
            is_worn: true,
            ..Specification::WRITES
        };
        let cell = Cell::measure(&profile, worn, Scale::Quick).unwrap();
        let [.., bgc, log] = cell.busy_by_type();
        assert!(bgc > 0.0 && log == 0.0);
        // Collection moves more than half as much as the host writes, and programs it some time later.
        assert!(cell.stats.gc_pages_moved > cell.stats.host_pages_programmed / 2);
        assert!(cell.stats.gc_pages_programmed * 10 > cell.stats.host_pages_programmed * 4);
    }
}
