//! How fast the simulator overwrites a full device at random, in steady state with garbage
//! collection: requests per second of CPU time, on one thread.
//!
//! `cargo run --release --example overwrite [requests] [percent of the capacity]`

use std::time::{Duration, Instant};

use meldsim::{Command, Device, Directive, Profile};

const DEPTH: u64 = 64;

/// CPU time of this thread where the system tells it, else wall time: other load does not count.
fn cpu(started: Instant) -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|n| n.parse().ok());
    nanos.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|n| n.parse::<u64>().expect("a number"));
    let requests = arguments.next().unwrap_or(8_000_000);
    let percent = arguments.next().unwrap_or(100);
    let profile = Profile::builtin("melded-tlc-8x8").expect("a preset");
    let mut device = Device::new(&profile).expect("a possible device");
    let nsid = device.create_namespace(1 << 40).expect("a namespace");
    let pages = device.stats().capacity_pages * percent / 100;
    device
        .preload(nsid, 0, pages, Directive::NONE)
        .expect("room");
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    let (mut submitted, mut completed) = (0, 0);
    let started = Instant::now();
    let (mut before, mut stats_before) = (cpu(started), device.stats());
    let mut report = requests / 8;
    while completed < requests {
        while submitted < requests && submitted - completed < DEPTH {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let write = Command::write(nsid, seed % pages, 1, Directive::NONE, submitted);
            device.submit(&write).expect("the range is valid");
            submitted += 1;
        }
        device.run_until_completion();
        while device.pop_completion().is_some() {
            completed += 1;
        }
        if completed >= report {
            let (now, stats) = (cpu(started), device.stats());
            let host = stats.host_pages_programmed - stats_before.host_pages_programmed;
            let moved = stats.gc_pages_moved - stats_before.gc_pages_moved;
            println!(
                "{completed:10} requests: {:.3} M/s, write amplification {:.2}, {} MiB",
                (requests / 8) as f64 / (now - before).as_secs_f64() / 1e6,
                1.0 + moved as f64 / host as f64,
                device.memory() >> 20,
            );
            (before, stats_before) = (now, stats);
            report += requests / 8;
        }
    }
}
