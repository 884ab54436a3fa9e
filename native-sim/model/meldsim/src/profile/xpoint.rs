//! `[xpoint]`: an address-mapped device of 3D XPoint memory.
//!
//! The array and what it shares follow "Towards an Unwritten Contract of Intel Optane SSD" (HotStorage'19).

use serde::{Deserialize, Serialize};

use super::check::{Checker, section};
use super::units::{ByteSize, DataRate};
use crate::engine::Duration;

const MILLISECOND: Duration = Duration::from_ms(1);
/// Operations of a die that overlap at most.
const MOST_OVERLAPPING: u64 = 64;

section! {
    /// `[xpoint]`: memory dies in an array like RAID 0, and what they share. Consecutive chunks lie on
    /// consecutive dies; a chunk's die follows from its address alone.
    #[non_exhaustive]
    Xpoint = "xpoint" {
        /// Bytes the device holds. Unit: size; 1MiB to 1024TiB; default 260GiB.
        capacity: ByteSize = ByteSize(260 << 30), ByteSize(1 << 20)..=ByteSize(1 << 50);
        /// Dies that consecutive chunks lie on: the interleaving degree. Unit: count; range 1 to 256; default 7 \[P\].
        dies: u32 = 7, 1..=256;
        /// Bytes of a chunk. Unit: size; a power of two from 512B to 64KiB; default 4KiB \[P\].
        chunk_size: ByteSize = ByteSize(4 << 10);
        /// From the start of a read of a chunk to its data; until then nothing else is done to that
        /// chunk. Unit: time; range 1ns to 1ms; default 5us \[F\].
        read: Duration = Duration::from_us(5), Duration::from_ns(1)..=MILLISECOND;
        /// The same for a write. Unit: time; range 1ns to 1ms; default 5us \[F\].
        write: Duration = Duration::from_us(5), Duration::from_ns(1)..=MILLISECOND;
        /// From one read of a die to its next operation, on another chunk. Unit: time; a 64th of `read`
        /// to `read`; default 2us \[F\].
        read_interval: Duration = Duration::from_us(2);
        /// From one write of a die to its next operation. Unit: time; a 64th of `write` to `write`;
        /// default 2us \[F\].
        write_interval: Duration = Duration::from_us(2);
        /// From one chunk of a command to its next. Unit: time; range 0 to 1ms; default 2us \[F\].
        issue_interval: Duration = Duration::from_us(2), Duration::ZERO..=MILLISECOND;
        /// Buffers in which a chunk is held that a command covers only in part. Unit: count; range 1
        /// to 65536; default 8 \[F\].
        sector_buffers: u32 = 8, 1..=65_536;
        /// What passing through a sector buffer takes, besides the die. Unit: time; range 0 to 1ms;
        /// default 2us \[F\].
        sector_time: Duration = Duration::from_us(2), Duration::ZERO..=MILLISECOND;
        /// Rate of the controller's data path for reads: one for both directions. Unit: data rate; range
        /// 1MB/s to 1000GB/s; default 2.4GB/s \[F\].
        read_rate: DataRate = DataRate(2_400_000_000), DataRate::RANGE;
        /// The same for writes. Unit: data rate; range 1MB/s to 1000GB/s; default 2.3GB/s \[F\].
        write_rate: DataRate = DataRate(2_300_000_000), DataRate::RANGE;
    }
}

impl Xpoint {
    pub(super) fn check(&self, checker: &mut Checker) {
        self.check_ranges(checker);
        checker.power_of_two("xpoint.chunk_size", self.chunk_size);
        for (whole, time, key, interval) in [
            (
                "xpoint.read",
                self.read,
                "xpoint.read_interval",
                self.read_interval,
            ),
            (
                "xpoint.write",
                self.write,
                "xpoint.write_interval",
                self.write_interval,
            ),
        ] {
            if checker.are_sound(&[whole]) {
                let least = Duration::from_ps(time.as_ps().div_ceil(MOST_OVERLAPPING));
                checker.range(key, &interval, least..=time);
            }
        }
    }
}
