//! A device: built from a profile, commands in, completions out.

mod error;
mod firmware;
mod front;
mod hints;
mod host;
mod location;
mod medium;
mod nand;
mod precondition;
mod request;
mod set;
mod snapshot;
mod stats;
#[cfg(test)]
mod tests;
mod unmapped;
mod utilisation;
mod windows;
mod xpoint;

pub use error::DeviceError;
pub use host::QueueId;
pub use location::{LayoutCount, Location};
pub use precondition::Precondition;
pub use request::SetUsage;
pub use set::SetInfo;
pub use snapshot::SnapshotError;
pub use stats::Stats;
pub use utilisation::Utilisation;

use self::front::{Front, PageRange};
use self::medium::Medium;
use self::request::Work;
use crate::engine::{Event, Time};
use crate::nvme::{Command, Completion, Directive, Hints, Namespace, NamespaceId, Opcode};
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
///
/// ```text
///   submit --> Front: queues, arbitration, link --begin--> firmware --start--> Medium: nand or xpoint
///   pop_completion <-- Front: requests, completions <-- firmware <--deliver, finish_part--'
/// ```
#[derive(Debug)]
pub struct Device {
    front: Front,
    medium: Medium,
}

impl Device {
    /// Commands are refused after this time: what is outstanding needs the rest of the clock's
    /// range to complete.
    pub const LAST_SUBMISSION: Time = Time::from_ps(u64::MAX / 2);

    /// Builds the device; refuses a profile that describes an impossible one.
    pub fn new(profile: &Profile) -> Result<Device, ProfileErrors> {
        profile.validate()?;
        let medium = Medium::new(profile);
        Ok(Device {
            front: Front::new(profile, medium.sets(), medium.alarms()),
            medium,
        })
    }

    /// The profile it was built from.
    pub fn profile(&self) -> &Profile {
        &self.front.profile
    }

    /// Creates a namespace of `size_bytes`. It is thin: its size may exceed the device's capacity.
    /// Namespaces go to the NVM sets in turn, the first to set 0.
    pub fn create_namespace(&mut self, size_bytes: u64) -> Result<NamespaceId, DeviceError> {
        let set = self.front.namespaces.len() as u32 % self.sets();
        self.create_namespace_in(set, size_bytes)
    }

    /// Creates a namespace in an NVM set; see [`Device::create_namespace`].
    pub fn create_namespace_in(
        &mut self,
        set: u32,
        size_bytes: u64,
    ) -> Result<NamespaceId, DeviceError> {
        self.known_set(set)?;
        let front = &mut self.front;
        let lba_bytes = front.profile.controller.lba_size.0;
        let max_bytes = self.medium.max_namespace_bytes();
        if size_bytes == 0 || size_bytes % lba_bytes != 0 || size_bytes > max_bytes {
            return Err(DeviceError::NamespaceSize {
                size_bytes,
                lba_bytes,
                max_bytes,
            });
        }
        let space = self.medium.add_space(set, size_bytes);
        front.homes.push((set, space));
        let id = NamespaceId(front.homes.len() as u32);
        front.hints.push(Hints::default());
        front.namespaces.push(Namespace {
            id,
            lba_bytes,
            size_lbas: size_bytes / lba_bytes,
            page_bytes: self.medium.page_bytes(),
            wordline_bytes: self.medium.optimal_write_bytes(),
        });
        Ok(id)
    }

    /// The namespace, if it exists.
    pub fn namespace(&self, nsid: NamespaceId) -> Option<&Namespace> {
        self.front.namespace(nsid)
    }

    /// All namespaces, in the order of their identifiers.
    pub fn namespaces(&self) -> &[Namespace] {
        &self.front.namespaces
    }

    /// The current simulated time.
    pub fn now(&self) -> Time {
        self.front.now()
    }

    /// Submits a command at [`Device::now`]. What is wrong with the command itself is refused at
    /// once and changes nothing; how it ends otherwise is told by its completion.
    ///
    /// Writes, deallocations and flushes take effect in the order submitted, reads at once. A write
    /// completes when its last page is in the write buffer; one that covers a page on flash only in
    /// part also waits for that page to be read (the rest is merged in the buffer).
    pub fn submit(&mut self, command: &Command) -> Result<(), DeviceError> {
        if !self.front.host.is_direct() {
            return self.submit_to(QueueId(0), command);
        }
        let work = self.check(command)?;
        let request = self.front.requests.start(command, self.front.now());
        self.begin(request, work);
        Ok(())
    }

