//! `firmware-scaling`: throughput against cores for each design, and bandwidth against request size.

use super::super::claim::Claim;
use super::super::outcome::Outcome;
use super::super::plan::{Cells, Experiment, Options, Planned, Run};
use super::super::sheet::Sheet;
use super::{Cell, Design, MILLION, PAPER, Specification, kiops, report};
use crate::load::Access;
use crate::report::chart::{Axis, Line, LineChart};

pub(in crate::experiment) const SCALING: Experiment = Experiment {
    name: "firmware-scaling",
    about: "IOPS against the controller's cores, by four designs of its firmware",
    paper: PAPER,
    profile: "deepflash",
    options: Options::Scale,
    plan,
};

/// Cores of the published figure.
const NAIVE_CORES: u32 = 32;
/// Cores with which the full design passes the million.
const FULL_CORES: u32 = 12;
/// Published of naive firmware on 32 cores.
const NAIVE_IOPS: f64 = 813e3;
/// Cores behind which request sizes vary: the published number from which on more do not help.
const SIZE_CORES: u32 = 19;
/// Core counts of every design.
const FEW: [u32; 9] = [1, 2, 4, 8, 12, 16, 20, 24, 32];
/// Core counts of the full design.
const MANY: [u32; 20] = [
    1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 24, 32,
];
/// Request sizes, in KiB.
const SIZES_KIB: [u64; 8] = [4, 8, 16, 24, 32, 64, 128, 256];
/// Requests as large as these count as large.
const LARGE_KIB: u64 = 128;
/// Below this size, in KiB, the base design is published to be weak.
const WEAK_BELOW_KIB: u64 = 24;
/// Two throughputs closer than this are the same.
const SAME: f64 = 0.01;

struct Point {
    design: Design,
    cores: u32,
    reads: Cell,
    /// Of the full design.
    writes: Option<Cell>,
}

struct Size {
    kib: u64,
    base: f64,
    full_reads: f64,
    full_writes: f64,
}

/// Simulates all designs, core counts and request sizes.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let (profile, scale) = (&run.profile, run.scale);
    let cores = Design::ALL.into_iter().flat_map(|design| {
        let counts = match design {
            Design::Full => &MANY[..],
            _ => &FEW[..],
        };
        counts.iter().map(move |cores| (design, *cores))
    });
    let points = cells.each(cores, move |&(design, cores)| {
        let profile = design.of(profile, cores);
        let measure = |spec| Cell::measure(&profile, spec, scale);
        let writes = (design == Design::Full).then(|| measure(Specification::WRITES));
        Ok(Point {
            design,
            cores,
            reads: measure(Specification::READS)?,
            writes: writes.transpose()?,
        })
    });
    let sizes = cells.each(SIZES_KIB, move |&kib| {
        let mb_s = |design: Design, access| {
            let spec = Specification {
                access,
                request_bytes: kib << 10,
                ..Specification::READS
            };
            let cell = Cell::measure(&design.of(profile, SIZE_CORES), spec, scale);
            cell.map(|cell| cell.mb_s)
        };
        Ok(Size {
            kib,
            base: mb_s(Design::Base, Access::RandomRead)?,
            full_reads: mb_s(Design::Full, Access::RandomRead)?,
            full_writes: mb_s(Design::Full, Access::RandomWrite)?,
        })
    });
    Ok(Box::new(move || {
        let (points, sizes) = (points.take()?, sizes.take()?);
        Some(outcome(run, &points, &sizes).claims(claims(&points, &sizes)?))
    }))
}

fn outcome(run: &Run, points: &[Point], sizes: &[Size]) -> Outcome {
    let about = format!(
        "Random requests of 4 KiB on 1 to 32 cores in front of the same flash, by naive, many-layered and pipelined firmware \
         without (base) and with (full) its optimisations; and of 4 to 256 KiB on {SIZE_CORES} cores."
    );
    report(run, about)
        .sheet(
            Sheet::of("cores", points)
                .cell("design", "design", |point| point.design.name())
                .count("cores", "cores", |point| u64::from(point.cores))
                .number("read_iops", "read IOPS", 0, |point| point.reads.iops)
                .number("write_iops", "write IOPS", 0, |point| point.writes.map(|cell| cell.iops))
                .number("read_mean_us", "read us", 1, |point| point.reads.mean_us)
                .number("cores_busy", "cores busy", 1, |point| point.reads.cores_busy),
        )
        .sheet(
            Sheet::of("sizes", sizes)
                .bytes("request_bytes", "request", |size| size.kib << 10)
                .number("base_read_mb_s", "base reads MB/s", 0, |size| size.base)
                .number("full_read_mb_s", "full reads MB/s", 0, |size| size.full_reads)
                .number("full_write_mb_s", "full writes MB/s", 0, |size| size.full_writes),
        )
        .figure(
            cores_chart(points),
            "Naive cores wait for the lock of the mapping; one thread takes commands apart for layered firmware and \
             fetches, parses and completes all of one queue for the base design. The full design goes on until each of \
             its threads has a core, or the flash is busy.",
        )
        .figure(
            sizes_chart(sizes),
            "Large requests are limited by the flash, small ones by the firmware.",
        )
}

fn cores_chart(points: &[Point]) -> LineChart {
    let reads = Design::ALL.into_iter().map(|design| {
        let of = points.iter().filter(|point| point.design == design);
        let points = of.map(|p| (f64::from(p.cores), p.reads.iops / 1e3));
        Line::new(format!("{}, reads", design.name()), points.collect())
    });
    let writes = points
        .iter()
        .filter_map(|p| Some((f64::from(p.cores), p.writes?.iops / 1e3)));
    let writes = Line::new("full, writes", writes.collect());
    LineChart {
        title: "Throughput against cores".to_owned(),
        x: Axis::linear("cores"),
        y: Axis::linear("thousand IOPS"),
        lines: reads.chain([writes]).collect(),
    }
}

