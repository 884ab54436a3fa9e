//! A suite as a page: what the melded layout gained, every job by variant, who waited for whom.

use std::collections::{BTreeMap, BTreeSet};

use meldsim_stats::Table;
use serde_json::Value;

use super::figure::{Figure, Spread, grouped};
use super::record::{list, number, text};
use super::suite::{Group, Outcome, Suite};
use super::{origin, published};
use meldsim_report::chart::{Axis, Dot, DotPlot, HeatMap, HeatScale, Line, LineChart};
use meldsim_report::{Fact, Page};

const MIB: f64 = 1_048_576.0;

const HOW_TO_READ: [&str; 4] = [
    "Real: HDFS and Spark, their code unchanged; the bytes, which come from real files; the host's speed. Simulated: the devices \
     below the DataNodes. A read returns when the simulated device, slowed by the time dilation, has the data. On stock HDFS \
     nobody waits for one.",
    "Measured is wall time, which grows with the dilation: compare variants with each other, not with real devices. Device MiB/s \
     is simulated: bytes read by the device's own time with a read outstanding.",
    "Readers waiting is the time that the DataNodes' read path was blocked on a simulated device, by the run time of the Spark \
     tasks that read. Devices busy is the part of the time with tasks running in which a device had a command to do, averaged \
     over the devices that did anything.",
    published::SOURCE,
];

/// The page; `command` gives it again.
pub(super) fn page(suite: &Suite, outcomes: &[Outcome], command: &str) -> String {
    let first = &suite.groups[0].runs[0];
    let each = |place: &str, show: fn(&Value) -> String| {
        let runs = suite.groups.iter().flat_map(|group| &group.runs);
        let devices = runs.flat_map(Group::devices);
        let all = devices.filter_map(|(_, device)| device.pointer(place).map(show));
        all.collect::<BTreeSet<String>>()
            .into_iter()
            .collect::<Vec<_>>()
            .join(", ")
    };
    let profiles = each("/profile", |name| {
        name.as_str().unwrap_or_default().to_owned()
    });
    let settings = format!(
        "jobs: {}; variants: {}; time dilation: {}",
        suite.jobs().join(", "),
        variants(suite).join(", "),
        each("/timeDilation", |dilation| grouped(
            dilation.as_f64().unwrap_or(1.0),
            1
        )),
    );
    let profiles = match profiles.is_empty() {
        true => "none was asked for its devices".to_owned(),
        false => profiles,
    };
    let origin = origin(first, command, profiles, settings);
    let title = "Spark on HDFS on simulated SSDs";
    let mut page = Page::new(title, &verdict(suite, outcomes), &origin);
    page.facts(&facts(suite));
    charts(suite, &mut page);
    if !outcomes.is_empty() {
        let mut table = Table::of("<|<expected|<found");
        for outcome in outcomes {
            let mark = if outcome.holds { "✓" } else { "✗ missed" };
            table.row([mark, &outcome.expression, &outcome.message]);
        }
        page.heading("Expectations").table(&table);
    }
    page.heading("More");
    page.folded_table(
        "All figures: median, spread and rounds of each job on each variant",
        &suite.table(),
    );
    if let Some(table) = devices(suite) {
        page.folded_table(
            "Each device that did anything, in the round with the median result; simulated",
            &table,
        );
    }
    page.folded("How to read this", |page| {
        for line in HOW_TO_READ {
            page.paragraph(line);
        }
    });
    let commands = suite.groups.iter().map(|group| {
        let words = list(&group.runs[0], "/arguments")
            .iter()
            .filter_map(Value::as_str);
        let words: Vec<&str> = words.collect();
        format!("{} {}\n", text(&group.runs[0], "/command"), words.join(" "))
    });
    page.folded_text("The jobs' command lines", &commands.collect::<String>());
    page.folded_text(
        "Versions, machine, and Spark's configuration",
        &configuration(first),
    );
    page.finish(&format!("by hdfs-meld {}", text(first, "/version")))
}

fn configuration(run: &Value) -> String {
    let mut run = run.clone();
    if let Some(fields) = run.as_object_mut() {
        for field in ["result", "simulator", "arguments", "labels", "command"] {
            fields.remove(field);
        }
    }
    format!("{run:#}")
}

