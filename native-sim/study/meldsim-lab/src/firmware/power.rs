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

/// Core counts that are tried.
const MOST_CORES: u32 = 16;
/// Instructions a cycle of a Pentium Pro, out of order, for one of a Pentium, in order; energy of an instruction, in nanojoules, of
/// both in the same process at the same voltage. E. Grochowski, M. Annavaram: "Energy per Instruction Trends in Intel
/// Microprocessors" (2006).
const MORE_INSTRUCTIONS: f64 = 1.8;
const INSTRUCTION_NJ: [f64; 2] = [14.0, 24.0];
/// Transistors of both, in millions, Intel.
const TRANSISTORS: [f64; 2] = [3.1, 5.5];

/// A type of core.
#[derive(Debug)]
struct Core {
    name: &'static str,
    ghz: f64,
    is_out_of_order: bool,
}

const CORES: [Core; 4] = [
    Core::of("in-order, 0.5 GHz", 0.5, false),
    Core::of("in-order, 1 GHz", 1.0, false),
    Core::of("out-of-order, 1.2 GHz", 1.2, true),
    Core::of("out-of-order, 2.4 GHz", 2.4, true),
];

impl Core {
    const fn of(name: &'static str, ghz: f64, is_out_of_order: bool) -> Core {
        Core {
            name,
            ghz,
            is_out_of_order,
        }
    }

    /// This core for the profile's, which is in order at 1 GHz. At one voltage the energy of an instruction is the same at any
    /// clock; what an idle core takes is that of its clock, and of as many transistors.
    fn instead_of(&self, core: &FirmwareCore) -> FirmwareCore {
        let [instructions, energy, transistors] = match self.is_out_of_order {
            true => [
                MORE_INSTRUCTIONS,
                INSTRUCTION_NJ[1] / INSTRUCTION_NJ[0],
                TRANSISTORS[1] / TRANSISTORS[0],
            ],
            false => [1.0; 3],
        };
        let speed = self.ghz * instructions;
        let times = |of: EnergyAmount, factor: f64| EnergyAmount((of.0 as f64 * factor) as u64);
        FirmwareCore {
            threads: 1,
            issues: 1,
            speed_percent: (100.0 * speed).round() as u32,
            active_energy: times(core.active_energy, speed * energy),
            idle_energy: times(core.idle_energy, self.ghz * transistors),
        }
    }
}

const MILLIJOULE: u64 = 1_000_000_000;

struct PowerRow {
    core: &'static Core,
    as_core: FirmwareCore,
    /// The fewest cores with which reads and writes reach the million, or the most that were tried.
    cores: u32,
    reads: Cell,
    writes: Cell,
}

impl PowerRow {
    /// Energy of the cores for a request, in microjoules: the mean of a read and a write.
    fn core_uj(&self) -> f64 {
        (self.reads.core_uj() + self.writes.core_uj()) / 2.0
    }
}

