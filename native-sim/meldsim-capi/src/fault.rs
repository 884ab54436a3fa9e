//! The fault-injection hook: tests of callers make a healthy device fail on demand.

use crate::error::{Failure, MELDSIM_ERR_INJECTED};

/// What an armed fault does once it strikes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Panic,
    Error,
    Hang,
}

/// An armed fault.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    kind: Kind,
    calls_left: u64,
}

impl Fault {
    /// Decodes the ABI's `kind`: 0 disarms, 1 panics, 2 fails every call, 3 never returns.
    pub(crate) fn parse(kind: u32, after_calls: u64) -> Result<Option<Fault>, Failure> {
        let kind = match kind {
            0 => return Ok(None),
            1 => Kind::Panic,
            2 => Kind::Error,
            3 => Kind::Hang,
            other => {
                return Err(Failure::argument(format!(
                    "fault kind {other} is unknown; use 0 (none), 1 (panic), 2 (error) or 3 (hang)"
                )));
            }
        };
        Ok(Some(Fault {
            kind,
            calls_left: after_calls,
        }))
    }

    /// Counts a call and strikes when its time has come.
    pub(crate) fn call(&mut self) -> Result<(), Failure> {
        if self.calls_left > 0 {
            self.calls_left -= 1;
            return Ok(());
        }
        match self.kind {
            Kind::Panic => panic!("injected panic"),
            Kind::Error => Err(Failure::new(MELDSIM_ERR_INJECTED, "injected error")),
            Kind::Hang => loop {
                std::thread::park();
            },
        }
    }
}
