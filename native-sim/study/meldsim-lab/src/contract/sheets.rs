//! The rules as sheets and pictures.

use super::heat::{Cell, DEPTHS, SIZES_KIB};
use super::rules::{FULL_DEPTH, Rules, Tiny};
use super::{CROWDING, Contract, OFFSET_LOSS, TINY_LOSS};
use crate::prelude::*;

/// The deepest colour of the heat maps.
const MOST_T: f64 = 6.0;

fn devices(contract: &Contract) -> [(&'static str, &Rules); 2] {
    [("optane", &contract.optane), ("flash", &contract.flash)]
}

/// What a list of each device has, beside the device's name.
fn of_each<T>(contract: &Contract, list: fn(&Rules) -> &[T]) -> Vec<(&'static str, &T)> {
    let of = |(name, rules)| list(rules).iter().map(move |item| (name, item));
    devices(contract).into_iter().flat_map(of).collect()
}

pub(super) fn sheets(outcome: Outcome, contract: &Contract) -> Outcome {
    let orders = of_each(contract, |rules| &rules.in_order.orders);
    let mixes = of_each(contract, |rules| &rules.mixes);
    let tiny = of_each(contract, |rules| &rules.in_order.tiny);
    let (optane, flash) = (
        &contract.optane.sustained_mb_s,
        &contract.flash.sustained_mb_s,
    );
    let moments: Vec<(usize, (&f64, &f64))> = optane.iter().zip(flash).enumerate().collect();
    outcome
        .sheet(rules(contract))
        .sheet(heat("reads", &contract.reads))
        .sheet(readings(contract))
        .sheet(heat("writes", &contract.writes))
        .sheet(
            Sheet::of("order", &orders)
                .cell("device", "rule 2", |(name, _)| *name)
                .bytes("request_bytes", "request", |(_, order)| order.request_bytes)
                .count("depth", "depth", |(_, order)| order.depth)
                .number("random_us", "random us", 1, |(_, order)| order.random_us)
                .number("sequential_us", "sequential us", 1, |(_, order)| {
                    order.sequential_us
                }),
        )
        .sheet(
            Sheet::of("mix", &mixes)
                .cell("device", "rule 4", |(name, _)| *name)
                .count("write_percent", "writes %", |(_, mix)| mix.write_percent)
                .number("iops", "requests/s", 0, |(_, mix)| mix.iops)
                .number("mean_us", "mean us", 1, |(_, mix)| mix.mean_us),
        )
        .sheet(
            Sheet::of("tiny", &tiny)
                .cell("device", "rule 5", |(name, _)| *name)
                .bytes("request_bytes", "request", |(_, tiny)| tiny.request_bytes)
                .number("read_mb_s", "reads MB/s", 0, |(_, tiny)| tiny.read_mb_s)
                .number("write_mb_s", "writes MB/s", 0, |(_, tiny)| tiny.write_mb_s),
        )
        .sheet(
            Sheet::of("sustained", &moments)
                .count("moment", "rule 7", |(moment, _)| *moment as u64)
                .number("optane_mb_s", "Optane MB/s", 0, |(_, (optane, _))| **optane)
                .number("flash_mb_s", "flash MB/s", 0, |(_, (_, flash))| **flash)
                .detail(),
        )
}

/// A rule on a device: kept, broken, and what breaking it costs.
struct RuleRow {
    rule: String,
    device: &'static str,
    kept: String,
    broken: String,
    cost: f64,
}

fn rules(contract: &Contract) -> Sheet {
    let mut rows = Vec::new();
    for (device, rules) in devices(contract) {
        let mut row = |rule: &str, kept: String, broken: String, cost: f64| {
            rows.push(RuleRow {
                rule: rule.to_owned(),
                device,
                kept,
                broken,
                cost,
            });
        };
        let of = &rules.in_order;
        row(
            "2 random is OK",
            "sequential".to_owned(),
            format!("random, {:.1} % off at most", 100.0 * of.worst_order()),
            1.0 + of.worst_order(),
        );
        row(
            "3 avoid crowded accesses",
            format!("spread {:.1} us", of.spread_us),
            format!("one chunk {:.1} us", of.crowded_us),
            of.crowding(),
        );
        let iops = rules.mixes.iter().map(|mix| mix.iops);
        row(
            "4 control overall load",
            format!(
                "least to most {:.0} K/s",
                iops.fold(f64::MAX, f64::min) / 1e3
            ),
            format!(
                "{:.1} % apart over the share of writes",
                100.0 * rules.mix_spread()
            ),
            1.0 / (1.0 - rules.mix_spread()),
        );
        for (index, direction) in ["reads", "writes"].into_iter().enumerate() {
            let rate = |size: &str, tiny: Option<&Tiny>| {
                let rate = tiny.map(|tiny| [tiny.read_mb_s, tiny.write_mb_s][index]);
                rate.map_or_else(String::new, |rate| format!("{size} {rate:.0} MB/s"))
            };
            row(
                &format!("5 avoid tiny accesses, {direction}"),
                rate("4 KiB", of.tiny.last()),
                rate("512 B", of.tiny.first()),
                of.tiny_loss()[index],
            );
            row(
                &format!("6 align to 4 KiB, {direction}"),
                format!("aligned {:.1} us", of.aligned_us[index]),
                format!("one sector off {:.1} us", of.offset_us[index]),
                of.offset_loss()[index],
            );
        }
        let most = rules.sustained_mb_s.iter().copied().fold(0.0, f64::max);
        let spread = rules.sustained_spread();
        row(
            "7 forget garbage collection",
            format!("at most {most:.0} MB/s"),
            format!("sustained, {:.1} % less at worst", 100.0 * spread),
            1.0 / (1.0 - spread),
        );
    }
    Sheet::of("rules", &rows)
        .cell("rule", "rule", |row| row.rule.clone())
        .cell("device", "device", |row| row.device)
        .cell("kept", "kept", |row| row.kept.clone())
        .cell("broken", "broken", |row| row.broken.clone())
        .number("cost", "cost", 2, |row| row.cost)
        .into()
}

fn heat(name: &'static str, cells: &[Cell]) -> Sheet {
    let certain = |cell: &Cell| {
        Some(match cell.published?.is_certain {
            true => "yes",
            false => "no",
        })
    };
    let holds = |cell: &Cell| {
        let judged = |holds, yes, no| if holds { yes } else { no };
        let certain = cell.magnitude_holds();
        let certain = certain.map(|holds| judged(holds, "holds", "off"));
        certain.or_else(|| Some(judged(cell.would_hold()?, "would hold", "would be off")))
    };
    Sheet::of(name, cells)
        .bytes("request_bytes", "request", |cell| cell.request_bytes)
        .count("depth", "depth", |cell| cell.depth)
        .number("optane_us", "Optane us", 1, |cell| cell.optane_us)
        .number("flash_us", "flash us", 1, |cell| cell.flash_us)
        .number("t", "T", 2, Cell::t)
        .number("published_t", "published", 1, |cell| {
            Some(cell.published?.t)
        })
        .cell("certain", "certain", certain)
        .cell("holds", "holds", holds)
        .into()
}

/// How many cells are met by each reading of the published map, whose eighth row has lost its label.
fn readings(contract: &Contract) -> Sheet {
    let count = |cells: &[Cell], holds: fn(&Cell) -> Option<bool>| {
        let judged: Vec<bool> = cells.iter().filter_map(holds).collect();
        let held = judged.iter().filter(|holds| **holds).count();
        [held as u64, judged.len() as u64]
    };
    let row = |reading, cells: &[Cell]| {
        let certain = count(cells, Cell::magnitude_holds);
        (reading, certain, count(cells, Cell::would_hold))
    };
    let rows = [
        row(
            "rows of 256 KiB to 4 KiB as labelled, the eighth of 2 KiB",
            &contract.reads,
        ),
        row(
            "labels of the row below: 512 KiB to 8 KiB, the eighth of 4 KiB",
            &contract.shifted,
        ),
    ];
    Sheet::of("readings", &rows)
        .cell("reading", "reading of the map", |row| row.0)
        .count("certain_held", "certain, within 30 %", |row| row.1[0])
        .count("certain", "of", |row| row.1[1])
        .count("uncertain_held", "uncertain, within 30 %", |row| row.2[0])
        .count("uncertain", "of", |row| row.2[1])
        .into()
}

pub(super) fn figures(outcome: Outcome, contract: &Contract) -> Outcome {
    let published = |cell: &Cell| Some(cell.published?.t);
    let simulated = |cell: &Cell| Some(cell.t());
    let Contract { reads, writes, .. } = contract;
    outcome
        .figure(
            map("T of random reads, published", reads, published),
            "Where T is positive, Optane is the faster one: small requests, few at a time. Some of the outer cells are inferred.",
        )
        .figure(
            map("T of random reads, simulated", reads, simulated),
            "Many flash dies work at once, so flash wins where requests are large or many.",
        )
        .figure(
            map("T of random writes, simulated", writes, simulated),
            "Nothing is published to compare with. Flash takes writes into its buffer.",
        )
        .figure(
            ratios(contract),
            "A chunk serves one access at a time; a part of it takes a sector buffer; a sector off is two parts.",
        )
        .figure(
            over_mix(contract),
            "On Optane a write costs one write. On full flash garbage collection turns it into several.",
        )
        .figure(
            over_time(contract),
            "Flash keeps up until its spare blocks are used. Then each write waits for garbage collection.",
        )
}

fn map(title: &str, cells: &[Cell], value: fn(&Cell) -> Option<f64>) -> HeatMap {
    let row = |kib: &u64| {
        let size = kib << 10;
        let of_size = cells.iter().filter(|cell| cell.request_bytes == size);
        (bytes(size), of_size.map(value).collect())
    };
    HeatMap {
        title: title.to_owned(),
        x: "requests outstanding".to_owned(),
        y: "request".to_owned(),
        columns: DEPTHS.iter().map(u64::to_string).collect(),
        rows: SIZES_KIB.iter().rev().map(row).collect(),
        scale: HeatScale::Diverging(MOST_T),
    }
}

fn ratios(contract: &Contract) -> DotPlot {
    let values = |device: &Rules| {
        let of = &device.in_order;
        [of.crowding(), of.tiny_loss()[0], of.offset_loss()[0]]
    };
    let (optane, flash) = (values(&contract.optane), values(&contract.flash));
    let published = [CROWDING, TINY_LOSS, OFFSET_LOSS];
    let names = ["3 crowded", "5 tiny", "6 a sector off"];
    let series = ["published, Optane", "simulated, Optane", "simulated, flash"];
    let title = "What breaking a rule costs";
    DotPlot::of(title, "broken / kept", series, 0..names.len(), |index| {
        let values = [published[index], optane[index], flash[index]];
        (names[index].to_owned(), values)
    })
}

fn over_mix(contract: &Contract) -> LineChart {
    let line = |(name, device): (&str, &Rules)| {
        Line::over(name, &device.mixes, |mix| {
            (mix.write_percent as f64, mix.iops / 1e3)
        })
    };
    let title = format!("4 KiB requests at depth {FULL_DEPTH}");
    let lines = devices(contract).map(line);
    LineChart::linear(title, "writes %", "thousand a second", lines)
}

fn over_time(contract: &Contract) -> LineChart {
    let line = |(name, device): (&str, &Rules)| {
        let moments = device.sustained_mb_s.iter().enumerate();
        Line::over(name, moments, |(moment, rate)| (moment as f64, *rate))
    };
    let title = "Sustained 4 KiB random overwrites of a full device";
    LineChart::linear(title, "moment", "MB/s", devices(contract).map(line))
}
