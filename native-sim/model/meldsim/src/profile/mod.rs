//! Profiles: a device described by typed sections, each a struct of public fields.
//!
//! A [`Profile`] is made of defaults and fields set in Rust, or, with the feature `toml`, read from
//! text or taken from the built-in ones. [`Profile::validate`] says whether such a device can be.
//!
//! ```
//! use meldsim::profile::{ByteSize, Kind, Profile, TransferRate};
//! use meldsim::{Device, Duration};
//!
//! let mut profile = Profile::new("small MLC", Kind::Nand);
//! profile.geometry.channels = 2;
//! profile.geometry.dies_per_channel = 4;
//! profile.geometry.blocks_per_plane = 64;
//! profile.geometry.wordlines_per_block = 128;
//! profile.geometry.page_size = ByteSize(16 << 10);
//! profile.bus.rate = TransferRate(800);
//! profile.bus.width_bits = 8;
//! profile.timing.read = vec![Duration::from_us(50), Duration::from_us(80)];
//! profile.timing.program = Duration::from_us(600);
//! profile.timing.erase = Duration::from_ms(3);
//! let device = Device::new(&profile)?;
//! # Ok::<(), meldsim::ProfileErrors>(())
//! ```
//!
//! In TOML every quantity carries its unit (`"58us"`, `"4KiB"`, `"800MT/s"`). In the built-in profiles
//! each number is tagged **\[P\]** published, **\[F\]** fitted to published cells, or **\[A\]** an
//! assumption; the tag is that of the defaults here as well.

#[cfg(feature = "toml")]
mod builtin;
mod check;
mod controller;
mod fdp;
mod firmware;
mod flash;
mod ftl;
pub(crate) mod limits;
pub(crate) mod map;
mod sets;
mod shortcuts;
#[cfg(feature = "toml")]
mod sources;
#[cfg(feature = "toml")]
mod text;
mod units;
mod xpoint;
mod zones;

use serde::{Deserialize, Serialize};

pub use check::{ProfileError, ProfileErrors, excerpt, list_mistakes, shortened};
pub use controller::{Controller, Flush, Host, HostPath, PathTimes};
pub use fdp::Fdp;
pub use firmware::{Firmware, FirmwareBinding, FirmwareCore, FirmwareCost, FirmwareThreads};
pub use flash::{Arbitration, Bus, Commands, DieInterleave, Energy, Geometry, Issue, Timing};
pub use ftl::{
    Allocation, Dimension, Ftl, Gc, Journaling, MapKind, MapUpdate, MeldedPartialRead,
    PageAllocation, ProgramOrder,
};
pub use sets::{BufferScope, PredictableLatency, SetLayout, Sets};
pub(crate) use shortcuts::{ChannelKind, Shortcuts};
#[cfg(feature = "toml")]
pub use sources::{Source, Sources};
#[cfg(feature = "toml")]
pub use text::Setting;
pub use units::{
    ByteSize, DataRate, EnergyAmount, TransferRate, is_fraction, is_too_large, parse_quantity,
};
pub use xpoint::Xpoint;
pub use zones::Zones;

pub use crate::words::nearest;

use crate::policy::{self, PolicyOptions};
use crate::words::in_place_of;
use check::{Checker, names};

/// A device. All fields are public so that an experiment may vary a preset; whoever changes one
/// relies on [`Device::new`](crate::Device::new) to refuse what is impossible.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Profile {
    /// The profile's name. No default.
    pub name: String,
    /// One line for a list of profiles. Default: empty.
    pub description: String,
    /// What the device is made of. A device of kind `xpoint` has `[xpoint]`, `[controller]`, `[host]`
    /// and `[firmware]`; every other section is flash's, and holds nothing that matters then. Default `nand`.
    pub kind: Kind,
    /// How much flash there is and how it is arranged. Required of flash.
    pub geometry: Geometry,
    /// The channel's bus. Required of flash.
    pub bus: Bus,
    /// What the cells take. Required of flash.
    pub timing: Timing,
    /// The memory of a device of kind `xpoint`. Default: all defaults.
    pub xpoint: Xpoint,
    /// Which advanced commands the flash understands. Default: all defaults.
    pub commands: Commands,
    /// What operations cost. Default: all defaults.
    pub energy: Energy,
    /// The controller between host and flash. Default: all defaults.
    pub controller: Controller,
    /// The flash translation layer. Default: all defaults.
    pub ftl: Ftl,
    /// Flexible data placement. Default: none.
    pub fdp: Fdp,
    /// Zoned namespaces. Default: none.
    #[serde(skip_serializing_if = "Zones::is_default")]
    pub zones: Zones,
    /// NVM sets. Default: one set of the whole device.
    pub sets: Sets,
    /// Garbage collection and wear levelling. Default: all defaults.
    pub gc: Gc,
    /// The host's path, the link to the host and the controller's queues. Default: all defaults.
    pub host: Host,
    /// The controller's firmware. Default: all defaults.
    pub firmware: Firmware,
    /// Windows of NVM sets. Default: all defaults.
    pub predictable_latency: PredictableLatency,
    /// What policies have of their own, each in a section of its name. Default: none.
    #[serde(skip_serializing_if = "PolicyOptions::is_empty")]
    pub policy: PolicyOptions,
}

