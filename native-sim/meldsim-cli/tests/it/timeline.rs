//! Timelines show what the device did: Perfetto's own page and ours, opened in a browser, have as many slices, flows and tracks
//! as there were records, and as much time on each track; ours has what the device counted. The screenshots are in
//! `target/pages` of the project.

use crate::support::browser::{self, Browser};
use crate::support::{self, perfetto, release_binary};
use std::collections::BTreeMap;
use std::io::{self, Empty, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use meldsim::timeline::{Gauge, Record, Timeline, Work};
use meldsim::{Instant, Precondition, Profile};
use meldsim_report::{Origin, Page};
use meldsim_timeline::{Shown, Timelines, Written};
use meldsim_workload::{Job, ReadWrite, Run, RunResult, Workload, parse_time};
use serde_json::Value;

/// Of a track: slices, nanoseconds as a trace has them, picoseconds.
type Sums = (u64, u64, u64);

/// What a device told, counted without any of what writes it.
#[derive(Clone, Default, Debug, PartialEq)]
struct Counts {
    tracks: BTreeMap<String, Sums>,
    /// Of each command, the slices that are for it.
    slices_of: BTreeMap<u64, u64>,
    busy_ps: u64,
    suspended: u64,
    levels: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, track: String, (start, end): (Instant, Instant), commands: &[u64]) {
        let sums = self.tracks.entry(track).or_default();
        sums.0 += 1;
        sums.1 += end.as_ps() / 1000 - start.as_ps() / 1000;
        sums.2 += end.as_ps() - start.as_ps();
        for &command in commands {
            *self.slices_of.entry(command).or_default() += 1;
        }
    }

    fn count(&mut self, record: &Record<'_>) {
        match record {
            Record::Bus(span) => {
                let track = format!("channel {} bus", span.channel);
                self.add(track, (span.start, span.end), span.commands);
            }
            Record::Array(span) => {
                self.suspended += u64::from(span.work == Work::Suspended);
                let track = format!("channel {} die {}", span.channel, span.die);
                self.add(track, (span.start, span.end), span.commands);
            }
            Record::Busy(span) => self.busy_ps += span.end.as_ps() - span.start.as_ps(),
            Record::Core(span) => {
                let track = format!("firmware core {}", span.core);
                self.add(track, (span.start, span.end), &[]);
            }
            Record::Collection(span) => {
                let track = format!("garbage collection set {} lane {}", span.set, span.log);
                self.add(track, (span.start, span.end), &[]);
            }
            Record::Level(level) => {
                let gauge = match level.of {
                    Gauge::Outstanding => "outstanding".to_owned(),
                    Gauge::WriteBuffer(set) => format!("write buffer {set}"),
                    Gauge::FreeSuperblocks(set) => format!("free groups {set}"),
                };
                *self.levels.entry(gauge).or_default() += 1;
            }
            Record::Command(command) => {
                let track = format!("commands slot {}", command.slot);
                let times = (command.submitted, command.completed);
                self.add(track, times, &[command.number]);
            }
            _ => panic!("{record:?}"),
        }
    }

    fn slices(&self) -> u64 {
        self.tracks.values().map(|sums| sums.0).sum()
    }

    /// Arrows from each slice of a command to the next.
    fn flows(&self) -> u64 {
        let slices = self.slices_of.values();
        slices.map(|slices| slices - 1).sum()
    }
}

/// Counts what goes on to the timelines.
struct Counting(Arc<Mutex<Counts>>, Box<dyn Timeline>);

impl Timeline for Counting {
    fn record(&mut self, record: &Record<'_>) {
        self.0.lock().unwrap().count(record);
        self.1.record(record);
    }
}

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What some devices did: the trace, the data of the page, and what was counted.
struct Told {
    trace: Vec<u8>,
    written: Written,
    counts: Vec<Counts>,
    results: Vec<RunResult>,
}

fn job(rw: ReadWrite, block_bytes: u64, size_bytes: u64) -> Job {
    Job {
        rw,
        block_bytes,
        size_bytes,
        iodepth: 16,
        ..Job::new("mixed")
    }
}

