//! `firmware-flash`: other flash behind the same cores: SLC, MLC and TLC behind many, and more and more dies behind one.

use super::{Cell, Design, FIRMWARE, SAME, Specification, end, report};
use crate::prelude::*;
use meldsim::Duration;
use meldsim::policy::firmware::FirmwarePolicy;
use meldsim::profile::Profile;
use meldsim_host::Access;

pub(crate) const FLASH: Experiment = Experiment {
    name: "firmware-flash",
    about: "IOPS with SLC, MLC and TLC behind many cores, and with more dies behind one",
    plan,
    ..FIRMWARE
};

/// Core counts behind which the types of flash are compared.
const CORES: [u32; 11] = [4, 8, 12, 16, 17, 18, 19, 20, 21, 22, 32];
/// From here on more cores do not help, published of all three.
const PUBLISHED_END: u32 = 19;
/// How far the end may be from it, in cores.
const END_TOLERANCE: u32 = 2;
/// Dies of each of the 16 channels behind one core.
const DIES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// A type of flash \[A\]: reads of its pages, and the program of a wordline, in microseconds. That of the profile is MLC.
type Kind = (&'static str, Option<(&'static [u64], u64)>);

const KINDS: [Kind; 3] = [
    ("SLC", Some((&[25], 300))),
    ("MLC", None),
    ("TLC", Some((&[58, 78, 107], 5001))),
];

struct Point {
    kind: &'static str,
    cores: u32,
    reads: f64,
    writes: f64,
}

struct Scaled {
    dies: u32,
    /// Sequential writes: all of the firmware on one core, and firmware that takes no time.
    one_core: f64,
    no_firmware: f64,
}

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let points = KINDS
        .iter()
        .flat_map(|kind| CORES.map(|cores| (kind, cores)));
    let points = cells.each(points, |&((kind, times), cores)| {
        let mut profile = Design::Full.of(&run.profile, cores);
        if let Some((read, program)) = times {
            profile.timing.read = read.iter().map(|us| Duration::from_us(*us)).collect();
            profile.timing.program = Duration::from_us(*program);
        }
        let iops = |spec| Cell::measure(&profile, spec, run.scale).map(|cell| cell.iops);
        Ok(Point {
            kind,
            cores,
            reads: iops(Specification::READS)?,
            writes: iops(Specification::WRITES)?,
        })
    });
    let scaled = cells.each(DIES, |&dies| {
        let mut profile = Design::Naive.of(&run.profile, 1);
        profile.geometry.dies_per_channel = dies;
        profile.geometry.dies_per_package = 1;
        // As much flash as before.
        profile.geometry.blocks_per_plane *= DIES[DIES.len() - 1] / dies;
        let spec = Specification {
            access: Access::SequentialWrite,
            ..Specification::READS
        };
        let iops =
            |profile: &Profile| Cell::measure(profile, spec, run.scale).map(|cell| cell.iops);
        let one_core = iops(&profile)?;
        profile.firmware.design = FirmwarePolicy::default();
        Ok(Scaled {
            dies,
            one_core,
            no_firmware: iops(&profile)?,
        })
    });
    Ok(Box::new(move || {
        let (points, scaled) = (points.take()?, scaled.take()?);
        let about = "Random requests of 4 KiB on 4 to 32 cores in front of SLC, MLC and TLC; sequential writes of 4 KiB on one core in front \
                     of 16 channels of 1 to 64 dies.";
        let outcome = report(run, about)
            .assumed("SLC reads in 25 us and programs in 300 us; TLC reads in 58, 78 and 107 us and programs in 5001 us. The source names the three kinds without times")
            .assumed("one core runs all of the firmware; in the source it runs the host interface and the translation")
            .sheet(
                Sheet::of("types", &points)
                    .cell("flash", "flash", |point| point.kind)
                    .count("cores", "cores", |point| u64::from(point.cores))
                    .number("read_iops", "read IOPS", 0, |point| point.reads)
                    .number("write_iops", "write IOPS", 0, |point| point.writes),
            )
            .sheet(
                Sheet::of("dies", &scaled)
                    .count("dies", "dies a channel", |row| u64::from(row.dies))
                    .number("one_core_iops", "one core, write IOPS", 0, |row| row.one_core)
                    .number("no_firmware_iops", "no firmware, write IOPS", 0, |row| row.no_firmware),
            )
            .figure(chart(&points), "Returns end where every thread has a core, or where the flash is busy.")
            .claims(claims(&points, &scaled)?);
        Some(outcome)
    }))
}

fn chart(points: &[Point]) -> LineChart {
    let line = |(kind, _): &Kind| {
        let of = points.iter().filter(|point| point.kind == *kind);
        Line::over(format!("{kind}, reads"), of, |point| {
            (f64::from(point.cores), point.reads / 1e3)
        })
    };
    let title = "Throughput against cores, by flash";
    LineChart::linear(title, "cores", "thousand IOPS", KINDS.iter().map(line))
}

fn claims(points: &[Point], scaled: &[Scaled]) -> Option<[Claim; 2]> {
    let ends = KINDS.map(|(kind, _)| {
        let of = |value: fn(&Point) -> f64| {
            let of = points.iter().filter(|point| point.kind == kind);
            let of: Vec<(u32, f64)> = of.map(|point| (point.cores, value(point))).collect();
            end(&of)
        };
        (kind, of(|point| point.reads).max(of(|point| point.writes)))
    });
    let near = ends
        .iter()
        .all(|(_, end)| end.abs_diff(PUBLISHED_END) <= END_TOLERANCE);
    let texts = ends.map(|(kind, end)| format!("{kind} {end}"));
    let (first, last) = (scaled.first()?, scaled.last()?);
    let flat = scaled
        .iter()
        .find(|row| row.one_core >= (1.0 - SAME) * last.one_core)?;
    Some([
        Claim::predicted(
            "firmware-flash.types",
            "threads were bound to cores with the end of MLC in sight, and with none of SLC and TLC",
        )
        .statement("cores from which on more do not help, by flash")
        .expected("19 of all three")
        .measured(texts.join(", "))
        .when(Bound::Own, format!("each is within {END_TOLERANCE} of 19")).holds(near)
        .fails_with(Change::percent("deepflash", "bus.rate", -20)),
        Claim::construction(
            "firmware-flash.one-core",
            "a core takes the same time for each command, however many dies there are",
        )
        .statement("sequential writes behind one core, over the dies of 16 channels")
        .expected("the core is the bottleneck: more flash does not help")
        .measured(format!(
            "{:.0} K with {} a channel, {:.0} K from {} on; {:.0} K with {} without firmware",
            first.one_core / 1e3,
            first.dies,
            last.one_core / 1e3,
            flat.dies,
            last.no_firmware / 1e3,
            last.dies
        ))
        .when(Bound::Own, "it is the same from some number on, where without firmware it is more").holds(flat.dies < last.dies && last.no_firmware > (1.0 + SAME) * last.one_core),
    ])
}
