//! `palloc`: the 24 page allocations of Jung and Kandemir (HotStorage'12).
//!
//! Random requests of one size in a closed loop, placed statically by the logical page in each of the 24 orders of
//! channel, way, die and plane. The order decides which requests meet on a channel, and which pages of a request can
//! share a transaction of a package:
//!
//! ```text
//!   one request of four pages     channel-first   c0 |-|  c1 |-|  c2 |-|  c3 |-|     four channels busy with it
//!                                 way-first       c0 |-|-|-|-|                       one channel, packages in a pipeline
//!                                 die-first       c0 |====|                          one channel, one transaction
//! ```

use crate::prelude::*;
use meldsim::Duration;
use meldsim::device::{Device, Location, Precondition, Stats};
use meldsim::nvme::Directive;
use meldsim::profile::{ByteSize, Dimension, Issue, PageAllocation, Profile, TransferRate};
use meldsim_host::{Access, Source, Tally, Until, WarmUp};

pub(super) const PALLOC: Experiment = Experiment {
    name: "palloc",
    about: "The 24 page allocations: throughput, latency, utilisation, advanced commands",
    paper: PAPER,
    profile: "palloc-mlc-8x8x2",
    options: Options::Scale,
    plan,
    ..Experiment::DEFAULT
};

const PAPER: &str =
    "\"An Evaluation of Different Page Allocation Strategies on High-Speed SSDs\" (HotStorage'12)";
/// The published queue depth.
const DEPTH: u32 = 32;
/// Bytes that the requests touch: all planes many times over.
const SPAN_BYTES: u64 = 128 << 20;
/// Requests of the unloaded device.
const UNLOADED_REQUESTS: u64 = 64;
const SEED: u64 = 1;
/// Channels busy and time idle, published, and how far off "about" reaches.
const CHANNELS_BUSY: f64 = 0.43;
const IDLE: f64 = 0.80;
const ABOUT: f64 = 0.10;

/// What four findings rest on.
const BY_RULE: &str = "commands.issue, chosen of three rules so that the findings on throughput, commands and use hold";
const OUT_OF_ORDER: Change = Change::set("palloc-mlc-8x8x2", &["commands.issue=out-of-order"]);
/// The other rules of issue.
pub(super) const RULES: [Change; 2] = [
    OUT_OF_ORDER,
    Change::set("palloc-mlc-8x8x2", &["commands.issue=in-order"]),
];
/// One channel, so that no order has more of them at work.
const ONE_CHANNEL: Change = Change::set("palloc-mlc-8x8x2", &["geometry.channels=1"]);

/// The schemes by the dimension that varies fastest.
const GROUPS: [(Dimension, &str); 4] = [
    (Dimension::Channel, "channel-first"),
    (Dimension::Way, "way-first"),
    (Dimension::Die, "die-first"),
    (Dimension::Plane, "plane-first"),
];

/// What is simulated, and how much of it.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Request sizes.
    sizes_kib: &'static [u64],
    /// Pages that the requests of a cell move, about.
    pages: u64,
    /// Requests of a cell at least.
    requests: u64,
}

const FULL: Extent = Extent {
    sizes_kib: &[4, 8, 16, 32, 64, 128, 256],
    pages: 24_000,
    requests: 400,
};

const QUICK: Extent = Extent {
    sizes_kib: &[4, 16, 128],
    pages: 600,
    requests: 100,
};

/// For the comparison of variants.
const SHORT: Extent = Extent {
    pages: 3_000,
    requests: 100,
    ..FULL
};

