//! `[geometry]`, `[bus]`, `[timing]`, `[commands]`, `[energy]`: the flash, its channels and what they understand.
//!
//! Commands are those of ONFI and of flash data sheets.

use serde::{Deserialize, Serialize};

use super::check::{Checker, names, section};
use super::limits::MAX_FLASH_PAGES_PER_WORDLINE;
use super::units::{ByteSize, EnergyAmount, TransferRate};
use crate::engine::Duration;
use crate::policy::cells::CellsPolicy;

const SECOND: Duration = Duration::from_ms(1_000);
const TEN_SECONDS: Duration = Duration::from_ms(10_000);
const ANY_TIME: Duration = Duration::from_ps(1);
const JOULE: EnergyAmount = EnergyAmount(1_000_000_000_000);

section! {
    /// `[geometry]`. The number of pages a wordline holds is the number of entries of
    /// [`Timing::read`]. What has no default is zero until it is set.
    #[non_exhaustive]
    Geometry = "geometry" {
        /// Channels. Unit: count; range 1 to 256; no default.
        channels: u32 = 0, 1..=256;
        /// Dies that share a channel (ways). Unit: count; range 1 to 64; no default.
        dies_per_channel: u32 = 0, 1..=64;
        /// Dies of a package, which is a way of its channel. Unit: count; range 1 to 64, a divisor of
        /// `dies_per_channel`; default 1.
        dies_per_package: u32 = 1, 1..=64;
        /// Planes of a die. `commands.multi_plane` says whether they work at once. Unit: count; range
        /// 1 to 16; default 1.
        planes_per_die: u32 = 1, 1..=16;
        /// Blocks of a plane. Unit: count; range 1 to 1048576; no default.
        blocks_per_plane: u32 = 0, 1..=1 << 20;
        /// Wordlines of a block. Unit: count; range 1 to 65536; no default.
        wordlines_per_block: u32 = 0, 1..=1 << 16;
        /// Data bytes of a page. Unit: size; a power of two from 512B to 64KiB; no default.
        page_size: ByteSize = ByteSize(0);
    }
}

section! {
    /// `[bus]`: the channel between the controller and its dies.
    #[non_exhaustive]
    Bus = "bus" {
        /// Transfers a second. Unit: transfer rate; range 1MT/s to 100GT/s; no default.
        rate: TransferRate = TransferRate(0), TransferRate(1)..=TransferRate(100_000);
        /// Bits of one transfer. Unit: bits; 8, 16, 32 or 64; no default.
        width_bits: u32 = 0;
        /// Bytes that cross the bus for every 4 KiB of page: data and spare area. Unit: bytes; range
        /// 4096 to 8192; default 4625 \[F\].
        bytes_per_4kib: u32 = 4625, 4096..=8192;
        /// Bus time of a command with its address. Unit: byte-times; range 0 to 1000; default 10 \[F\].
        command_bytes: u32 = 10, 0..=1000;
        /// Who gets a free bus first. `commands-first` \[F\] or `data-first`; default `commands-first`.
        arbitration: Arbitration = Arbitration::default();
    }
}

section! {
    /// `[timing]`: what the cells take.
    #[non_exhaustive]
    Timing = "timing" {
        /// Sensing one page, one entry for each page of a wordline: one for SLC, two for MLC, three for
        /// TLC (LSB, CSB, MSB), four for QLC. Unit: time; range above 0 to 1s; no default.
        read: Vec<Duration> = Vec::new();
        /// Sensing all pages of a wordline at once. Without it the device cannot meld, and lays
        /// hinted writes as all others. Unit: time; range above 0 to 1s, not for SLC, or `none`; default: `none`.
        melded_read: Option<Duration> = None;
        /// Programming a whole wordline in one shot, once its pages are in the die. Unit: time; range
        /// above 0 to 10s; no default.
        program: Duration = Duration::ZERO, ANY_TIME..=TEN_SECONDS;
        /// Programming the pages of a wordline one at a time (shadow order), one entry for each page.
        /// Unit: time; range above 0 to 10s; default: only whole wordlines can be programmed.
        program_pages: Option<Vec<Duration>> = None;
        /// How cells differ from what is said here: the name of a model of them. Default `ideal`, not at all.
        cells: CellsPolicy = CellsPolicy::default();
        /// Erasing a block. Unit: time; range above 0 to 10s; no default.
        erase: Duration = Duration::ZERO, ANY_TIME..=TEN_SECONDS;
    }
}

