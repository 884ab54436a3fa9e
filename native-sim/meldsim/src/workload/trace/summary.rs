//! What was done to a trace to replay it.

/// How a trace was fitted to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TraceSummary {
    /// Records replayed.
    pub records: u64,
    /// Of these, flushes.
    pub flushes: u64,
    /// Of these, deletions.
    pub deletions: u64,
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
    /// One line for people.
    pub(crate) fn to_text(self) -> String {
        let mut text = format!("trace: {} records", self.records);
        for (count, what) in [
            (self.flushes, "flushes"),
            (self.deletions, "deletions"),
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
