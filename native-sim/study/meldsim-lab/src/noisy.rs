//! `noisy-neighbor`: NVM sets, after Seagate's and Facebook's I/O determinism (FMS 2017).
//!
//! ```text
//!             channels 0  1 | 2  3 | 4  5 | 6  7
//!   baseline           all namespaces on all dies
//!   vertical           s0   | s1   | s2   | s3        own channels
//!   horizontal         s0, s1, s2, s3: own dies on every channel
//!   mixed              s0 s1       | s2 s3            own dies on the channels of a group
//! ```

use crate::prelude::*;
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::{Directive, NamespaceId};
use meldsim::profile::{ByteSize, Profile, SetLayout};
use meldsim_host::{Access, Source, Until, WarmUp, measure};
use meldsim_stats::LatencySummary;

pub(super) const NOISY_NEIGHBOR: Experiment = Experiment {
    name: "noisy-neighbor",
    about: "Reads of one NVM set beside a writer on another, under four layouts of the sets",
    paper: PAPER,
    profile: "nvmset-2tb",
    options: Options::Scale,
    plan,
    ..Experiment::DEFAULT
};

pub(super) const PAPER: &str = "Seagate and Facebook on I/O determinism (Flash Memory Summit 2017)";
/// Namespaces, one for each set.
const SETS: u32 = 4;
/// Where the writer is: 32 KiB sequential at queue depth 4 \[P\].
const WRITER: usize = 0;
/// Blocks of a plane at most: the writer begins to collect within seconds.
const BLOCKS: u32 = 64;
/// Cores that all sets share in the variant with firmware \[A\].
const SHARED_CORES: u32 = 2;
/// Channel groups of the mixed layout.
const CHANNEL_GROUPS: u32 = 2;
/// Reads that fill a set's channels when nothing else runs.
const ALONE_DEPTH: u32 = 256;
const ALONE_BYTES: u64 = 128 << 10;

/// How far the reader with the writer may be from the reader without.
const UNDISTURBED: f64 = 0.02;
/// How far the bandwidth of a set alone may be from its share.
const SHARE_TOLERANCE: f64 = 0.02;
/// What "far lower" means at least.
const FAR_LOWER: f64 = 2.0;

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Time before latencies count: the writer has filled the buffer and begun to collect.
    warm_up: Duration,
    /// Time that latencies count.
    counted: Duration,
    /// Points in the picture over time.
    windows: u64,
    /// Requests of a set alone.
    alone_requests: u64,
}

const FULL: Extent = Extent {
    warm_up: Duration::from_ms(8_000),
    counted: Duration::from_ms(4_000),
    windows: 80,
    alone_requests: 20_000,
};

const QUICK: Extent = Extent {
    warm_up: Duration::from_ms(150),
    counted: Duration::from_ms(250),
    windows: 5,
    alone_requests: 3_000,
};

/// Every set on all dies and channels, as without sets.
const NO_SETS: Change = Change::set(
    "nvmset-2tb",
    &[
        "sets.layout=baseline",
        "sets.count=1",
        "sets.channel_groups=1",
    ],
);

/// A DRAM that takes no time: nothing that vertical sets share is in the way of a read.
const NO_SHARED_DRAM: Change = Change::set("nvmset-2tb", &["controller.dram_rate=0B/s"]);

/// The four layouts, in the order of the published table.
const LAYOUTS: [(SetLayout, &str); 4] = [
    (SetLayout::Baseline, "baseline"),
    (SetLayout::Vertical, "vertical"),
    (SetLayout::Horizontal, "horizontal"),
    (SetLayout::Mixed, "mixed"),
];

/// What a window of the picture shows.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    sum_us: f64,
    count: u64,
    max_us: f64,
}

impl Window {
    fn average_us(&self) -> f64 {
        self.sum_us / self.count.max(1) as f64
    }
}

/// The reader's latencies, with or without the writer.
#[derive(Clone, Debug)]
struct Reader {
    latency: LatencySummary,
    iops: f64,
    /// The writer's bandwidth, if there was one.
    writer_mib_s: Option<f64>,
    /// Blocks erased since the device was built.
    erases: u64,
    windows: Vec<Window>,
}

/// One layout.
#[derive(Clone, Debug)]
struct Layout {
    name: &'static str,
    /// Bandwidth of large reads on one set alone.
    alone_mib_s: f64,
    quiet: Reader,
    noisy: Reader,
}

