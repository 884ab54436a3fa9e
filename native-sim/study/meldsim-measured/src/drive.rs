//! The drives: which profile stands for which, and how a profile is made smaller.
//!
//! A drive is run with fewer and shorter blocks: the share of the flash that is spare, the dies and all times stay. What the
//! collector keeps free is some superblocks whatever their number, so a smaller drive gets these on top.

use super::csv::Row;
use super::sources::PAGE;
use meldsim::Duration;
use meldsim::profile::{ByteSize, Fdp, HostPath, Profile, ProfileErrors, Zones};

/// A drive that was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Its name in the files.
    pub name: &'static str,
    /// The built-in profile that stands for it.
    pub(super) profile: &'static str,
    /// Bytes that its host sees \[P\].
    pub capacity_bytes: u64,
    /// Bytes to flash for each that the host or collection writes: parity and metadata. Multiplies write amplification; the
    /// profile's program time has it already.
    pub(super) overhead: f64,
}

const fn drive(
    name: &'static str,
    profile: &'static str,
    capacity_bytes: u64,
    overhead: f64,
) -> Drive {
    Drive {
        name,
        profile,
        capacity_bytes,
        overhead,
    }
}

/// The overheads are those counted in `sequential_write.csv` and `waf_by_fill.csv` \[F\], or 1 where nothing was counted.
const DRIVES: [Drive; 12] = [
    drive("7450PRO", "7450-pro", 960_197_124_096, 1.028),
    drive("7450MAX", "7450-max", 800_166_076_416, 1.028),
    drive("P5520", "p5520", 1_920_383_410_176, 1.042),
    drive("PE8110", "pe8110", 960_197_124_096, 1.0),
    drive("PM9A3", "pm9a3", 960_197_124_096, 1.0),
    drive("CM7R", "cm7-r", 3_840_755_982_336, 1.0),
    drive("WD960", "wd-960", 960_197_124_096, 1.0),
    drive("980PRO", "980-pro", 1_000_204_886_016, 1.0),
    drive("ZN540", "zn540", 1_020_901_982_208, 1.0),
    // Its reads are those of the ZN540 at every depth within 0.5 %.
    drive("WDCONV", "zn540", 960_197_124_096, 1.0),
    drive("PM9D3A", "pm9d3a", 7_681_501_126_656, 1.0),
    drive("FADU", "fadu", 3_840_755_982_336, 1.0),
];

/// Superblocks that the collector keeps free, and those that are open.
const KEPT_SUPERBLOCKS: f64 = 5.0;
/// Superblocks at least, whatever the pages.
const SUPERBLOCKS: u64 = 64;

impl Drive {
    pub(super) fn find(name: &str) -> Option<Drive> {
        DRIVES.into_iter().find(|drive| drive.name == name)
    }

    /// A drive for which the profile of that name is tried.
    pub const fn tried(profile: &'static str, capacity_bytes: u64, overhead: f64) -> Drive {
        drive("drive", profile, capacity_bytes, overhead)
    }

    pub(super) fn has_zones(self, own: &Profile) -> bool {
        self.profile(own).is_ok_and(|profile| profile.has_zones())
    }

    /// A drive of zones with so many of them, which are as large, and with as many spare blocks.
    pub(super) fn with_zones(self, own: &Profile, zones: u32) -> Result<Profile, ProfileErrors> {
        let mut profile = self.profile(own)?;
        // Two for each active zone, and those that collection keeps.
        let spare = 2 * profile.zones.max_active + 8;
        profile.geometry.blocks_per_plane = zones + spare;
        profile.ftl.over_provisioning_percent = 100 * spare / (zones + spare);
        profile.controller.capacity = ByteSize(u64::from(zones) * profile.zone_capacity().0);
        Ok(profile)
    }

    /// The profile that stands for it: `own` if that has its name, else the built-in one.
    pub(super) fn profile(self, own: &Profile) -> Result<Profile, ProfileErrors> {
        match own.name == self.profile {
            true => Ok(own.clone()),
            false => Profile::builtin(self.profile),
        }
    }

