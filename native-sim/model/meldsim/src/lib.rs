//! `meldsim`: a deterministic discrete-event model of an SSD whose flash can read all pages of a
//! wordline in one sensing (*melded pages*).
//!
//! The crate does no I/O and never looks at a wall clock. A [`Profile`] describes a device, a
//! [`Device`] is built from it, commands are [submitted](Device::submit) at the device's current
//! time, and time moves only when the caller moves it, by [`Device::advance_to`] or
//! [`Device::run_until_completion`]:
//!
//! ```text
//!   Command --submit--> Device --advance_to(t)--> pop_completion --> Completion
//!                         |
//!          nvme: directive, namespace, status
//!          firmware: what the controller's cores do before and after, a policy
//!          ftl:  mapping, write buffer, write scheduler, garbage collection
//!          nand: dies and channels, senses, transfers, programs, erases
//!          xpoint: in place of ftl and nand, memory that is mapped by address
//!          engine: integer picoseconds, events ordered by (time, sequence)
//! ```
//!
//! Devices share the policies and freed memory, and no state: a program may have as many devices as
//! fit its memory, each a value that can be sent to another thread. The same calls give the same results, to the picosecond, on every
//! run and in every build.
//!
//! # A read, laid out normally and melded
//!
//! ```
//! use meldsim::{Command, Device, Directive, Pattern, Profile, Duration};
//!
//! /// The latency of one 16 MiB read of data that was written with `directive`.
//! fn latency(directive: Directive) -> Result<Duration, Box<dyn std::error::Error>> {
//!     let mut device = Device::new(&Profile::builtin("melded-tlc-8x8")?)?;
//!     let nsid = device.create_namespace(1 << 30)?;
//!     device.preload(nsid, 0, 4096, directive)?;
//!     device.submit(&Command::read(nsid, 0, 4096, 0))?;
//!     device.run_until_completion();
//!     Ok(device.pop_completion().ok_or("no completion")?.latency())
//! }
//!
//! let normal = latency(Directive::NONE)?;
//! let melded = latency(Directive::read_pattern(Pattern::Sequential))?;
//! assert_eq!((normal.as_us(), melded.as_us()), (5572, 4068));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to go on
//!
//! - [`device`]: commands in, completions out, counters ([`Stats`], [`Utilisation`])
//! - [`profile`]: devices as data, and why one is refused
//! - the crate `meldsim-workload`: jobs and traces; `meldsim-lab`: published results, repeated and compared
//! - `examples/` of the crate: several devices in one process

#![deny(unsafe_code)]
#![deny(missing_docs)]
// A test may look at a hash map in any order.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::iter_over_hash_type))]

pub mod device;
pub mod engine;
mod event;
mod ftl;
mod nand;
pub mod nvme;
mod opcode;
pub mod policy;
pub mod profile;
pub mod timeline;
mod words;
mod xpoint;

pub use device::{
    Aging, Device, DeviceError, LayoutCount, Location, NamespaceStats, PastWrite, Precondition,
    QueueId, SetInfo, SnapshotError, Stats, Utilisation,
};
pub use engine::{Duration, Instant};
pub use nvme::{Command, Completion, Directive, Namespace, NamespaceId, Opcode, Pattern, Status};
pub use profile::{Profile, ProfileError, ProfileErrors};

// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
