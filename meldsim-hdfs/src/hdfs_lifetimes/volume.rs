//! A DataNode's volume on a simulated device: its blocks lie in slots, as the plugin lays them out.

use super::churn::{Begun, Churn};
use super::lifetimes::{Lifetimes, class_of};
use super::zone_log::{MOVED, ZoneLog};
use super::{Days, Knowledge};
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::nvme::zone::ZoneAction;
use meldsim::nvme::{Command, Directive, Opcode};
use meldsim::profile::Profile;
use meldsim_host::LoadError;
use meldsim_lab::prelude::*;
use meldsim_stats::LatencyHistogram;

/// What a write brings, and a block.
const WRITE_BYTES: u64 = 32 << 10;
const BLOCK_BYTES: u64 = 64 << 10;
const PIECES: u32 = (BLOCK_BYTES / WRITE_BYTES) as u32;

/// Requests outstanding.
const DEPTH: usize = 16;

/// A read of a block that is there for so many writes.
const WRITES_PER_READ: u64 = 4;

/// Device capacities that are written in a day.
pub(super) const DRIVE_WRITES_A_DAY: f64 = 0.5;

const DAY_S: f64 = 86_400.0;

/// What was measured of a volume.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) amplification: f64,
    /// Of the reads beside the writes, as fast as the device takes both.
    pub(super) p99_9_us: f64,
    /// The share of slots in use, in the mean.
    pub(super) fill: f64,
    /// Blocks for which there was no slot.
    pub(super) refused: u64,
}

/// A block that is there.
#[derive(Clone, Copy)]
struct Block {
    begun: Begun,
    at_s: f64,
}

/// A block that is being written.
#[derive(Clone, Copy)]
struct Open {
    slot: u32,
    /// Pieces of it.
    written: u32,
    class: u16,
}

struct Volume {
    device: Device,
    nsid: meldsim::nvme::NamespaceId,
    lba_bytes: u64,
    knowledge: Knowledge,
    /// Where the host keeps what, of a zoned device; on others blocks are in their slots.
    zones: Option<ZoneLog>,
    /// Pieces that the host has moved.
    moved: u64,
    blocks: Vec<Option<Block>>,
    free: Vec<u32>,
    reads: LatencyHistogram,
    counts: bool,
}

impl Volume {
    /// A volume of so many bytes.
    fn new(profile: &Profile, knowledge: Knowledge, bytes: u64) -> Result<Volume> {
        let mut device = Device::new(profile)?;
        let slots = (bytes / BLOCK_BYTES) as u32;
        let zoned_bytes = device.max_zoned_bytes();
        let nsid =
            device.create_namespace(zoned_bytes.unwrap_or(u64::from(slots) * BLOCK_BYTES))?;
        let lba_bytes = profile.controller.lba_size.0;
        let pieces = ((slots * PIECES) as usize, WRITE_BYTES / lba_bytes);
        let zones = device.zone_shape();
        let zones = zones.map(|shape| ZoneLog::new(shape, device.zones().count() as u32, pieces));
        Ok(Volume {
            device,
            nsid,
            lba_bytes,
            knowledge,
            zones,
            moved: 0,
            blocks: vec![None; slots as usize],
            free: (0..slots).rev().collect(),
            reads: LatencyHistogram::new(),
            counts: false,
        })
    }

    fn lbas(&self, bytes: u64) -> u32 {
        (bytes / self.lba_bytes) as u32
    }

    /// Where a piece is on a device without zones.
    fn slot_lba(&self, piece: u32) -> u64 {
        u64::from(piece) * WRITE_BYTES / self.lba_bytes
    }

    fn submit(&mut self, command: &Command) -> Result<()> {
        self.device.submit(command)?;
        while self.device.outstanding() >= DEPTH && self.device.run_until_completion() {
            while let Some(done) = self.device.pop_completion() {
                if !done.status.is_success() {
                    return Err(LoadError::Incomplete(Some(done)).into());
                }
                if self.counts && done.opcode == Opcode::Read {
                    self.reads.record(done.latency());
                }
            }
        }
        Ok(())
    }

    /// Writes a piece, in its slot or at the end of the log of its class.
    fn write(&mut self, piece: u32, class: u16) -> Result<()> {
        let slba = match &self.zones {
            None => self.slot_lba(piece),
            Some(_) => {
                self.make_room()?;
                self.append(class.into(), piece)?
            }
        };
        let directive = match self.knowledge {
            Knowledge::Drive | Knowledge::Zones => Directive::NONE,
            Knowledge::Streams => Directive::stream_of(class),
            _ => Directive::placement(class),
        };
        let nlb = self.lbas(WRITE_BYTES);
        self.submit(&Command::write(self.nsid, slba, nlb, directive, 0))
    }

    fn append(&mut self, log: usize, piece: u32) -> Result<u64> {
        let zones = self.zones.as_mut();
        let slba = zones.and_then(|zones| zones.append(log, piece));
        Ok(slba.ok_or(LoadError::Incomplete(None))?)
    }

    /// Moves what is left of zones until enough are free.
    fn make_room(&mut self) -> Result<()> {
        let nlb = self.lbas(WRITE_BYTES);
        while let Some(left) = self.zones.as_ref().and_then(ZoneLog::to_move) {
            for piece in left {
                let from = self.zones.as_ref().and_then(|zones| zones.find(piece));
                let from = from.ok_or(LoadError::Incomplete(None))?;
                let was_counted = std::mem::replace(&mut self.counts, false);
                self.submit(&Command::read(self.nsid, from, nlb, 0))?;
                self.counts = was_counted;
                self.moved += 1;
                self.remove(piece)?;
                let slba = self.append(MOVED, piece)?;
                self.submit(&Command::write(self.nsid, slba, nlb, Directive::NONE, 0))?;
            }
        }
        Ok(())
    }

