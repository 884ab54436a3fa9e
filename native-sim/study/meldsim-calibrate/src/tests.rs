//! Drives that are made up: what is fitted to their cells is held against what they were made of.

use std::ops::ControlFlow;

use super::parameter::Key;
use super::search::Search;
use super::simulations::{Here, Simulations};
use super::*;
use meldsim::engine::Random;
use meldsim_host::all_cores;
use meldsim_measured::Scale;
use meldsim_measured::{Drive, Table, files, tasks_of};

const CAPACITY: u64 = 960_000_000_000;

/// A drive of that seed.
fn hidden(seed: u64) -> Vec<(Key, f64)> {
    let mut random = Random::new(seed);
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    let fast = between(35.0, 70.0);
    let values = vec![
        (Key::Dies, [2.0, 3.0, 4.0, 6.0][between(0.0, 4.0) as usize]),
        (Key::Read(0), fast),
        (Key::Read(1), fast * between(1.05, 1.2)),
        (Key::Read(2), fast * between(1.25, 1.5)),
        (Key::BusRate, between(500.0, 1_400.0).round()),
        (Key::Latency, between(2.0, 7.0)),
        (Key::Program, between(700.0, 2_000.0)),
        (Key::Spare, between(0.09, 0.25)),
        (Key::Phase, between(60.0, 220.0)),
        (Key::Resume, between(30.0, 300.0)),
        (Key::ReadsFirst, [1.0, 2.0, 3.0][between(0.0, 3.0) as usize]),
    ];
    values
}

fn profile(values: &[(Key, f64)]) -> Profile {
    let request = Request {
        capacity_bytes: Some(CAPACITY),
        ..request(Vec::new())
    };
    let mut profile = model::base(&request).unwrap();
    for (key, value) in values {
        key.set(&mut profile, CAPACITY as f64, *value);
        if *key == Key::Dies {
            Key::Superblock.set(&mut profile, CAPACITY as f64, 1_024.0);
        }
    }
    // What is assumed is so.
    profile.controller.write_buffer = model::write_buffer(&profile);
    profile
}

fn request(tables: Vec<(String, String)>) -> Request {
    Request {
        drive: "hidden".to_owned(),
        tables,
        fio: Vec::new(),
        capacity_bytes: Some(CAPACITY),
        overhead: 1.0,
        given: Vec::new(),
        seed: 1,
        full: false,
    }
}

/// Rows with 1 in what is measured.
fn rows(steady_iops: f64) -> Vec<(&'static str, String)> {
    let mut reads = "drive,dataset,sw_path,block_bytes,threads,depth_per_thread,iops,mean_us,p10_us,p50_us,p90_us,p99_us,limit\n".to_owned();
    for (block, depth) in [
        (4096, 1),
        (4096, 4),
        (4096, 8),
        (4096, 16),
        (4096, 32),
        (4096, 64),
        (4096, 256),
        (16384, 1),
        (16384, 8),
        (16384, 32),
    ] {
        reads += &format!("hidden,reads,io_uring,{block},1,{depth},1,1,1,1,1,1,\n");
    }
    let mut rates = "drive,unit,offered_total_iops,saturated,achieved_write_iops,read_p10_us,read_p50_us,read_p90_us,read_p99_us,write_p50_us,write_p99_us\n".to_owned();
    for (share, saturated) in [(0.25, 0), (0.6, 0), (1.6, 1)] {
        let rate = (share * steady_iops).max(8_000.0).round();
        rates += &format!("hidden,u,{rate},{saturated},1,1,1,1,1,1,1\n");
    }
    let mut mixed = "drive,dataset,write_op,write_block_bytes,write_jobs,write_depth,write_rate_asked_MBps,read_block_bytes,read_depth,read_iops,read_mean_us,read_p50_us,read_p90_us,read_p99_us\n".to_owned();
    for depth in [1, 16, 64] {
        mixed += &format!("hidden,m,write,131072,1,1,150,4096,{depth},1,1,1,1,1\n");
    }
    let steady = format!(
        "drive,dataset,pattern,param,file_bytes,threads,depth_per_thread,steady,iops_steady,waf_counter\nhidden,s,uniform,0,{CAPACITY},4,128,1,1,\n"
    );
    let fill = format!(
        "drive,file_bytes,threads,depth_per_thread,iops_steady,waf_counter\nhidden,{},4,128,1,\n",
        CAPACITY / 100 * 85
    );
    let filled = "drive,block_bytes,threads,depth_per_thread,MBps_median\nhidden,524288,1,1,1\n";
    vec![
        ("read_latency_by_depth.csv", reads),
        ("latency_by_offered_rate.csv", rates),
        ("mixed_read_write.csv", mixed),
        ("steady_random_writes.csv", steady),
        ("waf_by_fill.csv", fill),
        ("sequential_write.csv", filled.to_owned()),
    ]
}

