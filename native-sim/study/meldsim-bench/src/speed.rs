//! The workloads by which the simulator's own speed is measured, and the bars it must pass. The clock is the caller's.

use meldsim::nvme::Pattern;
use meldsim::profile::{Profile, SetLayout};
use meldsim_workload::{Distribution, Job, Past, ReadWrite, RunError, Runner};

/// The device of the bars: 8 channels of 8 dies.
const PROFILE: &str = "melded-tlc-8x8";
/// The memory of its bar.
const XPOINT: &str = "optane-900p";
/// A device of half a terabyte, whose map no cache holds once random writes have scattered it.
const LARGE: &str = "flash-970pro";
/// Data in place before a run.
const DATA_BYTES: u64 = 64 << 30;
/// Nearly all that the device's host can fill, so that garbage collection has work.
const FULL_BYTES: u64 = 120 << 30;
/// The same of the large device.
const LARGE_BYTES: u64 = 470 << 30;
/// Of a mix, the percentage of reads.
const MIX_READS: u32 = 70;
const PAGE_BYTES: u64 = 4096;

/// Runs of which the fastest counts.
const RUNS: u32 = 5;

/// What a bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Requests of the host.
    Requests,
    /// Pages of 4 KiB in the host's requests.
    Pages,
}

/// A workload whose simulation is timed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SpeedTest {
    /// What it is.
    pub name: String,
    /// The built-in profile of the device.
    pub device: &'static str,
    /// The requests.
    pub job: Job,
    /// Whether the device must be in the steady state of random overwrites before.
    pub steady_state: bool,
    /// Whether the full design of the firmware pipeline is in front of the flash.
    pub has_firmware: bool,
    /// Vertical NVM sets of the device, if there are several; each has a job.
    pub sets: u32,
    /// What is counted.
    pub counted: Counted,
    /// The bar: so many at least in a second on one thread.
    pub least_per_s: f64,
    /// So many runs are timed, and the fastest counts: few where the state before takes long.
    pub runs: u32,
}

impl SpeedTest {
    /// A trace whose replay is timed: TPC-C, 6,999 requests, from MQSim (MIT licence: `data/tpcc-small.LICENSE`).
    pub const TRACE: &str = include_str!("../data/tpcc-small.trace");

    /// A trace recorded on an HDFS DataNode whose replay is timed: lookups in a table, and a scan beside them. By gzip.
    pub const HDFS_TRACE: &[u8] = include_bytes!("../data/hdfs-lookup.meld.gz");

    /// Requests of 4 KiB at random, at depth 64.
    fn random(name: &str, rw: ReadWrite, size_bytes: u64, requests: u64) -> SpeedTest {
        SpeedTest {
            name: name.to_owned(),
            device: PROFILE,
            job: Job {
                rw,
                distribution: Distribution::Uniform,
                iodepth: 64,
                size_bytes,
                io_bytes: Some(requests * PAGE_BYTES),
                ..Job::new(name)
            },
            steady_state: false,
            has_firmware: false,
            sets: 1,
            counted: Counted::Requests,
            least_per_s: 500e3,
            runs: RUNS,
        }
    }

    /// 4 KiB random reads at depth 64.
    pub fn random_reads(requests: u64) -> SpeedTest {
        let name = "4 KiB random reads, depth 64";
        SpeedTest {
            least_per_s: 1.2e6,
            ..SpeedTest::random(name, ReadWrite::RandRead, DATA_BYTES, requests)
        }
    }

    /// The same of a drive with all that its dies, its host interface and its mapping do: the one that `run` takes by default, another,
    /// and one whose mapping is cached.
    pub fn of_drive(device: &'static str, requests: u64) -> SpeedTest {
        let test = SpeedTest::random_reads(requests);
        SpeedTest {
            name: format!("{}, {device}", test.name),
            device,
            least_per_s: 800e3,
            ..test
        }
    }

    /// The same of a device of half a terabyte that random writes have filled: hardly two pages that follow each other
    /// lie beside each other, so that every lookup of the map is one of memory.
    pub fn scattered_reads(requests: u64) -> SpeedTest {
        let name = "4 KiB random reads, depth 64, scattered map of 0.5 TB";
        SpeedTest {
            device: LARGE,
            steady_state: true,
            runs: 2,
            ..SpeedTest::random(name, ReadWrite::RandRead, LARGE_BYTES, requests)
        }
    }

    /// 4 KiB at random, reads and writes, at depth 64 of a full device in steady state.
    pub fn mixed(requests: u64) -> SpeedTest {
        let name = "4 KiB random, 70 % reads, steady state";
        let mut test = SpeedTest {
            steady_state: true,
            ..SpeedTest::random(name, ReadWrite::RandReadWrite, FULL_BYTES, requests)
        };
        test.job.rwmixread = MIX_READS;
        test
    }

    /// The same behind the firmware pipeline.
    pub fn firmware(requests: u64) -> SpeedTest {
        let name = "4 KiB random reads, depth 64, firmware pipeline";
        SpeedTest {
            has_firmware: true,
            ..SpeedTest::random(name, ReadWrite::RandRead, DATA_BYTES, requests)
        }
    }