/// Tries every type of core with more and more cores.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let rows = cells.each(&CORES, |core| {
        let mut cores = 1;
        loop {
            let mut profile = Design::Full.of(&run.profile, cores);
            profile.firmware.core = core.instead_of(&profile.firmware.core);
            let reads = Cell::measure(&profile, Specification::READS, run.scale)?;
            let is_last = cores == MOST_CORES;
            if reads.iops >= MILLION || is_last {
                let writes = Cell::measure(&profile, Specification::WRITES, run.scale)?;
                if writes.iops >= MILLION || is_last {
                    let as_core = profile.firmware.core;
                    return Ok(PowerRow {
                        core,
                        as_core,
                        cores,
                        reads,
                        writes,
                    });
                }
            }
            cores += 1;
        }
    });
    let platform = cells.one(|| {
        Cell::measure(
            &Design::Full.on_platform(&run.profile),
            Specification::READS,
            run.scale,
        )
    });
    Ok(Box::new(move || {
        let (rows, platform) = (rows.take()?, platform.single()?);
        let sheet = Sheet::of("cores", &rows)
            .cell("core", "core", |row| row.core.name)
            .count("speed_percent", "speed %", |row| {
                u64::from(row.as_core.speed_percent)
            })
            .count("active_mw", "active mW", |row| {
                row.as_core.active_energy.0 / MILLIJOULE
            })
            .count("idle_mw", "idle mW", |row| {
                row.as_core.idle_energy.0 / MILLIJOULE
            })
            .count("cores", "cores", |row| u64::from(row.cores))
            .number("read_iops", "read IOPS", 0, |row| row.reads.iops)
            .number("write_iops", "write IOPS", 0, |row| row.writes.iops)
            .number("power_w", "power of reads W", 1, |row| {
                row.reads.core_uj() * row.reads.iops / 1e6
            })
            .number("energy_uj", "uJ a request", 2, PowerRow::core_uj);
        let group = |row: &PowerRow| {
            let name = format!("{} x {}", row.cores, row.core.name);
            (name, [row.reads.core_uj(), row.writes.core_uj()])
        };
        let title = "Energy of the cores for a request of 4 KiB";
        let chart = DotPlot::of(title, "microjoules", ["read", "write"], &rows, group);
        let about = format!(
            "The fewest cores of each type with which the full design does a million random requests of 4 KiB a second, reads and writes \
             alike ({MOST_CORES} at most), and what their energy is."
        );
        let outcome = report(run, about)
            .published("Intel: 245 W for a Xeon Phi 5120D of 60 cores; measured on a 5110P, which has 60 cores too, while it sleeps: 76.46 W (Intel's forum, topic 508452, 2014)")
            .published("E. Grochowski, M. Annavaram: \"Energy per Instruction Trends in Intel Microprocessors\" (2006): a Pentium Pro against a Pentium; the table's figures were not checked against the text")
            .assumed("messages do not get faster with the cores. At one voltage an instruction takes the same energy at any clock; an idle core's power grows with its clock and its transistors")
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
/// The profile.
const DEVICE: &str = "deepflash";
/// Power of the platform on 12 cores, published, in watts.
const PLATFORM_W: f64 = 29.0;

fn claims(rows: &[PowerRow], platform: &Cell) -> Option<Vec<Claim>> {
    const CARD: &str = "energy of a core: that of a card with 60 of them, at its rated power and asleep; nothing was fitted";
    const PENTIUMS: &str = "no constant; that a Pentium Pro and a Pentium are compared, and how idle cores scale, was chosen with both numbers in sight; that reads and writes reach 1 M, is the source's";
    let [_, in_order, out_of_order @ ..] = rows else {
        return None;
    };
    let within = |value: f64, published: f64| (value - published).abs() <= 0.2 * published;
    let watts = platform.core_uj() * platform.iops / 1e6;
    let power = Claim::predicted("firmware-power.platform", CARD)
        .statement("power of the cores, full design on the published platform, reads")
        .expected("29 W")
        .measured(format!("{watts:.1} W"))
        .when(Bound::Own, "it is within 20 %")
        .holds(within(watts, PLATFORM_W))
        .fails_with(Change::percent(DEVICE, "firmware.core.active_energy", -40));
    let claims = out_of_order
        .iter()
        .zip(OUT_OF_ORDER)
        .map(|(row, (id, published))| {
            let more = row.core_uj() / in_order.core_uj() - 1.0;
            Claim::fitted(id, PENTIUMS)
                .statement(format!(
                    "energy of a request at 1 M IOPS of reads and of writes, {} against {}",
                    row.core.name, in_order.core.name
                ))
                .expected(format!("{:.0} % more", 100.0 * published))
                .measured(format!(
                    "{:.0} % more: {} cores {:.1} uJ, {} cores {:.1} uJ",
                    100.0 * more,
                    row.cores,
                    row.core_uj(),
                    in_order.cores,
                    in_order.core_uj()
                ))
                .when(Bound::Own, "it is within 20 %")
                .holds(within(more, published))
                .fails_with(Change::percent(DEVICE, "firmware.cost.message", -75))
        });
    Some([power].into_iter().chain(claims).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_takes_what_its_instructions_and_its_transistors_take() {
        let card = FirmwareCore {
            active_energy: EnergyAmount(4_000_000),
            idle_energy: EnergyAmount(1_000_000),
            ..FirmwareCore::default()
        };
        let [half, same, slow, fast] = CORES.map(|core| core.instead_of(&card));
        assert_eq!((same.speed_percent, same.active_energy.0), (100, 4_000_000));
        assert_eq!((half.speed_percent, half.idle_energy.0), (50, 500_000));
        // 1.8 x 1.2 times the instructions a second, each of 24 nJ for 14; 5.5 transistors for 3.1.
        assert_eq!((slow.speed_percent, fast.speed_percent), (216, 432));
        assert!(slow.active_energy.0.abs_diff(14_811_428) < 2);
        assert!(slow.idle_energy.0.abs_diff(2_129_032) < 2);
        // At twice the clock all of it doubles.
        assert!(fast.active_energy.0.abs_diff(2 * slow.active_energy.0) < 3);
    }
}