impl Layout {
    /// Without and with the writer.
    fn readers(&self) -> [(&'static str, &Reader); 2] {
        [("without", &self.quiet), ("with", &self.noisy)]
    }
}

/// Simulates the four layouts: a set alone, and the reader without and with the writer.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let extent = run.scale.choose(QUICK, FULL);
    let profiles = LAYOUTS.map(|(layout, _)| run.vary(divided(&run.profile, layout)));
    let profiles: Vec<Profile> = profiles.into_iter().collect::<Result<_, _>>()?;
    let noisy = cells.each(profiles.clone(), move |profile| {
        reader(profile, true, extent)
    });
    let quiet = cells.each(profiles.clone(), move |profile| {
        reader(profile, false, extent)
    });
    let alone = cells.each(profiles, move |profile| alone(profile, extent));
    let sharing = run.vary(shared_cores(&run.profile))?;
    let shared = cells.each([false, true], move |writes| {
        reader(&sharing, *writes, extent)
    });
    Ok(Box::new(move || {
        let readers = quiet.take()?.into_iter().zip(noisy.take()?);
        let measured = LAYOUTS.into_iter().zip(alone.take()?).zip(readers);
        let layout = |(((_, name), alone_mib_s), (quiet, noisy))| Layout {
            name,
            alone_mib_s,
            quiet,
            noisy,
        };
        let layouts: Vec<Layout> = measured.map(layout).collect();
        let shared: [Reader; 2] = shared.take()?.try_into().ok()?;
        let outcome = outcome(run, &layouts, extent);
        Some(figures(outcome, &layouts, extent).claims(claims(&layouts, &shared)))
    }))
}

fn outcome(run: &Run, layouts: &[Layout], extent: Extent) -> Outcome {
    let about = format!(
        "4 KiB random reads at queue depth 8 on one of four namespaces, with and without 32 KiB sequential writes at depth 4 on \
         another, under four layouts; {} ms counted after {} ms.",
        extent.counted.as_us() / 1000,
        extent.warm_up.as_us() / 1000,
    );
    run.report(about)
        .published(format!("{PAPER}: 128 dies on 8 channels, ONFi 400 MT/s, 2 TB of eMLC; the four layouts, the two workloads, reads and writes with the same priority, the cache shared by the sets; with sets the average as expected, \"minimal to no impact\", maxima not"))
        .assumed("page size, planes, block size and the times of eMLC (see the profile)")
        .assumed(format!("{BLOCKS} blocks a plane, so that collection starts within seconds; every namespace was filled in order, and the writer overwrites its own in order, again and again"))
        .assumed("in the mixed layout the reader is on the set that shares the writer's channels")
        .assumed("\"far lower\" is at most half; the bandwidth of a set alone is that of 128 KiB random reads at depth 256")
        .assumed("a 4 KiB read senses a whole page and moves its codeword over the bus")
        .assumed("the sets share the write buffer (sets.write_buffer) and the DRAM (controller.dram_rate), as published; the DRAM's rate is assumed")
        .assumed("each set has its own spare blocks and its own collection")
        .sheet(readers_sheet(layouts))
        .sheet(bandwidths_sheet(layouts))
        .sheet(windows_sheet(layouts))
}

/// The profile with its device divided.
fn divided(base: &Profile, layout: SetLayout) -> Profile {
    let mut profile = base.clone();
    profile.sets.layout = layout;
    (profile.sets.count, profile.sets.channel_groups) = match layout {
        SetLayout::Baseline => (1, 1),
        SetLayout::Mixed => (SETS, CHANNEL_GROUPS),
        _ => (SETS, 1),
    };
    profile.geometry.blocks_per_plane = profile.geometry.blocks_per_plane.min(BLOCKS);
    profile.controller.capacity = ByteSize(0);
    profile
}

/// Vertical sets behind cores that they share: the costs of `deepflash`.
fn shared_cores(base: &Profile) -> Profile {
    let mut profile = divided(base, SetLayout::Vertical);
    profile.firmware.design = meldsim_firmware::register().pipeline;
    profile.firmware.cores = SHARED_CORES;
    profile
}

/// Where the reader is: 4 KiB random at queue depth 8 \[P\]. In the mixed layout on the set that shares the writer's
/// channels, else on the second.
fn reader_of(profile: &Profile) -> usize {
    match profile.sets.layout {
        SetLayout::Mixed => CHANNEL_GROUPS as usize,
        _ => 1,
    }
}

