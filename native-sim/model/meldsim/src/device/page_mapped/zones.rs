//! Zones that are finished, which takes programs of padding, and that are reset, for which writes wait.

use super::{Map, NandMedium, NvmSet};
use crate::device::request::{Requests, ZoneStep, frontiers};
use crate::engine::{Duration, EventQueue};
use crate::event::Event;
use crate::nand::Owner;
use crate::profile::Profile;

/// The zones of a set that are worked on.
#[derive(Debug, Default)]
pub(super) struct ZoneWork {
    reset_time: Duration,
    reset_unit_time: Duration,
    /// Those that are padded.
    padded: Vec<Padded>,
    /// The command that resets some, for which other writes of the set wait.
    reset: Option<Reset>,
}

/// A zone that is padded.
#[derive(Debug)]
struct Padded {
    request: u32,
    slot: u8,
    /// Wordlines that nothing was begun for.
    left: u32,
    /// Wordlines on their way.
    in_flight: u32,
}

/// Zones that are reset.
#[derive(Debug)]
struct Reset {
    request: u32,
    /// Programs that come first.
    programs: u64,
    is_timed: bool,
    is_done: bool,
}

impl ZoneWork {
    pub(super) fn new(profile: &Profile) -> ZoneWork {
        ZoneWork {
            reset_time: profile.zones.reset_time,
            reset_unit_time: profile.zones.reset_unit_time,
            ..ZoneWork::default()
        }
    }

    /// A program that a request waits for has ended.
    pub(super) fn programmed(&mut self, request: u32) {
        let is_its = |one: &&mut Padded| one.request == request && one.in_flight > 0;
        if let Some(padded) = self.padded.iter_mut().find(is_its) {
            padded.in_flight -= 1;
        }
        if let Some(reset) = self.reset.as_mut().filter(|one| one.request == request) {
            reset.programs -= 1;
        }
    }
}

impl<M: Map> NandMedium<M> {
    /// Does to zones what a command asks for, after the writes before it. False when it is not done.
    pub(super) fn manage_zone(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        (set, id): (u32, u32),
    ) -> bool {
        let request = &mut requests[id];
        let NvmSet { ftl, zoned, .. } = &mut self.sets[set as usize];
        match request.zone {
            ZoneStep::Pad { slots } => {
                for slot in frontiers(slots) {
                    let programs = ftl.close_zone(slot, id);
                    let left = ftl.zone_rest(slot);
                    request.parts += programs + u64::from(left);
                    zoned.padded.push(Padded {
                        request: id,
                        slot,
                        left,
                        in_flight: programs as u32,
                    });
                }
                self.pad_zones(queue, set);
                true
            }
            ZoneStep::Reset { slots, written } => {
                let reset = zoned.reset.get_or_insert_with(|| {
                    // Of a superblock that is partly programmed, what is gathered is programmed too.
                    let mut programs = 0;
                    for slot in frontiers(slots) {
                        if ftl.has_zone_begun(slot) {
                            programs += ftl.close_zone(slot, id);
                        }
                    }
                    request.parts += programs;
                    Reset {
                        request: id,
                        programs,
                        is_timed: false,
                        is_done: false,
                    }
                });
                if reset.programs == 0 && !reset.is_timed {
                    reset.is_timed = true;
                    let time = zoned.reset_time + zoned.reset_unit_time * written;
                    queue.schedule(queue.now() + time, Event::Zone(set));
                }
                if !reset.is_done {
                    return false;
                }
                zoned.reset = None;
                let range = request.range;
                ftl.deallocate(range.space, range.first, range.end);
                for slot in frontiers(slots) {
                    ftl.release_stream(slot);
                }
                true
            }
            _ => true,
        }
    }

    /// What the zone that is reset held is forgotten.
    pub(super) fn zone_forgotten(
        &mut self,
        queue: &mut EventQueue<Event>,
        requests: &mut Requests,
        set: u32,
    ) {
        if let Some(reset) = &mut self.sets[set as usize].zoned.reset {
            reset.is_done = true;
        }
        self.run_admissions(queue, requests, set);
    }

    /// Goes on with the padding of zones.
    #[inline]
    pub(super) fn pad_zones(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        if !self.sets[set as usize].zoned.padded.is_empty() {
            self.pad(queue, set);
        }
    }

    fn pad(&mut self, queue: &mut EventQueue<Event>, set: u32) {
        let NvmSet { ftl, zoned, .. } = &mut self.sets[set as usize];
        let most = ftl.padding_at_once();
        zoned.padded.retain_mut(|zone| {
            while zone.left > 0 && zone.in_flight < most && ftl.pad_zone(zone.slot, zone.request) {
                zone.left -= 1;
                zone.in_flight += 1;
            }
            if zone.left == 0 {
                ftl.release_stream(zone.slot);
            }
            zone.left > 0
        });
        self.dispatch(queue, set, Owner::gc(set));
    }
}