/// A variant of the device: its name, and what differs.
type Variant = (&'static str, fn(&mut Profile));

const VARIANTS: [Variant; 6] = [
    ("as above", |_| ()),
    ("issue out of order", |profile| {
        profile.commands.issue = Issue::OutOfOrder;
    }),
    ("issue in order", |profile| {
        profile.commands.issue = Issue::InOrder;
    }),
    ("pages of one latency", |profile| {
        profile.timing.read = vec![Duration::from_us(60); 2];
        profile.timing.program_pages = Some(vec![Duration::from_us(800); 2]);
    }),
    ("a bus of 400 MT/s", |profile| {
        profile.bus.rate = TransferRate(400);
    }),
    (COLLECTING, |profile| {
        profile.geometry.blocks_per_plane = SMALL_BLOCKS;
        profile.controller.capacity = ByteSize(0);
    }),
];
/// The variant whose device is full and has been overwritten at random.
const COLLECTING: &str = "full, greedy collection";
const SMALL_BLOCKS: u32 = 24;

/// Simulates all schemes, sizes and directions.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let extent = run.scale.choose(QUICK, FULL);
    let profile = &run.profile;
    let mut all = Vec::new();
    for writes in [false, true] {
        for &kib in extent.sizes_kib {
            all.extend(PageAllocation::ALL.map(|scheme| (scheme, writes, kib << 10)));
        }
    }
    // A quick look is at the device alone.
    let variants = run.scale.choose(&[][..], &VARIANTS[..]);
    let of_variants = variants.iter().map(|(name, change)| {
        let mut variant = profile.clone();
        change(&mut variant);
        let is_full = *name == COLLECTING;
        let measured = cells.each(all.clone(), move |&(scheme, writes, size)| {
            Cell::measure(&variant, scheme, writes, size, SHORT, is_full)
        });
        (*name, measured)
    });
    let of_variants: Vec<_> = of_variants.collect();
    let measured = cells.each(all, move |&(scheme, writes, size)| {
        Cell::measure(profile, scheme, writes, size, extent, false)
    });
    let orders = cells.each(PageAllocation::ALL, |scheme| order(profile, *scheme));
    Ok(Box::new(move || {
        let cells = measured.take()?;
        let variants = of_variants
            .into_iter()
            .map(|(name, cells)| Some((name, cells.take()?)));
        let variants: Vec<(&str, Vec<Cell>)> = variants.collect::<Option<_>>()?;
        let claims = claims(&cells, &orders.take()?, planes(profile));
        let outcome = outcome(run, &cells).sheet(variants_sheet(&variants));
        Some(figures(outcome, &cells).claims(claims))
    }))
}

/// What was measured of a cell. Shares are of 1.
#[derive(Clone, Copy, Debug)]
struct Cell {
    scheme: PageAllocation,
    writes: bool,
    request_bytes: u64,
    iops: f64,
    mean_us: f64,
    p99_us: f64,
    p99_9_us: f64,
    /// Mean latency of a request that is alone on the device.
    unloaded_us: f64,
    channel_busy: f64,
    idle: f64,
    /// Pages by the transaction that moved them: of one plane, of several planes (plane sharing), of several
    /// dies (die interleaving), or multi-plane and interleaved.
    pages: [f64; 4],
}

impl Cell {
    fn measure(
        base: &Profile,
        scheme: PageAllocation,
        writes: bool,
        request_bytes: u64,
        extent: Extent,
        is_full: bool,
    ) -> Result<Cell> {
        let mut profile = base.clone();
        profile.ftl.page_allocation = scheme;
        let request_pages = request_bytes.div_ceil(profile.geometry.page_size.0);
        let requests = (extent.pages / request_pages).max(extent.requests);
        let load = |depth, requests| Load {
            writes,
            request_bytes,
            depth,
            requests,
            is_full,
        };
        let (_, unloaded) = load(1, UNLOADED_REQUESTS).measure(&profile)?;
        let (stats, loaded) = load(DEPTH, requests).measure(&profile)?;
        let quantile_us = |quantile| loaded.latencies().quantile(quantile).as_ps() as f64 / 1e6;
        let share = |busy: u64, parts: u64| busy as f64 / (stats.now_ps as f64 * parts as f64);
        let pages = [
            stats.plain_pages,
            stats.plane_sharing_pages,
            stats.die_interleaving_pages,
            stats.multi_plane_interleaved_pages,
        ];
        let all: u64 = pages.iter().sum();
        Ok(Cell {
            scheme,
            writes,
            request_bytes,
            iops: loaded.iops().unwrap_or(f64::NAN),
            mean_us: loaded.mean_us(),
            p99_us: quantile_us(0.99),
            p99_9_us: quantile_us(0.999),
            unloaded_us: unloaded.mean_us(),
            channel_busy: share(stats.channel_busy_ps, stats.channels),
            idle: 1.0 - share(stats.die_busy_ps, stats.dies),
            pages: pages.map(|pages| pages as f64 / all.max(1) as f64),
        })
    }

