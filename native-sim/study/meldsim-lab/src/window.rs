//! `melding-window`: what melding gains a reader of one block, by the bytes outstanding.
//!
//! ```text
//!   waiting reader:  |== window ==|  |== window ==|     the next window is requested when all of one has come
//!   sliding reader:  |== window ==>                     a packet is requested whenever one has come
//! ```

use super::melded::{DEVICE, PAPER, latency_cells};
use crate::prelude::*;
use meldsim::device::Device;
use meldsim::profile::{MeldedPartialRead, Profile};
use meldsim_host::Reader;

pub(super) const MELDING_WINDOW: Experiment = Experiment {
    name: "melding-window",
    about: "Gain of melding by the bytes that a reader of one 128 MiB block keeps outstanding",
    paper: PAPER,
    profile: "melded-tlc-8x8",
    request_unit: Some(64 << 10),
    plan,
    ..Experiment::DEFAULT
};

/// An HDFS block.
const BLOCK_BYTES: u64 = 128 << 20;
/// From here on melded reads win, published; a host that knows its window gives the directive from here on.
const CROSSOVER_BYTES: u64 = 2 << 20;
/// The gain of a whole block, published, cut after two digits.
const BLOCK_GAIN: f64 = 1.41;
/// The windows of the published latencies at which melding loses.
const LOSING: [u64; 5] = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// One window.
struct OrderRow {
    window_bytes: u64,
    /// Normal and melded, MiB/s.
    waiting: [f64; 2],
    sliding: [f64; 2],
    /// Written as the default rule says: waiting and sliding.
    by_default: [f64; 2],
    /// Of the waiting reader where a part of a wordline is read whole, as in the published cells.
    whole_wordlines: [f64; 2],
}

impl OrderRow {
    fn gain(rates: [f64; 2]) -> f64 {
        rates[1] / rates[0]
    }

    fn gains(&self) -> [f64; 2] {
        [OrderRow::gain(self.waiting), OrderRow::gain(self.sliding)]
    }

    fn default_gains(&self) -> [f64; 2] {
        let [waiting, sliding] = self.by_default;
        [waiting / self.waiting[0], sliding / self.sliding[0]]
    }
}

/// How a host that knows its window has the block written.
fn default_layout(window_bytes: u64) -> Layout {
    match window_bytes >= CROSSOVER_BYTES {
        true => Layout::Melded,
        false => Layout::Normal,
    }
}

/// The loss of one burst of a size, by the published latencies: normal over melded.
fn published_gain(request_bytes: u64) -> Option<f64> {
    let [_, normal, melded] = latency_cells().find(|[bytes, ..]| *bytes == request_bytes)?;
    Some(normal as f64 / melded as f64)
}

/// Reads the block through windows from 64 KiB to the whole block.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let mut whole = run.profile.clone();
    whole.ftl.melded_partial_read = MeldedPartialRead::WholeWordline;
    let windows = (16..=27).map(|power| 1u64 << power);
    let rows = cells.each(windows, move |&window_bytes| {
        let rate = |profile, layout, reader| rate_mib_s(profile, layout, window_bytes, reader);
        let rates = |profile, reader| -> Result<[f64; 2]> {
            Ok([
                rate(profile, Layout::Normal, reader)?,
                rate(profile, Layout::Melded, reader)?,
            ])
        };
        let default = default_layout(window_bytes);
        Ok(OrderRow {
            window_bytes,
            waiting: rates(&run.profile, Reader::Waiting)?,
            sliding: rates(&run.profile, Reader::Sliding)?,
            by_default: [
                rate(&run.profile, default, Reader::Waiting)?,
                rate(&run.profile, default, Reader::Sliding)?,
            ],
            whole_wordlines: rates(&whole, Reader::Waiting)?,
        })
    });
    rows.then(|rows| Some(outcome(run, &rows).claims(claims(&rows))))
}

fn rate_mib_s(profile: &Profile, layout: Layout, window_bytes: u64, reader: Reader) -> Result<f64> {
    let mut device = Device::new(profile)?;
    let directive = layout.directive();
    let tally = reader.read_block(&mut device, directive, BLOCK_BYTES, window_bytes)?;
    Ok(tally.bandwidth_mib_s().unwrap_or(f64::NAN))
}