    /// What the command asks for, or why it is refused.
    fn check(&mut self, command: &Command) -> Result<Work, DeviceError> {
        if self.now() > Device::LAST_SUBMISSION {
            return Err(DeviceError::EndOfTime);
        }
        if command.opcode != Opcode::Write && command.directive != Directive::NONE {
            command.directive.pattern()?;
            return Err(DeviceError::DirectiveNotOnWrite);
        }
        let nlb = u64::from(command.nlb);
        let (range, bytes) = match command.opcode {
            Opcode::Flush => (self.front.empty_range(command.nsid)?, 0),
            _ => self.front.pages(command.nsid, command.slba, nlb)?,
        };
        let lba_bytes = self.front.profile.controller.lba_size.0;
        let hint = self.hint(command, nlb)?;
        let stats = &mut self.front.stats;
        match command.opcode {
            Opcode::Read => {
                stats.read_commands += 1;
                stats.host_read_bytes += bytes;
            }
            Opcode::Write => {
                stats.write_commands += 1;
                stats.host_written_bytes += bytes;
            }
            Opcode::Deallocate => {
                stats.deallocate_commands += 1;
                self.forget_hints(command);
            }
            Opcode::Flush => stats.flush_commands += 1,
        }
        Ok(Work {
            opcode: command.opcode,
            hint,
            range,
            start: command.slba.saturating_mul(lba_bytes),
            bytes,
            queue: 0,
        })
    }

    /// A command that the controller has fetched, and whose data have arrived, is the firmware's.
    #[inline]
    fn begin(&mut self, request: u32, work: Work) {
        if !self.front.accept(request, &work) {
            self.start(request, work);
        }
    }

    /// The firmware is through with a command: it begins on the medium.
    #[inline]
    fn start(&mut self, request: u32, work: Work) {
        self.front.count(&work);
        self.medium.begin(&mut self.front, request, work);
    }

    /// Places data as if it had been written in order and flushed long since. Takes no simulated
    /// time; only padding is counted. A page that is covered in part counts as covered. On a nearly
    /// full device there may be room for the pages and none for the padding: then a part is placed.
    /// Memory that is mapped by address holds everything already.
    pub fn preload(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), DeviceError> {
        let (range, _) = self.front.pages(nsid, slba, nlb)?;
        let write = Command::write(nsid, slba, 0, directive, 0);
        let hint = self.hint(&write, nlb)?;
        match &mut self.medium {
            Medium::Nand(nand) => nand.preload(range, hint),
            Medium::Xpoint(_) => Ok(()),
        }
    }

    /// When something happens next, if anything will.
    pub fn next_event(&self) -> Option<Time> {
        self.front.queue.next_time()
    }

    /// Moves time to `time`, processing every event up to and including it. A time in the past
    /// only processes what is due at [`Device::now`].
    pub fn advance_to(&mut self, time: Time) {
        let time = time.max(self.front.now());
        while let Some(event) = self.front.queue.pop_until(time) {
            self.process(event);
        }
        self.front.queue.advance_clock(time);
    }

    /// Processes events until a completion can be popped; time stops at its event. False when
    /// nothing is left that could complete.
    pub fn run_until_completion(&mut self) -> bool {
        while self.front.completions.is_empty() {
            match self.front.queue.pop_until(Time::MAX) {
                Some(event) => self.process(event),
                None => return false,
            }
        }
        true
    }

    /// As [`Device::run_until_completion`], but time goes no further than `limit`, and it goes as far
    /// when nothing completes. False when nothing has completed.
    pub fn run_until_completion_or(&mut self, limit: Time) -> bool {
        while self.front.completions.is_empty() {
            match self.front.queue.pop_until(limit) {
                Some(event) => self.process(event),
                None => {
                    self.front.queue.advance_clock(limit.max(self.now()));
                    return false;
                }
            }
        }
        true
    }

    /// The next completion, in the order in which commands completed.
    pub fn pop_completion(&mut self) -> Option<Completion> {
        self.front.completions.pop_front()
    }

    /// Commands submitted and not completed. A completion that was not popped is completed.
    pub fn outstanding(&self) -> usize {
        self.front.requests.outstanding()
    }

    fn process(&mut self, event: Event) {
        match event {
            Event::Controller(request) => self.front.finish_in_controller(request),
            Event::Sent { request, parts } => self.front.finish_part(request, u64::from(parts)),
            Event::Fetched => self.fetched(),
            Event::Arrived => self.arrived(),
            Event::Firmware(core) => self.front.step_firmware(core),
            Event::Channel(_) | Event::Window(_) | Event::Idle(_) | Event::Xpoint(_) => {
                self.medium.process(&mut self.front, event);
            }
        }
        if self.front.seam.is_some() {
            self.obey_firmware();
        }
        if !self.front.host.is_direct() {
            self.fetch();
        }
    }
}

#[cfg(test)]
impl Device {
    fn nand(&self) -> &nand::NandMedium {
        match &self.medium {
            Medium::Nand(nand) => nand,
            Medium::Xpoint(_) => unreachable!("not a device of flash"),
        }
    }

    fn nand_mut(&mut self) -> &mut nand::NandMedium {
        match &mut self.medium {
            Medium::Nand(nand) => nand,
            Medium::Xpoint(_) => unreachable!("not a device of flash"),
        }
    }

    /// The data a read of the page would return: the tag of the write that brought it.
    fn data(&self, nsid: NamespaceId, page: u64) -> Option<u64> {
        let (set, space) = self.front.homes[nsid.0 as usize - 1];
        self.nand().sets[set as usize].ftl.data(space, page)
    }
}