/// A device with its four namespaces, all of them full.
fn device(profile: &Profile) -> Result<(Device, Vec<NamespaceId>)> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let page_bytes = profile.mapping_unit().0;
    let bytes =
        device.stats().capacity_pages / u64::from(SETS) * page_bytes / ALONE_BYTES * ALONE_BYTES;
    let mut namespaces = Vec::new();
    for set in 0..SETS {
        let nvm_set = if profile.sets.count == 1 { 0 } else { set };
        let nsid = device.create_namespace_in(nvm_set, bytes)?;
        device.preload(nsid, 0, bytes / lba_bytes, Directive::NONE)?;
        namespaces.push(nsid);
    }
    Ok((device, namespaces))
}

fn alone(profile: &Profile, extent: Extent) -> Result<f64> {
    let (mut device, namespaces) = device(profile)?;
    let nsid = namespaces[reader_of(profile)];
    let reads = Access::RandomRead.requests(&device, nsid, ALONE_BYTES, 1);
    let until = Until::Requests(extent.alone_requests);
    let tally = Source::new(ALONE_DEPTH, reads).measure(&mut device, WarmUp::NONE, until)?;
    Ok(tally.bandwidth_mib_s().unwrap_or(f64::NAN))
}

fn reader(profile: &Profile, with_writer: bool, extent: Extent) -> Result<Reader> {
    let (mut device, namespaces) = device(profile)?;
    let nsid = namespaces[reader_of(profile)];
    let reads = Access::RandomRead.requests(&device, nsid, 4 << 10, 1);
    let mut sources = vec![Source::new(8u64, reads)];
    if with_writer {
        let writes = Access::SequentialWrite.requests(&device, namespaces[WRITER], 32 << 10, 2);
        sources.push(Source::new(4u64, writes));
    }
    let (warm_up, until) = (WarmUp::Time(extent.warm_up), Until::Time(extent.counted));
    let counted_from = device.now() + extent.warm_up;
    let mut windows = vec![Window::default(); extent.windows as usize];
    let length_ps = (extent.counted.as_ps() / extent.windows).max(1);
    let measured = measure(&mut device, sources, warm_up, until, |_, index, done| {
        if index != 0 {
            return;
        }
        let at = (done.completed - counted_from).as_ps() / length_ps;
        if let Some(window) = windows.get_mut(at as usize) {
            let us = done.latency().as_ps() as f64 / 1e6;
            window.sum_us += us;
            window.count += 1;
            window.max_us = window.max_us.max(us);
        }
    })?;
    let ([read, _], writer) = (&measured.sources[0], measured.sources.get(1));
    Ok(Reader {
        latency: read.summary()?,
        iops: read.iops().unwrap_or(f64::NAN),
        writer_mib_s: writer.and_then(|[_, writes]| writes.bandwidth_mib_s()),
        erases: device.stats().erases,
        windows,
    })
}

fn readers_sheet(layouts: &[Layout]) -> Sheet {
    let rows: Vec<(&str, &str, &Reader)> = layouts
        .iter()
        .flat_map(|layout| {
            layout
                .readers()
                .map(|(writer, reader)| (layout.name, writer, reader))
        })
        .collect();
    Sheet::of("reader", &rows)
        .cell("layout", "layout", |(layout, ..)| *layout)
        .cell("writer", "writer", |(_, writer, _)| *writer)
        .number("read_iops", "read IOPS", 0, |row| row.2.iops)
        .number("average_us", "average us", 1, |row| row.2.latency.mean_us)
        .number("p99_us", "p99 us", 1, |row| row.2.latency.p99_us)
        .number("p99_9_us", "p99.9 us", 1, |row| row.2.latency.p99_9_us)
        .number("max_us", "max us", 1, |row| row.2.latency.max_us)
        .number("writer_mib_s", "writer MiB/s", 0, |row| row.2.writer_mib_s)
        .count("erases", "blocks erased", |row| row.2.erases)
        .into()
}

fn bandwidths_sheet(layouts: &[Layout]) -> Sheet {
    let whole = layouts
        .first()
        .map_or(f64::NAN, |baseline| baseline.alone_mib_s);
    Sheet::of("alone", layouts)
        .cell("layout", "layout", |layout| layout.name)
        .number("mib_s", "one set alone MiB/s", 0, |layout| {
            layout.alone_mib_s
        })
        .number("share", "of the baseline", 3, |layout| {
            layout.alone_mib_s / whole
        })
        .into()
}

