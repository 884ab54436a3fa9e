//! Where a volume's requests go on the device.

use std::collections::HashMap;

use super::options::Beyond;
use super::record::{Extent, Record};
use crate::error::Fault;
use crate::result::TraceSummary;
use meldsim::device::{Device, DeviceError, Location};
use meldsim::nvme::{Directive, NamespaceId};

/// Room for one block of HDFS in its volume's thin namespace.
pub(super) const SLOT_BYTES: u64 = 1 << 30;
/// Most blocks of a volume at one time.
const SLOTS: u64 = 1 << 18;

/// A volume of the trace as a namespace of the device.
#[derive(Debug)]
pub(super) struct Volume {
    pub(super) nsid: NamespaceId,
    size_bytes: u64,
    lba_bytes: u64,
    /// Slots of the blocks. Only looked up, so that its order is never seen.
    slots: HashMap<u64, u64>,
    /// Slots that were given back.
    free_slots: Vec<u64>,
    /// Bytes of each slot from its start that were touched, as far as slots were used.
    touched_bytes: Vec<u64>,
    chunks: Chunks,
}

/// A range of logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lbas {
    pub(super) slba: u64,
    pub(super) nlb: u32,
}

impl Volume {
    /// A volume whose records address the volume itself, or blocks on it.
    pub(super) fn new(device: &mut Device, extent: Extent) -> Result<Volume, DeviceError> {
        let lba_bytes = device.profile().controller.lba_size.0;
        let size_bytes = match extent {
            // Of one NVM set: a namespace lies in one.
            Extent::Volume => device.set_capacity_bytes(0) / lba_bytes * lba_bytes,
            Extent::Block(_) => SLOTS * SLOT_BYTES,
        };
        Ok(Volume {
            nsid: device.create_namespace(size_bytes)?,
            size_bytes,
            lba_bytes,
            slots: HashMap::new(),
            free_slots: Vec::new(),
            touched_bytes: Vec::new(),
            chunks: Chunks {
                bytes: device.stripe_bytes().next_multiple_of(lba_bytes),
                done: Vec::new(),
            },
        })
    }

    /// The logical blocks of a record that reads or writes.
    pub(super) fn range(
        &mut self,
        record: &Record,
        beyond: Beyond,
        summary: &mut TraceSummary,
    ) -> Result<Lbas, Fault> {
        let start = match record.extent {
            Extent::Volume => self.within(record, beyond, summary)?,
            Extent::Block(block) => self.in_slot(record, block)?,
        };
        let end = start + record.length;
        let (slba, end_lba) = (start / self.lba_bytes, end.div_ceil(self.lba_bytes));
        summary.widened += u64::from(start % self.lba_bytes != 0 || end % self.lba_bytes != 0);
        let nlb = u32::try_from(end_lba - slba).map_err(|_| {
            let message = format!("is {}, too large for one command", record.length);
            Fault::new("length", message, "split the request")
        })?;
        Ok(Lbas { slba, nlb })
    }

    /// The logical blocks that lie within a range that is given up. A read of them needs no preload from now on.
    pub(super) fn trim(
        &mut self,
        record: &Record,
        beyond: Beyond,
        summary: &mut TraceSummary,
    ) -> Result<Option<Lbas>, Fault> {
        let length = record.length.min(self.size_bytes);
        let start = self.within(&Record { length, ..*record }, beyond, summary)?;
        let (slba, end) = (
            start.div_ceil(self.lba_bytes),
            (start + length) / self.lba_bytes,
        );
        for chunk in start.div_ceil(self.chunks.bytes)..(start + length) / self.chunks.bytes {
            self.chunks.set(chunk);
        }
        // A namespace may have more than a command can name.
        let nlb = u32::try_from(end.saturating_sub(slba)).unwrap_or(u32::MAX);
        Ok((nlb > 0).then_some(Lbas { slba, nlb }))
    }

    /// The first byte, within the volume.
    fn within(
        &self,
        record: &Record,
        beyond: Beyond,
        summary: &mut TraceSummary,
    ) -> Result<u64, Fault> {
        let size = self.size_bytes;
        if record.length > size {
            let message = format!("is {}, more than the device's {size} B", record.length);
            return Err(Fault::new("length", message, "use a larger profile"));
        }
        if record.offset <= size - record.length {
            return Ok(record.offset);
        }
        match beyond {
            Beyond::Wrap => {
                summary.wrapped += 1;
                Ok((record.offset % size).min(size - record.length))
            }
            Beyond::Refuse => {
                let message = format!(
                    "is {}, and the request ends beyond the device's {size} B",
                    record.offset
                );
                let remedy = "use a larger profile, or --beyond wrap";
                Err(Fault::new("offset", message, remedy))
            }
        }
    }

