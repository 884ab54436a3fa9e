//! The functions of the C library. Each says its contract, which becomes the header's.
//!
//! | file | what |
//! | --- | --- |
//! | `device` | the library, its errors; devices and their snapshots, who moves time |
//! | `namespace` | namespaces: what they are, where their data is, how it will be read |
//! | `io` | commands, tickets, submission queues |
//! | `ring` | a ring of commands in shared memory |
//! | `set` | NVM sets and predictable latency mode |
//! | `fdp` | flexible data placement: handles, statistics and events of a set |
//! | `zone` | zoned namespaces: their zones, and the report of them |
//! | `counters` | counters, percentiles, how busy the parts of a device are |
//! | `policy` | policies of the caller's own |
//! | `timeline` | what a device did, as a file |
#![allow(non_camel_case_types, reason = "the C names of types")]

mod counters;
mod device;
mod fdp;
mod io;
mod namespace;
mod policy;
mod ring;
mod set;
mod timeline;
mod zone;

pub use counters::*;
pub(crate) use device::check_abi;
pub use device::*;
pub use fdp::*;
pub use io::*;
pub use namespace::*;
pub use policy::*;
pub use ring::*;
pub use set::*;
pub use timeline::*;
pub use zone::*;
