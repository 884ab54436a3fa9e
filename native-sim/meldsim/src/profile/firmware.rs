//! `[firmware]`: what the controller's firmware costs, and on which cores it runs.

use serde::{Deserialize, Serialize};

use super::units::EnergyAmount;
use super::validate::Checker;
use crate::engine::Time;

/// `[firmware]`. With the default design, `ideal`, the firmware takes no time and nothing else of the
/// section matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Firmware {
    /// How the firmware is built: `ideal`, `naive`, `many-layered` or `pipeline`. Default `ideal`.
    pub design: FirmwareDesign,
    /// Cores that run it. Unit: count; range 1 to 256; default 12 \[P\].
    pub cores: u32,
    /// Pipeline: splits fetching from parsing, so that any NVMQ thread may parse what came from one
    /// queue (dynamic I/O serialization). Default true.
    pub dynamic_serialization: bool,
    /// Pipeline: ILOCK answers a command that overlaps others with its owner, to whom it is forwarded,
    /// and who is through with a range unlocks it directly. Else an NVMQ thread waits for ILOCK's
    /// answer, and ranges are unlocked by messages to ILOCK. Default true.
    pub lock_forwarding: bool,
    /// Pipeline: NVMQ threads read the table of the burst buffer, with its evicted-page field; only
    /// what changes the table goes to CACHE threads. Default true.
    pub cache_bypass: bool,
    /// Pipeline: BGC and LOG run while the NVMQ threads of their cores idle, else in turn with them.
    /// Default true.
    pub background_scheduling: bool,
    /// Whether LOG journals the changes of the mapping. Default true.
    pub journal: bool,
    /// Pages of the burst buffer's table. Unit: count; range 16 to 16777216; default 16384 \[A\].
    pub cache_pages: u32,
    /// Threads of the pipeline. Default: all defaults.
    pub threads: FirmwareThreads,
    /// What each step takes. Default: all defaults.
    pub cost: FirmwareCost,
    /// The cores themselves. Default: all defaults.
    pub core: FirmwareCore,
}

/// How the firmware is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirmwareDesign {
    /// It takes no time.
    #[default]
    Ideal,
    /// Every core does whole commands, on shared memory with a lock for each structure.
    Naive,
    /// One core takes commands apart by address, each other core runs layered firmware on its part.
    ManyLayered,
    /// Threads by type, one for each stage or several, that send messages. With all optimisations
    /// it is the *full* design, with none of them the *base* design.
    Pipeline,
}

/// `[firmware.threads]`: threads of each type of the pipeline, bound to cores by what they have to do;
/// there is one ILOCK, one BGC and one LOG thread. The defaults \[A\] are as many as let no thread take
/// more than about half a microsecond of a command of one page: two threads of a core do a
/// million commands a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FirmwareThreads {
    /// Threads that fetch, parse and complete commands. Unit: count; range 1 to 64; default 8 \[A\].
    pub nvmq: u32,
    /// Threads that change the burst buffer. Unit: count; range 1 to 64; default 2 \[P\].
    pub cache: u32,
    /// Threads that translate, each its own addresses. Unit: count; range 1 to 64; default 3 \[A\].
    pub trans: u32,
    /// Threads that compose and schedule flash transactions. Unit: count; range 1 to 64; default 5 \[A\].
    pub fcmd: u32,
}

/// `[firmware.cost]`: service times on a core of speed 100 %. None is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FirmwareCost {
    /// Fetching a command from its submission queue. Unit: time; range 0 to 1ms; default 550ns \[A\].
    pub fetch: Time,
    /// Parsing and checking it. Unit: time; range 0 to 1ms; default 1100ns \[A\].
    pub parse: Time,
    /// Locking its range in the index lock. Unit: time; range 0 to 1ms; default 450ns \[A\].
    pub lock: Time,
    /// Unlocking it. Unit: time; range 0 to 1ms; default 250ns \[A\].
    pub unlock: Time,
    /// Looking a page up in the burst buffer's shared table. Unit: time; range 0 to 1ms; default
    /// 160ns \[A\].
    pub table_lookup: Time,
    /// A CACHE thread's work for a page. Unit: time; range 0 to 1ms; default 550ns \[A\].
    pub cache: Time,
    /// Translating a page. Unit: time; range 0 to 1ms; default 1000ns \[A\].
    pub translate: Time,
    /// Composing and scheduling the transaction of a page. Unit: time; range 0 to 1ms; default 1900ns \[A\].
    pub compose: Time,
    /// Completing a command. Unit: time; range 0 to 1ms; default 900ns \[A\].
    pub complete: Time,
    /// Garbage collection's work for a page that it moves. Unit: time; range 0 to 1ms; default 1000ns \[A\].
    pub collect: Time,
    /// Journalling the new place of a page. Unit: time; range 0 to 1ms; default 300ns \[A\].
    pub journal: Time,
    /// Sending and receiving a message between two threads. Unit: time; range 0 to 1ms; default 400ns \[F\].
    pub message: Time,
    /// A lock of shared memory moves from one core to another. Unit: time; range 0 to 1ms; default
    /// 230ns \[F\].
    pub handover: Time,
}

