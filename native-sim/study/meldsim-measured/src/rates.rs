//! `latency_by_offered_rate`: writes that arrive at a rate, beside a probe of reads and writes.

use super::prelude::*;
use meldsim::profile::HostPath;
use meldsim_host::Tally;

pub(super) const FILE: &str = "latency_by_offered_rate.csv";
const KIND: &str = "latency_by_offered_rate";
const KNEE: Class = Class::new(KIND, "knee, in steps", Bar::Absolute(1.0));
const P50_BELOW: Class =
    Class::new(KIND, "write p50 below the knee, us", Bar::Absolute(1.0)).given();
const ACHIEVED: Class = Class::new(KIND, "rate when not saturated", Bar::Within(0.08)).given();
const SATURATED: Class = Class::new(KIND, "saturated rate", Bar::Within(0.08));
const PERCENTILES: Class = Class::new(KIND, "writes when saturated", Bar::Within(0.15));
const READ_P50: Class = Class::new(KIND, "read p50", Bar::Within(0.15));
const READ_P99: Class = Class::new(KIND, "read p99", Bar::Within(0.3));
const OTHER: Class = Class::new(KIND, "other means and percentiles", Bar::Factor(2.0));
/// Of the PM9A3 the saturated rate is its firmware's, not the flash's.
const HELD: Class = Class::new(KIND, "held by firmware", Bar::Reported).given();

/// Histograms of the measurement have bins of so many microseconds.
const BIN_US: f64 = 1.0;
/// More than half of the writes wait for more than their buffer.
const KNEE_US: f64 = 100.0;
/// The probe: requests a second, half of them writes; and what each of the 7 threads has outstanding at most.
const PROBE_IOPS: f64 = 10_000.0;
const DEPTH: u64 = 64;
const BACKGROUND: u64 = 6;
/// Requests a second that the offered total has too few: the probe's writes beside its reads.
const PROBE_HALF: f64 = 5_000.0;
const BACKGROUND_WRITES: f64 = 0.99;

/// Pages of flash and rows of a superblock: where one superblock of the collector's follows another there is a pause, which would be too
/// large a part of short ones. As the closed form gives the steady state, more pages cost little.
const PAGES: (u64, u64) = (6_700_000, 32);

/// The columns of writes, of the probe's writes and of its reads.
const LATENCIES: [&str; 21] = [
    "write_mean_us",
    "write_p50_us",
    "write_p90_us",
    "write_p95_us",
    "write_p99_us",
    "write_p99_9_us",
    "write_p99_99_us",
    "pwrite_mean_us",
    "pwrite_p50_us",
    "pwrite_p90_us",
    "pwrite_p99_us",
    "pwrite_p99_9_us",
    "pwrite_p99_99_us",
    "read_mean_us",
    "read_p10_us",
    "read_p50_us",
    "read_p90_us",
    "read_p95_us",
    "read_p99_us",
    "read_p99_9_us",
    "read_p99_99_us",
];

/// A row, and the measured median of its writes.
struct Offered<'a> {
    row: &'a Row,
    iops: f64,
    p50_us: Option<f64>,
}

