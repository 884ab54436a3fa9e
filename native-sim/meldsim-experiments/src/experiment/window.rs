//! `melding-window`: what melding gains a reader of one block, by the bytes outstanding.
//!
//! ```text
//!   waiting reader:  |== window ==|  |== window ==|     the next window is requested when all of one has come
//!   sliding reader:  |== window ==>                     a packet is requested whenever one has come
//! ```

use super::burst::{ExperimentError, Layout};
use super::claim::Claim;
use super::melded::PAPER;
use super::outcome::{Outcome, size_axis};
use super::plan::{Cells, Experiment, Options, Planned, Run};
use super::sheet::Sheet;
use crate::load::Reader;
use crate::report::bytes;
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::device::Device;
use meldsim::profile::Profile;

pub(super) const MELDING_WINDOW: Experiment = Experiment {
    name: "melding-window",
    about: "Gain of melding by the bytes that a reader of one 128 MiB block keeps outstanding",
    paper: PAPER,
    profile: "melded-tlc-8x8",
    options: Options::None,
    plan,
};

/// An HDFS block.
const BLOCK_BYTES: u64 = 128 << 20;
/// From here on melded reads win, published; a host that knows its window gives the directive from here on.
const CROSSOVER_BYTES: u64 = 2 << 20;
/// Below this window there is nothing to gain, published.
const NO_GAIN_BELOW_BYTES: u64 = 1 << 20;
/// The gain of a whole block, published, cut after two digits.
const BLOCK_GAIN: f64 = 1.41;
/// What still counts as about zero.
const ABOUT: f64 = 0.05;

/// One window.
struct Row {
    window_bytes: u64,
    /// Normal and melded, MiB/s.
    waiting: [f64; 2],
    sliding: [f64; 2],
}

impl Row {
    fn gain(rates: [f64; 2]) -> f64 {
        rates[1] / rates[0]
    }

    fn gains(&self) -> [f64; 2] {
        [Row::gain(self.waiting), Row::gain(self.sliding)]
    }

    /// The gain when the host gives the directive only to readers whose window reaches the crossover.
    fn default_gains(&self) -> [f64; 2] {
        if self.window_bytes >= CROSSOVER_BYTES {
            self.gains()
        } else {
            [1.0; 2]
        }
    }
}

/// Reads the block through windows from 64 KiB to the whole block.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let rows = cells.each((16..=27).map(|power| 1u64 << power), |&window_bytes| {
        let rates = |reader| -> Result<[f64; 2], ExperimentError> {
            Ok([
                rate_mib_s(&run.profile, Layout::Normal, window_bytes, reader)?,
                rate_mib_s(&run.profile, Layout::Melded, window_bytes, reader)?,
            ])
        };
        Ok(Row {
            window_bytes,
            waiting: rates(Reader::Waiting)?,
            sliding: rates(Reader::Sliding)?,
        })
    });
    rows.then(|rows| Some(outcome(run, &rows).claims(claims(&rows))))
}

fn rate_mib_s(
    profile: &Profile,
    layout: Layout,
    window_bytes: u64,
    reader: Reader,
) -> Result<f64, ExperimentError> {
    let mut device = Device::new(profile)?;
    let directive = layout.directive();
    let tally = reader.read_block(&mut device, directive, BLOCK_BYTES, window_bytes)?;
    Ok(tally.mib_s())
}

