//! `[controller]` and `[host]`: what is between the host and the medium, and the link to the host.
//!
//! Queues and their arbitration are those of the NVM Express Base Specification.

use serde::{Deserialize, Serialize};

use super::check::{Checker, names, section};
use super::units::{ByteSize, DataRate};
use crate::engine::Duration;
use crate::policy::arbitration::ArbitrationPolicy;

const MILLISECOND: Duration = Duration::from_ms(1);

section! {
    /// `[controller]`.
    #[non_exhaustive]
    Controller = "controller" {
        /// Bytes of a logical block. Unit: size; a power of two from 512B to 64KiB; default 4KiB \[A\].
        lba_size: ByteSize = ByteSize(4 << 10);
        /// What the host sees: bytes that hold data at most. Unit: size; a page of each plane up to what
        /// over-provisioning leaves, or 0B for all of that; default 0B \[P\].
        capacity: ByteSize = ByteSize(0);
        /// DRAM that holds written pages until they are programmed. Power-loss protected. Unit: size; at
        /// least the pages that all open wordlines may hold; default 32MiB \[A\].
        write_buffer: ByteSize = ByteSize(32 << 20);
        /// Whether a write completes when it is in the write buffer (write-back), else when all of its
        /// pages are programmed (write-through). Default true \[A\].
        write_cache: bool = true;
        /// What a flush does, zones apart, on which it has no effect. `program` or `none`; default `program` \[A\].
        flush: Flush = Flush::default();
        /// The rate of the controller's DRAM, which all NVM sets share: what is written to it and read from it goes one
        /// after the other. Data of the host and of collection go in and out once. Unit: data rate; range 0 (not
        /// limiting) or 1MB/s to 1000GB/s; default 0B/s \[A\].
        dram_rate: DataRate = DataRate(0);
        /// Latency of everything that needs no flash: admitting a write to the buffer, reading a
        /// buffered or an unmapped page, deallocating. Unit: time; range 1ns to 1s; default 10us \[A\].
        latency: Duration = Duration::from_us(10);
        /// What of a read command is on its way from flash at a time: larger reads are done in segments
        /// of that size, one after the other. Unit: size; pages as a whole up to 1GiB, or 0B for no
        /// limit; default 0B \[A\].
        read_segment: ByteSize = ByteSize(0), ByteSize(0)..=ByteSize(1 << 30);
        /// Commands outstanding, of two and more, up to which a read of `read_segment` bytes is done in
        /// two segments, so that others get in between. A deeper queue is served for throughput. Unit:
        /// count; range 0 to 65536, 0: never; default 0 \[A\].
        halved_read_depth: u32 = 0, 0..=65_536;
        /// How far a run of reads, each of which begins where another ended, is read ahead. The memory is none of the
        /// write buffer's: 8 runs of an NVM set are followed. Unit: size; pages as a whole up to 64MiB, or 0B for none;
        /// default 0B \[A\].
        read_ahead: ByteSize = ByteSize(0), ByteSize(0)..=ByteSize(64 << 20);
        /// Reads a die may serve before a program or an erase that waits for it gets its turn. Unit:
        /// count; range 1 to 1000000; default 32 \[A\].
        reads_before_program: u32 = 32, 1..=1_000_000;
    }
}

section! {
    /// `[host]`: the host's path to the device, the link between them, and how the controller takes commands
    /// from its queues. With all defaults a command is at the controller when its thread has it, the controller
    /// takes every command at once, and the link takes no time.
    #[non_exhaustive]
    Host = "host" {
        /// By what software the host submits commands and sees their completions. It is the host's: jobs and
        /// traces pay it, a [`Device`](crate::Device) alone does not know it. Default `none`.
        path: HostPath = HostPath::default();
        /// What a submitting thread's processor works on a command, one after the other: one thread has at most
        /// one command in this time. Unit: time; range 0 to 1ms; default [`HostPath::times`] \[P\].
        path_submit_time: Option<Duration> = None;
        /// From the device's completion until the host sees it. Unit: time; range 0 to 1ms; default
        /// [`HostPath::times`] \[A\].
        path_completion_time: Option<Duration> = None;
        /// The link's rate in each direction: full duplex, data one after the other. Unit: data rate;
        /// range 0 (not limiting) or 1MB/s to 1000GB/s; default 0B/s \[F\].
        link_rate: DataRate = DataRate(0);
        /// What a read or a write takes on the link besides its data, in the direction of the data: its
        /// entries and descriptors. Needs a `link_rate`. Unit: time; range 0 to 1ms; default 0ps \[F\].
        link_command_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// What the controller takes to fetch and parse a command, one after the other. Unit: time;
        /// range 0 to 1ms; default 0ps \[F\].
        command_cost: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// Commands the controller works on at a time, writes that wait for the buffer among them; others, reads
        /// too, wait in their queues. Unit: count; range 0 (no limit) to 65536; default 0 \[F\].
        commands_in_flight: u32 = 0, 0..=1 << 16;
        /// From which queue the next command comes. `round-robin`, `first-come` (in the order of arrival) or
        /// `weighted-round-robin`; default `round-robin`.
        arbitration: ArbitrationPolicy = ArbitrationPolicy::default();
        /// Commands fetched from a queue before it is another's turn. Unit: count; a power of two from 1
        /// to 64, or 0 for no limit; default 1 \[A\].
        arbitration_burst: u32 = 1;
        /// Commands a round fetches from high priority queues. Unit: count; range 1 to 256; default 4 \[A\].
        high_weight: u32 = 4, 1..=256;
        /// The same for medium priority. Unit: count; range 1 to 256; default 2 \[A\].
        medium_weight: u32 = 2, 1..=256;
        /// The same for low priority. Unit: count; range 1 to 256; default 1 \[A\].
        low_weight: u32 = 1, 1..=256;
    }
}

