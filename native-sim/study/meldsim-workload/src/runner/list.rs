//! The requests of jobs as text: CSV under a header.

use std::io::{self, Write};

use crate::job::Job;
use crate::requests::Requests;
use crate::runner::Runner;
use meldsim::Profile;
use meldsim_host::Direction;
use meldsim_stats::csv_lines;

/// Writes a row for each request: the job, `read`, `write`, `trim` or `sync`, and the first byte and the bytes in its namespace. The
/// jobs come one after the other, each with at most so many requests in its own order. On a device with zones they go to these.
///
/// # Errors
///
/// A job that is impossible on the device, and what `out` has.
pub fn write_requests(
    profile: &Profile,
    jobs: &[Job],
    most: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "job,direction,offset,bytes")?;
    let all = || jobs.iter().flat_map(Job::clones);
    // Once for each job: there may be very many requests.
    let names = all().map(|job| csv_lines([[job.name]]).trim_end().to_owned());
    let names: Vec<String> = names.collect();
    let mut row = |job: usize, direction: Direction, start: u64, bytes: u64| {
        writeln!(out, "{},{},{start},{bytes}", names[job], direction.name())
    };
    if profile.has_zones() {
        let runner = Runner::new(profile, jobs).map_err(io::Error::other)?;
        return runner.requests(most, row);
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    for (n, job) in all().enumerate() {
        for request in Requests::new(&job).take(most) {
            row(n, request.direction, request.start, request.bytes)?;
        }
    }
    Ok(())
}
