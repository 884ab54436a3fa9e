//! Firmware in front of a device.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[allow(dead_code, reason = "the model's tests need more of it")]
#[path = "../../meldsim/tests/common/mod.rs"]
mod common;

use common::{device, drain, small_profile};
use meldsim::nvme::Priority;
use meldsim::profile::{DataRate, Firmware};
use meldsim::{Command, Device, Directive, Duration, Profile, QueueId, Stats};

/// Every design, the base one too.
fn designs() -> Vec<Firmware> {
    let designs = meldsim_firmware::register();
    let of = |design| {
        let mut firmware = Firmware::default();
        firmware.design = design;
        firmware
    };
    let mut base = of(designs.pipeline);
    base.optimise(false);
    let on_hardware_threads = |design| {
        let mut firmware = of(design);
        firmware.cores = 3;
        firmware.core.threads = 4;
        firmware
    };
    vec![
        of(designs.naive),
        of(designs.many_layered),
        of(designs.pipeline),
        base,
        on_hardware_threads(designs.many_layered),
        on_hardware_threads(designs.pipeline),
    ]
}

fn with(mut profile: Profile, firmware: Firmware) -> Profile {
    profile.firmware = firmware;
    profile
}

/// Writes, reads, flushes and deallocations of one and of several ranges, from two queues.
fn churn(profile: &Profile) -> (Stats, u64) {
    let mut device = Device::new(profile).unwrap();
    let nsid = device.create_namespace(1 << 30).unwrap();
    let second = device.create_queue(64, Priority::Medium).unwrap();
    let mut completed = 0;
    let mut sum = 0u64;
    for number in 0..3000u64 {
        let queue = if number % 3 == 0 { second } else { QueueId(0) };
        let slba = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        let command = match number % 16 {
            0..=6 => Command::write(nsid, slba, 1 + (number % 5) as u32, Directive::NONE, number),
            7..=12 => Command::read(nsid, slba, 1 + (number % 7) as u32, number),
            13 => Command::flush(nsid, number),
            14 => Command::deallocate(nsid, slba, 40, number),
            _ => {
                let ranges = [(slba, 2), (slba + 30, 3), (slba / 2, 1)];
                device.deallocate(queue, nsid, &ranges, number).unwrap();
                continue;
            }
        };
        device.submit_to(queue, &command).unwrap();
        while device.outstanding() > 40 {
            assert!(device.run_until_completion());
            while let Some(completion) = device.pop_completion() {
                assert!(completion.completed > completion.submitted);
                completed += 1;
                sum = sum.wrapping_mul(31).wrapping_add(completion.tag);
            }
        }
    }
    while device.run_until_completion() {
        while device.pop_completion().is_some() {
            completed += 1;
        }
    }
    assert_eq!(completed, 3000, "served is not submitted");
    assert_eq!(device.outstanding(), 0);
    (device.stats(), sum)
}

#[test]
fn every_command_completes_behind_every_design_and_runs_repeat() {
    for firmware in designs() {
        let profile = with(small_profile(), firmware);
        let (stats, order) = churn(&profile);
        assert_eq!(churn(&profile), (stats, order), "{:?}", profile.firmware);
        assert!(stats.firmware_nvmq_busy_ps > 0 && stats.firmware_lock_conflicts > 0);
        assert!(stats.firmware_cache_hits > 0 && stats.firmware_log_busy_ps > 0);
    }
}

#[test]
fn it_stands_in_front_of_a_device_with_a_link_and_limits() {
    for firmware in designs() {
        let mut profile = with(small_profile(), firmware);
        profile.host.link_rate = DataRate(1_000_000_000);
        profile.host.commands_in_flight = 16;
        profile.host.command_cost = Duration::from_ns(200);
        let (stats, _) = churn(&profile);
        assert!(stats.link_to_host_busy_ps > 0 && stats.queue_wait_ps > 0);
    }
}

#[test]
fn it_stands_in_front_of_memory_that_is_no_flash() {
    for firmware in designs() {
        let profile = with(Profile::builtin("optane-900p").unwrap(), firmware);
        let (stats, order) = churn(&profile);
        assert_eq!(churn(&profile), (stats, order));
        assert!(stats.firmware_nvmq_busy_ps > 0 && stats.chunk_writes > 0);
    }
}

/// Ideal firmware leaves no trace, whatever else the section says.
#[test]
fn ideal_firmware_changes_nothing() {
    let (plain, order) = churn(&small_profile());
    let mut firmware = Firmware::default();
    firmware.cores = 3;
    firmware.cost.fetch = Duration::from_us(100);
    let ideal = churn(&with(small_profile(), firmware));
    assert_eq!(ideal, (plain, order));
    assert_eq!((plain.firmware_cores, plain.firmware_energy_nj), (0, 0));
}

