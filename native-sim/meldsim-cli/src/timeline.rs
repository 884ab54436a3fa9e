//! The flags of timelines, their files, and `meldsim timeline`, which makes one of several.

use std::path::Path;

use anyhow::Result;
use clap::{ArgGroup, Args};

use crate::error::BadInput;
use crate::output::{file_name, note, origin, version_line};
use meldsim::Duration;
use meldsim::profile::Profile;
use meldsim::timeline::Timeline;
use meldsim_hdfs::{Names, join};
use meldsim_report::{FoundTimeline, Origin, Page};
use meldsim_timeline::{Shown, TimelineData, Timelines, Written};
use meldsim_workload::parse_time;

/// Files with this name are pages.
const PAGE: &str = ".html";

#[derive(Debug, Args)]
#[command(next_help_heading = "Timeline")]
pub(crate) struct TimelineArgs {
    /// Also write what every channel, die, core and command did: a page if the name ends in .html, else a trace for
    /// ui.perfetto.dev, compressed by gzip. A --report has it as a section, too
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<String>,
    /// Only from this simulated time on
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_time)]
    pub(crate) timeline_from: Option<Duration>,
    /// Only for this much simulated time
    #[arg(long, value_name = "TIME", requires = "timeline", value_parser = parse_time)]
    pub(crate) timeline_for: Option<Duration>,
    /// Keep only the N slowest commands
    #[arg(long, value_name = "N", requires = "timeline", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) timeline_slowest: Option<u32>,
}

impl TimelineArgs {
    /// The path of the page, if one is asked for.
    fn page(&self) -> Option<&str> {
        self.timeline.as_deref().filter(|path| path.ends_with(PAGE))
    }

    /// Makes the file, if one is asked for, and keeps what a page shows, if there will be one.
    pub(crate) fn create(&self, in_report: bool) -> Result<Timelines> {
        let shown = Shown {
            from: self.timeline_from.unwrap_or_default(),
            length: self.timeline_for,
            slowest: self.timeline_slowest,
        };
        let path = self.timeline.as_deref();
        let trace = path.filter(|path| !path.ends_with(PAGE));
        let for_page = in_report || self.page().is_some();
        let timelines = Timelines::create(trace, for_page, shown);
        Ok(timelines.map_err(|error| cannot_write(path, &error))?)
    }

    /// Begins the records of a device.
    pub(crate) fn begin(
        &self,
        timelines: &Timelines,
        profile: &Profile,
        name: &str,
    ) -> Result<Box<dyn Timeline>> {
        let device = timelines.begin(profile, name);
        Ok(device.map_err(|error| cannot_write(self.timeline.as_deref(), &error))?)
    }

    /// Ends the file, and tells what there is.
    pub(crate) fn finish(&self, timelines: &Timelines) -> Result<Written> {
        let written = timelines.finish();
        let written = written.map_err(|error| cannot_write(self.timeline.as_deref(), &error))?;
        if self.timeline.is_some() && written.slices == 0 {
            note("note: nothing happened in the part of the run that --timeline shows");
        }
        Ok(written)
    }

    /// Writes the page, if one is asked for.
    pub(crate) fn write_page(
        &self,
        title: &str,
        devices: &[TimelineData],
        origin: &Origin,
        footer: &str,
    ) -> Result<()> {
        let Some(path) = self.page() else {
            return Ok(());
        };
        let verdict = match devices {
            [one] => format!("{}.", one.headline),
            all => {
                let lines = all
                    .iter()
                    .map(|one| format!("{}: {}.", one.name, one.headline));
                lines.collect::<Vec<_>>().join(" ")
            }
        };
        let mut page = Page::new(title, &verdict, origin);
        page.timelines(devices);
        write(path, &page.finish(footer))
    }
}

fn write(path: &str, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|error| cannot_write(Some(path), &error).into())
}

fn cannot_write(path: Option<&str>, error: &std::io::Error) -> BadInput {
    let path = path.unwrap_or_default();
    BadInput(format!(
        "--timeline: cannot write \"{path}\": {error}; give a path that can be written"
    ))
}

