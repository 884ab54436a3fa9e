//! What Spark jobs recorded, as a page. In: the records that jobs and the demo write, each a JSON file. Out: medians and spread
//! as a table and as JSON, whether expectations hold, and a page.
//!
//! ```text
//!   files --read--> records --Suite--> groups of job and variant --> table, JSON, expectations, suite_page
//!                      \--> the one record of a demo --> demo_page
//! ```

mod demo;
mod expectation;
mod figure;
mod record;
mod suite;
mod suite_page;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::expectation::Expectation;
use self::suite::{Outcome, Suite};
use meldsim_report::Origin;

/// What to report.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsRequest {
    /// Records of jobs, and folders that have some.
    pub inputs: Vec<PathBuf>,
    /// What must hold of the medians: `job:variant[/variant][:figure] relation number`.
    #[serde(default)]
    pub expect: Vec<String>,
    /// The page to write.
    #[serde(default)]
    pub html: Option<PathBuf>,
    /// Where to write medians and spread.
    #[serde(default)]
    pub json: Option<PathBuf>,
    /// The command that the page shows.
    pub command: String,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct JobsReport {
    /// Medians and spread, bottlenecks, and what was expected, for people.
    pub text: String,
    /// Whether all that was expected holds.
    pub holds: bool,
}

/// Reads the records, compares them, and writes what is asked for.
///
/// # Errors
///
/// A message: an expectation that is none, with its place; a file that cannot be read or written, or is no record.
pub fn report_jobs(request: &JobsRequest) -> Result<JobsReport, String> {
    let expectations = request.expect.iter().map(|text| {
        let parsed = Expectation::parse(text);
        parsed.map_err(|error| format!("--expect: {error}"))
    });
    let expectations = expectations.collect::<Result<Vec<Expectation>, String>>()?;
    let records = record::read(&request.inputs)?;
    let demo = match &records[..] {
        [one] if demo::is_demo(one) => Some(one.clone()),
        _ => None,
    };
    let suite = Suite::of(records);
    let outcomes = expectations
        .iter()
        .map(|expectation| expectation.check(&suite));
    let outcomes: Vec<Outcome> = outcomes.collect();
    if let Some(path) = &request.json {
        write(path, &suite.to_json(&outcomes))?;
    }
    if let Some(path) = &request.html {
        let page = match &demo {
            Some(demo) => demo::page(demo, &request.command)?,
            None => suite_page::page(&suite, &outcomes, &request.command),
        };
        write(path, &page)?;
    }
    Ok(JobsReport {
        text: suite.to_text(&outcomes),
        holds: outcomes.iter().all(|outcome| outcome.holds),
    })
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let cannot = |error| format!("{}: cannot be written: {error}", path.display());
    std::fs::write(path, text).map_err(cannot)
}

/// Where the numbers of a record come from.
fn origin(run: &Value, command: &str, profile: String, settings: String) -> Origin {
    let text = |key| record::text(run, key);
    Origin {
        command: command.to_owned(),
        profile,
        seed: text("/seed").to_owned(),
        settings,
        version: format!(
            "hdfs-meld {}, Spark {}, Hadoop {}",
            text("/version"),
            text("/sparkVersion"),
            text("/hadoopVersion")
        ),
        date: text("/started").to_owned(),
    }
}

/// What the paper measured on its own simulator.
mod published {
    pub(super) const GAIN: f64 = 1.41;
    pub(super) const NORMAL_MIB_S: f64 = 2879.0;
    pub(super) const MELDED_MIB_S: f64 = 4071.0;
    pub(super) const SOURCE: &str = "Published: Arpith K, K. Gopinath, HotStorage'20: one 128 MiB burst, 8 channels x 8 dies, 4 KiB \
        pages, 800 MT/s x 8 bit.";
}
