//! How fast the simulator is: requests and pages per second of CPU time, on one thread.
//!
//! `cargo run --release --example speed [requests]`

use std::time::{Duration, Instant};

use meldsim::{Command, Device, Directive, NamespaceId, Pattern, Profile};

const DATA_BYTES: u64 = 64 << 30;
const LBA_BYTES: u64 = 4096;

/// CPU time of this thread where the system tells it, else wall time: other load does not count.
struct Stopwatch(Instant, Option<Duration>);

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch(Instant::now(), Stopwatch::cpu())
    }

    fn cpu() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ')
            .next()?
            .parse()
            .ok()
            .map(Duration::from_nanos)
    }

    fn seconds(&self) -> f64 {
        match (self.1, Stopwatch::cpu()) {
            (Some(before), Some(after)) => (after - before).as_secs_f64(),
            _ => self.0.elapsed().as_secs_f64(),
        }
    }
}

/// Keeps `depth` reads of `nlb` logical blocks outstanding; returns requests per second.
fn run(
    device: &mut Device,
    nsid: NamespaceId,
    requests: u64,
    depth: u64,
    nlb: u32,
    mut next_slba: impl FnMut(u64) -> u64,
) -> f64 {
    let started = Stopwatch::start();
    let mut submitted = 0;
    let mut completed = 0;
    while completed < requests {
        while submitted < requests && submitted - completed < depth {
            let read = Command::read(nsid, next_slba(submitted), nlb, submitted);
            device.submit(&read).expect("the range is valid");
            submitted += 1;
        }
        device.run_until_completion();
        while device.pop_completion().is_some() {
            completed += 1;
        }
    }
    requests as f64 / started.seconds()
}

fn main() {
    let requests = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(4_000_000);
    let profile = Profile::builtin("melded-tlc-8x8").expect("a preset");
    for pattern in [Pattern::None, Pattern::Sequential] {
        let started = Stopwatch::start();
        let mut device = Device::new(&profile).expect("a possible device");
        println!("{pattern:?}: start-up {:.3} ms", started.seconds() * 1e3);
        let nsid = device.create_namespace(DATA_BYTES).expect("a namespace");
        let lbas = DATA_BYTES / LBA_BYTES;
        let started = Stopwatch::start();
        let directive = Directive::read_pattern(pattern);
        device.preload(nsid, 0, lbas, directive).expect("room");
        println!("  preload of 64 GiB   {:8.3} s", started.seconds());
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let random = |_| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed % lbas
        };
        let rate = run(&mut device, nsid, requests, 64, 1, random);
        println!("  random 4 KiB, 64    {:8.3} M requests/s", rate / 1e6);
        for depth in [4, 64] {
            let count = requests / 8;
            let sequential = |n: u64| n * 32 % (lbas - 32);
            let rate = run(&mut device, nsid, count, depth, 32, sequential);
            println!(
                "  seq. 128 KiB, {depth:2}    {:8.3} M pages/s",
                rate * 32.0 / 1e6
            );
        }
    }
}
