//! Zoned namespaces: commands enter the [state machine](crate::nvme::zones) when they begin on the medium, in that order.

use super::request::{Outcome, PageRange, Request, Stage, ZoneStep};
use super::{Device, DeviceError};
use crate::engine::Duration;
use crate::event::Event;
use crate::nvme::zone::{Zone, ZoneAction, ZoneCounts, ZoneShape, ZoneState};
use crate::nvme::zones::{Managed, SavedZone, Written, Zones};
use crate::nvme::{Command, Directive, Hint, NamespaceId, Opcode, Pattern, Status};
use crate::timeline::Part;

/// Zones.
impl Device {
    /// How the zones of the namespace are, where it is zoned.
    pub fn zone_shape(&self) -> Option<ZoneShape> {
        self.zones.as_ref().map(|zones| zones.shape())
    }

    /// All zones of the namespace, in order, as Zone Management Receive reports them; none where it is not zoned.
    pub fn zones(&self) -> impl Iterator<Item = Zone> {
        self.zones.iter().flat_map(|zones| zones.iter())
    }

    /// The zones of a namespace from that of a logical block on, as Zone Management Receive reports them, and how they are.
    ///
    /// # Errors
    ///
    /// A namespace that does not exist or has no zones, [`DeviceError::OutOfRange`].
    pub fn report_zones(
        &self,
        nsid: NamespaceId,
        slba: u64,
    ) -> Result<(ZoneShape, impl Iterator<Item = Zone>), DeviceError> {
        self.namespaces.check(nsid, slba, 1)?;
        let zones = self.zones.as_ref().ok_or(DeviceError::NotZoned { nsid })?;
        let shape = zones.shape();
        let first = (slba / shape.size_lbas) as usize;
        Ok((shape, zones.iter().skip(first)))
    }

    /// What was done to zones since the device was built; nothing where there are none.
    pub fn zone_counts(&self) -> ZoneCounts {
        let zones = self.zones.as_ref();
        zones.map_or(ZoneCounts::default(), |zones| zones.counts())
    }

    /// Bytes of the largest namespace, where it is zoned.
    pub fn max_zoned_bytes(&self) -> Option<u64> {
        let size = self.profile.zone_bytes()?;
        let pages = self.set_info(0).map_or(0, |info| info.capacity_pages);
        let zones = pages * self.medium.page_bytes() / self.profile.zone_capacity().0;
        Some(zones * size)
    }

    /// The zones of a new namespace, where it is zoned.
    pub(super) fn make_zones(&mut self, size_lbas: u64) {
        if self.profile.has_zones() {
            let profile = &self.profile;
            let lba_bytes = profile.controller.lba_size.0;
            let shape = ZoneShape {
                size_lbas: profile.zones.size.0 / lba_bytes,
                capacity_lbas: profile.zone_capacity().0 / lba_bytes,
                max_active: profile.zones.max_active,
                max_open: profile.zones.max_open,
            };
            self.zones = Some(Box::new(Zones::new(shape, size_lbas)));
            self.find_way();
        }
    }

    /// Refuses commands of zones where there are none.
    #[cold]
    pub(super) fn check_zoned(&self, command: &Command) -> Result<(), DeviceError> {
        match (&self.zones, command.opcode, command.zone_action) {
            (None, ..) => Err(DeviceError::NotZoned { nsid: command.nsid }),
            (_, Opcode::ManageZone, None) => Err(DeviceError::NoZoneAction),
            _ => Ok(()),
        }
    }

    /// A command begins on zones. False when it was refused, and has ended.
    #[cold]
    pub(super) fn enter_zone(&mut self, id: u32) -> bool {
        let Err(status) = self.change_zone(id) else {
            return true;
        };
        let request = &mut self.requests[id];
        request.status = status;
        request.zone = ZoneStep::None;
        request.parts += 1;
        self.requests.outcomes.push(Outcome::Taken { request: id });
        self.take_outcomes();
        false
    }

