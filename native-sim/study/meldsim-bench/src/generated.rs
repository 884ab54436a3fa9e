//! A trace that is made up as it is read: as long as one likes, and nowhere on disk.

use std::io::{self, Read, Write};

/// Bytes of the volume that its requests touch.
const SPAN_BYTES: u64 = 256 << 20;
const SECTOR_BYTES: u64 = 512;
const REQUEST_BYTES: u64 = 4096;
/// Time between two arrivals: less than the device can serve.
const INTERVAL_NS: u64 = 5_000;
/// One request of so many writes, the others read.
const WRITE_EVERY: u64 = 8;

/// Lines of MQSim's format.
pub(super) struct GeneratedTrace {
    /// Lines are begun until so many bytes were read.
    bytes: u64,
    made: u64,
    lines: u64,
    line: Vec<u8>,
    /// Bytes of the line that were read.
    read: usize,
}

impl GeneratedTrace {
    /// A trace of about `bytes`.
    pub(super) fn new(bytes: u64) -> GeneratedTrace {
        GeneratedTrace {
            bytes,
            made: 0,
            lines: 0,
            line: Vec::new(),
            read: 0,
        }
    }

    fn next_line(&mut self) -> io::Result<()> {
        self.line.clear();
        self.read = 0;
        if self.made >= self.bytes {
            return Ok(());
        }
        let n = self.lines;
        // A multiplicative hash scatters the requests.
        let request = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SPAN_BYTES / REQUEST_BYTES);
        let arrival_ns = n * INTERVAL_NS;
        let sector = request * (REQUEST_BYTES / SECTOR_BYTES);
        let op = u64::from(n % WRITE_EVERY != 0);
        writeln!(
            self.line,
            "{arrival_ns} 0 {sector} {} {op}",
            REQUEST_BYTES / SECTOR_BYTES
        )?;
        self.lines += 1;
        self.made += self.line.len() as u64;
        Ok(())
    }
}

impl Read for GeneratedTrace {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            if self.read == self.line.len() {
                self.next_line()?;
                if self.line.is_empty() {
                    break;
                }
            }
            let count = (self.line.len() - self.read).min(buffer.len() - done);
            buffer[done..done + count].copy_from_slice(&self.line[self.read..self.read + count]);
            self.read += count;
            done += count;
        }
        Ok(done)
    }
}
