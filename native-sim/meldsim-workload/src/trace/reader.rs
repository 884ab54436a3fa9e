//! Reads the records of a trace, of whatever format.

use std::io::BufRead;

use super::formats::{HEADER, MAGIC, Record, TraceFormat, VERSIONS, Volumes};
use super::text::Lines;
use crate::error::{Fault, TraceError};
use meldsim::profile::excerpt;

/// Reads a trace record by record.
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: Lines<R>,
    format: TraceFormat,
    volumes: Volumes,
    /// The first line, when it had to be read to know the format.
    pending: bool,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads from `input`; `file` is only named in errors. Without a format, it is guessed from the first line.
    ///
    /// # Errors
    ///
    /// A first line that cannot be read or is of no known format, or a wrong header.
    pub fn new(
        file: &str,
        input: R,
        format: Option<TraceFormat>,
    ) -> Result<TraceReader<R>, TraceError> {
        let mut reader = TraceReader {
            lines: Lines::new(file, input),
            format: format.unwrap_or(TraceFormat::Mqsim),
            volumes: Volumes::default(),
            pending: false,
        };
        if !reader.lines.read()? {
            let fault = Fault::new("(file)", "is empty", "give a trace with records");
            return Err(reader.fault(fault));
        }
        if format.is_none() {
            reader.format = reader.guess()?;
        }
        reader.pending = true;
        if reader.format == TraceFormat::Meld {
            reader.read_header()?;
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

    /// The names of the clients met so far.
    pub fn clients(&self) -> &[String] {
        &self.volumes.clients
    }

    /// The next record; `None` after the last. After an error there is no going on.
    ///
    /// # Errors
    ///
    /// A line that cannot be read.
    pub fn next_record(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if !std::mem::take(&mut self.pending) && !self.lines.read()? {
                return Ok(None);
            }
            let line = self.lines.text()?;
            let is_header = self.format.is_header(line, &mut self.volumes);
            if line.is_empty() || line.starts_with('#') || is_header {
                continue;
            }
            let record = self.format.parse(line, &mut self.volumes);
            return record.map(Some).map_err(|fault| self.fault(fault));
        }
    }

    /// An error about the record read last.
    pub(crate) fn fault(&self, fault: Fault) -> TraceError {
        self.lines.fault(fault)
    }

    /// The format of the line at hand.
    fn guess(&self) -> Result<TraceFormat, TraceError> {
        let line = self.lines.text()?;
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

    /// Checks the two lines before the first record; the first was read.
    fn read_header(&mut self) -> Result<(), TraceError> {
        let header = format!("begin the file with \"{}\"", HEADER.replace('\n', "\\n"));
        let first = self.lines.text()?;
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
        while self.lines.read()? && self.lines.text()?.starts_with('#') {}
        let line = self.lines.text()?;
        if !self.volumes.take_columns(line) {
            let message = format!("are \"{}\"", excerpt(line));
            return Err(self.fault(Fault::new("columns", message, header)));
        }
        Ok(())
    }
}