/// One device whose dies suspend, one that collects garbage, one whose firmware has cores.
fn devices() -> [(Profile, Job, Option<Precondition>); 3] {
    let suspends = {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.commands.suspend_program = true;
        profile
    };
    let collects = {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.geometry.channels = 2;
        profile.geometry.dies_per_channel = 2;
        profile.geometry.blocks_per_plane = 40;
        profile
    };
    let full = Precondition {
        fill_percent: 100,
        random_percent: 50,
    };
    let mut overwrites = job(ReadWrite::RandWrite, 4096, 64 << 20);
    overwrites.runtime = Some(parse_time("40ms").unwrap());
    meldsim_firmware::register();
    let cores = Profile::builtin("deepflash").unwrap();
    [
        (
            suspends,
            job(ReadWrite::RandReadWrite, 20 << 10, 8 << 20),
            None,
        ),
        (collects, overwrites, Some(full)),
        (cores, job(ReadWrite::RandReadWrite, 4096, 2 << 20), None),
    ]
}

fn tell(shown: Shown) -> Told {
    let bytes = Bytes::default();
    let timelines = Timelines::new(Some(bytes.clone()), true, shown);
    let (mut counts, mut results) = (Vec::new(), Vec::new());
    for (number, (profile, job, past)) in devices().into_iter().enumerate() {
        let counted = Arc::new(Mutex::new(Counts::default()));
        let device = timelines
            .begin(&profile, &format!("device {number}"))
            .unwrap();
        let run = Run::<Empty> {
            sources: meldsim::profile::Sources::default(),
            profile,
            workload: Workload::Jobs(vec![job], past.map(Into::into)),
            interval: None,
            timeline: Some(Box::new(Counting(Arc::clone(&counted), device))),
            threads: std::num::NonZeroUsize::MIN,
        };
        results.push(run.run(|_| ControlFlow::Continue(())).unwrap());
        let of_device = counted.lock().unwrap().clone();
        counts.push(of_device);
    }
    let written = timelines.finish().unwrap();
    let trace = bytes.0.lock().unwrap().clone();
    Told {
        trace,
        written,
        counts,
        results,
    }
}

fn number(value: &Value) -> u64 {
    value.as_f64().unwrap_or_default() as u64
}

#[test]
fn perfetto_shows_what_was_told() {
    let (Some(mut browser), Some(page)) = (browser::start(), perfetto::find()) else {
        return;
    };
    let told = tell(Shown::default());
    let slices: u64 = told.counts.iter().map(Counts::slices).sum();
    let flows: u64 = told.counts.iter().map(Counts::flows).sum();
    assert_eq!(told.written.slices, slices);
    assert!(told.counts[0].suspended > 0 && told.counts[0].flows() > 1000);
    browser.resize(1400, 1000);
    let _server = perfetto::open(&mut browser, &page, told.trace);
    let mut query = |sql: &str| perfetto::query(&mut browser, sql);
    let errors = query("select name, value from stats where value > 0 and severity != 'info'");
    assert_eq!(errors, Vec::<Vec<Value>>::new());
    assert_eq!(number(&query("select count(*) from slice")[0][0]), slices);
    assert_eq!(number(&query("select count(*) from flow")[0][0]), flows);
    // Only reads during a suspension lie within another slice.
    let nested = "select count(*) from slice inside join slice outside on outside.id = inside.parent_id \
        where inside.depth > 1 or outside.name != 'suspended'";
    assert_eq!(number(&query(nested)[0][0]), 0);
    let rows = query(
        "select root.name, parent.name || ' ' || track.name, count(*), sum(dur), \
         sum(coalesce(extract_arg(slice.arg_set_id, 'debug.ps'), dur * 1000)) \
         from slice join track on track.id = track_id join track parent on parent.id = track.parent_id \
         join track root on root.id = parent.parent_id group by track_id",
    );
    let mut found = vec![BTreeMap::new(); told.counts.len()];
    for row in rows {
        let device = row[0].as_str().unwrap().strip_prefix("device ").unwrap();
        let device: usize = device.parse().unwrap();
        let sums = (number(&row[2]), number(&row[3]), number(&row[4]));
        found[device].insert(row[1].as_str().unwrap().to_owned(), sums);
    }
    for (found, counted) in found.iter().zip(&told.counts) {
        assert_eq!(found, &counted.tracks);
    }
    let levels = number(&query("select count(*) from counter")[0][0]);
    let told_levels = told.counts.iter().flat_map(|counts| counts.levels.values());
    assert_eq!(levels, told_levels.sum::<u64>());
    // As the page orders them.
    let order = query(
        "select name from track where parent_id = (select id from track where name = 'device 2') \
         order by extract_arg(source_arg_set_id, 'sibling_order_rank')",
    );
    let order: Vec<&str> = order.iter().map(|row| row[0].as_str().unwrap()).collect();
    assert_eq!(order[0], "outstanding");
    let place = |name: &str| order.iter().position(|other| *other == name);
    assert!(place("commands") < place("firmware") && place("firmware") < place("channel 0"));
    assert!(place("channel 9") < place("channel 10"), "{order:?}");
    browser.evaluate("waitForPerfettoIdle().then(() => 0)");
    browser.screenshot(&browser::screenshots().join("perfetto.png"));
}

