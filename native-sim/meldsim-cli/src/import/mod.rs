//! `meldsim import`: files of other simulators as profiles and jobs.
//!
//! ```text
//!   ssdconfig.xml --Keys--> device.rs --> device.toml
//!   workload.xml  --Keys--> flows.rs  --> scenario-N.fio, or the flags of a replay
//! ```

mod device;
mod flows;
mod keys;
mod xml;

use std::path::Path;

use anyhow::Result;
use clap::{Args, Subcommand};
use meldsim::Profile;
use meldsim_workload::{Job, JobFile};

use self::device::Flows;
use self::flows::{Flow, depth};
use self::xml::{Keys, parsed, text};
use crate::error::BadInput;
use crate::run::write_file;
use crate::surroundings::Around;

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// From MQSim: a profile of its configuration, and a job file of each scenario
    Mqsim(MqsimArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim import mqsim ssdconfig.xml workload.xml --output mine\n  \
    meldsim run --profile mine/device.toml mine/scenario-1.fio\n\n\
    Writes device.toml and scenario-1.fio, scenario-2.fio, ... Prints the commands that run them, and each key that has no \
    counterpart, with the reason.")]
struct MqsimArgs {
    /// Configuration of the device
    #[arg(value_name = "SSDCONFIG")]
    device: String,
    /// Definition of the workload
    #[arg(value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Folder to write to; it is made if it is not there
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    output: String,
}

pub(crate) fn run(args: &ImportArgs) -> Result<String> {
    let From::Mqsim(args) = &args.from;
    mqsim(args)
}

/// A scenario: its job file's text, if it has jobs, the flags of its traces, and the state before.
#[derive(Default)]
struct Scenario {
    jobs: String,
    traces: Vec<String>,
    fill_percent: u64,
}

fn mqsim(args: &MqsimArgs) -> Result<String> {
    let config = text(&args.device)?;
    let document = parsed(&args.device, &config, "Execution_Parameter_Set")?;
    let device = Keys::of(&args.device, document.root_element());
    let mut flows = Flows {
        write_cache: true,
        depth: 0,
        count: 1,
    };
    let (mut absent, mut differs) = (device.absent(), Vec::new());
    let mut scenarios = Vec::new();
    if let Some(path) = &args.workload {
        let definition = text(path)?;
        let document = parsed(path, &definition, "MQSim_IO_Scenarios")?;
        let elements = document
            .root_element()
            .children()
            .filter(|node| node.has_tag_name("IO_Scenario"));
        let queue_depth = device.number("IO_Queue_Depth", "1024", 1, 65_536)?;
        let mut caches = Vec::new();
        for element in elements {
            let mut scenario = Scenario::default();
            let parts: Vec<_> = element
                .children()
                .filter(roxmltree::Node::is_element)
                .collect();
            let count = parts.len() as u64;
            flows.count = flows.count.max(count);
            for (number, part) in parts.iter().enumerate() {
                let keys = Keys::of(path, *part);
                let is_trace = part.has_tag_name("IO_Flow_Parameter_Set_Trace_Based");
                match Flow::of(&keys, is_trace, (number + 1, count), queue_depth)? {
                    Flow::Job(job) => scenario.jobs += &job,
                    Flow::Trace(flags) => scenario.traces.push(flags),
                }
                flows.depth = flows.depth.max(depth(&keys)?);
                let fill = keys.number("Initial_Occupancy_Percentage", "50", 0, 100)?;
                scenario.fill_percent = scenario.fill_percent.max(fill);
                caches.push(
                    keys.text("Device_Level_Data_Caching_Mode", "WRITE_CACHE")
                        .contains("WRITE"),
                );
                absent.extend(keys.absent());
            }
            if count > 1 && !scenario.traces.is_empty() {
                differs.push(format!(
                    "scenario {}: its flows run one by one, not side by side",
                    scenarios.len() + 1
                ));
            }
            scenarios.push(scenario);
        }
        flows.write_cache = caches.contains(&true);
        if flows.write_cache && caches.contains(&false) {
            differs
                .push("Device_Level_Data_Caching_Mode: writes of all flows are cached".to_owned());
        }
    }
    let name = Path::new(&args.device)
        .file_stem()
        .map_or("mqsim".into(), |name| name.to_string_lossy());
    let (profile, more) = device::profile(&device, &name.replace(['"', '\\'], "_"), flows)?;
    differs.extend(more);
    absent.sort();
    absent.dedup();
    write(args, &device, &profile, &scenarios, (&absent, &differs))
}

/// Writes the files, and says what they are and are not.
fn write(
    args: &MqsimArgs,
    device: &Keys<'_>,
    profile: &str,
    scenarios: &[Scenario],
    (absent, differs): (&[(String, String)], &[String]),
) -> Result<String> {
    let folder = &args.output;
    std::fs::create_dir_all(folder).map_err(|error| {
        BadInput(format!(
            "--output: cannot make \"{folder}\": {error}; give a folder that can be written"
        ))
    })?;
    let path = format!("{folder}/device.toml");
    let parsed = Profile::from_toml(profile).and_then(|parsed| parsed.validate().map(|()| parsed));
    let parsed = parsed.map_err(|errors| {
        BadInput(format!(
            "{}: such a device is not simulated here: {errors}; change it there",
            args.device
        ))
    })?;
    write_file("--output", &path, profile)?;
    let mut said = format!("profile: {path}\n");
    let is_preconditioned = device.flag("Enabled_Preconditioning", "true")?;
    let mut commands = Vec::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        let before = match is_preconditioned && scenario.fill_percent > 0 {
            true => format!(" --precondition fill={},random=100", scenario.fill_percent),
            false => String::new(),
        };
        let run = format!("meldsim run --profile {path}{before}");
        if !scenario.jobs.is_empty() {
            let job = format!("{folder}/scenario-{}.fio", number + 1);
            let file = JobFile {
                name: &job,
                text: &scenario.jobs,
                defaults: &Job::new("mqsim"),
                before: "",
                sections: &[],
                options: &[],
                runtime: None,
                surroundings: &Around::new(&job, &parsed),
            };
            file.parse()?;
            write_file("--output", &job, &scenario.jobs)?;
            said += &format!("scenario {}: {job}\n", number + 1);
            commands.push(format!("{run} {job}"));
        }
        commands.extend(scenario.traces.iter().map(|flags| format!("{run} {flags}")));
    }
    let list = |title: &str, lines: &mut dyn Iterator<Item = String>| {
        let lines: String = lines.map(|line| format!("  {line}\n")).collect();
        if lines.is_empty() {
            lines
        } else {
            format!("{title}:\n{lines}")
        }
    };
    said += &list("run", &mut commands.into_iter());
    said += &list("otherwise here", &mut differs.iter().cloned());
    said += &list(
        "without a counterpart",
        &mut absent.iter().map(|(key, why)| format!("{key}: {why}")),
    );
    Ok(said)
}
