//! A device: built from a profile, commands in, completions out.
//!
//! The way of a read, from the job to the die and back, is told by `pipeline`; its state meanwhile is one record,
//! `request`. Beside the way stand the host interface layer (`hil`), the firmware stage (`firmware`), namespaces,
//! NVM sets, and what is asked of a device or done to it as a whole (`inspect`, `state`, `snapshot`).

mod error;
mod fdp;
mod firmware;
mod hil;
mod independent;
mod inspect;
mod media;
mod medium;
mod namespace;
mod page_mapped;
mod pipeline;
mod request;
mod sets;
mod snapshot;
mod state;
mod stats;
#[cfg(test)]
mod tests;
mod xpoint;
mod zones;

use std::collections::VecDeque;

pub use error::DeviceError;
pub use hil::QueueId;
pub use inspect::{LayoutCount, Location, Utilisation};
pub use pipeline::Ahead;
pub use request::Stage;
pub use sets::{SetInfo, SetUsage};
pub use snapshot::SnapshotError;
pub use state::{Aging, PastWrite, Precondition};
pub use stats::{NamespaceStats, Programmed, Stats, amplification};

use self::firmware::FirmwareStage;
use self::hil::{HostInterface, Serial};
use self::media::AnyMedium;
use self::namespace::Namespaces;
use self::pipeline::Way;
use self::request::Requests;
use crate::engine::{EventQueue, Instant};
use crate::event::Event;
#[cfg(test)]
use crate::ftl::Ftl;
use crate::nvme::Completion;
use crate::nvme::zones::Zones;
use crate::profile::{Profile, ProfileErrors};

/// A simulated SSD. It is deterministic, does no I/O and knows no wall clock.
///
/// ```
/// use meldsim::{Command, Device, Directive, Pattern, Profile};
///
/// let mut device = Device::new(&Profile::builtin("melded-tlc-8x8")?)?;
/// let nsid = device.create_namespace(1 << 40)?;
/// device.preload(nsid, 0, 4096, Directive::read_pattern(Pattern::Sequential))?;
/// device.submit(&Command::read(nsid, 0, 4096, 7))?;
/// device.run_until_completion();
/// let completion = device.pop_completion().expect("the read is done");
/// assert_eq!((completion.tag, completion.latency().as_us()), (7, 4068));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Device {
    profile: Profile,
    queue: EventQueue<Event>,
    namespaces: Namespaces,
    hil: HostInterface,
    /// Unless it is ideal.
    firmware: Option<Box<FirmwareStage>>,
    /// The [shortcut](crate::profile::Shortcuts): the medium is all that takes time.
    is_ideal: bool,
    /// What the code leaves out.
    way: Way,
    medium: AnyMedium,
    requests: Requests,
    completions: VecDeque<Completion>,
    /// What each NVM set did for the host.
    usage: Vec<SetUsage>,
    /// The zones of the namespace, where it is zoned.
    zones: Option<Box<Zones>>,
    /// The firmware's unit for writes and appends to zones.
    zone_unit: Serial,
}

impl Device {
    /// Commands are refused after this time: what is outstanding needs the rest of the clock's
    /// range to complete.
    pub const LAST_SUBMISSION: Instant = Instant::from_ps(u64::MAX / 2);

    /// Builds the device.
    ///
    /// # Errors
    ///
    /// All that makes the device impossible that the profile describes.
    pub fn new(profile: &Profile) -> Result<Device, ProfileErrors> {
        profile.validate()?;
        Device::with(profile, AnyMedium::new(profile)?)
    }

    /// The device of a profile that is possible, with this medium.
    fn with(profile: &Profile, medium: AnyMedium) -> Result<Device, ProfileErrors> {
        let hil = HostInterface::new(profile)?;
        let firmware = FirmwareStage::new(profile)?;
        let mut device = Device {
            way: Way::Any,
            queue: EventQueue::new(medium.timers()),
            namespaces: Namespaces::default(),
            is_ideal: hil.is_direct && firmware.is_none(),
            hil,
            firmware,
            requests: Requests::new(),
            completions: VecDeque::new(),
            usage: vec![SetUsage::default(); medium.sets()],
            medium,
            zones: None,
            zone_unit: Serial::default(),
            profile: profile.clone(),
        };
        device.find_way();
        Ok(device)
    }

    /// The profile it was built from.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The current simulated time.
    pub fn now(&self) -> Instant {
        self.queue.now()
    }

    /// When something happens next, if anything will.
    pub fn next_event(&self) -> Option<Instant> {
        self.queue.next_time()
    }

    /// Commands submitted and not completed. A completion that was not popped is completed.
    pub fn outstanding(&self) -> usize {
        self.requests.outstanding()
    }

    /// The commands that have not completed: their tags, and where each is on its way. In no
    /// particular order.
    pub fn in_flight(&self) -> impl Iterator<Item = (u64, Stage)> + '_ {
        self.requests
            .iter()
            .map(|request| (request.tag, request.stage))
    }
}

#[cfg(test)]
impl Device {
    /// The translation layer of each set.
    fn ftls(&self) -> Vec<&Ftl> {
        match &self.medium {
            AnyMedium::Nand(nand) => nand.sets.iter().map(|set| &set.ftl).collect(),
            AnyMedium::Cached(nand) => nand.sets.iter().map(|set| &set.ftl).collect(),
            _ => unreachable!("not a device of flash"),
        }
    }

    fn ftls_mut(&mut self) -> Vec<&mut Ftl> {
        match &mut self.medium {
            AnyMedium::Nand(nand) => nand.sets.iter_mut().map(|set| &mut set.ftl).collect(),
            AnyMedium::Cached(nand) => nand.sets.iter_mut().map(|set| &mut set.ftl).collect(),
            _ => unreachable!("not a device of flash"),
        }
    }

    /// The data a read of the page would return: the tag of the write that brought it.
    fn data(&self, nsid: crate::nvme::NamespaceId, page: u64) -> Option<u64> {
        let (set, space) = self.namespaces.space(nsid).expect("a namespace");
        self.ftls()[set as usize].data(space, page)
    }
}
