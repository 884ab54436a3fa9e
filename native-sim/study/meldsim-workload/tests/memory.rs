//! Traces of any length in constant memory. A program of its own: the memory of the process is that of all its tests.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::io::{BufRead, BufReader, Read};
use std::sync::{Mutex, PoisonError};

use meldsim::Profile;
use meldsim::engine::available_memory;
use meldsim_workload::trace::{Replay, ReplayOptions, TraceFormat, TraceReader};
use meldsim_workload::{Job, ReadWrite, Runner, parse_job_file};

/// Lines made as they are read: a file that no disk has to hold.
struct Generated<F> {
    line: F,
    next: u64,
    lines: u64,
    text: Vec<u8>,
    used: usize,
}

impl<F: FnMut(u64) -> String> Read for Generated<F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.used == self.text.len() && self.next < self.lines {
            self.text = (self.line)(self.next).into_bytes();
            (self.next, self.used) = (self.next + 1, 0);
        }
        let bytes = buffer.len().min(self.text.len() - self.used);
        buffer[..bytes].copy_from_slice(&self.text[self.used..self.used + bytes]);
        self.used += bytes;
        Ok(bytes)
    }
}

fn generated(lines: u64, line: impl FnMut(u64) -> String) -> impl BufRead {
    BufReader::new(Generated {
        line,
        next: 0,
        lines,
        text: Vec::new(),
        used: 0,
    })
}

/// What another test takes meanwhile would be counted, too.
static ALONE: Mutex<()> = Mutex::new(());

fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// 10 GB of lines of 64 bytes would be 160 million; memory is seen to stay flat long before.
#[test]
fn memory_does_not_grow_with_the_trace() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let line = |n: u64| {
        let sector = n * 7919 % 4096 * 8;
        format!("{} 0 {sector} 8 {}\n", n * 20_000, u64::from(n % 8 > 0))
    };
    let reader = TraceReader::new("t", generated(600_000, line), Some(TraceFormat::Mqsim)).unwrap();
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let mut readings = Vec::new();
    let replay = Replay::new(&profile, reader, ReplayOptions::default()).unwrap();
    let result = replay.run(|| readings.extend(resident_kib())).unwrap();
    assert_eq!(result.trace.unwrap().records, 600_000);
    // From a sixth of the way to the end.
    if let [_, _, _, _, _, _, early, .., last] = readings[..] {
        assert!(last < early + 4096, "{early} KiB, then {last} KiB");
    }
}

fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whatever a job that is taken asks for, its run takes less than was announced, and one that takes too much is refused.
#[test]
fn no_job_takes_more_memory_than_was_announced() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let profile = Profile::builtin("7450-pro").unwrap();
    let mut state = 88_172_645_463_325_252u64;
    let mut below = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % bound
    };
    let (mut run, mut refused) = (0, 0);
    for draw in 0..40 {
        let rw = ["randread", "randwrite", "randrw", "write", "read"][below(5) as usize];
        let bs = ["4k", "16k", "4k-64k", "128k"][below(4) as usize];
        let size = 1u64 << (22 + below(30));
        let (jobs, depth) = (1 << below(8), 1 << below(12));
        let zones = match below(3) {
            0 => format!(
                "zonemode=strided\nzonesize=1m\nzonerange={}\n",
                1u64 << (20 + below(43))
            ),
            _ => String::new(),
        };
        let text = format!(
            "[j]\nrw={rw}\nbsrange={bs}-{}\nsize={size}\nnumjobs={jobs}\nioengine=libaio\niodepth={depth}\nfilename=x\nnumber_ios=20\n{zones}",
            bs.rsplit('-').next().unwrap()
        )
        .replace("4k-64k-64k", "4k-64k");
        let jobs: Vec<Job> = parse_job_file("j", &text, &Job::new("")).unwrap().jobs;
        let before = resident_kib();
        // Peaks are those from here on, where the system lets one say so.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        match Runner::new(&profile, &jobs) {
            Err(error) => {
                refused += 1;
                let said = error.to_string();
                assert!(
                    said.contains("can hold") || said.contains("memory: of about"),
                    "{text}: {said}"
                );
            }
            Ok(runner) => {
                run += 1;
                let announced = runner.memory_bytes();
                drop(runner.run(|_| ()).unwrap());
                if let (Some(before), Some(peak)) = (before, peak_kib()) {
                    let taken = peak.saturating_sub(before) << 10;
                    assert!(
                        taken <= announced + (64 << 20),
                        "{draw}: {text}: {taken} B of {announced} B"
                    );
                }
            }
        }
    }
    assert!(run > 10 && refused > 5, "{run} ran, {refused} did not");
    let endless = Job {
        rw: ReadWrite::RandRead,
        size_bytes: 1 << 52,
        ..Job::new("j")
    };
    let error = Runner::new(&profile, &[endless]).unwrap_err().to_string();
    assert!(
        error.contains("4503599627370496 B (4096 TiB), but the device can hold 960197124096 B"),
        "{error}"
    );
    let far = "[j]\nrw=randread\nsize=1g\nzonemode=strided\nzonesize=1m\nzonerange=8388608t\n";
    let jobs = parse_job_file("j", far, &Job::new("")).unwrap().jobs;
    if available_memory().is_some() {
        let error = Runner::new(&profile, &jobs).unwrap_err().to_string();
        assert!(error.contains("memory: of about 260"), "{error}");
    }
}
