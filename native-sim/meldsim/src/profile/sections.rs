//! The sections of a profile and their keys.

use serde::{Deserialize, Serialize};

use super::allocation::PageAllocation;
use super::commands::Commands;
use super::energy::Energy;
use super::firmware::Firmware;
use super::gc::Gc;
use super::host::Host;
use super::predictable_latency::PredictableLatency;
use super::sets::Sets;
use super::units::{ByteSize, TransferRate};
use super::xpoint::{Kind, Xpoint};
use crate::engine::Time;

/// A device. All fields are public so that an experiment may vary a preset; whoever changes one
/// relies on [`Device::new`](crate::Device::new) to refuse what is impossible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The profile's name. No default.
    pub name: String,
    /// One line for a list of profiles. Default: empty.
    #[serde(default)]
    pub description: String,
    /// What the device is made of. A device of kind `xpoint` has `[xpoint]`, `[controller]`, `[host]`
    /// and `[firmware]`; every other section is flash's, and holds nothing that matters then. Default `nand`.
    #[serde(default)]
    pub kind: Kind,
    /// How much flash there is and how it is arranged. Required of flash.
    #[serde(default)]
    pub geometry: Geometry,
    /// The channel's bus. Required of flash.
    #[serde(default)]
    pub bus: Bus,
    /// What the cells take. Required of flash.
    #[serde(default)]
    pub timing: Timing,
    /// The memory of a device of kind `xpoint`. Default: all defaults.
    #[serde(default, skip_serializing_if = "Xpoint::is_default")]
    pub xpoint: Xpoint,
    /// Which advanced commands the flash understands. Default: all defaults.
    #[serde(default)]
    pub commands: Commands,
    /// What operations cost. Default: all defaults.
    #[serde(default)]
    pub energy: Energy,
    /// The controller between host and flash. Default: all defaults.
    #[serde(default)]
    pub controller: Controller,
    /// The flash translation layer. Default: all defaults.
    #[serde(default)]
    pub ftl: Ftl,
    /// NVM sets. Default: one set of the whole device.
    #[serde(default)]
    pub sets: Sets,
    /// Garbage collection and wear levelling. Default: all defaults.
    #[serde(default)]
    pub gc: Gc,
    /// The link to the host and the controller's queues. Default: all defaults.
    #[serde(default)]
    pub host: Host,
    /// The controller's firmware. Default: all defaults.
    #[serde(default)]
    pub firmware: Firmware,
    /// Windows of NVM sets. Default: all defaults.
    #[serde(default)]
    pub predictable_latency: PredictableLatency,
}

/// `[geometry]`. The number of pages a wordline holds is the number of entries of
/// [`Timing::read`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Channels. Unit: count; range 1 to 256; no default.
    pub channels: u32,
    /// Dies that share a channel (ways). Unit: count; range 1 to 64; no default.
    pub dies_per_channel: u32,
    /// Dies of a package, which is a way of its channel. Unit: count; range 1 to 64, a divisor of
    /// `dies_per_channel`; default 1.
    #[serde(default = "one")]
    pub dies_per_package: u32,
    /// Planes of a die. `commands.multi_plane` says whether they work at once. Unit: count; range 1 to 16; default 1.
    #[serde(default = "one")]
    pub planes_per_die: u32,
    /// Blocks of a plane. Unit: count; range 1 to 1048576; no default.
    pub blocks_per_plane: u32,
    /// Wordlines of a block. Unit: count; range 1 to 65536; no default.
    pub wordlines_per_block: u32,
    /// Data bytes of a page. Unit: size; a power of two from 512B to 64KiB; no default.
    pub page_size: ByteSize,
}

/// `[bus]`: the channel between the controller and its dies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Transfers a second. Unit: transfer rate; range 1MT/s to 100GT/s; no default.
    pub rate: TransferRate,
    /// Bits of one transfer. Unit: bits; 8, 16, 32 or 64; no default.
    pub width_bits: u32,
    /// Bytes that cross the bus for every 4 KiB of page: data and spare area. Unit: bytes; range
    /// 4096 to 8192; default 4625 \[F\].
    #[serde(default = "bytes_per_4kib")]
    pub bytes_per_4kib: u32,
    /// Bus time of a command with its address. Unit: byte-times; range 0 to 1000; default 10 \[F\].
    #[serde(default = "command_bytes")]
    pub command_bytes: u32,
    /// Who gets a free bus first. `commands-first` \[F\] or `data-first`; default `commands-first`.
    #[serde(default)]
    pub arbitration: Arbitration,
}

/// `[timing]`: what the cells take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Sensing one page, one entry for each page of a wordline: one for SLC, two for MLC, three for
    /// TLC (LSB, CSB, MSB), four for QLC. Unit: time; range above 0 to 1s; no default.
    pub read: Vec<Time>,
    /// Sensing all pages of a wordline at once. Without it the device cannot meld, and lays
    /// hinted writes as all others. Unit: time; range above 0 to 1s, not for SLC; default: cannot meld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub melded_read: Option<Time>,
    /// Programming a whole wordline in one shot, once its pages are in the die. Unit: time; range
    /// above 0 to 10s; no default.
    pub program: Time,
    /// Programming the pages of a wordline one at a time (shadow order), one entry for each page.
    /// Unit: time; range above 0 to 10s; default: only whole wordlines can be programmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_pages: Option<Vec<Time>>,
    /// Erasing a block. Unit: time; range above 0 to 10s; no default.
    pub erase: Time,
}

