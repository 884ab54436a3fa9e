//! Job files: any text is a list of jobs, or an error that names file, line and option.

use meldsim::Duration;
use meldsim_report::{Origin, run_page};
use meldsim_workload::{Job, JobFileErrors, Runner, parse_job_file};

use super::exercise::tiny_profile;

const FILE: &str = "fuzz.fio";
const MOST_REQUESTS: u64 = 4096;
const MOST_BYTES: u64 = 4 << 20;
const MOST_JOBS: u64 = 8;
const SLICE: Duration = Duration::from_us(100);
const MOST_TIME: Duration = Duration::from_us(500);

/// Reads `data` as a job file and runs its jobs when they are small.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let jobs = match parse_job_file(FILE, &text, &Job::new("")) {
        Ok(list) => list.jobs,
        Err(JobFileErrors(errors)) => {
            assert!(!errors.is_empty());
            let lines = text.lines().count().max(1);
            for error in errors {
                assert!((1..=lines).contains(&error.line), "{error}");
                assert!(error.to_string().starts_with(FILE), "{error}");
            }
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
        Ok(runner) => match runner.with_time_series(SLICE).run(|_| {}) {
            Ok(result) => {
                assert!(result.jobs.len() >= jobs.len());
                for text in [
                    result.to_text(),
                    result.to_csv(),
                    run_page(&result, "fuzz", &Origin::default(), ""),
                ] {
                    assert!(!text.is_empty());
                }
                assert!(result.to_fio_json().is_object());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Whether the jobs end soon: few requests, or little time to submit them in.
pub(super) fn small(jobs: &[Job]) -> bool {
    let soon = |job: &Job| match job.runtime {
        Some(runtime) if job.time_based => runtime <= MOST_TIME,
        _ => job.total_bytes() / job.unit_bytes().max(1) <= MOST_REQUESTS,
    };
    jobs.iter().map(|job| u64::from(job.numjobs)).sum::<u64>() <= MOST_JOBS
        && jobs.iter().all(|job| {
            soon(job)
                && job.iodepth <= 256
                && job.size_bytes <= MOST_BYTES
                && job.total_bytes() <= MOST_BYTES
        })
}
