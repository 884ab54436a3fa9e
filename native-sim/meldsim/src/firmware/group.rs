//! How many threads there are of each type, and on which cores.

use std::cmp::Reverse;

use super::cost::Costs;
use super::step::{Step, Type};
use super::threads::Threads;
use crate::engine::Time;
use crate::profile::{Firmware, FirmwareDesign};

/// The threads of a type, numbered one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Group {
    /// The thread that is responsible for a number.
    #[inline]
    pub(super) fn of(self, number: u64) -> u32 {
        self.first + (number % u64::from(self.count)) as u32
    }

    /// How far behind a number the next one is for which `thread` is responsible.
    #[inline]
    pub(super) fn distance(self, number: u64, thread: u32) -> u64 {
        let count = u64::from(self.count);
        (u64::from(thread - self.first) + count - number % count) % count
    }

    pub(super) fn threads(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

/// The threads of all types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) nvmq: Group,
    pub(super) ilock: Group,
    pub(super) cache: Group,
    /// TRANS, or the layered firmware of each part of the addresses.
    pub(super) trans: Group,
    pub(super) fcmd: Group,
    pub(super) bgc: u32,
    pub(super) log: u32,
}

/// The types of the path of a command.
const PATH: [Type; 5] = [
    Type::Nvmq,
    Type::Ilock,
    Type::Cache,
    Type::Trans,
    Type::Fcmd,
];

impl Groups {
    /// Counts the threads and binds them to cores.
    pub(super) fn new(firmware: &Firmware, costs: &Costs) -> (Groups, Threads) {
        let threads = &firmware.threads;
        let counts = match firmware.design {
            FirmwareDesign::ManyLayered => [1, 0, 0, firmware.cores.max(2) - 1, 0],
            // Ranges in several index locks could overlap.
            _ => [threads.nvmq, 1, threads.cache, threads.trans, threads.fcmd],
        };
        let mut loads = Vec::new();
        let groups = PATH.map(|of| {
            let count = counts[of as usize];
            let load = costs.load(of, firmware.cache_bypass);
            let first = loads.len() as u32;
            let each = Time::from_ps(load.as_ps() / u64::from(count.max(1)));
            loads.extend((0..count).map(|_| each));
            Group { first, count }
        });
        let [nvmq, ilock, cache, trans, fcmd] = groups;
        // Whoever fetches from the only submission queue in use has at least that to do.
        let fetching = &mut loads[nvmq.first as usize];
        *fetching = costs.of(Step::Fetch, 0).max(*fetching);
        let mut threads = Threads::new(firmware.cores);
        for core in place(&loads, firmware.cores) {
            threads.add(core, false);
        }
        // BGC and LOG share the cores of the last NVMQ threads: the first fetches from queue 0.
        let last = u64::from(nvmq.count) - 1;
        for number in [last, last.saturating_sub(1)] {
            let core = threads.core_of(nvmq.of(number));
            threads.add(core, firmware.background_scheduling);
        }
        let bgc = loads.len() as u32;
        let groups = Groups {
            nvmq,
            ilock,
            cache,
            trans,
            fcmd,
            bgc,
            log: bgc + 1,
        };
        (groups, threads)
    }
}

/// The core of each thread: the heaviest first, each to the core with the least to do.
fn place(loads: &[Time], cores: u32) -> Vec<u32> {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by_key(|&thread| Reverse(loads[thread]));
    let mut sums = vec![Time::ZERO; cores as usize];
    let mut placed = vec![0; loads.len()];
    for thread in order {
        let least = (0..sums.len()).min_by_key(|&core| sums[core]).unwrap_or(0);
        sums[least] += loads[thread];
        placed[thread] = least as u32;
    }
    placed
}
