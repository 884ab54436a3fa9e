//! The four curves: what is run for each point, and what came of it.

use super::blocks::{Blocks, BlocksTally};
use super::read_ahead::ReadAhead;
use meldsim::Duration;
use meldsim::device::Device;
use meldsim::nvme::Command;
use meldsim::profile::Profile;
use meldsim_host::{Source, Until, WarmUp};
use meldsim_lab::{Layout, Result};

/// An HDFS block.
pub(super) const BLOCK_BYTES: u64 = 128 << 20;
/// The plugin's window, by default.
pub(super) const WINDOW_BYTES: u64 = 16 << 20;
/// What the host takes for a MiB between its reads, from eight times slower than the device to no time.
pub(super) const HOST_US_PER_MIB: [u64; 14] = [
    2800, 1400, 700, 350, 325, 300, 275, 250, 225, 175, 90, 45, 10, 0,
];
pub(super) const READERS: [u64; 5] = [1, 2, 4, 8, 16];
pub(super) const WRITE_PERCENT: [u64; 7] = [0, 10, 25, 40, 50, 75, 100];
/// Read beside writes, one after the other: more than a write buffer holds is written meanwhile.
pub(super) const BLOCKS_BESIDE_WRITES: u64 = 8;
/// The writer is alone for so long.
pub(super) const WRITER_LEADS: Duration = Duration::from_ms(300);

/// The plugin's window.
pub(super) const ADAPTIVE: ReadAhead = ReadAhead::Adaptive {
    window_bytes: WINDOW_BYTES,
};

/// A reader that asks for a window once it has taken all of the one before.
pub(super) const WAITING: ReadAhead = ReadAhead::None {
    request_bytes: WINDOW_BYTES,
};

/// A kernel that reads ahead, by `queue/max_sectors_kb`, with or without Hadoop's native library.
#[derive(Clone, Copy)]
pub(super) struct KernelKind {
    pub(super) name: &'static str,
    pub(super) max_request_bytes: u64,
    pub(super) advised: bool,
}

const fn kernel(name: &'static str, kib: u64, advised: bool) -> KernelKind {
    KernelKind {
        name,
        max_request_bytes: kib << 10,
        advised,
    }
}

pub(super) const KERNELS: [KernelKind; 3] = [
    kernel("native library, 1280 KiB", 1280, true),
    kernel("native library, 4 MiB", 4096, true),
    kernel("no native library, 1280 KiB", 1280, false),
];

/// `queue/read_ahead_kb` of an unmodified kernel.
pub(super) const DEFAULT_READ_AHEAD_BYTES: u64 = 128 << 10;

impl KernelKind {
    pub(super) const fn with(self, read_ahead_bytes: u64) -> ReadAhead {
        ReadAhead::Linux {
            read_ahead_bytes,
            max_request_bytes: self.max_request_bytes,
            advised: self.advised,
        }
    }
}

/// An unmodified kernel below an unmodified DataNode.
pub(super) const DEFAULT_KERNEL: ReadAhead = KERNELS[0].with(DEFAULT_READ_AHEAD_BYTES);

/// The same in both layouts.
#[derive(Clone, Copy)]
pub(super) struct Both {
    pub(super) normal: BlocksTally,
    pub(super) melded: BlocksTally,
}

impl Both {
    pub(super) fn gain(self) -> f64 {
        self.melded.read_mib_s / self.normal.read_mib_s
    }

    pub(super) fn waiting_percent(self) -> f64 {
        100.0 * self.normal.waiting_share
    }

    /// A line of a sheet or a figure.
    fn measure(profile: &Profile, blocks: impl Fn(Layout) -> Result<Blocks>) -> Result<Both> {
        let of = |layout: Layout| -> Result<BlocksTally> {
            let mut device = Device::new(profile)?;
            Ok(blocks(layout)?.run(&mut device, layout.directive())?)
        };
        Ok(Both {
            normal: of(Layout::Normal)?,
            melded: of(Layout::Melded)?,
        })
    }
}

/// A point by the host's time.
pub(super) struct Host {
    pub(super) us_per_mib: u64,
    pub(super) ahead: Both,
    pub(super) not_ahead: Both,
}

/// A point by readers.
pub(super) struct Together {
    pub(super) readers: u64,
    pub(super) adaptive: Both,
    pub(super) kernel: Both,
}

/// A point by writes.
pub(super) struct Beside {
    pub(super) percent: u64,
    pub(super) both: Both,
}

/// Points by the kernel's read-ahead.
pub(super) struct ReadAheads {
    pub(super) read_ahead_bytes: u64,
    /// By kernel.
    pub(super) kernels: Vec<Both>,
}

/// Everything simulated.
pub(super) struct Curves {
    pub(super) hosts: Vec<Host>,
    pub(super) together: Vec<Together>,
    pub(super) beside: Vec<Beside>,
    pub(super) read_aheads: Vec<ReadAheads>,
}

/// One reader of one block, which the host takes as fast as it comes.
fn alone(read_ahead: ReadAhead) -> Blocks {
    Blocks {
        block_bytes: BLOCK_BYTES,
        read_ahead,
        readers: 1,
        blocks_each: 1,
        host_time: Duration::ZERO,
        write_every: None,
        writer_leads: Duration::ZERO,
    }
}

/// One reader on a host that takes so long for a MiB.
pub(super) fn on_host(profile: &Profile, read_ahead: ReadAhead, us_per_mib: u64) -> Result<Both> {
    let packets = (1 << 20) / Blocks::PACKET_BYTES;
    let blocks = Blocks {
        host_time: Duration::from_ps(Duration::from_us(us_per_mib).as_ps() / packets),
        ..alone(read_ahead)
    };
    Both::measure(profile, |_| Ok(blocks))
}

/// So many readers at once.
pub(super) fn together(profile: &Profile, read_ahead: ReadAhead, readers: u64) -> Result<Both> {
    let blocks = Blocks {
        readers,
        ..alone(read_ahead)
    };
    Both::measure(profile, |_| Ok(blocks))
}

/// One reader beside a writer of this share of what the device can write.
pub(super) fn beside_writes(profile: &Profile, percent: u64) -> Result<Both> {
    Both::measure(profile, |layout| {
        let write_every = match percent {
            0 => None,
            _ => {
                let rate = write_rate(profile, layout)? * percent as f64 / 100.0;
                Some(Duration::from_ps((1e12 / rate) as u64))
            }
        };
        Ok(Blocks {
            blocks_each: BLOCKS_BESIDE_WRITES,
            write_every,
            writer_leads: WRITER_LEADS,
            ..alone(ADAPTIVE)
        })
    })
}

/// Requests a second that a writer alone gets done once the write buffer is full.
fn write_rate(profile: &Profile, layout: Layout) -> Result<f64> {
    let mut device = Device::new(profile)?;
    let request_bytes = Blocks::WRITE_BYTES;
    let buffered = profile.controller.write_buffer.0.div_ceil(request_bytes);
    let requests = 2 * buffered + 64;
    let nsid = device.create_namespace((buffered + requests + 16) * request_bytes)?;
    let nlb = request_bytes / profile.controller.lba_size.0;
    let write = |n| Command::write(nsid, n * nlb, nlb as u32, layout.directive(), 0);
    let writes = Source::new(Blocks::WRITE_DEPTH, (0..buffered + requests).map(write));
    let tally = writes.measure(&mut device, WarmUp::Requests(buffered), Until::End)?;
    Ok(tally.iops().unwrap_or(f64::NAN))
}
