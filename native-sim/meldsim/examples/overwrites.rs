//! Random overwrites in steady state: how long preconditioning takes, how fast the simulator is on
//! one thread, and what the device amplifies.
//!
//! `cargo run --release --example overwrites [overwrites] [profile]`

use std::time::{Duration, Instant};

use meldsim::{Command, Device, Directive, Precondition, Profile};

const DEPTH: u64 = 64;

/// CPU time of this thread where the system tells it, else wall time: other load does not count.
fn cpu_time(started: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat");
    let ns = told
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    ns.map_or(started.elapsed(), Duration::from_nanos)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let overwrites = arguments.next().and_then(|n| n.parse().ok());
    let overwrites: u64 = overwrites.unwrap_or(2_000_000);
    let name = arguments.next().unwrap_or("melded-tlc-8x8".to_owned());
    let profile = match std::fs::read_to_string(&name) {
        Ok(text) => Profile::from_toml(&text).expect("a profile"),
        Err(_) => Profile::builtin(&name).expect("a preset"),
    };
    let started = Instant::now();
    for fill_percent in [75, 100] {
        let mut device = Device::new(&profile).expect("a possible device");
        let page_bytes = profile.geometry.page_size.0;
        let pages = device.stats().capacity_pages;
        let nsid = device
            .create_namespace(pages * page_bytes)
            .expect("a namespace");
        let precondition = Precondition {
            fill_percent,
            random_percent: 100,
        };
        let before = cpu_time(started);
        device.precondition(&precondition).expect("it is at rest");
        let took = cpu_time(started) - before;
        println!(
            "fill {fill_percent:3} %: {pages} pages, preconditioned in {:.3} s, {} MiB",
            took.as_secs_f64(),
            device.memory() >> 20
        );
        let filled = pages * u64::from(fill_percent) / 100;
        let lbas = page_bytes / profile.controller.lba_size.0;
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        let mut overwrite = |count: u64| {
            let before = (cpu_time(started), device.stats());
            let (mut submitted, mut completed) = (0, 0);
            while completed < count {
                while submitted < count && submitted - completed < DEPTH {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    let (slba, nlb) = (seed % filled * lbas, lbas as u32);
                    let write = Command::write(nsid, slba, nlb, Directive::NONE, submitted);
                    device.submit(&write).expect("the range is valid");
                    submitted += 1;
                }
                device.run_until_completion();
                while device.pop_completion().is_some() {
                    completed += 1;
                }
            }
            let after = (cpu_time(started), device.stats());
            let (rate, host, moved, time) = (
                count as f64 / (after.0 - before.0).as_secs_f64() / 1e6,
                after.1.host_pages_programmed - before.1.host_pages_programmed,
                after.1.gc_pages_moved - before.1.gc_pages_moved,
                (after.1.now_ps - before.1.now_ps) as f64 / 1e12,
            );
            println!(
                "  {rate:.3} M overwrites/s of CPU time; write amplification {:.3}, {:.0} IOPS simulated",
                1.0 + moved as f64 / host as f64,
                count as f64 / time
            );
        };
        overwrite(overwrites / 4); // from the first collection on
        overwrite(overwrites);
    }
}
