//! Many-core firmware for `meldsim`: what a controller's cores do for a command, as a queueing model in simulated time.
//!
//! It stands between the host, whose commands the controller has fetched, and the medium, as
//! [`Firmware`](meldsim::policy::firmware::Firmware) says. A program calls [`register`] before it reads a profile that names a
//! design; what it takes is in the profile's section `[firmware]`.
//!
//! Three designs follow Zhang, Kwon, Swift and Jung, "Scalable Parallel Flash Firmware for Many-core
//! Architectures" (FAST'20, DeepFlash): naive, many-layered and the pipeline of
//! threads by type, with or without its optimisations. What the threads do, they really do: the index
//! lock orders commands that overlap, and the burst buffer holds which data a read of a
//! page gives. The data themselves are no part of the model.
//!
//! The files, each using those before it: `command` (state, steps, costs), `lock` and `buffer`, `tables`
//! (what the threads share), `threads` (inboxes and cores), and the designs, `naive` and `many_core`.

#![deny(unsafe_code)]
#![deny(missing_docs)]

mod buffer;
mod command;
mod lock;
mod many_core;
mod naive;
mod tables;
#[cfg(test)]
mod tests;
mod threads;

use std::sync::OnceLock;

use meldsim::policy::firmware::{Firmware, FirmwarePolicy};
use meldsim::policy::{self, OptionError, Policy};

use self::command::Design;
use self::many_core::Pipeline;
use self::naive::Naive;

/// The designs, by their names in a profile.
#[derive(Debug)]
#[non_exhaustive]
pub struct Designs {
    /// `naive`: every core does whole commands.
    pub naive: FirmwarePolicy,
    /// `many-layered`: one core takes commands apart, each other core runs layered firmware on its part.
    pub many_layered: FirmwarePolicy,
    /// `pipeline`: threads by type that send messages.
    pub pipeline: FirmwarePolicy,
}

/// Makes the designs known to profiles, once: before one that names them is read. May be called again.
pub fn register() -> &'static Designs {
    static DESIGNS: OnceLock<Designs> = OnceLock::new();
    let known = |name, about, make| policy::register::<dyn Firmware>(Policy { name, about, make });
    DESIGNS.get_or_init(|| Designs {
        naive: known(
            "naive",
            "every core does whole commands, on shared memory with a lock for each structure",
            |_, profile| match profile.firmware.core.threads {
                1 => Ok(Box::new(Naive::new(&profile.firmware))),
                threads => Err(OptionError {
                    key: "firmware.core.threads".into(),
                    message: format!("is {threads}, but the cores of this design do whole commands"),
                    remedy: "make it 1, or set firmware.design = \"pipeline\" or \"many-layered\"".into(),
                }),
            },
        ),
        many_layered: known(
            "many-layered",
            "one core takes commands apart by address, each other core runs layered firmware on its part",
            |_, profile| Ok(Box::new(Pipeline::new(Design::ManyLayered, profile))),
        ),
        pipeline: known(
            "pipeline",
            "threads by type, one for each stage or several, that send messages",
            |_, profile| Ok(Box::new(Pipeline::new(Design::Pipeline, profile))),
        ),
    })
}
