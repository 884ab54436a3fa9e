//! Whether a profile describes a device that can be.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::units::ByteSize;
use super::{Allocation, Kind, Profile, ProfileError, ProfileErrors, ProgramOrder};
use crate::engine::Time;
use crate::ftl::{
    MAPPING_BYTES_PER_PAGE, MAX_SLOTS, OVER_PROVISIONED_GROUPS, PPN_LIMIT, capacity_pages, gc_slots,
};
use crate::nand::{Geometry, MAX_PAGES_PER_WORDLINE};

/// Collects errors.
#[derive(Default)]
pub(super) struct Checker {
    errors: Vec<ProfileError>,
}

impl Checker {
    pub(super) fn refuse(
        &mut self,
        key: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.errors.push(ProfileError::new(key, message, remedy));
    }

    pub(super) fn range<T: PartialOrd + Display>(
        &mut self,
        key: &str,
        value: &T,
        range: RangeInclusive<T>,
    ) {
        if range.contains(value) {
            return;
        }
        let remedy = if value < range.start() {
            format!("must be at least {}", range.start())
        } else {
            format!("must be at most {}", range.end())
        };
        self.refuse(key, format!("is {value}"), remedy);
    }

    pub(super) fn power_of_two(&mut self, key: &str, size: ByteSize) {
        let range = ByteSize(512)..=ByteSize(64 << 10);
        if range.contains(&size) && !size.0.is_power_of_two() {
            self.refuse(key, format!("is {size}"), "must be a power of two");
        } else {
            self.range(key, &size, range);
        }
    }

    fn time(&mut self, key: &str, value: Time, most: Time) {
        self.range(key, &value, Time::from_ps(1)..=most);
    }
}

impl Profile {
    /// Everything that makes the device impossible, all at once.
    pub fn validate(&self) -> Result<(), ProfileErrors> {
        let mut checker = Checker::default();
        self.check_shared(&mut checker);
        match self.kind {
            Kind::Nand => {
                self.check_flash(&mut checker);
                // What follows computes with the fields, so it needs them to be in range.
                if checker.errors.is_empty() {
                    self.check_size(&mut checker);
                }
            }
            Kind::Xpoint => self.xpoint.check(&mut checker),
        }
        if checker.errors.is_empty() {
            Ok(())
        } else {
            Err(ProfileErrors(checker.errors))
        }
    }

    /// What every device has.
    fn check_shared(&self, checker: &mut Checker) {
        if self.name.trim().is_empty() {
            checker.refuse("name", "is empty", "name the profile");
        }
        let controller = &self.controller;
        checker.power_of_two("controller.lba_size", controller.lba_size);
        checker.range(
            "controller.latency",
            &controller.latency,
            // Not zero: a closed loop of commands that take no time would never end.
            Time::from_ns(1)..=Time::from_ms(1000),
        );
        self.host.check(checker);
        self.firmware.check(checker);
    }

