//! `[ftl]` and `[gc]`: the flash translation layer, where pages go and how room is made.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::check::{Checker, names, section};
use super::units::ByteSize;
use crate::engine::Duration;
use crate::policy::pacing::PacingPolicy;
use crate::policy::placement::PlacementPolicy;
use crate::policy::victim::VictimPolicy;
use crate::policy::wear::WearPolicy;

section! {
    /// `[ftl]`.
    #[non_exhaustive]
    Ftl = "ftl" {
        /// Share of the flash the host cannot fill. Unit: percent; range 1 to 90, and at least seven
        /// blocks of each plane; default 7 \[A\].
        over_provisioning_percent: u32 = 7, 1..=90;
        /// What decides on which plane a page lies: `dynamic`, the order of arrival, or `static`, the
        /// logical page; default `dynamic` \[A\].
        allocation: Allocation = Allocation::default();
        /// Where consecutive pages (melded: wordlines) go: the initials of channel, way, die and plane,
        /// the fastest-varying first. Default `CWDP` \[F\].
        page_allocation: PageAllocation = PageAllocation::default();
        /// With which data a page goes, when it is written and when it is moved: the name of a policy, such as `streams`,
        /// `isolated` or `sepbit`. Default `streams`.
        placement: PlacementPolicy = PlacementPolicy::default();
        /// In which order pages are programmed: `one-shot`, whole wordlines, or `shadow`, page by page,
        /// which needs `timing.program_pages`; default `one-shot` \[A\].
        program_order: ProgramOrder = ProgramOrder::default();
        /// What a read of some pages of a melded wordline does. `cheapest`: senses the pages one by one
        /// when that frees the die sooner. `whole-wordline`: always a melded read. Default `cheapest`.
        melded_partial_read: MeldedPartialRead = MeldedPartialRead::default();
        /// What the mapping has an entry for: a page, or a half or a quarter of one, such as 4 KiB of a page
        /// of 16 KiB. A read of less than a page senses the whole, and transfers what was asked for. `0B`: a
        /// page. Less than a page needs dynamic allocation. Unit: size; default 0B.
        mapping_unit: ByteSize = ByteSize(0);
        /// Sequential writers told apart: each may hold an unfinished wordline. Unit: count; range 1 to
        /// 4096; default 64 \[A\].
        open_runs: u32 = 64, 1..=4096;
        /// DRAM the mapping may take when the device is full: four bytes a page, five where a set has more than 2^32.
        /// Unit: size; default 4GiB \[A\].
        mapping_memory: ByteSize = ByteSize(4 << 30);
        /// What of the mapping is at hand. `table`: all of it. `cached`: what `map_cache` has room for; the rest is read
        /// from translation pages on flash. Default `table`.
        map: MapKind = MapKind::default();
        /// What `map = "cached"` has room for, in SRAM or in the host's memory: a `map_entry` each, and four bytes for
        /// each `map_line`. Each set has its share. Unit: size; range 1KiB to 64GiB; default 1MiB \[A\].
        map_cache: ByteSize = ByteSize(1 << 20), ByteSize(1 << 10)..=ByteSize(64 << 30);
        /// Consecutive entries that are cached and evicted together, the least recently used first. 0: those of a
        /// translation page, which is as large as a mapping unit. 1: each by itself, as in DFTL. Unit: count that divides
        /// those of a translation page; range 0 to 16384; default 0 \[A\].
        map_line: u32 = 0, 0..=16384;
        /// What an entry takes in the cache and on a translation page. Unit: size; range 4B to 64B; default 4B \[A\].
        map_entry: ByteSize = ByteSize(4), ByteSize(4)..=ByteSize(64);
        /// Which changed entries a translation page takes along when it is written. `batched`: all that are its own.
        /// `lazy`: those that are not cached any more. Default `batched`.
        map_update: MapUpdate = MapUpdate::default();
        /// Whether changes of the mapping are journalled on flash. `off`: not. `on-demand`: when
        /// `journal_buffer` is full, and the host's writes wait for room in it. `background`: also whenever
        /// the host has been idle for `gc.background_idle`. A flush writes what there is. Needs one-shot
        /// programs. Default `off`.
        journal: Journaling = Journaling::default();
        /// What the journal has of a page with a new place: a logical and a physical number. Unit: size;
        /// range 4B to 64B; default 8B \[A\].
        journal_entry: ByteSize = ByteSize(8), ByteSize(4)..=ByteSize(64);
        /// DRAM for what of the journal is not on flash; each set has its share, of whole pages. Unit: size;
        /// range 512B to 64MiB; default 1MiB \[A\].
        journal_buffer: ByteSize = ByteSize(1 << 20), ByteSize(512)..=ByteSize(64 << 20);
    }
}