    fn direction(&self) -> &'static str {
        direction(self.writes)
    }

    /// Share of the pages that an advanced command moved.
    fn advanced(&self) -> f64 {
        1.0 - self.pages[0]
    }
}

/// Random requests in a closed loop.
#[derive(Clone, Copy, Debug)]
struct Load {
    writes: bool,
    request_bytes: u64,
    depth: u32,
    requests: u64,
    /// The device is full and has been overwritten at random, so that it collects; else all of it but the span is empty.
    is_full: bool,
}

impl Load {
    fn measure(&self, profile: &Profile) -> Result<(Stats, Tally)> {
        let mut device = Device::new(profile)?;
        let nsid = match self.is_full {
            true => {
                let bytes = device.set_capacity_bytes(0);
                // Whole requests of every size.
                let nsid = device.create_namespace(bytes / SPAN_BYTES * SPAN_BYTES)?;
                device.precondition(&Precondition::default())?;
                nsid
            }
            false => device.create_namespace(SPAN_BYTES)?,
        };
        if !self.writes && !self.is_full {
            let lbas = SPAN_BYTES / profile.controller.lba_size.0;
            device.preload(nsid, 0, lbas, Directive::NONE)?;
        }
        let access = match self.writes {
            true => Access::RandomWrite,
            false => Access::RandomRead,
        };
        let commands = access.requests(&device, nsid, self.request_bytes, SEED);
        let until = Until::Requests(self.requests);
        let tally = Source::new(self.depth, commands).measure(&mut device, WarmUp::NONE, until)?;
        Ok((device.stats(), tally))
    }
}

/// Channel, die and plane.
type Plane = (u32, u32, u32);

fn planes(profile: &Profile) -> u64 {
    let geometry = &profile.geometry;
    u64::from(geometry.channels * geometry.dies_per_channel * geometry.planes_per_die)
}

/// The plane of each page when there is one for each plane.
fn order(base: &Profile, scheme: PageAllocation) -> Result<Vec<Plane>> {
    let mut profile = base.clone();
    profile.ftl.page_allocation = scheme;
    let pages = planes(&profile);
    let lbas_per_page = (profile.geometry.page_size.0 / profile.controller.lba_size.0).max(1);
    let mut device = Device::new(&profile)?;
    let nsid = device.create_namespace(pages * profile.geometry.page_size.0)?;
    device.preload(nsid, 0, pages * lbas_per_page, Directive::NONE)?;
    let mut order = Vec::new();
    for page in 0..pages {
        if let Location::Flash {
            channel,
            die,
            plane,
            ..
        } = device.locate(nsid, page * lbas_per_page)?
        {
            order.push((channel, die, plane));
        }
    }
    Ok(order)
}

fn outcome(run: &Run, cells: &[Cell]) -> Outcome {
    let about = format!(
        "Random reads and writes of 4 to 256 KiB at queue depth {DEPTH}, placed by each of the 24 orders of channel, way, \
         die and plane."
    );
    run.report(about)
        .published(format!("M. Jung, M. Kandemir: {PAPER}: 8 channels x 8 packages of two dies, a queue of 32, page-level mapping, greedy collection, a bus of 40 MB/s, and the five findings below"))
        .assumed("two planes, pages of 2 KiB and the times of an MLC part of that bus, which differ by page (see the profile): not published")
        .fitted(
            "the rule of issue: a channel serves one request at a time, in order of arrival; a package runs one transaction, made of that request's \
             pages. Of three rules the findings on throughput hold under this one; sheet variants shows the others",
        )
        .assumed(
            "latency is that of a request alone on the device. At a full queue it is the inverse of the throughput (Little's law), \
             and the two findings would contradict each other",
        )
        .assumed("requests are random and aligned to their size; all sizes and both directions count alike. The paper averages over its own workloads, which are not public")
        .assumed("a write completes when it is on flash; the device has nothing to collect; sheet variants has one that collects. Idle: the mean share of time in which a die does nothing")
        .sheet(groups_sheet(cells))
        .sheet(schemes_sheet(cells))
        .sheet(cells_sheet(cells))
}

fn direction(writes: bool) -> &'static str {
    if writes { "write" } else { "read" }
}

/// A share of a cell as a column in percent: its key, its heading, and the share.
type Share = (&'static str, &'static str, fn(&Cell) -> f64);

