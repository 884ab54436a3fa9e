//! `melding-window`: what melding gains a reader of one block, by the bytes that he keeps outstanding.
//!
//! ```text
//!   waiting reader:  |== window ==|  |== window ==|     the next window is asked for when all of one has come
//!   sliding reader:  |== window ==>                     a packet is asked for whenever one has come
//! ```

use super::burst::{ExperimentError, Layout};
use super::claim::{Basis, Claim};
use super::melded::size_axis;
use super::outcome::{Chart, Figure, Grounds, Outcome};
use super::published::SOURCE;
use super::sheet::{Cell, Sheet};
use crate::load::{Loop, Until, WarmUp};
use crate::report::bytes;
use crate::report::chart::{Axis, Line, LineChart};
use meldsim::device::Device;
use meldsim::nvme::Command;
use meldsim::profile::Profile;

const SECTION: u32 = 6;
/// An HDFS block.
const BLOCK_BYTES: u64 = 128 << 20;
/// An HDFS packet: what the sliding reader asks for at a time.
const PACKET_BYTES: u64 = 64 << 10;
/// From here on melded reads win, published; a host that knows its window gives the directive from here on.
const CROSSOVER_BYTES: u64 = 2 << 20;
/// Below this window there is nothing to gain, published.
const NO_GAIN_BELOW_BYTES: u64 = 1 << 20;
/// The gain of a whole block, published, cut after two digits.
const BLOCK_GAIN: f64 = 1.41;
/// What still counts as about zero.
const ABOUT: f64 = 0.05;

/// How a reader keeps its window outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Waiting,
    Sliding,
}

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

/// Runs the experiment on windows from 64 KiB to the whole block.
pub(super) fn melding_window(
    profile: &Profile,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let windows: Vec<u64> = (16..=27).map(|power| 1u64 << power).collect();
    let mut rows = Vec::new();
    for &window_bytes in &windows {
        let rates = |reader| -> Result<[f64; 2], ExperimentError> {
            Ok([
                rate_mib_s(profile, Layout::Normal, window_bytes, reader)?,
                rate_mib_s(profile, Layout::Melded, window_bytes, reader)?,
            ])
        };
        rows.push(Row {
            window_bytes,
            waiting: rates(Reader::Waiting)?,
            sliding: rates(Reader::Sliding)?,
        });
        progress(rows.len() as f64 / windows.len() as f64);
    }
    Ok(Outcome {
        experiment: "melding-window",
        profile: profile.name.clone(),
        about: format!(
            "One {} block read with a window of bytes outstanding; the waiting reader asks for the next window when all of one \
             has come, the sliding one for the next {} whenever one has come.",
            bytes(BLOCK_BYTES),
            bytes(PACKET_BYTES)
        ),
        grounds: Grounds {
            published: vec![
                format!("{SOURCE}: melding loses at 1 MiB and below, wins at 2 MiB and above, and gains 1.41 on 128 MiB"),
                "HDFS defaults: packets of 64 KiB, 4 MiB of read-ahead, blocks of 128 MiB".to_owned(),
            ],
            fitted: vec!["the read timing, by the cells of melded-latency and melded-throughput".to_owned()],
            assumed: vec![
                "by default the directive is given to readers whose window reaches 2 MiB, as the DataNode plugin does with its window of 16 MiB".to_owned(),
                "partial reads of a melded wordline sense single pages when that is cheaper".to_owned(),
            ],
        },
        sheets: vec![sheet(&rows)],
        figures: figures(&rows),
        claims: claims(&rows),
    })
}

fn rate_mib_s(
    profile: &Profile,
    layout: Layout,
    window_bytes: u64,
    reader: Reader,
) -> Result<f64, ExperimentError> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let wordline_bytes = profile.geometry.page_size.0 * profile.timing.read.len() as u64;
    let data_bytes = BLOCK_BYTES.next_multiple_of(wordline_bytes);
    let nsid = device.create_namespace(data_bytes)?;
    device.preload(nsid, 0, data_bytes / lba_bytes, layout.directive())?;
    let (request_bytes, depth) = match reader {
        Reader::Waiting => (window_bytes, 1),
        Reader::Sliding => (PACKET_BYTES, window_bytes / PACKET_BYTES),
    };
    let nlb = request_bytes / lba_bytes;
    let read = |n| Command::read(nsid, n * nlb, nlb as u32, 0);
    let block = Loop::new(depth, (0..BLOCK_BYTES / request_bytes).map(read));
    let tally = block.measure(&mut device, WarmUp::NONE, Until::End)?;
    Ok(tally.mib_s())
}