    /// Each field of flash alone.
    fn check_flash(&self, checker: &mut Checker) {
        let geometry = &self.geometry;
        checker.range("geometry.channels", &geometry.channels, 1..=256);
        checker.range(
            "geometry.dies_per_channel",
            &geometry.dies_per_channel,
            1..=64,
        );
        let dies_per_package = geometry.dies_per_package;
        checker.range("geometry.dies_per_package", &dies_per_package, 1..=64);
        if dies_per_package != 0 && geometry.dies_per_channel % dies_per_package != 0 {
            let message = format!("is {dies_per_package}");
            let remedy = "must divide geometry.dies_per_channel";
            checker.refuse("geometry.dies_per_package", message, remedy);
        }
        checker.range("geometry.planes_per_die", &geometry.planes_per_die, 1..=16);
        checker.range(
            "geometry.blocks_per_plane",
            &geometry.blocks_per_plane,
            1..=1 << 20,
        );
        checker.range(
            "geometry.wordlines_per_block",
            &geometry.wordlines_per_block,
            1..=1 << 16,
        );
        checker.power_of_two("geometry.page_size", geometry.page_size);

        checker.range("bus.rate", &self.bus.rate.0, 1..=100_000);
        if !matches!(self.bus.width_bits, 8 | 16 | 32 | 64) {
            let found = format!("is {}", self.bus.width_bits);
            checker.refuse("bus.width_bits", found, "must be 8, 16, 32 or 64");
        }
        checker.range("bus.bytes_per_4kib", &self.bus.bytes_per_4kib, 4096..=8192);
        checker.range("bus.command_bytes", &self.bus.command_bytes, 0..=1000);

        let timing = &self.timing;
        if timing.read.is_empty() || timing.read.len() > MAX_PAGES_PER_WORDLINE {
            let message = format!("has {} times", timing.read.len());
            let remedy = "give one for each page of a wordline: 1 (SLC) to 4 (QLC)";
            checker.refuse("timing.read", message, remedy);
        }
        for (index, time) in timing.read.iter().enumerate() {
            checker.time(&format!("timing.read[{index}]"), *time, Time::from_ms(1000));
        }
        if let Some(time) = timing.melded_read {
            checker.time("timing.melded_read", time, Time::from_ms(1000));
            if timing.read.len() == 1 {
                let message = "is given for wordlines of one page";
                checker.refuse(
                    "timing.melded_read",
                    message,
                    "remove it: there is nothing to meld",
                );
            }
        }
        if let Some(times) = &timing.program_pages {
            if times.len() != timing.read.len() {
                let message = format!("has {} times", times.len());
                let remedy = format!(
                    "give one for each of the {} pages of a wordline",
                    timing.read.len()
                );
                checker.refuse("timing.program_pages", message, remedy);
            }
            for (index, time) in times.iter().enumerate() {
                let key = format!("timing.program_pages[{index}]");
                checker.time(&key, *time, Time::from_ms(10_000));
            }
        }
        checker.time("timing.program", timing.program, Time::from_ms(10_000));
        checker.time("timing.erase", timing.erase, Time::from_ms(10_000));

        self.check_commands(checker);
        self.check_energy(checker);

        let reads = &self.controller.reads_before_program;
        checker.range("controller.reads_before_program", reads, 1..=1_000_000);
        let segment = self.controller.read_segment;
        checker.range(
            "controller.read_segment",
            &segment,
            ByteSize(0)..=ByteSize(1 << 30),
        );
        let page = geometry.page_size;
        if page.0 != 0 && segment.0 % page.0 != 0 {
            let message = format!("is {segment}, and pages are of {page}");
            let remedy = "must be a multiple of geometry.page_size, or 0B for no limit";
            checker.refuse("controller.read_segment", message, remedy);
        }
        let halved = &self.controller.halved_read_depth;
        checker.range("controller.halved_read_depth", halved, 0..=65_536);
        if *halved > 0 && segment.0 == 0 {
            let message = format!("is {halved}, and reads are of no segments");
            let remedy = "set controller.read_segment, or 0 here";
            checker.refuse("controller.halved_read_depth", message, remedy);
        }

        let spare = &self.ftl.over_provisioning_percent;
        checker.range("ftl.over_provisioning_percent", spare, 1..=90);
        checker.range("ftl.open_runs", &self.ftl.open_runs, 1..=4096);
        if self.ftl.program_order == ProgramOrder::Shadow && timing.program_pages.is_none() {
            let message = "is \"shadow\", and no times are known for single pages";
            let remedy = "give timing.program_pages, or make it \"one-shot\"";
            checker.refuse("ftl.program_order", message, remedy);
        }
        self.sets.check(geometry, checker);
        self.predictable_latency.check(checker);
        self.gc.check(checker);
        self.check_relayout(checker);
    }

