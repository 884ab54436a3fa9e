//! `hdfs-lifetimes`: blocks of HDFS placed by how long they will live.
//!
//! ```text
//!   churn (what is written, and when it dies) --> volume (slots of a device) --> amplification
//!                                 deletions --> lifetimes (class of each family) --> handle of the next block
//! ```

mod churn;
mod lifetimes;
mod volume;
mod zone_log;

use churn::{Churn, KINDS};
use lifetimes::CLASSES;
use meldsim::policy::placement::PlacementPolicy;
use meldsim::profile::{ByteSize, Profile};
use meldsim_lab::prelude::*;
use volume::{DRIVE_WRITES_A_DAY, Measured, measure};
use zone_log::LOGS;

/// Blocks of HDFS placed by how long they will live.
pub const HDFS_LIFETIMES: Experiment = Experiment {
    name: "hdfs-lifetimes",
    about: "Write amplification under HDFS when blocks are placed by how long they will live",
    paper: PAPER,
    profile: "fadu",
    options: Options::Scale,
    takes_minutes: true,
    plan,
    ..Experiment::DEFAULT
};

const PAPER: &str = "NVM Express TP4146 (flexible data placement), on what HDFS writes and deletes";

/// What is known of a block's life when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knowledge {
    /// Nothing: one handle.
    None,
    /// What the drive infers from overwrites.
    Drive,
    /// Whether its path is a scratch folder's.
    Path,
    /// How long blocks of its family lived that were deleted.
    History,
    /// As much, on a drive that keeps handles apart when it collects.
    Isolated,
    /// As much, on a drive with streams in place of handles.
    Streams,
    /// As much, on a zoned drive, whose host moves data.
    Zones,
    /// When it will be deleted.
    Perfect,
}

impl Knowledge {
    const ALL: [Knowledge; 8] = [
        Knowledge::None,
        Knowledge::Drive,
        Knowledge::Path,
        Knowledge::History,
        Knowledge::Isolated,
        Knowledge::Streams,
        Knowledge::Zones,
        Knowledge::Perfect,
    ];

    fn name(self) -> &'static str {
        match self {
            Knowledge::None => "nothing",
            Knowledge::Drive => "the drive's inference",
            Knowledge::Path => "path",
            Knowledge::History => "deletions of before",
            Knowledge::Isolated => "deletions, isolated",
            Knowledge::Streams => "deletions, streams",
            Knowledge::Zones => "deletions, zones",
            Knowledge::Perfect => "time of deletion",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Knowledge::None => "one handle",
            Knowledge::Drive => "no handles; ftl.placement sepbit",
            Knowledge::Path => "two handles: scratch folders, and the rest",
            Knowledge::History => "eight handles, by the mean life of the family's deleted blocks",
            Knowledge::Isolated => "the same, handles persistently isolated",
            Knowledge::Streams => "the same, seven streams (directive type 1) and no stream",
            Knowledge::Zones => {
                "the same, a log of zones for each class and one for what the host moves"
            }
            Knowledge::Perfect => "eight handles, by the block's own life",
        }
    }
}

/// Days that are simulated, and of those the last that count.
#[derive(Clone, Copy, Debug)]
struct Days {
    all: u32,
    counted: u32,
}

const FULL: Days = Days {
    all: 100,
    counted: 50,
};

const QUICK: Days = Days {
    all: 20,
    counted: 10,
};

const SEEDS: [u64; 3] = [1, 2, 3];

/// Program and erase cycles of TLC \[A\].
const CYCLES: f64 = 3000.0;

/// Years for which drives are warranted \[A\].
const WARRANTY_YEARS: f64 = 5.0;

/// What classes give at least, of what perfect knowledge gives.
const LEAST_SHARE: f64 = 0.5;

/// One handle: nothing can be kept apart.
const NO_HANDLES: Change = Change::set("fadu", &["fdp.handles=1"]);

/// One run for each seed.
type BySeed = [Measured; SEEDS.len()];

fn mean(of: &BySeed, value: fn(&Measured) -> f64) -> f64 {
    of.iter().map(value).sum::<f64>() / SEEDS.len() as f64
}

/// The device at 1/2048, with blocks of HDFS of the same part of a reclaim unit.
fn device(base: &Profile, knowledge: Knowledge) -> Profile {
    let mut profile = base.clone();
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    // A reclaim unit of 4 MiB.
    profile.geometry.wordlines_per_block = 22;
    profile.fdp.reclaim_unit = ByteSize(0);
    profile.ftl.mapping_unit = base.geometry.page_size;
    let raw = profile.reclaim_unit().0 * u64::from(profile.geometry.blocks_per_plane);
    let published = base.reclaim_unit().0 * u64::from(base.geometry.blocks_per_plane);
    let share = base.controller.capacity.0 as f64 / published as f64;
    let unit = profile.mapping_unit().0;
    profile.controller.capacity = ByteSize((raw as f64 * share) as u64 / unit * unit);
    profile.controller.write_buffer = ByteSize(2 << 20);
    match knowledge {
        Knowledge::Drive => {
            profile.fdp.handles = 0;
            profile.ftl.placement = PlacementPolicy::named("sepbit");
        }
        Knowledge::Isolated => profile.ftl.placement = PlacementPolicy::named("isolated"),
        Knowledge::Streams => profile.fdp.handles = 0,
        Knowledge::Zones => {
            profile.fdp.handles = 0;
            profile.controller.lba_size = profile.mapping_unit();
            // The host has the spare, but for two superblocks of each active zone and a few, and a wordline of each is gathered.
            profile.controller.capacity = ByteSize(0);
            profile.ftl.over_provisioning_percent = 5;
            profile.controller.write_buffer = ByteSize(3 << 20);
            profile.zones.size = profile.zone_capacity();
            (profile.zones.max_active, profile.zones.max_open) = (LOGS as u32, LOGS as u32);
        }
        _ => {}
    }
    profile
}

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let days = run.scale.choose(QUICK, FULL);
    let grid = Knowledge::ALL.into_iter();
    let grid = grid.flat_map(|knowledge| SEEDS.map(|seed| (knowledge, seed)));
    let measured = cells.each(grid, move |&(knowledge, seed)| {
        let volume = device(&run.profile, Knowledge::None).controller.capacity;
        let profile = device(&run.profile, knowledge);
        measure(&profile, knowledge, days, seed, volume.0)
    });
    measured.then(move |measured| {
        let seeds = measured.chunks_exact(SEEDS.len());
        let rows = Knowledge::ALL.into_iter().zip(seeds);
        let rows = rows.map(|(knowledge, seeds)| {
            let seeds: BySeed = std::array::from_fn(|seed| seeds[seed].clone());
            (knowledge, seeds)
        });
        Some(outcome(run, days, &rows.collect::<Vec<_>>()))
    })
}