    fn change_zone(&mut self, id: u32) -> Result<(), Status> {
        let Some(zones) = &mut self.zones else {
            return Ok(());
        };
        let lba_bytes = self.profile.controller.lba_size.0;
        let request = &mut self.requests[id];
        let (slba, nlb) = (request.start / lba_bytes, request.bytes / lba_bytes);
        let written = match (request.opcode, request.zone) {
            (Opcode::Flush, _) => return Ok(()),
            (Opcode::Read, _) => return zones.read(slba, nlb),
            (Opcode::Write, _) => zones.write(slba, nlb)?,
            (Opcode::Append, _) => zones.append(slba, nlb)?,
            (Opcode::ManageZone, ZoneStep::Manage(action)) => {
                let managed = zones.manage(slba, action)?;
                let capacity = zones.shape().capacity_lbas;
                request.work_on(
                    action,
                    managed,
                    self.namespaces.pages_at(0, slba, capacity).0,
                );
                return Ok(());
            }
            (Opcode::ManageZone, ZoneStep::ManageAll(action)) => {
                let managed = zones.manage_all(action)?;
                let size = zones.size_lbas();
                request.work_on(action, managed, self.namespaces.pages_at(0, 0, size).0);
                return Ok(());
            }
            (Opcode::Deallocate | Opcode::ManageZone, _) => return Err(Status::INVALID_OPCODE),
        };
        let Written {
            slba,
            slot,
            opens,
            fills,
        } = written;
        request.range = self.namespaces.pages_at(0, slba, nlb).0;
        request.next = request.range.first;
        request.start = slba * lba_bytes;
        request.hint = Hint {
            pattern: Pattern::None,
            stream: slot,
        };
        if request.opcode == Opcode::Append {
            request.result = slba;
        }
        request.zone = ZoneStep::Write { opens, fills };
        Ok(())
    }

    /// A command arrives at the firmware's unit for zones, before the medium or after it; true: it leaves later, with an event. Reads
    /// overtake what is there, all else waits.
    #[cold]
    pub(super) fn enter_zone_unit(&mut self, id: u32) -> bool {
        let now = self.queue.now();
        let is_after = self.requests[id].stage == Stage::Medium;
        if let Some(recorder) = self.medium.recorder() {
            match (is_after, &self.firmware) {
                (true, _) => recorder.medium_ended(id, now),
                (false, None) => recorder.spend(id, Part::Queue, now),
                (false, Some(_)) => {}
            }
        }
        let work = self.zone_work(id);
        let half = Duration::from_ps(work.as_ps() / 2);
        let done = match (is_after, self.requests[id].opcode) {
            (_, Opcode::Read) => now,
            (true, Opcode::Write | Opcode::Append) => self.zone_unit.serve(now, work - half),
            (true, _) => now,
            (false, _) => self.zone_unit.serve(now, half),
        };
        if done > now {
            if !is_after {
                self.requests[id].stage = Stage::Firmware;
            }
            self.queue.schedule(done, Event::ZoneUnit(id));
        }
        done > now
    }

    /// The firmware's unit for zones has worked on a command.
    #[cold]
    pub(super) fn leave_zone_unit(&mut self, id: u32) {
        if self.requests[id].stage != Stage::Medium {
            return self.begin(id);
        }
        if let Some(recorder) = self.medium.recorder() {
            recorder.spend(id, Part::Firmware, self.queue.now());
        }
        self.finish_parts(id, 1);
    }

    /// What the firmware works on a command, in its unit for zones.
    fn zone_work(&self, id: u32) -> Duration {
        let zones = &self.profile.zones;
        let request = &self.requests[id];
        let own = match request.opcode {
            Opcode::Write => zones.write_time,
            Opcode::Append => zones.write_time + zones.append_time,
            _ => return Duration::ZERO,
        };
        match request.bytes % zones.write_unit.0.max(1) {
            0 => own,
            _ => own + zones.part_time,
        }
    }

