//! The experiments beyond the published cells, against a naive model of the same rules that shares no code with the
//! device: one loop per channel, no events.
use std::collections::VecDeque;

use meldsim::Profile;
use meldsim_host::all_cores;
use meldsim_lab::{BusSpeed, EXPERIMENTS, Layout, Run, Setup, burst_read};

const SENSE_US: [u64; 3] = [58, 78, 107];
const MELDED_SENSE_US: u64 = 166;

/// What one die does for one request: sense, then hold the bus.
#[derive(Clone, Copy)]
struct Work {
    sense_ps: u64,
    transfer_ps: u64,
}

/// Time to the last byte of a burst of `pages` pages.
fn naive_ps(setup: &Setup, pages: u64, layout: Layout) -> u64 {
    let byte_ps = |bytes: f64| {
        (bytes * 8e6 / (setup.bus.mts * u64::from(setup.bus.bits)) as f64).round() as u64
    };
    let transfer_ps = byte_ps(setup.page_bytes as f64 * 4625.0 / 4096.0);
    let (channels, dies) = (u64::from(setup.channels), u64::from(setup.dies_per_channel));
    let mut queues = vec![vec![VecDeque::new(); dies as usize]; channels as usize];
    let units = match layout {
        Layout::Normal => pages,
        Layout::Melded => pages.div_ceil(3),
    };
    for unit in 0..units {
        let work = match layout {
            Layout::Normal => Work {
                sense_ps: SENSE_US[(unit / (channels * dies) % 3) as usize] * 1_000_000,
                transfer_ps,
            },
            Layout::Melded => Work {
                sense_ps: MELDED_SENSE_US * 1_000_000,
                transfer_ps: 3 * transfer_ps,
            },
        };
        queues[(unit % channels) as usize][(unit / channels % dies) as usize].push_back(work);
    }
    queues
        .into_iter()
        .map(|dies| naive_channel(dies, byte_ps(10.0)))
        .max()
        .unwrap()
}

/// One channel: commands before data, data round-robin among the dies that have sensed.
fn naive_channel(mut dies: Vec<VecDeque<Work>>, command_ps: u64) -> u64 {
    let count = dies.len();
    let mut commands: VecDeque<usize> = (0..count).filter(|die| !dies[*die].is_empty()).collect();
    let mut sensed_at: Vec<Option<u64>> = vec![None; count];
    let (mut now, mut pointer) = (0, 0);
    loop {
        if let Some(die) = commands.pop_front() {
            now += command_ps;
            sensed_at[die] = Some(now + dies[die][0].sense_ps);
            continue;
        }
        let ready = (0..count)
            .map(|step| (pointer + step) % count)
            .find(|die| sensed_at[*die].is_some_and(|at| at <= now));
        if let Some(die) = ready {
            sensed_at[die] = None;
            pointer = (die + 1) % count;
            now += dies[die].pop_front().unwrap().transfer_ps;
            if !dies[die].is_empty() {
                commands.push_back(die);
            }
            continue;
        }
        match sensed_at.iter().flatten().min() {
            Some(next) => now = *next,
            None => return now,
        }
    }
}

fn design_space() -> Vec<Setup> {
    let mut setups = Vec::new();
    for (channels, dies_per_channel) in [(8, 8), (16, 4), (4, 16), (1, 1), (5, 3)] {
        for page_bytes in [2048, 4096, 8192, 16384] {
            for (mts, bits) in [(400, 8), (800, 8), (1600, 8), (1600, 16), (533, 8)] {
                setups.push(Setup {
                    channels,
                    dies_per_channel,
                    page_bytes,
                    bus: BusSpeed { mts, bits },
                });
            }
        }
    }
    setups
}

#[test]
fn every_device_of_the_design_space_agrees_with_the_naive_model() {
    let base = Profile::builtin("melded-tlc-8x8").unwrap();
    for setup in design_space() {
        let profile = setup.profile(&base);
        for pages in [1, 2, 3, 7, 64, 193, 1000] {
            for layout in [Layout::Normal, Layout::Melded] {
                let simulated = burst_read(&profile, pages * setup.page_bytes, layout).unwrap();
                let naive_ps = naive_ps(&setup, pages, layout);
                assert_eq!(
                    simulated.as_ps(),
                    naive_ps,
                    "{setup:?}, {pages} pages, {layout:?}"
                );
            }
        }
    }
}

#[test]
fn throughput_never_exceeds_what_buses_and_dies_allow() {
    let base = Profile::builtin("melded-tlc-8x8").unwrap();
    let setups: Vec<Setup> = design_space()
        .into_iter()
        .filter(|setup| setup.channels >= 8)
        .collect();
    let experiment = EXPERIMENTS
        .iter()
        .find(|of| of.name == "melded-throughput")
        .unwrap();
    let mut run = Run::new(experiment, base).unwrap();
    run.setups = setups;
    let outcome = run.outcome(all_cores(), &|_| {}).unwrap();
    let rates = serde_json::to_value(outcome).unwrap()["sheets"]["cells"].clone();
    let rates = rates.as_array().unwrap();
    assert_eq!(rates.len(), run.setups.len());
    for (setup, cell) in run.setups.iter().zip(rates) {
        let channels = f64::from(setup.channels);
        let bus_bytes_s =
            (setup.bus.mts * u64::from(setup.bus.bits)) as f64 * 1e6 / 8.0 / (4625.0 / 4096.0);
        let bus_mib_s = channels * bus_bytes_s / f64::from(1 << 20);
        let senses_s = channels * f64::from(setup.dies_per_channel) * 1e6;
        let page_mib = setup.page_bytes as f64 / f64::from(1 << 20);
        let normal_dies_mib_s = senses_s * page_mib / (f64::from(58 + 78 + 107) / 3.0);
        let melded_dies_mib_s = senses_s * page_mib * 3.0 / MELDED_SENSE_US as f64;
        for (key, dies_mib_s) in [
            ("normal_mib_s", normal_dies_mib_s),
            ("melded_mib_s", melded_dies_mib_s),
        ] {
            let rate = cell[key].as_f64().unwrap();
            let most = bus_mib_s.min(dies_mib_s);
            assert!(rate < most && rate > 0.6 * most, "{setup:?} {cell}");
        }
    }
}