pub(super) fn plan(table: &Table, tasks: &mut Tasks<'_>) -> Result<(), MeasureError> {
    tasks.leave_out_columns(
        table,
        &[
            "read_p99_999_us",
            "read_p99_lowest_us",
            "read_p99_highest_us",
        ],
        "fewer reads are simulated than this needs, or it is a spread",
    );
    let mut curves: Vec<((Drive, &str), Vec<Offered<'_>>)> = Vec::new();
    for row in &table.rows {
        let Some(drive) = tasks.drive(row)? else {
            continue;
        };
        let unit = row.text("unit")?;
        let offered = Offered {
            row,
            iops: row.number("offered_total_iops")?,
            p50_us: row.measured("write_p50_us")?,
        };
        if offered.iops <= PROBE_HALF {
            return Err(row
                .wrong(
                    "offered_total_iops",
                    "is less than the probe",
                    "write more than 5000",
                )
                .into());
        }
        of_key(&mut curves, (drive, unit)).push(offered);
    }
    for ((drive, unit), mut rows) in curves {
        rows.sort_by(|a, b| a.iops.total_cmp(&b.iops));
        let knee = knee(rows.iter().map(|row| row.p50_us));
        let mut questions = Vec::new();
        for (step, offered) in rows.iter().enumerate() {
            let cells = Cells {
                row: offered.row,
                drive,
                curve: unit.to_owned(),
                at: format!("{} a second", offered.iops),
                x: offered.iops,
                is_fitted: false,
            };
            ask(cells, knee, step, tasks.are_own, &mut questions)?;
        }
        let path = match rows.first() {
            Some(offered) => reached_by_or(offered.row, HostPath::IoUring)?,
            None => HostPath::IoUring,
        };
        let smaller = tasks.smaller_of(drive, PAGES)?.through(path);
        let rates: Vec<f64> = rows.iter().map(|row| row.iops).collect();
        let counted = tasks.scale.choose(10_000, 150_000);
        let cost = 4 * counted * rates.len() as u64;
        let answer = move |questions: &[Question]| answer(&smaller, &rates, counted, questions);
        tasks.add(questions, cost, Box::new(answer));
    }
    Ok(())
}

/// The step at which more than half of the writes wait for more than their buffer.
fn knee(p50_us: impl Iterator<Item = Option<f64>>) -> Option<usize> {
    let mut medians = p50_us;
    medians.position(|p50| p50.is_some_and(|p50| p50 > KNEE_US))
}

fn ask(
    mut cells: Cells<'_>,
    knee: Option<usize>,
    step: usize,
    are_own: bool,
    questions: &mut Vec<Question>,
) -> Result<(), String> {
    let row = cells.row;
    if knee == Some(step) {
        questions.push(cells.question("knee_step", KNEE, step as f64, 0.0));
    }
    let is_saturated = row.number("saturated")? > 0.0;
    let is_held = cells.drive.name == "PM9A3" && is_saturated;
    let is_low = row.number("offered_total_iops")? <= 30_000.0;
    let rate = match is_saturated {
        _ if is_held => HELD,
        true => SATURATED,
        false => ACHIEVED,
    };
    // What a read costs the writes is made of it.
    cells.is_fitted = are_own && is_saturated && !is_held;
    cells.ask(questions, "achieved_write_iops", rate, 0.0)?;
    cells.is_fitted = false;
    if !is_saturated {
        cells.ask(questions, "achieved_read_iops", ACHIEVED, 0.0)?;
    }
    let is_below = knee.is_none_or(|knee| step < knee);
    for column in LATENCIES {
        let is_p50 = column.ends_with("write_p50_us");
        let (class, bin) = match column {
            "read_p50_us" => (READ_P50, BIN_US),
            "read_p99_us" => (READ_P99, BIN_US),
            _ if column.starts_with("read_") => (OTHER, BIN_US),
            _ if is_held => (HELD, BIN_US),
            _ if is_saturated => (PERCENTILES, BIN_US),
            _ if is_p50 && is_below => (P50_BELOW, 0.0),
            _ => (OTHER, BIN_US),
        };
        // The read times, what a read waits for a program, and the controller's latency.
        let basis = [
            "read_p10_us",
            "read_p50_us",
            "read_p90_us",
            "read_p99_us",
            "write_p50_us",
        ];
        let is_burst = cells.drive.name == "CM7R" && is_saturated && column == "write_p99_us";
        cells.is_fitted = are_own && (is_burst || is_low && basis.contains(&column));
        let bin = if column.ends_with("mean_us") {
            0.0
        } else {
            bin
        };
        cells.ask(questions, column, class, bin)?;
    }
    Ok(())
}

fn answer(
    smaller: &Smaller,
    rates: &[f64],
    counted: u64,
    questions: &[Question],
) -> Result<Vec<Option<f64>>, MeasureError> {
    let runs = rates.iter().map(|rate| measure(smaller, *rate, counted));
    let runs: Vec<Rate> = runs.collect::<Result<_, _>>()?;
    let p50 = |run: &Rate| latency_us(run.background.latencies(), "write_p50_us");
    let knee = knee(runs.iter().map(p50)).unwrap_or(runs.len());
    let value = |question: &Question| {
        let at = rates
            .iter()
            .position(|rate| question.at == format!("{rate} a second"));
        let Rate {
            measured,
            background,
        } = &runs[at?];
        let [reads, writes] = &measured.sources[0];
        match question.column.as_str() {
            "knee_step" => Some(knee as f64),
            "achieved_write_iops" => measured.writes_from(0).iops(),
            "achieved_read_iops" => measured.reads().iops(),
            column if column.starts_with("read_") => latency_us(reads.latencies(), column),
            column if column.starts_with("pwrite_") => latency_us(writes.latencies(), column),
            column => latency_us(background.latencies(), column),
        }
    };
    Ok(questions.iter().map(value).collect())
}

/// What was measured at a rate.
struct Rate {
    measured: Measured,
    /// Writes of all threads but the probe.
    background: Tally,
}

fn measure(smaller: &Smaller, rate: f64, counted: u64) -> Result<Rate, MeasureError> {
    let bytes = smaller.bytes(smaller.drive.capacity_bytes, PAGE);
    let (mut device, nsid) = device(smaller, bytes, Past::Overwritten(Pattern::Uniform))?;
    let pages = (bytes / PAGE, 1);
    let probe = random(nsid, DEPTH, Arrivals::Even(PROBE_IOPS), pages, 0.5, 1);
    let arrivals = Arrivals::Poisson((rate - PROBE_HALF) / BACKGROUND as f64);
    let background = (0..BACKGROUND)
        .map(|thread| random(nsid, DEPTH, arrivals, pages, BACKGROUND_WRITES, 2 + thread));
    let sources = std::iter::once(probe).chain(background).collect();
    let measured = run(&mut device, sources, (counted, counted))?;
    Ok(Rate {
        background: measured.writes_from(1),
        measured,
    })
}
