//! A trace's file: plain or compressed, and how far it has been read.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use meldsim_workload::trace::decompressed;

use crate::error::BadInput;

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
pub(crate) fn open(flag: &str, path: &str) -> Result<(Box<dyn BufRead>, ReadShare), BadInput> {
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
