//! What the device counted in a run.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use meldsim::device::{Device, Precondition, Programmed, Stats, Utilisation};
use meldsim::engine::Duration;
use meldsim::nvme::zone::ZoneCounts;
use meldsim::profile::Kind;
use meldsim_stats::percent_of;

/// What the device counted.
#[derive(Clone, Debug, Default)]
pub struct DeviceResult {
    /// The counters since the device was built.
    pub stats: Stats,
    /// Those of the run alone: without what was done to the device before.
    pub run: Stats,
    /// How full it is; `None` of memory that is mapped by address, which keeps nothing.
    pub fill: Option<Fill>,
    /// Flexible data placement in the run, of a device that has it.
    pub fdp: Option<FdpResult>,
    /// What was done to zones in the run, of a device that has them.
    pub zones: Option<ZonesResult>,
    /// Busy times of every channel and die.
    pub utilisation: Utilisation,
    /// What `ftl.placement` asked for and did not get, in words.
    pub unplaced: Option<String>,
}

/// What a device has counted when a run begins.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) stats: Stats,
    fdp_events: BTreeMap<&'static str, u64>,
    zones: ZoneCounts,
}

impl Before {
    pub(crate) fn of(device: &Device) -> Before {
        Before {
            stats: device.stats(),
            fdp_events: fdp_events(device),
            zones: device.zone_counts(),
        }
    }
}

/// Events of all NVM sets by type, since the device was built.
fn fdp_events(device: &Device) -> BTreeMap<&'static str, u64> {
    let events = (0..device.sets()).flat_map(|set| device.fdp_event_counts(set));
    let mut counts = BTreeMap::new();
    for (kind, count) in events {
        *counts.entry(kind.name()).or_default() += count;
    }
    counts
}

impl DeviceResult {
    /// Of a device that had counted `before` when the run began.
    pub(crate) fn of(device: &Device, before: &Before, overwritten_pages: u64) -> DeviceResult {
        let counted = (device.stats(), device.utilisation());
        DeviceResult::counted(device, counted, before, overwritten_pages)
    }

    /// The same, of what such a device has counted in the end.
    pub(crate) fn counted(
        device: &Device,
        (stats, utilisation): (Stats, Utilisation),
        before: &Before,
        overwritten_pages: u64,
    ) -> DeviceResult {
        let keeps_data = device.profile().kind == Kind::Nand;
        let run = stats.since(&before.stats);
        DeviceResult {
            fdp: FdpResult::of(device, &run, before),
            zones: ZonesResult::of(device, before),
            run,
            fill: keeps_data.then_some(Fill {
                mapped_pages: stats.mapped_pages,
                capacity_pages: stats.capacity_pages,
                overwritten_pages,
            }),
            stats,
            utilisation,
            unplaced: unplaced(device),
        }
    }

    /// Pages that went to flash or came from it in the run, and for whom; `None` of other memory.
    pub fn flash(&self) -> Option<FlashPages> {
        let run = &self.run;
        self.fill.map(|_| FlashPages {
            host_pages_read: run.host_pages_read,
            merge_pages_read: run.merge_pages_read,
            read_ahead_pages: run.read_ahead_pages,
            gc_pages_read: run.gc_pages_read,
            host_pages_programmed: run.host_pages_programmed,
            gc_pages_programmed: run.gc_pages_programmed,
            journal_pages_programmed: run.journal_pages_programmed,
            map_pages_read: run.map_pages_read,
            map_pages_programmed: run.map_pages_programmed,
            padded_pages: run.padded_pages,
            bytes: run.programmed().into(),
            write_amplification: run.write_amplification(),
        })
    }

    /// Share of the simulated time that each channel's bus was held.
    pub fn channels_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.channels_busy)
    }

    /// Share of the simulated time that each die was busy, those of channel 0 first.
    pub fn dies_busy_percent(&self) -> Vec<f64> {
        self.percent(&self.utilisation.dies_busy)
    }

    fn percent(&self, busy: &[Duration]) -> Vec<f64> {
        let percent = |time: &Duration| percent_of(time.as_ps(), self.stats.now_ps);
        busy.iter().map(percent).collect()
    }
}

/// Flexible data placement in a run, over all NVM sets: the FDP Statistics log page, and how many events there were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FdpResult {
    /// Reclaim unit handles of each NVM set.
    pub handles: u16,
    /// Host Bytes with Metadata Written.
    pub host_bytes_written: u64,
    /// Media Bytes with Metadata Written.
    pub media_bytes_written: u64,
    /// Media Bytes Erased.
    pub media_bytes_erased: u64,
    /// Events by type.
    pub events: BTreeMap<&'static str, u64>,
}

impl FdpResult {
    fn of(device: &Device, run: &Stats, before: &Before) -> Option<FdpResult> {
        let handles = device.handles();
        let mut events = fdp_events(device);
        for (kind, count) in &before.fdp_events {
            events.entry(kind).and_modify(|all| *all -= count);
        }
        (handles > 0).then(|| FdpResult {
            handles,
            host_bytes_written: run.host_written_bytes,
            media_bytes_written: run.programmed_bytes,
            media_bytes_erased: run.erases * device.profile().block_size().0,
            events,
        })
    }
}