fn outcome(run: &Run, rows: &[OrderRow]) -> Outcome {
    let line = |name: &str, value: fn(&OrderRow) -> f64| {
        Line::over(name, rows, |row| (row.window_bytes as f64, value(row)))
    };
    let windows = || size_axis("window", rows.iter().map(|row| row.window_bytes));
    let gain = LineChart {
        title: "Gain of melding".to_owned(),
        x: windows(),
        y: Axis::linear("melded / normal"),
        lines: vec![
            line("waiting reader", |row| row.gains()[0]),
            line("sliding reader", |row| row.gains()[1]),
            line("waiting, by default", |row| row.default_gains()[0]).dashed(),
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
        .fitted("the read timing, to the cells of melded-latency and melded-throughput")
        .assumed("a reader whose window is 2 MiB or more gets the directive, as with the DataNode plugin and its window of 16 MiB")
        .assumed("partial reads of a melded wordline sense single pages when that is cheaper")
        .sheet(
            Sheet::of("windows", rows)
                .bytes("window_bytes", "window", |row| row.window_bytes)
                .number("waiting_normal_mib_s", "waiting: normal MiB/s", 1, |row| row.waiting[0])
                .number("waiting_melded_mib_s", "melded", 1, |row| row.waiting[1])
                .number("waiting_gain", "gain", 3, |row| row.gains()[0])
                .number("waiting_default_gain", "gain by default", 3, |row| row.default_gains()[0])
                .number("whole_wordlines_gain", "gain, whole wordlines", 3, |row| OrderRow::gain(row.whole_wordlines))
                .number("published_gain", "of one burst, published", 3, |row| published_gain(row.window_bytes))
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

fn claims(rows: &[OrderRow]) -> [Claim; 4] {
    const AS_A_READER: &str =
        "the constants were fitted to single bursts at rest, not to a reader of a block by windows";
    let defaults = rows.iter().flat_map(OrderRow::default_gains);
    let default_least = defaults.fold(f64::MAX, f64::min);
    let large = rows
        .iter()
        .filter(|row| row.window_bytes >= CROSSOVER_BYTES);
    let large: Vec<f64> = large.map(|row| row.gains()[0]).collect();
    let first = large.first().copied().unwrap_or(f64::NAN);
    let last = large.last().copied().unwrap_or(f64::NAN);
    [
        small(rows, AS_A_READER),
        Claim::construction(
            "melding-window.never-lose",
            "below 2 MiB outstanding the rule has the block written as without it, from there on melding gains",
        )
        .statement("a reader of the default layout never loses, whatever its window")
        .expected("never lose")
        .measured(format!("x{default_least:.3} at worst"))
        .when(Bound::Own, "it is at least x1").holds(default_least >= 1.0),
        Claim::predicted("melding-window.growth", AS_A_READER)
            .statement("the gain grows with the window from 2 MiB on (waiting reader)")
            .expected("growing above 2 MiB")
            .measured(format!("x{first:.2} at 2 MiB to x{last:.2} at 128 MiB"))
            .when(Bound::Published, "it is above x1 and grows with each doubling").holds(first > 1.0 && large.is_sorted_by(|a, b| a < b))
            .fails_with(Change::percent(DEVICE, "timing.melded_read", 25)),
        Claim::fitted(
            "melding-window.block",
            "it is the last of the 32 latencies that the bus was fitted to",
        )
        .statement("the gain on a whole 128 MiB block")
        .expected("x1.41")
        .measured(format!("x{last:.3}"))
        .when(Bound::Digits, "they are equal after truncation to two digits").holds((last * 100.0).trunc() == (BLOCK_GAIN * 100.0).round())
        .fails_with(Change::percent(DEVICE, "timing.melded_read", 2)),
    ]
}

/// Below the crossover the published latencies show a loss.
fn small(rows: &[OrderRow], rests_on: &'static str) -> Claim {
    let of = |size: &u64| {
        let row = rows.iter().find(|row| row.window_bytes == *size)?;
        Some((OrderRow::gain(row.whole_wordlines), published_gain(*size)?))
    };
    let pairs: Vec<(f64, f64)> = LOSING.iter().filter_map(of).collect();
    let listed = |values: &mut dyn Iterator<Item = f64>| {
        let texts: Vec<String> = values.map(|gain| format!("{gain:.2}")).collect();
        format!("x{}", texts.join(" / "))
    };
    // A burst at the start of the data reads only the fastest pages of normal wordlines, and so loses most by melding.
    let loses = pairs
        .iter()
        .all(|(gain, published)| (*published..1.0).contains(gain));
    Claim::predicted("melding-window.small", rests_on)
        .statement("melded, a waiting reader with 64 KiB to 1 MiB outstanding loses, at most what a burst of that size at the start of the data loses (wordlines read whole)")
        .expected(listed(&mut pairs.iter().map(|pair| pair.1)) + " of a burst")
        .measured(listed(&mut pairs.iter().map(|pair| pair.0)))
        .when(Bound::Own, "each is below x1, and not below that of a burst").holds(loses && pairs.len() == LOSING.len())
        .fails_with(Change::percent(DEVICE, "timing.melded_read", -25))
}