    /// The fields together: addresses, buffer, spare blocks, memory.
    fn check_size(&self, checker: &mut Checker) {
        let geometry = Geometry::new(self);
        let blocks = self.geometry.blocks_per_plane;
        // The topmost numbers stand for buffer slots.
        let pages = geometry
            .pages_per_block_row()
            .checked_mul(u64::from(blocks));
        if pages.is_none_or(|pages| pages / u64::from(self.sets.count) > PPN_LIMIT) {
            let message = format!("is {blocks} blocks a plane: too many pages to number");
            let remedy = "page numbers of a set have 32 bits: use larger pages, more sets, or fewer \
                          blocks, wordlines or dies";
            checker.refuse("geometry.blocks_per_plane", message, remedy);
            return;
        }
        if blocks <= OVER_PROVISIONED_GROUPS {
            let message = format!("is {blocks} blocks a plane");
            let least = OVER_PROVISIONED_GROUPS + 1;
            let remedy = format!(
                "must be at least {least}: garbage collection needs {OVER_PROVISIONED_GROUPS} of them"
            );
            checker.refuse("geometry.blocks_per_plane", message, remedy);
            return;
        }
        self.check_buffer(checker, &geometry);

        let pages = capacity_pages(self, &geometry);
        let needed = ByteSize(pages * MAPPING_BYTES_PER_PAGE);
        if needed > self.ftl.mapping_memory {
            let message = format!(
                "is {}, but mapping {} of capacity in pages of {} takes {}",
                self.ftl.mapping_memory,
                human(pages * geometry.page_bytes),
                self.geometry.page_size,
                human(needed.0)
            );
            let remedy = "raise it, use larger pages, or lower geometry.blocks_per_plane";
            checker.refuse("ftl.mapping_memory", message, remedy);
        }
    }

    /// The share of the buffer that a set has must hold every page that waits for others of its
    /// wordline, or writes would have to be padded; and all slots must have a number.
    fn check_buffer(&self, checker: &mut Checker, geometry: &Geometry) {
        let page_bytes = geometry.page_bytes;
        let sets = u64::from(self.sets.count);
        let units = geometry.units() / self.sets.count;
        let pages_per_wordline = geometry.pages_per_wordline;
        let is_shadow = self.ftl.program_order == ProgramOrder::Shadow;
        let open = match (self.ftl.allocation, is_shadow) {
            // A stripe.
            (Allocation::Dynamic, false) => units * pages_per_wordline,
            // In the normal layout, and packed in the melded one.
            (Allocation::Static, false) => 2 * units * pages_per_wordline,
            // What open melded wordlines hold.
            (_, true) => units * pages_per_wordline * (pages_per_wordline + 1) / 2,
        };
        let in_runs = u64::from(self.ftl.open_runs + 1) * u64::from(pages_per_wordline);
        let least = sets * (u64::from(open) + in_runs) * page_bytes;
        let (lanes, lane_units) = match self.ftl.allocation {
            Allocation::Dynamic => (1, units),
            Allocation::Static => (units, 1),
        };
        let gc = u64::from(lanes) * u64::from(gc_slots(lane_units, pages_per_wordline, is_shadow));
        let most = sets * u64::from(MAX_SLOTS - 1).saturating_sub(gc) * page_bytes;
        let buffer = self.controller.write_buffer;
        let message = match sets {
            1 => format!("is {buffer}"),
            _ => format!("is {buffer} for {sets} sets"),
        };
        if buffer.0 < least {
            let remedy = format!(
                "must be at least {}: all pages of one wordline on every plane and of {} open runs, \
                 for each set",
                ByteSize(least),
                self.ftl.open_runs
            );
            checker.refuse("controller.write_buffer", message, remedy);
        } else if buffer.0 > most {
            let remedy = format!("must be at most {}", ByteSize(most));
            checker.refuse("controller.write_buffer", message, remedy);
        }
    }
}

/// A size with one decimal, for people.
fn human(bytes: u64) -> String {
    let (factor, unit) = match bytes {
        0..=0xF_FFFF => (1u64 << 10, "KiB"),
        0x10_0000..=0x3FFF_FFFF => (1 << 20, "MiB"),
        0x4000_0000..=0xFF_FFFF_FFFF => (1 << 30, "GiB"),
        _ => (1 << 40, "TiB"),
    };
    format!("{:.1} {unit}", bytes as f64 / factor as f64)
}