fn windows_sheet(layouts: &[Layout]) -> Sheet {
    let mut rows: Vec<(&str, &str, usize, &Window)> = Vec::new();
    for layout in layouts {
        for (writer, reader) in layout.readers() {
            let windows = reader.windows.iter().enumerate();
            rows.extend(windows.map(|(number, window)| (layout.name, writer, number, window)));
        }
    }
    Sheet::of("over_time", &rows)
        .cell("layout", "layout", |(layout, ..)| *layout)
        .cell("writer", "writer", |(_, writer, ..)| *writer)
        .count("window", "window", |(.., number, _)| *number as u64)
        .count("reads", "reads", |row| row.3.count)
        .number("average_us", "average us", 1, |row| row.3.average_us())
        .number("max_us", "max us", 1, |row| row.3.max_us)
        .detail()
        .into()
}

fn figures(outcome: Outcome, layouts: &[Layout], extent: Extent) -> Outcome {
    let p99 = DotPlot::of(
        "p99 of the reader",
        "us",
        ["without the writer", "with the writer"],
        layouts,
        |layout| {
            let p99 = layout.readers().map(|(_, reader)| reader.latency.p99_us);
            (layout.name.to_owned(), p99)
        },
    );
    let alone = DotPlot::of(
        "Bandwidth of one set alone",
        "MiB/s",
        ["128 KiB random reads"],
        layouts,
        |layout| (layout.name.to_owned(), [layout.alone_mib_s]),
    );
    let waits = "In the baseline reads wait for the writer's programs and erases.";
    let longest = over_time(layouts, extent, "Longest", |window| window.max_us);
    let average = over_time(layouts, extent, "Average", Window::average_us);
    outcome
        .figure(longest, waits)
        .figure(average, waits)
        .figure(
            p99,
            "With channels and dies of its own, the reader is not slowed by the writer.",
        )
        .figure(
            alone,
            "Isolation costs throughput: a set has fewer channels than the device.",
        )
}

fn over_time(
    layouts: &[Layout],
    extent: Extent,
    which: &str,
    value: fn(&Window) -> f64,
) -> LineChart {
    let window_ms = extent.counted.as_ps() as f64 / 1e9 / extent.windows as f64;
    let line = |layout: &Layout| {
        let windows = layout.noisy.windows.iter().enumerate();
        Line::over(layout.name, windows, |(number, window)| {
            (number as f64 * window_ms, value(window))
        })
    };
    LineChart {
        title: format!("{which} read of each moment, with the writer"),
        x: Axis::linear("ms"),
        y: Axis::log("us"),
        lines: layouts.iter().map(line).collect(),
    }
}

type Figure = fn(&LatencySummary) -> f64;

/// The latencies that the findings are about.
const FIGURES: [(&str, Figure); 3] = [
    ("average", |latency| latency.mean_us),
    ("p99", |latency| latency.p99_us),
    ("maximum", |latency| latency.max_us),
];

/// `shared`: vertical sets behind shared cores, without and with the writer.
fn claims(layouts: &[Layout], shared: &[Reader; 2]) -> Vec<Claim> {
    let [baseline, vertical, horizontal, mixed] = layouts else {
        return Vec::new();
    };
    let share = |id, layout: &Layout, share: &str, value: f64| {
        let (name, alone, whole) = (layout.name, layout.alone_mib_s, baseline.alone_mib_s);
        let measured = alone / whole;
        Claim::construction(
            id,
            "a set has this share of the channels, and large reads fill channels",
        )
        .statement(format!(
            "bandwidth of one {name} set alone, of the baseline's"
        ))
        .expected(share)
        .measured(format!("{measured:.3}: {alone:.0} of {whole:.0} MiB/s"))
        .when(
            Bound::Own,
            format!("it is within {:.0} % of its share", 100.0 * SHARE_TOLERANCE),
        )
        .holds((measured / value - 1.0).abs() <= SHARE_TOLERANCE)
    };
    vec![
        share("noisy-neighbor.vertical-bandwidth", vertical, "1/4", 0.25),
        share(
            "noisy-neighbor.horizontal-bandwidth",
            horizontal,
            "1/1",
            1.0,
        ),
        share("noisy-neighbor.mixed-bandwidth", mixed, "1/2", 0.5),
        far_lower(baseline, &layouts[1..]),
        undisturbed(vertical),
        maximum(vertical, shared),
    ]
}

