//! A command in the firmware: what is kept of it, its steps, whose work they are and what they take.

use crate::engine::{Duration, EventQueue, Instant, TotalTime};
use crate::event::Event;
use crate::nvme::Opcode;
use crate::profile::{Firmware, FirmwareDesign};

/// The queue that the cores have their events in.
pub(crate) type Events = EventQueue<Event>;

/// A core is at work for a while; its event comes at the end. Work that takes no time at all would
/// never let time pass. Returns how long it takes.
#[inline]
pub(super) fn run_core(queue: &mut Events, core: u32, time: Duration) -> Duration {
    let time = time.max(Duration::from_ps(1));
    queue.schedule(queue.now() + time, Event::Firmware(core));
    time
}

/// A range of logical pages of a volume (a namespace's space in an NVM set).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) volume: u32,
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Pages {
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.end - self.first
    }
}

/// What the firmware keeps of a command, in the command's record.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandState {
    pub(super) waits_since: Instant,
    /// The command that waits behind it for the same range, or [`NIL`](crate::engine::NIL).
    pub(super) next_waiter: u32,
    /// The thread that completes it.
    pub(super) thread: u32,
    /// Parts of it that are still to be composed.
    pub(super) parts: u32,
    /// Its range stays locked until the medium is through with it.
    pub(super) keeps_lock: bool,
    /// The burst buffer gets what it brings.
    pub(super) fills: bool,
    /// Its range is locked.
    pub(super) is_locked: bool,
    /// It waits only for its range to be unlocked.
    pub(super) is_done: bool,
}

/// The records of the commands, by number: what the firmware sees of them, and what it keeps there.
pub(crate) trait Commands {
    fn opcode(&self, request: u32) -> Opcode;

    /// Every page that it touches; of several ranges, from the first to the last. Empty for a flush.
    fn pages(&self, request: u32) -> Pages;

    /// Whether it covers its first or its last page only in part.
    fn is_partial(&self, request: u32) -> bool;

    /// The submission queue it came from.
    fn queue(&self, request: u32) -> u16;

    fn state(&mut self, request: u32) -> &mut CommandState;

    /// Pages that take work.
    #[inline]
    fn work(&self, request: u32) -> u64 {
        match self.opcode(request) {
            Opcode::Read | Opcode::Write | Opcode::Append => self.pages(request).count(),
            Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => 1,
        }
    }
}

/// What the firmware wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The command begins on the medium.
    Start(u32),
    /// The data of a read come from the burst buffer; as with [`Action::Start`], its end is reported.
    Serve(u32),
    /// The command is complete: the host may know.
    Complete(u32),
}

/// The types of threads. Designs without such threads do the same work elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadType {
    /// Fetches, parses and completes commands.
    Nvmq,
    /// Keeps the index lock.
    Ilock,
    /// Changes the burst buffer.
    Cache,
    /// Translates addresses.
    Trans,
    /// Composes and schedules flash transactions.
    Fcmd,
    /// Collects garbage in the background.
    Bgc,
    /// Journals changes of the mapping.
    Log,
}

/// How many [`ThreadType`]s there are.
const TYPES: usize = 7;

/// What a thread does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Takes a command from its submission queue.
    Fetch,
    /// Parses and checks it.
    Parse,
    /// Locks its range.
    Lock,
    /// Sends it on, after a lookup in the burst buffer's table if it may bypass CACHE.
    Dispatch,
    /// Reads or changes the burst buffer.
    Buffer,
    /// Translates pages.
    Translate,
    /// Fills the burst buffer with what a read has brought.
    Fill,
    /// Composes transactions; with the last one the command begins on the medium.
    Compose,
    /// As that, of the pages of a write, which fewer transactions program.
    ComposeWrite,
    /// Buffer, translation and composing in one, of layered firmware.
    Layer,
    /// Unlocks its range.
    Unlock,
    /// Completes it for the host.
    Complete,
    /// Garbage collection's work.
    Collect,
    /// Journals.
    Journal,
}

/// How many [`Step`]s there are.
const STEPS: usize = 14;

impl ThreadType {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            ThreadType::Nvmq => "NVMQ",
            ThreadType::Ilock => "ILOCK",
            ThreadType::Cache => "CACHE",
            ThreadType::Trans => "TRANS",
            ThreadType::Fcmd => "FCMD",
            ThreadType::Bgc => "BGC",
            ThreadType::Log => "LOG",
        }
    }
}

impl Step {
    /// Whose work it is.
    pub(super) fn thread_type(self) -> ThreadType {
        match self {
            Step::Fetch | Step::Parse | Step::Dispatch | Step::Complete => ThreadType::Nvmq,
            Step::Lock | Step::Unlock => ThreadType::Ilock,
            Step::Buffer | Step::Fill => ThreadType::Cache,
            Step::Translate | Step::Layer => ThreadType::Trans,
            Step::Compose | Step::ComposeWrite => ThreadType::Fcmd,
            Step::Collect => ThreadType::Bgc,
            Step::Journal => ThreadType::Log,
        }
    }

    /// This step for so many pages of a command.
    #[inline]
    pub(super) fn of(self, request: u32, pages: u64) -> Job {
        let step = self;
        Job {
            request,
            pages,
            step,
        }
    }
}

/// A step of a command, for so many of its pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) request: u32,
    pub(super) pages: u64,
    pub(super) step: Step,
}

/// A step's service time: a part for the command, and one for each page.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    fixed: Duration,
    page: Duration,
}

/// The service times of a design.
#[derive(Debug)]
pub(super) struct Costs {
    services: [Service; STEPS],
    /// Sending and receiving what brings a job; no step takes less.
    message: Duration,
    /// A lock moves from one core to another.
    pub(super) handover: Duration,
}