/// Our page of what was told.
fn our_page(folder: &Path, told: &Told) -> PathBuf {
    let mut page = Page::new("Timeline", "What the devices did.", &Origin::default());
    page.timelines(&told.written.devices);
    let path = folder.join("timeline.html");
    std::fs::write(&path, page.finish("simulated")).unwrap();
    path
}

/// Opens a page with timelines and waits for their first frame.
fn open(browser: &mut Browser, page: &Path, width: u32, scheme: &str) {
    browser.open(page, width, scheme);
    browser.evaluate(
        "(async () => {
            while (!document.querySelector('.timeline').view) await new Promise((done) => setTimeout(done, 20));
            window.view = document.querySelector('.timeline').view;
        })()",
    );
    browser.fit(width);
}

#[test]
fn our_page_draws_what_the_device_counted() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let told = tell(Shown::default());
    let page = our_page(folder.path(), &told);
    open(&mut browser, &page, 1280, "light");
    let found = browser.evaluate(
        "view.devices.map((device) => device.tracks.map((track) =>
            [track.group, track.title, track.kinds[0] === 12, track.length, track.sums[track.length],
            track.ends[track.length - 1]]))",
    );
    for ((device, counted), result) in found
        .as_array()
        .unwrap()
        .iter()
        .zip(&told.counts)
        .zip(&told.results)
    {
        let now_ps = result.device.stats.now_ps;
        let (mut tracks, mut busy_ps) = (BTreeMap::<String, (u64, u64)>::new(), 0);
        let mut buses_ps = 0;
        for track in device.as_array().unwrap() {
            let (group, title) = (track[0].as_str().unwrap(), track[1].as_str().unwrap());
            if track[2] == true {
                busy_ps += number(&track[4]);
                continue;
            }
            let name = match group {
                "channels" => title.to_owned(),
                group => format!("{group} {title}"),
            };
            if title.ends_with("bus") {
                // A command that is on the bus at the end of the run is told as a whole.
                buses_ps += number(&track[4]) - number(&track[5]).saturating_sub(now_ps);
            }
            // What a die suspends has a line of its own below its other spans.
            let sums = tracks.entry(name).or_default();
            sums.0 += number(&track[3]);
            sums.1 += number(&track[4]);
        }
        let told: BTreeMap<String, (u64, u64)> = counted
            .tracks
            .iter()
            .map(|(name, sums)| (name.clone(), (sums.0, sums.2)))
            .collect();
        assert_eq!(tracks, told);
        // The device's own counters. What preconditioning did is not in them.
        let busy: u64 = result
            .device
            .utilisation
            .dies_busy
            .iter()
            .map(|busy| busy.as_ps())
            .sum();
        assert_eq!(busy_ps, busy);
        let channels = result.device.utilisation.channels_busy.iter();
        assert_eq!(buses_ps, channels.map(|busy| busy.as_ps()).sum::<u64>());
    }
    // Everything is drawn but what is below the edge, which scrolling shows.
    let rows = "view.rows.flatMap((row) => row.tracks ?? []).reduce((sum, track) => sum + track.length, 0)";
    browser.evaluate(
        "view.layOut = ((layOut) => function () {
            layOut.call(this);
            this.height = this.total;
            this.scroll = 0;
        })(view.layOut); 0",
    );
    let drawn = browser.evaluate("view.drawNow()");
    assert_eq!(drawn, browser.evaluate(rows));
    assert_eq!(browser.errors, Vec::<String>::new());
}

