//! `firmware-scaling`: throughput against cores for each design, and bandwidth against request size.

use super::super::burst::ExperimentError;
use super::super::claim::{Basis, Claim};
use super::super::effort::Effort;
use super::super::outcome::{Chart, Figure, Outcome};
use super::super::sheet::{Cell as Value, Sheet};
use super::cell::{Asked, Cell};
use super::{Design, MILLION, Said, grounds, kiops};
use crate::load::Access;
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::profile::Profile;

const NAME: &str = "firmware-scaling";
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

/// Runs all designs, core counts and request sizes.
pub(in crate::experiment) fn scaling(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let counts = |design| match design {
        Design::Full => &MANY[..],
        _ => &FEW[..],
    };
    let total = 3 * FEW.len() + MANY.len() + SIZES_KIB.len();
    let mut points: Vec<Point> = Vec::new();
    for design in Design::ALL {
        for &cores in counts(design) {
            let profile = design.of(profile, cores);
            let writes = match design {
                Design::Full => Some(Cell::measure(&profile, Asked::WRITES, effort)?),
                _ => None,
            };
            points.push(Point {
                design,
                cores,
                reads: Cell::measure(&profile, Asked::READS, effort)?,
                writes,
            });
            progress(points.len() as f64 / total as f64);
        }
    }
    let mut sizes: Vec<Size> = Vec::new();
    for kib in SIZES_KIB {
        let measure = |design: Design, access| {
            let asked = Asked {
                access,
                request_bytes: kib << 10,
                ..Asked::READS
            };
            Ok::<_, ExperimentError>(
                Cell::measure(&design.of(profile, SIZE_CORES), asked, effort)?.mb_s,
            )
        };
        sizes.push(Size {
            kib,
            base: measure(Design::Base, Access::RandomRead)?,
            full_reads: measure(Design::Full, Access::RandomRead)?,
            full_writes: measure(Design::Full, Access::RandomWrite)?,
        });
        progress((points.len() + sizes.len()) as f64 / total as f64);
    }
    Ok(Outcome {
        experiment: NAME,
        profile: profile.name.clone(),
        about: format!(
            "Random requests of 4 KiB on 1 to 32 cores in front of the same flash, by naive, many-layered and pipelined firmware \
             without (base) and with (full) its optimisations; and of 4 to 256 KiB on {SIZE_CORES} cores."
        ) + effort.note(),
        grounds: grounds(),
        sheets: vec![points_sheet(&points), sizes_sheet(&sizes)],
        figures: figures(&points, &sizes),
        claims: claims(&points, &sizes),
    })
}

fn points_sheet(points: &[Point]) -> Sheet {
    let mut sheet = Sheet::new(
        "cores",
        &[
            ("design", "design"),
            ("cores", "cores"),
            ("read_iops", "read IOPS"),
            ("write_iops", "write IOPS"),
            ("read_mean_us", "read us"),
            ("cores_busy", "cores busy"),
        ],
    );
    for point in points {
        sheet.row([
            Value::text(point.design.name()),
            Value::Count(point.cores.into()),
            Value::Number(point.reads.iops, 0),
            point
                .writes
                .map_or(Value::Missing, |cell| Value::Number(cell.iops, 0)),
            Value::Number(point.reads.mean_us, 1),
            Value::Number(point.reads.cores_busy, 1),
        ]);
    }
    sheet
}

fn sizes_sheet(sizes: &[Size]) -> Sheet {
    let mut sheet = Sheet::new(
        "sizes",
        &[
            ("request_bytes", "request"),
            ("base_read_mb_s", "base reads MB/s"),
            ("full_read_mb_s", "full reads MB/s"),
            ("full_write_mb_s", "full writes MB/s"),
        ],
    );
    for size in sizes {
        sheet.row([
            Value::Bytes(size.kib << 10),
            Value::Number(size.base, 0),
            Value::Number(size.full_reads, 0),
            Value::Number(size.full_writes, 0),
        ]);
    }
    sheet
}

fn figures(points: &[Point], sizes: &[Size]) -> Vec<Figure> {
    let mut lines: Vec<Line> = Design::ALL
        .into_iter()
        .map(|design| {
            let of = points.iter().filter(|point| point.design == design);
            let points = of.map(|p| (f64::from(p.cores), p.reads.iops / 1e3));
            Line::new(format!("{}, reads", design.name()), points.collect())
        })
        .collect();
    let writes = points
        .iter()
        .filter_map(|p| Some((f64::from(p.cores), p.writes?.iops / 1e3)));
    lines.push(Line::new("full, writes", writes.collect()));
    let by_size = |name: &str, of: fn(&Size) -> f64| {
        let points = sizes.iter().map(|s| (s.kib as f64, of(s) / 1e3));
        Line::new(name, points.collect())
    };
    vec![
        Figure {
            chart: Chart::Line(LineChart {
                title: "Throughput against cores".to_owned(),
                x: Axis::linear("cores"),
                y: Axis::linear("thousand IOPS"),
                lines,
            }),
            caption: "Naive cores wait for the lock of the mapping; one thread takes commands apart for layered firmware and \
                      fetches, parses and completes all of one queue for the base design. The full design goes on until each of \
                      its threads has a core, or the flash is busy."
                .to_owned(),
        },
        Figure {
            chart: Chart::Line(LineChart {
                title: format!("Bandwidth against request size, {SIZE_CORES} cores"),
                x: Axis::log("request, KiB"),
                y: Axis::linear("GB/s"),
                lines: vec![
                    by_size("base, reads", |size| size.base),
                    by_size("full, reads", |size| size.full_reads),
                    by_size("full, writes", |size| size.full_writes),
                ],
            }),
            caption: "Large requests are the flash's matter, small ones the firmware's.".to_owned(),
        },
    ]
}

