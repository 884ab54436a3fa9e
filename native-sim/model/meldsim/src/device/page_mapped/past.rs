//! The past of the medium: the state after long use, computed and then overwritten.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use super::slots::SharedSlots;
use super::{Map, NandMedium, NvmSet, build_sets};
use crate::device::DeviceError;
use crate::device::medium::Past;
use crate::device::namespace::Namespaces;
use crate::device::request::PageRange;
use crate::device::state::{Aging, PastWrite, Precondition, share};
use crate::engine::EventQueue;
use crate::event::Event;
use crate::ftl::{Filled, Overwriter, Overwritten, SavedFtl};
use crate::nand::Owner;
use crate::nvme::{Hint, Pattern};
use crate::profile::Profile;

/// A past is steady when the write amplification of so many passes is that of as many before, within this share.
const ALIKE: usize = 2;
const ALIKE_WITHIN: f64 = 0.01;
/// Writes from one report of the progress to the next.
const REPORTED: u64 = 1 << 18;

impl<M: Map> Past for NandMedium<M> {
    fn preload(&mut self, range: PageRange, hint: Hint) -> Result<(), DeviceError> {
        let set = &mut self.sets[range.set as usize];
        if let Some(ahead) = &mut set.ahead {
            ahead.forget(range.space, range.first, range.end);
        }
        let ftl = &mut set.ftl;
        let layout = ftl.layout(hint.pattern == Pattern::Sequential);
        let is_placed = ftl.preload(range.space, range.first, range.end, layout);
        if is_placed && set.preload_map(range.space, range.first..range.end) {
            return Ok(());
        }
        let ftl = &set.ftl;
        let pages = ftl.unmapped_pages(range.space, range.first, range.end);
        let free = ftl.capacity().saturating_sub(ftl.mapped_pages());
        Err(DeviceError::CapacityExceeded { pages, free })
    }

    fn next_unmapped(&self, range: PageRange) -> Option<Range<u64>> {
        let ftl = &self.sets[range.set as usize].ftl;
        ftl.next_unmapped(range.space, range.first, range.end)
    }

    fn precondition(
        &mut self,
        profile: &Profile,
        namespaces: &Namespaces,
        precondition: &Precondition,
    ) -> Result<(), DeviceError> {
        let (sets, _) = self.preconditioned(profile, namespaces, precondition)?;
        self.replace(sets);
        Ok(())
    }

    fn precondition_by(
        &mut self,
        profile: &Profile,
        namespaces: &Namespaces,
        precondition: &Precondition,
        writes: &mut dyn Iterator<Item = PastWrite>,
        progress: &mut dyn FnMut(&Aging) -> ControlFlow<()>,
    ) -> Result<Aging, DeviceError> {
        let (mut sets, pages) = self.preconditioned(profile, namespaces, precondition)?;
        let mut writes = writes.map(|PastWrite { nsid, slba, nlb }| {
            let pages = namespaces.pages(nsid, slba, nlb);
            pages.map(|(range, _)| range)
        });
        let reached = overwrite(&mut sets, pages, &mut writes, progress)?;
        self.replace(sets);
        Ok(reached)
    }

    fn save(&self) -> Vec<SavedFtl> {
        self.sets.iter().map(|set| set.ftl.save()).collect()
    }

    fn load(
        &mut self,
        queue: &mut EventQueue<Event>,
        profile: &Profile,
        namespaces: &Namespaces,
        saved: &[SavedFtl],
    ) -> Result<(), String> {
        let built = build_sets::<M>(profile, &self.geometry);
        let (mut sets, _) = built.map_err(|error| error.to_string())?;
        if sets.len() != saved.len() {
            return Err("its sets are not the profile's".to_owned());
        }
        let is_shared = self.shared_slots.is_some();
        let mut shared_slots = is_shared.then(|| SharedSlots::of(&mut sets));
        for ((number, set), saved) in (0..).zip(&mut sets).zip(saved) {
            let mut spaces: Vec<u64> = namespaces.of_set(number).map(|of| of.pages()).collect();
            spaces.iter().for_each(|&pages| set.map.add_space(pages));
            if M::HAS_PAGES {
                spaces.insert(0, set.map.pages());
            }
            if let Some(shared) = &mut shared_slots {
                shared.lend(&mut set.ftl);
            }
            set.ftl.load(saved, &spaces)?;
            if let Some(shared) = &mut shared_slots {
                shared.reclaim(&mut set.ftl);
            }
        }
        self.sets = sets;
        self.shared_slots = shared_slots;
        for set in 0..self.sets.len() as u32 {
            self.dispatch(queue, set, Owner::gc(set));
        }
        Ok(())
    }
}

impl<M: Map> NvmSet<M> {
    /// Places the translation pages of pages that hold data, as if written long since. False when there is no room.
    fn preload_map(&mut self, space: u32, pages: Range<u64>) -> bool {
        !M::HAS_PAGES || self.ftl.preload_map(self.map.pages_of(space, pages))
    }
}