const CHANNELS_SHARE: Share = ("channel_busy_percent", "channels busy %", |cell| {
    cell.channel_busy
});
const IDLE_SHARE: Share = ("idle_percent", "dies idle %", |cell| cell.idle);
/// What was busy, and what moved the pages.
const SHARES: [Share; 6] = [
    CHANNELS_SHARE,
    IDLE_SHARE,
    ("none_percent", "none %", |cell| cell.pages[0]),
    ("plane_sharing_percent", "plane sharing %", |cell| {
        cell.pages[1]
    }),
    ("die_interleaving_percent", "die interleaving %", |cell| {
        cell.pages[2]
    }),
    (
        "multi_plane_interleaved_percent",
        "multi-plane interleaved %",
        |cell| cell.pages[3],
    ),
];

/// Adds shares, each as the mean of a row's cells.
fn shares<'b, R>(
    columns: Columns<'b, R>,
    shares: &[Share],
    mean: impl Fn(&R, fn(&Cell) -> f64) -> f64,
) -> Columns<'b, R> {
    shares
        .iter()
        .fold(columns, |columns, (key, heading, share)| {
            columns.number(key, heading, 1, |row| 100.0 * mean(row, *share))
        })
}

/// The means of the six schemes of each group.
fn groups_sheet(cells: &[Cell]) -> Sheet {
    let rows: Vec<(&[Cell], Dimension, &str)> = by_request(cells)
        .flat_map(|request| GROUPS.map(|(group, name)| (request, group, name)))
        .collect();
    type Row<'a> = (&'a [Cell], Dimension, &'a str);
    fn of(value: fn(&Cell) -> f64) -> impl Fn(&Row<'_>) -> f64 {
        move |(request, group, _)| mean(request, *group, value)
    }
    let columns = Sheet::of("groups", &rows)
        .cell("op", "op", |(request, ..)| request[0].direction())
        .bytes("request_bytes", "request", |(request, ..)| {
            request[0].request_bytes
        })
        .cell("first", "schemes", |(_, _, name)| *name)
        .number("iops", "IOPS", 0, of(|cell| cell.iops))
        .number("mean_us", "mean us", 0, of(|cell| cell.mean_us))
        .number("p99_us", "p99 us", 0, of(|cell| cell.p99_us))
        .number("unloaded_us", "alone us", 0, of(|cell| cell.unloaded_us));
    let advanced: Share = ("advanced_percent", "advanced %", Cell::advanced);
    let of_groups = [CHANNELS_SHARE, IDLE_SHARE, advanced];
    shares(columns, &of_groups, |(request, group, _), share| {
        mean(request, *group, share)
    })
    .into()
}

/// The cells of a scheme in one direction, by size.
fn of_scheme(cells: &[Cell], scheme: PageAllocation, writes: bool) -> Vec<&Cell> {
    let of = cells
        .iter()
        .filter(|cell| cell.writes == writes && cell.scheme == scheme);
    of.collect()
}

/// The cells of a scheme beside those of CWDP.
fn beside_default(
    cells: &[Cell],
    scheme: PageAllocation,
    writes: bool,
) -> impl Iterator<Item = (&Cell, &Cell)> {
    let default = of_scheme(cells, PageAllocation::default(), writes);
    of_scheme(cells, scheme, writes).into_iter().zip(default)
}

/// Each scheme over all sizes, of each direction and of both: the mean over what was run.
fn schemes_sheet(cells: &[Cell]) -> Sheet {
    type Row = (Option<bool>, PageAllocation);
    let rows: Vec<Row> = [Some(false), Some(true), None]
        .into_iter()
        .flat_map(|writes| PageAllocation::ALL.map(|scheme| (writes, scheme)))
        .collect();
    let directions = |writes: Option<bool>| match writes {
        Some(writes) => vec![writes],
        None => vec![false, true],
    };
    let ratio = |value: fn(&Cell) -> f64| {
        move |&(writes, scheme): &Row| {
            let pairs = directions(writes)
                .into_iter()
                .flat_map(|writes| beside_default(cells, scheme, writes));
            let logs: Vec<f64> = pairs
                .map(|(cell, default)| libm::log(value(cell) / value(default)))
                .collect();
            libm::exp(logs.iter().sum::<f64>() / logs.len() as f64)
        }
    };
    let columns = Sheet::of("schemes", &rows)
        .cell("op", "op", |(writes, _)| writes.map_or("mean", direction))
        .cell("scheme", "scheme", |(_, scheme)| scheme.to_string())
        .number("iops_ratio", "IOPS / CWDP", 3, ratio(|cell| cell.iops))
        .number(
            "unloaded_ratio",
            "alone / CWDP",
            3,
            ratio(|cell| cell.unloaded_us),
        );
    shares(columns, &SHARES, |(writes, scheme), share| {
        let directions = directions(*writes).into_iter();
        average(
            directions.flat_map(|writes| of_scheme(cells, *scheme, writes)),
            share,
        )
    })
    .into()
}