names! {
    /// `kind`: what a device is made of. Sections and keys of the other kind are refused.
    Kind {
        /// Flash behind a translation layer.
        #[default]
        Nand = "nand",
        /// 3D XPoint memory, mapped by address.
        Xpoint = "xpoint",
    }
}

impl Profile {
    /// A profile in which everything has its default. Flash needs `geometry`, `bus` and `timing` as
    /// well; memory of 3D XPoint is complete.
    pub fn new(name: impl Into<String>, kind: Kind) -> Profile {
        Profile {
            name: name.into(),
            kind,
            ..Profile::default()
        }
    }

    /// Whether such a device can be.
    ///
    /// # Errors
    ///
    /// Everything that makes it impossible, all at once.
    pub fn validate(&self) -> Result<(), ProfileErrors> {
        let mut checker = Checker::default();
        self.check(&mut checker);
        match checker.errors.is_empty() {
            true => Ok(()),
            false => Err(ProfileErrors(checker.errors)),
        }
    }

    fn check(&self, checker: &mut Checker) {
        if self.name.trim().is_empty() {
            checker.refuse("name", "is empty", "name the profile");
        }
        self.controller.check_shared(checker);
        self.host.check(checker);
        self.check_options(self.host.arbitration, checker);
        self.check_policies(checker);
        self.firmware.check(checker);
        match self.kind {
            Kind::Nand => self.check_flash(checker),
            Kind::Xpoint => self.xpoint.check(checker),
        }
        // It is made for all of the profile.
        if checker.errors.is_empty() {
            checker
                .errors
                .extend(self.make(self.firmware.design, self).err());
        }
    }

    fn check_flash(&self, checker: &mut Checker) {
        self.geometry.check(checker);
        self.bus.check(checker);
        self.timing.check(checker);
        self.commands.check_ranges(checker);
        self.energy.check_ranges(checker);
        self.ftl.check_ranges(checker);
        self.check_mapping_unit(checker);
        self.controller.check_flash(self.mapping_unit(), checker);
        self.sets.check(&self.geometry, checker);
        self.predictable_latency.check(checker);
        self.gc.check_ranges(checker);
        self.fdp.check_ranges(checker);
        self.zones.check_ranges(checker);
        self.check_options(self.ftl.placement, checker);
        self.check_options(self.timing.cells, checker);
        self.check_options(self.gc.victim, checker);
        self.check_options(self.gc.pacing, checker);
        self.check_options(self.gc.wear_levelling, checker);
        self.check_sections(checker);
        // It computes with these.
        let computed = [
            "geometry",
            "timing.read",
            "ftl",
            "sets",
            "controller.capacity",
            "controller.write_buffer",
        ];
        if checker.are_sound(&computed) {
            self.check_limits(checker);
        }
    }

    /// The policy of this name, with the options that the profile has for it.
    ///
    /// # Errors
    ///
    /// An option that is wrong, or that the policy does not have.
    pub(crate) fn make<K: policy::Kind + ?Sized>(
        &self,
        name: policy::Name<K>,
        of: &K::For,
    ) -> Result<Box<K>, ProfileError> {
        let made = name.make(&self.policy, of);
        made.map_err(|error| ProfileError::new(error.key, error.message, error.remedy))
    }

    /// Refuses options of policies that there are not.
    fn check_policies(&self, checker: &mut Checker) {
        let known: Vec<&str> = policy::all().iter().map(|policy| policy.name).collect();
        for name in self.policy.names().filter(|name| !known.contains(name)) {
            let remedy = in_place_of(name, &known);
            checker.refuse(&format!("policy.{name}"), "is no policy", remedy);
        }
    }

    fn check_options<K: policy::Kind + ?Sized>(
        &self,
        name: policy::Name<K>,
        checker: &mut Checker,
    ) {
        let made = self.make(name, &K::For::default());
        checker.errors.extend(made.err());
    }

    /// Refuses a profile of another kind than `kind`, for what makes no sense for it.
    ///
    /// # Errors
    ///
    /// The profile is of another kind.
    pub fn require(&self, kind: Kind) -> Result<(), ProfileErrors> {
        if self.kind == kind {
            return Ok(());
        }
        let message = format!("is \"{}\" in profile {}", self.kind.name(), self.name);
        let remedy = format!("use a profile of kind \"{}\"", kind.name());
        Err(ProfileError::new("kind", message, remedy).into())
    }
}
