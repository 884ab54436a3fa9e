//! `firmware-power`: the energy of a request against the type of core.

use super::super::claim::Claim;
use super::super::plan::{Cells, Experiment, Options, Planned, Run};
use super::super::sheet::Sheet;
use super::{Cell, Design, MILLION, PAPER, Specification, report};
use crate::report::chart::BarChart;
use meldsim::profile::{EnergyAmount, FirmwareCore};

pub(in crate::experiment) const POWER: Experiment = Experiment {
    name: "firmware-power",
    about: "Energy of a request against the type of the controller's cores",
    paper: PAPER,
    profile: "deepflash",
    options: Options::Scale,
    plan,
};

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

const CORES: [Core; 4] = [
    Core {
        name: "in-order, 0.5 GHz",
        speed_percent: 50,
        active_mw: 300,
        idle_mw: 90,
    },
    Core {
        name: "in-order, 1 GHz",
        speed_percent: 100,
        active_mw: 1_000,
        idle_mw: 300,
    },
    Core {
        name: "out-of-order, 1.2 GHz",
        speed_percent: 220,
        active_mw: 4_000,
        idle_mw: 1_200,
    },
    Core {
        name: "out-of-order, 2.4 GHz",
        speed_percent: 440,
        active_mw: 14_000,
        idle_mw: 4_200,
    },
];

struct Row {
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
                speed_percent: core.speed_percent,
                active_energy: EnergyAmount(core.active_mw * MILLIJOULE),
                idle_energy: EnergyAmount(core.idle_mw * MILLIJOULE),
            };
            let cell = Cell::measure(&profile, Specification::READS, run.scale)?;
            if cell.iops >= MILLION || cores == MOST_CORES {
                return Ok(Row { core, cores, cell });
            }
            cores += 1;
        }
    });
    rows.then(|rows| {
        let sheet = Sheet::of("cores", &rows)
            .cell("core", "core", |row| row.core.name)
            .count("speed_percent", "speed %", |row| u64::from(row.core.speed_percent))
            .count("active_mw", "active mW", |row| row.core.active_mw)
            .count("cores", "cores", |row| u64::from(row.cores))
            .number("read_iops", "read IOPS", 0, |row| row.cell.iops)
            .number("power_w", "power W", 1, |row| row.cell.core_uj() * row.cell.iops / 1e6)
            .number("energy_uj", "uJ a request", 2, |row| row.cell.core_uj());
        let group = |row: &Row| {
            let name = format!("{} x {}", row.cores, row.core.name);
            (name, vec![Some(row.cell.core_uj())])
        };
        let chart = BarChart {
            title: "Energy of the cores for a read of 4 KiB".to_owned(),
            axis: "microjoules".to_owned(),
            series: vec!["energy".to_owned()],
            groups: rows.iter().map(group).collect(),
        };
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
            .claims(claim(&rows));
        Some(outcome)
    })
}

fn claim(rows: &[Row]) -> Option<Claim> {
    let [_, slow, .., fast] = rows else {
        return None;
    };
    let ratio = fast.cell.core_uj() / slow.cell.core_uj();
    let reach = slow.cell.iops.min(fast.cell.iops) >= MILLION;
    let claim = Claim::assumed("firmware-power.in-order")
        .statement("energy of a read at 1 M IOPS, fast out-of-order cores against in-order ones")
        .expected("more")
        .measured(format!(
            "x{ratio:.1}: {} cores {:.1} uJ, {} cores {:.1} uJ",
            fast.cores,
            fast.cell.core_uj(),
            slow.cores,
            slow.cell.core_uj()
        ))
        .holds("both reach 1 M IOPS, and it is more", reach && ratio > 1.0);
    Some(claim)
}
