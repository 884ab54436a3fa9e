//! `[firmware]`: what the controller's firmware costs, and on which cores it runs.
//!
//! The designs are those of DeepFlash (Zhang and others, FAST'20) and of what it is compared with.

use serde::{Deserialize, Serialize};

use super::Profile;
use super::check::{Checker, names, section};
use super::units::EnergyAmount;
use crate::engine::Duration;
use crate::policy::firmware::{self, FirmwarePolicy, Ideal};
use crate::policy::guard::Guarded;
use crate::policy::{Kind, Policy, Shelf};

const MILLISECOND: Duration = Duration::from_ms(1);
const JOULE: u64 = 1_000_000_000_000;
const KILOJOULE: EnergyAmount = EnergyAmount(1_000 * JOULE);

section! {
    /// `[firmware]`. With the default design, `ideal`, the firmware takes no time and nothing else of the
    /// section matters.
    #[non_exhaustive]
    Firmware = "firmware" {
        /// How the firmware is built: `ideal`, `naive`, `many-layered` or `pipeline`. Default `ideal`.
        design: FirmwarePolicy = FirmwarePolicy::default();
        /// Cores that run it. Unit: count; range 1 to 256; default 12 \[P\].
        cores: u32 = 12, 1..=256;
        /// Pipeline: splits fetching from parsing, so that any NVMQ thread may parse what came from one
        /// queue (dynamic I/O serialization). Default true.
        dynamic_serialization: bool = true;
        /// Pipeline: for a command that overlaps others ILOCK answers with the owner of the range, and the
        /// command is forwarded to that thread; a thread that is done with a range unlocks it directly.
        /// Else an NVMQ thread waits for ILOCK's answer, and ranges are unlocked by messages to ILOCK.
        /// Default true.
        lock_forwarding: bool = true;
        /// Pipeline: NVMQ threads read the table of the burst buffer, with its evicted-page field; only
        /// changes of the table go to CACHE threads. Default true.
        cache_bypass: bool = true;
        /// Pipeline: BGC and LOG run while the NVMQ threads of their cores idle, else in turn with them.
        /// Default true.
        background_scheduling: bool = true;
        /// Whether LOG journals the changes of the mapping. Default true.
        journal: bool = true;
        /// Pipeline: without the bypass a read that the burst buffer does not have fills it with what the
        /// medium gives: more work of a CACHE thread, after which the read completes. Default false.
        cache_fill: bool = false;
        /// Pipeline: which cores the threads of a command's path are bound to: `spread` or `filled`. Default
        /// `spread` \[A\].
        binding: FirmwareBinding = FirmwareBinding::default();
        /// The share of `firmware.cost.compose` that a transaction of the flash takes once, however many
        /// pages it programs. A page that is read is a transaction; the pages of a wordline in all planes
        /// are programmed by one. Unit: percent; range 0 to 100; default 0 \[A\].
        transaction_percent: u32 = 0, 0..=100;
        /// Pages of the burst buffer's table. Unit: count; range 16 to 16777216; default 16384 \[A\].
        cache_pages: u32 = 16_384, 16..=1 << 24;
        /// Threads of the pipeline. Default: all defaults.
        threads: FirmwareThreads = FirmwareThreads::default();
        /// What each step takes. Default: all defaults.
        cost: FirmwareCost = FirmwareCost::default();
        /// The cores themselves. Default: all defaults.
        core: FirmwareCore = FirmwareCore::default();
    }
}

section! {
    /// `[firmware.threads]`: threads of each type of the pipeline, bound to cores by what they have to do;
    /// there is one ILOCK, one BGC and one LOG thread. The defaults \[A\] are as many as let no thread take
    /// more than about half a microsecond of a command of one page: two threads of a core do a
    /// million commands a second.
    FirmwareThreads = "firmware.threads" {
        /// Threads that fetch, parse and complete commands. Unit: count; range 1 to 64; default 8 \[A\].
        nvmq: u32 = 8, 1..=64;
        /// Threads that change the burst buffer. Unit: count; range 1 to 64; default 2 \[P\].
        cache: u32 = 2, 1..=64;
        /// Threads that translate, each its own addresses. Unit: count; range 1 to 64; default 3 \[A\].
        trans: u32 = 3, 1..=64;
        /// Threads that compose and schedule flash transactions. Unit: count; range 1 to 64; default 5 \[A\].
        fcmd: u32 = 5, 1..=64;
    }
}