    /// The first byte in the slot of `block`, which gets one if it has none.
    fn in_slot(&mut self, record: &Record, block: u64) -> Result<u64, Fault> {
        let end = record.offset + record.length;
        if end > SLOT_BYTES {
            let message = format!("ends at {end}, beyond the {SLOT_BYTES} B that a block may have");
            return Err(Fault::new("length", message, "mend or remove the line"));
        }
        let slot = match self.slots.get(&block) {
            Some(slot) => *slot,
            None => self.new_slot(block)?,
        };
        let touched = &mut self.touched_bytes[slot as usize];
        *touched = (*touched).max(end);
        Ok(slot * SLOT_BYTES + record.offset)
    }

    fn new_slot(&mut self, block: u64) -> Result<u64, Fault> {
        let slot = match self.free_slots.pop() {
            Some(slot) => slot,
            None => self.touched_bytes.len() as u64,
        };
        if slot == SLOTS {
            let message = format!("is one more than the {SLOTS} that a volume may have at a time");
            return Err(Fault::new("block", message, "split the trace"));
        }
        if slot == self.touched_bytes.len() as u64 {
            self.touched_bytes.push(0);
        }
        self.slots.insert(block, slot);
        Ok(slot)
    }

    /// Gives up a block; returns what to deallocate of it.
    pub(super) fn delete(&mut self, block: u64) -> Option<Lbas> {
        let given_up = self.truncate(block, 0);
        self.free_slots.extend(self.slots.remove(&block));
        given_up
    }

    /// Cuts a block to `bytes`; returns what to deallocate of it.
    pub(super) fn truncate(&mut self, block: u64, bytes: u64) -> Option<Lbas> {
        let slot = *self.slots.get(&block)?;
        let touched = &mut self.touched_bytes[slot as usize];
        let end = *touched;
        *touched = bytes.min(end);
        let start = touched.next_multiple_of(self.lba_bytes);
        if end <= start {
            return None;
        }
        let first = slot * SLOT_BYTES + start;
        self.chunks.forget(first, slot * SLOT_BYTES + end);
        Some(Lbas {
            slba: first / self.lba_bytes,
            // A slot has fewer logical blocks than that.
            nlb: u32::try_from((end - start).div_ceil(self.lba_bytes)).unwrap_or(u32::MAX),
        })
    }

    /// Places what `range` reads and was never written, together with its neighbours: whole stripes over all dies, as data that
    /// was written long ago would lie. False when there is no room for it.
    pub(super) fn preload(
        &mut self,
        device: &mut Device,
        range: Lbas,
        directive: Directive,
        summary: &mut TraceSummary,
    ) -> Result<bool, DeviceError> {
        let chunk_lbas = self.chunks.bytes / self.lba_bytes;
        let size_lbas = self.size_bytes / self.lba_bytes;
        let end = range.slba + u64::from(range.nlb);
        let mut room = true;
        for chunk in range.slba / chunk_lbas..end.div_ceil(chunk_lbas) {
            if self.chunks.is_done(chunk) {
                continue;
            }
            let first = chunk * chunk_lbas;
            let last = (first + chunk_lbas).min(size_lbas);
            let (read_from, read_to) = (range.slba.max(first), end.min(last));
            if !misses_data(device, self.nsid, read_from, read_to)? {
                continue;
            }
            let mut place = |from: u64, to: u64| {
                match device.preload_unmapped(self.nsid, from, to - from, directive) {
                    Ok(lbas) => summary.preloaded_bytes += lbas * self.lba_bytes,
                    Err(DeviceError::CapacityExceeded { .. }) => return Ok(false),
                    Err(error) => return Err(error),
                }
                Ok(true)
            };
            if place(first, last)? {
                self.chunks.set(chunk);
            } else {
                room &= place(read_from, read_to)?;
            }
        }
        Ok(room)
    }
}

/// Whether some of these logical blocks hold nothing.
fn misses_data(
    device: &Device,
    nsid: NamespaceId,
    from: u64,
    to: u64,
) -> Result<bool, DeviceError> {
    for lba in from..to {
        if device.locate(nsid, lba)? == Location::Unmapped {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Which parts of a namespace hold data throughout.
#[derive(Debug)]
struct Chunks {
    /// Bytes of one wordline of every plane, in whole logical blocks.
    bytes: u64,
    done: Vec<u64>,
}

impl Chunks {
    fn is_done(&self, chunk: u64) -> bool {
        let word = self.done.get((chunk / 64) as usize);
        word.is_some_and(|word| word >> (chunk % 64) & 1 == 1)
    }

    fn set(&mut self, chunk: u64) {
        let index = (chunk / 64) as usize;
        if self.done.len() <= index {
            self.done.resize(index + 1, 0);
        }
        self.done[index] |= 1 << (chunk % 64);
    }

    /// The chunks of these bytes may hold nothing again.
    fn forget(&mut self, start: u64, end: u64) {
        for chunk in start / self.bytes..end.div_ceil(self.bytes) {
            if let Some(word) = self.done.get_mut((chunk / 64) as usize) {
                *word &= !(1 << (chunk % 64));
            }
        }
    }
}
