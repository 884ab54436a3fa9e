//! Firmware: what a controller's cores do for a command, as a queueing model in simulated time.
//!
//! It stands between the host, whose commands the controller has fetched, and the medium:
//!
//! ```text
//!            accept              Action::Start           ended             Action::Complete
//!   host ------------> firmware ---------------> medium ---------> firmware ---------------> host
//!                          |    Action::Serve
//!                          +---------------> burst buffer (a read whose data are there)
//! ```
//!
//! Three designs follow Zhang, Kwon, Swift and Jung, "Scalable Parallel Flash Firmware for Many-core
//! Architectures" (FAST'20, DeepFlash): [naive](naive), many-layered and the [pipeline](pipeline) of
//! threads by type, with or without its optimisations. What the threads do, they really do: the [index
//! lock](lock) orders commands that overlap, and the [burst buffer](buffer) holds which data a read of a
//! page gives. The data themselves are no part of the model.
//!
//! The files, each using those before it: `command` (state, steps, costs), `lock` and `buffer`, `tables`
//! (what the threads share), `threads` (inboxes and cores), and the designs, `naive` and `pipeline`.

mod buffer;
mod command;
mod lock;
mod many_core;
mod naive;
mod tables;
#[cfg(test)]
mod tests;
mod threads;

pub(crate) use command::{Action, CommandState, Commands, Events, Pages};

use self::command::FirmwareUsage;
use self::many_core::Pipeline;
use self::naive::Naive;
use self::tables::Tables;
use crate::engine::Duration;
use crate::profile::{Firmware as Section, FirmwareDesign};

/// Firmware that is not ideal.
#[derive(Debug)]
pub(crate) enum Firmware {
    Naive(Box<Naive>),
    Pipeline(Box<Pipeline>),
}

impl Firmware {
    /// The firmware that a profile describes, in front of a flash of which a transaction programs so many
    /// pages; none when it is ideal.
    pub(crate) fn new(section: &Section, program_pages: u64) -> Option<Firmware> {
        match section.design {
            FirmwareDesign::Ideal => None,
            FirmwareDesign::Naive => Some(Firmware::Naive(Box::new(Naive::new(section)))),
            FirmwareDesign::ManyLayered | FirmwareDesign::Pipeline => {
                let pipeline = Pipeline::new(section, program_pages);
                Some(Firmware::Pipeline(Box::new(pipeline)))
            }
        }
    }

    /// The controller has fetched a command.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        queue: &mut Events,
        commands: &mut impl Commands,
        request: u32,
    ) {
        match self {
            Firmware::Naive(naive) => naive.accept(queue, request),
            Firmware::Pipeline(pipeline) => pipeline.accept(queue, commands, request),
        }
    }

    /// What a core does: the thread's number and the name of its type, and how long it takes.
    pub(crate) fn running(&self, core: u32) -> Option<(u32, &'static str, Duration)> {
        match self {
            Firmware::Naive(naive) => naive.running(core),
            Firmware::Pipeline(pipeline) => pipeline.running(core),
        }
    }

    /// A core has finished what it did.
    #[inline]
    pub(crate) fn step(&mut self, queue: &mut Events, commands: &mut impl Commands, core: u32) {
        match self {
            Firmware::Naive(naive) => naive.step(queue, commands, core),
            Firmware::Pipeline(pipeline) => pipeline.step(queue, commands, core),
        }
    }

    /// The medium is through with a command.
    #[inline]
    pub(crate) fn ended(&mut self, queue: &mut Events, commands: &mut impl Commands, request: u32) {
        match self {
            Firmware::Naive(naive) => naive.ended(queue, commands, request),
            Firmware::Pipeline(pipeline) => pipeline.ended(queue, commands, request),
        }
    }

    /// Garbage collection has moved pages of the medium.
    pub(crate) fn collected(&mut self, queue: &mut Events, pages: u64) {
        match self {
            Firmware::Naive(naive) => naive.collected(queue, pages),
            Firmware::Pipeline(pipeline) => pipeline.collected(queue, pages),
        }
    }

    /// Exchanges the actions that are due, in order, for an empty list.
    #[inline]
    pub(crate) fn take_actions(&mut self, empty: &mut Vec<Action>) {
        debug_assert!(empty.is_empty(), "actions were lost");
        std::mem::swap(&mut self.tables_mut().actions, empty);
    }

    /// What it has done.
    pub(crate) fn usage(&self) -> &FirmwareUsage {
        match self {
            Firmware::Naive(naive) => &naive.tables.usage,
            Firmware::Pipeline(pipeline) => &pipeline.tables.usage,
        }
    }

    fn tables_mut(&mut self) -> &mut Tables {
        match self {
            Firmware::Naive(naive) => &mut naive.tables,
            Firmware::Pipeline(pipeline) => &mut pipeline.tables,
        }
    }
}
