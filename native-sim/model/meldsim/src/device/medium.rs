//! What holds the data: the one interface between the device and its media.
//!
//! A medium takes commands that begin, and the events it has scheduled; it reports what has become of the commands as
//! [`Outcome`](super::request::Outcome)s, and ends one badly by its record's status. What a medium has not (sets, a
//! timeline, a past) it need not answer. A new medium is a file with a [`Medium`] and a line in `media`.

use std::ops::{ControlFlow, Range};

use super::inspect::{LayoutCount, Location, Utilisation};
use super::namespace::Namespaces;
use super::request::{PageRange, Requests};
use super::sets::SetInfo;
use super::state::{Aging, PastWrite, Precondition};
use super::{DeviceError, Stats};
use crate::engine::{Duration, EventQueue, Instant};
use crate::event::Event;
use crate::ftl::{MapIndex, SavedFtl};
use crate::nvme::fdp::FdpEvents;
use crate::nvme::wire::sets::{PredictableLatencyConfig, PredictableLatencyLog};
use crate::nvme::{Hint, Window};
use crate::profile::{Profile, ProfileError};
use crate::timeline::{Recorder, Timeline};

/// What takes the commands of a device and holds its data.
pub(super) trait Medium: Past + Windowed + Report {
    fn new(profile: &Profile) -> Result<Self, ProfileError>
    where
        Self: Sized;

    /// Bytes of the unit that is read and written as a whole.
    fn page_bytes(&self) -> u64;

    /// Bytes that are best written at once.
    fn optimal_write_bytes(&self) -> u64 {
        self.page_bytes()
    }

    /// Bytes of what all its parts hold side by side.
    fn stripe_bytes(&self) -> u64;

    fn max_namespace_bytes(&self) -> u64;

    /// NVM sets; there is one at least.
    fn sets(&self) -> usize {
        1
    }

    /// How many timers it needs of the event queue.
    fn timers(&self) -> usize {
        0
    }

    /// A new namespace in a set; returns the number of its space.
    fn add_space(&mut self, set: u32, size_bytes: u64) -> u32;

    /// The controller begins to work on a command.
    fn begin(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, id: u32);

    /// An event of this medium's is due.
    fn process(&mut self, queue: &mut EventQueue<Event>, requests: &mut Requests, event: Event);

    /// Something happens on a channel.
    #[inline(always)]
    fn step_channel(&mut self, _: &mut EventQueue<Event>, _: &mut Requests, _channel: u32) {}

    /// A command that kept a set awake has completed.
    fn command_completed(&mut self, _: &mut EventQueue<Event>, _set: u32) {}

    /// The host's stream of that number ends in a set.
    fn release_stream(&mut self, _: &mut EventQueue<Event>, _: &mut Requests, _set: u32, _: u8) {}

    /// Events of a set's reclaim units, of a device with handles.
    fn fdp_events(&self, _set: u32) -> Option<&FdpEvents> {
        None
    }

    fn fdp_events_mut(&mut self, _set: u32) -> Option<&mut FdpEvents> {
        None
    }

    /// Pages until the superblock of the host's stream of that number is full.
    fn left_in_superblock(&self, _set: u32, _stream: u8) -> u64 {
        0
    }

    /// A page, of a space of a set, will be read in a while: fetches what leads to the mapping's entry of it, and returns which
    /// that is, and of which set.
    #[inline(always)]
    fn prefetch_ahead(&self, _: (u32, u32, u64)) -> Option<(u32, MapIndex)> {
        None
    }

    /// It will be read soon: fetches the entry.
    #[inline(always)]
    fn prefetch(&self, _: (u32, MapIndex)) {}

    /// Who is told what happens, if anybody is.
    #[inline(always)]
    fn recorder(&mut self) -> Option<&mut Recorder> {
        None
    }

    /// Tells what happens from now on to a timeline, or to nobody. Returns the one before.
    fn set_timeline(
        &mut self,
        _: Option<Box<dyn Timeline>>,
        _now: Instant,
    ) -> Result<Option<Box<dyn Timeline>>, DeviceError> {
        Err(DeviceError::NoTimeline)
    }

    /// Exchanges the state of a set, and the channels that are its own, with another medium of the same profile. No event of
    /// it is scheduled.
    fn exchange_set(&mut self, _: &mut Self, _set: usize)
    where
        Self: Sized,
    {
    }
}

