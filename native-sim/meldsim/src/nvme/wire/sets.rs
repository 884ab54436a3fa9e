//! NVM sets and endurance groups: lists and logs.

use super::identify::IDENTIFY_BYTES;
use super::layout::{Field, layout};

layout! {
    /// NVM Set Attributes Entry (Base specification, Identify CNS 04h).
    pub struct NvmSetAttributes, 128 bytes {
        /// NVM Set Identifier, bytes 1:0; the first is 1.
        nvmsetid: u16 = 0,
        /// Endurance Group Identifier, bytes 3:2.
        endgid: u16 = 2,
        /// Random 4 KiB Read Typical, bytes 11:8, in units of 100 ns: in the deterministic window,
        /// with one command outstanding.
        rr4kt: u32 = 8,
        /// Optimal Write Size, bytes 15:12, in bytes.
        ows: u32 = 12,
        /// Total NVM Set Capacity, bytes 31:16, in bytes.
        tnvmsetcap: u128 = 16,
        /// Unallocated NVM Set Capacity, bytes 47:32, in bytes.
        unvmsetcap: u128 = 32,
    }
}

/// NVM Set List (Base specification, Identify CNS 04h): a header of 128 bytes, whose first byte is
/// the number of entries, then the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvmSetList(pub Vec<NvmSetAttributes>);

impl NvmSetList {
    /// Entries that fit.
    pub const MAX_ENTRIES: usize = 31;
    const HEADER_BYTES: usize = 128;

    /// The first [`NvmSetList::MAX_ENTRIES`] entries.
    pub fn encode(&self) -> [u8; IDENTIFY_BYTES] {
        let mut bytes = [0; IDENTIFY_BYTES];
        let entries = &self.0[..self.0.len().min(NvmSetList::MAX_ENTRIES)];
        bytes[0] = entries.len() as u8;
        let places = bytes[NvmSetList::HEADER_BYTES..].chunks_exact_mut(NvmSetAttributes::BYTES);
        for (entry, place) in entries.iter().zip(places) {
            entry.encode().put(place);
        }
        bytes
    }

    /// Entries beyond [`NvmSetList::MAX_ENTRIES`] cannot be there, whatever the header says.
    pub fn parse(bytes: &[u8; IDENTIFY_BYTES]) -> NvmSetList {
        NvmSetList(
            bytes[NvmSetList::HEADER_BYTES..]
                .chunks_exact(NvmSetAttributes::BYTES)
                .take(usize::from(bytes[0]))
                .map(|entry| NvmSetAttributes::parse(&Field::get(entry)))
                .collect(),
        )
    }
}

/// Endurance Group List (Base specification, Identify CNS 19h): the number of identifiers, then
/// the identifiers, 16 bits each.
pub fn endurance_group_list(ids: &[u16]) -> [u8; IDENTIFY_BYTES] {
    let mut bytes = [0; IDENTIFY_BYTES];
    let mut places = bytes.chunks_exact_mut(size_of::<u16>());
    let count = ids.len().min(IDENTIFY_BYTES / size_of::<u16>() - 1);
    if let Some(place) = places.next() {
        (count as u16).put(place);
    }
    for (id, place) in ids.iter().zip(places) {
        id.put(place);
    }
    bytes
}

