//! `noisy-neighbor`: NVM sets, after Seagate's and Facebook's I/O determinism (FMS 2017).
//!
//! ```text
//!             channels 0  1 | 2  3 | 4  5 | 6  7
//!   baseline           all namespaces on all dies
//!   vertical           s0   | s1   | s2   | s3        own channels
//!   horizontal         s0, s1, s2, s3: own dies on every channel
//!   mixed              s0 s1       | s2 s3            own dies on the channels of a group
//! ```

mod claims;
mod show;

use super::burst::ExperimentError;
use super::effort::Effort;
use super::outcome::{Grounds, Outcome};
use crate::load::{Access, Loop, Tally, Until, WarmUp, measure};
use crate::report::LatencySummary;
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::{Directive, NamespaceId};
use meldsim::profile::{Profile, SetLayout};

const SECTION: u32 = 3;
const SOURCE: &str = "Seagate and Facebook on I/O determinism (Flash Memory Summit 2017)";
/// Namespaces, one for each set.
const SETS: u32 = 4;
/// Where the writer is: 32 KiB sequential at queue depth 4 \[P\].
const WRITER: usize = 0;
/// Blocks of a plane at most: the writer begins to collect within seconds.
const BLOCKS: u32 = 64;
/// Channel groups of the mixed layout.
const CHANNEL_GROUPS: u32 = 2;
/// Reads that fill a set's channels when nothing else runs.
const ALONE_DEPTH: u32 = 256;
const ALONE_BYTES: u64 = 128 << 10;

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Time before latencies count: the writer has filled the buffer and begun to collect.
    warm_up: Duration,
    /// Time that latencies count.
    counted: Duration,
    /// Points in the picture over time.
    windows: u64,
    /// Requests of a set alone.
    alone_requests: u64,
}

const FULL: Scale = Scale {
    warm_up: Duration::from_ms(8_000),
    counted: Duration::from_ms(4_000),
    windows: 80,
    alone_requests: 20_000,
};

const QUICK: Scale = Scale {
    warm_up: Duration::from_ms(150),
    counted: Duration::from_ms(250),
    windows: 5,
    alone_requests: 3_000,
};

/// The four layouts, in the order of the published table.
pub(super) const LAYOUTS: [(SetLayout, &str); 4] = [
    (SetLayout::Baseline, "baseline"),
    (SetLayout::Vertical, "vertical"),
    (SetLayout::Horizontal, "horizontal"),
    (SetLayout::Mixed, "mixed"),
];

/// What a window of the picture shows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    pub(super) sum_us: f64,
    pub(super) count: u64,
    pub(super) max_us: f64,
}

/// The reader's latencies, with or without the writer.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    pub(super) latency: LatencySummary,
    pub(super) iops: f64,
    /// The writer's bandwidth, if there was one.
    pub(super) writer_mib_s: Option<f64>,
    /// Blocks erased since the device was built.
    pub(super) erases: u64,
    pub(super) windows: Vec<Window>,
}

/// One layout.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) layout: SetLayout,
    pub(super) name: &'static str,
    /// Bandwidth of large reads on one set alone.
    pub(super) alone_mib_s: f64,
    pub(super) quiet: Reader,
    pub(super) noisy: Reader,
}

