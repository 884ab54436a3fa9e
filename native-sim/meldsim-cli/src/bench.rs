//! `meldsim bench`: how fast the simulator is, measured on this machine.

use std::time::Instant;

use anyhow::Result;
use meldsim::report::{Align, Table, count};
use meldsim::workload::{Job, ReadWrite, Runner};
use meldsim::{Pattern, Profile};
use serde::Serialize;

use crate::args::{BenchArgs, Format};
use crate::output::{Document, footer};
use crate::profiles;
use crate::progress::Progress;

/// One workload, timed.
#[derive(Serialize)]
struct Measurement {
    workload: String,
    requests: u64,
    pages: u64,
    /// Building the device and placing the data.
    setup_wall_s: f64,
    /// Simulating the requests.
    run_wall_s: f64,
    requests_per_wall_s: f64,
    pages_per_wall_s: f64,
    simulated_s: f64,
}

#[derive(Serialize)]
struct Bench {
    machine: String,
    measurements: Vec<Measurement>,
}

pub(crate) fn run(args: &BenchArgs) -> Result<String> {
    let profile = profiles::load(&args.profile)?;
    let random = Job {
        rw: ReadWrite::RandRead,
        iodepth: 64,
        size_bytes: args.requests * 4096,
        ..Job::new("4 KiB random reads, depth 64")
    };
    let sequential = Job {
        block_bytes: 128 << 10,
        iodepth: 8,
        // Twice as many pages: they are simulated faster.
        size_bytes: (args.requests * 2 * 4096).next_multiple_of(128 << 10),
        ..Job::new("128 KiB sequential reads, depth 8")
    };
    let melded = Job {
        name: "128 KiB sequential reads, depth 8, melded".to_owned(),
        read_pattern: Pattern::Sequential,
        ..sequential.clone()
    };
    let measurements = [random, sequential, melded]
        .iter()
        .map(|job| measure(&profile, job))
        .collect::<Result<Vec<Measurement>>>()?;
    let bench = Bench {
        machine: machine(),
        measurements,
    };
    match args.format.format {
        Format::Json => Document::new(&profile.name, "measured", bench).to_json(),
        Format::Table => Ok(to_text(&bench) + &footer(&profile.name, "measured")),
    }
}

fn measure(profile: &Profile, job: &Job) -> Result<Measurement> {
    let begin = Instant::now();
    let runner = Runner::new(profile, std::slice::from_ref(job))?;
    let ready = Instant::now();
    let mut progress = Progress::new("measuring");
    let result = runner.run(|share| progress.update(share))?;
    let run_wall_s = ready.elapsed().as_secs_f64();
    let stats = result.device.stats;
    let requests = stats.read_commands;
    let pages = stats.host_read_bytes / profile.geometry.page_size.0;
    Ok(Measurement {
        workload: job.name.clone(),
        requests,
        pages,
        setup_wall_s: (ready - begin).as_secs_f64(),
        run_wall_s,
        requests_per_wall_s: requests as f64 / run_wall_s,
        pages_per_wall_s: pages as f64 / run_wall_s,
        simulated_s: stats.now_ps as f64 / 1e12,
    })
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!(
        "{} {}, {cores} cores, one used",
        std::env::consts::OS,
        std::env::consts::ARCH
    )
}

fn to_text(bench: &Bench) -> String {
    let columns = [
        ("workload", Align::Left),
        ("requests", Align::Right),
        ("requests / wall s", Align::Right),
        ("pages / wall s", Align::Right),
        ("set-up wall s", Align::Right),
        ("run wall s", Align::Right),
        ("simulated s", Align::Right),
    ];
    let mut table = Table::new(columns);
    for m in &bench.measurements {
        table.row([
            m.workload.clone(),
            m.requests.to_string(),
            count(m.requests_per_wall_s),
            count(m.pages_per_wall_s),
            format!("{:.3}", m.setup_wall_s),
            format!("{:.3}", m.run_wall_s),
            format!("{:.3}", m.simulated_s),
        ]);
    }
    format!("{table}machine: {}\n", bench.machine)
}
