//! What a device is asked about itself: counters, how busy its parts were, where data are. Not for the data path.

use super::{Device, DeviceError, NamespaceStats, Stats};
use crate::engine::{Duration, Instant};
use crate::nvme::NamespaceId;
use crate::timeline::Timeline;

/// Where the page that holds a logical block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// Nowhere: never written, or deallocated.
    Unmapped,
    /// In the write buffer.
    Buffered,
    /// On flash.
    Flash {
        /// The channel.
        channel: u32,
        /// The die's number on its channel (its way).
        die: u32,
        /// The plane of the die.
        plane: u32,
        /// The block of the plane.
        block: u32,
        /// The wordline of the block.
        wordline: u32,
        /// The page of the wordline: 0 for LSB, 1 for CSB, 2 for MSB.
        page: u32,
    },
    /// In XPoint memory, where its address says, written or not.
    Xpoint {
        /// The die.
        die: u32,
        /// The chunk of the device.
        chunk: u64,
    },
}

/// How the pages of a range are laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayoutCount {
    /// Pages that hold data.
    pub mapped: u64,
    /// Of those, the ones in the write buffer, which have no layout yet.
    pub buffered: u64,
    /// Of those, the ones that share their wordline with what follows them.
    pub melded: u64,
}

/// Busy times and counts since the device was built. Dies and packages are in the order of channels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Utilisation {
    /// The time all of it refers to.
    pub elapsed: Instant,
    /// How long each channel's bus was held.
    pub channels_busy: Vec<Duration>,
    /// How long at least one die of each package (way) was busy.
    pub packages_busy: Vec<Duration>,
    /// How long each die was busy, from command to idle.
    pub dies_busy: Vec<Duration>,
    /// How long each die's planes were in use, summed over them.
    pub planes_busy: Vec<Duration>,
    /// Pages each die read: those sensed alone, and those that somebody had asked for of wordlines
    /// sensed as a whole.
    pub pages_read: Vec<u64>,
    /// Pages each die programmed from the bus.
    pub pages_programmed: Vec<u64>,
    /// Blocks each die erased.
    pub blocks_erased: Vec<u64>,
    /// Planes of a die.
    pub planes_per_die: u32,
}

impl Utilisation {
    /// The mean share of the time that channels were busy, 0 to 1.
    pub fn channel_share(&self) -> f64 {
        self.share(&self.channels_busy, 1)
    }

    /// The mean share of the time that packages were idle, 0 to 1.
    pub fn package_idle_share(&self) -> f64 {
        1.0 - self.share(&self.packages_busy, 1)
    }

    /// The mean share of the time that dies were idle, 0 to 1.
    pub fn die_idle_share(&self) -> f64 {
        1.0 - self.share(&self.dies_busy, 1)
    }

    /// The mean share of the time that planes were idle, 0 to 1.
    pub fn plane_idle_share(&self) -> f64 {
        1.0 - self.share(&self.planes_busy, self.planes_per_die)
    }

    fn share(&self, busy: &[Duration], each: u32) -> f64 {
        let whole = self.elapsed.since_start().as_secs_f64() * busy.len() as f64 * f64::from(each);
        if whole == 0.0 {
            return 0.0;
        }
        busy.iter().map(|time| time.as_secs_f64()).sum::<f64>() / whole
    }
}

impl Device {
    /// Tells what happens from now on to a timeline, or to nobody. Returns the one before. Commands that are outstanding now
    /// have no record; what a die is at work on is told to each in its part.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoTimeline`] for XPoint memory.
    pub fn set_timeline(
        &mut self,
        timeline: Option<Box<dyn Timeline>>,
    ) -> Result<Option<Box<dyn Timeline>>, DeviceError> {
        let now = self.now();
        let before = self.medium.set_timeline(timeline, now);
        self.find_way();
        before
    }

    /// The counters up to [`Device::now`].
    pub fn stats(&self) -> Stats {
        let now = self.now();
        let [to_device, to_host] = self.hil.link_busy(now);
        let host = self.requests.stats();
        let mut counted = Stats {
            now_ps: now.as_ps(),
            read_active_ps: self.requests.read_active(now).as_ps(),
            active_ps: self.requests.active(now).as_ps(),
            read_commands: host.read_commands,
            write_commands: host.write_commands,
            deallocate_commands: host.deallocate_commands,
            flush_commands: host.flush_commands,
            failed_commands: host.failed_commands,
            outstanding_commands: host.outstanding_commands,
            host_read_bytes: host.host_read_bytes,
            host_written_bytes: host.host_written_bytes,
            read_latency_ps: host.read_latency_ps,
            write_latency_ps: host.write_latency_ps,
            buffer_page_reads: host.buffer_page_reads,
            unmapped_page_reads: host.unmapped_page_reads,
            host_pages_read: host.host_pages_read,
            merge_pages_read: host.merge_pages_read,
            read_ahead_hits: host.read_ahead_hits,
            queue_wait_ps: self.hil.queue_wait.as_counter(),
            link_to_device_busy_ps: to_device.as_ps(),
            link_to_host_busy_ps: to_host.as_ps(),
            zone_unit_busy_ps: self.zone_unit.busy(now).as_ps(),
            ..Stats::default()
        };
        if let Some(firmware) = &self.firmware {
            counted = firmware.stats(now, counted);
        }
        self.medium.stats(now, counted)
    }

    /// The counters of a namespace up to [`Device::now`].
    pub fn namespace_stats(&self, nsid: NamespaceId) -> Result<NamespaceStats, DeviceError> {
        let (set, space) = self.namespaces.space(nsid)?;
        let (mapped_pages, melded_mapped_pages) = self.medium.mapped_pages(set, space);
        Ok(NamespaceStats {
            mapped_pages,
            melded_mapped_pages,
            ..*self.requests.stats_of(nsid)
        })
    }

    /// How busy each part was up to [`Device::now`].
    pub fn utilisation(&self) -> Utilisation {
        let now = self.now();
        self.medium.utilisation(now)
    }

    /// Where the page that holds logical block `lba` is.
    pub fn locate(&self, nsid: NamespaceId, lba: u64) -> Result<Location, DeviceError> {
        let (range, _) = self.namespaces.pages(nsid, lba, 1)?;
        Ok(self.medium.locate(range))
    }

    /// How the pages are laid out that a range of logical blocks lies in. Takes time in proportion to the range. Memory
    /// without pages has no layout.
    pub fn layout(
        &self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<LayoutCount, DeviceError> {
        let (range, _) = self.namespaces.pages(nsid, slba, nlb)?;
        Ok(self.medium.layout(range))
    }
}
