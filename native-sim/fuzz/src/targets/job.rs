//! Job files: any text is a list of jobs, or an error that names file, line and option.

use meldsim::workload::{Job, Runner, parse_job_file};

use super::exercise::tiny_profile;

const FILE: &str = "fuzz.fio";
const MOST_REQUESTS: u64 = 4096;
const MOST_BYTES: u64 = 4 << 20;

/// Reads `data` as a job file and runs its jobs when they are small.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let jobs = match parse_job_file(FILE, &text, &Job::new("")) {
        Ok(jobs) => jobs,
        Err(error) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().starts_with(FILE), "{error}");
            return;
        }
    };
    assert!(!jobs.is_empty());
    for job in &jobs {
        assert!(job.validate().is_ok(), "a job that cannot be: {job:?}");
    }
    if !small(&jobs) {
        return;
    }
    match Runner::new(&tiny_profile(), &jobs) {
        Ok(runner) => match runner.run(|_| {}) {
            Ok(result) => assert_eq!(result.jobs.len(), jobs.len()),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Whether the jobs end soon.
fn small(jobs: &[Job]) -> bool {
    jobs.len() <= 4
        && jobs.iter().all(|job| {
            !job.time_based
                && job.iodepth <= 256
                && job.size_bytes <= MOST_BYTES
                && job.size_bytes / job.block_bytes.max(1) <= MOST_REQUESTS
        })
}
