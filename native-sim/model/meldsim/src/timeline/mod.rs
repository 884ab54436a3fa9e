//! The timeline: what every part of a device did and when, as records for whoever wants to see it.
//!
//! In come the hooks of the flash, the translation layer and the pipeline; out go [`Record`]s to a
//! [`Timeline`]. A device that has none does nothing for it.
//!
//! ```text
//!   command   |queue|firmware|die wait    |sense        |bus wait|transfer|controller|
//!   die                      |program ....|sense        |        .        .
//!   channel                  .           |c|            .        |data out|
//! ```
//!
//! A record comes when what it tells of is certain, so records are in no order of time: a die's sense is told with its
//! end when it begins, a transfer when it has ended. Times are exact. The [`BusSpan`]s of a channel add up to the time
//! that its bus was held, the [`BusySpan`]s of a die to the time that it was busy, and the parts of a command to
//! its latency, each to the picosecond.

mod recorder;

pub(crate) use self::recorder::Recorder;
use crate::engine::{Duration, Instant};
use crate::nvme::{NamespaceId, Opcode, Status};

/// Takes the records of a device.
pub trait Timeline: Send {
    /// Something that happened.
    fn record(&mut self, record: &Record<'_>);
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A channel's bus was held.
    Bus(BusSpan<'a>),
    /// The array of a die was at work.
    Array(ArraySpan<'a>),
    /// A die was busy: from a command to idle.
    Busy(BusySpan),
    /// A core of the firmware was at work.
    Core(CoreSpan),
    /// A superblock (superblock) was collected.
    Collection(Collection),
    /// A level has changed.
    Level(Level),
    /// A command has completed.
    Command(CommandRecord),
}

/// Use of a channel's bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusSpan<'a> {
    /// The channel.
    pub channel: u32,
    /// The die, by its number on the channel.
    pub die: u32,
    /// What crossed the bus.
    pub what: BusUse,
    /// When it was granted.
    pub start: Instant,
    /// When it was free again.
    pub end: Instant,
    /// The host's commands that it was for, by number.
    pub commands: &'a [u64],
}

/// What crosses a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BusUse {
    /// A command that starts, suspends or resumes something.
    Command,
    /// Pages from a die.
    DataOut,
    /// Pages to a die, with the command to program them.
    DataIn,
}

/// Work of a die's array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraySpan<'a> {
    /// The channel.
    pub channel: u32,
    /// The die, by its number on the channel.
    pub die: u32,
    /// The planes, as a set.
    pub planes: u16,
    /// What it did.
    pub work: Work,
    /// For whom.
    pub purpose: Purpose,
    /// When it began.
    pub start: Instant,
    /// When it ended or was suspended.
    pub end: Instant,
    /// The host's commands that it was for, by number. Programs are for none: they empty the write buffer.
    pub commands: &'a [u64],
}

/// What an array does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Senses one page of a wordline: 0 for LSB.
    Sense(u8),
    /// Senses all pages of a wordline at once.
    MeldedSense,
    /// Programs, or a part of it between suspensions.
    Program,
    /// Erases, or a part of it between suspensions.
    Erase,
    /// Copies pages within a plane.
    Copyback,
    /// Has stopped a program or an erase for reads.
    Suspended,
}

/// For whom an array works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A command of the host.
    Host,
    /// Garbage collection.
    Collection,
    /// The write buffer: data of the host's or of garbage collection.
    Buffer,
    /// The mapping: a translation page.
    Mapping,
}

/// A die that is not idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusySpan {
    /// The channel.
    pub channel: u32,
    /// The die, by its number on the channel.
    pub die: u32,
    /// When it was given its first command.
    pub start: Instant,
    /// When it was idle again.
    pub end: Instant,
}

/// Work of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSpan {
    /// The core; of those that issue for several threads side by side, what they issue for the nth more is as if of a core n
    /// times the number of cores further on.
    pub core: u32,
    /// The thread that it served, and its type.
    pub thread: (u32, &'static str),
    /// When it began.
    pub start: Instant,
    /// When it was done.
    pub end: Instant,
}

