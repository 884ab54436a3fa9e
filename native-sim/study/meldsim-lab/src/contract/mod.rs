//! `optane-contract`: the seven rules of the unwritten contract of an Optane SSD, each kept and broken, on it and on flash.

mod heat;
pub(super) mod rules;
mod sheets;

use self::heat::Cell;
use self::rules::{DeviceUnderTest, InOrder, Rules};
use crate::prelude::*;
use meldsim::profile::Profile;
use meldsim_measured::Scale;

pub(super) const OPTANE_CONTRACT: Experiment = Experiment {
    name: "optane-contract",
    about: "The seven rules of an Optane SSD's unwritten contract, on it and on flash",
    paper: PAPER,
    profile: OPTANE,
    beside: Some(FLASH),
    request_unit: Some(512),
    options: Options::Scale,
    plan,
    ..Experiment::DEFAULT
};

pub(super) const PAPER: &str =
    "\"Towards an Unwritten Contract of Intel Optane SSD\" (HotStorage'19)";
const OPTANE: &str = "optane-900p";
/// The flash that Optane is held against.
pub(super) const FLASH: &str = "flash-970pro";
/// How far the ratios of rules 3, 5 and 6 may be from the published ones, which have one or two digits.
const RATIO_TOLERANCE: f64 = 0.05;
/// What is flat, or the same.
const FLAT: f64 = 0.05;
/// How far rates and times of flash may be from the published round numbers.
const ROUND_TOLERANCE: f64 = 0.1;
/// Published ratios of rules 3, 5 and 6.
const CROWDING: f64 = 4.6;
const TINY_LOSS: f64 = 5.0;
const OFFSET_LOSS: f64 = 1.2;

/// Everything measured.
struct Contract {
    reads: Vec<Cell>,
    /// The same, held against the other reading of the published map.
    shifted: Vec<Cell>,
    writes: Vec<Cell>,
    optane: Rules,
    flash: Rules,
}

/// What is measured of one device: the cells of the heat maps, in microseconds, and the other rules.
struct OfDevice {
    reads: Vec<f64>,
    writes: Vec<f64>,
    rules: Rules,
}

/// Requests of 4 KiB that one number is the mean of.
fn requests(scale: Scale) -> u64 {
    scale.choose(500, 4000)
}

/// Placements of the flash's data over which the heat map of reads is averaged: a single one moves a cell by some percent.
fn placements(scale: Scale) -> u64 {
    scale.choose(1, 8)
}

/// The profile is the Optane device.
fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let optane = plan_device(&run.profile, run.scale, cells);
    let flash = plan_device(&run.beside()?, run.scale, cells);
    Ok(Box::new(move || {
        let (optane, flash) = (optane()?, flash()?);
        let contract = Contract {
            reads: heat::cells(&optane.reads, &flash.reads, heat::published),
            shifted: heat::cells(&optane.reads, &flash.reads, heat::shifted),
            writes: heat::cells(&optane.writes, &flash.writes, |_| None),
            optane: optane.rules,
            flash: flash.rules,
        };
        let outcome = sheets::sheets(outcome(run), &contract);
        Some(sheets::figures(outcome, &contract).claims(claims(&contract)))
    }))
}

fn plan_device<'a>(
    profile: &Profile,
    scale: Scale,
    cells: &mut Cells<'a>,
) -> impl FnOnce() -> Option<OfDevice> + use<'a> {
    let requests = requests(scale);
    let device = || DeviceUnderTest {
        profile: profile.clone(),
    };
    let reads = cells.each([device()], move |device| {
        heat::reads(device, placements(scale), requests)
    });
    let sustained = cells.each([device()], rules::sustained);
    let in_order = cells.each([device()], move |device| InOrder::measure(device, requests));
    let mixes = rules::WRITE_PERCENT.map(|percent| (device(), percent));
    let mixes = cells.each(mixes, move |(device, percent)| {
        rules::mix(device, *percent, requests)
    });
    let writes = heat::grid().map(|at| (device(), at));
    let writes = cells.each(writes, move |(device, at)| {
        heat::write(device, *at, requests)
    });
    move || {
        Some(OfDevice {
            reads: reads.single()?,
            writes: writes.take()?,
            rules: Rules {
                in_order: in_order.single()?,
                mixes: mixes.take()?,
                sustained_mb_s: sustained.single()?,
            },
        })
    }
}