/// One read through an idle pipeline: the sum of its steps, and the flash.
#[test]
fn a_lone_read_takes_the_steps_and_the_flash() {
    let latency = |firmware| {
        let (mut device, nsid) = device(&with(small_profile(), firmware));
        device.preload(nsid, 0, 64, Directive::NONE).unwrap();
        device.submit(&Command::read(nsid, 3, 1, 0)).unwrap();
        (drain(&mut device), device.stats())
    };
    let (flash, _) = latency(Firmware::default());
    let mut firmware = Firmware::default();
    firmware.design = meldsim_firmware::register().pipeline;
    let cost = firmware.cost.clone();
    let nvmq = cost.fetch + cost.parse + cost.table_lookup + cost.complete + cost.message * 3;
    let ilock = cost.lock + cost.message;
    let trans = cost.translate + cost.message;
    let fcmd = cost.compose + cost.unlock + cost.message;
    // Alone it gains nothing from a second hardware thread.
    let mut threads = firmware.clone();
    threads.core.threads = 2;
    assert_eq!(latency(threads).0, latency(firmware.clone()).0);
    let (whole, stats) = latency(firmware);
    assert_eq!(whole, flash + nvmq + ilock + trans + fcmd);
    let busy = [nvmq, ilock, Duration::ZERO, trans, fcmd].map(Duration::as_ps);
    let counted = [
        stats.firmware_nvmq_busy_ps,
        stats.firmware_ilock_busy_ps,
        stats.firmware_cache_busy_ps,
        stats.firmware_trans_busy_ps,
        stats.firmware_fcmd_busy_ps,
    ];
    assert_eq!(counted, busy);
    assert_eq!(
        (stats.firmware_messages, stats.firmware_cache_bypasses),
        (6, 1)
    );
}

#[test]
fn a_read_of_what_was_just_written_comes_from_the_burst_buffer() {
    for firmware in designs() {
        let (mut device, nsid) = device(&with(small_profile(), firmware));
        let write = Command::write(nsid, 5, 2, Directive::NONE, 0);
        device.submit(&write).unwrap();
        drain(&mut device);
        device.submit(&Command::flush(nsid, 1)).unwrap();
        drain(&mut device);
        let read = Command::read(nsid, 5, 2, 2);
        device.submit(&read).unwrap();
        drain(&mut device);
        let stats = device.stats();
        assert_eq!((stats.firmware_cache_hits, stats.page_reads), (1, 0));
        // Deallocated pages are forgotten.
        device.submit(&Command::deallocate(nsid, 5, 2, 3)).unwrap();
        drain(&mut device);
        device.submit(&read).unwrap();
        drain(&mut device);
        let stats = device.stats();
        assert_eq!(
            (stats.firmware_cache_hits, stats.unmapped_page_reads),
            (1, 2)
        );
    }
}

/// Collection tells BGC what it moves.
#[test]
fn collection_costs_bgc_time() {
    let mut profile = with(small_profile(), designs().remove(2));
    profile.firmware.cache_pages = 16;
    let (mut device, nsid) = device(&profile);
    let capacity = device.stats().capacity_pages;
    for number in 0..4 * capacity {
        let slba = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (capacity * 9 / 10);
        let write = Command::write(nsid, slba, 1, Directive::NONE, number);
        device.submit(&write).unwrap();
        if number % 32 == 0 {
            drain(&mut device);
        }
    }
    drain(&mut device);
    let stats = device.stats();
    let least = profile.firmware.cost.collect.as_ps() * stats.gc_pages_moved;
    assert!(stats.gc_pages_moved > 0);
    assert!(stats.firmware_bgc_busy_ps >= least);
}

/// Energy is that of cores at work and of cores that wait.
#[test]
fn energy_is_of_busy_and_of_idle_cores() {
    for mut firmware in designs() {
        firmware.core.idle_energy = firmware.core.active_energy;
        let (stats, _) = churn(&with(small_profile(), firmware.clone()));
        let watts = firmware.core.active_energy.0 as f64 / 1e12;
        let joules = watts * f64::from(firmware.cores) * stats.now_ps as f64 / 1e12;
        let counted = stats.firmware_energy_nj as f64 / 1e9;
        assert!((counted / joules - 1.0).abs() < 1e-6, "{counted} {joules}");
    }
}

#[test]
fn the_built_in_profile_is_possible_and_survives() {
    meldsim_firmware::register();
    let profile = Profile::builtin("deepflash").unwrap();
    assert_eq!(Profile::from_toml(&profile.to_toml()).unwrap(), profile);
    let device = Device::new(&profile).unwrap();
    let restored = Device::restore(&device.snapshot().unwrap()).unwrap();
    assert_eq!(restored.profile(), &profile);
}

/// Cores that do whole commands have no threads to share them: it is refused when the profile is checked.
#[test]
fn naive_cores_have_one_thread() {
    let mut profile = with(small_profile(), designs().remove(0));
    profile.firmware.core.threads = 2;
    let errors = profile.validate().unwrap_err();
    let keys: Vec<&str> = errors.0.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(keys, ["firmware.core.threads"]);
}
