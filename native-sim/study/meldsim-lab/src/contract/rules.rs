//! Rules 2 to 7, each kept and broken on one device.

use super::super::burst::Result;
use meldsim::device::{Device, Precondition};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Completion, Directive, NamespaceId};
use meldsim::profile::{ByteSize, Kind, Profile};
use meldsim_host::{Source, Tally, Until, WarmUp, measure, transfer};

/// What the rules call a chunk: 4 KiB [P].
pub(crate) const CHUNK_BYTES: u64 = 4096;
/// Sizes and depths at which random requests are held against sequential ones.
const SEQUENTIAL: [(u64, u64); 7] = [
    (4096, 1),
    (4096, 16),
    (4096, 32),
    (4096, 64),
    (65536, 1),
    (65536, 8),
    (65536, 64),
];
/// Readers of one chunk: one for each of its sectors of 512 B.
const READERS: u64 = 8;
/// Percentages of writes at full depth.
pub(super) const WRITE_PERCENT: [u64; 5] = [0, 25, 50, 75, 100];
/// Depth at which a device is busy.
pub(super) const FULL_DEPTH: u64 = 64;
/// Sizes of requests about tiny ones.
const TINY: [u64; 4] = [512, 1024, 2048, 4096];
/// Parts of the sustained writes, each with a bandwidth of its own.
const MOMENTS: u64 = 24;

/// More than a write buffer holds.
const WARM_UP_BYTES: u64 = 160 << 20;
/// Overwritten of a full device, of its capacity.
const SUSTAINED_PERCENT: u64 = 30;

/// A profile whose device is tested, in the states that the rules ask for.
#[derive(Clone, Debug)]
pub(crate) struct DeviceUnderTest {
    pub(crate) profile: Profile,
}

impl DeviceUnderTest {
    /// Bytes that random requests go to.
    pub(crate) const SPAN_BYTES: u64 = 1 << 30;
    /// Blocks of a plane of flash that is to be filled as a whole.
    const SMALL_BLOCKS: u32 = 96;
    /// Wordlines of these.
    const SMALL_WORDLINES: u32 = 64;
    /// Memory to be filled as a whole.
    const SMALL_BYTES: u64 = 4 << 30;

    pub(crate) fn lba_bytes(&self) -> u64 {
        self.profile.controller.lba_size.0
    }

    /// Data that was overwritten at random, in so many spans. Flash has each span on other dies.
    pub(super) fn used(&self, spans: u64) -> Result<(Device, NamespaceId)> {
        self.preconditioned(spans * DeviceUnderTest::SPAN_BYTES, 100)
    }

    /// Data that was written once, in order.
    pub(crate) fn in_order(&self) -> Result<(Device, NamespaceId)> {
        let mut device = Device::new(&self.profile)?;
        let nsid = device.create_namespace(DeviceUnderTest::SPAN_BYTES)?;
        device.preload(
            nsid,
            0,
            DeviceUnderTest::SPAN_BYTES / self.lba_bytes(),
            Directive::NONE,
        )?;
        Ok((device, nsid))
    }

    /// A small device of the kind, full: of data that was written in order, or overwritten at random
    /// until garbage collection was in steady state.
    fn full(&self, random_percent: u32) -> Result<(Device, NamespaceId)> {
        let mut small = self.clone();
        if small.profile.kind == Kind::Nand {
            small.profile.geometry.blocks_per_plane = DeviceUnderTest::SMALL_BLOCKS;
            small.profile.geometry.wordlines_per_block = DeviceUnderTest::SMALL_WORDLINES;
            small.profile.controller.capacity = ByteSize(0);
        } else {
            small.profile.xpoint.capacity.0 = DeviceUnderTest::SMALL_BYTES;
        }
        let bytes = Device::new(&small.profile)?.set_capacity_bytes(0);
        small.preconditioned(bytes, random_percent)
    }

    fn preconditioned(&self, bytes: u64, random_percent: u32) -> Result<(Device, NamespaceId)> {
        let mut device = Device::new(&self.profile)?;
        let nsid = device.create_namespace(bytes)?;
        device.precondition(&Precondition {
            fill_percent: 100,
            random_percent,
        })?;
        Ok((device, nsid))
    }
}

/// Random and sequential reads of one size and depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) request_bytes: u64,
    pub(super) depth: u64,
    pub(super) random_us: f64,
    pub(super) sequential_us: f64,
}

/// 4 KiB requests at full depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    pub(super) write_percent: u64,
    pub(super) iops: f64,
    pub(super) mean_us: f64,
}