section! {
    /// `[gc]`: garbage collection and wear levelling. Blocks here are what is collected at a time: a
    /// superblock with dynamic allocation, one block of one plane with static allocation.
    #[non_exhaustive]
    Gc = "gc" {
        /// Which block is collected: the name of a policy, such as `greedy`, `cost-benefit`, `windowed-greedy`,
        /// `d-choices`, `fifo` or `random`. Default `greedy`.
        victim: VictimPolicy = VictimPolicy::default();
        /// Blocks among which `windowed-greedy` chooses, those closed first. Unit: count; range 1 to
        /// 1048576; default 64 \[A\].
        window: u32 = 64, 1..=1 << 20;
        /// Also collect when the host is idle, not only when free blocks run out. Default false.
        background: bool = false;
        /// How long no command was outstanding before the host counts as idle. Unit: time; range 1us to
        /// 10s; default 1ms \[A\].
        background_idle: Duration = Duration::from_ms(1), Duration::from_us(1)..=Duration::from_ms(10_000);
        /// Collecting in the background ends when this share of the blocks is free. Unit: percent; range
        /// 1 to 90; default 3 \[A\].
        background_free_percent: u32 = 3, 1..=90;
        /// Re-decide the layout of what is moved: data read sequentially since it was written is melded,
        /// melded data read at random is not any more. Needs a device that melds and dynamic allocation.
        /// Default false.
        relayout: bool = false;
        /// Which free block is used next. `none`: the one with the lowest number. `dynamic`: the least
        /// worn. `static`: the same, and blocks that lag behind by more than `wear_threshold` erases are
        /// collected though their data is cold, which then goes to the most worn. Default `static`.
        wear_levelling: WearPolicy = WearPolicy::default();
        /// Erases by which a block may lag behind the most worn. Unit: count; range 1 to 1000000;
        /// default 100 \[A\].
        wear_threshold: u32 = 100, 1..=1_000_000;
        /// How collection shares the flash with the host's writes. `off`: it begins when free blocks run out,
        /// and the host waits for whole blocks. `credit`: host and collection take turns, as many pages as
        /// are freed. `burst`: the host waits while `burst_size` is freed. `throttle`: as `credit`, and
        /// writes enter the write buffer no faster than `throttle_iops`. Default `credit`.
        pacing: PacingPolicy = PacingPolicy::default();
        /// What a `burst` frees. Unit: size; range 64KiB to 64GiB; default 16MiB \[A\].
        burst_size: ByteSize = ByteSize(16 << 20), ByteSize(64 << 10)..=ByteSize(64 << 30);
        /// Rate at which writes enter the write buffer while a device with `throttle` collects: writes of 4 KiB a
        /// second, that of larger ones is less. Unit: count; range 1 to 100000000; default 100000 \[A\].
        throttle_iops: u32 = 100_000, 1..=100_000_000;
        /// On a die that reads for collection wait for, the host's reads go first, and only these suspend what
        /// the die executes. Otherwise reads go in the order of arrival. Default false \[A\].
        reads_yield: bool = false;
    }
}

names! {
    /// When changes of the mapping go to flash.
    #[non_exhaustive]
    Journaling {
        /// Never.
        #[default]
        Off = "off",
        /// When there is no room for more of them in DRAM.
        OnDemand = "on-demand",
        /// The same, and whenever the host is idle.
        Background = "background",
    }
}

names! {
    /// What of the mapping is at hand.
    #[non_exhaustive]
    MapKind {
        /// All of it, in DRAM.
        #[default]
        Table = "table",
        /// A part; the rest is read from flash.
        Cached = "cached",
    }
}

names! {
    /// Which changed entries a translation page takes along.
    #[non_exhaustive]
    MapUpdate {
        /// All that are its own.
        #[default]
        Batched = "batched",
        /// Those that are not cached any more.
        Lazy = "lazy",
    }
}

