//! What the controller's cores do for a command, before the medium and after it: `firmware.design`.
//!
//! ```text
//!            accept               start             ended              complete
//!   host ------------> firmware ---------> medium ---------> firmware -----------> host
//!                          |      serve
//!                          +---------> the data of a read that the firmware has
//! ```
//!
//! What firmware wants it puts into an [`Outbox`], and the device does it after the call. The kind is made known beside the
//! section of a profile that it is made for, in `profile/firmware.rs`.

use std::fmt::Debug;

use crate::engine::{Duration, Instant, TotalTime};
use crate::opcode::Opcode;

/// The name of a firmware.
pub type FirmwarePolicy = super::Name<dyn Firmware>;

/// A range of logical pages of a volume (a namespace's space in an NVM set).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// The volume.
    pub volume: u32,
    /// The first page.
    pub first: u64,
    /// The page behind the last.
    pub end: u64,
}

impl Pages {
    /// How many there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.end - self.first
    }
}

/// A command that the controller has fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// Its number, until it is complete; then another may get it. Numbers are small.
    pub request: u32,
    /// What it asks for.
    pub opcode: Opcode,
    /// The submission queue it came from.
    pub queue: u16,
    /// Every page that it touches; of several ranges, from the first to the last. Empty for a flush.
    pub pages: Pages,
    /// Whether it covers its first or its last page only in part.
    pub is_partial: bool,
}

/// What the device is to do for a command, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It begins on the medium.
    Start(u32),
    /// The data of a read are the firmware's; as with [`Action::Start`], its end is told.
    Serve(u32),
    /// It is complete: the host may know.
    Complete(u32),
}

/// What firmware wants: it is put in here during a call, and done after it, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The simulated time.
    pub now: Instant,
    /// When to call [`Firmware::step`], and with which number.
    pub wakes: Vec<(Instant, u32)>,
    /// What is to be done for commands.
    pub actions: Vec<Action>,
}

impl Outbox {
    /// [`Firmware::step`] is to be called with this number, after a while: a picosecond at least, or time would never pass.
    /// Returns how long that is.
    #[inline]
    pub fn wake(&mut self, number: u32, after: Duration) -> Duration {
        let after = after.max(Duration::from_ps(1));
        self.wakes.push((self.now + after, number));
        after
    }
}

/// What firmware has done since the device was built: the counters `firmware_*` of [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Cores that run it.
    pub cores: u32,
    /// Time cores worked as threads of each type: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    pub busy: [TotalTime; 7],
    /// Time that commands waited for a range of pages, and cores for a lock of shared memory.
    pub lock_wait: TotalTime,
    /// Commands that found their range locked.
    pub lock_conflicts: u64,
    /// Messages between threads.
    pub messages: u64,
    /// Reads that its burst buffer answered.
    pub cache_hits: u64,
    /// Reads that did not need a CACHE thread.
    pub cache_bypasses: u64,
    /// Energy of the cores.
    pub energy_nj: u64,
}

/// The firmware of a device, which has one. Each method by default is that of firmware that takes no time.
pub trait Firmware: Debug + Send {
    /// Whether it takes no time: then nothing here is asked.
    fn is_ideal(&self) -> bool {
        false
    }

    /// The controller has fetched a command, which waits for its [start](Action::Start).
    fn accept(&mut self, command: Fetched, outbox: &mut Outbox) {
        outbox.actions.push(Action::Start(command.request));
    }

    /// What it has asked for by [`Outbox::wake`].
    fn step(&mut self, _number: u32, _outbox: &mut Outbox) {}

    /// The medium is through with a command, which waits to be [complete](Action::Complete).
    fn ended(&mut self, request: u32, outbox: &mut Outbox) {
        outbox.actions.push(Action::Complete(request));
    }

    /// Garbage collection has moved pages of the medium.
    fn collected(&mut self, _pages: u64, _outbox: &mut Outbox) {}

    /// For a timeline, before [`Firmware::step`] with this number: the thread that a core of this number was at and the name of
    /// its type, and for how long.
    fn running(&self, _core: u32) -> Option<(u32, &'static str, Duration)> {
        None
    }

    /// What it has done by `now`.
    fn usage(&self, _now: Instant) -> Usage {
        Usage::default()
    }
}

/// Firmware that takes no time.
#[derive(Debug)]
pub(crate) struct Ideal;

impl Firmware for Ideal {
    fn is_ideal(&self) -> bool {
        true
    }
}