/// Which findings hold on which variant of the device.
fn variants_sheet(variants: &[(&str, Vec<Cell>)]) -> Sheet {
    let higher = |cells: &[Cell]| against_channel_first(cells, |cell| cell.iops, |r| r > 1.0);
    let longer =
        |cells: &[Cell]| against_channel_first(cells, |cell| cell.unloaded_us, |r| r > 1.0);
    let columns = Sheet::of("variants", variants)
        .cell("variant", "variant", |(name, _)| *name)
        .count("higher", "higher IOPS", |(_, cells)| {
            higher(cells).good as u64
        })
        .count("longer", "longer alone", |(_, cells)| {
            longer(cells).good as u64
        })
        .count("orderings", "of", |(_, cells)| higher(cells).all as u64)
        .cell("fewest", "fewest advanced", |(_, cells)| {
            if fewest(cells) { "yes" } else { "no" }
        });
    shares(columns, &SHARES[..2], |(_, cells), share| {
        average(cells, share)
    })
    .into()
}

fn average<'a>(cells: impl IntoIterator<Item = &'a Cell>, value: impl Fn(&Cell) -> f64) -> f64 {
    let (sum, count) = cells.into_iter().fold((0.0, 0u64), |(sum, count), cell| {
        (sum + value(cell), count + 1)
    });
    sum / count as f64
}

/// Whether channel-first composes no more advanced commands than any other group, for each size and direction.
fn fewest(cells: &[Cell]) -> bool {
    by_request(cells).all(|request| {
        let of = |group| mean(request, group, Cell::advanced);
        let others = &GROUPS[1..];
        others
            .iter()
            .all(|(group, _)| of(Dimension::Channel) <= of(*group))
    })
}

/// Everything that was measured.
fn cells_sheet(cells: &[Cell]) -> Sheet {
    let rows: Vec<&Cell> = cells.iter().collect();
    let columns = Sheet::of("cells", &rows)
        .cell("op", "op", |cell| cell.direction())
        .bytes("request_bytes", "request", |cell| cell.request_bytes)
        .cell("scheme", "scheme", |cell| cell.scheme.to_string())
        .number("iops", "IOPS", 0, |cell| cell.iops)
        .number("mean_us", "mean us", 1, |cell| cell.mean_us)
        .number("p99_us", "p99 us", 1, |cell| cell.p99_us)
        .number("p99_9_us", "p99.9 us", 1, |cell| cell.p99_9_us)
        .number("unloaded_us", "alone us", 1, |cell| cell.unloaded_us)
        .detail();
    shares(columns, &SHARES, |cell, share| share(cell)).into()
}

fn figures(mut outcome: Outcome, cells: &[Cell]) -> Outcome {
    for writes in [false, true] {
        outcome = outcome
            .figure(
                throughput_map(cells, writes),
                "Channel-first spreads each request over all channels, which then serve few requests at a time.",
            )
            .figure(
                transactions_map(cells, writes),
                "Dies or planes first: small requests already use a package's dies and planes at once.",
            );
    }
    outcome.figure(
        latency_chart(cells),
        "Alone, a request is fastest when every channel carries a part of it.",
    )
}

