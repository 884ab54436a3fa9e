//! How long a caller is willing to wait, in wall time.

use std::time::{Duration, Instant};

use crate::error::{Failure, MELDSIM_ERR_TIMEOUT};

/// A point in wall time, fixed on first use so that a wait that is satisfied at once never reads the clock.
pub(crate) struct Deadline {
    timeout_ns: u64,
    at: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after_ns(timeout_ns: u64) -> Deadline {
        Deadline {
            timeout_ns,
            at: None,
        }
    }

    pub(crate) fn never() -> Deadline {
        Deadline::after_ns(u64::MAX)
    }

    /// The time left, zero when it has passed; `None` when there is no limit.
    pub(crate) fn left(&mut self) -> Option<Duration> {
        let now = Instant::now();
        if self.at.is_none() {
            self.at = now.checked_add(Duration::from_nanos(self.timeout_ns));
        }
        match self.at {
            Some(at) if self.timeout_ns != u64::MAX => Some(at.saturating_duration_since(now)),
            _ => None,
        }
    }

    pub(crate) fn timeout(&self) -> Failure {
        Failure::new(
            MELDSIM_ERR_TIMEOUT,
            format!(
                "not done within {} ms of wall time; the ticket stays valid",
                self.timeout_ns / 1_000_000
            ),
        )
    }
}