fn outcome(run: &Run, days: Days, rows: &[(Knowledge, BySeed)]) -> Outcome {
    let about = format!(
        "Files of {} families are written and deleted on a full volume of HDFS for {} days, {DRIVE_WRITES_A_DAY} drive writes a day; \
         the last {} days count. A handle takes the blocks of one class of lifetimes.",
        Churn::families(),
        days.all,
        days.counted
    );
    let kinds = KINDS.map(|kind| format!("{} {} %", kind.name, kind.share));
    let years = |amplification: f64| CYCLES / (DRIVE_WRITES_A_DAY * amplification * 365.0);
    let chart = DotPlot::of(
        "Write amplification by what is known of a block's life",
        "bytes programmed / bytes written",
        ["mean of the seeds"],
        rows,
        |(knowledge, seeds)| {
            let amplification = mean(seeds, |of| of.amplification);
            (knowledge.name().to_owned(), [amplification])
        },
    );
    run.report(about)
        .assumed("the device is the profile at 1/2048: 484 reclaim units of 64 blocks of HDFS each")
        .assumed(format!("bytes written: {}", kinds.join(", ")))
        .assumed("lifetimes are lognormal; a file has 8 blocks on average and is deleted as a whole; 16 files are written at a time")
        .assumed("the zoned device has the same flash and a volume of the same size; the host uses the other zones as spare")
        .assumed(format!("{CYCLES:.0} program and erase cycles"))
        .assumed("reads are 32 KiB of live blocks, one for every four writes of that size, 16 requests outstanding")
        .sheet(
            Sheet::of("placement", rows)
                .cell("known", "known of a block", |(knowledge, _)| knowledge.name())
                .number("seed_1", "seed 1", 3, |(_, seeds)| seeds[0].amplification)
                .number("seed_2", "seed 2", 3, |(_, seeds)| seeds[1].amplification)
                .number("seed_3", "seed 3", 3, |(_, seeds)| seeds[2].amplification)
                .number("years", "years of life", 1, move |(_, seeds)| {
                    years(mean(seeds, |of| of.amplification))
                })
                .number("drive_writes_a_day", "drive writes a day for 5 years", 2, |(_, seeds)| {
                    CYCLES / (mean(seeds, |of| of.amplification) * 365.0 * WARRANTY_YEARS)
                })
                .number("p99_9_us", "reads p99.9 us", 0, |(_, seeds)| {
                    mean(seeds, |of| of.p99_9_us)
                })
                .number("fill", "slots in use", 3, |(_, seeds)| mean(seeds, |of| of.fill))
                .count("refused", "blocks refused", |(_, seeds)| {
                    seeds.iter().map(|of| of.refused).sum::<u64>()
                })
                .cell("about", "how it is placed", |(knowledge, _)| knowledge.about()),
        )
        .figure(chart, "The lower the better. HDFS knows when data dies; the drive can only guess.")
        .claims(vec![claim(rows)])
}

fn claim(rows: &[(Knowledge, BySeed)]) -> Claim {
    let of = |wanted: Knowledge| rows.iter().find(|(knowledge, _)| *knowledge == wanted);
    let share = |seed: usize| {
        let amplification = |wanted| of(wanted).map_or(f64::NAN, |(_, s)| s[seed].amplification);
        let none = amplification(Knowledge::None);
        (none - amplification(Knowledge::History)) / (none - amplification(Knowledge::Perfect))
    };
    let shares: [f64; SEEDS.len()] = std::array::from_fn(share);
    Claim::predicted(
        "hdfs-lifetimes.learned",
        "classes are learned from deletions alone; no number of the device was fitted to it",
    )
    .statement("classes learned from deletions, against perfect knowledge of each block's deletion, on three seeds")
    .expected("at least half of what perfect knowledge saves")
    .measured(shares.map(|share| format!("{share:.2}")).join(", "))
    .when(Bound::Own, format!("each share is at least {LEAST_SHARE}"))
    .holds(shares.iter().all(|&share| share >= LEAST_SHARE))
    .fails_with(NO_HANDLES)
}

const _: () = assert!(CLASSES == 8, "the profile has eight handles");

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim_host::all_cores;
    use meldsim_measured::Scale;

    #[test]
    fn the_claim_holds_and_without_handles_it_does_not() {
        let quick = || {
            let mut run = Run::new(&HDFS_LIFETIMES, Profile::builtin("fadu").unwrap()).unwrap();
            run.scale = Scale::Quick;
            run
        };
        let holds = |run: Run| run.outcome(all_cores(), &|_| {}).unwrap().claims[0].holds;
        assert!(holds(quick()));
        assert!(!holds(quick().changed(NO_HANDLES).unwrap()));
    }
}
