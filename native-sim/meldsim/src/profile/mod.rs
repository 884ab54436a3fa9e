//! Profiles: a device described in TOML.
//!
//! Every quantity carries its unit (`"58us"`, `"4KiB"`, `"800MT/s"`). In the presets each number is
//! tagged **\[P\]** published, **\[F\]** fitted to published cells, or **\[A\]** an assumption.

pub(crate) mod allocation;
mod base;
mod commands;
mod energy;
mod error;
mod firmware;
mod gc;
mod host;
mod parse;
mod predictable_latency;
mod presets;
mod sections;
mod sets;
mod setting;
mod units;
mod validate;
mod xpoint;

pub use allocation::{Dimension, PageAllocation};
pub use commands::{Commands, DieInterleave, Issue};
pub use energy::Energy;
pub use error::{ProfileError, ProfileErrors};
pub use firmware::{Firmware, FirmwareCore, FirmwareCost, FirmwareDesign, FirmwareThreads};
pub use gc::{Gc, GcVictim, WearLevelling};
pub use host::{Host, QueueArbitration};
pub use predictable_latency::PredictableLatency;
pub use sections::{
    Allocation, Arbitration, Bus, Controller, Ftl, Geometry, MeldedPartialRead, Profile,
    ProgramOrder, Timing,
};
pub use sets::{SetLayout, Sets};
pub use setting::Setting;
pub use units::{ByteSize, DataRate, EnergyAmount, TransferRate};
pub use xpoint::{Kind, Xpoint};
