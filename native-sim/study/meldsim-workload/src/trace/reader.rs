//! Reads the records of a trace, of whatever format.

use std::fmt;
use std::io::{self, BufRead, Chain, Cursor, Read};

use super::formats::{Columns, Context, PassedOver, TraceFormat, read_header};
use super::head::{Head, RECORDS, without_records};
use super::record::Record;
use super::text::Lines;
use super::time::{TimeUnit, doubt};
use crate::error::{Fault, TraceError};
use meldsim::Duration;
use meldsim_stats::duration;

/// Reads a trace record by record.
#[derive(Debug)]
pub struct TraceReader<R> {
    /// What was looked at to know the format comes first.
    lines: Lines<Chain<Cursor<Vec<u8>>, R>>,
    format: TraceFormat,
    /// Whether its first lines say the format, and nobody else does.
    is_detected: bool,
    context: Context,
    /// Whether the unit of time is inferred, and not the format's.
    is_unit_inferred: bool,
    file: String,
    /// No record was read yet.
    is_empty: bool,
    repeats: Option<Repeats<R>>,
}

/// Further passes of the trace.
struct Repeats<R> {
    left: u32,
    open: Box<dyn FnMut() -> io::Result<R>>,
}

impl<R> fmt::Debug for Repeats<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repeats")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from `input`; `file` is only named in errors. Without a format, it is guessed from the first lines.
    ///
    /// # Errors
    ///
    /// First lines that cannot be read or are of no known format, or a wrong header.
    pub fn new(
        file: &str,
        input: R,
        format: Option<TraceFormat>,
    ) -> Result<TraceReader<R>, TraceError> {
        TraceReader::open(file, input, format, None)
    }

    /// Reads a table of one's own.
    ///
    /// # Errors
    ///
    /// First lines that cannot be read, or a column that the first line does not name.
    pub fn described(
        file: &str,
        input: R,
        columns: &Columns,
    ) -> Result<TraceReader<R>, TraceError> {
        TraceReader::open(file, input, Some(TraceFormat::Described), Some(columns))
    }

    fn open(
        file: &str,
        mut input: R,
        format: Option<TraceFormat>,
        columns: Option<&Columns>,
    ) -> Result<TraceReader<R>, TraceError> {
        let head = Head::read(&mut input).map_err(|error| TraceError::Read {
            file: file.to_owned(),
            line: 1,
            error,
        })?;
        let first = |fault: Fault| fault.at(file, 1);
        if head.bytes.is_empty() {
            let fault = Fault::new("(file)", "is empty", RECORDS);
            return Err(first(fault));
        }
        let is_detected = format.is_none();
        let format = format.map_or_else(|| head.format(), Ok);
        let format = format.map_err(|(line, fault)| fault.at(file, line))?;
        let mut context = Context::default();
        let is_unit_inferred = head.prepare(format, columns, &mut context).map_err(first)?;
        let mut lines = Lines::new(file, Cursor::new(head.bytes).chain(input));
        if format == TraceFormat::Meld {
            read_header(&mut lines, &mut context)?;
        }
        Ok(TraceReader {
            lines,
            format,
            is_detected,
            context,
            is_unit_inferred,
            file: file.to_owned(),
            is_empty: true,
            repeats: None,
        })
    }

    /// Reads it so many times, each after the first from what `open` gives. A pass begins when the last record of the one
    /// before arrives.
    pub fn with_passes(
        mut self,
        passes: u32,
        open: impl FnMut() -> io::Result<R> + 'static,
    ) -> TraceReader<R> {
        self.repeats = Some(Repeats {
            left: passes.saturating_sub(1),
            open: Box::new(open),
        });
        self
    }

    /// Times are in this unit, whatever the format says.
    pub fn with_time_unit(mut self, unit: TimeUnit) -> TraceReader<R> {
        self.context.clock.unit = unit;
        self.is_unit_inferred = false;
        self
    }

    /// Only these volumes are read; all if there are none.
    pub fn with_volumes(mut self, volumes: &[String]) -> TraceReader<R> {
        self.context.volumes.choose(volumes);
        self
    }

    /// The format of the trace.
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// The unit of its times.
    pub fn time_unit(&self) -> TimeUnit {
        self.context.clock.unit
    }

    /// Whether its first times say that they are in another unit than the format's.
    pub fn is_unit_inferred(&self) -> bool {
        self.is_unit_inferred
    }

    /// The names of the volumes met so far.
    pub fn volumes(&self) -> &[String] {
        &self.context.volumes.names
    }

    /// The names of the clients met so far.
    pub fn clients(&self) -> &[String] {
        &self.context.clients
    }

    /// What was no request to replay so far.
    pub fn passed_over(&self) -> PassedOver {
        self.context.passed_over
    }

    /// Records that were earlier than the first, and arrive with it.
    pub(super) fn early(&self) -> u64 {
        self.context.clock.early
    }

    /// The next record; `None` after the last. After an error there is no going on.
    ///
    /// # Errors
    ///
    /// A line that cannot be read, or after the last a chosen volume that there was not, or that there was no record at all.
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if let Some(record) = self.record_of_pass()? {
                self.is_empty = false;
                return Ok(Some(record));
            }
            if !self.begin_pass()? {
                return Ok(None);
            }
        }
    }

    fn record_of_pass(&mut self) -> Result<Option<Record>, TraceError> {
        let context = &mut self.context;
        if self.format.is_binary() {
            return self.format.read(&mut self.lines, context);
        }
        while self.lines.read()? {
            let line = self.lines.text()?;
            if self.format.is_aside(line, context) {
                continue;
            }
            match self.format.parse(line, context) {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                Err(mut fault) => {
                    if self.is_detected {
                        let name = self.format.name();
                        fault.remedy += &format!(
                            " (read as {name}; --trace-format and --trace-columns say otherwise)"
                        );
                    }
                    return Err(self.fault(fault));
                }
            }
        }
        Ok(None)
    }

    /// What about the times of the trace makes no sense, if its `records` came within `span`, and where it ends before its end.
    pub(super) fn doubt(&self, records: u64, span: Duration, is_open: bool) -> Option<String> {
        let clock = &self.context.clock;
        let unit = || doubt(records, span, clock.unit);
        let overlap = || {
            let sorted = match self.format {
                TraceFormat::Blktrace | TraceFormat::Blkparse => {
                    Some("blkparse -i NAME -d merged.bin".to_owned())
                }
                _ => self.context.table.sorted(),
            };
            let remedy = match sorted {
                Some(sorted) => format!("merge them by time: {sorted}"),
                None => "replay each by itself, or merge them by time".to_owned(),
            };
            Some(format!("{}; {remedy}", clock.overlap()?))
        };
        let read = || {
            Some(format!(
                "{}; they are read: {records} records in {}",
                self.lines.cut()?,
                duration(span)
            ))
        };
        let times = is_open.then(|| overlap().or_else(unit)).flatten();
        let all: Vec<String> = read().into_iter().chain(times).collect();
        (!all.is_empty()).then(|| all.join("\ndoubt: "))
    }

    /// Begins the next pass; false if there is none.
    fn begin_pass(&mut self) -> Result<bool, TraceError> {
        self.context
            .volumes
            .check()
            .map_err(|fault| self.lines.fault(fault))?;
        if self.is_empty {
            return Err(self.lines.fault(without_records()));
        }
        let Some(repeats) = self.repeats.as_mut().filter(|repeats| repeats.left > 0) else {
            return Ok(false);
        };
        repeats.left -= 1;
        let input = (repeats.open)().map_err(|error| TraceError::Read {
            file: self.file.clone(),
            line: 1,
            error,
        })?;
        self.lines = Lines::new(&self.file, Cursor::default().chain(input));
        self.context.clock.restart();
        if self.format == TraceFormat::Meld {
            read_header(&mut self.lines, &mut self.context)?;
        }
        Ok(true)
    }

    /// An error about the record read last.
    pub(crate) fn fault(&self, fault: Fault) -> TraceError {
        self.lines.fault(fault)
    }
}