    /// What a command takes the controller because of what it does to zones.
    #[cold]
    pub(super) fn zone_time(&self, id: u32) -> Duration {
        let zones = &self.profile.zones;
        let request = &self.requests[id];
        match request.zone {
            ZoneStep::None => Duration::ZERO,
            ZoneStep::Write { opens, .. } => zones.open_time * u64::from(opens),
            ZoneStep::Pad { .. }
            | ZoneStep::Manage(ZoneAction::Finish)
            | ZoneStep::ManageAll(ZoneAction::Finish) => zones.manage_time + zones.open_time,
            ZoneStep::Reset { .. } | ZoneStep::Manage(_) | ZoneStep::ManageAll(_) => {
                zones.manage_time
            }
        }
    }

    /// Zones that were padded are so.
    #[cold]
    pub(super) fn leave_zone(&mut self, id: u32) {
        let request = &self.requests[id];
        if let (ZoneStep::Pad { slots }, Some(zones)) = (request.zone, &mut self.zones) {
            zones.finished(slots);
        }
    }

    /// What of zones survives a power cut; nothing where there are none. Of writes that have begun, what is in the write buffer.
    pub(super) fn save_zones(&self) -> Option<Vec<SavedZone>> {
        let zones = self.zones.as_ref()?;
        let held = |start, written| {
            let range = self.namespaces.pages_at(0, start, written).0;
            let gap = self.medium.next_unmapped(range);
            gap.map_or(written, |gap| gap.start - range.first)
        };
        Some(zones.save(held))
    }

    /// Takes zones that survived a power cut. What a frontier has begun for a zone that is no longer active is ended.
    pub(super) fn load_zones(&mut self, saved: &[SavedZone]) -> Result<(), String> {
        let Some(zones) = &mut self.zones else {
            let is_none = saved.is_empty();
            return is_none.then_some(()).ok_or("it has zones".to_owned());
        };
        if !zones.resume(saved) {
            return Err("its zones cannot be so".to_owned());
        }
        for slot in zones.free_slots() {
            let (queue, requests) = (&mut self.queue, &mut self.requests);
            self.medium.release_stream(queue, requests, 0, slot);
        }
        self.take_outcomes();
        Ok(())
    }

    /// As [`Device::preload`] of the zones of a range that are empty. Returns how many logical blocks they took.
    pub(super) fn preload_empty_zones(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<u64, DeviceError> {
        let Some(shape) = self.zone_shape() else {
            return Ok(0);
        };
        let end = slba + nlb;
        let is_empty =
            |zone: &Zone| zone.state == ZoneState::Empty && (slba..end).contains(&zone.start_lba);
        let empty = self.zones().filter(is_empty);
        let empty: Vec<u64> = empty.map(|zone| zone.start_lba).collect();
        let mut placed = 0;
        for start in empty {
            let lbas = shape.capacity_lbas.min(end - start);
            self.preload(nsid, start, lbas, Directive::NONE)?;
            placed += lbas;
        }
        Ok(placed)
    }

    /// Zones that hold data from before: of a range, what can be written of each; the zones are full. `None` where namespaces are
    /// not zoned.
    pub(super) fn fill_zones(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
    ) -> Result<Option<Vec<(u64, u64)>>, DeviceError> {
        let Some(zones) = &mut self.zones else {
            return Ok(None);
        };
        self.namespaces.check(nsid, slba, nlb)?;
        let filled = zones.fill(slba, nlb).ok_or(DeviceError::ZonesNotEmpty)?;
        Ok(Some(filled))
    }
}

impl Request {
    /// What the medium does for zones that were managed, which are all or some of a range.
    fn work_on(&mut self, action: ZoneAction, managed: Managed, range: PageRange) {
        let Managed {
            is_changed,
            slots,
            written_lbas,
        } = managed;
        match action {
            ZoneAction::Finish if slots != 0 => self.zone = ZoneStep::Pad { slots },
            ZoneAction::Reset if is_changed => {
                self.range = range;
                self.zone = ZoneStep::Reset {
                    slots,
                    written: written_lbas,
                };
            }
            _ => {}
        }
    }
}