fn outcome(run: &Run) -> Outcome {
    let about = format!(
        "The seven rules, kept and broken, on {} and on {FLASH}. T = (slower - faster) / faster mean latency, negative \
         where Optane is slower.",
        run.profile.name
    );
    run.report(about)
        .published(format!("Wu, Arpaci-Dusseau, Arpaci-Dusseau: {PAPER}: the heat map of T, 4.6x for crowded sectors, 5x for tiny requests, 1.2x for a sector off, degree 7 in chunks of 4 KiB"))
        .fitted("the times and rates of both profiles, one set for all rules, to the heat map and the ratios of rules 3, 5 and 6")
        .assumed("the eighth row of the heat map is of 2 KiB. Its label is lost in the source; the seventh row's label is 4. Sheet readings assumes the other reading: each row is of twice the size")
        .assumed(format!(
            "the flash of the heat maps was overwritten at random before, so its data lies on all dies; its reads go to {} GiB of it, each to another place. All other reads are of data written in order",
            placements(run.scale)
        ))
        .assumed("rule 3: eight readers read one sector each, of one chunk or of consecutive chunks. Rule 6: depth 1")
        .assumed("rules 4 and 7 run on a smaller device with the same dies. It is full, so that garbage collection is in its steady state")
}

/// What the constants of both profiles were fitted to.
const FITTED: &str =
    "the times and rates of both profiles, to the heat map and the ratios of rules 3, 5 and 6";
const BY_ADDRESS: &str = "the memory is mapped by address: where data lies does not depend on the order of requests, and nothing is collected";
const AS_WRITTEN: &str =
    "flash is mapped in the order of writes; no number of this is published of the flash";

fn claims(contract: &Contract) -> Vec<Claim> {
    let Contract { optane, flash, .. } = contract;
    let (with_order, of_flash) = (&optane.in_order, &flash.in_order);
    let mut claims = vec![
        heat_map(
            &contract.reads,
            ("optane-contract.heat-sign", "the sign", "all are the same"),
            Bound::Digits,
            Cell::sign_holds,
        )
        .fails_with(Change::percent(OPTANE, "xpoint.read_rate", -25)),
        heat_map(
            &contract.reads,
            (
                "optane-contract.heat-magnitude",
                "the magnitude",
                "all are within 30 %",
            ),
            Bound::Own,
            Cell::magnitude_holds,
        )
        .missed_because(
            "the published latency over depth is not convex at 128 KiB, and that of a queue is",
        ),
    ];
    claims.push(same(
        Claim::construction("optane-contract.random-is-ok", BY_ADDRESS),
        "rule 2: random reads against sequential ones of the same size and depth, of Optane",
        with_order.worst_order(),
    ));
    claims.push(differs(
        "optane-contract.random-on-flash",
        "rule 2: random reads against sequential ones of the same size and depth, of flash",
        of_flash.worst_order(),
    ));
    claims.push(ratio(
        "optane-contract.crowded",
        "rule 3: one-sector reads of one chunk against spread ones, mean latency",
        CROWDING,
        with_order.crowding(),
        Change::percent(OPTANE, "xpoint.read", -20),
    ));
    claims.push(
        same(
            Claim::fitted(
                "optane-contract.overall-load",
                "xpoint.read_rate and xpoint.write_rate, to this rule",
            ),
            "rule 4: 4 KiB requests a second at depth 64, over the share of writes, of Optane",
            optane.mix_spread(),
        )
        .fails_with(Change::percent(OPTANE, "xpoint.write_rate", -20)),
    );
    claims.push(differs(
        "optane-contract.load-on-flash",
        "rule 4: 4 KiB requests a second at depth 64, over the share of writes, of flash",
        flash.mix_spread(),
    ));
    claims.push(ratio(
        "optane-contract.tiny",
        "rule 5: bandwidth of 4 KiB reads against one-sector reads, depth 64",
        TINY_LOSS,
        with_order.tiny_loss()[0],
        Change::percent(OPTANE, "xpoint.sector_time", -20),
    ));
    claims.push(ratio(
        "optane-contract.aligned",
        "rule 6: latency of 4 KiB reads one sector off against aligned ones",
        OFFSET_LOSS,
        with_order.offset_loss()[0],
        // Parts of chunks cost nothing then.
        Change::set(OPTANE, &["xpoint.sector_time=0ns"]),
    ));
    claims.push(same(
        Claim::construction("optane-contract.no-gc", BY_ADDRESS),
        "rule 7: bandwidth of sustained 4 KiB random overwrites, of Optane",
        optane.sustained_spread(),
    ));
    claims.push(differs(
        "optane-contract.gc-on-flash",
        "rule 7: bandwidth of sustained 4 KiB random overwrites, of flash",
        flash.sustained_spread(),
    ));
    claims.extend(base(with_order, of_flash));
    claims
}

