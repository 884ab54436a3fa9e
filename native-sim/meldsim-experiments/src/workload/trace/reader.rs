//! Reads the records of a trace.

use std::io::BufRead;

use super::formats::{
    COLUMNS, HEADER, MAGIC, Op, RawRecord, Record, TraceFormat, VERSIONS, Volumes,
};
use super::text::{LINE_BYTES_MAX, LineError, Lines, excerpt};
use crate::workload::error::{Fault, TraceError};
use meldsim::Duration;

/// Reads a trace record by record.
#[derive(Debug)]
pub struct TraceReader<R> {
    file: String,
    lines: Lines<R>,
    format: TraceFormat,
    volumes: Volumes,
    first_ticks: Option<u64>,
    /// The first line, when it had to be read to know the format.
    pending: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from `input`; `file` is only named in errors. Without a format, the first line tells it.
    pub fn new(
        file: &str,
        input: R,
        format: Option<TraceFormat>,
    ) -> Result<TraceReader<R>, TraceError> {
        let mut reader = TraceReader {
            file: file.to_owned(),
            lines: Lines::new(input),
            format: format.unwrap_or(TraceFormat::Mqsim),
            volumes: Volumes::default(),
            first_ticks: None,
            pending: false,
        };
        let any = reader.read_line()?;
        if format.is_none() {
            if !any {
                let fault = Fault::new("(file)", "is empty", "give a trace with records");
                return Err(reader.fault(fault));
            }
            reader.format = reader.guess()?;
        }
        reader.pending = any;
        if reader.format == TraceFormat::Meld {
            reader.read_header(any)?;
        }
        Ok(reader)
    }

    /// The format of the trace.
    pub fn format(&self) -> TraceFormat {
        self.format
    }

    /// The names of the volumes met so far.
    pub fn volumes(&self) -> &[String] {
        &self.volumes.names
    }

    /// The next record; `None` after the last. After an error there is no going on.
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.read_line()? {
                return Ok(None);
            }
            let line = match self.lines.text() {
                Ok(line) => line.trim(),
                Err(error) => return Err(self.line_error(error)),
            };
            // Files that were rotated may be joined.
            let is_header = self.format == TraceFormat::Meld && line == COLUMNS;
            if line.is_empty() || line.starts_with('#') || is_header {
                continue;
            }
            let parsed = self.format.parse(line, &mut self.volumes);
            let record = parsed.and_then(|raw| self.record(&raw));
            return record.map(Some).map_err(|fault| self.fault(fault));
        }
    }

    /// An error about the record read last.
    pub(super) fn fault(&self, fault: Fault) -> TraceError {
        fault.at(&self.file, self.lines.number())
    }

    fn record(&mut self, raw: &RawRecord) -> Result<Record, Fault> {
        let moves_data = matches!(raw.op, Op::Read | Op::Write);
        if moves_data && raw.length == 0 {
            return Err(Fault::new(raw.length_field, "is 0", "remove the line"));
        }
        if raw.offset.checked_add(raw.length).is_none() {
            let message = "ends beyond 2^64 B";
            return Err(Fault::new(
                raw.length_field,
                message,
                "mend or remove the line",
            ));
        }
        let first = *self.first_ticks.get_or_insert(raw.ticks);
        let ps = raw
            .ticks
            .saturating_sub(first)
            .saturating_mul(raw.ps_per_tick);
        Ok(Record {
            arrival: Duration::from_ps(ps),
            volume: raw.volume,
            extent: raw.extent,
            offset: raw.offset,
            length: raw.length,
            op: raw.op,
            pattern: raw.pattern,
        })
    }

    fn read_line(&mut self) -> Result<bool, TraceError> {
        self.lines.read().map_err(|error| self.line_error(error))
    }

    fn line_error(&self, error: LineError) -> TraceError {
        let line = |message: String| {
            Fault::new(
                "line",
                message,
                "give a trace in text, plain or compressed by gzip",
            )
        };
        match error {
            LineError::TooLong => self.fault(line(format!("is longer than {LINE_BYTES_MAX} B"))),
            LineError::NotText => self.fault(line("is not text".to_owned())),
            LineError::Read(error) => TraceError::Read {
                file: self.file.clone(),
                line: self.lines.number(),
                error,
            },
        }
    }

    /// The format of the line at hand.
    fn guess(&self) -> Result<TraceFormat, TraceError> {
        let line = match self.lines.text() {
            Ok(line) => line.trim(),
            Err(error) => return Err(self.line_error(error)),
        };
        let commas = line.bytes().filter(|byte| *byte == b',').count();
        let blanks = line.split_ascii_whitespace().count();
        if line.starts_with(MAGIC) {
            Ok(TraceFormat::Meld)
        } else if commas == 6 {
            Ok(TraceFormat::Msr)
        } else if commas == 0 && blanks == 5 {
            Ok(TraceFormat::Mqsim)
        } else {
            let message = format!("is of no known format: \"{}\"", excerpt(line));
            let remedy = "say which with --trace-format mqsim, msr or meld";
            Err(self.fault(Fault::new("line", message, remedy)))
        }
    }

    /// Checks the two lines before the first record; the first was read if there is one.
    fn read_header(&mut self, any: bool) -> Result<(), TraceError> {
        let header = format!("begin the file with \"{}\"", HEADER.replace('\n', "\\n"));
        let first = if any { self.text()? } else { "" };
        let Some(version) = first.strip_prefix(MAGIC) else {
            let message = format!("is \"{}\", not the header of a block trace", excerpt(first));
            return Err(self.fault(Fault::new("header", message, header)));
        };
        if !VERSIONS.contains(&version) {
            let message = format!("is {}, which this version cannot read", excerpt(version));
            let remedy = format!("record it again in version {}", VERSIONS.join(" or "));
            return Err(self.fault(Fault::new("version", message, remedy)));
        }
        self.pending = false;
        loop {
            let more = self.read_line()?;
            let line = self.text()?;
            if more && line.starts_with('#') {
                continue;
            }
            if line != COLUMNS {
                let message = format!("are \"{}\"", excerpt(line));
                return Err(self.fault(Fault::new("columns", message, header)));
            }
            return Ok(());
        }
    }

    fn text(&self) -> Result<&str, TraceError> {
        match self.lines.text() {
            Ok(text) => Ok(text.trim()),
            Err(error) => Err(self.line_error(error)),
        }
    }
}