/// What was done to zones in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ZonesResult {
    /// Zones that were reset and were not empty.
    pub resets: u64,
    /// Zones that were finished and were not full.
    pub finishes: u64,
    /// Zones that were closed because another was opened.
    pub implicit_closes: u64,
}

impl ZonesResult {
    fn of(device: &Device, before: &Before) -> Option<ZonesResult> {
        let (all, before) = (device.zone_counts(), before.zones);
        device.zone_shape().map(|_| ZonesResult {
            resets: all.resets - before.resets,
            finishes: all.finishes - before.finishes,
            implicit_closes: all.implicit_closes - before.implicit_closes,
        })
    }
}

/// How full the device is at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fill {
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Logical pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Pages that were overwritten at random before the run, as preconditioning says.
    pub overwritten_pages: u64,
}

impl Fill {
    /// Pages of a device that has just been preconditioned which were overwritten at random.
    pub(crate) fn overwritten_pages(device: &Device, past: &Precondition) -> u64 {
        match device.profile().kind {
            Kind::Nand => device.stats().mapped_pages * u64::from(past.random_percent) / 100,
            Kind::Xpoint => 0,
        }
    }
}

/// Pages that went to flash or came from it in a run. The names are those of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlashPages {
    /// Pages that reads had from flash.
    pub host_pages_read: u64,
    /// Pages read because a write covers them in part.
    pub merge_pages_read: u64,
    /// Pages read ahead; left out where none were.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_ahead_pages: u64,
    /// Pages that garbage collection read.
    pub gc_pages_read: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages programmed for garbage collection.
    pub gc_pages_programmed: u64,
    /// Pages of the journal programmed; left out where there is no journal.
    #[serde(skip_serializing_if = "is_zero")]
    pub journal_pages_programmed: u64,
    /// Translation pages read; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_pages_read: u64,
    /// Translation pages programmed; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub map_pages_programmed: u64,
    /// Pages programmed with nothing in them.
    pub padded_pages: u64,
    /// What the bytes programmed are made of.
    pub bytes: ProgrammedBytes,
    /// Bytes programmed for each byte that the host wrote; `None` when there was none of these.
    pub write_amplification: Option<f64>,
}

/// What the bytes programmed in a run are made of: they add up to `programmed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProgrammedBytes {
    /// All of it.
    pub programmed: u64,
    /// Data that the host wrote.
    pub host: u64,
    /// An older copy, in pages that the host wrote in part.
    pub merge: u64,
    /// Nothing, in pages that the host wrote in part and that held nothing before.
    pub filling: u64,
    /// Moved by garbage collection to make room.
    pub collection: u64,
    /// Moved to level wear.
    pub levelling: u64,
    /// Translation pages; left out where there are none.
    #[serde(skip_serializing_if = "is_zero")]
    pub mapping: u64,
    /// The journal of the mapping.
    pub journal: u64,
    /// Nothing, to close a wordline.
    pub padding: u64,
}

impl From<Programmed> for ProgrammedBytes {
    fn from(of: Programmed) -> ProgrammedBytes {
        ProgrammedBytes {
            programmed: of.total(),
            host: of.host_bytes,
            merge: of.merge_bytes,
            filling: of.filling_bytes,
            collection: of.collection_bytes,
            levelling: of.levelling_bytes,
            mapping: of.mapping_bytes,
            journal: of.journal_bytes,
            padding: of.padding_bytes,
        }
    }
}

impl Serialize for DeviceResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in Stats::NAMES.iter().zip(self.stats.to_array()) {
            let is_optional = *name == JOURNAL || name.starts_with(MAPPING);
            if is_optional && is_zero(&value) {
                continue;
            }
            map.serialize_entry(name, &value)?;
        }
        map.serialize_entry("channels_busy_percent", &self.channels_busy_percent())?;
        map.serialize_entry("dies_busy_percent", &self.dies_busy_percent())?;
        map.end()
    }
}

/// The counter that a device without a journal does not show.
const JOURNAL: &str = "journal_pages_programmed";
/// How those begin that a device with its whole mapping at hand does not show.
const MAPPING: &str = "map_";

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What became of pages whose frontier was not there.
fn unplaced(device: &Device) -> Option<String> {
    let sets = (0..device.sets()).filter_map(|set| device.set_info(set));
    let (none, beyond) = sets.fold((0, 0), |(none, beyond), set| {
        (
            none + set.pages_without_frontier,
            beyond + set.pages_beyond_frontiers,
        )
    });
    let said = [
        (
            none,
            "pages went to frontier 0, for there are too few spare superblocks for theirs: give controller.capacity less of the flash, or more blocks a plane",
        ),
        (
            beyond,
            "pages were sent to frontiers beyond the last, and went to the last",
        ),
    ];
    let said = said.iter().filter(|(pages, _)| *pages > 0);
    let said: Vec<String> = said
        .map(|(pages, text)| format!("{pages} {text}"))
        .collect();
    let name = &device.profile().ftl.placement;
    (!said.is_empty()).then(|| format!("ftl.placement = \"{name}\": {}\n", said.join("; ")))
}