fn claims(points: &[Point], sizes: &[Size]) -> Vec<Claim> {
    let find = |design, cores| {
        let mut points = points.iter();
        points.find(|point| point.design == design && point.cores == cores)
    };
    let (Some(one), Some(naive), Some(full)) = (
        find(Design::Naive, 1),
        find(Design::Naive, NAIVE_CORES),
        find(Design::Full, FULL_CORES),
    ) else {
        return Vec::new();
    };
    let large = |of: fn(&Size) -> f64| {
        let large = sizes.iter().filter(|size| size.kib >= LARGE_KIB);
        large.map(of).fold(0.0, f64::max) / 1e3
    };
    let naive_iops = naive.reads.iops;
    let share = naive_iops / (one.reads.iops * f64::from(NAIVE_CORES));
    let (read_gb_s, write_gb_s) = (
        large(|size| size.full_reads),
        large(|size| size.full_writes),
    );
    let (reads_end, writes_end) = (
        end(points, |point| Some(point.reads.iops)),
        end(points, |point| Some(point.writes?.iops)),
    );
    let end = reads_end.max(writes_end);
    vec![
        Said {
            id: "firmware-scaling.naive",
            basis: Basis::Fitted,
            statement: "calibrated: reads of naive firmware on 32 cores",
            published: "813 K IOPS",
            criterion: "it is within 5 %",
        }
        .claim(
            NAME,
            kiops(naive_iops) + " IOPS",
            (naive_iops / NAIVE_IOPS - 1.0).abs() <= 0.05,
        ),
        Said {
            id: "firmware-scaling.full-12",
            basis: Basis::Fitted,
            statement: "calibrated: reads of the full design on 12 cores",
            published: "more than 1 M IOPS",
            criterion: "it is at least 1 M",
        }
        .claim(
            NAME,
            kiops(full.reads.iops) + " IOPS",
            full.reads.iops >= MILLION,
        ),
        Said {
            id: "firmware-scaling.naive-share",
            basis: Basis::Published,
            statement: "predicted: naive firmware on 32 cores, of 32 times one core",
            published: "17.4 % (82.6 % below)",
            criterion: "it is 16 to 19 %",
        }
        .claim(
            NAME,
            format!("{:.1} %", 100.0 * share),
            (0.16..=0.19).contains(&share),
        ),
        Said {
            id: "firmware-scaling.end",
            basis: Basis::Published,
            statement: "predicted: cores from which on more do not help the full design",
            published: "19",
            criterion: "it is 17 to 21",
        }
        .claim(
            NAME,
            format!("{end}: reads {reads_end}, writes {writes_end}"),
            (17..=21).contains(&end),
        ),
        Said {
            id: "firmware-scaling.large-reads",
            basis: Basis::Published,
            statement: "predicted: bandwidth of large reads, full design on 19 cores",
            published: "4.8 GB/s",
            criterion: "it is within 10 %",
        }
        .claim(
            NAME,
            format!("{read_gb_s:.2} GB/s"),
            (read_gb_s / 4.8 - 1.0).abs() <= 0.1,
        ),
        Said {
            id: "firmware-scaling.large-writes",
            basis: Basis::Published,
            statement: "predicted: bandwidth of large writes, full design on 19 cores",
            published: "4.5 GB/s",
            criterion: "it is within 10 %",
        }
        .claim(
            NAME,
            format!("{write_gb_s:.2} GB/s"),
            (write_gb_s / 4.5 - 1.0).abs() <= 0.1,
        ),
        base_is_weak(sizes),
        Said {
            id: "firmware-scaling.active-cores",
            basis: Basis::Published,
            statement: "predicted: cores at work of 12, full design, random reads",
            published: "about 6.3",
            criterion: "it is within 10 %",
        }
        .claim(
            NAME,
            format!("{:.1}", full.reads.cores_busy),
            (full.reads.cores_busy / 6.3 - 1.0).abs() <= 0.1,
        ),
    ]
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
    Said {
        id: "firmware-scaling.base-weak",
        basis: Basis::Published,
        statement: "predicted: random reads of the base design against the full one's",
        published: "weak below 24 KiB",
        criterion: "it loses below 24 KiB and from there on it does not",
    }
    .claim(NAME, texts.join(", "), holds)
}