/// The variants that have figures, without windows.
fn variants(suite: &Suite) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for group in suite
        .groups
        .iter()
        .filter(|group| !group.figures.is_empty())
    {
        if let (name, None) = group.window() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Melded by normal, of scans with this window.
fn gain(suite: &Suite, figure: &str, window: &str) -> Option<f64> {
    let median = |variant: &str| {
        let group = suite.group("scan", &format!("{variant}{window}"))?;
        group.figure(figure).map(|spread| spread.median)
    };
    Some(median("melded")? / median("normal")?).filter(|gain| gain.is_finite())
}

fn verdict(suite: &Suite, outcomes: &[Outcome]) -> String {
    let held = outcomes.iter().filter(|outcome| outcome.holds).count();
    let expected = match outcomes.len() {
        0 => String::new(),
        all => format!(" {held} of {all} expectations hold."),
    };
    let Some(gain) = gain(suite, "throughput", "") else {
        let result = amplification(suite);
        let result = result.unwrap_or_else(|| format!("Jobs: {}.", suite.jobs().join(", ")));
        return result + &expected;
    };
    let rounds = suite
        .group("scan", "melded")
        .map_or(0, |group| group.runs.len());
    format!(
        "Scans of melded data are {gain:.2} times as fast as of data in the normal layout. Medians of {rounds} rounds, measured.{expected}"
    )
}

/// What the device programs in the job that writes and deletes, by variant.
fn amplification(suite: &Suite) -> Option<String> {
    let churn = suite.groups.iter().filter(|group| group.job == "churn");
    let programmed = churn.filter_map(|group| {
        let spread = group.figure("amplification")?;
        Some(format!("{:.3} ({})", spread.median, group.variant))
    });
    let programmed: Vec<String> = programmed.collect();
    (!programmed.is_empty()).then(|| {
        let programmed = programmed.join(", ");
        format!("Bytes programmed for each byte written: {programmed}. Medians, simulated.")
    })
}

fn facts(suite: &Suite) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (figure, what) in [
        ("throughput", "melded by normal, end to end, measured"),
        ("device", "melded by normal, devices alone, simulated"),
    ] {
        let gain = gain(suite, figure, "");
        facts.extend(gain.map(|gain| Fact::new(format!("{gain:.2}×"), what)));
    }
    let wait = suite
        .group("scan", "normal")
        .and_then(|group| group.figure("wait"));
    let wait = wait.map(|wait| format!("{:.0} %", 100.0 * wait.median));
    facts.extend(wait.map(|wait| {
        Fact::new(
            wait,
            "of their time readers wait for a device, normal scan, measured",
        )
    }));
    facts
}

fn dot(figure: &Figure, spread: &Spread) -> Dot {
    let shown = |value| figure.shown(value);
    Dot {
        value: shown(spread.median),
        spread: (spread.most > spread.least).then(|| [shown(spread.least), shown(spread.most)]),
    }
}

