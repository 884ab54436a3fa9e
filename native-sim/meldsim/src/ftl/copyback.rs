//! Copyback: garbage collection copies pages inside their planes, off the bus.
//!
//! A plane's register reaches only its own blocks, and a program takes a whole wordline. So a row of
//! the victim is copied when all of its pages are current and the row the collector fills next
//! begins: each wordline then stays on its plane. With static allocation a row is one wordline. The
//! data does not pass the controller, so pages that are overwritten meanwhile are copied in vain.

use super::blocks::Taken;
use super::layer::Ftl;
use super::mapping::{Entry, Place};
use super::stream::{Layout, Stream};
use crate::engine::{Event, EventQueue};
use crate::nand::Flash;

/// Rows that are copied at a time: what waits for a die is bounded.
const ROWS_AT_ONCE: u32 = 2;

/// A wordline on its way to another of its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    lane: u32,
    /// The position of its first page in the victim.
    from: u32,
    group: u32,
    /// The position of its first page there.
    to: u32,
    /// From each page's position to the next one's.
    step: u32,
}

impl Ftl {
    /// Copies the victim's next row inside its planes; false when it cannot be.
    pub(super) fn copy_row(
        &mut self,
        lane: u32,
        flash: &mut Flash,
        queue: &mut EventQueue<Event>,
    ) -> bool {
        if !self.gc.copyback {
            return false;
        }
        let (all, row) = (
            self.numbering.pages_per_wordline,
            self.numbering.pages_per_row,
        );
        let log = &self.lanes[lane as usize];
        let Some(victim) = &log.collector.victim else {
            return false;
        };
        let (group, layout, first) = (victim.group, victim.layout, victim.next);
        let stream = Stream::Gc(layout);
        if first == self.numbering.pages_per_group
            || victim.copying >= ROWS_AT_ONCE * row
            || log.blocks.next_position(stream) % row != 0
            || !self.stays_as_it_is(
                &victim.places[first as usize..(first + row) as usize],
                layout,
            )
        {
            return false;
        }
        let log = &mut self.lanes[lane as usize];
        let Some(taken) = log.blocks.take(stream, row, &self.numbering) else {
            return false;
        };
        let Taken {
            group: to_group,
            position: to,
            ..
        } = taken;
        if let Some(victim) = &mut log.collector.victim {
            victim.next += row;
            victim.copying += row;
        }
        self.stats.gc_pages_read += u64::from(row);
        let (from_unit, step) = self.numbering.strides(layout);
        for unit in 0..self.numbering.units {
            let copy = Copy {
                lane,
                from: first + unit * from_unit,
                group: to_group,
                to: to + unit * from_unit,
                step,
            };
            let source = self.numbering.spot(layout, copy.from);
            let target = self.numbering.spot(layout, copy.to);
            let source = self
                .numbering
                .address(lane, group, source.unit, source.wordline);
            let target = self
                .numbering
                .address(lane, to_group, target.unit, target.wordline);
            let token = self.copies.insert(copy);
            flash.copyback(queue, source, target, (1 << all) - 1, token);
        }
        true
    }

    /// Whether all pages are current and none wants another layout.
    fn stays_as_it_is(&self, places: &[Place], layout: Layout) -> bool {
        places.iter().all(|&place| {
            place != Place::NONE && self.suits_place(place).unwrap_or(layout) == layout
        })
    }

    /// A wordline has been copied: its pages are there, unless they are no longer current.
    pub(crate) fn copied(&mut self, token: u32) {
        let Copy {
            lane,
            from,
            group,
            to,
            step,
        } = self.copies[token];
        self.copies.remove(token);
        let all = self.numbering.pages_per_wordline;
        let log = &mut self.lanes[lane as usize];
        log.blocks.programmed(group, all);
        self.stats.programs += 1;
        self.stats.gc_pages_programmed += u64::from(all);
        let melded = log.blocks.get(group).layout == Layout::Melded;
        self.stats.melded_wordlines_programmed += u64::from(melded);
        let Some(victim) = &mut log.collector.victim else {
            debug_assert!(false, "copied from no victim");
            return;
        };
        victim.copying -= all;
        for index in 0..all {
            let source = from + index * step;
            let place = std::mem::replace(&mut victim.places[source as usize], Place::NONE);
            if place == Place::NONE {
                continue;
            }
            let target = self.numbering.number(lane, group, to + index * step);
            #[cfg(test)]
            self.witness
                .moved(self.numbering.number(lane, victim.group, source), target);
            log.blocks.invalidate(victim.group, 1);
            log.blocks.validate(group, 1);
            self.mapping.set(place, Entry::Flash(target));
            self.stats.gc_pages_moved += 1;
        }
        self.stir(lane);
    }
}