fn sheet(rows: &[Row]) -> Sheet {
    let mut sheet = Sheet::new(
        "windows",
        &[
            ("window_bytes", "window"),
            ("waiting_normal_mib_s", "waiting: normal MiB/s"),
            ("waiting_melded_mib_s", "melded"),
            ("waiting_gain", "gain"),
            ("waiting_default_gain", "gain by default"),
            ("sliding_normal_mib_s", "sliding: normal MiB/s"),
            ("sliding_melded_mib_s", "melded"),
            ("sliding_gain", "gain"),
            ("sliding_default_gain", "gain by default"),
        ],
    );
    for row in rows {
        let mut cells = vec![Cell::Bytes(row.window_bytes)];
        let readers = [row.waiting, row.sliding]
            .into_iter()
            .zip(row.default_gains());
        for (rates, default_gain) in readers {
            cells.extend(rates.map(|rate| Cell::Number(rate, 1)));
            cells.push(Cell::Number(Row::gain(rates), 3));
            cells.push(Cell::Number(default_gain, 3));
        }
        sheet.row(cells);
    }
    sheet
}

fn figures(rows: &[Row]) -> Vec<Figure> {
    let line = |name: &str, value: &dyn Fn(&Row) -> f64| {
        let points = rows.iter().map(|row| (row.window_bytes as f64, value(row)));
        Line::new(name, points.collect())
    };
    let windows = || size_axis("window", rows.iter().map(|row| row.window_bytes));
    let gain = LineChart {
        title: "Gain of melding".to_owned(),
        x: windows(),
        y: Axis::linear("melded / normal"),
        lines: vec![
            line("waiting reader", &|row| row.gains()[0]),
            line("sliding reader", &|row| row.gains()[1]),
            Line {
                dashed: true,
                ..line("waiting, by default", &|row| row.default_gains()[0])
            },
        ],
    };
    let rate = LineChart {
        title: "Throughput of a waiting reader".to_owned(),
        x: windows(),
        y: Axis::linear("MiB/s"),
        lines: vec![
            line("normal", &|row| row.waiting[0]),
            line("melded", &|row| row.waiting[1]),
        ],
    };
    vec![
        Figure {
            chart: Chart::Line(gain),
            caption: "Melded data read through a small window loses: a third as many dies work. The directive is for readers with a window."
                .to_owned(),
        },
        Figure {
            chart: Chart::Line(rate),
            caption: "The window fills the dies; from there on the senses decide.".to_owned(),
        },
    ]
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let claim =
        |id, basis, statement: &str, published: &str, measured, criterion: String, holds| Claim {
            id,
            section: SECTION,
            basis,
            statement: statement.to_owned(),
            published: published.to_owned(),
            measured,
            criterion,
            holds,
            command: "meldsim experiment melding-window".to_owned(),
        };
    let small = rows
        .iter()
        .filter(|row| row.window_bytes < NO_GAIN_BELOW_BYTES);
    let small_most = small.flat_map(Row::gains).fold(0.0, f64::max);
    let default_least = rows
        .iter()
        .flat_map(Row::default_gains)
        .fold(f64::MAX, f64::min);
    let defaults_small = rows
        .iter()
        .filter(|row| row.window_bytes < NO_GAIN_BELOW_BYTES);
    let default_most = defaults_small
        .flat_map(Row::default_gains)
        .map(|gain| (gain - 1.0).abs())
        .fold(0.0, f64::max);
    let large: Vec<f64> = rows
        .iter()
        .filter(|row| row.window_bytes >= CROSSOVER_BYTES)
        .map(|row| row.gains()[0])
        .collect();
    let (first, last) = (large.first().copied(), large.last().copied());
    let (first, last) = (first.unwrap_or(f64::NAN), last.unwrap_or(f64::NAN));
    vec![
        claim(
            "melding-window.small",
            Basis::Published,
            "nothing is gained with less than 1 MiB outstanding",
            "about zero",
            format!(
                "{:+.1} % by default, x{small_most:.2} at best when melded all the same",
                100.0 * default_most
            ),
            format!(
                "it is within {:.0} % by default, and melded at most x{:.2}",
                100.0 * ABOUT,
                1.0 + ABOUT
            ),
            default_most <= ABOUT && small_most <= 1.0 + ABOUT,
        ),
        claim(
            "melding-window.never-lose",
            Basis::Assumption,
            "a reader of the default layout never loses, whatever his window",
            "never lose",
            format!("x{default_least:.3} at worst"),
            "it is at least x1".to_owned(),
            default_least >= 1.0,
        ),
        claim(
            "melding-window.growth",
            Basis::Published,
            "the gain grows with the window from 2 MiB on (waiting reader)",
            "growing above 2 MiB",
            format!("x{first:.2} at 2 MiB to x{last:.2} at 128 MiB"),
            "it is above x1 and grows with each doubling".to_owned(),
            first > 1.0 && large.is_sorted_by(|a, b| a < b),
        ),
        claim(
            "melding-window.block",
            Basis::Published,
            "the gain on a whole 128 MiB block",
            "x1.41",
            format!("x{last:.3}"),
            "they are equal after truncation to two digits".to_owned(),
            (last * 100.0).trunc() == (BLOCK_GAIN * 100.0).round(),
        ),
    ]
}