section! {
    /// `[firmware.cost]`: service times on a core of speed 100 %. None is published.
    #[non_exhaustive]
    FirmwareCost = "firmware.cost" {
        /// Fetching a command from its submission queue. Unit: time; range 0 to 1ms; default 550ns \[A\].
        fetch: Duration = Duration::from_ns(550), Duration::ZERO..=MILLISECOND;
        /// Parsing and checking it. Unit: time; range 0 to 1ms; default 1100ns \[A\].
        parse: Duration = Duration::from_ns(1_100), Duration::ZERO..=MILLISECOND;
        /// Locking its range in the index lock. Unit: time; range 0 to 1ms; default 450ns \[A\].
        lock: Duration = Duration::from_ns(450), Duration::ZERO..=MILLISECOND;
        /// Unlocking it. Unit: time; range 0 to 1ms; default 250ns \[A\].
        unlock: Duration = Duration::from_ns(250), Duration::ZERO..=MILLISECOND;
        /// Looking a page up in the burst buffer's shared table. Unit: time; range 0 to 1ms; default
        /// 160ns \[A\].
        table_lookup: Duration = Duration::from_ns(160), Duration::ZERO..=MILLISECOND;
        /// A CACHE thread's work for a page. Unit: time; range 0 to 1ms; default 550ns \[A\].
        cache: Duration = Duration::from_ns(550), Duration::ZERO..=MILLISECOND;
        /// Translating a page. Unit: time; range 0 to 1ms; default 1000ns \[A\].
        translate: Duration = Duration::from_ns(1_000), Duration::ZERO..=MILLISECOND;
        /// Composing and scheduling the transaction of a page. Unit: time; range 0 to 1ms; default 1900ns \[A\].
        compose: Duration = Duration::from_ns(1_900), Duration::ZERO..=MILLISECOND;
        /// Completing a command. Unit: time; range 0 to 1ms; default 900ns \[A\].
        complete: Duration = Duration::from_ns(900), Duration::ZERO..=MILLISECOND;
        /// Garbage collection's work for a page that it moves. Unit: time; range 0 to 1ms; default 1000ns \[A\].
        collect: Duration = Duration::from_ns(1_000), Duration::ZERO..=MILLISECOND;
        /// Journalling the new place of a page. Unit: time; range 0 to 1ms; default 300ns \[A\].
        journal: Duration = Duration::from_ns(300), Duration::ZERO..=MILLISECOND;
        /// Sending and receiving a message between two threads. Unit: time; range 0 to 1ms; default 400ns \[F\].
        message: Duration = Duration::from_ns(400), Duration::ZERO..=MILLISECOND;
        /// A lock of shared memory moves from one core to another. Unit: time; range 0 to 1ms; default
        /// 230ns \[F\].
        handover: Duration = Duration::from_ns(230), Duration::ZERO..=MILLISECOND;
    }
}

section! {
    /// `[firmware.core]`: the cores themselves.
    FirmwareCore = "firmware.core" {
        /// Hardware threads of a core: so many of its threads are at their jobs at a time, and share its
        /// instruction issue. One whose message is on its way leaves it to the others. More than one needs a
        /// design with threads. Unit: count; range 1 to 8; default 1.
        threads: u32 = 1, 1..=8;
        /// Hardware threads that issue side by side: one of an in-order core may not issue in each cycle, and
        /// leaves the others to the next. No more than `firmware.core.threads` do. Unit: count; range 1 to
        /// 8; default 1.
        issues: u32 = 1, 1..=8;
        /// Speed in instructions a second, of the in-order core at 1 GHz for which the costs are. Messages
        /// and locks that move are of the interconnect and do not get faster. Unit: percent; range 10
        /// to 10000; default 100 \[A\].
        speed_percent: u32 = 100, 10..=10_000;
        /// Energy of a core at work. Unit: energy a second; range 0 to 1kJ; default 1J \[A\].
        active_energy: EnergyAmount = EnergyAmount(JOULE), EnergyAmount(0)..=KILOJOULE;
        /// Energy of a core that waits for work. Unit: energy a second; range 0 to 1kJ; default 300mJ \[A\].
        idle_energy: EnergyAmount = EnergyAmount(JOULE * 3 / 10), EnergyAmount(0)..=KILOJOULE;
    }
}

names! {
    /// How the threads of the pipeline are bound to cores.
    #[non_exhaustive]
    FirmwareBinding {
        /// The thread with the most to do first, each to the core with the least to do.
        #[default]
        Spread = "spread",
        /// In their order, as many to a core as it has hardware threads, then to the next core. When all
        /// are full the next round begins.
        Filled = "filled",
    }
}

impl Kind for dyn firmware::Firmware {
    const KEY: &'static str = "firmware.design";
    type For = Profile;
    const BESIDE: (&'static [&'static str], &'static str) = (
        &["naive", "many-layered", "pipeline"],
        "meldsim_firmware::register()",
    );

    fn shelf() -> &'static Shelf<dyn firmware::Firmware> {
        static SHELF: Shelf<dyn firmware::Firmware> = Shelf::new(&[Policy {
            name: "ideal",
            about: "takes no time",
            make: |_, _| Ok(Box::new(Ideal)),
        }]);
        &SHELF
    }

    fn guarded(
        policy: Box<dyn firmware::Firmware>,
        name: &'static str,
    ) -> Box<dyn firmware::Firmware> {
        Box::new(Guarded::new(policy, name))
    }
}

impl Firmware {
    /// Turns all optimisations of the pipeline on, which makes it the full design, or off, which
    /// makes it the base design.
    pub fn optimise(&mut self, all: bool) {
        self.dynamic_serialization = all;
        self.lock_forwarding = all;
        self.cache_bypass = all;
        self.background_scheduling = all;
    }

    pub(super) fn check(&self, checker: &mut Checker) {
        self.check_ranges(checker);
        self.threads.check_ranges(checker);
        self.cost.check_ranges(checker);
        self.core.check_ranges(checker);
    }
}
