//! The rules as sheets and pictures.

use super::super::outcome::{Chart, Figure};
use super::super::sheet::{Cell as Value, Sheet};
use super::Contract;
use super::heat::{Cell, DEPTHS, SIZES};
use super::rules::{FULL_DEPTH, Rules};
use crate::report::bytes;
use crate::report::chart::{Axis, BarChart, HeatMap, HeatScale, Line, LineChart};

/// The deepest colour of the heat maps.
const MOST_T: f64 = 6.0;

fn devices(contract: &Contract) -> [(&'static str, &Rules); 2] {
    [("optane", &contract.optane), ("flash", &contract.flash)]
}

pub(super) fn sheets(contract: &Contract) -> Vec<Sheet> {
    vec![
        rules(contract),
        heat("reads", &contract.reads),
        heat("writes", &contract.writes),
        orders(contract),
        mixes(contract),
        tiny(contract),
        sustained(contract),
    ]
}

fn rules(contract: &Contract) -> Sheet {
    let mut sheet = Sheet::new(
        "rules",
        &[
            ("rule", "rule"),
            ("device", "device"),
            ("kept", "kept"),
            ("broken", "broken"),
            ("cost", "cost"),
        ],
    );
    for (name, device) in devices(contract) {
        let mut row = |rule: &str, kept: String, broken: String, cost: f64| {
            sheet.row([
                Value::text(rule),
                Value::text(name),
                Value::text(kept),
                Value::text(broken),
                Value::Number(cost, 2),
            ]);
        };
        row(
            "2 random is OK",
            "sequential".to_owned(),
            format!("random, {:.1} % off at most", 100.0 * device.worst_order()),
            1.0 + device.worst_order(),
        );
        row(
            "3 avoid crowded accesses",
            format!("spread {:.1} us", device.spread_us),
            format!("one chunk {:.1} us", device.crowded_us),
            device.crowding(),
        );
        row(
            "4 control overall load",
            format!(
                "least to most {:.0} K/s",
                device
                    .mixes
                    .iter()
                    .map(|mix| mix.iops)
                    .fold(f64::MAX, f64::min)
                    / 1e3
            ),
            format!(
                "{:.1} % apart over the share of writes",
                100.0 * device.mix_spread()
            ),
            1.0 / (1.0 - device.mix_spread()),
        );
        for (index, direction) in ["reads", "writes"].into_iter().enumerate() {
            let rate = |tiny: &super::rules::Tiny| [tiny.read_mb_s, tiny.write_mb_s][index];
            row(
                &format!("5 avoid tiny accesses, {direction}"),
                device
                    .tiny
                    .last()
                    .map_or_else(String::new, |tiny| format!("4 KiB {:.0} MB/s", rate(tiny))),
                device
                    .tiny
                    .first()
                    .map_or_else(String::new, |tiny| format!("512 B {:.0} MB/s", rate(tiny))),
                device.tiny_loss()[index],
            );
            row(
                &format!("6 align to 4 KiB, {direction}"),
                format!("aligned {:.1} us", device.aligned_us[index]),
                format!("one sector off {:.1} us", device.offset_us[index]),
                device.offset_loss()[index],
            );
        }
        row(
            "7 forget garbage collection",
            format!(
                "at most {:.0} MB/s",
                device.sustained_mb_s.iter().copied().fold(0.0, f64::max)
            ),
            format!(
                "sustained, {:.1} % less at worst",
                100.0 * device.sustained_spread()
            ),
            1.0 / (1.0 - device.sustained_spread()),
        );
    }
    sheet
}

fn heat(name: &'static str, cells: &[Cell]) -> Sheet {
    let mut sheet = Sheet::new(
        name,
        &[
            ("request_bytes", "request"),
            ("depth", "depth"),
            ("optane_us", "Optane us"),
            ("flash_us", "flash us"),
            ("t", "T"),
            ("published_t", "published"),
            ("certain", "certain"),
            ("holds", "holds"),
        ],
    );
    for cell in cells {
        let verdict = match cell.magnitude_holds() {
            None => Value::Missing,
            Some(true) => Value::text("holds"),
            Some(false) => Value::text("off"),
        };
        let certain = cell.published.map(|published| published.is_certain);
        sheet.row([
            Value::Bytes(cell.request_bytes),
            Value::Count(cell.depth),
            Value::Number(cell.optane_us, 1),
            Value::Number(cell.flash_us, 1),
            Value::Number(cell.t(), 2),
            cell.published
                .map_or(Value::Missing, |published| Value::Number(published.t, 1)),
            certain.map_or(Value::Missing, |certain| {
                Value::text(if certain { "yes" } else { "no" })
            }),
            verdict,
        ]);
    }
    sheet
}

fn orders(contract: &Contract) -> Sheet {
    let mut sheet = Sheet::new(
        "order",
        &[
            ("device", "rule 2"),
            ("request_bytes", "request"),
            ("depth", "depth"),
            ("random_us", "random us"),
            ("sequential_us", "sequential us"),
        ],
    );
    for (name, device) in devices(contract) {
        for order in &device.orders {
            sheet.row([
                Value::text(name),
                Value::Bytes(order.request_bytes),
                Value::Count(order.depth),
                Value::Number(order.random_us, 1),
                Value::Number(order.sequential_us, 1),
            ]);
        }
    }
    sheet
}

fn mixes(contract: &Contract) -> Sheet {
    let mut sheet = Sheet::new(
        "mix",
        &[
            ("device", "rule 4"),
            ("write_percent", "writes %"),
            ("iops", "requests/s"),
            ("mean_us", "mean us"),
        ],
    );
    for (name, device) in devices(contract) {
        for mix in &device.mixes {
            sheet.row([
                Value::text(name),
                Value::Count(mix.write_percent),
                Value::Number(mix.iops, 0),
                Value::Number(mix.mean_us, 1),
            ]);
        }
    }
    sheet
}

fn tiny(contract: &Contract) -> Sheet {
    let mut sheet = Sheet::new(
        "tiny",
        &[
            ("device", "rule 5"),
            ("request_bytes", "request"),
            ("read_mb_s", "reads MB/s"),
            ("write_mb_s", "writes MB/s"),
        ],
    );
    for (name, device) in devices(contract) {
        for tiny in &device.tiny {
            sheet.row([
                Value::text(name),
                Value::Bytes(tiny.request_bytes),
                Value::Number(tiny.read_mb_s, 0),
                Value::Number(tiny.write_mb_s, 0),
            ]);
        }
    }
    sheet
}

fn sustained(contract: &Contract) -> Sheet {
    let mut sheet = Sheet::detail(
        "sustained",
        &[
            ("moment", "rule 7"),
            ("optane_mb_s", "Optane MB/s"),
            ("flash_mb_s", "flash MB/s"),
        ],
    );
    let rates = contract
        .optane
        .sustained_mb_s
        .iter()
        .zip(&contract.flash.sustained_mb_s);
    for (moment, (optane, flash)) in rates.enumerate() {
        sheet.row([
            Value::Count(moment as u64),
            Value::Number(*optane, 0),
            Value::Number(*flash, 0),
        ]);
    }
    sheet
}

pub(super) fn figures(contract: &Contract) -> Vec<Figure> {
    let published = |cell: &Cell| cell.published.map(|published| published.t);
    let simulated = |cell: &Cell| Some(cell.t());
    vec![
        map(
            "T of random reads, published",
            &contract.reads,
            published,
            "Where T is positive, Optane is the faster one: small requests, few at a time. Some of the outer cells are inferred.",
        ),
        map(
            "T of random reads, simulated",
            &contract.reads,
            simulated,
            "Many dies of flash work at once, so that it wins where there is enough for them to do.",
        ),
        map(
            "T of random writes, simulated",
            &contract.writes,
            simulated,
            "Nothing is published to compare with. Flash takes writes into its buffer.",
        ),
        ratios(contract),
        over_mix(contract),
        over_time(contract),
    ]
}

fn map(title: &str, cells: &[Cell], value: impl Fn(&Cell) -> Option<f64>, caption: &str) -> Figure {
    let row = |size: &u64| {
        let of_size = cells.iter().filter(|cell| cell.request_bytes == *size);
        (bytes(*size), of_size.map(&value).collect())
    };
    Figure {
        chart: Chart::Heat(HeatMap {
            title: title.to_owned(),
            x: "requests outstanding".to_owned(),
            y: "request".to_owned(),
            columns: DEPTHS.iter().map(u64::to_string).collect(),
            rows: SIZES.iter().rev().map(row).collect(),
            scale: HeatScale::Diverging(MOST_T),
        }),
        caption: caption.to_owned(),
    }
}

fn ratios(contract: &Contract) -> Figure {
    let values = |device: &Rules| {
        [
            device.crowding(),
            device.tiny_loss()[0],
            device.offset_loss()[0],
        ]
    };
    let (optane, flash) = (values(&contract.optane), values(&contract.flash));
    let published = [4.6, 5.0, 1.2];
    let names = ["3 crowded", "5 tiny", "6 a sector off"];
    let groups = (0..names.len()).map(|index| {
        let values = [published[index], optane[index], flash[index]];
        (names[index].to_owned(), values.map(Some).into())
    });
    Figure {
        chart: Chart::Bar(BarChart {
            title: "What breaking a rule costs".to_owned(),
            axis: "broken / kept".to_owned(),
            series: ["published, Optane", "simulated, Optane", "simulated, flash"]
                .map(str::to_owned)
                .into(),
            groups: groups.collect(),
        }),
        caption: "A chunk serves one access at a time; a part of it takes a sector buffer; a sector off is two parts."
            .to_owned(),
    }
}

fn over_mix(contract: &Contract) -> Figure {
    let line = |(name, device): (&str, &Rules)| {
        let points = device
            .mixes
            .iter()
            .map(|mix| (mix.write_percent as f64, mix.iops / 1e3));
        Line::new(name, points.collect())
    };
    Figure {
        chart: Chart::Line(LineChart {
            title: format!("4 KiB requests at depth {FULL_DEPTH}"),
            x: Axis::linear("writes %"),
            y: Axis::linear("thousand a second"),
            lines: devices(contract).map(line).into(),
        }),
        caption: "For Optane a request is a request; on full flash each write is several, by garbage collection.".to_owned(),
    }
}

fn over_time(contract: &Contract) -> Figure {
    let line = |(name, device): (&str, &Rules)| {
        let points = device.sustained_mb_s.iter().enumerate();
        Line::new(
            name,
            points
                .map(|(moment, rate)| (moment as f64, *rate))
                .collect(),
        )
    };
    Figure {
        chart: Chart::Line(LineChart {
            title: "Sustained 4 KiB random overwrites of a full device".to_owned(),
            x: Axis::linear("moment"),
            y: Axis::linear("MB/s"),
            lines: devices(contract).map(line).into(),
        }),
        caption: "Flash is as fast until its spare blocks are used up, then it collects garbage for each write.".to_owned(),
    }
}