/// IOPS of each scheme and size over those of CWDP.
fn throughput_map(cells: &[Cell], writes: bool) -> HeatMap {
    let base = PageAllocation::default();
    let rows = PageAllocation::ALL.map(|scheme| {
        let gains = beside_default(cells, scheme, writes);
        let gains = gains.map(|(cell, base)| Some(cell.iops / base.iops));
        (scheme.to_string(), gains.collect::<Vec<_>>())
    });
    let gains = rows.iter().flat_map(|(_, gains)| gains).flatten();
    let most = gains.copied().fold(0.0, f64::max);
    let sizes = of_scheme(cells, base, writes).into_iter();
    HeatMap {
        title: format!("IOPS over those of {base}, {}s", direction(writes)),
        x: "request".to_owned(),
        y: "scheme".to_owned(),
        columns: sizes.map(|cell| bytes(cell.request_bytes)).collect(),
        rows: rows.into(),
        scale: HeatScale::Sequential(most),
    }
}

/// By which transactions the pages of each scheme were moved.
fn transactions_map(cells: &[Cell], writes: bool) -> HeatMap {
    let rows = PageAllocation::ALL.map(|scheme| {
        let of = of_scheme(cells, scheme, writes);
        let share = |kind: usize| {
            let sum: f64 = of.iter().map(|cell| cell.pages[kind]).sum();
            Some(100.0 * sum / of.len() as f64)
        };
        (scheme.to_string(), (0..4).map(share).collect())
    });
    let columns = ["none", "plane sharing", "die interl.", "plane and die"];
    HeatMap {
        title: format!("Pages by transaction, {}s, %", direction(writes)),
        x: "parallelism within a package".to_owned(),
        y: "scheme".to_owned(),
        columns: columns.map(str::to_owned).into(),
        rows: rows.into(),
        scale: HeatScale::Sequential(100.0),
    }
}

fn latency_chart(cells: &[Cell]) -> LineChart {
    let reads = by_request(cells).filter(|request| !request[0].writes);
    let reads: Vec<(u64, &[Cell])> = reads
        .map(|request| (request[0].request_bytes, request))
        .collect();
    let lines = GROUPS.map(|(group, name)| {
        let unloaded_us = |request| mean(request, group, |cell| cell.unloaded_us);
        Line::over(name, &reads, |(size, request)| {
            (*size as f64, unloaded_us(request))
        })
    });
    LineChart {
        title: "Latency of a read alone on the device".to_owned(),
        x: size_axis("request", reads.iter().map(|(size, _)| *size)),
        y: Axis::log("us"),
        lines: lines.into(),
    }
}

/// The mean of `value` over the schemes of a group.
fn mean(cells: &[Cell], group: Dimension, value: impl Fn(&Cell) -> f64) -> f64 {
    let of_group = cells.iter().filter(|cell| cell.scheme.order()[0] == group);
    average(of_group, value)
}

/// The cells of each direction and size.
fn by_request(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| (a.writes, a.request_bytes) == (b.writes, b.request_bytes))
}

/// The least and the greatest ratio of each other group to channel-first, and how many ratios satisfy `good`.
struct Against {
    texts: Vec<String>,
    good: usize,
    all: usize,
}

fn against_channel_first(
    cells: &[Cell],
    value: impl Fn(&Cell) -> f64 + Copy,
    good: impl Fn(f64) -> bool,
) -> Against {
    let mut against = Against {
        texts: Vec::new(),
        good: 0,
        all: 0,
    };
    for (group, name) in &GROUPS[1..] {
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for request in by_request(cells) {
            let ratio = mean(request, *group, value) / mean(request, Dimension::Channel, value);
            range = (range.0.min(ratio), range.1.max(ratio));
            against.all += 1;
            against.good += usize::from(good(ratio));
        }
        against
            .texts
            .push(format!("{name} x{:.3} to x{:.2}", range.0, range.1));
    }
    against
}