    /// The drive with about so many pages of flash, in superblocks of so many rows, which are a wordline of every plane. With
    /// few rows the valid pages scatter more, the collector begins anew more often and has more of a superblock in hand; with
    /// few superblocks what is kept free weighs more.
    pub(super) fn smaller(self, mut profile: Profile, (pages, rows): (u64, u64)) -> Smaller {
        let (row_pages, page_bytes) = (row_pages(&profile), profile.mapping_unit().0);
        let geometry = &mut profile.geometry;
        let (blocks, wordlines) = (geometry.blocks_per_plane, geometry.wordlines_per_block);
        let raw_bytes = (row_pages * u64::from(blocks) * u64::from(wordlines) * page_bytes) as f64;

        let rows = rows.min(u64::from(wordlines));
        let superblock = rows * row_pages;
        let superblocks =
            (pages / superblock).clamp(SUPERBLOCKS, u64::from(blocks).max(SUPERBLOCKS));
        let kept = KEPT_SUPERBLOCKS * (1.0 - superblocks as f64 / f64::from(blocks)).max(0.0);
        geometry.wordlines_per_block = rows as u32;
        geometry.blocks_per_plane = (superblocks as f64 + kept).round() as u32;
        // What is not a whole superblock is the difference in bytes.
        let scale = (superblocks * superblock * page_bytes) as f64 / raw_bytes;
        let left = kept.round() - kept;
        let more_bytes = left * (superblock * page_bytes) as f64;
        // A die erases for the same share of its time.
        let erase_ps = profile.timing.erase.as_ps() as f64 * rows as f64 / f64::from(wordlines);
        profile.timing.erase = Duration::from_ps((erase_ps as u64).max(1_000_000));
        profile.ftl.over_provisioning_percent = 1;
        // No cell names a handle, and few blocks have room for few.
        profile.fdp = Fdp::default();
        profile.zones = Zones::default();
        // The namespace is as large as the drive's.
        profile.controller.capacity = ByteSize(0);
        // Requests are of pages, by their numbers.
        profile.controller.lba_size = ByteSize(PAGE);
        Smaller {
            drive: self,
            profile,
            scale,
            more_bytes,
        }
    }
}

/// A drive at a part of its capacity.
#[derive(Clone, Debug)]
pub(super) struct Smaller {
    pub(super) drive: Drive,
    pub(super) profile: Profile,
    /// Its capacity over the drive's.
    pub(super) scale: f64,
    /// Flash that rounding to whole superblocks gave it.
    more_bytes: f64,
}

impl Smaller {
    /// A part of the drive's bytes, in whole units. With the whole of the drive it is as full as the drive.
    pub(super) fn bytes(&self, bytes: u64, unit: u64) -> u64 {
        let share = bytes as f64 / self.drive.capacity_bytes as f64;
        let bytes = bytes as f64 * self.scale + self.more_bytes * share;
        ((bytes / unit as f64) as u64).max(1) * unit
    }

    /// Reached by this software, as where it was measured.
    pub(super) fn through(mut self, path: HostPath) -> Smaller {
        self.profile.host.path = path;
        self
    }

    /// With a write buffer that is as small as it may be. A real one is a smaller part of its drive, and rewrites that meet in
    /// it would be too many.
    pub(super) fn with_small_buffer(mut self) -> Smaller {
        self.profile.ftl.open_runs = 1;
        let units = u64::from(self.profile.units_per_wordline());
        let least = row_pages(&self.profile) + 2 * units;
        let own = self.profile.controller.write_buffer.0;
        self.profile.controller.write_buffer =
            ByteSize(own.min(least.next_multiple_of(256) * self.profile.mapping_unit().0));
        self
    }
}

/// By what software the host reached the drive, as a row's column `sw_path` begins.
pub fn reached_by(row: &Row) -> Result<HostPath, String> {
    let name = row.text("sw_path")?;
    let known = [
        ("SPDK", HostPath::Spdk),
        ("io_uring", HostPath::IoUring),
        ("libaio", HostPath::Libaio),
    ];
    let found = known.iter().find(|(start, _)| name.starts_with(start));
    found.map(|(_, path)| *path).ok_or_else(|| {
        let remedy = "begin it with SPDK, io_uring or libaio";
        row.wrong("sw_path", &format!("is \"{name}\""), remedy)
    })
}

/// The same of a file that need not say so.
pub(super) fn reached_by_or(row: &Row, path: HostPath) -> Result<HostPath, String> {
    match row.text("sw_path") {
        Ok(_) => reached_by(row),
        Err(_) => Ok(path),
    }
}

/// Pages, which are units of the mapping, of a wordline of every plane.
fn row_pages(profile: &Profile) -> u64 {
    let geometry = &profile.geometry;
    let planes = geometry.channels * geometry.dies_per_channel * geometry.planes_per_die;
    u64::from(planes * profile.units_per_wordline())
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::Device;

    #[test]
    fn every_drive_has_a_profile_that_holds_its_data_at_any_scale() {
        for drive in DRIVES {
            let own = Profile::builtin(drive.profile).unwrap();
            for pages in [(100_000, 2), (800_000, 8)] {
                let smaller = drive.smaller(own.clone(), pages).with_small_buffer();
                let mut device = Device::new(&smaller.profile).unwrap();
                let bytes = smaller.bytes(drive.capacity_bytes, 4096);
                let name = drive.name;
                assert!(device.create_namespace(bytes).is_ok(), "{name} {pages:?}");
                let capacity = device.stats().capacity_pages;
                assert!(capacity < 4 * pages.0, "{name} {pages:?}");
            }
        }
    }
}
