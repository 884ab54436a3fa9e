//! Zones: the state machine of a zoned namespace. It knows no time.
//!
//! ```text
//!            write, append: implicitly          close
//!   empty ---------------------------> open ----------> closed --.
//!     ^   \-- open: explicitly -----/   ^ |                       | write, append, open
//!     |                                 | | capacity, finish      |
//!     |                                 '-|-----------------------'
//!     '------------- reset ------------- full
//! ```
//!
//! Status codes are those of the NVM Express Zoned Namespace Command Set Specification 1.1, sections 2 and 3.
//! Reads may not cross the boundary of a zone. Zones have no descriptor extensions, and none is read only or offline.

use serde::{Deserialize, Serialize};

use super::status::Status;
use super::zone::{Zone, ZoneAction, ZoneCounts, ZoneShape, ZoneState};

/// A zone that survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedZone {
    zone: u32,
    written_lbas: u64,
    /// The frontier of one that is active; one that is not is full.
    slot: Option<u8>,
}

/// A zone that holds an active resource.
#[derive(Clone, Copy, Debug)]
struct Active {
    zone: u32,
    /// Which of the namespace's frontiers its data go to.
    slot: u8,
    /// It is being finished: it is full, and its resource is not free yet.
    is_finishing: bool,
}

/// What was written to a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// The first logical block.
    pub(crate) slba: u64,
    /// The frontier of its data.
    pub(crate) slot: u8,
    /// It opened the zone.
    pub(crate) opens: bool,
    /// The zone is full.
    pub(crate) fills: bool,
}

/// What Zone Management Send changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Managed {
    /// Anything.
    pub(crate) is_changed: bool,
    /// The frontiers of zones that have data, bit by bit.
    pub(crate) slots: u16,
    /// Logical blocks that were written to them.
    pub(crate) written_lbas: u64,
}

/// The zones of a namespace.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    shape: ZoneShape,
    states: Vec<(ZoneState, u64)>,
    /// Those that hold an active resource; the one that was opened last is last.
    active: Vec<Active>,
    open: u32,
    counts: ZoneCounts,
}

impl Zones {
    pub(crate) fn new(shape: ZoneShape, size_lbas: u64) -> Zones {
        let zones = (size_lbas / shape.size_lbas) as usize;
        Zones {
            shape,
            states: vec![(ZoneState::Empty, 0); zones],
            active: Vec::with_capacity(shape.max_active as usize),
            open: 0,
            counts: ZoneCounts::default(),
        }
    }

    /// Logical blocks of the namespace.
    pub(crate) fn size_lbas(&self) -> u64 {
        self.states.len() as u64 * self.shape.size_lbas
    }

