//! Drives that were measured, cell by cell, and the same loads simulated.
//!
//! ```text
//!   CSV --rows--> kind: Task { questions, answer } --simulated--> Cell { measured, simulated, error }
//!                  |                                                |
//!                  '--LeftOut, with the reason                      '--by drive and kind, bar--> Line
//! ```
//!
//! A kind is a file of rows, and here a file that says what is simulated for a row and which bar each column has.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod csv;
mod data;
mod depth_writes;
mod drive;
mod error;
mod judge;
mod mixed;
mod order;
mod others;
mod pattern;
mod permutation;
mod prelude;
mod progress;
mod rates;
mod reads;
mod sequential;
mod series;
mod sources;
mod steady;
mod task;
mod zone_commands;
mod zone_interference;
mod zone_load;
mod zones;

use meldsim::profile::Profile;
use task::Tasks;

pub use csv::{Row, Table};
pub use data::{files, rows, tables};
pub use drive::{Drive, reached_by};
pub use error::MeasureError;
pub use judge::{Bar, Cell, Class, Line, Question, lines};
pub use order::{distinct, of_key};
pub use task::{Answer, LeftOut, Mechanism, Scale, Task};

/// The simulations that answer the rows, each row by the drive of its name, and what is not simulated. `profile` stands for
/// the drive of its name in place of the built-in one; `are_own` where the profiles were fitted to the rows.
///
/// # Errors
///
/// Rows that are wrong, or a profile of no device.
pub fn tasks(
    profile: &Profile,
    scale: Scale,
    tables: &[Table],
    are_own: bool,
) -> Result<(Vec<Task>, Vec<LeftOut>), MeasureError> {
    let mechanism = Mechanism::Own;
    let (tasks, mut left_out) = plan(None, profile, (scale, mechanism), tables, are_own)?;
    left_out.extend(data::not_simulated());
    Ok((tasks, left_out))
}

/// The simulations of the rows of reads beside writes with each drive [left out](Mechanism::Others). Nothing is fitted to these.
///
/// # Errors
///
/// As [`tasks`].
pub fn tasks_left_out(
    profile: &Profile,
    scale: Scale,
    tables: &[Table],
) -> Result<Vec<Task>, MeasureError> {
    let (tasks, _) = plan(None, profile, (scale, Mechanism::Others), tables, false)?;
    Ok(tasks)
}

/// The simulations that answer the rows of one drive, for which a profile is tried, and what is not simulated. Their number and
/// order depend on the rows alone.
///
/// # Errors
///
/// Rows that are wrong, or a profile of no device.
pub fn tasks_of(
    drive: Drive,
    profile: &Profile,
    scale: Scale,
    tables: &[Table],
) -> Result<(Vec<Task>, Vec<LeftOut>), MeasureError> {
    let mechanism = Mechanism::Own;
    plan(Some(drive), profile, (scale, mechanism), tables, false)
}

fn plan(
    only: Option<Drive>,
    profile: &Profile,
    (scale, mechanism): (Scale, Mechanism),
    tables: &[Table],
    are_own: bool,
) -> Result<(Vec<Task>, Vec<LeftOut>), MeasureError> {
    type Kind = fn(&Table, &mut Tasks<'_>) -> Result<(), MeasureError>;
    let kinds: [(&str, Kind); 9] = [
        ("read_latency_by_depth.csv", reads::plan),
        ("write_latency_by_depth.csv", depth_writes::plan),
        (rates::FILE, rates::plan),
        ("init_series.csv", series::plan),
        ("zone_overwrite.csv", zones::plan),
        ("waf_permutation_profile.csv", permutation::plan),
        (mixed::FILE, mixed::plan),
        ("zns_mgmt_latency.csv", zone_commands::plan),
        ("zns_interference.csv", zone_interference::plan),
    ];
    let is_asked =
        |file: &str| mechanism == Mechanism::Own || [rates::FILE, mixed::FILE].contains(&file);
    let mut tasks = Tasks {
        profile,
        scale,
        only,
        are_own,
        mechanism,
        tasks: Vec::new(),
        left_out: Vec::new(),
    };
    for (file, plan) in kinds.into_iter().filter(|(file, _)| is_asked(file)) {
        if let Some(table) = data::of(tables, file) {
            plan(table, &mut tasks)?;
        }
    }
    if mechanism == Mechanism::Others {
        return Ok((tasks.tasks, tasks.left_out));
    }
    let [steady, fill] =
        ["steady_random_writes.csv", "waf_by_fill.csv"].map(|file| data::of(tables, file));
    steady::plan(steady, fill, &mut tasks)?;
    if let Some(table) = data::of(tables, sequential::FILE) {
        sequential::plan(table, &mut tasks)?;
    }
    Ok((tasks.tasks, tasks.left_out))
}