/// `[controller]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Controller {
    /// Bytes of a logical block. Unit: size; a power of two from 512B to 64KiB; default 4KiB \[A\].
    pub lba_size: ByteSize,
    /// DRAM that holds written pages until they are programmed. Power-loss protected. Unit: size; at
    /// least the pages that all open wordlines may hold; default 32MiB \[A\].
    pub write_buffer: ByteSize,
    /// Whether a write completes when it is in the write buffer (write-back), else when all of its pages are
    /// programmed (write-through). Default true \[A\].
    pub write_cache: bool,
    /// Latency of everything that needs no flash: admitting a write to the buffer, reading a
    /// buffered or an unmapped page, deallocating. Unit: time; range 1ns to 1s; default 10us \[A\].
    pub latency: Time,
    /// What of a read command is on its way from flash at a time: larger reads are done in segments of that size,
    /// one after the other. Unit: size; pages as a whole up to 1GiB, or 0B for no limit; default 0B \[A\].
    pub read_segment: ByteSize,
    /// While several commands are outstanding, but no more than this many, a read that is as large as
    /// `read_segment` is done in two segments: a controller that lets others in while there is room, and goes for
    /// throughput under load. Unit: count; range 0 to 65536, 0: never; default 0 \[A\].
    pub halved_read_depth: u32,
    /// Reads a die may serve before a program or an erase that waits for it gets its turn. Unit:
    /// count; range 1 to 1000000; default 32 \[A\].
    pub reads_before_program: u32,
}

/// `[ftl]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// Share of the flash the host cannot fill. Unit: percent; range 1 to 90, and at least seven
    /// blocks of each plane; default 7 \[A\].
    pub over_provisioning_percent: u32,
    /// What decides on which plane a page lies: `dynamic`, the order of arrival, or `static`, the
    /// logical page; default `dynamic` \[A\].
    pub allocation: Allocation,
    /// Where consecutive pages (melded: wordlines) go: the initials of channel, way, die and plane,
    /// the fastest-varying first. Default `CWDP` \[F\].
    pub page_allocation: PageAllocation,
    /// In which order pages are programmed: `one-shot`, whole wordlines, or `shadow`, page by page,
    /// which needs `timing.program_pages`; default `one-shot` \[A\].
    pub program_order: ProgramOrder,
    /// What a read of some pages of a melded wordline does. `cheapest`: senses the pages one by one
    /// when that frees the die sooner. `whole-wordline`: always a melded read. Default `cheapest`.
    pub melded_partial_read: MeldedPartialRead,
    /// Sequential writers told apart: each may hold an unfinished wordline. Unit: count; range 1 to
    /// 4096; default 64 \[A\].
    pub open_runs: u32,
    /// DRAM the mapping may take when the device is full: four bytes a page. Unit: size; default
    /// 4GiB \[A\].
    pub mapping_memory: ByteSize,
}

/// Who gets a free bus first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Commands before data, so that dies sense while others transfer.
    #[default]
    CommandsFirst,
    /// Data before commands.
    DataFirst,
}

/// What decides on which plane a page lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// The order of arrival: consecutive writes go to one plane after the other.
    #[default]
    Dynamic,
    /// The logical page: page n always lies on the (n mod planes)-th plane of the allocation, a
    /// melded wordline by its number.
    Static,
}

/// In which order pages are programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramOrder {
    /// All pages of a wordline at once (full-sequence programming).
    #[default]
    OneShot,
    /// Page by page, a wordline's later pages after its neighbour's first: L0, L1, C0, L2, C1, M0, …
    Shadow,
}

/// What a read of some pages of a melded wordline does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeldedPartialRead {
    /// Single pages when that takes the die less time, else a melded read.
    #[default]
    Cheapest,
    /// Always a melded read.
    WholeWordline,
}

fn one() -> u32 {
    1
}

fn bytes_per_4kib() -> u32 {
    4625
}

fn command_bytes() -> u32 {
    10
}

impl Default for Controller {
    fn default() -> Controller {
        Controller {
            lba_size: ByteSize(4 << 10),
            write_buffer: ByteSize(32 << 20),
            write_cache: true,
            latency: Time::from_us(10),
            read_segment: ByteSize(0),
            halved_read_depth: 0,
            reads_before_program: 32,
        }
    }
}

impl Default for Ftl {
    fn default() -> Ftl {
        Ftl {
            over_provisioning_percent: 7,
            allocation: Allocation::default(),
            page_allocation: PageAllocation::default(),
            program_order: ProgramOrder::default(),
            melded_partial_read: MeldedPartialRead::default(),
            open_runs: 64,
            mapping_memory: ByteSize(4 << 30),
        }
    }
}
