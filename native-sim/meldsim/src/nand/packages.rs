//! How long packages were busy.

use super::die::Die;
use super::geometry::Geometry;
use crate::engine::Time;

/// Busy times of packages of several dies; a package of one is as busy as its die.
#[derive(Debug)]
pub(super) struct Packages {
    dies_per_package: usize,
    packages: Vec<Package>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Package {
    busy_dies: u32,
    since: Time,
    busy: Time,
}

impl Packages {
    pub(super) fn new(geometry: &Geometry) -> Packages {
        let dies_per_package = geometry.dies_per_package as usize;
        let packages = match dies_per_package {
            1 => 0,
            _ => geometry.dies as usize / dies_per_package,
        };
        Packages {
            dies_per_package,
            packages: vec![Package::default(); packages],
        }
    }

    #[inline]
    pub(super) fn are_shared(&self) -> bool {
        !self.packages.is_empty()
    }

    pub(super) fn begin(&mut self, die: usize, now: Time) {
        let package = &mut self.packages[die / self.dies_per_package];
        if package.busy_dies == 0 {
            package.since = now;
        }
        package.busy_dies += 1;
    }

    pub(super) fn end(&mut self, die: usize, now: Time) {
        let package = &mut self.packages[die / self.dies_per_package];
        package.busy_dies -= 1;
        if package.busy_dies == 0 {
            package.busy += now - package.since;
        }
    }

    /// The time each package has had a busy die.
    pub(super) fn busy(&self, dies: &[Die], now: Time) -> Vec<Time> {
        if !self.are_shared() {
            return dies.iter().map(|die| die.busy_until(now)).collect();
        }
        let busy = |package: &Package| match package.busy_dies {
            0 => package.busy,
            _ => package.busy + (now - package.since),
        };
        self.packages.iter().map(busy).collect()
    }
}