#[derive(Debug, Args)]
#[command(
    override_usage = "meldsim timeline <--compare A B|--join FOLDER> --timeline FILE",
    group = ArgGroup::new("timelines").required(true).args(["compare", "join"]),
    after_help = "Examples:\n  \
    meldsim run --profile melded-tlc-8x8 --bs 2m --size 2m --timeline normal.html\n  \
    meldsim run --profile melded-tlc-8x8 --bs 2m --size 2m --read-pattern sequential --timeline melded.html\n  \
    meldsim timeline --compare normal.html melded.html --timeline both.html\n  \
    meldsim timeline --join recorded --timeline cluster.perfetto.gz\n\n\
    Compared timelines stand one above the other on one scale of time. A click on a command lights the one of the same \
    number in both."
)]
pub(crate) struct TimelineCommandArgs {
    /// Two pages with timelines, of --timeline FILE.html or --report
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    compare: Vec<String>,
    /// A folder with what DataNodes recorded (hdfs meld -timeline fetch) and, if it is there, what Spark did (*.spark.jsonl.gz)
    #[arg(long, value_name = "FOLDER")]
    join: Option<String>,
    /// With --join: replace paths, hosts, devices, clients and applications by hashes with a key that is thrown away
    #[arg(long, requires = "join")]
    redact: bool,
    /// What to write: with --compare a page, such as both.html; with --join a trace for Perfetto, compressed by gzip
    #[arg(long, value_name = "FILE")]
    timeline: String,
}

/// `meldsim timeline`: writes one timeline of several.
pub(crate) fn timeline(args: &TimelineCommandArgs) -> Result<String> {
    match &args.join {
        Some(folder) => joined(args, folder),
        None => compare(args),
    }
}

fn joined(args: &TimelineCommandArgs, folder: &str) -> Result<String> {
    if args.timeline.ends_with(PAGE) {
        let message = format!(
            "--timeline: \"{}\" would be a page, and joined timelines are for Perfetto; use a name such as cluster.perfetto.gz",
            args.timeline
        );
        return Err(BadInput(message).into());
    }
    let names = if args.redact {
        Names::redacted()
    } else {
        Names::default()
    };
    let joined = join(Path::new(folder), Path::new(&args.timeline), &names);
    let joined = joined.map_err(|error| BadInput(format!("--join: {error}")))?;
    for text in &joined.notes {
        note(&format!("note: {text}"));
    }
    if joined.lost > 0 {
        let lost = joined.lost;
        note(&format!(
            "note: {lost} older records had to make room; record for less time"
        ));
    }
    let mut text = format!(
        "{}: {} tasks, {} block reads of clients on {} DataNodes, {} commands of {} devices\n",
        args.timeline,
        joined.tasks,
        joined.block_reads,
        joined.datanodes,
        joined.commands,
        joined.devices
    );
    text += &format!(
        "block reads that a task made: {} of {}\n\
         requests with their command: {} of {}\n\
         readers waited for devices: {:.6} s, tasks {:.6} s of it\n",
        joined.task_reads,
        joined.block_reads,
        joined.joined_requests,
        joined.requests,
        joined.waited_seconds,
        joined.task_waited_seconds
    );
    Ok(text)
}

fn compare(args: &TimelineCommandArgs) -> Result<String> {
    let mut timelines = Vec::new();
    for path in &args.compare {
        let page = std::fs::read_to_string(path).map_err(|error| {
            BadInput(format!(
                "--compare: cannot read \"{path}\": {error}; give a page that --timeline FILE.html has written"
            ))
        })?;
        let found = FoundTimeline::in_page(&file_name(path), &page);
        if found.is_empty() {
            let message = format!(
                "--compare: \"{path}\" has no timeline; give a page that --timeline FILE.html has written"
            );
            return Err(BadInput(message).into());
        }
        timelines.extend(found);
    }
    let names = args.compare.join(", ");
    let origin = origin(&names, "as in the pages", "as in the pages")?;
    let mut page = Page::new("Timelines compared", &which_is_faster(&timelines), &origin);
    page.timelines_of_pages(&timelines);
    write(&args.timeline, &page.finish(&version_line("simulated")))?;
    Ok(format!(
        "{}: {} timelines\n",
        args.timeline,
        timelines.len()
    ))
}

/// Which timeline ends first, and by what.
fn which_is_faster(timelines: &[FoundTimeline]) -> String {
    let ends: Option<Vec<(&FoundTimeline, f64)>> = timelines
        .iter()
        .map(|timeline| Some((timeline, timeline.end?.as_ps() as f64 / 1e6)))
        .collect();
    let ends = ends.unwrap_or_default();
    let first = ends.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let last = ends.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    match (first, last) {
        (Some((first, sooner)), Some((last, later))) if sooner < later => format!(
            "{} ends first: its last command is complete after {sooner:.1} us, that of {} after {later:.1} us, {:.2} times as long.",
            first.name,
            last.name,
            later / sooner
        ),
        (Some((_, end)), _) => format!(
            "The last commands of all {} timelines are complete after {end:.1} us.",
            ends.len()
        ),
        _ => format!("{} timelines, one above the other.", timelines.len()),
    }
}