names! {
    /// What a flush does with what is in the write buffer.
    #[non_exhaustive]
    Flush {
        /// It programs what is gathered, with padding, and waits for it.
        #[default]
        Program = "program",
        /// Nothing: the buffer survives a loss of power, so that it is no volatile write cache to NVMe.
        None = "none",
    }
}

names! {
    /// By what software the host submits commands and sees their completions. The names are those of fio's engines.
    ///
    /// `profiles/README.md` has the times of each with their sources.
    #[non_exhaustive]
    HostPath {
        /// The host takes no time.
        #[default]
        None = "none",
        /// The device's own times were fitted to what a host saw, and have its path in them.
        Included = "included",
        /// SPDK: a driver in user space, whose thread polls for completions.
        Spdk = "spdk",
        /// `io_uring` of Linux, with interrupts and a system call for each submission.
        IoUring = "io_uring",
        /// `libaio` of Linux, with interrupts.
        Libaio = "libaio",
    }
}

/// What the host's path takes for a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTimes {
    /// Of the submitting thread's processor.
    pub submit: Duration,
    /// From the device's completion until the host sees it.
    pub completion: Duration,
}

impl HostPath {
    /// What it takes where the profile does not say.
    pub const fn times(self) -> PathTimes {
        let (submit_ns, completion_ns) = match self {
            HostPath::None | HostPath::Included => (0, 0),
            HostPath::Spdk => (500, 1_000),
            HostPath::IoUring => (2_300, 4_000),
            HostPath::Libaio => (3_600, 8_400),
        };
        PathTimes {
            submit: Duration::from_ns(submit_ns),
            completion: Duration::from_ns(completion_ns),
        }
    }
}

impl Controller {
    /// The keys that every device has.
    pub(super) fn check_shared(&self, checker: &mut Checker) {
        checker.power_of_two("controller.lba_size", self.lba_size);
        // Not zero: a closed loop of commands that take no time would never end.
        let latencies = Duration::from_ns(1)..=Duration::from_ms(1_000);
        checker.range("controller.latency", &self.latency, latencies);
    }

    /// The keys that only flash has, with an entry of the mapping for so much.
    pub(super) fn check_flash(&self, unit: ByteSize, checker: &mut Checker) {
        self.check_ranges(checker);
        if self.dram_rate != DataRate(0) {
            checker.range("controller.dram_rate", &self.dram_rate, DataRate::RANGE);
        }
        let segment = self.read_segment;
        let sizes = [
            ("controller.read_segment", segment, "no limit"),
            ("controller.read_ahead", self.read_ahead, "none"),
        ];
        for (key, size, none) in sizes {
            let are_sound = checker.are_sound(&["geometry.page_size", "ftl.mapping_unit", key]);
            if are_sound && size.0 % unit.0 != 0 {
                let message = format!("is {size}, and pages are of {unit}");
                let remedy = format!(
                    "must be a multiple of geometry.page_size, or of ftl.mapping_unit where that is given, or 0B for {none}"
                );
                checker.refuse(key, message, remedy);
            }
        }
        let depth = self.halved_read_depth;
        if depth > 0 && segment.0 == 0 && checker.are_sound(&["controller.read_segment"]) {
            let message = format!("is {depth}, and reads are of no segments");
            let remedy = "set controller.read_segment, or 0 here";
            checker.refuse("controller.halved_read_depth", message, remedy);
        }
    }
}

impl Host {
    /// What the host's path takes for a command: the profile's own times, else those of [`Host::path`].
    pub fn path_times(&self) -> PathTimes {
        let times = self.path.times();
        PathTimes {
            submit: self.path_submit_time.unwrap_or(times.submit),
            completion: self.path_completion_time.unwrap_or(times.completion),
        }
    }

    fn check_path(&self, checker: &mut Checker) {
        let times = [
            ("host.path_submit_time", self.path_submit_time),
            ("host.path_completion_time", self.path_completion_time),
        ];
        for (key, time) in times {
            let Some(time) = time else { continue };
            checker.range(key, &time, Duration::ZERO..=MILLISECOND);
            let has_none = matches!(self.path, HostPath::None | HostPath::Included);
            if has_none && checker.are_sound(&["host.path", key]) {
                let message = format!("is {time}, and the host has no path");
                let remedy = "give host.path as spdk, io_uring or libaio";
                checker.refuse(key, message, remedy);
            }
        }
    }

    pub(super) fn check(&self, checker: &mut Checker) {
        if self.link_rate != DataRate(0) {
            checker.range("host.link_rate", &self.link_rate, DataRate::RANGE);
        } else if self.link_command_time > Duration::ZERO && checker.are_sound(&["host.link_rate"])
        {
            let message = format!("is {}, and the link takes no time", self.link_command_time);
            checker.refuse("host.link_command_time", message, "give host.link_rate");
        }
        self.check_ranges(checker);
        self.check_path(checker);
        let burst = self.arbitration_burst;
        if burst != 0 && !(burst.is_power_of_two() && burst <= 64) {
            let message = format!("is {burst}");
            let remedy = "must be a power of two up to 64, or 0 for no limit";
            checker.refuse("host.arbitration_burst", message, remedy);
        }
    }
}
