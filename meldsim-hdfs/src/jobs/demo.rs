//! The demo's result as a page: what melding gained, where that is, and what the devices did meanwhile.

use meldsim_stats::Table;
use serde::Deserialize;
use serde_json::Value;

use super::figure::grouped;
use super::record::text;
use super::{origin, published};
use meldsim_report::chart::{Axis, Dot, DotPlot, Line, LineChart};
use meldsim_report::{Fact, Page};

/// What must hold.
const LEAST_GAIN: f64 = 1.30;
const CONTROL_TOLERANCE: f64 = 0.03;
const LEAST_WAIT_SHARE: f64 = 0.90;
/// Samples to each side over which a rate is taken: a reader takes its megabytes one by one.
const REACH: usize = 2;

/// What the page shows of `org.hdfsmeld.demo.layout.DemoResult`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Demo {
    directive: bool,
    profile: String,
    window_bytes: f64,
    window_mode: String,
    data_sets: Vec<DataSet>,
    stock: Variant,
    normal: Variant,
    melded: Variant,
    undilated: Rounds,
    gain_end_to_end: f64,
    gain_device: f64,
    gain_published: f64,
    published_source: String,
    checksums_agree: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DataSet {
    melded_mapped_share: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Variant {
    dilation: f64,
    wall_seconds: f64,
    wall_mib_per_second: f64,
    end_to_end_mib_per_second: f64,
    reader_wait_share: f64,
    all: Option<Device>,
    devices: Vec<Device>,
    samples: Vec<Sample>,
    scan: Scan,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Device {
    device: String,
    read_mib: f64,
    mib_per_second: f64,
    read_active_share: f64,
    die_utilisation: f64,
    channel_utilisation: f64,
    reader_wait_seconds: f64,
    melded_read_share: f64,
    timeouts: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    wall_seconds: f64,
    pages: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scan {
    checksum: String,
    rows: f64,
    file_bytes: f64,
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stage {
    task_seconds: f64,
}

#[derive(Deserialize)]
struct Rounds {
    normal: Variant,
    gains: Vec<f64>,
}

/// A bar, what was found, and whether it is met.
struct Check(String, String, bool);

/// Whether a record is the demo's.
pub(super) fn is_demo(record: &Value) -> bool {
    text(record, "/command") == "org.hdfsmeld.demo.Demo"
}

/// The page; `command` gives it again.
pub(super) fn page(record: &Value, command: &str) -> Result<String, String> {
    let demo = Demo::deserialize(&record["result"]);
    let demo = demo.map_err(|error| format!("the result of the demo: {error}"))?;
    Ok(demo.page(record, command))
}

impl Demo {
    fn page(&self, record: &Value, command: &str) -> String {
        let settings = format!(
            "window {} MiB, {}; directive {}; time dilation {}",
            self.window_bytes / 1_048_576.0,
            self.window_mode.to_lowercase(),
            if self.directive { "on" } else { "off" },
            grouped(self.normal.dilation, 0)
        );
        let origin = origin(record, command, self.profile.clone(), settings);
        let title = match self.directive {
            true => "Melded pages under HDFS and Spark",
            false => "Control: both data sets without the directive",
        };
        let checks = self.checks();
        let mut page = Page::new(title, &self.verdict(&checks), &origin);
        page.facts(&self.facts());
        self.charts(&mut page);
        let mut table = Table::of("<|<check|<found");
        for Check(bar, found, met) in &checks {
            table.row([if *met { "✓" } else { "✗ missed" }, bar, found]);
        }
        page.heading("Checks").table(&table);
        page.heading("More")
            .folded_table("All figures", &self.figures())
            .folded_table("Each device; simulated, waits measured", &self.devices())
            .folded("How to read this", |page| self.explain(page));
        let mut short = record.clone();
        for variant in [
            "/result/normal",
            "/result/melded",
            "/result/undilated/normal",
            "/result/undilated/melded",
        ] {
            let fields = short.pointer_mut(variant).and_then(Value::as_object_mut);
            fields.map(|fields| fields.remove("samples"));
        }
        page.folded_text(
            "The whole configuration and result as JSON",
            &format!("{short:#}"),
        );
        page.finish(&format!("by hdfs-meld {}", text(record, "/version")))
    }

    /// Without the directive, the second data set is not melded.
    fn second(&self) -> &'static str {
        if self.directive { "melded" } else { "control" }
    }

    fn paced(&self) -> [(&'static str, &Variant); 2] {
        [("normal", &self.normal), (self.second(), &self.melded)]
    }

    /// The gain that there is room for at the devices' own speed: a reader that waits a share of its time cannot save more
    /// than that, and no more than the devices do.
    fn most_gain(&self) -> f64 {
        let rest = (1.0 - self.undilated.normal.reader_wait_share).max(0.0);
        self.gain_device.max(1.0).min(1.0 / rest)
    }

    fn checks(&self) -> Vec<Check> {
        let gain = self.gain_end_to_end;
        let mut checks = vec![match self.directive {
            true => Check(
                format!("melded by normal, end to end, at least {LEAST_GAIN:.2}"),
                format!("{gain:.2}"),
                gain >= LEAST_GAIN,
            ),
            false => Check(
                format!("control: without the directive the gain is 1.00 ± {CONTROL_TOLERANCE}"),
                format!("{gain:.3}"),
                (gain - 1.0).abs() <= CONTROL_TOLERANCE,
            ),
        }];
        checks.extend(self.paced().map(|(name, variant)| {
            Check(
                format!("readers wait for the device at least 90 % of their time, {name}"),
                percent(variant.reader_wait_share),
                variant.reader_wait_share >= LEAST_WAIT_SHARE,
            )
        }));
        let found = match self.checksums_agree {
            true => format!("checksum {}", self.stock.scan.checksum),
            false => "they differ".to_owned(),
        };
        checks.push(Check(
            "all variants read the same content".to_owned(),
            found,
            self.checksums_agree,
        ));
        checks
    }

    fn verdict(&self, checks: &[Check]) -> String {
        let met = checks.iter().filter(|check| check.2).count();
        let checks = match met == checks.len() {
            true => format!("All {met} checks are met."),
            false => format!("{met} of {} checks are met.", checks.len()),
        };
        let gains = &self.undilated.gains;
        format!(
            "Spark scans the {} data set {:.2} times as fast as the normal one, end to end, simulated. {checks} That is where \
             readers wait for the devices {} of their time. At the devices' own speed they wait {}, measured: this host is the \
             limit, and a faster device can gain {:.2} times at most. There, {} rounds on the wall clock gave {:.2} to {:.2} \
             times: the host's noise is larger than that.",
            self.second(),
            self.gain_end_to_end,
            percent(self.normal.reader_wait_share),
            percent(self.undilated.normal.reader_wait_share),
            self.most_gain(),
            gains.len(),
            gains.first().unwrap_or(&1.0),
            gains.last().unwrap_or(&1.0),
        )
    }

    fn facts(&self) -> Vec<Fact> {
        let times = |gain: f64| format!("{gain:.2}×");
        vec![
            Fact::new(times(self.gain_end_to_end), "end to end, simulated"),
            Fact::new(times(self.gain_device), "the devices alone, simulated"),
            Fact::new(times(self.gain_published), "in the paper, published"),
            Fact::new(
                times(self.most_gain()),
                "at most at the devices' own speed, measured",
            ),
        ]
    }

    fn charts(&self, page: &mut Page) {
        let [normal, melded] = self.paced().map(|(_, variant)| variant);
        let device = |variant: &Variant| {
            variant
                .all
                .as_ref()
                .map(|all| Dot::from(all.mib_per_second))
        };
        let rates = DotPlot {
            title: "Throughput".to_owned(),
            axis: "MiB/s of device time".to_owned(),
            series: vec!["normal".to_owned(), self.second().to_owned()],
            rows: vec![
                (
                    "one device, published".to_owned(),
                    vec![
                        Some(published::NORMAL_MIB_S.into()),
                        Some(published::MELDED_MIB_S.into()),
                    ],
                ),
                (
                    "one device while it reads, simulated".to_owned(),
                    vec![device(normal), device(melded)],
                ),
                (
                    "end to end, as Spark saw it, simulated".to_owned(),
                    vec![
                        Some(normal.end_to_end_mib_per_second.into()),
                        Some(melded.end_to_end_mib_per_second.into()),
                    ],
                ),
            ],
        };
        page.chart(
            rates,
            "Two Spark tasks read at a time, mostly from two of the three devices. The paper reads one burst of 128 MiB.",
        );
        type Share = fn(&Variant) -> Option<f64>;
        let shares: [(&str, Share); 3] = [
            ("readers wait for the device, measured", |variant| {
                Some(variant.reader_wait_share)
            }),
            ("dies busy while reading, simulated", |variant| {
                Some(variant.all.as_ref()?.die_utilisation)
            }),
            ("channels busy while reading, simulated", |variant| {
                Some(variant.all.as_ref()?.channel_utilisation)
            }),
        ];
        let rows = shares.map(|(label, share)| {
            let dots = [normal, melded]
                .map(|variant| share(variant).map(|share| Dot::from(100.0 * share)));
            (label.to_owned(), dots.into())
        });
        let waits = DotPlot {
            title: "Who waits for whom".to_owned(),
            axis: "% of the time".to_owned(),
            series: vec!["normal".to_owned(), self.second().to_owned()],
            rows: rows.into(),
        };
        page.chart(
            waits,
            "Readers that wait nearly always: the devices are the limit.",
        );
        let wall = [("stock", &self.stock)].into_iter().chain(self.paced());
        let wall =
            wall.map(|(name, variant)| (name.to_owned(), variant.wall_mib_per_second.into()));
        page.chart(
            DotPlot::by_name("Spark on the wall clock", "MiB/s", wall),
            "Slow on purpose: stock HDFS shows that the host could read faster, so the devices are the limit. Measured.",
        );
        let most = self.paced().into_iter().flat_map(|(_, variant)| {
            let devices = 0..variant.devices.len();
            devices
                .flat_map(|device| variant.over_time(device))
                .map(|(_, rate)| rate)
        });
        let most = most.fold(0.0, f64::max);
        for (name, variant) in self.paced() {
            let lines = (0..variant.devices.len()).map(|device| {
                Line::new(
                    format!("{name}, device {device}"),
                    variant.over_time(device),
                )
            });
            let chart = LineChart {
                y: Axis::linear("MiB/s").to(most),
                ..LineChart::linear(
                    format!("Each device over time, {name}"),
                    "ms of device time",
                    "",
                    lines,
                )
            };
            page.chart(
                chart,
                "Sampled every 250 ms of wall time, averaged over a second of it. Simulated.",
            );
        }
    }

    fn figures(&self) -> Table {
        let mut table = Table::new(["<figure", "<kind", "stock", "normal", self.second()].map(
            |name| match name.strip_prefix('<') {
                Some(name) => (name, meldsim_stats::Align::Left),
                None => (name, meldsim_stats::Align::Right),
            },
        ));
        type Show = fn(&Variant) -> Option<String>;
        let number = |value: f64| grouped(value, 0);
        let published = [published::NORMAL_MIB_S, published::MELDED_MIB_S].map(number);
        let [normal, melded] = published;
        table.row([
            "device throughput, MiB/s".to_owned(),
            "published".to_owned(),
            "-".to_owned(),
            normal,
            melded,
        ]);
        let rows: [(&str, &str, Show); 12] = [
            ("device throughput, MiB/s", "simulated", |v| {
                Some(grouped(v.all.as_ref()?.mib_per_second, 0))
            }),
            ("end to end in device time, MiB/s", "simulated", |v| {
                v.all.as_ref()?;
                Some(grouped(v.end_to_end_mib_per_second, 0))
            }),
            ("end to end on the wall clock, MiB/s", "measured", |v| {
                Some(grouped(v.wall_mib_per_second, 0))
            }),
            ("scan, wall seconds", "measured", |v| {
                Some(grouped(v.wall_seconds, 1))
            }),
            ("run time of the tasks, seconds", "measured", |v| {
                Some(grouped(
                    v.scan.stages.iter().map(|stage| stage.task_seconds).sum(),
                    1,
                ))
            }),
            ("readers waiting for the device", "measured", |v| {
                v.all.as_ref()?;
                Some(percent(v.reader_wait_share))
            }),
            ("dies busy while reading", "simulated", |v| {
                Some(percent(v.all.as_ref()?.die_utilisation))
            }),
            ("channels busy while reading", "simulated", |v| {
                Some(percent(v.all.as_ref()?.channel_utilisation))
            }),
            ("melded pages, share read", "simulated", |v| {
                Some(percent(v.all.as_ref()?.melded_read_share))
            }),
            ("files, MiB", "measured", |v| {
                Some(grouped(v.scan.file_bytes / 1_048_576.0, 0))
            }),
            ("rows", "measured", |v| Some(grouped(v.scan.rows, 0))),
            ("checksum", "measured", |v| {
                Some(v.scan.checksum.chars().take(8).collect())
            }),
        ];
        for (name, kind, show) in rows {
            let cells = [&self.stock, &self.normal, &self.melded]
                .map(|variant| show(variant).unwrap_or_else(|| "-".to_owned()));
            table.row([name.to_owned(), kind.to_owned()].into_iter().chain(cells));
        }
        let written = self
            .data_sets
            .iter()
            .map(|set| percent(set.melded_mapped_share));
        let name = ["melded pages, share written", "simulated", "-"].map(str::to_owned);
        table.row(name.into_iter().chain(written));
        table
    }

    fn devices(&self) -> Table {
        let mut table = Table::of(
            "<device|read, MiB|MiB/s|reads outstanding|dies busy|channels busy|readers waited, s|waits given up",
        );
        for (name, variant) in self.paced() {
            for device in &variant.devices {
                table.row([
                    format!("{name}, device {}", device.device),
                    grouped(device.read_mib, 0),
                    grouped(device.mib_per_second, 0),
                    percent(device.read_active_share),
                    percent(device.die_utilisation),
                    percent(device.channel_utilisation),
                    grouped(device.reader_wait_seconds, 1),
                    device.timeouts.to_string(),
                ]);
            }
        }
        table
    }

    fn explain(&self, page: &mut Page) {
        for line in [
            "Real: HDFS and Spark, their code unchanged; the bytes, which come from real files and are checked; the host's speed. \
             Simulated: the flash devices below the DataNodes. A read returns when the simulated device, slowed by the time \
             dilation, has the data.",
            "Device time is wall time divided by the dilation.",
            "Writes are accounted, not paced: the device counts them, and nobody waits for it. At the pace of the scans each data \
             set would take many minutes. Each data set is written once, the first without the directive.",
            "Readers waiting is the time that the DataNodes' read path was blocked on a simulated device, by the run time of the \
             Spark tasks. Reads outstanding is the part of the scan in which a device had at least one read to do.",
            "The gain in between is simulated by meldsim experiment end-to-end --measured FILE.json, with the file that --json \
             writes: both points beside the curve.",
        ] {
            page.paragraph(line);
        }
        page.paragraph(&format!("Published: {}.", self.published_source));
    }
}

impl Variant {
    /// Throughput of one device: milliseconds and MiB/s of device time. Pages are counted when they are sensed, bytes when a
    /// command arrives.
    fn over_time(&self, device: usize) -> Vec<(f64, f64)> {
        let (samples, Some(last)) = (&self.samples, self.samples.len().checked_sub(1)) else {
            return Vec::new();
        };
        let all = |sample: &Sample| sample.pages.iter().sum::<f64>();
        let pages = (all(&samples[last]) - all(&samples[0])).max(1.0);
        let mib_per_page = self.all.as_ref().map_or(0.0, |all| all.read_mib) / pages;
        let points = samples.iter().enumerate().filter_map(|(index, sample)| {
            let from = &samples[index.saturating_sub(REACH)];
            let to = &samples[(index + REACH).min(last)];
            let seconds = (to.wall_seconds - from.wall_seconds) / self.dilation;
            let pages = to.pages.get(device)? - from.pages.get(device)?;
            let ms = 1e3 * sample.wall_seconds / self.dilation;
            (seconds > 0.0).then_some((ms, pages * mib_per_page / seconds))
        });
        points.collect()
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