/// `orders`: the planes of consecutive pages under each scheme.
fn claims(cells: &[Cell], orders: &[Vec<Plane>], planes: u64) -> [Claim; 6] {
    let sizes = || cells.iter().map(|cell| cell.request_bytes);
    let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
    let range = format!("{} to {} reads and writes", bytes(least), bytes(most));
    let bijections = bijections(orders, planes);
    let iops = against_channel_first(cells, |cell| cell.iops, |ratio| ratio > 1.0);
    let latency = against_channel_first(cells, |cell| cell.unloaded_us, |ratio| ratio > 1.0);
    let shares = GROUPS.map(|(group, name)| {
        let share = mean(cells, group, Cell::advanced);
        format!("{name} {:.0} %", 100.0 * share)
    });
    let busy = average(cells, |cell| cell.channel_busy);
    let idle = average(cells, |cell| cell.idle);
    let about = |published: f64| {
        format!(
            "it is within {:.0} points of {:.0} %",
            100.0 * ABOUT,
            100.0 * published
        )
    };
    [
        Claim::construction("palloc.bijections", "an order of four dimensions is a mixed radix")
            .statement("each of the 24 orders places consecutive pages on all planes, no two in the same way")
            .expected("24 bijections")
            .measured(format!("{bijections} different orders, each of {planes} planes"))
            .when(Bound::Published, "24 orders hit every plane once and differ").holds(bijections == PageAllocation::ALL.len()),
        Claim::fitted("palloc.throughput", BY_RULE)
            .statement(format!(
                "way-, die- and plane-first have higher IOPS than channel-first at queue depth {DEPTH}, {range}"
            ))
            .expected("higher")
            .measured(format!("{}; {} of {} higher", iops.texts.join(", "), iops.good, iops.all))
            .when(Bound::Published, "the mean of the six schemes is higher for every size and direction").holds(iops.good == iops.all)
            .fails_with(OUT_OF_ORDER),
        Claim::predicted("palloc.latency", "it holds under each rule of issue, and nothing was chosen for it")
            .statement(format!("channel-first has the shortest latency (of a request alone), {range}"))
            .expected("shortest")
            .measured(format!(
                "{}; {} of {} longer",
                latency.texts.join(", "),
                latency.good,
                latency.all
            ))
            .when(Bound::Published, "the mean of the six schemes is shortest for every size and direction").holds(latency.good == latency.all)
            .fails_with(ONE_CHANNEL),
        Claim::fitted("palloc.advanced-commands", BY_RULE)
            .statement("channel-first composes the fewest advanced commands")
            .expected("fewest")
            .measured(format!("{} of the pages", shares.join(", ")))
            .when(Bound::Published, "no group composes fewer for any size and direction").holds(fewest(cells))
            .fails_with(OUT_OF_ORDER),
        Claim::fitted("palloc.channels-busy", BY_RULE)
            .statement("channels are busy on average")
            .expected("about 43 %")
            .measured(format!("{:.1} %", 100.0 * busy))
            .when(Bound::Own, about(CHANNELS_BUSY)).holds((busy - CHANNELS_BUSY).abs() <= ABOUT)
            .fails_with(OUT_OF_ORDER),
        Claim::fitted("palloc.idle", BY_RULE)
            .statement("the flash is idle most of the time")
            .expected("about 80 %")
            .measured(format!("{:.1} % (dies)", 100.0 * idle))
            .when(Bound::Own, about(IDLE)).holds((idle - IDLE).abs() <= ABOUT)
            .fails_with(OUT_OF_ORDER),
    ]
}

/// How many of the orders hit every plane once and differ from those before.
fn bijections(orders: &[Vec<Plane>], planes: u64) -> usize {
    let mut seen: Vec<&Vec<Plane>> = Vec::new();
    for order in orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() as u64 == planes && !seen.contains(&order) {
            seen.push(order);
        }
    }
    seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim_host::all_cores;
    use meldsim_measured::Scale;

    fn quick(profile: Profile) -> Outcome {
        let mut run = Run::new(&PALLOC, profile).unwrap();
        run.scale = Scale::Quick;
        run.outcome(all_cores(), &|_| {}).unwrap()
    }

    fn failing(outcome: &Outcome) -> Vec<&'static str> {
        let claims = outcome.claims.iter().filter(|claim| !claim.holds);
        claims.map(|claim| claim.id).collect()
    }

    fn profile() -> Profile {
        let mut profile = Profile::builtin("palloc-mlc-8x8x2").unwrap();
        profile.geometry.blocks_per_plane = 24;
        profile
    }

    #[test]
    fn the_orderings_hold_and_rest_on_the_order_of_issue() {
        let outcome = quick(profile());
        assert_eq!(failing(&outcome), [""; 0]);
        assert_eq!(outcome.claims.len(), 6);
        // The bus is what limits reads when a channel may work for several requests at once.
        let mut pipelined = profile();
        pipelined.commands.issue = Issue::InOrder;
        let outcome = quick(pipelined);
        assert!(failing(&outcome).contains(&"palloc.throughput"));
    }
}
