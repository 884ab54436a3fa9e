//! Profiles: a device described in TOML.
//!
//! Every quantity carries its unit (`"58us"`, `"4KiB"`, `"800MT/s"`). In the presets each number is
//! tagged **\[P\]** published, **\[F\]** fitted to published cells, or **\[A\]** an assumption.

#[allow(
    dead_code,
    unreachable_pub,
    reason = "the key ftl.page_allocation does not use it yet"
)]
pub(crate) mod allocation;
mod error;
mod parse;
mod presets;
mod sections;
mod units;
mod validate;

pub use error::{ProfileError, ProfileErrors};
pub use sections::{
    Arbitration, Bus, Controller, Ftl, GcVictim, Geometry, MeldedPartialRead, PageAllocation,
    Profile, Timing,
};
pub use units::{ByteSize, TransferRate};