/// What a medium held before its first command, and what it holds after a power cut. One that is mapped by address has no
/// past.
pub(super) trait Past {
    /// Places data as if it had been written in order and flushed long since.
    fn preload(&mut self, _: PageRange, _: Hint) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The first pages of a range, one after the other, that hold nothing.
    fn next_unmapped(&self, _: PageRange) -> Option<Range<u64>> {
        None
    }

    /// The state after a long past. All that the namespaces held is gone.
    fn precondition(
        &mut self,
        _: &Profile,
        _: &Namespaces,
        _: &Precondition,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    /// The state after a long past of these writes. All that the namespaces held is gone.
    fn precondition_by(
        &mut self,
        _: &Profile,
        _: &Namespaces,
        _: &Precondition,
        _writes: &mut dyn Iterator<Item = PastWrite>,
        _progress: &mut dyn FnMut(&Aging) -> ControlFlow<()>,
    ) -> Result<Aging, DeviceError> {
        Ok(Aging::default())
    }

    /// What survives a power cut, of each set that has a map.
    fn save(&self) -> Vec<SavedFtl> {
        Vec::new()
    }

    /// Takes what was saved in place of what there is; the namespaces are there already.
    fn load(
        &mut self,
        _: &mut EventQueue<Event>,
        _: &Profile,
        _: &Namespaces,
        saved: &[SavedFtl],
    ) -> Result<(), String> {
        match saved {
            [] => Ok(()),
            _ => Err("it has sets of flash".to_owned()),
        }
    }
}

/// Predictable latency mode.
pub(super) trait Windowed {
    /// Enables or disables predictable latency mode for a set.
    fn configure_windows(
        &mut self,
        _: &mut EventQueue<Event>,
        _set: u32,
        _enable: bool,
        _: PredictableLatencyConfig,
    ) -> Result<(), DeviceError> {
        Err(DeviceError::WindowsUnsupported)
    }

    fn window(&self, _set: u32) -> (Window, PredictableLatencyConfig) {
        (Window::Disabled, PredictableLatencyConfig::default())
    }

    fn enter_window(
        &mut self,
        _: &mut EventQueue<Event>,
        _set: u32,
        _deterministic: bool,
    ) -> Result<(), DeviceError> {
        Err(DeviceError::WindowsUnsupported)
    }

    fn latency_log(
        &mut self,
        _set: u32,
        _now: Instant,
        _retain: bool,
    ) -> Result<PredictableLatencyLog, DeviceError> {
        Err(DeviceError::WindowsUnsupported)
    }
}

/// What a medium says of itself.
pub(super) trait Report {
    /// What a read of one page takes on an idle device, on average over the pages of a wordline.
    fn random_read_typical(&self, profile: &Profile) -> Duration;

    /// What a set holds and has done; none for one that does not exist.
    fn set_info(&self, set: u32) -> Option<SetInfo>;

    /// Whether there are superblocks to collect of which the victim policy names none.
    fn names_no_victim(&self) -> bool {
        false
    }

    /// Bytes programmed in a set, for whatever, and blocks erased.
    fn programmed(&self, set: u32) -> (u64, u64);

    /// Write amplification of uniform random overwrites of what a set holds now, where there is any.
    fn uniform_write_amplification(&self, _set: u32) -> Option<f64> {
        None
    }

    /// Bytes of a set that can be programmed before more is emptied, where collection has to keep that up.
    fn kept_room(&self, _set: u32) -> Option<u64> {
        None
    }

    /// Pages of a space of a set that hold data, and those of them in the melded layout.
    fn mapped_pages(&self, set: u32, space: u32) -> (u64, u64);

    /// Pages of a range, from the start of a space, that hold data.
    fn allocated_pages(&self, range: PageRange) -> u64 {
        self.mapped_pages(range.set, range.space).0
    }

    /// Bytes of memory of its state.
    fn memory(&self) -> u64;

    /// Adds what it counts.
    fn stats(&self, now: Instant, counted: Stats) -> Stats;

    fn utilisation(&self, now: Instant) -> Utilisation;

    /// Where the first page of the range is.
    fn locate(&self, range: PageRange) -> Location;

    /// How the pages of the range are laid out.
    fn layout(&self, _: PageRange) -> LayoutCount {
        LayoutCount::default()
    }

    /// Pages that garbage collection has moved.
    fn pages_moved(&self) -> u64 {
        0
    }

    /// Bytes that went between the controller's DRAM and the medium other than for reads of the host's.
    fn moved_bytes(&self) -> u64 {
        0
    }
}
