//! A command in the firmware: what is kept of it, its steps, whose work they are and what they take.

use std::ops::{Index, IndexMut};

use meldsim::engine::TotalTime;
use meldsim::policy::firmware::{Fetched, Usage};
use meldsim::profile::{EnergyAmount, Firmware};
use meldsim::{Duration, Instant, Opcode};

/// The number of no command, and of no core.
pub(super) const NIL: u32 = u32::MAX;

/// How the firmware is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Design {
    Naive,
    ManyLayered,
    Pipeline,
}

/// A command in the firmware.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Command {
    pub(super) fetched: Fetched,
    pub(super) waits_since: Instant,
    /// The command that waits behind it for the same range, or [`NIL`].
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

impl Command {
    /// Pages that take work.
    #[inline]
    pub(super) fn work(&self) -> u64 {
        match self.fetched.opcode {
            Opcode::Read | Opcode::Write | Opcode::Append => self.fetched.pages.count(),
            Opcode::Deallocate | Opcode::Flush | Opcode::ManageZone => 1,
        }
    }
}

/// The commands, by number.
#[derive(Debug, Default)]
pub(super) struct Commands(pub(super) Vec<Command>);

impl Index<u32> for Commands {
    type Output = Command;
    #[inline]
    fn index(&self, request: u32) -> &Command {
        &self.0[request as usize]
    }
}

impl IndexMut<u32> for Commands {
    #[inline]
    fn index_mut(&mut self, request: u32) -> &mut Command {
        &mut self.0[request as usize]
    }
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
    pub(super) fn new(design: Design, firmware: &Firmware, program_pages: u64) -> Costs {
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
        let message = if_any(design != Design::Naive, cost.message);
        let is_pipeline = design == Design::Pipeline;
        let splits = is_pipeline && firmware.dynamic_serialization;
        let forwards = is_pipeline && firmware.lock_forwarding;

        let mut costs = Costs {
            services: [Service::default(); STEPS],
            message,
            handover: cost.handover,
        };
        let mut set =
            |step: Step, fixed, page| costs.services[step as usize] = Service { fixed, page };
        match design {
            Design::Naive => {
                set(Step::Fetch, fetch, zero);
                set(Step::Parse, parse, zero);
                set(Step::Complete, complete, zero);
            }
            Design::ManyLayered => {
                set(Step::Fetch, fetch + parse + lock, zero);
                set(Step::Complete, message + complete + unlock, zero);
            }
            Design::Pipeline => {
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
        let each = message + if_any(forwards, unlock);
        set(Step::Compose, each, compose);
        let once = compose.as_ps() * u64::from(firmware.transaction_percent) / 100;
        let write = Duration::from_ps(compose.as_ps() - once + once / program_pages);
        set(Step::ComposeWrite, each, write);
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

/// What the cores have done since the device was built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) usage: Usage,
    /// Time that threads issued instructions.
    pub(super) issued: TotalTime,
    /// Time that cores did nothing but wait for a lock of shared memory.
    pub(super) spin: TotalTime,
}

impl Counted {
    #[inline]
    pub(super) fn count(&mut self, step: Step, time: Duration) {
        self.usage.busy[step.thread_type() as usize] += time;
    }

    /// What firmware of such cores has done by `now`. Threads have issued for some of the time, as many as fill a core side by
    /// side, and cores have waited for locks; the rest of it they were idle.
    pub(super) fn usage(&self, firmware: &Firmware, now: Instant) -> Usage {
        let Firmware {
            cores, ref core, ..
        } = *firmware;
        let of = |ps: u128, energy: EnergyAmount| ps * u128::from(energy.0) / 1_000_000_000_000_000;
        let active_ps = self.issued.as_ps() / u128::from(core.issues) + self.spin.as_ps();
        let idle_ps = (u128::from(now.as_ps()) * u128::from(cores)).saturating_sub(active_ps);
        let energy_nj = of(active_ps, core.active_energy) + of(idle_ps, core.idle_energy);
        Usage {
            cores,
            energy_nj: energy_nj as u64,
            ..self.usage
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_that_of_all_cores_however_long() {
        let mut firmware = Firmware::default();
        firmware.cores = 8;
        let seconds = 100 * 86_400;
        let time = Duration::from_ms(1_000) * seconds;
        let nj = |pj_a_second: u64, cores: u64| pj_a_second / 1_000 * seconds * cores;
        let of = |firmware: &Firmware, threads, spin: Duration| {
            let counted = Counted {
                issued: vec![time; threads].into_iter().sum(),
                spin: spin.into(),
                ..Counted::default()
            };
            counted.usage(firmware, Instant::START + time).energy_nj
        };
        let core = &firmware.core;
        assert_eq!(of(&firmware, 0, Duration::ZERO), nj(core.idle_energy.0, 8));
        let expected = nj(core.active_energy.0, 6) + nj(core.idle_energy.0, 2);
        assert_eq!(of(&firmware, 5, time), expected);
        // Two threads that issue side by side are one core at work.
        firmware.core.issues = 2;
        assert_eq!(of(&firmware, 10, time), expected);
    }
}