section! {
    /// `[commands]`: which advanced commands the flash understands and how they are issued. The default
    /// is a device without any of them, as the published presets are.
    #[non_exhaustive]
    Commands = "commands" {
        /// Reads, programs and erases of the same block, wordline and pages on different planes of a
        /// die become one command with one array time, as far as the die's queue holds them when it is
        /// composed. Each plane's address and data still cross the bus. Default false \[A\].
        multi_plane: bool = false;
        /// How the dies of a package work together; see [`DieInterleave`]. Default `independent` \[A\].
        die_interleave: DieInterleave = DieInterleave::default();
        /// In which order what waits for a channel is issued; see [`Issue`]. Default `out-of-order` \[A\].
        issue: Issue = Issue::default();
        /// A die senses its next page while the last one's data waits in the cache register or crosses
        /// the bus. Default false \[F\].
        cache_read: bool = false;
        /// A die takes the data of its next program while it programs. Default false \[A\].
        cache_program: bool = false;
        /// Garbage collection may copy pages within a plane without moving them over the bus.
        /// Default false \[A\].
        copyback: bool = false;
        /// Reads suspend a program that their die works on. Default false \[A\].
        suspend_program: bool = false;
        /// Reads suspend an erase that their die works on. Default false \[A\].
        suspend_erase: bool = false;
        /// They do so also while writes to the NVM set wait for the write buffer. Else its dies go on then, so that the buffer
        /// empties. Default true \[A\].
        suspend_under_pressure: bool = true;
        /// From the command that suspends to the start of the read's sensing. Unit: time; range 0 to 1s;
        /// default 20us \[A\].
        suspend_time: Duration = Duration::from_us(20), Duration::ZERO..=SECOND;
        /// From the command that resumes until the array goes on. Unit: time; range 0 to 1s; default
        /// 20us \[A\].
        resume_time: Duration = Duration::from_us(20), Duration::ZERO..=SECOND;
        /// Times one program or erase may be suspended. Unit: count; range 1 to 1000000; default 16 \[A\].
        max_suspends: u32 = 16, 1..=1_000_000;
        /// How long a program or an erase works at least before it is suspended, at first and after each
        /// resumption. Unit: time; range 0 to 10s; default 100us \[A\].
        suspend_progress: Duration = Duration::from_us(100), Duration::ZERO..=TEN_SECONDS;
        /// How long a phase of a program or an erase is: it stops for a read only at the end of one (inter-phase
        /// suspension, Wu and He, FAST'12), and does one at least. `0s`: at once. Unit: time; range 0 to 10s; default 0s \[A\].
        suspend_phase: Duration = Duration::ZERO, Duration::ZERO..=TEN_SECONDS;
    }
}

section! {
    /// `[energy]`: what operations cost. The array's defaults are \[A\]: the typical 25 mA at 3.3 V of
    /// flash data sheets, for as long as each operation takes on the TLC preset; the bus's is \[A\]
    /// 5 pJ a bit.
    #[non_exhaustive]
    Energy = "energy" {
        /// Sensing one page. Unit: energy; range 0 to 1J; default 7uJ \[A\].
        read: EnergyAmount = EnergyAmount::from_nj(7_000), EnergyAmount(0)..=JOULE;
        /// Sensing all pages of a wordline at once. Unit: energy; range 0 to 1J; default 14uJ \[A\].
        melded_read: EnergyAmount = EnergyAmount::from_nj(14_000), EnergyAmount(0)..=JOULE;
        /// Programming a wordline in one shot. Unit: energy; range 0 to 1J; default 413uJ \[A\].
        program: EnergyAmount = EnergyAmount::from_nj(413_000), EnergyAmount(0)..=JOULE;
        /// Programming one page of a wordline of several. Unit: energy; range 0 to 1J; default 214uJ \[A\].
        program_page: EnergyAmount = EnergyAmount::from_nj(214_000), EnergyAmount(0)..=JOULE;
        /// Erasing a block. Unit: energy; range 0 to 1J; default 188uJ \[A\].
        erase: EnergyAmount = EnergyAmount::from_nj(188_000), EnergyAmount(0)..=JOULE;
        /// One byte of data on the bus. Unit: energy; range 0 to 1mJ; default 40pJ \[A\].
        bus_byte: EnergyAmount = EnergyAmount(40), EnergyAmount(0)..=EnergyAmount::from_nj(1_000_000);
    }
}

