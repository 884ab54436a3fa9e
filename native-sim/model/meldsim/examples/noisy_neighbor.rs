//! A reader beside a writer, on one device divided into NVM sets in different ways.
//!
//! ```text
//!   baseline                          vertical: four sets, each with channels of its own
//!   reader --+                        reader --> set 0: channels 0 and 1
//!            +--> all channels        writer --> set 1: channels 2 and 3
//!   writer --+
//! ```
//!
//! With sets of their own the two do not meet anywhere, and the reader cannot tell whether there is a writer. Run it:
//! `cargo run --release --example noisy_neighbor`.

use std::error::Error;

use meldsim::profile::SetLayout;
use meldsim::{Command, Completion, Device, Directive, Duration, NamespaceId, Profile};

const READER_DEPTH: u64 = 8;
const WRITER_DEPTH: u64 = 4;
const READER_BLOCKS: u64 = 4096;
const WRITER_BLOCKS: u64 = 8192;
/// 32 KiB.
const WRITE_BLOCKS: u32 = 8;
/// Tags from here on are writes.
const WRITES: u64 = 1 << 32;
const RUN: Duration = Duration::from_ms(300);

/// The latencies of the reader's requests, ascending.
pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn mean_us(&self) -> f64 {
        self.0
            .iter()
            .copied()
            .map(Duration::as_secs_f64)
            .sum::<f64>()
            / self.0.len() as f64
            * 1e6
    }

    /// `share` of the requests took at most so long.
    pub(crate) fn percentile(&self, share: f64) -> Duration {
        let rank = (self.0.len() as f64 * share).ceil() as usize;
        self.0[rank.clamp(1, self.0.len()) - 1]
    }
}

/// Both workloads on one device.
struct Neighbours {
    device: Device,
    reader: NamespaceId,
    writer: NamespaceId,
    random: u64,
    written: u64,
}

impl Neighbours {
    fn new(layout: SetLayout) -> Result<Neighbours, Box<dyn Error>> {
        let mut profile = Profile::builtin("melded-tlc-8x8")?;
        profile.sets.layout = layout;
        profile.sets.count = if layout == SetLayout::Baseline { 1 } else { 4 };
        let mut device = Device::new(&profile)?;
        let lba_bytes = profile.controller.lba_size.0;
        let last = device.sets() - 1;
        let reader = device.create_namespace_in(0, READER_BLOCKS * lba_bytes)?;
        let writer = device.create_namespace_in(last.min(1), WRITER_BLOCKS * lba_bytes)?;
        device.preload(reader, 0, READER_BLOCKS, Directive::NONE)?;
        Ok(Neighbours {
            device,
            reader,
            writer,
            random: 1,
            written: 0,
        })
    }

    fn read(&mut self) -> Result<(), Box<dyn Error>> {
        // Knuth's MMIX generator: any seeded sequence will do.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let slba = (self.random >> 33) % READER_BLOCKS;
        Ok(self
            .device
            .submit(&Command::read(self.reader, slba, 1, 0))?)
    }

    fn write(&mut self) -> Result<(), Box<dyn Error>> {
        let slba = self.written * u64::from(WRITE_BLOCKS) % WRITER_BLOCKS;
        self.written += 1;
        let command = Command::write(self.writer, slba, WRITE_BLOCKS, Directive::NONE, WRITES);
        Ok(self.device.submit(&command)?)
    }

    /// Keeps both depths outstanding until the end of the run.
    fn run(&mut self, with_writer: bool) -> Result<Latencies, Box<dyn Error>> {
        for _ in 0..READER_DEPTH {
            self.read()?;
        }
        for _ in 0..if with_writer { WRITER_DEPTH } else { 0 } {
            self.write()?;
        }
        let mut latencies = Vec::new();
        while self.device.now().since_start() < RUN && self.device.run_until_completion() {
            while let Some(completion) = self.device.pop_completion() {
                let Completion { tag, .. } = completion;
                if tag == WRITES {
                    self.write()?;
                } else {
                    latencies.push(completion.latency());
                    self.read()?;
                }
            }
        }
        latencies.sort_unstable();
        Ok(Latencies(latencies))
    }
}

/// The reader's latencies on a device of that layout.
pub(crate) fn reader_latencies(
    layout: SetLayout,
    with_writer: bool,
) -> Result<Latencies, Box<dyn Error>> {
    Neighbours::new(layout)?.run(with_writer)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    println!("sets        writer   mean us   p99 us   max us   (simulated)");
    for layout in [SetLayout::Baseline, SetLayout::Vertical] {
        for with_writer in [false, true] {
            let latencies = reader_latencies(layout, with_writer)?;
            println!(
                "{:<11} {:<6} {:>9.1} {:>8} {:>8}",
                format!("{layout:?}").to_lowercase(),
                if with_writer { "yes" } else { "no" },
                latencies.mean_us(),
                latencies.percentile(0.99).as_us(),
                latencies.percentile(1.0).as_us(),
            );
        }
    }
    Ok(())
}