    fn remove(&mut self, piece: u32) -> Result<()> {
        let zones = self.zones.as_mut();
        match zones.and_then(|zones| zones.remove(piece)) {
            Some(zslba) => {
                let reset = Command::manage_zone(self.nsid, zslba, ZoneAction::Reset, 0);
                self.submit(&reset)
            }
            None => Ok(()),
        }
    }

    fn delete(&mut self, slot: u32) -> Result<()> {
        self.free.push(slot);
        if self.zones.is_some() {
            return (slot * PIECES..(slot + 1) * PIECES).try_for_each(|piece| self.remove(piece));
        }
        let (slba, nlb) = (self.slot_lba(slot * PIECES), self.lbas(BLOCK_BYTES));
        self.submit(&Command::deallocate(self.nsid, slba, nlb, 0))
    }

    /// Reads the first piece of a block that is there.
    fn read(&mut self, random: &mut Random) -> Result<()> {
        let slot = random.below(self.blocks.len() as u64) as u32;
        if self.blocks[slot as usize].is_none() {
            return Ok(());
        }
        let piece = slot * PIECES;
        let slba = match &self.zones {
            None => Some(self.slot_lba(piece)),
            Some(zones) => zones.find(piece),
        };
        match slba {
            Some(slba) => {
                let nlb = self.lbas(WRITE_BYTES);
                self.submit(&Command::read(self.nsid, slba, nlb, 0))
            }
            None => Ok(()),
        }
    }
}

/// Runs days of churn on a device, and counts the last of them.
pub(super) fn measure(
    profile: &Profile,
    knowledge: Knowledge,
    days: Days,
    seed: u64,
    volume_bytes: u64,
) -> Result<Measured> {
    let mut volume = Volume::new(profile, knowledge, volume_bytes)?;
    let mut churn = Churn::new(seed);
    let mut lifetimes = Lifetimes::new(Churn::families());
    let mut random = Random::new(!seed);
    let mut open: Vec<Option<Open>> = vec![None; churn.writers()];
    let capacity = volume.blocks.len() as u64 * BLOCK_BYTES;
    let write_s = DAY_S * WRITE_BYTES as f64 / (DRIVE_WRITES_A_DAY * capacity as f64);
    let of_days = |days: u32| (f64::from(days) * DAY_S / write_s) as u64;
    let (writes, counted_from) = (of_days(days.all), of_days(days.all - days.counted));
    let (mut before, mut moved) = (volume.device.stats(), 0);
    let (mut in_use, mut refused) = (0, 0);
    for write in 0..writes {
        if write == counted_from {
            volume.counts = true;
            (before, moved) = (volume.device.stats(), volume.moved);
        }
        let now_s = write as f64 * write_s;
        while let Some(slot) = churn.next_death(now_s) {
            if let Some(block) = volume.blocks[slot as usize].take() {
                lifetimes.deleted(block.begun.family, now_s - block.at_s);
                volume.delete(slot)?;
            }
        }
        let writer = (write % open.len() as u64) as usize;
        let next = match open[writer] {
            Some(next) => next,
            None => {
                let begun = churn.begin(writer);
                let Some(slot) = volume.free.pop() else {
                    refused += u64::from(volume.counts);
                    continue;
                };
                let class = match knowledge {
                    Knowledge::None | Knowledge::Drive => 0,
                    Knowledge::Path => u16::from(Churn::kind_of(begun.family).is_scratch),
                    Knowledge::History
                    | Knowledge::Isolated
                    | Knowledge::Streams
                    | Knowledge::Zones => lifetimes.class(begun.family, now_s),
                    Knowledge::Perfect => class_of(begun.life_s),
                };
                let block = Block { begun, at_s: now_s };
                volume.blocks[slot as usize] = Some(block);
                Open {
                    slot,
                    written: 0,
                    class,
                }
            }
        };
        volume.write(next.slot * PIECES + next.written, next.class)?;
        let written = next.written + 1;
        let is_whole = written == PIECES;
        open[writer] = (!is_whole).then_some(Open { written, ..next });
        if let (true, Some(block)) = (is_whole, volume.blocks[next.slot as usize]) {
            churn.dies(now_s + block.begun.life_s, next.slot);
        }
        if volume.counts {
            in_use += volume.blocks.len() - volume.free.len();
            if write % WRITES_PER_READ == 0 {
                volume.read(&mut random)?;
            }
        }
    }
    let counted = volume.device.stats().since(&before);
    // What the host moves is written, too.
    let moved_bytes = ((volume.moved - moved) * WRITE_BYTES) as f64;
    let written_bytes = counted.host_written_bytes as f64;
    let of_host = written_bytes / (written_bytes - moved_bytes);
    let summary = volume.reads.summary();
    Ok(Measured {
        amplification: counted.write_amplification().unwrap_or(f64::NAN) * of_host,
        p99_9_us: summary.map_or(f64::NAN, |summary| summary.p99_9_us),
        fill: in_use as f64 / (writes - counted_from) as f64 / volume.blocks.len() as f64,
        refused,
    })
}