fn sizes_chart(sizes: &[Size]) -> LineChart {
    let line = |name: &str, of: fn(&Size) -> f64| {
        let points = sizes.iter().map(|s| (s.kib as f64, of(s) / 1e3));
        Line::new(name, points.collect())
    };
    LineChart {
        title: format!("Bandwidth against request size, {SIZE_CORES} cores"),
        x: Axis::log("request, KiB"),
        y: Axis::linear("GB/s"),
        lines: vec![
            line("base, reads", |size| size.base),
            line("full, reads", |size| size.full_reads),
            line("full, writes", |size| size.full_writes),
        ],
    }
}

fn claims(points: &[Point], sizes: &[Size]) -> Option<[Claim; 8]> {
    let find = |design, cores| {
        let mut points = points.iter();
        points.find(|point| point.design == design && point.cores == cores)
    };
    let one = find(Design::Naive, 1)?.reads.iops;
    let naive = find(Design::Naive, NAIVE_CORES)?.reads.iops;
    let full = find(Design::Full, FULL_CORES)?.reads;
    let share = naive / (one * f64::from(NAIVE_CORES));
    let (reads_end, writes_end) = (
        end(points, |point| Some(point.reads.iops)),
        end(points, |point| Some(point.writes?.iops)),
    );
    let end = reads_end.max(writes_end);
    let large = |of: fn(&Size) -> f64| {
        let large = sizes.iter().filter(|size| size.kib >= LARGE_KIB);
        large.map(of).fold(0.0, f64::max) / 1e3
    };
    let (read_gb_s, write_gb_s) = (
        large(|size| size.full_reads),
        large(|size| size.full_writes),
    );
    let within = |share: f64, value: f64, published: f64| (value / published - 1.0).abs() <= share;
    Some([
        Claim::fitted("firmware-scaling.naive")
            .statement("calibrated: reads of naive firmware on 32 cores")
            .expected("813 K IOPS")
            .measured(kiops(naive) + " IOPS")
            .holds("it is within 5 %", within(0.05, naive, NAIVE_IOPS)),
        Claim::fitted("firmware-scaling.full-12")
            .statement("calibrated: reads of the full design on 12 cores")
            .expected("more than 1 M IOPS")
            .measured(kiops(full.iops) + " IOPS")
            .holds("it is at least 1 M", full.iops >= MILLION),
        Claim::published("firmware-scaling.naive-share")
            .statement("predicted: naive firmware on 32 cores, of 32 times one core")
            .expected("17.4 % (82.6 % below)")
            .measured(format!("{:.1} %", 100.0 * share))
            .holds("it is 16 to 19 %", (0.16..=0.19).contains(&share)),
        Claim::published("firmware-scaling.end")
            .statement("predicted: cores from which on more do not help the full design")
            .expected("19")
            .measured(format!("{end}: reads {reads_end}, writes {writes_end}"))
            .holds("it is 17 to 21", (17..=21).contains(&end)),
        Claim::published("firmware-scaling.large-reads")
            .statement("predicted: bandwidth of large reads, full design on 19 cores")
            .expected("4.8 GB/s")
            .measured(format!("{read_gb_s:.2} GB/s"))
            .holds("it is within 10 %", within(0.1, read_gb_s, 4.8)),
        Claim::published("firmware-scaling.large-writes")
            .statement("predicted: bandwidth of large writes, full design on 19 cores")
            .expected("4.5 GB/s")
            .measured(format!("{write_gb_s:.2} GB/s"))
            .holds("it is within 10 %", within(0.1, write_gb_s, 4.5)),
        base_is_weak(sizes),
        Claim::published("firmware-scaling.active-cores")
            .statement("predicted: cores at work of 12, full design, random reads")
            .expected("about 6.3")
            .measured(format!("{:.1}", full.cores_busy))
            .holds("it is within 10 %", within(0.1, full.cores_busy, 6.3)),
    ])
}

/// The fewest cores of the full design from which on all throughputs are the same.
fn end(points: &[Point], of: fn(&Point) -> Option<f64>) -> u32 {
    let full: Vec<(u32, f64)> = points
        .iter()
        .filter(|point| point.design == Design::Full)
        .filter_map(|point| Some((point.cores, of(point)?)))
        .collect();
    let best = full.iter().map(|&(_, iops)| iops).fold(0.0, f64::max);
    let before = full
        .iter()
        .rposition(|&(_, iops)| iops < (1.0 - SAME) * best);
    let first = before.map_or(0, |before| before + 1);
    full.get(first).map_or(0, |&(cores, _)| cores)
}

fn base_is_weak(sizes: &[Size]) -> Claim {
    let ratios = sizes
        .iter()
        .map(|size| (size.kib, size.base / size.full_reads));
    let holds = ratios
        .clone()
        .all(|(kib, ratio)| match kib < WEAK_BELOW_KIB {
            true => ratio < 1.0 - SAME,
            false => ratio >= 1.0 - SAME,
        });
    let texts: Vec<String> = ratios
        .filter(|&(kib, _)| kib <= 2 * WEAK_BELOW_KIB)
        .map(|(kib, ratio)| format!("{kib} KiB x{ratio:.2}"))
        .collect();
    Claim::published("firmware-scaling.base-weak")
        .statement("predicted: random reads of the base design against the full one's")
        .expected("weak below 24 KiB")
        .measured(texts.join(", "))
        .holds("it loses below 24 KiB and from there on it does not", holds)
}
