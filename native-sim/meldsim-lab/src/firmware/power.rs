//! `firmware-power`: the energy of a request against the type of core.

use super::{Cell, Design, FIRMWARE, MILLION, Specification, report};
use crate::prelude::*;
use meldsim::profile::{EnergyAmount, FirmwareCore};

pub(crate) const POWER: Experiment = Experiment {
    name: "firmware-power",
    about: "Energy of a request against the type of the controller's cores",
    plan,
    ..FIRMWARE
};

/// Cores of the published platform.
const PLATFORM_CORES: u32 = 12;
/// Core counts that are tried.
const MOST_CORES: u32 = 16;
const MILLIJOULE: u64 = 1_000_000_000;

/// A type of core \[A\]: speed, and power at work and waiting. Power grows with the square of the speed,
/// about as voltage scaling and wider pipelines make it.
struct Core {
    name: &'static str,
    speed_percent: u32,
    active_mw: u64,
    idle_mw: u64,
}

const fn core(name: &'static str, speed_percent: u32, active_mw: u64, idle_mw: u64) -> Core {
    Core {
        name,
        speed_percent,
        active_mw,
        idle_mw,
    }
}

const CORES: [Core; 4] = [
    core("in-order, 0.5 GHz", 50, 300, 90),
    core("in-order, 1 GHz", 100, 1_000, 300),
    core("out-of-order, 1.2 GHz", 220, 4_000, 1_200),
    core("out-of-order, 2.4 GHz", 440, 14_000, 4_200),
];

struct PowerRow {
    core: &'static Core,
    /// The fewest cores that reach the million, or the most that were tried.
    cores: u32,
    cell: Cell,
}

/// Tries every type of core with more and more cores.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let rows = cells.each(&CORES, |core| {
        let mut cores = 1;
        loop {
            let mut profile = Design::Full.of(&run.profile, cores);
            profile.firmware.core = FirmwareCore {
                threads: 1,
                speed_percent: core.speed_percent,
                active_energy: EnergyAmount(core.active_mw * MILLIJOULE),
                idle_energy: EnergyAmount(core.idle_mw * MILLIJOULE),
            };
            let cell = Cell::measure(&profile, Specification::READS, run.scale)?;
            if cell.iops >= MILLION || cores == MOST_CORES {
                return Ok(PowerRow { core, cores, cell });
            }
            cores += 1;
        }
    });
    let platform = cells.one(|| {
        let profile = Design::Full.of(&run.profile, PLATFORM_CORES);
        Cell::measure(&profile, Specification::READS, run.scale)
    });
    Ok(Box::new(move || {
        let (rows, platform) = (rows.take()?, platform.single()?);
        let sheet = Sheet::of("cores", &rows)
            .cell("core", "core", |row| row.core.name)
            .count("speed_percent", "speed %", |row| {
                u64::from(row.core.speed_percent)
            })
            .count("active_mw", "active mW", |row| row.core.active_mw)
            .count("cores", "cores", |row| u64::from(row.cores))
            .number("read_iops", "read IOPS", 0, |row| row.cell.iops)
            .number("power_w", "power W", 1, |row| {
                row.cell.core_uj() * row.cell.iops / 1e6
            })
            .number("energy_uj", "uJ a request", 2, |row| row.cell.core_uj());
        let group = |row: &PowerRow| {
            let name = format!("{} x {}", row.cores, row.core.name);
            (name, [row.cell.core_uj()])
        };
        let title = "Energy of the cores for a read of 4 KiB";
        let chart = BarChart::of(title, "microjoules", ["energy"], &rows, group);
        let about = format!(
            "The fewest cores of each type with which the full design does a million random reads of 4 KiB a second ({MOST_CORES} \
             at most), and what their energy is."
        );
        let outcome = report(run, about)
            .assumed("types of cores: speed and power are ours; messages between cores do not get faster with them")
            .sheet(sheet)
            .figure(
                chart,
                "Many slow cores do with less energy what few fast ones do, as long as the work can be spread.",
            )
            .claims(claims(&rows, &platform)?);
        Some(outcome)
    }))
}

/// How much more power out-of-order cores take for 1 M IOPS than in-order ones of 1 GHz, published.
const OUT_OF_ORDER: [(&str, f64); 2] = [
    ("firmware-power.out-of-order-1.2", 0.93),
    ("firmware-power.out-of-order-2.4", 1.10),
];
/// Power of the platform on 12 cores, published, in watts.
const PLATFORM_W: f64 = 29.0;

fn claims(rows: &[PowerRow], platform: &Cell) -> Option<Vec<Claim>> {
    const OWN_CORES: &str = "speed and power of each type of core are ours, and none was fitted";
    let [_, in_order, out_of_order @ ..] = rows else {
        return None;
    };
    let within = |value: f64, published: f64| (value - published).abs() <= 0.2 * published;
    let watts = platform.core_uj() * platform.iops / 1e6;
    let power = Claim::predicted("firmware-power.platform", OWN_CORES)
        .statement("power of the cores, full design on 12 in-order cores, reads")
        .expected("29 W")
        .measured(format!("{watts:.1} W"))
        .when(Bound::Own, "it is within 20 %").holds(within(watts, PLATFORM_W))
        .missed_because("a core at work is assumed to take 1 W, and the published ones are those of an accelerator card");
    let claims = out_of_order
        .iter()
        .zip(OUT_OF_ORDER)
        .map(|(row, (id, published))| {
            let more = row.cell.core_uj() / in_order.cell.core_uj() - 1.0;
            Claim::predicted(id, OWN_CORES)
                .statement(format!(
                    "energy of a read at 1 M IOPS, {} against {}",
                    row.core.name, in_order.core.name
                ))
                .expected(format!("{:.0} % more", 100.0 * published))
                .measured(format!(
                    "{:.0} % more: {} cores {:.1} uJ, {} cores {:.1} uJ",
                    100.0 * more,
                    row.cores,
                    row.cell.core_uj(),
                    in_order.cores,
                    in_order.cell.core_uj()
                ))
                .when(Bound::Own, "it is within 20 %")
                .holds(within(more, published))
                .missed_because("power is assumed to grow with the square of a core's speed")
        });
    Some([power].into_iter().chain(claims).collect())
}