/// A victim of garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The NVM set.
    pub set: u32,
    /// The set's log.
    pub log: u32,
    /// The superblock.
    pub superblock: u32,
    /// Pages of it that held current data at the start, and of how many.
    pub valid_pages: u32,
    /// All pages of it.
    pub pages: u32,
    /// When it was chosen.
    pub start: Instant,
    /// When it was empty.
    pub end: Instant,
}

/// What is counted at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// What.
    pub of: Gauge,
    /// When it changed.
    pub at: Instant,
    /// What it is from then on.
    pub value: u64,
}

/// What has a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gauge {
    /// Commands outstanding.
    Outstanding,
    /// Pages of the write buffer of a set that hold data of the host's.
    WriteBuffer(u32),
    /// Free blocks of a set, in superblocks of all its logs.
    FreeSuperblocks(u32),
}

/// A command of the host's, from submission to completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRecord {
    /// Its number, in the order of submission, from 0.
    pub number: u64,
    /// Its place among those outstanding with it, which no other has at the same time.
    pub slot: u32,
    /// The caller's tag.
    pub tag: u64,
    /// What it asked for.
    pub opcode: Opcode,
    /// Its namespace.
    pub nsid: NamespaceId,
    /// The byte of the namespace it starts at.
    pub start_byte: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The submission queue.
    pub queue: u16,
    /// How it ended.
    pub status: Status,
    /// Senses of whole wordlines that it waited for.
    pub melded_reads: u32,
    /// Senses of single pages that it waited for.
    pub page_reads: u32,
    /// When it was submitted.
    pub submitted: Instant,
    /// When it completed.
    pub completed: Instant,
    /// Where the time went, by [`Part`]: those of a command with several operations are of the one that it waited for
    /// longest. They add up to its latency.
    pub parts: [Duration; Part::COUNT],
    /// What the die did for most of the time that the operation waited for it, as far as its last spans tell.
    pub behind: Option<(Work, Purpose)>,
}

/// Parts of a command's latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// In the submission queue, being fetched, or on the link to the device.
    Queue,
    /// The firmware's, before and after the medium.
    Firmware,
    /// Until the write buffer had room.
    Buffer,
    /// Until the die took the operation; with its command, and with a suspension.
    DieWait,
    /// The array's.
    Sense,
    /// From the sense until the bus was granted.
    BusWait,
    /// On the bus.
    Transfer,
    /// The controller's latency, or the rest of the way where that takes longer: programs that the command waits for,
    /// and the link to the host.
    Controller,
    /// Until the translation pages that it needed had come.
    Mapping,
}

impl Part {
    /// How many there are.
    pub const COUNT: usize = 9;

    /// All of them, in the order of a command's way; the last is before the write buffer and the dies.
    pub const ALL: [Part; Part::COUNT] = [
        Part::Queue,
        Part::Firmware,
        Part::Buffer,
        Part::DieWait,
        Part::Sense,
        Part::BusWait,
        Part::Transfer,
        Part::Controller,
        Part::Mapping,
    ];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Part::Queue => "queue",
            Part::Firmware => "firmware",
            Part::Buffer => "write buffer",
            Part::DieWait => "die wait",
            Part::Sense => "sense",
            Part::BusWait => "bus wait",
            Part::Transfer => "transfer",
            Part::Controller => "controller",
            Part::Mapping => "mapping",
        }
    }
}

impl Work {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Work::Sense(0) => "sense LSB",
            Work::Sense(1) => "sense CSB",
            Work::Sense(2) => "sense MSB",
            Work::Sense(_) => "sense top page",
            Work::MeldedSense => "melded sense",
            Work::Program => "program",
            Work::Erase => "erase",
            Work::Copyback => "copyback",
            Work::Suspended => "suspended",
        }
    }
}

impl BusUse {
    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            BusUse::Command => "command",
            BusUse::DataOut => "data out",
            BusUse::DataIn => "data in",
        }
    }
}
