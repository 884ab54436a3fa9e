//! How long a snapshot keeps a full device of 2 TB from everybody else: it is made in memory, and written elsewhere.
//!
//! The device is filled as HDFS does, by blocks of 128 MiB.
//! Run it: `cargo run --release --example snapshot_stall`.

use std::error::Error;
use std::time::Instant;

use meldsim::{Device, Directive, Pattern, Profile};

const BLOCK_BYTES: u64 = 128 << 20;
const FILL_BYTES: u64 = 1_700_000_000_000;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let profile = Profile::builtin("nvmset-2tb")?;
    let lba_bytes = profile.controller.lba_size.0;
    let mut device = Device::new(&profile)?;
    let sets = u64::from(device.sets());
    let blocks = FILL_BYTES / BLOCK_BYTES / sets;
    let sequential = Directive::read_pattern(Pattern::Sequential);
    for _ in 0..sets {
        let nsid = device.create_namespace(blocks * BLOCK_BYTES)?;
        let lbas = BLOCK_BYTES / lba_bytes;
        for block in 0..blocks {
            device.preload(nsid, block * lbas, lbas, sequential)?;
        }
    }
    for round in 1..=ROUNDS {
        let begin = Instant::now();
        let bytes = device.snapshot()?;
        let ms = begin.elapsed().as_secs_f64() * 1e3;
        println!(
            "{round}: {ms:.0} ms for {:.1} MiB, {:.0} GB of data (measured)",
            bytes.len() as f64 / f64::from(1 << 20),
            (sets * blocks * BLOCK_BYTES) as f64 * 1e-9,
        );
    }
    Ok(())
}
