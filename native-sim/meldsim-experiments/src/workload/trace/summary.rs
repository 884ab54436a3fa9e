//! What was done to a trace to replay it.

use super::Op;

/// How a trace was fitted to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TraceSummary {
    /// Records replayed.
    pub records: u64,
    /// Of these, flushes.
    pub flushes: u64,
    /// Of these, deletions.
    pub deletions: u64,
    /// Of these, truncations.
    pub truncations: u64,
    /// Of these, files handed to readers whose reads are not in the trace.
    pub opens: u64,
    /// Requests beyond the end of the device, moved to within.
    pub wrapped: u64,
    /// Requests that did not begin or end at a logical block, made larger until they did.
    pub widened: u64,
    /// Records earlier than the one before, replayed with it.
    pub out_of_order: u64,
    /// Bytes that were read before they were written: placed before their first read, in no simulated time.
    pub preloaded_bytes: u64,
    /// Reads of such data for which there was no room: they did not read flash.
    pub without_room: u64,
}

impl TraceSummary {
    /// Counts a record that moves no data.
    pub(super) fn count(&mut self, op: Op) {
        match op {
            Op::Read | Op::Write => {}
            Op::Flush => self.flushes += 1,
            Op::Delete => self.deletions += 1,
            Op::Truncate => self.truncations += 1,
            Op::Open => self.opens += 1,
        }
    }

    /// One line for people.
    pub(crate) fn to_text(self) -> String {
        let mut text = format!("trace: {} records", self.records);
        for (count, what) in [
            (self.flushes, "flushes"),
            (self.deletions, "deletions"),
            (self.truncations, "truncations"),
            (self.opens, "opened by readers whose reads were not seen"),
            (self.wrapped, "wrapped into the device"),
            (self.widened, "widened to logical blocks"),
            (self.out_of_order, "out of order"),
            (
                self.without_room,
                "reads of data for which there was no room",
            ),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        if self.preloaded_bytes > 0 {
            let bytes = crate::report::bytes(self.preloaded_bytes);
            text += &format!("; {bytes} preloaded for reads of what the trace never wrote");
        }
        text + "\n"
    }
}
