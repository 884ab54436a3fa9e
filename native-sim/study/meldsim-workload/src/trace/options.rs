//! How a trace is replayed, and the words for it.

use std::str::FromStr;

use crate::job::{Job, JobError};
use crate::limit::{Arrivals, Load};
use crate::past::Past;
use crate::quantity::{choice, parse_decimal};
use meldsim::Duration;
use meldsim::nvme::Pattern;

/// When requests are submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayMode {
    /// When they arrived in the trace, whatever the device does; they wait while the depth is used up.
    #[default]
    Open,
    /// When a request before them has completed; the trace's times are ignored.
    Closed,
}

impl ReplayMode {
    /// `open` or `closed`.
    pub fn name(self) -> &'static str {
        match self {
            ReplayMode::Open => "open",
            ReplayMode::Closed => "closed",
        }
    }
}

/// What is done with requests beyond the end of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// They are moved: the address modulo the device's capacity.
    #[default]
    Wrap,
    /// The trace is refused.
    Refuse,
}

/// What becomes of a group of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assignment {
    /// Laid out as the trace says.
    AsRecorded,
    /// Laid out for data that is read so.
    Laid(Pattern),
    /// Not replayed: it lies on another device.
    Elsewhere,
}

/// How a trace is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Open or closed loop.
    pub mode: ReplayMode,
    /// Requests outstanding at most. Range 1 to 65536.
    pub iodepth: u32,
    /// Arrivals come that much faster, in millionths: 2 000 000 halves the time between them.
    pub speedup: u64,
    /// What to do with requests beyond the end of the device.
    pub beyond: Beyond,
    /// How the data is said to be read, where the trace does not say.
    pub read_pattern: Pattern,
    /// How all data is said to be read, whatever the trace says; `None` keeps to the trace.
    pub override_pattern: Option<Pattern>,
    /// How each group of blocks is laid out, by its number; further ones as said above. Empty for all.
    pub plan: Vec<Assignment>,
    /// What arrives later is not replayed.
    pub runtime: Option<Duration>,
    /// State of the device before, for a trace of one volume that addresses the volume itself.
    pub precondition: Option<Past>,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions {
            mode: ReplayMode::Open,
            iodepth: ReplayMode::Open.default_iodepth(),
            speedup: 1_000_000,
            beyond: Beyond::Wrap,
            read_pattern: Pattern::None,
            override_pattern: None,
            plan: Vec::new(),
            runtime: None,
            precondition: None,
        }
    }
}

impl ReplayOptions {
    /// Refuses what is out of range.
    ///
    /// # Errors
    ///
    /// A depth that is out of range.
    pub fn validate(&self) -> Result<(), JobError> {
        if (1..=Job::IODEPTH_MAX).contains(&self.iodepth) {
            return Ok(());
        }
        let (depth, most) = (self.iodepth, Job::IODEPTH_MAX);
        let text = format!("is {depth}; use 1 to {most}");
        Err(JobError::new("iodepth", &text))
    }

    /// The load of a replay, as far as it may be the limit.
    pub fn load(&self) -> Load {
        let (arrivals, flushes) = match self.mode {
            ReplayMode::Open => (Arrivals::Trace, u64::MAX),
            ReplayMode::Closed => (Arrivals::Closed, self.iodepth.into()),
        };
        Load {
            arrivals,
            threads: 1,
            depth: self.iodepth.into(),
            flushes,
        }
    }

    /// What of it a result shows.
    pub(super) fn describe(&self) -> Vec<(String, String)> {
        let is_closed = self.mode == ReplayMode::Closed;
        let speedup = Some(self.speedup).filter(|speedup| *speedup != 1_000_000);
        let options = [
            ("replay", Some(self.mode.name().to_owned())),
            ("iodepth", is_closed.then(|| self.iodepth.to_string())),
            ("speedup", speedup.map(|by| (by as f64 / 1e6).to_string())),
        ];
        let options = options.into_iter();
        options
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect()
    }
}

impl ReplayMode {
    /// Requests outstanding when no bound is given: as many as may be of an open trace.
    pub fn default_iodepth(self) -> u32 {
        match self {
            ReplayMode::Open => Job::IODEPTH_MAX,
            ReplayMode::Closed => 1,
        }
    }
}

impl FromStr for ReplayMode {
    type Err = String;

    fn from_str(text: &str) -> Result<ReplayMode, String> {
        choice(
            text,
            &[("open", ReplayMode::Open), ("closed", ReplayMode::Closed)],
        )
    }
}

impl FromStr for Beyond {
    type Err = String;

    fn from_str(text: &str) -> Result<Beyond, String> {
        choice(text, &[("wrap", Beyond::Wrap), ("refuse", Beyond::Refuse)])
    }
}

/// A speed-up in millionths, from a decimal number.
///
/// # Errors
///
/// What numbers there are.
pub fn parse_speedup(text: &str) -> Result<u64, String> {
    parse_decimal(text, 1_000_000)
        .filter(|millionths| (1..=1_000_000_000_000).contains(millionths))
        .ok_or_else(|| "use a number from 0.000001 to 1000000, such as 2 or 0.5".to_owned())
}