/// Runs the four layouts.
pub(super) fn noisy_neighbor(
    profile: &Profile,
    effort: Effort,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, ExperimentError> {
    let scale = match effort {
        Effort::Quick => QUICK,
        Effort::Full => FULL,
    };
    let mut layouts = Vec::new();
    for (index, (layout, name)) in LAYOUTS.into_iter().enumerate() {
        let profile = divided(profile, layout);
        let mut step = |part: f64| progress((index as f64 + part) / LAYOUTS.len() as f64);
        let alone_mib_s = alone(&profile, scale)?;
        step(0.2);
        let quiet = reader(&profile, false, scale)?;
        step(0.4);
        let noisy = reader(&profile, true, scale)?;
        step(1.0);
        layouts.push(Layout {
            layout,
            name,
            alone_mib_s,
            quiet,
            noisy,
        });
    }
    Ok(Outcome {
        experiment: "noisy-neighbor",
        profile: profile.name.clone(),
        about: format!(
            "4 KiB random reads at queue depth 8 on one of four namespaces, with and without 32 KiB sequential writes at depth 4 on \
             another, under four layouts; {} ms counted after {} ms.{}",
            scale.counted.as_us() / 1000,
            scale.warm_up.as_us() / 1000,
            effort.note()
        ),
        grounds: grounds(),
        sheets: show::sheets(&layouts),
        figures: show::figures(&layouts, scale),
        claims: claims::claims(&layouts),
    })
}

fn grounds() -> Grounds {
    Grounds {
        published: vec![
            format!("{SOURCE}: 128 dies on 8 channels, ONFi 400 MT/s, 2 TB of eMLC; the four layouts, the two workloads, and that with vertical sets reads are as without a writer"),
        ],
        fitted: Vec::new(),
        assumed: vec![
            "page size, planes, block size and the times of eMLC (see the profile)".to_owned(),
            format!("{BLOCKS} blocks a plane, so that the writer collects within seconds; every namespace is full and was written in order, and the writer overwrites its own round and round"),
            "in the mixed layout the reader is on the set that shares the writer's channels".to_owned(),
            "\"far lower\" is at most half; the bandwidth of a set alone is that of 128 KiB random reads at depth 256".to_owned(),
            "a 4 KiB read moves a whole page over the bus".to_owned(),
        ],
    }
}

/// The profile with its device divided.
fn divided(base: &Profile, layout: SetLayout) -> Profile {
    let mut profile = base.clone();
    profile.sets.layout = layout;
    profile.sets.count = if layout == SetLayout::Baseline {
        1
    } else {
        SETS
    };
    profile.sets.channel_groups = if layout == SetLayout::Mixed {
        CHANNEL_GROUPS
    } else {
        1
    };
    profile.geometry.blocks_per_plane = profile.geometry.blocks_per_plane.min(BLOCKS);
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
fn device(profile: &Profile) -> Result<(Device, Vec<NamespaceId>), ExperimentError> {
    let mut device = Device::new(profile)?;
    let lba_bytes = profile.controller.lba_size.0;
    let page_bytes = profile.geometry.page_size.0;
    let bytes =
        device.stats().capacity_pages / u64::from(SETS) * page_bytes / ALONE_BYTES * ALONE_BYTES;
    let mut namespaces = Vec::new();
    for set in 0..SETS {
        let home = if profile.sets.count == 1 { 0 } else { set };
        let nsid = device.create_namespace_in(home, bytes)?;
        device.preload(nsid, 0, bytes / lba_bytes, Directive::NONE)?;
        namespaces.push(nsid);
    }
    Ok((device, namespaces))
}

fn alone(profile: &Profile, scale: Scale) -> Result<f64, ExperimentError> {
    let (mut device, namespaces) = device(profile)?;
    let reads =
        Access::RandomRead.requests(&device, namespaces[reader_of(profile)], ALONE_BYTES, 1);
    let until = Until::Requests(scale.alone_requests);
    let tally = Loop::new(ALONE_DEPTH, reads).measure(&mut device, WarmUp::NONE, until)?;
    Ok(tally.mib_s())
}

fn reader(profile: &Profile, with_writer: bool, scale: Scale) -> Result<Reader, ExperimentError> {
    let (mut device, namespaces) = device(profile)?;
    let reader = namespaces[reader_of(profile)];
    let reads = Access::RandomRead.requests(&device, reader, 4 << 10, 1);
    let mut loops = vec![Loop::new(8u64, reads)];
    if with_writer {
        let writes = Access::SequentialWrite.requests(&device, namespaces[WRITER], 32 << 10, 2);
        loops.push(Loop::new(4u64, writes));
    }
    let (warm_up, until) = (WarmUp::Time(scale.warm_up), Until::Time(scale.counted));
    let counted_from = device.now() + scale.warm_up;
    let mut windows = vec![Window::default(); scale.windows as usize];
    let length_ps = (scale.counted.as_ps() / scale.windows).max(1);
    let tallies = measure(&mut device, loops, warm_up, until, |index, done| {
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
    let read = tallies.first().ok_or(ExperimentError::Incomplete(None))?;
    Ok(Reader {
        latency: read
            .latency
            .summary()
            .ok_or(ExperimentError::Incomplete(None))?,
        iops: read.iops(),
        writer_mib_s: tallies.get(1).map(Tally::mib_s),
        erases: device.stats().erases,
        windows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts() -> Vec<Layout> {
        let mut base = Profile::builtin("nvmset-2tb").unwrap();
        base.geometry.blocks_per_plane = 12;
        base.geometry.wordlines_per_block = 16;
        let measured = |(layout, name)| {
            let profile = divided(&base, layout);
            Layout {
                layout,
                name,
                alone_mib_s: alone(&profile, QUICK).unwrap(),
                quiet: reader(&profile, false, QUICK).unwrap(),
                noisy: reader(&profile, true, QUICK).unwrap(),
            }
        };
        LAYOUTS.map(measured).into()
    }

    #[test]
    fn sets_isolate_as_published_and_a_disturbed_one_is_shown() {
        let mut layouts = layouts();
        let claims = claims::claims(&layouts);
        assert_eq!(claims.len(), 6);
        for claim in &claims {
            assert!(claim.holds, "{claim:?}");
        }
        assert!(
            layouts[1]
                .noisy
                .windows
                .iter()
                .all(|window| window.count > 0)
        );
        // Vertical sets that share everything: four of the claims are about them.
        let baseline = layouts[0].clone();
        layouts[1].noisy = baseline.noisy;
        layouts[1].alone_mib_s = baseline.alone_mib_s;
        let failed = claims::claims(&layouts)
            .into_iter()
            .filter(|claim| !claim.holds);
        let failed: Vec<&str> = failed.map(|claim| claim.id).collect();
        assert_eq!(
            failed,
            [
                "noisy-neighbor.vertical-bandwidth",
                "noisy-neighbor.far-lower",
                "noisy-neighbor.vertical-undisturbed",
                "noisy-neighbor.baseline-p99",
            ]
        );
    }
}