fn charts(suite: &Suite, page: &mut Page) {
    const MEDIANS: &str = "Medians over the rounds; the line goes from the least to the greatest.";
    for job in suite.jobs() {
        for key in [Figure::headline(job), "p99"] {
            let Some(figure) = Figure::of_key(key).filter(|_| key != "p99" || job == "lookup")
            else {
                continue;
            };
            let of_job = suite.groups.iter().filter(|group| group.job == job);
            let dots = of_job
                .filter(|group| group.window().1.is_none())
                .filter_map(|group| {
                    let spread = group.figure(key)?;
                    Some((group.variant.clone(), dot(figure, spread)))
                });
            let plot = DotPlot::by_name(format!("{job}: {key}"), figure.unit, dots);
            page.chart(plot, &format!("{MEDIANS} {}.", capital(figure.kind)));
        }
    }
    let published = |of: bool| of.then_some(Dot::from(published::GAIN));
    let row = |label: &str, gain: f64| (label.to_owned(), vec![None, Some(Dot::from(gain))]);
    let rows = [
        ("device", "devices, simulated"),
        ("throughput", "end to end, measured"),
    ];
    let rows = rows
        .into_iter()
        .filter_map(|(key, label)| Some(row(label, gain(suite, key, "")?)));
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        let plot = DotPlot {
            title: "scan: gain of the melded layout".to_owned(),
            axis: "melded by normal".to_owned(),
            series: vec!["published".to_owned(), "melded".to_owned()],
            rows: std::iter::once(("published".to_owned(), vec![published(true), None]))
                .chain(rows)
                .collect(),
        };
        page.chart(plot, "1 is no gain.");
    }
    page.chart(
        by_window(suite),
        "How much a reader keeps requested decides. 1 is no gain. Measured.",
    );
    page.chart(waits(suite), "Readers that wait at least 90 % of their time: the device is the bottleneck. Else it is the host.");
    neighbours(suite, page);
    for (chart, caption) in [by_normal(suite), sweep(suite)].into_iter().flatten() {
        page.chart(chart, caption);
    }
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// What melding gains over the reader's window.
fn by_window(suite: &Suite) -> LineChart {
    let windows = suite.groups.iter().filter_map(|group| group.window().1);
    let mut points: Vec<(f64, f64, &str)> = windows
        .filter_map(|window| {
            let gain = gain(suite, "throughput", &format!("@{window}"))?;
            Some((bytes(window)?, gain, window))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by_key(|point| point.0);
    let ticks = points
        .iter()
        .map(|(at, _, window)| (*at, (*window).to_owned()));
    LineChart {
        title: "scan: gain by the reader's window".to_owned(),
        x: Axis {
            ticks: ticks.collect(),
            ..Axis::log("window")
        },
        y: Axis::linear("melded by normal"),
        lines: vec![Line::new(
            "melded",
            points.iter().map(|point| (point.0, point.1)).collect(),
        )],
    }
}

/// `16m` in bytes.
fn bytes(window: &str) -> Option<f64> {
    let digits = window.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match window[digits.len()..].to_lowercase().as_str() {
        "" => 1.0,
        "k" => 1024.0,
        "m" => MIB,
        "g" => 1024.0 * MIB,
        _ => return None,
    };
    digits.parse().ok().map(|count: f64| count * unit)
}

fn waits(suite: &Suite) -> DotPlot {
    let shares = ["wait", "utilisation"]
        .map(|key| Figure::of_key(key).unwrap_or(&super::figure::FIGURES[0]));
    let groups = suite
        .groups
        .iter()
        .filter(|group| group.window().1.is_none());
    let rows = groups.map(|group| {
        let dots = shares.map(|figure| Some(dot(figure, group.figure(figure.key)?)));
        (format!("{}, {}", group.job, group.variant), dots.into())
    });
    let has_dots = |(_, dots): &(String, Vec<Option<Dot>>)| dots.iter().any(Option::is_some);
    DotPlot {
        title: "Who waits for whom".to_owned(),
        axis: "% of the time".to_owned(),
        series: vec![
            "readers wait, measured".to_owned(),
            "devices busy, simulated".to_owned(),
        ],
        rows: rows.filter(has_dots).collect(),
    }
}

/// What a reader waits for over time, alone and beside a writer; all with the same axes.
fn neighbours(suite: &Suite, page: &mut Page) {
    let of_mixed = suite.groups.iter().filter(|group| group.job == "mixed");
    let series = of_mixed.map(|group| (group, list(group.typical_run(), "/result/series")));
    let series: Vec<(&Group, &[Value])> = series.filter(|(_, series)| !series.is_empty()).collect();
    let most = series
        .iter()
        .flat_map(|(_, series)| series.iter())
        .filter_map(|point| number(point, "/p99Us"));
    let most = most.fold(0.0, f64::max) / 1e3;
    for (group, series) in series {
        let line = |name: &str, place: &str, beside: bool| {
            let points = series.iter().map(|point| {
                let is_beside = point["writer"].as_bool() == Some(true);
                let value = number(point, place).filter(|_| is_beside == beside);
                (
                    number(point, "/startMs").unwrap_or(0.0) / 1e3,
                    value.map_or(f64::NAN, |us| us / 1e3),
                )
            });
            Line::new(name, points.collect())
        };
        let ratio = group.headline().map_or(f64::NAN, |ratio| ratio.median);
        let lines = vec![
            line("p99 beside a writer", "/p99Us", true),
            line("p99 alone", "/p99Us", false),
            line("p50 beside a writer", "/p50Us", true),
            line("p50 alone", "/p50Us", false),
        ];
        let chart = LineChart {
            title: format!("mixed, {}: p99 with the writer {ratio:.2}×", group.variant),
            x: Axis::linear("s"),
            y: Axis::linear("ms").to(most),
            lines,
        };
        page.chart(
            chart,
            "Latency of a reader's requests, of the typical round. Measured.",
        );
    }
}

/// Every variant's figures by those of the first one that every other is compared with.
fn by_normal(suite: &Suite) -> Option<(HeatMap, &'static str)> {
    let variants = variants(suite);
    let base = if variants.contains(&"normal") {
        "normal"
    } else {
        variants.first()?
    };
    let bases: Vec<(&Group, &'static Figure)> = suite
        .groups
        .iter()
        .filter(|group| group.variant == base)
        .flat_map(|group| {
            let mut keys = vec![Figure::headline(&group.job), "p99"];
            keys.dedup();
            keys.into_iter()
                .filter_map(move |key| Some((group, Figure::of_key(key)?)))
        })
        .filter(|(group, figure)| group.figure(figure.key).is_some())
        .collect();
    let others = || variants.iter().filter(|variant| **variant != base);
    let rows = bases.iter().map(|(of, figure)| {
        let better = others().map(|variant| {
            let value = suite.group(&of.job, variant)?.figure(figure.key)?.median;
            let quotient = value / of.figure(figure.key)?.median;
            let better = if figure.more_is_better {
                quotient
            } else {
                1.0 / quotient
            };
            Some(100.0 * (better - 1.0)).filter(|better| better.is_finite())
        });
        (
            format!("{} {}", of.job, figure.key),
            better.collect::<Vec<_>>(),
        )
    });
    let map = HeatMap {
        title: format!("Better than {base}, %"),
        x: String::new(),
        y: String::new(),
        rows: rows
            .filter(|(_, values)| values.iter().any(Option::is_some))
            .collect(),
        columns: others().map(|variant| (*variant).to_owned()).collect(),
        scale: HeatScale::Diverging(100.0),
    };
    Some((
        map,
        "Above 0 is better: more throughput, less time, a smaller ratio. Measured; amplification is simulated.",
    ))
}

/// What a sweep simulated: its longest axis down, all others across.
fn sweep(suite: &Suite) -> Option<(HeatMap, &'static str)> {
    let group = suite.groups.iter().find(|group| group.job == "sweep")?;
    let cells = list(&group.runs[0], "/result/rows");
    let value = |cell: &Value, axis: &str| {
        let value = cell["axes"][axis].as_str().unwrap_or_default();
        let name = value.rsplit('/').next().unwrap_or_default();
        name.trim_end_matches(".fio")
            .trim_end_matches(".toml")
            .to_owned()
    };
    let place = |cell: &Value, axes: &[String]| {
        let values: Vec<String> = axes.iter().map(|axis| value(cell, axis)).collect();
        values.join(", ")
    };
    let count = |axes: &[String]| {
        cells
            .iter()
            .map(|cell| place(cell, axes))
            .collect::<BTreeSet<_>>()
            .len()
    };
    let all = cells.first()?["axes"].as_object()?.keys().cloned();
    let axes: Vec<String> = all
        .filter(|axis| count(std::slice::from_ref(axis)) > 1)
        .collect();
    let down = axes
        .iter()
        .rev()
        .max_by_key(|axis| count(std::slice::from_ref(*axis)))?;
    // An axis that follows from the ones before it says nothing.
    let mut across: Vec<String> = Vec::new();
    for axis in axes.iter().filter(|axis| *axis != down) {
        let more: Vec<String> = across.iter().chain([axis]).cloned().collect();
        if count(&more) > count(&across) {
            across = more;
        }
    }
    let rate = |cell: &Value| {
        let rates = ["/read/mibPerSecond", "/write/mibPerSecond"];
        let rate: f64 = rates.iter().filter_map(|place| number(cell, place)).sum();
        Some(rate).filter(|rate| *rate > 0.0)
    };
    let (mut columns, mut rows) = (Vec::new(), Vec::<String>::new());
    let mut rates = BTreeMap::new();
    for cell in cells {
        let (row, column) = (value(cell, down), place(cell, &across));
        rates.extend(rate(cell).map(|rate| ((row.clone(), column.clone()), rate)));
        for (names, name) in [(&mut rows, row), (&mut columns, column)] {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let of = |row: &String, column: &String| rates.get(&(row.clone(), column.clone())).copied();
    let median =
        |column| Spread::of(rows.iter().filter_map(|row| of(row, column))).map(|all| all.median);
    let medians: Vec<Option<f64>> = columns.iter().map(median).collect();
    let cells = rows.iter().map(|row| {
        let values = columns.iter().zip(&medians);
        let values =
            values.map(|(column, median)| Some(100.0 * (of(row, column)? / (*median)? - 1.0)));
        (row.clone(), values.collect::<Vec<_>>())
    });
    let map = HeatMap {
        title: format!("Sweep: MiB/s by {down}, % off the median of the column"),
        x: across.join(", "),
        y: down.clone(),
        rows: cells.collect(),
        columns,
        scale: HeatScale::Diverging(50.0),
    };
    Some((
        map,
        "Reads and writes together. A missing cell was refused by the device. Simulated.",
    ))
}

fn devices(suite: &Suite) -> Option<Table> {
    let mut table = Table::of(
        "<job|<DataNode, device|<profile|<mode|dilation|read, MiB|written, MiB|MiB/s|busy|dies busy|melded reads",
    );
    for group in &suite.groups {
        for (address, device) in Group::devices(group.typical_run()) {
            if !Group::did_something(device) {
                continue;
            }
            let of = |place| number(device, place);
            let percent = |place| {
                of(place).map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", 100.0 * share))
            };
            let shown = |place, per: f64| grouped(of(place).unwrap_or(0.0) / per, 1);
            table.row([
                format!("{}, {}", group.job, group.variant),
                format!("{address} {}", text(device, "/device")),
                text(device, "/profile").to_owned(),
                text(device, "/mode").to_owned(),
                shown("/timeDilation", 1.0),
                shown("/readBytes", MIB),
                shown("/writtenBytes", MIB),
                shown("/readMibPerSecond", 1.0),
                percent("/utilisation"),
                percent("/dieUtilisation"),
                percent("/meldedReadShare"),
            ]);
        }
    }
    (table.rows().len() > 1).then_some(table)
}
