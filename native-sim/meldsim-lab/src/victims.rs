//! `victim-policies`: write amplification of every victim policy there is, those of other crates too.

use crate::prelude::*;
use meldsim::device::{Device, Precondition};
use meldsim::engine::Random;
use meldsim::nvme::{Command, Directive};
use meldsim::policy::victim::VictimPolicy;
use meldsim::profile::{ByteSize, Profile};

pub(super) const VICTIM_POLICIES: Experiment = Experiment {
    name: "victim-policies",
    about: "Write amplification of every victim policy, by how skewed the writes are",
    paper: "B. Van Houdt: A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-based SSDs (SIGMETRICS 2013)",
    profile: "melded-tlc-8x8",
    plan,
    ..Experiment::DEFAULT
};

/// Percent of the writes, which go to the rest of 100 % of the pages: half of each is uniform.
const SKEWS: [u64; 3] = [50, 80, 90];
/// How often the device is written over before writes are counted, and while they are.
const PASSES: u64 = 4;
const DEPTH: usize = 16;
const SEED: u64 = 5;

struct Row {
    policy: VictimPolicy,
    /// By skew.
    amplification: [f64; SKEWS.len()],
}

/// Four dies with 96 superblocks, 12 % of them spare.
fn device(base: &Profile, policy: VictimPolicy) -> Profile {
    let mut profile = base.clone();
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 96;
    profile.geometry.wordlines_per_block = 32;
    profile.controller.capacity = ByteSize(0);
    profile.controller.write_buffer = ByteSize(1 << 20);
    profile.ftl.over_provisioning_percent = 12;
    // Windowed greedy among a third of them.
    profile.gc.window = 32;
    profile.gc.exact_victim = true;
    profile.gc.victim = policy;
    profile
}

fn amplification(profile: &Profile, skew: u64) -> Result<f64> {
    let mut device = Device::new(profile)?;
    let unit = profile.mapping_unit().0;
    let pages = device.stats().capacity_pages;
    let nsid = device.create_namespace(pages * unit)?;
    device.precondition(&Precondition::default())?;
    let lbas = unit / profile.controller.lba_size.0;
    let mut random = Random::new(SEED);
    let hot = pages * (100 - skew) / 100;
    let mut overwrite = |device: &mut Device| -> Result<_> {
        let before = device.stats();
        for _ in 0..PASSES * pages {
            let page = match random.below(100) < skew {
                true => random.below(hot),
                false => hot + random.below(pages - hot),
            };
            let write = Command::write(nsid, page * lbas, lbas as u32, Directive::NONE, 0);
            device.submit(&write)?;
            while device.outstanding() >= DEPTH && device.run_until_completion() {
                while device.pop_completion().is_some() {}
            }
        }
        Ok(device.stats().since(&before))
    };
    overwrite(&mut device)?;
    let counted = overwrite(&mut device)?;
    Ok(counted.write_amplification().unwrap_or(f64::NAN))
}

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let all = VictimPolicy::all().into_iter();
    let grid = all.flat_map(|policy| SKEWS.map(|skew| (policy, skew)));
    let measured = cells.each(grid, move |&(policy, skew)| {
        let profile = run.vary(device(&run.profile, policy))?;
        amplification(&profile, skew)
    });
    measured.then(|measured| {
        let amplifications = measured.chunks_exact(SKEWS.len());
        let rows = VictimPolicy::all().into_iter().zip(amplifications);
        let rows: Vec<Row> = rows
            .map(|(policy, measured)| Row {
                policy,
                amplification: std::array::from_fn(|skew| measured[skew]),
            })
            .collect();
        Some(outcome(run, &rows))
    })
}

fn outcome(run: &Run, rows: &[Row]) -> Outcome {
    let name = |skew: u64| match skew {
        50 => "uniform".to_owned(),
        skew => format!("{skew} % of the writes to {} %", 100 - skew),
    };
    let bars = |row: &Row| (row.policy.to_string(), row.amplification.map(Some).to_vec());
    let chart = BarChart {
        title: "Write amplification by victim policy".to_owned(),
        axis: "bytes programmed / bytes written".to_owned(),
        series: SKEWS.map(name).to_vec(),
        groups: rows.iter().map(bars).collect(),
    };
    run.report("Random overwrites of single pages on a full device, counted once it has been written over four times, for each policy that is registered.")
        .assumed("96 superblocks of 384 pages, 12 % of them spare; `gc.window` is 32; hot and cold pages share their logs")
        .sheet(
            Sheet::of("policies", rows)
                .cell("policy", "policy", |row| row.policy.as_str())
                .number("uniform", "uniform", 3, |row| row.amplification[0])
                .number("skew_80", "80/20", 3, |row| row.amplification[1])
                .number("skew_90", "90/10", 3, |row| row.amplification[2])
                .cell("about", "collects", |row| row.policy.about()),
        )
        .figure(chart, "The lower the better. Greedy is the best where all pages are alike.")
}