/// A span of a die that is for a command, in the middle of time: its place in the window.
const A_SPAN: &str = "(() => {
    const row = view.rows.find((row) => row.tracks?.some((track) => track.kinds[0] >= 3 && track.kinds[0] <= 7));
    const track = row.tracks.at(-1), i = track.counts.findIndex((count, i) => count > 0 && i >= track.length / 2);
    view.show(track.starts[i] - track.lengths[i], track.ends[i] + track.lengths[i]);
    view.drawNow();
    view.canvas.scrollIntoView();
    const box = view.canvas.getBoundingClientRect();
    return {x: box.left + view.left() + view.width() / 2, y: box.top + row.y + row.height / 2 - view.scroll,
        command: view.devices[0].served[track.firsts[i]]};
})()";

#[test]
fn our_page_zooms_pans_and_tells() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reads.html");
    let line = format!(
        "run --profile melded-tlc-8x8 --rw randrw --bs 16k --iodepth 8 --size 4m --timeline {}",
        path.display()
    );
    let text = support::stdout(&line);
    assert!(text.contains("The slowest 1 of 256 commands, "), "{text}");
    for (width, scheme) in [(1280, "dark"), (390, "light"), (1280, "light")] {
        open(&mut browser, &path, width, scheme);
        browser.screenshot(&browser::screenshots().join(format!("timeline-{width}-{scheme}.png")));
        assert_eq!(
            browser.evaluate("document.documentElement.scrollWidth"),
            width
        );
    }
    let span = |browser: &mut Browser| {
        let shown = browser.evaluate("view.drawNow() >= 0 && [view.from, view.to]");
        (shown[0].as_f64().unwrap(), shown[1].as_f64().unwrap())
    };
    let all = span(&mut browser);
    let everything =
        browser.evaluate("[Math.min(...view.devices.map(d => d.first)), view.devices[0].end]");
    let everything = (everything[0].as_f64(), everything[1].as_f64());
    assert_eq!((Some(all.0), Some(all.1)), everything, "it opens on all");
    // Around one command only the slots that have one in sight take room.
    browser.evaluate("view.slower(0)");
    browser.evaluate("view.show(view.devices[0].commands.starts.values[0], view.devices[0].commands.starts.values[0] + 1000)");
    browser.evaluate("view.drawNow()");
    let blank = "view.shown.filter(({ tracks: [track] = [] }) => track?.group === 'commands' \
        && !track.starts.some((start, i) => start < view.to && track.ends[i] >= view.from)).length";
    assert_eq!(browser.evaluate(blank), 0);
    browser.evaluate("view.showAll()");
    let place = browser.evaluate("(() => { const box = view.canvas.getBoundingClientRect(); return [box.left + 600, box.top + 200]; })()");
    let mouse = |browser: &mut Browser, kind: &str, (x, y): (f64, f64), wheel: f64| {
        let parameters = serde_json::json!({"type": kind, "x": x, "y": y, "button": if kind == "mouseWheel" || kind == "mouseMoved" { "none" } else { "left" },
            "buttons": u8::from(kind == "mousePressed"), "clickCount": 1, "deltaX": 0, "deltaY": wheel});
        browser.call("Input.dispatchMouseEvent", parameters);
    };
    let at = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    mouse(&mut browser, "mouseWheel", at, -600.0);
    let zoomed = span(&mut browser);
    assert!(
        zoomed.1 - zoomed.0 < 0.5 * (all.1 - all.0),
        "{zoomed:?} of {all:?}"
    );
    browser.evaluate("view.canvas.focus()");
    let key = |browser: &mut Browser, key: &str| {
        browser.call(
            "Input.dispatchKeyEvent",
            serde_json::json!({"type": "keyDown", "key": key}),
        );
    };
    key(&mut browser, "ArrowRight");
    let panned = span(&mut browser);
    assert!(panned.0 > zoomed.0 && (panned.1 - panned.0 - zoomed.1 + zoomed.0).abs() < 1.0);
    key(&mut browser, "Home");
    assert_eq!(span(&mut browser), all);
    // Two fingers that part.
    let touch = |browser: &mut Browser, kind: &str, points: &[f64]| {
        let points: Vec<Value> = points
            .iter()
            .map(|x| serde_json::json!({"x": x, "y": at.1, "id": (*x > at.0) as u8}))
            .collect();
        browser.call(
            "Input.dispatchTouchEvent",
            serde_json::json!({"type": kind, "touchPoints": points}),
        );
    };
    touch(&mut browser, "touchStart", &[at.0 - 50.0, at.0 + 50.0]);
    touch(&mut browser, "touchMove", &[at.0 - 200.0, at.0 + 200.0]);
    touch(&mut browser, "touchEnd", &[]);
    let pinched = span(&mut browser);
    assert!(
        pinched.1 - pinched.0 < 0.5 * (all.1 - all.0),
        "{pinched:?} of {all:?}"
    );
    // A span tells what it is, and a click on it lights its command.
    browser.fit(1280);
    let span = browser.evaluate(A_SPAN);
    let at = (span["x"].as_f64().unwrap(), span["y"].as_f64().unwrap());
    mouse(&mut browser, "mouseMoved", at, 0.0);
    let about = browser.evaluate("view.about.textContent");
    assert!(about.as_str().unwrap().contains(": sense "), "{about}");
    mouse(&mut browser, "mousePressed", at, 0.0);
    mouse(&mut browser, "mouseReleased", at, 0.0);
    assert_eq!(browser.evaluate("view.lit"), span["command"]);
    let parts = browser.evaluate("(() => { const c = view.devices[0].commands.get(view.lit); return c.parts.reduce((a, b) => a + b) - c.length; })()");
    assert_eq!(parts, 0);
    let listed = browser.evaluate("view.latency.querySelectorAll('.parts i').length");
    assert!(number(&listed) >= 3, "{listed}");
    browser.fit(1280);
    browser.screenshot(&browser::screenshots().join("timeline-command.png"));
    assert_eq!(browser.errors, Vec::<String>::new());
}