fn outcome(run: &Run, rows: &[Row]) -> Outcome {
    let line = |name: &str, value: fn(&Row) -> f64| {
        let points = rows.iter().map(|row| (row.window_bytes as f64, value(row)));
        Line::new(name, points.collect())
    };
    let windows = || size_axis("window", rows.iter().map(|row| row.window_bytes));
    let gain = LineChart {
        title: "Gain of melding".to_owned(),
        x: windows(),
        y: Axis::linear("melded / normal"),
        lines: vec![
            line("waiting reader", |row| row.gains()[0]),
            line("sliding reader", |row| row.gains()[1]),
            Line {
                dashed: true,
                ..line("waiting, by default", |row| row.default_gains()[0])
            },
        ],
    };
    let rate = LineChart {
        title: "Throughput of a waiting reader".to_owned(),
        x: windows(),
        y: Axis::linear("MiB/s"),
        lines: vec![
            line("normal", |row| row.waiting[0]),
            line("melded", |row| row.waiting[1]),
        ],
    };
    let about = format!(
        "One {} block read with a window of bytes outstanding; the waiting reader asks for the next window when all of one \
         has come, the sliding one for the next {} whenever one has come.",
        bytes(BLOCK_BYTES),
        bytes(Reader::PACKET_BYTES)
    );
    run.report(about)
        .published(format!("Arpith K, K. Gopinath: {PAPER}: melding loses at 1 MiB and below, wins at 2 MiB and above, and gains 1.41 on 128 MiB"))
        .published("HDFS defaults: packets of 64 KiB, 4 MiB of read-ahead, blocks of 128 MiB")
        .fitted("the read timing, by the cells of melded-latency and melded-throughput")
        .assumed("by default the directive is given to readers whose window reaches 2 MiB, as the DataNode plugin does with its window of 16 MiB")
        .assumed("partial reads of a melded wordline sense single pages when that is cheaper")
        .sheet(
            Sheet::of("windows", rows)
                .bytes("window_bytes", "window", |row| row.window_bytes)
                .number("waiting_normal_mib_s", "waiting: normal MiB/s", 1, |row| row.waiting[0])
                .number("waiting_melded_mib_s", "melded", 1, |row| row.waiting[1])
                .number("waiting_gain", "gain", 3, |row| row.gains()[0])
                .number("waiting_default_gain", "gain by default", 3, |row| row.default_gains()[0])
                .number("sliding_normal_mib_s", "sliding: normal MiB/s", 1, |row| row.sliding[0])
                .number("sliding_melded_mib_s", "melded", 1, |row| row.sliding[1])
                .number("sliding_gain", "gain", 3, |row| row.gains()[1])
                .number("sliding_default_gain", "gain by default", 3, |row| row.default_gains()[1]),
        )
        .figure(
            gain,
            "Melded data read with a small window is slower: a third as many dies work. Use the directive for readers with a large window.",
        )
        .figure(rate, "A larger window keeps more dies busy. Once all are, the sensing time is the limit.")
}

fn claims(rows: &[Row]) -> [Claim; 4] {
    let small = || {
        rows.iter()
            .filter(|row| row.window_bytes < NO_GAIN_BELOW_BYTES)
    };
    let small_most = small().flat_map(Row::gains).fold(0.0, f64::max);
    let off = small()
        .flat_map(Row::default_gains)
        .map(|gain| (gain - 1.0).abs());
    let default_most = off.fold(0.0, f64::max);
    let defaults = rows.iter().flat_map(Row::default_gains);
    let default_least = defaults.fold(f64::MAX, f64::min);
    let large = rows
        .iter()
        .filter(|row| row.window_bytes >= CROSSOVER_BYTES);
    let large: Vec<f64> = large.map(|row| row.gains()[0]).collect();
    let first = large.first().copied().unwrap_or(f64::NAN);
    let last = large.last().copied().unwrap_or(f64::NAN);
    [
        Claim::published("melding-window.small")
            .statement("nothing is gained with less than 1 MiB outstanding")
            .expected("about zero")
            .measured(format!(
                "{:+.1} % by default, x{small_most:.2} at best when melded all the same",
                100.0 * default_most
            ))
            .holds(
                format!(
                    "it is within {:.0} % by default, and melded at most x{:.2}",
                    100.0 * ABOUT,
                    1.0 + ABOUT
                ),
                default_most <= ABOUT && small_most <= 1.0 + ABOUT,
            ),
        Claim::assumed("melding-window.never-lose")
            .statement("a reader of the default layout never loses, whatever its window")
            .expected("never lose")
            .measured(format!("x{default_least:.3} at worst"))
            .holds("it is at least x1", default_least >= 1.0),
        Claim::published("melding-window.growth")
            .statement("the gain grows with the window from 2 MiB on (waiting reader)")
            .expected("growing above 2 MiB")
            .measured(format!("x{first:.2} at 2 MiB to x{last:.2} at 128 MiB"))
            .holds(
                "it is above x1 and grows with each doubling",
                first > 1.0 && large.is_sorted_by(|a, b| a < b),
            ),
        Claim::published("melding-window.block")
            .statement("the gain on a whole 128 MiB block")
            .expected("x1.41")
            .measured(format!("x{last:.3}"))
            .holds(
                "they are equal after truncation to two digits",
                (last * 100.0).trunc() == (BLOCK_GAIN * 100.0).round(),
            ),
    ]
}