fn far_lower(baseline: &Layout, sets: &[Layout]) -> Claim {
    let mut holds = true;
    let mut texts = Vec::new();
    for layout in sets {
        let ratios = FIGURES
            .map(|(_, figure)| figure(&baseline.noisy.latency) / figure(&layout.noisy.latency));
        holds &= ratios.iter().all(|&ratio| ratio >= FAR_LOWER);
        let ratios = ratios.map(|ratio| format!("{ratio:.1}"));
        texts.push(format!("{} x{}", layout.name, ratios.join(" / ")));
    }
    Claim::predicted(
        "noisy-neighbor.far-lower",
        "no number of the source was used beyond those of the device; the source gives no ratio",
    )
    .statement("with the writer, average / p99 / maximum of the baseline against those of sets")
    .expected("huge advantages of sets")
    .measured(texts.join(", "))
    .when(
        Bound::Own,
        format!("each is at least {FAR_LOWER:.0} times as high in the baseline"),
    )
    .holds(holds)
    .fails_with(NO_SETS)
}

/// By what share each figure is higher with the writer, as text, and whether it is the same.
fn changes(quiet: &Reader, noisy: &Reader) -> [(String, bool); 3] {
    FIGURES.map(|(name, figure)| {
        let change = figure(&noisy.latency) / figure(&quiet.latency) - 1.0;
        let text = format!("{name} {:+.2} %", 100.0 * change);
        (text, change.abs() <= UNDISTURBED)
    })
}

fn undisturbed(vertical: &Layout) -> Claim {
    let [(average, is_average), (p99, is_p99), _] = changes(&vertical.quiet, &vertical.noisy);
    Claim::construction(
        "noisy-neighbor.vertical-undisturbed",
        "reader and writer share no channel and no die, and the DRAM that they share is faster than all channels",
    )
    .statement("with vertical sets, average and p99 of reads with the writer against reads without")
    .expected("minimal to no impact")
    .measured(format!("{average}, {p99}"))
    .when(Bound::Own, format!("each is within {:.0} %", 100.0 * UNDISTURBED)).holds(is_average && is_p99)
}

/// The published sets share what these do not.
fn maximum(vertical: &Layout, [quiet, noisy]: &[Reader; 2]) -> Claim {
    let [.., (maximum, is_same)] = changes(&vertical.quiet, &vertical.noisy);
    let [.., (shared, _)] = changes(quiet, noisy);
    Claim::predicted(
        "noisy-neighbor.vertical-maximum",
        "no maximum is published, and none was used; the rate of the shared DRAM is assumed",
    )
    .statement("with vertical sets, the longest read with the writer against that without")
    .expected("longer")
    .measured(format!(
        "{maximum}; behind {SHARED_CORES} shared cores {shared}"
    ))
    .when(Bound::Own, format!("it is longer by more than {:.0} %", 100.0 * UNDISTURBED)).holds(!is_same)
    .fails_with(NO_SHARED_DRAM)
    .missed_because(
        "the DRAM makes a read wait for some microseconds; the longest reads wait for a die for some hundreds",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Profile {
        let mut base = Profile::builtin("nvmset-2tb").unwrap();
        base.geometry.blocks_per_plane = 12;
        base.geometry.wordlines_per_block = 16;
        base
    }

    fn layouts() -> Vec<Layout> {
        let base = base();
        let measured = |(layout, name)| {
            let profile = divided(&base, layout);
            Layout {
                name,
                alone_mib_s: alone(&profile, QUICK).unwrap(),
                quiet: reader(&profile, false, QUICK).unwrap(),
                noisy: reader(&profile, true, QUICK).unwrap(),
            }
        };
        LAYOUTS.map(measured).into()
    }

    fn failing(layouts: &[Layout]) -> Vec<&'static str> {
        let shared = [&layouts[1].quiet, &layouts[1].noisy].map(Reader::clone);
        let claims = claims(layouts, &shared);
        assert_eq!(claims.len(), 6);
        let failed = claims.into_iter().filter(|claim| !claim.holds);
        failed.map(|claim| claim.id).collect()
    }

    #[test]
    fn sets_isolate_as_published_and_a_disturbed_one_is_shown() {
        let mut layouts = layouts();
        // Nothing that the sets share is in the way of the longest read.
        assert_eq!(failing(&layouts), ["noisy-neighbor.vertical-maximum"]);
        assert!(
            layouts[1]
                .noisy
                .windows
                .iter()
                .all(|window| window.count > 0)
        );
        // Vertical sets that share everything.
        let baseline = layouts[0].clone();
        layouts[1].noisy = baseline.noisy;
        layouts[1].alone_mib_s = baseline.alone_mib_s;
        assert_eq!(
            failing(&layouts),
            [
                "noisy-neighbor.vertical-bandwidth",
                "noisy-neighbor.far-lower",
                "noisy-neighbor.vertical-undisturbed",
            ]
        );
    }
}