#[test]
fn a_comparison_says_which_is_faster() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (normal, melded, both) = (path("a.html"), path("b.html"), path("c.html"));
    for (more, file) in [("", &normal), ("--read-pattern sequential", &melded)] {
        let device = "--profile melded-tlc-8x8";
        support::stdout(&format!(
            "run {device} --bs 2m --size 2m {more} --timeline {file}"
        ));
    }
    let verdict = |a: &str, b: &str| {
        support::stdout(&format!("timeline --compare {a} {b} --timeline {both}"));
        let page = std::fs::read_to_string(&both).unwrap();
        let (_, rest) = page.split_once("class=\"verdict\">").unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    // As the experiment melded-throughput has it for 2 MiB.
    let faster = "b.html: read on melded-tlc-8x8 ends first: its last command is complete after 636.9 us, \
                  that of a.html: read on melded-tlc-8x8 after 708.9 us, 1.11 times as long.";
    assert_eq!(verdict(&normal, &melded), faster);
    assert_eq!(verdict(&melded, &normal), faster);
    assert_eq!(
        verdict(&normal, &normal),
        "The last commands of all 2 timelines are complete after 708.9 us."
    );
}

#[test]
fn two_timelines_stand_over_each_other() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (normal, melded, both) = (path("a.html"), path("b.html"), path("c.html"));
    for (more, file) in [("", &normal), ("--read-pattern sequential", &melded)] {
        support::stdout(&format!(
            "run --profile melded-tlc-8x8 --bs 2m --size 2m {more} --timeline {file}"
        ));
    }
    support::stdout(&format!(
        "timeline --compare {normal} {melded} --timeline {both}"
    ));
    open(&mut browser, Path::new(&both), 1280, "light");
    assert_eq!(browser.evaluate("view.devices.length"), 2);
    browser.evaluate("view.slower(0)");
    // The same command in both, and what each took.
    let lengths =
        browser.evaluate("view.devices.map((device) => device.commands.get(view.lit).length)");
    assert!(
        number(&lengths[0]) > number(&lengths[1]) && number(&lengths[1]) > 0,
        "{lengths}"
    );
    assert_eq!(
        browser.evaluate("view.latency.querySelectorAll('.bar').length"),
        2
    );
    browser.screenshot(&browser::screenshots().join("timeline-compare.png"));
    for (a, said) in [
        (path("none.html"), "cannot read"),
        (path("empty.html"), "has no timeline"),
    ] {
        std::fs::write(path("empty.html"), "<p>").unwrap();
        let outcome = support::meldsim(&format!(
            "timeline --compare {a} {melded} --timeline {both}"
        ));
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
}

