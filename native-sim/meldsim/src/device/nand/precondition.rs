//! The state after a long past, computed.

use super::{NandMedium, set};
use crate::device::front::Front;
use crate::device::{DeviceError, Precondition};
use crate::ftl::Filled;

impl NandMedium {
    pub(in crate::device) fn precondition(
        &mut self,
        front: &Front,
        precondition: &Precondition,
    ) -> Result<(), DeviceError> {
        let (mut sets, _) = set::build(&front.profile, &self.geometry);
        let pages = |namespace: usize| front.namespaces[namespace].pages();
        for (number, set) in (0..).zip(&mut sets) {
            let here: Vec<usize> = (0..front.namespaces.len())
                .filter(|&namespace| front.homes[namespace].0 == number)
                .collect();
            let room = set.ftl.capacity_for(here.len() as u64);
            let total: u64 = here.iter().map(|&namespace| pages(namespace)).sum();
            let percent =
                |pages: u64, percent: u32| (u128::from(pages) * u128::from(percent) / 100) as u64;
            let filled: Vec<Filled> = here
                .iter()
                .map(|&namespace| {
                    let pages = u128::from(pages(namespace));
                    let share = match total > room {
                        true => pages * u128::from(room) / u128::from(total),
                        false => pages,
                    };
                    let pages = percent(share as u64, precondition.fill_percent);
                    Filled {
                        space: set.ftl.add_space(),
                        pages,
                        random: percent(pages, precondition.random_percent),
                    }
                })
                .collect();
            if !set.ftl.precondition(&filled) {
                let pages = filled.iter().map(|filled| filled.pages).sum();
                let free = room;
                return Err(DeviceError::CapacityExceeded { pages, free });
            }
        }
        self.sets = sets;
        Ok(())
    }
}
