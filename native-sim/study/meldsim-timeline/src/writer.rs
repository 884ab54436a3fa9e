//! Writes records in a form, compressed: all that are shown, or those during the slowest commands.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Shown;
use super::slowest::Slowest;
use meldsim::Instant;
use meldsim::profile::Profile;
use meldsim::timeline::Record;

/// How records are written.
pub trait Form {
    /// Slices that an output has at most.
    const MOST_SLICES: u64;

    /// A device begins; what it needs is `lasting`.
    fn begin(&mut self, profile: &Profile, name: &str);

    /// Encodes a record into `lasting` and `events`. Returns its slices.
    fn encode(&mut self, record: &Record<'_>) -> u64;

    /// What is written whether or not the last record is.
    fn lasting(&self) -> &[u8];

    /// The last record; empty if it has no place in this form.
    fn events(&self) -> &[u8];
}

/// An output of records.
pub(super) struct Writer<F, W: Write> {
    shown: Shown,
    form: F,
    output: GzEncoder<W>,
    slowest: Option<Slowest>,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
    /// Slices written so far.
    pub(super) slices: u64,
    /// When the first record began for which there was no room.
    pub(super) cut: Option<Instant>,
}

impl<F: Form, W: Write> Writer<F, W> {
    pub(super) fn new(output: W, form: F, shown: Shown) -> Writer<F, W> {
        Writer {
            shown,
            form,
            output: GzEncoder::new(output, Compression::fast()),
            slowest: None,
            error: None,
            slices: 0,
            cut: None,
        }
    }

    /// A device begins.
    pub(super) fn begin(&mut self, profile: &Profile, name: &str) {
        self.form.begin(profile, name);
        self.slowest = self.shown.slowest.map(Slowest::new);
        let result = self.output.write_all(self.form.lasting());
        self.keep(result);
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
        let (start, end) = times(record);
        if self.error.is_some() || !self.shown.covers(start, end) {
            return;
        }
        if self.slices >= F::MOST_SLICES {
            self.cut.get_or_insert(start);
            return;
        }
        let slices = self.form.encode(record);
        // Tracks are described whether or not what is on them is kept.
        let mut result = self.output.write_all(self.form.lasting());
        if let Some(slowest) = &mut self.slowest {
            slowest.push((start, end), self.form.events(), slices);
            if let Record::Command(command) = record {
                slowest.completed((start, end), command.number);
            }
        } else {
            self.slices += slices;
            result = result.and_then(|()| self.output.write_all(self.form.events()));
        }
        self.keep(result);
    }

    /// The device has ended: what was during its slowest commands is written.
    pub(super) fn end_device(&mut self) {
        if let Some(slowest) = self.slowest.take() {
            match slowest.finish(|packets| self.output.write_all(packets)) {
                Ok(slices) => self.slices += slices,
                Err(error) => self.keep(Err(error)),
            }
        }
    }

    /// Ends the output and returns it, or the first error since the beginning.
    pub(super) fn finish(self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => self.output.finish(),
        }
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let (None, Err(error)) = (&self.error, result) {
            self.error = Some(error);
        }
    }
}

impl Shown {
    /// Whether anything of a span is shown.
    fn covers(&self, start: Instant, end: Instant) -> bool {
        let from = Instant::START + self.from;
        let until = self.length.map_or(Instant::MAX, |length| from + length);
        end >= from && start < until
    }
}

/// From when to when a record is of.
pub(super) fn times(record: &Record<'_>) -> (Instant, Instant) {
    match record {
        Record::Bus(span) => (span.start, span.end),
        Record::Array(span) => (span.start, span.end),
        Record::Busy(span) => (span.start, span.end),
        Record::Core(span) => (span.start, span.end),
        Record::Collection(span) => (span.start, span.end),
        Record::Level(level) => (level.at, level.at),
        Record::Command(command) => (command.submitted, command.completed),
        _ => (Instant::START, Instant::START),
    }
}