#[test]
fn the_slowest_commands_and_a_part_of_a_run_are_less() {
    let all = tell(Shown::default()).written;
    let part = Shown {
        from: parse_time("1ms").unwrap(),
        length: Some(parse_time("1ms").unwrap()),
        slowest: None,
    };
    let part = tell(part).written;
    let slowest = Shown {
        slowest: Some(2),
        ..Shown::default()
    };
    let slowest = tell(slowest).written;
    for less in [&part, &slowest] {
        assert!(
            less.slices > 0 && less.slices < all.slices,
            "{} of {}",
            less.slices,
            all.slices
        );
        assert_eq!(less.devices.len(), 3);
    }
    // What the slowest waited for is of all commands that are shown.
    assert_eq!(slowest.waits, all.waits);
}

#[test]
fn what_has_no_timeline_says_so() {
    for (line, said) in [
        (
            "experiment palloc --quick --timeline x.gz",
            "use melded-latency, melded-throughput, qlc-melding",
        ),
        (
            "run --profile optane-900p --size 1m --timeline x.html",
            "has no timeline",
        ),
        (
            "run --size 1m --timeline /nowhere/x.html",
            "give a path that can be written",
        ),
        (
            "run --size 1m --timeline /nowhere/x.gz",
            "give a path that can be written",
        ),
    ] {
        let outcome = support::meldsim(line);
        assert_eq!(outcome.code, 2, "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(said), "{line}: {}", outcome.stderr);
    }
}

/// The bars of the page: the first frame within 2 s of opening, a zoom step within 50 ms. Times depend on the machine, so they
/// are printed and not judged: `cargo test --package meldsim-cli --test it -- --nocapture million`.
#[test]
fn a_million_spans_are_drawn() {
    let Some(mut browser) = browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("million.html");
    let output = std::process::Command::new(release_binary())
        .args("run --profile melded-tlc-8x8 --rw randread --bs 16k --iodepth 64 --size 1216m --timeline".split(' '))
        .arg(&page)
        .output()
        .unwrap();
    assert!(output.status.success());
    open(&mut browser, &page, 1280, "light");
    let first = browser.evaluate("view.firstFrameMs").as_f64().unwrap();
    let all = "view.devices[0].tracks.reduce((sum, track) => sum + (track.kinds[0] === 12 ? 0 : track.length), 0)";
    let spans = number(&browser.evaluate(all));
    assert!(spans >= 1_000_000, "{spans}");
    let steps = browser.evaluate(
        "(() => {
            const steps = [];
            for (const factor of [...Array(16).fill(.5), ...Array(16).fill(2)]) {
                const begin = performance.now();
                view.zoom(factor);
                view.drawNow();
                steps.push(performance.now() - begin);
            }
            return steps.sort((a, b) => a - b);
        })()",
    );
    let step = |at: usize| steps[at].as_f64().unwrap();
    println!(
        "{spans} spans: first frame {first:.0} ms after opening (bar 2000); zoom step median {:.1} ms, slowest {:.1} ms (bar 50)",
        step(16),
        step(31)
    );
    let melded = number(&browser.evaluate("view.drawNow()"));
    assert!(melded > 0);
}
