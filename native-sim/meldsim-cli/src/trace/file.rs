//! A trace's file: plain or compressed, and how far it has been read.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use anyhow::Result;
use clap::Args;
use meldsim_workload::trace::{Columns, TimeUnit, TraceFormat, TraceReader, decompressed};

use crate::error::BadInput;
use crate::output::{named, note};

const BUFFER_BYTES: usize = 1 << 18;

/// Which share of the file has been read.
#[derive(Clone, Debug)]
pub(crate) struct ReadShare {
    read_bytes: Rc<Cell<u64>>,
    /// 0 when nobody knows, as of a pipe.
    file_bytes: u64,
}

impl ReadShare {
    /// From 0 to 1; 0 when nobody knows.
    pub(crate) fn get(&self) -> f64 {
        match self.file_bytes {
            0 => 0.0,
            bytes => (self.read_bytes.get() as f64 / bytes as f64).min(1.0),
        }
    }
}

struct Counted<R> {
    input: R,
    read_bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.input.read(buffer)?;
        self.read_bytes.set(self.read_bytes.get() + bytes as u64);
        Ok(bytes)
    }
}

/// Opens a trace, or standard input for `-`; `flag` is named in errors. What gzip compressed is known by its first bytes.
fn open(flag: &str, path: &str) -> std::result::Result<(Box<dyn BufRead>, ReadShare), BadInput> {
    let unreadable = |error: io::Error| {
        BadInput(format!(
            "{flag}: cannot read \"{path}\": {error}; give the path of a trace"
        ))
    };
    let (input, file_bytes): (Box<dyn Read>, u64) = match path {
        "-" => (Box::new(io::stdin().lock()), 0),
        path => {
            let file = File::open(path).map_err(unreadable)?;
            let bytes = file.metadata().map_err(unreadable)?.len();
            (Box::new(file), bytes)
        }
    };
    let share = ReadShare {
        read_bytes: Rc::default(),
        file_bytes,
    };
    let counted = Counted {
        input,
        read_bytes: Rc::clone(&share.read_bytes),
    };
    let input = BufReader::with_capacity(BUFFER_BYTES, counted);
    Ok((decompressed(input).map_err(unreadable)?, share))
}

/// A trace's format, where its first lines do not tell it, and the part to read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trace")]
pub(crate) struct TraceArgs {
    /// Format of the trace: mqsim, disksim, msr, alibaba, tencent, systor, spc, fiu, fio, blkparse, blktrace, ftrace, biosnoop,
    /// fiolog, etw, vscsi, oraclegeneral or meld [default: detected from the first lines]
    #[arg(long, value_name = "FORMAT", requires = "trace", value_parser = str::parse::<TraceFormat>)]
    pub(crate) trace_format: Option<TraceFormat>,
    /// Columns of a table of one's own, in their order: time:us,-,op,offset:512B,length,volume; or by a header's names:
    /// time=start:s,op=kind:0/1,offset=lba:512B,length=bytes. - passes one over, 0/1 are a read and a write
    #[arg(long, value_name = "COLUMNS", requires = "trace", conflicts_with = "trace_format", value_parser = str::parse::<Columns>)]
    pub(crate) trace_columns: Option<Columns>,
    /// Unit of the trace's times: ps, ns, 100ns, us, ms or s [default: the format's, or the unit in which the first times are
    /// those of a clock]
    #[arg(long, hide_short_help = true, value_name = "UNIT", requires = "trace", value_parser = str::parse::<TimeUnit>)]
    pub(crate) time_unit: Option<TimeUnit>,
    /// Only this volume of the trace; several times for several [default: all, side by side]
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub(crate) volume: Vec<String>,
    /// Read the trace N times; each pass begins when the last request of the one before arrives
    #[arg(long, value_name = "N", default_value = "1", requires = "trace", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
}

/// A trace's reader, and how far it has read.
pub(crate) fn read(
    flag: &'static str,
    path: &str,
    args: &TraceArgs,
) -> Result<(TraceReader<Box<dyn BufRead>>, ReadShare)> {
    if path == "-" && args.repeat > 1 {
        let message = "--repeat: standard input can be read only once; save the trace in a file and give its path";
        return Err(BadInput(message.to_owned()).into());
    }
    let (input, share) = open(flag, path)?;
    let reader = match &args.trace_columns {
        Some(columns) => TraceReader::described(named(path), input, columns)?,
        None => TraceReader::new(named(path), input, args.trace_format)?,
    };
    let mut reader = reader.with_volumes(&args.volume);
    if let Some(unit) = args.time_unit {
        reader = reader.with_time_unit(unit);
    }
    if reader.is_unit_inferred() {
        let unit = reader.time_unit().name();
        note(&format!(
            "note: {}: its times look as if they were in {unit}; if not, say it with --time-unit",
            named(path)
        ));
    }
    let path = path.to_owned();
    let again = move || match open(flag, &path) {
        Ok((input, _)) => Ok(input),
        Err(BadInput(message)) => Err(io::Error::other(message)),
    };
    Ok((reader.with_passes(args.repeat, again), share))
}
