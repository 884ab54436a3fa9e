//! The order in which commands arrived, whatever their queue.

use std::collections::VecDeque;

use super::{Arbitration, Priority, Shares};
use crate::policy::{Given, OptionError};

/// The queue of each command that waits, the first to arrive first.
#[derive(Debug, Default)]
struct FirstCome {
    queues: VecDeque<u32>,
}

pub(super) fn make(_: &mut Given<'_>, _: &Shares) -> Result<Box<dyn Arbitration>, OptionError> {
    Ok(Box::new(FirstCome::default()))
}

impl Arbitration for FirstCome {
    fn add_queue(&mut self, _: Priority) {}

    fn arrived(&mut self, queue: u32) {
        self.queues.push_back(queue);
    }

    fn grant(&mut self) -> Option<u32> {
        self.queues.pop_front()
    }

    fn remembers(&self) -> bool {
        false
    }
}