layout! {
    /// Endurance Group Information log page (Base specification, Log Identifier 09h). Amounts of
    /// data are in billions of bytes, rounded up.
    pub struct EnduranceGroupLog, 512 bytes {
        /// Critical Warning, byte 0.
        critical_warning: u8 = 0,
        /// Available Spare, byte 3, in percent.
        available_spare: u8 = 3,
        /// Available Spare Threshold, byte 4, in percent.
        available_spare_threshold: u8 = 4,
        /// Percentage Used, byte 5.
        percentage_used: u8 = 5,
        /// Endurance Estimate, bytes 47:32.
        endurance_estimate: u128 = 32,
        /// Data Units Read, bytes 63:48.
        data_units_read: u128 = 48,
        /// Data Units Written, bytes 79:64.
        data_units_written: u128 = 64,
        /// Media Units Written, bytes 95:80: by the host and by garbage collection.
        media_units_written: u128 = 80,
        /// Host Read Commands, bytes 111:96.
        host_read_commands: u128 = 96,
        /// Host Write Commands, bytes 127:112.
        host_write_commands: u128 = 112,
        /// Media and Data Integrity Errors, bytes 143:128.
        integrity_errors: u128 = 128,
        /// Number of Error Information Log Entries, bytes 159:144.
        error_log_entries: u128 = 144,
        /// Total Endurance Group Capacity, bytes 175:160, in bytes.
        total_capacity: u128 = 160,
        /// Unallocated Endurance Group Capacity, bytes 191:176, in bytes.
        unallocated_capacity: u128 = 176,
    }
}

impl EnduranceGroupLog {
    /// Billions of bytes, rounded up.
    pub const fn units(bytes: u64) -> u128 {
        bytes.div_ceil(1_000_000_000) as u128
    }
}

layout! {
    /// Predictable Latency Per NVM Set log page (Base specification, Log Identifier 0Ah).
    pub struct PredictableLatencyLog, 512 bytes {
        /// Status, byte 0, bits 2:0: 0 not enabled, 1 deterministic window, 2 non-deterministic.
        status: u8 = 0,
        /// Event Type, bytes 3:2.
        event_type: u16 = 2,
        /// DTWIN Reads Typical, bytes 39:32: random reads of 4 KiB.
        dtwin_reads_typical: u64 = 32,
        /// DTWIN Writes Typical, bytes 47:40, in units of the Optimal Write Size.
        dtwin_writes_typical: u64 = 40,
        /// DTWIN Time Maximum, bytes 55:48, in milliseconds.
        dtwin_time_maximum_ms: u64 = 48,
        /// NDWIN Time Minimum High, bytes 63:56, in milliseconds: for a whole DTWIN after it.
        ndwin_time_minimum_high_ms: u64 = 56,
        /// NDWIN Time Minimum Low, bytes 71:64, in milliseconds: for any DTWIN after it.
        ndwin_time_minimum_low_ms: u64 = 64,
        /// DTWIN Reads Estimate, bytes 135:128: left in this window, or in the next one.
        dtwin_reads_estimate: u64 = 128,
        /// DTWIN Writes Estimate, bytes 143:136.
        dtwin_writes_estimate: u64 = 136,
        /// DTWIN Time Estimate, bytes 151:144, in milliseconds.
        dtwin_time_estimate_ms: u64 = 144,
    }
}

impl PredictableLatencyLog {
    /// Event Type bit 0: fewer reads are left in the DTWIN than the threshold.
    pub const READS_WARNING: u16 = 1;
    /// Event Type bit 1: fewer writes are left than the threshold.
    pub const WRITES_WARNING: u16 = 1 << 1;
    /// Event Type bit 2: less time is left than the threshold.
    pub const TIME_WARNING: u16 = 1 << 2;
    /// Event Type bit 14: autonomous transition to NDWIN, a typical or maximum value was exceeded.
    pub const EXCEEDED: u16 = 1 << 14;
    /// Event Type bit 15: autonomous transition to NDWIN, a deterministic excursion.
    pub const EXCURSION: u16 = 1 << 15;
}

layout! {
    /// Deterministic Threshold Configuration (Base specification, Feature 13h): the data of
    /// Predictable Latency Mode Config.
    pub struct PredictableLatencyConfig, 512 bytes {
        /// Enable Event, bytes 1:0: the events to be reported, bits as in the log's Event Type.
        enable_event: u16 = 0,
        /// DTWIN Reads Threshold, bytes 39:32: warn when fewer reads are left.
        reads_threshold: u64 = 32,
        /// DTWIN Writes Threshold, bytes 47:40.
        writes_threshold: u64 = 40,
        /// DTWIN Time Threshold, bytes 55:48, in milliseconds.
        time_threshold_ms: u64 = 48,
    }
}