names! {
    /// What decides on which plane a page lies.
    #[non_exhaustive]
    Allocation {
        /// The order of arrival: consecutive writes go to one plane after the other.
        #[default]
        Dynamic = "dynamic",
        /// The logical page: page n always lies on the (n mod planes)-th plane of the allocation, a
        /// melded wordline by its number.
        Static = "static",
    }
}

names! {
    /// In which order pages are programmed.
    ProgramOrder {
        /// All pages of a wordline at once (full-sequence programming).
        #[default]
        OneShot = "one-shot",
        /// Page by page, a wordline's later pages after its neighbour's first: L0, L1, C0, L2, C1, M0, …
        Shadow = "shadow",
    }
}

names! {
    /// What a read of some pages of a melded wordline does.
    #[non_exhaustive]
    MeldedPartialRead {
        /// Single pages when that takes the die less time, else a melded read.
        #[default]
        Cheapest = "cheapest",
        /// Always a melded read.
        WholeWordline = "whole-wordline",
    }
}

/// A dimension of the device's parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Channels.
    Channel = 0,
    /// Packages of a channel.
    Way = 1,
    /// Dies of a package.
    Die = 2,
    /// Planes of a die.
    Plane = 3,
}

/// In which order consecutive pages go over channels, ways, dies and planes: the dimension that
/// varies fastest comes first. Written as the initials: `CWDP`. The default is the normal layout of
/// the published latencies, `CWDP`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageAllocation(u8);

impl PageAllocation {
    /// In the order in which Jung and Kandemir (HotStorage'12) list them.
    const NAMES: [&str; 24] = [
        "CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW", "WCDP", "WCPD", "WDCP", "WDPC", "WPCD",
        "WPDC", "DCWP", "DCPW", "DWCP", "DWPC", "DPCW", "DPWC", "PCWD", "PCDW", "PWCD", "PWDC",
        "PDCW", "PDWC",
    ];

    /// All of them, in the order in which Jung and Kandemir (HotStorage'12) list them.
    pub const ALL: [PageAllocation; 24] = {
        let mut all = [PageAllocation(0); 24];
        let mut index = 0;
        while index < all.len() {
            all[index] = PageAllocation(index as u8);
            index += 1;
        }
        all
    };

    /// The dimensions, the fastest-varying first.
    pub fn order(self) -> [Dimension; 4] {
        let name = self.name().as_bytes();
        std::array::from_fn(|digit| match name[digit] {
            b'C' => Dimension::Channel,
            b'W' => Dimension::Way,
            b'D' => Dimension::Die,
            _ => Dimension::Plane,
        })
    }

    fn name(self) -> &'static str {
        PageAllocation::NAMES[usize::from(self.0)]
    }
}

impl fmt::Display for PageAllocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PageAllocation {
    type Err = String;

    fn from_str(text: &str) -> Result<PageAllocation, String> {
        let named = |allocation: &PageAllocation| allocation.name() == text;
        PageAllocation::ALL.into_iter().find(named).ok_or_else(|| {
            format!(
                "is \"{text}\", which is no page allocation; name C (channel), W (way), D (die) and \
                 P (plane) once each, the fastest-varying first: CWDP"
            )
        })
    }
}

impl Serialize for PageAllocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for PageAllocation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PageAllocation, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_allocation_is_an_order_of_its_own() {
        let names: std::collections::BTreeSet<&str> = PageAllocation::NAMES.into();
        assert_eq!(names.len(), PageAllocation::ALL.len());
        use Dimension::{Channel, Die, Plane, Way};
        for (name, allocation) in PageAllocation::NAMES.into_iter().zip(PageAllocation::ALL) {
            assert_eq!(name.parse(), Ok(allocation));
            assert_eq!(allocation.to_string(), name);
            for dimension in [Channel, Way, Die, Plane] {
                assert!(allocation.order().contains(&dimension), "{name}");
            }
        }
        assert_eq!(
            PageAllocation::default().order(),
            [Channel, Way, Die, Plane]
        );
        let pdwc: PageAllocation = "PDWC".parse().unwrap();
        assert_eq!(pdwc.order(), [Plane, Die, Way, Channel]);
    }

    #[test]
    fn other_names_are_refused() {
        for name in ["", "cwdp", "CWD", "CWDD", "CWDPP", "channel-first"] {
            let error = name.parse::<PageAllocation>().unwrap_err();
            assert!(error.contains("; name C (channel)"), "{error}");
        }
    }
}
