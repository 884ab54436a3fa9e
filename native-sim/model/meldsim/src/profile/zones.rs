//! `[zones]`: zoned namespaces.

use serde::{Deserialize, Serialize};

use super::check::{Checker, section};
use super::units::ByteSize;
use super::{Allocation, Flush, MapKind, Profile, ProgramOrder};
use crate::engine::Duration;
use crate::policy::placement::PlacementPolicy;

const MILLISECOND: Duration = Duration::from_ms(1);

section! {
    /// `[zones]`: zoned namespaces (NVM Express Zoned Namespace Command Set 1.1). What can be written of a zone is a superblock, a
    /// block of every plane. The device has one namespace.
    #[non_exhaustive]
    Zones = "zones" {
        /// From the start of a zone to that of the next; a superblock at least. `0B`: no zones. Unit: size; default 0B.
        size: ByteSize = ByteSize(0);
        /// Zones that are partly written, open or not. Unit: count; range 1 to 16; default 14.
        max_active: u32 = 14, 1..=16;
        /// Zones that are open. Unit: count; range 1 to `max_active`; default 14.
        max_open: u32 = 14, 1..=16;
        /// What zone management takes besides the controller's latency. Unit: time; range 0s to 1ms; default 0s.
        manage_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// What a write that opens a zone takes longer, and what finishes one. Unit: time; range 0s to 1ms; default 0s.
        open_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// What the firmware works on a write or an append, one after the other: half of it before the data enter the write
        /// buffer, half after. Unit: time; range 0s to 1ms; default 0s.
        write_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// What it works longer on an append. Unit: time; range 0s to 1ms; default 0s.
        append_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// The firmware keeps data of writes and appends in units of so many bytes. Unit: size; range 0B (a logical block) to 1MiB;
        /// default 0B.
        write_unit: ByteSize = ByteSize(0), ByteSize(0)..=ByteSize(1 << 20);
        /// What it works longer on a write or an append of bytes that are not whole such units. Unit: time; range 0s to 1ms;
        /// default 0s.
        part_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
        /// What a reset of a zone, or of all, takes, whatever they hold. Unit: time; range 0s to 10s; default 0s.
        reset_time: Duration = Duration::ZERO, Duration::ZERO..=Duration::from_ms(10_000);
        /// What it takes besides for each mapping unit that the host has written. Unit: time; range 0s to 1ms; default 0s.
        reset_unit_time: Duration = Duration::ZERO, Duration::ZERO..=MILLISECOND;
    }
}

impl Zones {
    pub(super) fn is_default(&self) -> bool {
        *self == Zones::default()
    }
}

impl Profile {
    /// Whether namespaces are zoned.
    pub fn has_zones(&self) -> bool {
        self.zones.size.0 > 0
    }

    /// Whether a flush has an effect. Not on zones: padding would take what a zone has.
    pub(crate) fn flush_programs(&self) -> bool {
        self.controller.flush == Flush::Program && !self.has_zones()
    }

    /// Bytes from the start of a zone to that of the next, where namespaces are zoned.
    pub fn zone_bytes(&self) -> Option<u64> {
        self.has_zones().then_some(self.zones.size.0)
    }

    /// Bytes of a zone that can be written.
    pub fn zone_capacity(&self) -> ByteSize {
        self.reclaim_unit()
    }

    /// Refuses zones that the translation layer or the write buffer cannot keep apart.
    pub(super) fn check_zones(&self, checker: &mut Checker) {
        if !self.has_zones() {
            return;
        }
        let one_value = [
            (self.fdp.handles > 0, "fdp.handles", "must be 0 with zones"),
            (self.sets.count > 1, "sets.count", "must be 1 with zones"),
            (
                self.ftl.allocation == Allocation::Static,
                "ftl.allocation",
                "must be \"dynamic\" with zones",
            ),
            (
                self.ftl.map != MapKind::Table,
                "ftl.map",
                "must be \"table\" with zones",
            ),
            (
                self.ftl.placement != PlacementPolicy::named("streams"),
                "ftl.placement",
                "must be \"streams\" with zones",
            ),
            (
                self.ftl.program_order != ProgramOrder::OneShot,
                "ftl.program_order",
                "must be \"one-shot\" with zones",
            ),
            (
                !self.controller.write_cache,
                "controller.write_cache",
                "must be true with zones",
            ),
            (
                self.controller.lba_size != self.mapping_unit(),
                "controller.lba_size",
                "must be ftl.mapping_unit with zones",
            ),
        ];
        for (is_wrong, key, remedy) in one_value {
            if is_wrong {
                checker.refuse(key, "does not go with zones.size", remedy);
            }
        }
        let (active, open) = (self.zones.max_active, self.zones.max_open);
        if open > active {
            let remedy = format!("must be at most zones.max_active, {active}");
            checker.refuse("zones.max_open", format!("is {open}"), remedy);
        }
        let (size, capacity) = (self.zones.size, self.zone_capacity());
        if size < capacity || size.0 % self.mapping_unit().0 != 0 {
            let remedy = format!(
                "must be at least {capacity}, a block of every plane, in whole mapping units"
            );
            checker.refuse("zones.size", format!("is {size}"), remedy);
        }
        // Each active zone has a superblock open, and one that was reset has left another.
        self.check_open_blocks(checker, ("zones.max_active", active), 2 * active);
        self.check_gathered(checker, format!("{active} active zones"), active + 2);
    }
}
