//! The NVM sets of a device.

use std::collections::VecDeque;

use super::Device;
use super::admission::Admission;
use super::windows::SetUsage;
use crate::engine::{Event, Time};
use crate::ftl::{Ftl, Region};
use crate::nand::{Geometry, Owner, Unit};
use crate::nvme::{NamespaceId, Windows};
use crate::profile::Profile;

/// An NVM set: a translation layer over planes of its own, and the commands that wait for it. What
/// waits for one set does not delay another's.
#[derive(Debug)]
pub(super) struct NvmSet {
    pub(super) ftl: Ftl,
    /// Writes, deallocations and flushes that wait for the buffer, in order.
    pub(super) admissions: VecDeque<Admission>,
    pub(super) windows: Windows,
    pub(super) usage: SetUsage,
    pub(super) activity: SetActivity,
}

/// Whether the host is at work on a set.
#[derive(Debug, Default)]
pub(super) struct SetActivity {
    /// Its commands that have not completed.
    outstanding: u64,
    idle_since: Time,
    /// An event will tell that it is idle.
    is_timed: bool,
}

/// Whose the planes and the namespaces are.
#[derive(Debug)]
pub(super) struct Homes {
    /// The set of each unit.
    units: Box<[u16]>,
    /// The set of each namespace, and the number of its space there.
    pub(super) spaces: Vec<(u32, u32)>,
}

impl Homes {
    #[inline]
    pub(super) fn set_of(&self, unit: Unit) -> u32 {
        u32::from(self.units[unit.0 as usize])
    }
}

/// Builds the sets of a device.
pub(super) fn build(profile: &Profile, geometry: &Geometry) -> (Vec<NvmSet>, Homes) {
    let mut units = vec![0; geometry.units() as usize];
    let mut sets = Vec::new();
    for (set, region) in (0..).zip(Region::all(profile, geometry)) {
        for unit in region.iter() {
            units[unit.0 as usize] = set;
        }
        sets.push(NvmSet {
            ftl: Ftl::new(profile, geometry, u32::from(set), region),
            admissions: VecDeque::new(),
            windows: Windows::new(&profile.predictable_latency),
            usage: SetUsage::default(),
            activity: SetActivity::default(),
        });
    }
    let homes = Homes {
        units: units.into_boxed_slice(),
        spaces: Vec::new(),
    };
    (sets, homes)
}

/// What an NVM set holds and has done, since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetInfo {
    /// Logical pages that can hold data at one time.
    pub capacity_pages: u64,
    /// Logical pages that hold data.
    pub mapped_pages: u64,
    /// Erased blocks.
    pub free_blocks: u64,
    /// Pages programmed for the host.
    pub host_pages_programmed: u64,
    /// Pages moved by garbage collection.
    pub gc_pages_moved: u64,
    /// Blocks erased.
    pub erases: u64,
}

impl Device {
    /// What an NVM set holds and has done, if it exists.
    pub fn set_info(&self, set: u32) -> Option<SetInfo> {
        let ftl = &self.sets.get(set as usize)?.ftl;
        let stats = ftl.stats();
        Some(SetInfo {
            capacity_pages: ftl.capacity(),
            mapped_pages: ftl.mapped_pages(),
            free_blocks: ftl.free_blocks(),
            host_pages_programmed: stats.host_pages_programmed,
            gc_pages_moved: stats.gc_pages_moved,
            erases: stats.erases,
        })
    }

    /// NVM sets of the device; they are numbered from 0.
    pub fn sets(&self) -> u32 {
        self.sets.len() as u32
    }

    /// The NVM set a namespace is in, if it exists.
    pub fn set_of(&self, nsid: NamespaceId) -> Option<u32> {
        let home = self.homes.spaces.get((nsid.0 as usize).wrapping_sub(1));
        home.map(|&(set, _)| set)
    }

    /// A command of the host's begins in a set.
    #[inline]
    pub(super) fn begin_in(&mut self, set: u32, request: u32) {
        if self.profile.gc.background {
            self.requests.set_home(request, set);
            let set = &mut self.sets[set as usize];
            set.activity.outstanding += 1;
            set.ftl.set_idle(false);
        }
    }

    /// A command of the host's has ended.
    #[inline]
    pub(super) fn end_in(&mut self, request: u32) {
        let Some(set) = self.requests.home(request) else {
            return;
        };
        let now = self.queue.now();
        let activity = &mut self.sets[set as usize].activity;
        activity.outstanding -= 1;
        activity.idle_since = now;
        if activity.outstanding == 0 && !activity.is_timed {
            activity.is_timed = true;
            let time = now + self.profile.gc.background_idle;
            self.queue.schedule(time, Event::Idle(set));
        }
    }

    /// A set has been idle since some time ago, unless commands have come meanwhile.
    pub(super) fn look_idle(&mut self, set: u32) {
        let activity = &mut self.sets[set as usize].activity;
        activity.is_timed = false;
        if activity.outstanding > 0 {
            return;
        }
        let time = activity.idle_since + self.profile.gc.background_idle;
        if time > self.queue.now() {
            activity.is_timed = true;
            self.queue.schedule(time, Event::Idle(set));
        } else {
            self.sets[set as usize].ftl.set_idle(true);
            self.pump(set, Owner::gc(set));
        }
    }

    /// Bytes of memory that the translation layers take: mapping, blocks, buffers.
    pub fn memory(&self) -> u64 {
        self.sets.iter().map(|set| set.ftl.memory()).sum()
    }

    /// The data a read of the page would return: the tag of the write that brought it.
    #[cfg(test)]
    pub(super) fn data(&self, nsid: NamespaceId, page: u64) -> Option<u64> {
        let (set, space) = self.homes.spaces[nsid.0 as usize - 1];
        self.sets[set as usize].ftl.data(space, page)
    }
}
