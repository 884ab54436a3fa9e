//! `[commands]`: which advanced commands the flash understands and how they are issued.

use serde::{Deserialize, Serialize};

use super::validate::Checker;
use super::{Profile, ProgramOrder};
use crate::engine::Time;

/// `[commands]`. The default is a device without any of them, as the published presets are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Commands {
    /// Reads, programs and erases of the same block, wordline and pages on different planes of a
    /// die become one command with one array time, as far as the die's queue holds them when it is
    /// composed. Each plane's address and data still cross the bus. Default false \[A\].
    pub multi_plane: bool,
    /// How the dies of a package work together; see [`DieInterleave`]. Default `independent` \[A\].
    pub die_interleave: DieInterleave,
    /// In which order what waits for a channel is issued; see [`Issue`]. Default `out-of-order` \[A\].
    pub issue: Issue,
    /// A die senses its next page while the last one's data waits in the cache register or crosses
    /// the bus. Default false \[F\].
    pub cache_read: bool,
    /// A die takes the data of its next program while it programs. Default false \[A\].
    pub cache_program: bool,
    /// Garbage collection may copy pages within a plane without moving them over the bus.
    /// Default false \[A\].
    pub copyback: bool,
    /// Reads suspend a program that their die works on. Default false \[A\].
    pub suspend_program: bool,
    /// Reads suspend an erase that their die works on. Default false \[A\].
    pub suspend_erase: bool,
    /// From the command that suspends to the start of the read's sensing. Unit: time; range 0 to 1s;
    /// default 20us \[A\].
    pub suspend_time: Time,
    /// From the command that resumes until the array goes on. Unit: time; range 0 to 1s; default
    /// 20us \[A\].
    pub resume_time: Time,
    /// Times one program or erase may be suspended. Unit: count; range 1 to 1000000; default 16 \[A\].
    pub max_suspends: u32,
    /// How long a program or an erase works at least before it is suspended, at first and after each
    /// resumption. Unit: time; range 0 to 10s; default 100us \[A\].
    pub suspend_progress: Time,
}

/// How the dies of a package (way) work together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DieInterleave {
    /// Each die takes its next command as soon as it is free.
    #[default]
    Independent,
    /// A package executes one transaction at a time. It is composed from what is queued when the
    /// package becomes free: one command for each of its dies.
    Composed,
    /// A package serves one die at a time.
    Off,
}

/// In which order what waits for a channel is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Issue {
    /// Whatever a free die or package has queued, reads before programs.
    #[default]
    OutOfOrder,
    /// Strictly as it came: what is for a busy die or package delays all that came after it.
    InOrder,
    /// In order, and each channel works for one request at a time: the next one's operations wait until all of
    /// the last one's on that channel are done. Requests work side by side on different channels.
    ByRequest,
}

impl Default for Commands {
    fn default() -> Commands {
        Commands {
            multi_plane: false,
            die_interleave: DieInterleave::default(),
            issue: Issue::default(),
            cache_read: false,
            cache_program: false,
            copyback: false,
            suspend_program: false,
            suspend_erase: false,
            suspend_time: Time::from_us(20),
            resume_time: Time::from_us(20),
            max_suspends: 16,
            suspend_progress: Time::from_us(100),
        }
    }
}

impl Profile {
    pub(super) fn check_commands(&self, checker: &mut Checker) {
        let commands = &self.commands;
        let second = Time::from_ms(1000);
        let times = [
            ("commands.suspend_time", commands.suspend_time, second),
            ("commands.resume_time", commands.resume_time, second),
            (
                "commands.suspend_progress",
                commands.suspend_progress,
                Time::from_ms(10_000),
            ),
        ];
        for (key, value, most) in times {
            checker.range(key, &value, Time::ZERO..=most);
        }
        checker.range(
            "commands.max_suspends",
            &commands.max_suspends,
            1..=1_000_000,
        );
        // A die that is part of a transaction, or whose turn is in order, has nothing queued that
        // could overlap with what it does: these options would silently do nothing.
        let exclusive = commands.die_interleave != DieInterleave::Independent
            || commands.issue != Issue::OutOfOrder;
        let overlapping = [
            ("commands.cache_read", commands.cache_read),
            ("commands.cache_program", commands.cache_program),
            ("commands.suspend_program", commands.suspend_program),
            ("commands.suspend_erase", commands.suspend_erase),
        ];
        for (key, on) in overlapping {
            if on && exclusive {
                checker.refuse(
                    key,
                    "is true, but a die would never have a second command to overlap with",
                    "turn it off, or set commands.die_interleave = \"independent\" and commands.issue = \"out-of-order\"",
                );
            }
        }
        if commands.copyback && self.ftl.program_order == ProgramOrder::Shadow {
            checker.refuse(
                "commands.copyback",
                "is true, but garbage collection copies whole wordlines and shadow order programs single pages",
                "turn it off or set ftl.program_order = \"one-shot\"",
            );
        }
        if commands.multi_plane && self.geometry.planes_per_die == 1 {
            checker.refuse(
                "commands.multi_plane",
                "is true for dies of one plane",
                "turn it off or raise geometry.planes_per_die",
            );
        }
    }
}
