//! `ftl-policies`: write amplification of every victim and placement policy there is, those of other crates too.

use crate::prelude::*;
use meldsim::device::{Device, Precondition};
use meldsim::engine::Random;
use meldsim::policy::placement::PlacementPolicy;
use meldsim::policy::victim::VictimPolicy;
use meldsim::profile::{ByteSize, Profile};
use meldsim_host::{Source, Until, WarmUp, measure, transfer};

pub(super) const FTL_POLICIES: Experiment = Experiment {
    name: "ftl-policies",
    about: "Write amplification of every victim and placement policy, by how skewed the writes are",
    paper: "B. Van Houdt: A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-based SSDs (SIGMETRICS 2013); Q. Wang and others: Separating Data via Block Invalidation Time Inference (FAST 2022)",
    profile: "melded-tlc-8x8",
    plan,
    ..Experiment::DEFAULT
};

/// Percent of the writes, which go to the rest of 100 % of the pages: half of each is uniform.
const SKEWS: [u64; 3] = [50, 80, 90];
/// How often the device is written over before writes are counted, and while they are.
const PASSES: u64 = 4;
const DEPTH: u64 = 16;
const SEED: u64 = 5;

/// A policy in the place of the default.
#[derive(Clone, Copy)]
struct Variant {
    key: &'static str,
    name: &'static str,
    about: &'static str,
    victim: VictimPolicy,
    placement: PlacementPolicy,
}

/// Each victim policy, and each placement policy with cost-benefit.
fn variants() -> Vec<Variant> {
    let victims = VictimPolicy::all().into_iter().map(|victim| Variant {
        key: "gc.victim",
        name: victim.as_str(),
        about: victim.about(),
        victim,
        placement: PlacementPolicy::default(),
    });
    let told_apart = PlacementPolicy::all().into_iter().skip(1);
    let placements = told_apart.map(|placement| Variant {
        key: "ftl.placement",
        name: placement.as_str(),
        about: placement.about(),
        victim: VictimPolicy::named("cost-benefit"),
        placement,
    });
    victims.chain(placements).collect()
}

struct Measured {
    variant: Variant,
    /// By skew.
    amplification: [f64; SKEWS.len()],
}

/// Four dies with 192 superblocks, 12 % of them spare.
fn device(base: &Profile, variant: Variant) -> Profile {
    let mut profile = base.clone();
    profile.geometry.channels = 2;
    profile.geometry.dies_per_channel = 2;
    profile.geometry.blocks_per_plane = 192;
    profile.geometry.wordlines_per_block = 16;
    profile.controller.capacity = ByteSize(0);
    profile.controller.write_buffer = ByteSize(1 << 20);
    profile.ftl.over_provisioning_percent = 12;
    // Windowed greedy among a third of them.
    profile.gc.window = 64;
    profile.gc.victim = variant.victim;
    profile.ftl.placement = variant.placement;
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
    let writes = std::iter::repeat_with(|| {
        let page = match random.below(100) < skew {
            true => random.below(hot),
            false => hot + random.below(pages - hot),
        };
        transfer(true, nsid, page * lbas, lbas)
    });
    let (warm_up, until) = (
        WarmUp::Requests(PASSES * pages),
        Until::Requests(PASSES * pages),
    );
    let writes = [Source::new(DEPTH, writes)];
    let measured = measure(&mut device, writes, warm_up, until, |_, _, _| {})?;
    let counted = measured.after.since(&measured.before);
    Ok(counted.write_amplification().unwrap_or(f64::NAN))
}

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let all = variants().into_iter();
    let grid = all.flat_map(|variant| SKEWS.map(|skew| (variant, skew)));
    let measured = cells.each(grid, move |&(variant, skew)| {
        let profile = run.vary(device(&run.profile, variant))?;
        amplification(&profile, skew)
    });
    measured.then(|measured| {
        let amplifications = measured.chunks_exact(SKEWS.len());
        let all = variants().into_iter().zip(amplifications);
        let all = all.map(|(variant, measured)| Measured {
            variant,
            amplification: std::array::from_fn(|skew| measured[skew]),
        });
        Some(outcome(run, &all.collect::<Vec<_>>()))
    })
}

fn outcome(run: &Run, all: &[Measured]) -> Outcome {
    let name = |skew: u64| match skew {
        50 => "uniform".to_owned(),
        skew => format!("{skew} % of the writes to {} %", 100 - skew),
    };
    let names = SKEWS.map(name);
    let series = names.each_ref().map(String::as_str);
    let title = "Write amplification by policy";
    let chart = DotPlot::of(
        title,
        "bytes programmed / bytes written",
        series,
        all,
        |of| (of.variant.name.to_owned(), of.amplification),
    );
    run.report("Random overwrites of single pages on a full device, counted once it has been written over four times, for each policy that is registered.")
        .assumed("192 superblocks of 192 pages, 12 % of them spare; `gc.window` is 64. Victim policies are compared with placement `streams`, placement policies with victims by `cost-benefit`")
        .sheet(
            Sheet::of("policies", all)
                .cell("key", "key", |of| of.variant.key)
                .cell("policy", "policy", |of| of.variant.name)
                .number("uniform", "uniform", 3, |of| of.amplification[0])
                .number("skew_80", "80/20", 3, |of| of.amplification[1])
                .number("skew_90", "90/10", 3, |of| of.amplification[2])
                .cell("about", "what it does", |of| of.variant.about),
        )
        .figure(chart, "The lower the better. Greedy is the best where all pages are alike.")
}