impl<M: Map> NandMedium<M> {
    /// Takes sets that were built anew.
    fn replace(&mut self, mut sets: Vec<NvmSet<M>>) {
        if self.shared_slots.is_some() {
            self.shared_slots = Some(SharedSlots::of(&mut sets));
        }
        for (set, before) in sets.iter_mut().zip(&mut self.sets) {
            // What is on its way has somewhere to come to.
            set.ahead = before.ahead.take();
            set.ahead.iter_mut().for_each(|ahead| ahead.forget_all());
        }
        self.sets = sets;
    }

    /// The state after a long past of uniform overwrites, computed; and the pages that were overwritten.
    fn preconditioned(
        &self,
        profile: &Profile,
        namespaces: &Namespaces,
        precondition: &Precondition,
    ) -> Result<(Vec<NvmSet<M>>, u64), DeviceError> {
        let percent =
            |pages: u64, percent: u32| (u128::from(pages) * u128::from(percent) / 100) as u64;
        let (mut sets, _) =
            build_sets::<M>(profile, &self.geometry).map_err(|_| DeviceError::Policy)?;
        let mut overwritten = 0;
        for (number, set) in (0..).zip(&mut sets) {
            let sizes: Vec<u64> = namespaces.of_set(number).map(|of| of.pages()).collect();
            let room = set.ftl.capacity_for(sizes.len() as u64);
            let total: u64 = sizes.iter().sum();
            let mut filled = Vec::with_capacity(sizes.len());
            for &pages in &sizes {
                let share = share(pages, total, room);
                let (of_space, pages) = (pages, percent(share, precondition.fill_percent));
                set.map.add_space(of_space);
                filled.push(Filled {
                    space: set.ftl.add_space(),
                    pages,
                    random: percent(pages, precondition.random_percent),
                });
            }
            overwritten += filled.iter().map(|filled| filled.random).sum::<u64>();
            // Other translation pages are as old as what was written in order.
            let of_map = |of: &Filled, pages| set.map.pages_of(of.space, 0..pages);
            let overwritten: Vec<_> = filled.iter().map(|of| of_map(of, of.random)).collect();
            let is_placed = filled.iter().zip(&overwritten).all(|(of, before)| {
                let all = of_map(of, of.pages);
                set.ftl.preload_map(all.start.max(before.end)..all.end)
            });
            if !(is_placed && set.ftl.precondition(&filled, &overwritten)) {
                let pages = filled.iter().map(|filled| filled.pages).sum();
                return Err(DeviceError::CapacityExceeded { pages, free: room });
            }
        }
        Ok((sets, overwritten))
    }
}

/// Overwrites until passes of so many pages are alike, `progress` breaks off, or there are no more writes.
fn overwrite<M: Map>(
    sets: &mut [NvmSet<M>],
    pass_pages: u64,
    writes: &mut impl Iterator<Item = Result<PageRange, DeviceError>>,
    progress: &mut dyn FnMut(&Aging) -> ControlFlow<()>,
) -> Result<Aging, DeviceError> {
    let mut aging = Aging {
        is_steady: pass_pages == 0,
        ..Aging::default()
    };
    let sets = sets.iter_mut();
    let mut overwriters: Vec<Overwriter<'_>> =
        sets.map(|set| Overwriter::new(&mut set.ftl)).collect();
    let mut before = Overwritten::default();
    let mut latest = VecDeque::new();
    while !aging.is_steady && aging.passes < Aging::MOST_PASSES {
        let end = u64::from(aging.passes + 1) * pass_pages;
        while aging.pages < end {
            let Some(range) = writes.next().transpose()? else {
                return Ok(aging);
            };
            let overwriter = &mut overwriters[range.set as usize];
            for page in range.first..range.end {
                let written = overwriter.write(range.space, page);
                written.ok_or(DeviceError::CapacityExceeded {
                    pages: pass_pages,
                    free: 0,
                })?;
            }
            let reported = aging.pages / REPORTED;
            aging.pages += range.pages();
            if aging.pages / REPORTED > reported && progress(&aging).is_break() {
                return Ok(aging);
            }
        }
        let done: Overwritten = overwriters.iter().map(Overwriter::done).sum();
        aging.passes += 1;
        aging.write_amplification = done.since(before).write_amplification();
        before = done;
        latest.push_back(aging.write_amplification);
        if latest.len() > 2 * ALIKE {
            latest.pop_front();
        }
        let earlier: f64 = latest.iter().take(ALIKE).sum();
        let later: f64 = latest.iter().skip(ALIKE).sum();
        aging.is_steady = latest.len() == 2 * ALIKE && (later / earlier - 1.0).abs() < ALIKE_WITHIN;
    }
    Ok(aging)
}