/// The rows as that profile has them, each number off by half a percent at most.
fn measure(
    profile: &Profile,
    rows: &[(&'static str, String)],
    random: &mut Random,
) -> Vec<(String, String)> {
    assert!(
        rows.iter()
            .all(|(file, _)| files().any(|known| known == *file))
    );
    let drive = Drive::tried("drive", CAPACITY, 1.0);
    let parsed: Vec<Table> = rows
        .iter()
        .map(|(file, text)| Table::parse(file, text).unwrap())
        .collect();
    let (tasks, _) = tasks_of(drive, profile, Scale::Quick, &parsed).unwrap();
    let mut texts: Vec<Vec<Vec<String>>> = rows
        .iter()
        .map(|(_, text)| {
            let split = |line: &str| line.split(',').map(str::to_owned).collect();
            text.lines().map(split).collect()
        })
        .collect();
    let values = try_map(all_cores(), &tasks, |task| (task.answer)(&task.questions)).unwrap();
    for (task, values) in tasks.iter().zip(values) {
        for (question, value) in task.questions.iter().zip(values) {
            let table = rows
                .iter()
                .position(|(file, _)| *file == question.file)
                .unwrap();
            let lines = &mut texts[table];
            let Some(column) = lines[0].iter().position(|name| *name == question.column) else {
                continue;
            };
            let noise = 1.0 + 0.005 * (2.0 * random.unit() - 1.0);
            lines[question.row as usize - 1][column] = (value.unwrap() * noise).to_string();
        }
    }
    let joined = texts.into_iter().zip(rows).map(|(lines, (file, _))| {
        let lines: Vec<String> = lines.into_iter().map(|fields| fields.join(",")).collect();
        ((*file).to_owned(), lines.join("\n"))
    });
    joined.collect()
}

/// The cells of a hidden drive.
fn cells(values: &[(Key, f64)], seed: u64) -> Vec<(String, String)> {
    let hidden = profile(values);
    let mut random = Random::new(!seed);
    let steady = measure(&hidden, &rows(20_000.0)[3..4], &mut random);
    let table = Table::parse("steady_random_writes.csv", &steady[0].1).unwrap();
    let iops = table.rows[0].number("iops_steady").unwrap();
    measure(&hidden, &rows(iops), &mut random)
}

#[test]
fn what_is_given_of_the_geometry_stays_with_any_number_of_dies() {
    let given = [
        ("geometry.wordlines_per_block", "300"),
        ("geometry.blocks_per_plane", "1500"),
        ("controller.write_buffer", "24MiB"),
    ];
    let reads = "drive,dataset,sw_path,block_bytes,threads,depth_per_thread,iops,mean_us,p50_us,limit\n\
        hidden,r,io_uring,4096,1,1,14000,71,71,\nhidden,r,io_uring,4096,1,4,50000,80,75,\n";
    let request = Request {
        given: given.map(|(key, value)| format!("{key}={value}")).to_vec(),
        ..request(vec![(
            "read_latency_by_depth.csv".to_owned(),
            reads.to_owned(),
        )])
    };
    let model = Calibration::new(request).unwrap().model;
    let dies = model.keys.iter().position(|key| *key == Key::Dies).unwrap();
    for option in Key::Dies.options() {
        let mut point = vec![50.0; model.keys.len()];
        point[dies] = *option;
        let profile = model.profile(&point);
        assert_eq!(f64::from(profile.geometry.dies_per_channel), *option);
        assert_eq!(profile.geometry.wordlines_per_block, 300);
        assert_eq!(profile.geometry.blocks_per_plane, 1_500);
        assert_eq!(profile.controller.write_buffer.0, 24 << 20);
    }
}

/// How many drives: five take some minutes.
fn drives() -> u64 {
    let given = std::env::var("CALIBRATE_DRIVES").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(2)
}

#[test]
#[ignore = "takes minutes a drive; ./meld check runs it"]
fn what_is_identifiable_of_hidden_drives_is_right_and_the_rest_is_named() {
    let mut counts = [0, 0];
    for seed in 1..=drives() {
        let truth = hidden(seed);
        let calibration = Calibration::new(request(cells(&truth, seed))).unwrap();
        let here = Here {
            jobs: all_cores(),
            record: &|_, _| {},
            progress: &|_| ControlFlow::Continue(()),
        };
        let mut simulations = Simulations::here(&calibration.model, here);
        let mut search = Search {
            simulations: &mut simulations,
        };
        let solved = search.solve(&calibration.start, seed).unwrap();
        let (estimates, _) = identify::identify(&search, &solved);
        for estimate in estimates {
            let value = truth.iter().find(|(key, _)| *key == estimate.key);
            let Some((_, value)) = value else { continue };
            let off = estimate.value / value - 1.0;
            eprintln!(
                "{seed} {:32} {:9.3} {:9.3} {:6.1} %  {:9.3} to {:9.3} {}",
                estimate.key.name(),
                value,
                estimate.value,
                100.0 * off,
                estimate.low,
                estimate.high,
                if estimate.is_identifiable {
                    "identifiable"
                } else {
                    ""
                }
            );
            counts[usize::from(estimate.is_identifiable)] += 1;
            if estimate.is_identifiable {
                assert!(
                    off.abs() <= 0.05,
                    "seed {seed}: {estimate:?}, made of {value}"
                );
            }
        }
    }
    let [named, identifiable] = counts;
    assert!(
        identifiable >= 3 * drives() as usize,
        "{identifiable} of {} parameters are identifiable",
        named + identifiable
    );
}