impl Costs {
    /// Of a flash of which a transaction programs so many pages.
    pub(super) fn new(firmware: &Firmware, program_pages: u64) -> Costs {
        let cost = &firmware.cost;
        let speed = u64::from(firmware.core.speed_percent);
        let on_core = |time: Duration| Duration::from_ps(time.as_ps().saturating_mul(100) / speed);
        let [fetch, parse, lock, unlock] =
            [cost.fetch, cost.parse, cost.lock, cost.unlock].map(on_core);
        let [lookup, cache, translate, compose] =
            [cost.table_lookup, cost.cache, cost.translate, cost.compose].map(on_core);
        let [complete, collect, journal] = [cost.complete, cost.collect, cost.journal].map(on_core);
        let zero = Duration::ZERO;
        let if_any = |is_any, time| if is_any { time } else { zero };
        // Naive cores call each other's code; all others send messages.
        let message = if_any(firmware.design != FirmwareDesign::Naive, cost.message);
        let is_pipeline = firmware.design == FirmwareDesign::Pipeline;
        let splits = is_pipeline && firmware.dynamic_serialization;
        let forwards = is_pipeline && firmware.lock_forwarding;

        let mut costs = Costs {
            services: [Service::default(); STEPS],
            message,
            handover: cost.handover,
        };
        let mut set =
            |step: Step, fixed, page| costs.services[step as usize] = Service { fixed, page };
        match firmware.design {
            FirmwareDesign::Ideal | FirmwareDesign::Naive => {
                set(Step::Fetch, fetch, zero);
                set(Step::Parse, parse, zero);
                set(Step::Complete, complete, zero);
            }
            FirmwareDesign::ManyLayered => {
                set(Step::Fetch, fetch + parse + lock, zero);
                set(Step::Complete, message + complete + unlock, zero);
            }
            FirmwareDesign::Pipeline => {
                set(Step::Fetch, fetch + if_any(!splits, parse), zero);
                set(Step::Parse, message + parse, zero);
                // The thread that completes may also have to unlock.
                set(Step::Complete, message + complete, unlock);
            }
        }
        set(Step::Lock, message + lock, zero);
        set(Step::Dispatch, message, lookup);
        set(Step::Buffer, message, cache);
        set(Step::Fill, message, cache);
        set(Step::Translate, message, translate);
        set(Step::Compose, message + if_any(forwards, unlock), compose);
        let once = compose.as_ps() * u64::from(firmware.transaction_percent) / 100;
        let write = compose.as_ps() - once + once / program_pages;
        set(
            Step::ComposeWrite,
            message + if_any(forwards, unlock),
            Duration::from_ps(write),
        );
        set(Step::Layer, message, cache + translate + compose);
        set(Step::Unlock, message + unlock, zero);
        set(Step::Collect, message, collect);
        set(Step::Journal, message, journal);
        costs
    }

    #[inline]
    pub(super) fn of(&self, step: Step, pages: u64) -> Duration {
        let Service { fixed, page } = self.services[step as usize];
        fixed + page * pages
    }

    /// How long the message that brings a step's job takes; a thread of many has nothing to issue meanwhile.
    #[inline]
    pub(super) fn message(&self, step: Step) -> Duration {
        match step {
            Step::Fetch => Duration::ZERO,
            _ => self.message,
        }
    }

    /// What of a job is instructions: all but the message that brings it.
    #[inline]
    pub(super) fn instructions(&self, job: Job) -> Duration {
        let whole = self.of(job.step, job.pages);
        whole.saturating_sub(self.message(job.step))
    }

    /// How long a core of so many hardware threads issues a job: with one, it also waits for the message.
    #[inline]
    pub(super) fn issued(&self, job: Job, ways: u32) -> Duration {
        match ways {
            1 => self.of(job.step, job.pages),
            _ => self.instructions(job),
        }
    }

    /// What a type of thread does for a command of one page, half of them reads.
    pub(super) fn load(&self, of: ThreadType, bypass: bool) -> Duration {
        let one = |step| self.of(step, 1);
        let half = |time: Duration| Duration::from_ps(time.as_ps() / 2);
        match of {
            ThreadType::Nvmq => {
                let dispatch = half(one(Step::Dispatch)) + half(self.of(Step::Dispatch, 0));
                one(Step::Fetch) + one(Step::Parse) + dispatch + self.of(Step::Complete, 0)
            }
            ThreadType::Ilock => one(Step::Lock),
            ThreadType::Cache if bypass => half(one(Step::Buffer)),
            ThreadType::Cache => one(Step::Buffer),
            ThreadType::Trans => one(Step::Translate),
            ThreadType::Fcmd => one(Step::Compose),
            ThreadType::Bgc | ThreadType::Log => Duration::ZERO,
        }
    }
}

/// Counters of the firmware since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirmwareUsage {
    /// Time cores worked as threads of each type: NVMQ, ILOCK, CACHE, TRANS, FCMD, BGC, LOG.
    pub(crate) busy: [TotalTime; TYPES],
    /// Time that threads issued instructions.
    pub(crate) issued: TotalTime,
    /// Time that commands waited for a range, and cores for a lock of shared memory.
    pub(crate) lock_wait: TotalTime,
    /// Time that cores did nothing but wait for a lock of shared memory.
    pub(crate) spin: TotalTime,
    /// Commands that found their range locked.
    pub(crate) lock_conflicts: u64,
    /// Messages between threads.
    pub(crate) messages: u64,
    /// Reads that the burst buffer answered.
    pub(crate) cache_hits: u64,
    /// Reads that did not need a CACHE thread.
    pub(crate) cache_bypasses: u64,
}

impl FirmwareUsage {
    #[inline]
    pub(super) fn count(&mut self, step: Step, time: Duration) {
        self.busy[step.thread_type() as usize] += time;
    }
}
