//! Throughput against arithmetic.

use super::super::command::{Costs, Step};
use super::*;

fn uniform(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
}

fn reads(number: u64) -> Order {
    Order::read(uniform(number), 1)
}

fn kiops(section: &Section, depth: usize) -> f64 {
    let mut bench = Bench::new(section, Duration::from_us(20));
    bench.rate(depth, 20_000, reads) / 1e3
}

/// The whole path of a read on one core of a design without messages or locks that move.
#[test]
fn one_naive_core_takes_the_sum_of_the_steps() {
    let section = Section {
        design: FirmwareDesign::Naive,
        cores: 1,
        ..Section::default()
    };
    let cost = &section.cost;
    let sum = cost.fetch + cost.parse + cost.lock + cost.cache + cost.translate + cost.compose;
    let sum = sum + cost.unlock + cost.complete;
    let expected = 1e9 / sum.as_ps() as f64;
    let measured = kiops(&section, 64);
    assert!(
        (measured / expected - 1.0).abs() < 0.01,
        "{measured} {expected}"
    );
}

/// The largest commands have more pages than 32 bits count.
#[test]
fn every_page_of_a_large_command_takes_work() {
    let pages = (1 << 32) + 1;
    let orders = vec![Order::write(0, pages)];
    assert_eq!(orders.work(0), pages);
    let section = Section::default();
    let costs = Costs::new(&section);
    let time = costs.of(Step::Translate, pages) - costs.of(Step::Translate, 0);
    assert_eq!(time, section.cost.translate * pages);
}

/// One core of the pipeline: with one hardware thread it waits for each message, with more it issues meanwhile.
#[test]
fn hardware_threads_issue_while_messages_are_on_their_way() {
    let mut section = Section {
        design: FirmwareDesign::Pipeline,
        cores: 1,
        ..Section::default()
    };
    let cost = &section.cost;
    let sum = cost.fetch + cost.parse + cost.lock + cost.table_lookup + cost.translate;
    let issued = sum + cost.compose + cost.unlock + cost.complete;
    let waited = cost.message * 6;
    for (ways, time) in [(1, issued + waited), (4, issued)] {
        section.core.threads = ways;
        let (expected, measured) = (1e9 / time.as_ps() as f64, kiops(&section, 64));
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "{ways}: {measured} {expected}"
        );
    }
}

/// Many naive cores: the busiest lock, held and handed over for each command.
#[test]
fn many_naive_cores_take_what_the_busiest_lock_takes() {
    let section = Section {
        design: FirmwareDesign::Naive,
        cores: 64,
        ..Section::default()
    };
    let cost = &section.cost;
    let index = cost.lock + cost.unlock + cost.handover * 2;
    let busiest = index
        .max(cost.translate + cost.handover)
        .max(cost.fetch + cost.handover);
    let expected = 1e9 / busiest.as_ps() as f64;
    let measured = kiops(&section, 512);
    assert!(
        (measured / expected - 1.0).abs() < 0.02,
        "{measured} {expected}"
    );
}

/// Each type of thread in turn is the narrow one: its threads, divided by what it does for a read.
#[test]
fn the_narrowest_stage_limits_the_pipeline() {
    let mut plenty = Section {
        design: FirmwareDesign::Pipeline,
        cores: 64,
        ..Section::default()
    };
    // There is only one ILOCK thread.
    plenty.cost.lock = Duration::from_ns(50);
    let cost = &plenty.cost;
    let nvmq = cost.fetch + cost.parse + cost.table_lookup + cost.complete + cost.message * 3;
    let trans = cost.message + cost.translate;
    let fcmd = cost.message + cost.compose + cost.unlock;
    for (narrow, each) in [(0, nvmq), (1, trans), (2, fcmd)] {
        for count in [1, 2] {
            let mut section = plenty.clone();
            let threads = &mut section.threads;
            (threads.nvmq, threads.cache, threads.trans, threads.fcmd) = (16, 1, 16, 16);
            *[&mut threads.nvmq, &mut threads.trans, &mut threads.fcmd][narrow] = count;
            let expected = 1e9 * f64::from(count) / each.as_ps() as f64;
            let measured = kiops(&section, 512);
            let ratio = measured / expected;
            assert!((0.97..1.01).contains(&ratio), "{narrow} {count}: {ratio}");
        }
    }
}

#[test]
fn each_optimisation_changes_the_result() {
    // Each thread has its own core.
    let mut full = Section {
        design: FirmwareDesign::Pipeline,
        cores: 24,
        ..Section::default()
    };
    full.threads.cache = 1;
    let without: [fn(&mut Section); 3] = [
        |section| section.dynamic_serialization = false,
        |section| section.lock_forwarding = false,
        |section| section.cache_bypass = false,
    ];
    let best = kiops(&full, 256);
    for (index, change) in without.into_iter().enumerate() {
        let mut section = full.clone();
        change(&mut section);
        let other = kiops(&section, 256);
        assert!(other < 0.995 * best, "{index}: {other} of {best}");
    }
}

/// Journalling that yields to NVMQ costs reads nothing; in turn with them it does.
#[test]
fn background_work_waits_until_nvmq_idles() {
    let mut section = Section {
        design: FirmwareDesign::Pipeline,
        ..Section::default()
    };
    (
        section.threads.nvmq,
        section.threads.trans,
        section.threads.fcmd,
    ) = (2, 8, 8);
    section.cores = 24;
    section.cost.journal = Duration::from_us(2);
    let [with, without] = [true, false].map(|scheduling| {
        section.background_scheduling = scheduling;
        let mut bench = Bench::new(&section, Duration::from_us(20));
        bench.rate(128, 3_000, |number| Order::write(uniform(number), 1))
    });
    assert!(with > 1.2 * without, "{with} {without}");
}

#[test]
fn the_same_orders_give_the_same_result() {
    for section in sections(9, 64) {
        let run = || {
            let mut bench = Bench::new(&section, Duration::from_us(20));
            bench.rate(32, 2_000, reads);
            (bench.queue.now(), bench.completed, *bench.firmware.usage())
        };
        assert_eq!(run(), run());
    }
}
