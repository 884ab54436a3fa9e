//! `meldsim`: a deterministic discrete-event model of an SSD whose flash can read all pages of a
//! wordline in one sensing (*melded pages*).
//!
//! The crate does no I/O and never looks at a wall clock. A [`Profile`] describes a device, a
//! [`Device`] is built from it, commands are [submitted](Device::submit) at the device's current
//! time, and time moves only by [`Device::advance_to`]:
//!
//! ```text
//!   Command --submit--> Device --advance_to(t)--> pop_completion --> Completion
//!                         |
//!          nvme: directive, namespace, status
//!          ftl:  mapping, write buffer, write scheduler, garbage collection
//!          nand: dies and channels, senses, transfers, programs, erases
//!          engine: integer picoseconds, events ordered by (time, sequence)
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

pub mod device;
pub mod engine;
pub mod experiment;
mod ftl;
mod nand;
pub mod nvme;
pub mod profile;
pub mod report;
pub mod workload;

pub use device::{Device, DeviceError, Location, Stats, Utilisation};
pub use engine::Time;
pub use nvme::{Command, Completion, Directive, Namespace, NamespaceId, Opcode, Pattern, Status};
pub use profile::{Profile, ProfileError, ProfileErrors};
