//! The requests of jobs as text: CSV under a header.

use std::io::{self, Write};

use super::direction::Direction;
use super::job::Job;
use super::requests::Requests;
use super::runner::Runner;
use meldsim::Profile;
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
    let mut row = |name: &str, direction: Direction, start: u64, bytes: u64| {
        let (start, bytes) = (start.to_string(), bytes.to_string());
        out.write_all(csv_lines([[name, direction.name(), &start, &bytes]]).as_bytes())
    };
    if profile.has_zones() {
        let runner = Runner::new(profile, jobs).map_err(io::Error::other)?;
        return runner.requests(most, row);
    }
    for job in jobs.iter().flat_map(Job::clones) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        for request in Requests::new(&job).take(most) {
            row(&job.name, request.direction, request.start, request.bytes)?;
        }
    }
    Ok(())
}