/// Reads and writes of one size at full depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tiny {
    pub(super) request_bytes: u64,
    pub(super) read_mb_s: f64,
    pub(super) write_mb_s: f64,
}

/// What a device does with data that was written in order, under the rules of single requests.
#[derive(Clone, Debug)]
pub(super) struct InOrder {
    pub(super) orders: Vec<Order>,
    /// Mean latency of one-sector reads: of one chunk, and of a chunk each.
    pub(super) crowded_us: f64,
    pub(super) spread_us: f64,
    pub(super) tiny: Vec<Tiny>,
    /// Latency of 4 KiB reads and writes at depth 1, aligned and one sector off.
    pub(super) aligned_us: [f64; 2],
    pub(super) offset_us: [f64; 2],
    /// Large reads and writes at full depth, MB/s; 4 KiB reads at four times full depth.
    pub(super) large_mb_s: [f64; 2],
    pub(super) small_iops: f64,
}

/// What a device does with each rule kept and broken.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) in_order: InOrder,
    pub(super) mixes: Vec<Mix>,
    /// 4 KiB random overwrites of a full device, MB/s of each moment.
    pub(super) sustained_mb_s: Vec<f64>,
}

impl InOrder {
    pub(super) fn measure(under_test: &DeviceUnderTest, requests: u64) -> Result<InOrder> {
        let (mut device, nsid) = under_test.in_order()?;
        let mut bench = Bench {
            lba_bytes: under_test.lba_bytes(),
            device: &mut device,
            nsid,
            requests,
        };
        let orders = SEQUENTIAL
            .iter()
            .map(|&(bytes, depth)| bench.order(bytes, depth))
            .collect::<Result<_, _>>()?;
        let (crowded_us, spread_us) = (bench.sectors(true)?, bench.sectors(false)?);
        let large_read = bench.random(1 << 20, FULL_DEPTH, 0, 0)?;
        let small_iops = bench.random(CHUNK_BYTES, 4 * FULL_DEPTH, 0, 0)?.iops();
        let mut aligned_us = [0.0; 2];
        let mut offset_us = [0.0; 2];
        for (index, percent) in [0, 100].into_iter().enumerate() {
            aligned_us[index] = bench.random(CHUNK_BYTES, 1, percent, 0)?.mean_us();
            offset_us[index] = bench.random(CHUNK_BYTES, 1, percent, 1)?.mean_us();
        }
        let tiny = |request_bytes| {
            Ok(Tiny {
                request_bytes,
                read_mb_s: bench.random(request_bytes, FULL_DEPTH, 0, 0)?.mb_s(),
                write_mb_s: bench.random(request_bytes, FULL_DEPTH, 100, 0)?.mb_s(),
            })
        };
        let tiny = TINY.into_iter().map(tiny).collect::<Result<_>>()?;
        let large_write = bench.random(1 << 20, FULL_DEPTH, 100, 0)?;
        Ok(InOrder {
            orders,
            crowded_us,
            spread_us,
            tiny,
            aligned_us,
            offset_us,
            large_mb_s: [large_read.mb_s(), large_write.mb_s()],
            small_iops: small_iops.unwrap_or(f64::NAN),
        })
    }

    /// By how much more random reads take than sequential ones, where they differ most.
    pub(super) fn worst_order(&self) -> f64 {
        let difference = |order: &Order| (order.random_us / order.sequential_us - 1.0).abs();
        self.orders.iter().map(difference).fold(0.0, f64::max)
    }

    pub(super) fn crowding(&self) -> f64 {
        self.crowded_us / self.spread_us
    }

    /// Bandwidth of whole chunks against that of single sectors: of reads, and of writes.
    pub(super) fn tiny_loss(&self) -> [f64; 2] {
        let (Some(sector), Some(chunk)) = (self.tiny.first(), self.tiny.last()) else {
            return [f64::NAN; 2];
        };
        [
            chunk.read_mb_s / sector.read_mb_s,
            chunk.write_mb_s / sector.write_mb_s,
        ]
    }

    pub(super) fn offset_loss(&self) -> [f64; 2] {
        [0, 1].map(|index: usize| self.offset_us[index] / self.aligned_us[index])
    }
}

impl Rules {
    /// How far throughput varies with the share of writes.
    pub(super) fn mix_spread(&self) -> f64 {
        spread(self.mixes.iter().map(|mix| mix.iops))
    }

    /// How far throughput varies under sustained writes.
    pub(super) fn sustained_spread(&self) -> f64 {
        spread(self.sustained_mb_s.iter().copied())
    }
}

/// (most - least) / most.
fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (least, most) = values.fold((f64::MAX, 0.0_f64), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    1.0 - least / most
}

