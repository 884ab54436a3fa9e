//! A host that keeps blocks in zones: a log for each class of lifetimes, and one of what it moves.
//!
//! A zone is reset when nothing of it is left. Where few zones are free, the host moves what is left of the full zone that has the
//! least, as the garbage collection of a drive would.

use super::lifetimes::CLASSES;
use meldsim::nvme::zone::ZoneShape;

/// Logs: those of the classes, and that of what is moved.
pub(super) const LOGS: usize = CLASSES as usize + 1;
pub(super) const MOVED: usize = CLASSES as usize;

/// Free zones below which something is moved: those of a log that goes on, and of what is moved.
const FREE_ZONES: usize = 2;

/// What lies nowhere, or a place in a zone that nothing lives in.
const NONE: u32 = u32::MAX;

/// The zones of a namespace, and where in them the pieces of blocks are. A piece is what one write brings.
pub(super) struct ZoneLog {
    zone_lbas: u64,
    piece_lbas: u64,
    /// Pieces that a zone takes.
    places: usize,
    /// Of each zone, the piece at each place that was written.
    zones: Vec<Vec<u32>>,
    /// Of each zone, how many of them are still there.
    live: Vec<u32>,
    free: Vec<u32>,
    open: [Option<u32>; LOGS],
    /// Where each piece is: a zone, and a place.
    at: Vec<(u32, u32)>,
}

impl ZoneLog {
    pub(super) fn new(shape: ZoneShape, zones: u32, (pieces, piece_lbas): (usize, u64)) -> ZoneLog {
        let places = (shape.capacity_lbas / piece_lbas) as usize;
        ZoneLog {
            zone_lbas: shape.size_lbas,
            piece_lbas,
            places,
            zones: vec![Vec::with_capacity(places); zones as usize],
            live: vec![0; zones as usize],
            free: (0..zones).rev().collect(),
            open: [None; LOGS],
            at: vec![(NONE, NONE); pieces],
        }
    }

    fn lba(&self, (zone, place): (u32, u32)) -> u64 {
        u64::from(zone) * self.zone_lbas + u64::from(place) * self.piece_lbas
    }

    /// The first logical block of a piece that is there.
    pub(super) fn find(&self, piece: u32) -> Option<u64> {
        let at = self.at[piece as usize];
        (at.0 != NONE).then(|| self.lba(at))
    }

    /// Where a log takes a piece that is nowhere: at its write pointer. Nothing when no zone is free.
    pub(super) fn append(&mut self, log: usize, piece: u32) -> Option<u64> {
        let zone = match self.open[log] {
            Some(zone) => zone,
            None => self.free.pop()?,
        };
        let of = &mut self.zones[zone as usize];
        let at = (zone, of.len() as u32);
        of.push(piece);
        self.open[log] = (of.len() < self.places).then_some(zone);
        self.live[zone as usize] += 1;
        self.at[piece as usize] = at;
        Some(self.lba(at))
    }

    /// A piece is there no longer. The zone to reset, where it was the last of a full one.
    pub(super) fn remove(&mut self, piece: u32) -> Option<u64> {
        let at = std::mem::replace(&mut self.at[piece as usize], (NONE, NONE));
        let zone = at.0 as usize;
        self.zones[zone][at.1 as usize] = NONE;
        self.live[zone] -= 1;
        (self.live[zone] == 0 && self.zones[zone].len() == self.places).then(|| {
            self.zones[zone].clear();
            self.free.push(at.0);
            self.lba((at.0, 0))
        })
    }

    /// What to move so that a zone becomes free, where few are: what is left of the full zone that has the least.
    pub(super) fn to_move(&self) -> Option<Vec<u32>> {
        if self.free.len() >= FREE_ZONES {
            return None;
        }
        let zones = (0..).zip(&self.zones);
        // Of one that is all there, nothing would be gained.
        let is_gain = |zone: u32| (self.live[zone as usize] as usize) < self.places;
        let full = zones.filter(|(zone, of)| of.len() == self.places && is_gain(*zone));
        let victim = full.min_by_key(|(zone, _)| self.live[*zone as usize])?;
        let left = victim.1.iter().copied().filter(|piece| *piece != NONE);
        Some(left.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five zones of four pieces of two blocks each, which begin ten blocks apart.
    fn log() -> ZoneLog {
        let shape = ZoneShape {
            size_lbas: 10,
            capacity_lbas: 9,
            max_active: 3,
            max_open: 3,
        };
        ZoneLog::new(shape, 5, (30, 2))
    }

    #[test]
    fn logs_have_zones_of_their_own_that_are_free_when_nothing_is_left() {
        let mut log = log();
        let at: Vec<_> = (0..5).map(|piece| log.append(0, piece).unwrap()).collect();
        assert_eq!(at, [0, 2, 4, 6, 10]);
        assert_eq!(log.append(1, 5), Some(20));
        assert_eq!((log.find(4), log.find(6)), (Some(10), None));
        // The zone of pieces 0 to 3 is full; that of piece 5 is not.
        assert_eq!([0, 1, 2, 5].map(|piece| log.remove(piece)), [None; 4]);
        assert_eq!(log.remove(3), Some(0));
        assert_eq!((log.find(3), log.free.len()), (None, 3));
    }

    #[test]
    fn what_is_left_of_the_emptiest_full_zone_is_moved_when_few_are_free() {
        let mut log = log();
        assert!((0..16).all(|piece| log.append(0, piece).is_some()));
        for piece in [0, 4, 5, 6, 8, 9] {
            assert_eq!(log.remove(piece), None);
        }
        assert_eq!(log.to_move(), Some(vec![7]));
        // Moved, it leaves a zone behind, and enough are free.
        assert_eq!(log.remove(7), Some(10));
        assert_eq!(log.append(MOVED, 7), Some(10));
        assert_eq!(log.free.len(), 1);
        // No zone is free, and of the zone that is all there nothing is gained.
        assert!((16..20).all(|piece| log.append(0, piece).is_some()));
        assert_eq!(log.append(1, 20), None);
        let emptied = [1, 2, 3, 10, 11].map(|piece| log.remove(piece));
        assert_eq!(emptied, [None, None, Some(0), None, Some(20)]);
        assert!((20..24).all(|piece| log.append(0, piece).is_some()));
        assert_eq!(log.append(1, 24), Some(0));
        assert_eq!(log.to_move(), None);
    }
}
