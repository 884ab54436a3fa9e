//! The requests of jobs as text: CSV under a header.

use std::io::{self, Write};

use super::Requests;
use crate::job::Job;
use meldsim_stats::csv_text;

/// Writes a row for each request: the job, `read`, `write`, `trim` or `sync`, and the first byte and the bytes in its namespace. The
/// jobs come one after the other, each with at most so many requests in its own order.
///
/// # Errors
///
/// That of `out`.
pub fn write_requests(jobs: &[Job], most: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "job,direction,offset,bytes")?;
    for job in jobs.iter().flat_map(Job::clones) {
        let name = csv_text(&job.name);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        for request in Requests::new(&job).take(most) {
            let direction = request.direction.name();
            writeln!(
                out,
                "{name},{direction},{},{}",
                request.start, request.bytes
            )?;
        }
    }
    Ok(())
}