/// What is judged of each cell: id, what of T, and when the claim holds.
type Judged = (&'static str, &'static str, &'static str);

fn heat_map(
    cells: &[Cell],
    judged: Judged,
    bound: Bound,
    holds: fn(&Cell) -> Option<bool>,
) -> Claim {
    let (id, what, criterion) = judged;
    let judged = cells.iter().filter_map(|cell| Some((cell, holds(cell)?)));
    let (held, off): (Vec<_>, Vec<_>) = judged.partition(|(_, holds)| *holds);
    let all = held.len() + off.len();
    let texts = off.iter().map(|(cell, _)| {
        let published = cell.comparable().unwrap_or(f64::NAN);
        let (size, depth) = (bytes(cell.request_bytes), cell.depth);
        format!(
            "{size} at depth {depth} {:+.2} for {published:+.1}",
            cell.t()
        )
    });
    let texts: Vec<String> = texts.collect();
    Claim::fitted(id, FITTED)
        .statement(format!(
            "rule 1: {what} of T in each certain cell of the heat map of reads with |T| of 0.2 or more"
        ))
        .expected("T of the heat map")
        .measured(match texts.as_slice() {
            [] => format!("all of {all}"),
            texts => format!("{} of {all}; not {}", held.len(), texts.join(", ")),
        })
        .when(bound, criterion).holds(off.is_empty() && all > 0)
}

fn percent(share: f64) -> String {
    format!("{:.1} % at most", 100.0 * share)
}

fn same(claim: Claim, statement: &str, share: f64) -> Claim {
    claim
        .statement(statement)
        .expected("no difference")
        .measured(percent(share))
        .when(Bound::Own, "it is within 5 %")
        .holds(share <= FLAT)
}

/// Visibly not flat; only that is said of the flash.
fn differs(id: &'static str, statement: &str, share: f64) -> Claim {
    Claim::construction(id, AS_WRITTEN)
        .statement(statement)
        .expected("a difference")
        .measured(percent(share))
        .when(Bound::Own, "it is more than 5 %")
        .holds(share > FLAT)
}

fn ratio(
    id: &'static str,
    statement: &str,
    published: f64,
    measured: f64,
    change: Change,
) -> Claim {
    let holds = (measured / published - 1.0).abs() <= RATIO_TOLERANCE;
    Claim::fitted(id, FITTED)
        .statement(format!("{statement}, of Optane"))
        .expected(format!("x{published:.1}"))
        .measured(format!("x{measured:.2}"))
        .when(Bound::Own, "it is within 5 %")
        .holds(holds)
        .fails_with(change)
}

/// What the devices do at all.
fn base(optane: &InOrder, flash: &InOrder) -> [Claim; 4] {
    let near = |value: f64, round: f64| (value / round - 1.0).abs() <= ROUND_TOLERANCE;
    let [read, write] = optane.large_mb_s.map(|rate| rate / 1000.0);
    let flash_read = flash.large_mb_s[0] / 1000.0;
    let (optane_us, flash_us) = (optane.aligned_us[0], flash.aligned_us[0]);
    [
        Claim::fitted(
            "optane-contract.latency",
            "controller.latency, to this range",
        )
        .statement("4 KiB reads of Optane at depth 1")
        .expected("9 to 11 us")
        .measured(format!("{optane_us:.1} us"))
        .when(Bound::Published, "it is in that range")
        .holds((9.0..=11.0).contains(&optane_us))
        .fails_with(Change::percent(OPTANE, "controller.latency", 20)),
        Claim::fitted(
            "optane-contract.bandwidth",
            "xpoint.read_rate and xpoint.write_rate, to these",
        )
        .statement("large reads and writes of Optane")
        .expected("2.2 to 2.5 GB/s and 2.2 GB/s")
        .measured(format!("{read:.2} and {write:.2} GB/s"))
        .when(Bound::Own, "reads are in that range, writes within 5 %")
        .holds((2.2..=2.5).contains(&read) && (write / 2.2 - 1.0).abs() <= FLAT)
        .fails_with(Change::percent(OPTANE, "xpoint.write_rate", -20)),
        Claim::fitted(
            "optane-contract.flash-latency",
            "timing.read, to this range",
        )
        .statement("4 KiB reads of flash at depth 1")
        .expected("about 76 to 90 us")
        .measured(format!("{flash_us:.1} us"))
        .when(Bound::Published, "it is in that range")
        .holds((76.0..=90.0).contains(&flash_us))
        .fails_with(Change::percent(FLASH, "timing.read", -20)),
        Claim::fitted(
            "optane-contract.flash-rates",
            "host.link_rate and host.link_command_time, to these",
        )
        .statement("large reads of flash, and 4 KiB reads at depth 256")
        .expected("3.4 GB/s and 500 K a second")
        .measured(format!(
            "{flash_read:.2} GB/s and {:.0} K",
            flash.small_iops / 1000.0
        ))
        .when(Bound::Own, "both are within 10 %")
        .holds(near(flash_read, 3.4) && near(flash.small_iops, 500e3))
        .fails_with(Change::percent(FLASH, "host.link_rate", -20)),
    ]
}