    pub(crate) fn shape(&self) -> ZoneShape {
        self.shape
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Zone> {
        let zones = (0..).zip(&self.states);
        zones.map(|(number, &(state, written_lbas))| Zone {
            state,
            start_lba: number * self.shape.size_lbas,
            written_lbas,
        })
    }

    pub(crate) fn counts(&self) -> ZoneCounts {
        self.counts
    }

    /// The frontiers that no zone has.
    pub(crate) fn free_slots(&self) -> impl Iterator<Item = u8> {
        let is_free = |slot: &u8| self.active.iter().all(|active| active.slot != *slot);
        (0..self.shape.max_active as u8).filter(is_free)
    }

    /// The zone that a logical block, which the namespace has, lies in, and how far from its start.
    fn locate(&self, lba: u64) -> (u32, u64) {
        let size = self.shape.size_lbas;
        ((lba / size) as u32, lba % size)
    }

    /// Whether a read stays in a zone.
    pub(crate) fn read(&self, slba: u64, nlb: u64) -> Result<(), Status> {
        match self.locate(slba).1 + nlb > self.shape.size_lbas {
            true => Err(Status::ZONE_BOUNDARY_ERROR),
            false => Ok(()),
        }
    }

    /// Writes to a zone, at its write pointer.
    pub(crate) fn write(&mut self, slba: u64, nlb: u64) -> Result<Written, Status> {
        let (zone, offset) = self.locate(slba);
        let (state, written) = self.states[zone as usize];
        if state == ZoneState::Full {
            return Err(Status::ZONE_IS_FULL);
        }
        if offset + nlb > self.shape.capacity_lbas {
            return Err(Status::ZONE_BOUNDARY_ERROR);
        }
        if offset != written {
            return Err(Status::ZONE_INVALID_WRITE);
        }
        self.advance(zone, nlb)
    }

    /// Writes to a zone, whose first logical block is given, wherever its write pointer is.
    pub(crate) fn append(&mut self, zslba: u64, nlb: u64) -> Result<Written, Status> {
        let (zone, offset) = self.locate(zslba);
        let (state, written) = self.states[zone as usize];
        if offset != 0 {
            return Err(Status::INVALID_FIELD);
        }
        if state == ZoneState::Full {
            return Err(Status::ZONE_IS_FULL);
        }
        if written + nlb > self.shape.capacity_lbas {
            return Err(Status::ZONE_BOUNDARY_ERROR);
        }
        let appended = self.advance(zone, nlb)?;
        self.counts.appends += 1;
        Ok(appended)
    }

    /// The write pointer of a zone that may be written to goes on.
    fn advance(&mut self, zone: u32, nlb: u64) -> Result<Written, Status> {
        let at = self.position(zone);
        let at = at.filter(|_| self.states[zone as usize].0.is_open());
        let opens = at.is_none();
        let at = match at {
            Some(at) => at,
            None => self.open(zone, ZoneState::ImplicitlyOpen)?,
        };
        let slot = self.active[at].slot;
        let (_, written) = &mut self.states[zone as usize];
        let slba = u64::from(zone) * self.shape.size_lbas + *written;
        *written += nlb;
        let fills = *written == self.shape.capacity_lbas;
        if fills {
            self.leave(zone, ZoneState::Full);
            self.active.remove(at);
        }
        Ok(Written {
            slba,
            slot,
            opens,
            fills,
        })
    }

    /// Does what Zone Management Send asks for; nothing where the zone is so already.
    pub(crate) fn manage(&mut self, zslba: u64, action: ZoneAction) -> Result<Managed, Status> {
        let (zone, offset) = self.locate(zslba);
        if offset != 0 {
            return Err(Status::INVALID_FIELD);
        }
        let mut managed = Managed::default();
        self.change(zone, action, &mut managed)?;
        Ok(managed)
    }

    /// The same for all zones that the action selects, in order; for all of them or none.
    pub(crate) fn manage_all(&mut self, action: ZoneAction) -> Result<Managed, Status> {
        let count = |is: &dyn Fn(ZoneState) -> bool| {
            self.states.iter().filter(|(state, _)| is(*state)).count() as u32
        };
        let explicit = count(&|state| state == ZoneState::ExplicitlyOpen);
        if action == ZoneAction::Open
            && explicit + count(&|state| action.selects(state)) > self.shape.max_open
        {
            return Err(Status::TOO_MANY_OPEN_ZONES);
        }
        // Zones that an open closes implicitly are not opened again.
        let selected = (0..).zip(&self.states);
        let selected = selected.filter(|(_, (state, _))| action.selects(*state));
        let selected: Vec<u32> = selected.map(|(zone, _)| zone).collect();
        let mut managed = Managed::default();
        for zone in selected {
            self.change(zone, action, &mut managed)?;
        }
        Ok(managed)
    }

    fn change(
        &mut self,
        zone: u32,
        action: ZoneAction,
        managed: &mut Managed,
    ) -> Result<(), Status> {
        let at = self.position(zone);
        let (state, written_lbas) = self.states[zone as usize];
        match (action, state) {
            (ZoneAction::Open, ZoneState::ExplicitlyOpen)
            | (ZoneAction::Close, ZoneState::Closed)
            | (ZoneAction::Finish, ZoneState::Full)
            | (ZoneAction::Reset, ZoneState::Empty) => return Ok(()),
            (ZoneAction::Offline, _)
            | (ZoneAction::Open, ZoneState::Full)
            | (ZoneAction::Close, ZoneState::Full | ZoneState::Empty) => {
                return Err(Status::INVALID_ZONE_STATE_TRANSITION);
            }
            (ZoneAction::Open, ZoneState::ImplicitlyOpen) => {
                self.states[zone as usize].0 = ZoneState::ExplicitlyOpen;
            }
            (ZoneAction::Open, ZoneState::Empty | ZoneState::Closed) => {
                self.open(zone, ZoneState::ExplicitlyOpen)?;
            }
            (ZoneAction::Close, _) => self.leave(zone, ZoneState::Closed),
            (ZoneAction::Finish, _) => {
                self.leave(zone, ZoneState::Full);
                self.counts.finishes += 1;
            }
            (ZoneAction::Reset, _) => {
                self.leave(zone, ZoneState::Empty);
                self.states[zone as usize].1 = 0;
                self.counts.resets += 1;
            }
        }
        managed.is_changed = true;
        managed.written_lbas += written_lbas;
        if let Some(at) = at.filter(|_| !self.states[zone as usize].0.is_active()) {
            let active = &mut self.active[at];
            // What is not written is padded before its resource is free.
            active.is_finishing = action == ZoneAction::Finish && written_lbas > 0;
            if active.is_finishing || action == ZoneAction::Reset {
                managed.slots |= 1 << active.slot;
            }
            if !active.is_finishing {
                self.active.remove(at);
            }
        }
        Ok(())
    }

    /// Zones that were being finished, at these frontiers, are padded: their active resources are free.
    pub(crate) fn finished(&mut self, slots: u16) {
        self.active
            .retain(|active| !active.is_finishing || slots >> active.slot & 1 == 0);
    }

    fn position(&self, zone: u32) -> Option<usize> {
        let is_it = |active: &Active| active.zone == zone && !active.is_finishing;
        self.active.iter().position(is_it)
    }

    /// A zone is no longer open, if it was.
    fn leave(&mut self, zone: u32, state: ZoneState) {
        let before = std::mem::replace(&mut self.states[zone as usize].0, state);
        self.open -= u32::from(before.is_open());
    }

    /// Opens a zone that is empty or closed. Returns its position among the active ones.
    fn open(&mut self, zone: u32, state: ZoneState) -> Result<usize, Status> {
        let at = self.position(zone);
        if at.is_none() && self.active.len() as u32 == self.shape.max_active {
            return Err(Status::TOO_MANY_ACTIVE_ZONES);
        }
        if self.open == self.shape.max_open {
            let is_implicit = |active: &&Active| {
                self.states[active.zone as usize].0 == ZoneState::ImplicitlyOpen
                    && !active.is_finishing
            };
            let Some(oldest) = self.active.iter().find(is_implicit) else {
                return Err(Status::TOO_MANY_OPEN_ZONES);
            };
            let oldest = oldest.zone;
            self.leave(oldest, ZoneState::Closed);
            self.counts.implicit_closes += 1;
        }
        let active = match at {
            Some(at) => self.active.remove(at),
            None => Active {
                zone,
                slot: self.free_slot(),
                is_finishing: false,
            },
        };
        self.active.push(active);
        self.open += 1;
        self.states[zone as usize].0 = state;
        Ok(self.active.len() - 1)
    }

    /// The first frontier that no zone has.
    fn free_slot(&self) -> u8 {
        let taken = self.active.iter();
        let taken = taken.fold(0u32, |taken, active| taken | 1 << active.slot);
        taken.trailing_ones() as u8
    }

    /// The state before a power cut, of zones and their frontiers, is taken over: zones that were open are closed, or empty
    /// where nothing was written. False when it is none.
    pub(crate) fn resume(&mut self, saved: &[SavedZone]) -> bool {
        for &SavedZone {
            zone,
            written_lbas,
            slot,
        } in saved
        {
            let Some(of) = self.states.get_mut(zone as usize) else {
                return false;
            };
            let is_taken = self.active.iter().any(|active| Some(active.slot) == slot);
            if written_lbas > self.shape.capacity_lbas || of.1 > 0 || is_taken {
                return false;
            }
            *of = match slot {
                None => (ZoneState::Full, written_lbas),
                Some(_) if written_lbas == 0 => (ZoneState::Empty, 0),
                Some(slot) => {
                    self.active.push(Active {
                        zone,
                        slot,
                        is_finishing: false,
                    });
                    (ZoneState::Closed, written_lbas)
                }
            };
        }
        let most = self.shape.max_active as usize;
        let has_slots = |active: &Active| usize::from(active.slot) < most;
        self.active.len() <= most && self.active.iter().all(has_slots)
    }

    /// What survives a power cut, of zones that are not empty. `held` tells how many of the logical blocks of a zone, which has
    /// that start and should have so many, survive in order.
    pub(crate) fn save(&self, held: impl Fn(u64, u64) -> u64) -> Vec<SavedZone> {
        let zones = (0..).zip(&self.states);
        let used = zones.filter(|(_, (state, _))| *state != ZoneState::Empty);
        let saved = used.map(|(zone, &(_, written))| {
            let start = u64::from(zone) * self.shape.size_lbas;
            let saved = SavedZone {
                zone,
                // The last write of a full one may have begun and not be in the buffer either.
                written_lbas: match written {
                    0 => 0,
                    _ => held(start, written),
                },
                slot: self.position(zone).map(|at| self.active[at].slot),
            };
            (saved, written)
        });
        // One that was filled by writes of which nothing is there is empty.
        let is_there = |(saved, written): &(SavedZone, u64)| {
            saved.slot.is_some() || saved.written_lbas > 0 || *written == 0
        };
        let saved = saved.filter(is_there).map(|(saved, _)| saved);
        saved.collect()
    }

    /// A range was written long since, and its zones finished: the part of each that can be written, in order. Nothing when
    /// one of them is not empty, or the range does not begin with a zone.
    pub(crate) fn fill(&mut self, slba: u64, nlb: u64) -> Option<Vec<(u64, u64)>> {
        let ZoneShape {
            size_lbas,
            capacity_lbas,
            ..
        } = self.shape;
        let (first, offset) = self.locate(slba);
        let zones = nlb.div_ceil(size_lbas) as usize;
        let states = self
            .states
            .get_mut(first as usize..first as usize + zones)?;
        if offset != 0 || states.iter().any(|(state, _)| *state != ZoneState::Empty) {
            return None;
        }
        let mut parts = Vec::with_capacity(zones);
        for ((_, start), state) in (0..zones)
            .zip((slba..).step_by(size_lbas as usize))
            .zip(states)
        {
            let lbas = (slba + nlb - start).min(capacity_lbas);
            *state = (ZoneState::Full, lbas);
            parts.push((start, lbas));
        }
        Some(parts)
    }
}
