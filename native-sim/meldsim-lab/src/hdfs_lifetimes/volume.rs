//! A DataNode's volume on a simulated device: its blocks lie in slots, as the plugin lays them out.

use super::churn::{Begun, Churn};
use super::lifetimes::{Lifetimes, class_of};
use super::{Days, Knowledge};
use crate::prelude::*;
use meldsim::device::Device;
use meldsim::engine::Random;
use meldsim::nvme::{Command, Directive, Opcode};
use meldsim::profile::Profile;
use meldsim_stats::LatencyHistogram;

/// What a write brings, and a block.
const WRITE_BYTES: u64 = 32 << 10;
const BLOCK_BYTES: u64 = 64 << 10;

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
    written: u64,
    directive: Directive,
}

struct Volume {
    device: Device,
    nsid: meldsim::nvme::NamespaceId,
    lba_bytes: u64,
    blocks: Vec<Option<Block>>,
    free: Vec<u32>,
    reads: LatencyHistogram,
    counts: bool,
}

impl Volume {
    fn new(profile: &Profile) -> Result<Volume> {
        let mut device = Device::new(profile)?;
        let bytes = device.stats().capacity_pages * profile.mapping_unit().0;
        let slots = (bytes / BLOCK_BYTES) as u32;
        let nsid = device.create_namespace(u64::from(slots) * BLOCK_BYTES)?;
        Ok(Volume {
            device,
            nsid,
            lba_bytes: profile.controller.lba_size.0,
            blocks: vec![None; slots as usize],
            free: (0..slots).rev().collect(),
            reads: LatencyHistogram::new(),
            counts: false,
        })
    }

    fn range(&self, slot: u32, offset: u64, bytes: u64) -> (u64, u32) {
        let at = u64::from(slot) * BLOCK_BYTES + offset;
        (at / self.lba_bytes, (bytes / self.lba_bytes) as u32)
    }

    fn submit(&mut self, command: &Command) -> Result<()> {
        self.device.submit(command)?;
        while self.device.outstanding() >= DEPTH && self.device.run_until_completion() {
            while let Some(done) = self.device.pop_completion() {
                if self.counts && done.opcode == Opcode::Read {
                    self.reads.record(done.latency());
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, open: &Open) -> Result<()> {
        let (slba, nlb) = self.range(open.slot, open.written, WRITE_BYTES);
        self.submit(&Command::write(self.nsid, slba, nlb, open.directive, 0))
    }

    fn delete(&mut self, slot: u32) -> Result<()> {
        let (slba, nlb) = self.range(slot, 0, BLOCK_BYTES);
        self.free.push(slot);
        self.submit(&Command::deallocate(self.nsid, slba, nlb, 0))
    }

    fn read(&mut self, random: &mut Random) -> Result<()> {
        let slot = random.below(self.blocks.len() as u64) as u32;
        if self.blocks[slot as usize].is_none() {
            return Ok(());
        }
        let (slba, nlb) = self.range(slot, 0, WRITE_BYTES);
        self.submit(&Command::read(self.nsid, slba, nlb, 0))
    }
}

/// Runs days of churn on a device, and counts the last of them.
pub(super) fn measure(
    profile: &Profile,
    knowledge: Knowledge,
    days: Days,
    seed: u64,
) -> Result<Measured> {
    let mut volume = Volume::new(profile)?;
    let mut churn = Churn::new(seed);
    let mut lifetimes = Lifetimes::new(Churn::families());
    let mut random = Random::new(!seed);
    let mut open: Vec<Option<Open>> = vec![None; churn.writers()];
    let capacity = volume.blocks.len() as u64 * BLOCK_BYTES;
    let write_s = DAY_S * WRITE_BYTES as f64 / (DRIVE_WRITES_A_DAY * capacity as f64);
    let of_days = |days: u32| (f64::from(days) * DAY_S / write_s) as u64;
    let (writes, counted_from) = (of_days(days.all), of_days(days.all - days.counted));
    let mut before = volume.device.stats();
    let (mut in_use, mut refused) = (0, 0);
    for write in 0..writes {
        if write == counted_from {
            volume.counts = true;
            before = volume.device.stats();
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
                    Knowledge::History | Knowledge::Isolated => {
                        lifetimes.class(begun.family, now_s)
                    }
                    Knowledge::Perfect => class_of(begun.life_s),
                };
                let block = Block { begun, at_s: now_s };
                volume.blocks[slot as usize] = Some(block);
                Open {
                    slot,
                    written: 0,
                    directive: match knowledge {
                        Knowledge::Drive => Directive::NONE,
                        _ => Directive::placement(class),
                    },
                }
            }
        };
        volume.write(&next)?;
        let written = next.written + WRITE_BYTES;
        let is_whole = written == BLOCK_BYTES;
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
    let summary = volume.reads.summary();
    Ok(Measured {
        amplification: counted.write_amplification().unwrap_or(f64::NAN),
        p99_9_us: summary.map_or(f64::NAN, |summary| summary.p99_9_us),
        fill: in_use as f64 / (writes - counted_from) as f64 / volume.blocks.len() as f64,
        refused,
    })
}