names! {
    /// Who gets a free bus first.
    #[non_exhaustive]
    Arbitration {
        /// Commands before data, so that dies sense while others transfer.
        #[default]
        CommandsFirst = "commands-first",
        /// Data before commands.
        DataFirst = "data-first",
    }
}

names! {
    /// How the dies of a package (way) work together.
    #[non_exhaustive]
    DieInterleave {
        /// Each die takes its next command as soon as it is free.
        #[default]
        Independent = "independent",
        /// A package executes one transaction at a time. It is composed from what is queued when the
        /// package becomes free: one command for each of its dies.
        Composed = "composed",
        /// A package serves one die at a time.
        Off = "off",
    }
}

names! {
    /// In which order what waits for a channel is issued.
    #[non_exhaustive]
    Issue {
        /// Whatever a free die or package has queued, reads before programs.
        #[default]
        OutOfOrder = "out-of-order",
        /// Strictly in the order of arrival: what is for a busy die or package delays all that came after it.
        InOrder = "in-order",
        /// In order, and each channel works for one request at a time: the next one's operations wait until all of
        /// the last one's on that channel are done. Requests work side by side on different channels.
        ByRequest = "by-request",
    }
}

impl Geometry {
    pub(super) fn check(&self, checker: &mut Checker) {
        self.check_ranges(checker);
        let dies_per_package = self.dies_per_package;
        let dies = ["geometry.dies_per_channel", "geometry.dies_per_package"];
        if checker.are_sound(&dies) && self.dies_per_channel % dies_per_package != 0 {
            let message = format!("is {dies_per_package}");
            let remedy = "must divide geometry.dies_per_channel";
            checker.refuse("geometry.dies_per_package", message, remedy);
        }
        checker.power_of_two("geometry.page_size", self.page_size);
    }
}

impl Bus {
    pub(super) fn check(&self, checker: &mut Checker) {
        self.check_ranges(checker);
        if !matches!(self.width_bits, 8 | 16 | 32 | 64) {
            let message = format!("is {}", self.width_bits);
            checker.refuse("bus.width_bits", message, "must be 8, 16, 32 or 64");
        }
    }
}

impl Timing {
    pub(super) fn check(&self, checker: &mut Checker) {
        let pages = self.read.len();
        if pages == 0 || pages > MAX_FLASH_PAGES_PER_WORDLINE {
            let message = format!("has {pages} times");
            let remedy = "give one for each page of a wordline: 1 (SLC) to 4 (QLC)";
            checker.refuse("timing.read", message, remedy);
        }
        for (index, time) in self.read.iter().enumerate() {
            checker.range(&format!("timing.read[{index}]"), time, ANY_TIME..=SECOND);
        }
        if let Some(time) = &self.melded_read {
            let key = "timing.melded_read";
            checker.range(key, time, ANY_TIME..=SECOND);
            if pages == 1 && checker.are_sound(&["timing.read"]) {
                let message = "is given for wordlines of one page";
                let remedy = "leave it out, or make it \"none\" if it is inherited";
                checker.refuse(key, message, remedy);
            }
        }
        if let Some(times) = &self.program_pages {
            if times.len() != pages && checker.are_sound(&["timing.read"]) {
                let message = format!("has {} times", times.len());
                let remedy =
                    format!("give one for each of the {pages} pages of a wordline, or \"none\"");
                checker.refuse("timing.program_pages", message, remedy);
            }
            for (index, time) in times.iter().enumerate() {
                let key = format!("timing.program_pages[{index}]");
                checker.range(&key, time, ANY_TIME..=TEN_SECONDS);
            }
        }
        self.check_ranges(checker);
    }
}