/// `[firmware.core]`: the cores themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FirmwareCore {
    /// Speed in instructions a second, of the in-order core at 1 GHz for which the costs are. Messages
    /// and locks that move are of the interconnect and do not get faster. Unit: percent; range 10
    /// to 10000; default 100 \[A\].
    pub speed_percent: u32,
    /// Energy of a core at work. Unit: energy a second; range 0 to 1kJ; default 1J \[A\].
    pub active_energy: EnergyAmount,
    /// Energy of a core that waits for work. Unit: energy a second; range 0 to 1kJ; default 300mJ \[A\].
    pub idle_energy: EnergyAmount,
}

const JOULE: u64 = 1_000_000_000_000;

impl Default for Firmware {
    fn default() -> Firmware {
        Firmware {
            design: FirmwareDesign::default(),
            cores: 12,
            dynamic_serialization: true,
            lock_forwarding: true,
            cache_bypass: true,
            background_scheduling: true,
            journal: true,
            cache_pages: 16_384,
            threads: FirmwareThreads::default(),
            cost: FirmwareCost::default(),
            core: FirmwareCore::default(),
        }
    }
}

impl Default for FirmwareThreads {
    fn default() -> FirmwareThreads {
        FirmwareThreads {
            nvmq: 8,
            cache: 2,
            trans: 3,
            fcmd: 5,
        }
    }
}

impl Default for FirmwareCost {
    fn default() -> FirmwareCost {
        FirmwareCost {
            fetch: Time::from_ns(550),
            parse: Time::from_ns(1_100),
            lock: Time::from_ns(450),
            unlock: Time::from_ns(250),
            table_lookup: Time::from_ns(160),
            cache: Time::from_ns(550),
            translate: Time::from_ns(1_000),
            compose: Time::from_ns(1_900),
            complete: Time::from_ns(900),
            collect: Time::from_ns(1_000),
            journal: Time::from_ns(300),
            message: Time::from_ns(400),
            handover: Time::from_ns(230),
        }
    }
}

impl Default for FirmwareCore {
    fn default() -> FirmwareCore {
        FirmwareCore {
            speed_percent: 100,
            active_energy: EnergyAmount(JOULE),
            idle_energy: EnergyAmount(JOULE * 3 / 10),
        }
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
        checker.range("firmware.cores", &self.cores, 1..=256);
        checker.range("firmware.cache_pages", &self.cache_pages, 16..=1 << 24);
        let threads = &self.threads;
        let counts = [
            ("nvmq", threads.nvmq),
            ("cache", threads.cache),
            ("trans", threads.trans),
            ("fcmd", threads.fcmd),
        ];
        for (name, count) in counts {
            checker.range(&format!("firmware.threads.{name}"), &count, 1..=64);
        }
        let cost = &self.cost;
        let costs = [
            ("fetch", cost.fetch),
            ("parse", cost.parse),
            ("lock", cost.lock),
            ("unlock", cost.unlock),
            ("table_lookup", cost.table_lookup),
            ("cache", cost.cache),
            ("translate", cost.translate),
            ("compose", cost.compose),
            ("complete", cost.complete),
            ("collect", cost.collect),
            ("journal", cost.journal),
            ("message", cost.message),
            ("handover", cost.handover),
        ];
        for (name, time) in costs {
            let range = Time::ZERO..=Time::from_ms(1);
            checker.range(&format!("firmware.cost.{name}"), &time, range);
        }
        let core = &self.core;
        checker.range(
            "firmware.core.speed_percent",
            &core.speed_percent,
            10..=10_000,
        );
        let most = EnergyAmount(1_000 * JOULE);
        for (name, amount) in [
            ("active_energy", core.active_energy),
            ("idle_energy", core.idle_energy),
        ] {
            checker.range(
                &format!("firmware.core.{name}"),
                &amount,
                EnergyAmount(0)..=most,
            );
        }
    }
}