    /// So many at depth 64 of each of four NVM sets, which share nothing: they may be simulated at once.
    pub fn independent_sets(requests: u64) -> SpeedTest {
        const SETS: u32 = 4;
        let name = "4 KiB random reads of 4 independent NVM sets";
        let bytes = DATA_BYTES / u64::from(SETS);
        let mut test = SpeedTest {
            sets: SETS,
            ..SpeedTest::random(name, ReadWrite::RandRead, bytes, requests)
        };
        test.job.numjobs = SETS;
        test
    }

    /// 4 KiB random reads at depth 64 of 3D XPoint memory.
    pub fn xpoint(requests: u64) -> SpeedTest {
        let name = "4 KiB random reads, depth 64, Optane";
        SpeedTest {
            device: XPOINT,
            ..SpeedTest::random(name, ReadWrite::RandRead, DATA_BYTES, requests)
        }
    }

    /// 4 KiB random overwrites at depth 64 of a full device in steady state: garbage collection takes turns with them (pacing `credit`).
    pub fn overwrites(requests: u64) -> SpeedTest {
        let name = "4 KiB random overwrites, steady state";
        SpeedTest {
            steady_state: true,
            ..SpeedTest::random(name, ReadWrite::RandWrite, FULL_BYTES, requests)
        }
    }

    /// 128 KiB sequential reads at depth 8, of data in the layout for `pattern`.
    pub fn sequential_reads(pages: u64, pattern: Pattern) -> SpeedTest {
        let name = match pattern {
            Pattern::Sequential => "128 KiB sequential reads, depth 8, melded",
            _ => "128 KiB sequential reads, depth 8",
        };
        let mut test = SpeedTest {
            counted: Counted::Pages,
            least_per_s: 10e6,
            ..SpeedTest::random(name, ReadWrite::Read, DATA_BYTES, 0)
        };
        test.job.distribution = Distribution::Once;
        test.job.block_bytes = 128 << 10;
        test.job.iodepth = 8;
        test.job.io_bytes = Some((pages * PAGE_BYTES).next_multiple_of(128 << 10));
        test.job.read_pattern = pattern;
        test
    }

    /// The device in the state that the workload is about, and the workload. Running it is what is timed.
    ///
    /// # Errors
    ///
    /// As [`Runner::new`] and [`Runner::precondition`].
    pub fn runner(&self) -> Result<Runner, RunError> {
        let mut profile = Profile::builtin(self.device)?;
        if self.has_firmware {
            profile.firmware.design = meldsim_firmware::register().pipeline;
        }
        if self.sets > 1 {
            profile.sets.layout = SetLayout::Vertical;
            profile.sets.count = self.sets;
        }
        let runner = Runner::new(&profile, std::slice::from_ref(&self.job))?;
        match self.steady_state {
            true => runner.precondition(&Past::default()),
            false => Ok(runner),
        }
    }

    /// Which pass of the counted ones the job makes.
    pub fn count(&self) -> u64 {
        let unit = match self.counted {
            Counted::Requests => self.job.block_bytes,
            Counted::Pages => PAGE_BYTES,
        };
        u64::from(self.job.numjobs) * self.job.total_bytes() / unit
    }

    /// The device of the bars.
    pub fn profile() -> Profile {
        SpeedTest::profile_of(0)
    }

    /// A device like it whose host can fill at least `bytes` bytes.
    pub fn profile_of(bytes: u64) -> Profile {
        let mut profile = match Profile::builtin(PROFILE) {
            Ok(profile) => profile,
            Err(error) => unreachable!("presets are good: {error}"),
        };
        let geometry = &mut profile.geometry;
        let dies = u64::from(geometry.channels * geometry.dies_per_channel);
        let wordlines = dies * u64::from(geometry.planes_per_die * geometry.wordlines_per_block);
        let superblock = wordlines * profile.timing.read.len() as u64 * geometry.page_size.0;
        let spare_percent = u64::from(profile.ftl.over_provisioning_percent);
        let blocks = bytes.div_ceil(100 - spare_percent) * 100 / superblock + 1;
        // Other blocks are withheld, too.
        let blocks = blocks + blocks / 100;
        geometry.blocks_per_plane = geometry
            .blocks_per_plane
            .max(u32::try_from(blocks).unwrap_or(u32::MAX));
        profile.ftl.mapping_memory.0 = profile.ftl.mapping_memory.0.max(bytes / PAGE_BYTES * 16);
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Device;

    #[test]
    fn devices_are_as_large_as_asked_for() {
        for bytes in [500_000_000_000, 8_000_000_000_000] {
            let device = Device::new(&SpeedTest::profile_of(bytes)).unwrap();
            let capacity = device.stats().capacity_pages * PAGE_BYTES;
            assert!(
                (bytes..bytes + bytes / 25).contains(&capacity),
                "{bytes} {capacity}"
            );
        }
    }

    #[test]
    fn jobs_are_possible_and_counted() {
        for (test, count) in [
            (SpeedTest::random_reads(1000), 1000),
            (SpeedTest::sequential_reads(1024, Pattern::None), 1024),
            (SpeedTest::overwrites(1000), 1000),
            (SpeedTest::firmware(1000), 1000),
            (SpeedTest::mixed(1000), 1000),
            (SpeedTest::independent_sets(1000), 4000),
            (SpeedTest::scattered_reads(1000), 1000),
        ] {
            test.job.validate().unwrap();
            assert_eq!(test.count(), count);
        }
    }
}
