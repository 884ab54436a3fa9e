use super::{Frontier, Page, Placement, Shape};
use crate::policy::{Given, OptionError};

#[derive(Debug)]
struct Streams;

pub(super) fn make(_: &mut Given<'_>, _: &Shape) -> Result<Box<dyn Placement>, OptionError> {
    Ok(Box::new(Streams))
}

impl Placement for Streams {
    fn follows_streams(&self) -> bool {
        true
    }

    fn of_write(&mut self, _: Page, stream: u8) -> u8 {
        stream
    }

    fn of_move(&mut self, _: Page, _: Frontier) -> u8 {
        0
    }
}
