//! Traces that gzip compressed.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

const BUFFER_BYTES: usize = 1 << 18;
/// What gzip begins with.
const GZIP_MAGIC: [u8; 2] = [0x1F, 0x8B];

/// The plain text of `input`; what gzip compressed is known by its first bytes.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(if input.fill_buf()?.starts_with(&GZIP_MAGIC) {
        // A trace that was rotated and joined is several of gzip's members.
        let plain = MultiGzDecoder::new(input);
        Box::new(BufReader::with_capacity(BUFFER_BYTES, plain))
    } else {
        Box::new(input)
    })
}
