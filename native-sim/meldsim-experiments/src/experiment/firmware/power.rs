//! `firmware-power`: the energy of a request against the type of core.

use super::super::burst::ExperimentError;
use super::super::claim::{Basis, Claim};
use super::super::effort::Effort;
use super::super::outcome::{Chart, Figure, Outcome};
use super::super::sheet::{Cell as Value, Sheet};
use super::cell::{Asked, Cell};
use super::{Design, MILLION, Said, grounds};
use crate::report::chart::BarChart;
use meldsim::profile::{EnergyAmount, FirmwareCore, Profile};

const NAME: &str = "firmware-power";
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
pub(in crate::experiment) fn power(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let mut rows: Vec<Row> = Vec::new();
    for core in &CORES {
        for cores in 1..=MOST_CORES {
            let mut profile = Design::Full.of(profile, cores);
            profile.firmware.core = FirmwareCore {
                speed_percent: core.speed_percent,
                active_energy: EnergyAmount(core.active_mw * MILLIJOULE),
                idle_energy: EnergyAmount(core.idle_mw * MILLIJOULE),
            };
            let cell = Cell::measure(&profile, Asked::READS, effort)?;
            if cell.iops >= MILLION || cores == MOST_CORES {
                rows.push(Row { core, cores, cell });
                break;
            }
        }
        progress(rows.len() as f64 / CORES.len() as f64);
    }
    let mut grounds = grounds();
    grounds.assumed.push(
        "types of cores: speed and power are ours; messages between cores do not get faster with them".to_owned(),
    );
    Ok(Outcome {
        experiment: NAME,
        profile: profile.name.clone(),
        about: format!(
            "The fewest cores of each type with which the full design does a million random reads of 4 KiB a second ({MOST_CORES} \
             at most), and what their energy is."
        ) + effort.note(),
        grounds,
        sheets: vec![sheet(&rows)],
        figures: vec![figure(&rows)],
        claims: claims(&rows),
    })
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "cores",
        &[
            ("core", "core"),
            ("speed_percent", "speed %"),
            ("active_mw", "active mW"),
            ("cores", "cores"),
            ("read_iops", "read IOPS"),
            ("power_w", "power W"),
            ("energy_uj", "uJ a request"),
        ],
    );
    for row in rows {
        let uj = row.cell.core_uj();
        sheet.row([
            Value::text(row.core.name),
            Value::Count(row.core.speed_percent.into()),
            Value::Count(row.core.active_mw),
            Value::Count(row.cores.into()),
            Value::Number(row.cell.iops, 0),
            Value::Number(uj * row.cell.iops / 1e6, 1),
            Value::Number(uj, 2),
        ]);
    }
    sheet
}

fn figure(rows: &[Row]) -> Figure {
    let group = |row: &Row| {
        let name = format!("{} x {}", row.cores, row.core.name);
        (name, vec![Some(row.cell.core_uj())])
    };
    Figure {
        chart: Chart::Bar(BarChart {
            title: "Energy of the cores for a read of 4 KiB".to_owned(),
            axis: "microjoules".to_owned(),
            series: vec!["energy".to_owned()],
            groups: rows.iter().map(group).collect(),
        }),
        caption: "Many slow cores do with less energy what few fast ones do, as long as the work can be spread.".to_owned(),
    }
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let [_, slow, .., fast] = rows else {
        return Vec::new();
    };
    let ratio = fast.cell.core_uj() / slow.cell.core_uj();
    let said = Said {
        id: "firmware-power.in-order",
        basis: Basis::Assumption,
        statement: "energy of a read at 1 M IOPS, fast out-of-order cores against in-order ones",
        published: "more",
        criterion: "both reach 1 M IOPS, and it is more",
    };
    let measured = format!(
        "x{ratio:.1}: {} cores {:.1} uJ, {} cores {:.1} uJ",
        fast.cores,
        fast.cell.core_uj(),
        slow.cores,
        slow.cell.core_uj()
    );
    let reach = slow.cell.iops.min(fast.cell.iops) >= MILLION;
    vec![said.claim(NAME, measured, reach && ratio > 1.0)]
}
