use super::{FRONTIERS, Frontier, Page, Placement, Shape};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Isolated;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Placement>, OptionError> {
    Ok(Box::new(Isolated))
}

impl Placement for Isolated {
    fn moved(&self) -> u8 {
        FRONTIERS[1]
    }

    fn of_write(&mut self, _: Page, stream: u8) -> u8 {
        stream
    }

    fn of_move(&mut self, _: Page, from: Frontier) -> u8 {
        match from {
            Frontier::Host(stream) if stream >= FRONTIERS[1] => 0,
            Frontier::Host(stream) | Frontier::Collection(stream) => stream,
        }
    }
}