/// Loops on data that was written in order.
struct Bench<'a> {
    lba_bytes: u64,
    device: &'a mut Device,
    nsid: NamespaceId,
    requests: u64,
}

impl Bench<'_> {
    /// Requests at random multiples of their size, plus so many sectors; so many percent write.
    fn random(
        &mut self,
        bytes: u64,
        depth: u64,
        write_percent: u64,
        sectors_off: u64,
    ) -> Result<Tally> {
        let requests =
            (self.requests * CHUNK_BYTES / bytes).clamp(self.requests / 16, self.requests);
        let random = at_random(self.device, self.nsid, bytes, write_percent, sectors_off);
        Ok(Source::new(depth, random).measure_warm(self.device, requests)?)
    }

    fn order(&mut self, request_bytes: u64, depth: u64) -> Result<Order> {
        let random = self.random(request_bytes, depth, 0, 0)?;
        let positions = DeviceUnderTest::SPAN_BYTES / request_bytes;
        let (nsid, nlb) = (self.nsid, request_bytes / self.lba_bytes);
        let sequential = (0..).map(|n| Command::read(nsid, n % positions * nlb, nlb as u32, 0));
        let sequential =
            Source::new(depth, sequential).measure_warm(self.device, random.requests)?;
        Ok(Order {
            request_bytes,
            depth,
            random_us: random.mean_us(),
            sequential_us: sequential.mean_us(),
        })
    }

    /// Each of several readers reads a sector again and again: all of one chunk, or each of a chunk
    /// of its own, which are consecutive.
    fn sectors(&mut self, crowded: bool) -> Result<f64> {
        let (nsid, sectors) = (self.nsid, CHUNK_BYTES / self.lba_bytes);
        let reads = (0..READERS).map(|reader| {
            let chunk = if crowded { 0 } else { reader };
            Command::read(nsid, chunk * sectors + reader % sectors, 1, 0)
        });
        let tally = Source::new(READERS, reads.cycle()).measure_warm(self.device, self.requests)?;
        Ok(tally.mean_us())
    }
}

/// Random requests of `bytes` each, on and on.
fn at_random(
    device: &Device,
    nsid: NamespaceId,
    bytes: u64,
    write_percent: u64,
    sectors_off: u64,
) -> impl Iterator<Item = Command> + use<> {
    let nlb = bytes / device.profile().controller.lba_size.0;
    let size_lbas = device.namespace(nsid).map_or(0, |space| space.size_lbas);
    // The last place would reach beyond the end when off.
    let positions = size_lbas / nlb - 1;
    let mut random = Random::new(bytes ^ write_percent << 32);
    std::iter::repeat_with(move || {
        let slba = random.below(positions) * nlb + sectors_off;
        transfer(random.below(100) < write_percent, nsid, slba, nlb)
    })
}

/// A full device, in the steady state of random overwrites.
pub(super) fn mix(under_test: &DeviceUnderTest, write_percent: u64, requests: u64) -> Result<Mix> {
    let (mut device, nsid) = under_test.full(100)?;
    let mixed = at_random(&device, nsid, CHUNK_BYTES, write_percent, 0);
    // Beyond what the write buffer takes in.
    let warm_up = WarmUp::Requests(WARM_UP_BYTES / CHUNK_BYTES);
    let until = Until::Requests(4 * requests);
    let tally = Source::new(FULL_DEPTH, mixed).measure(&mut device, warm_up, until)?;
    Ok(Mix {
        write_percent,
        iops: tally.iops().unwrap_or(f64::NAN),
        mean_us: tally.mean_us(),
    })
}

/// Random overwrites of a full device that was written in order.
pub(super) fn sustained(under_test: &DeviceUnderTest) -> Result<Vec<f64>> {
    let (mut device, nsid) = under_test.full(0)?;
    let overwrites = Source::new(FULL_DEPTH, at_random(&device, nsid, CHUNK_BYTES, 100, 0));
    let bytes = device.set_capacity_bytes(0);
    let requests = bytes / 100 * SUSTAINED_PERCENT / CHUNK_BYTES / MOMENTS;
    let (mut moments, mut completed, mut start) = (Vec::new(), 0, device.now());
    let watch = |_: &Device, _, done: &Completion| {
        completed += 1;
        if completed % requests == 0 {
            let elapsed = done.completed - start;
            moments.push((requests * CHUNK_BYTES) as f64 / 1e6 / elapsed.as_secs_f64());
            start = done.completed;
        }
    };
    let until = Until::Requests(requests * MOMENTS);
    measure(&mut device, [overwrites], WarmUp::NONE, until, watch)?;
    Ok(moments)
}
