//! Throughput against arithmetic.

use super::*;
use crate::command::{Command, Costs, Step};

/// Pages that a transaction of the flash programs.
const PROGRAM_PAGES: u64 = 4;

fn uniform(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
}

fn reads(number: u64) -> Order {
    Order::read(uniform(number), 1)
}

fn kiops(design: Design, section: &Section, depth: usize) -> f64 {
    let mut bench = Bench::new(&(design, section.clone()), Duration::from_us(20));
    bench.rate(depth, 20_000, reads) / 1e3
}

/// The whole path of a read on one core of a design without messages or locks that move.
#[test]
fn one_naive_core_takes_the_sum_of_the_steps() {
    let (design, section) = section(Design::Naive, 1);
    let cost = &section.cost;
    let sum = cost.fetch + cost.parse + cost.lock + cost.cache + cost.translate + cost.compose;
    let sum = sum + cost.unlock + cost.complete;
    let expected = 1e9 / sum.as_ps() as f64;
    let measured = kiops(design, &section, 64);
    assert!(
        (measured / expected - 1.0).abs() < 0.01,
        "{measured} {expected}"
    );
}

/// The largest commands have more pages than 32 bits count.
#[test]
fn every_page_of_a_large_command_takes_work() {
    let pages = (1 << 32) + 1;
    let whole = Pages {
        volume: 0,
        first: 0,
        end: pages,
    };
    let mut fetched = Fetched::default();
    (fetched.opcode, fetched.pages) = (Opcode::Write, whole);
    let command = Command {
        fetched,
        ..Command::default()
    };
    assert_eq!(command.work(), pages);
    let section = Section::default();
    let costs = Costs::new(Design::Naive, &section, PROGRAM_PAGES);
    let time = costs.of(Step::Translate, pages) - costs.of(Step::Translate, 0);
    assert_eq!(time, section.cost.translate * pages);
}

/// One core of the pipeline: with one hardware thread it waits for each message, with more it issues meanwhile.
#[test]
fn hardware_threads_issue_while_messages_are_on_their_way() {
    let (design, mut section) = section(Design::Pipeline, 1);
    let cost = &section.cost;
    let sum = cost.fetch + cost.parse + cost.lock + cost.table_lookup + cost.translate;
    let issued = sum + cost.compose + cost.unlock + cost.complete;
    let waited = cost.message * 6;
    for (ways, time) in [(1, issued + waited), (4, issued)] {
        section.core.threads = ways;
        let (expected, measured) = (1e9 / time.as_ps() as f64, kiops(design, &section, 64));
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "{ways}: {measured} {expected}"
        );
    }
}

/// One core whose hardware threads issue side by side does as many commands at a time.
#[test]
fn two_threads_that_issue_do_twice_the_work() {
    let (design, mut section) = section(Design::Pipeline, 1);
    section.core.threads = 4;
    let one = kiops(design, &section, 64);
    section.core.issues = 2;
    let two = kiops(design, &section, 64);
    assert!((two / one - 2.0).abs() < 0.04, "{two} {one}");
}

/// The 20 threads of a read's path on cores of four: five have some, the others none, and nothing of their time is counted twice.
#[test]
fn threads_fill_a_core_before_the_next() {
    let (design, mut section) = section(Design::Pipeline, 12);
    (section.core.threads, section.core.issues) = (4, 2);
    let threads = &mut section.threads;
    (threads.nvmq, threads.cache, threads.trans, threads.fcmd) = (8, 2, 4, 5);
    let busy = |section: &Section| {
        let mut bench = Bench::new(&(design, section.clone()), Duration::from_us(20));
        let rate = bench.rate(512, 20_000, reads);
        let busy: u128 = bench.usage().busy.iter().map(|time| time.as_ps()).sum();
        (busy as f64 / bench.queue.now().as_ps() as f64, rate)
    };
    let (spread, _) = busy(&section);
    section.binding = FirmwareBinding::Filled;
    let (filled, rate) = busy(&section);
    assert!(spread > 6.0, "{spread}");
    assert!((4.0..=5.0).contains(&filled), "{filled}");
    // The threads of a type are no fewer.
    assert!(rate > 1e6, "{rate}");
}

/// A write's transaction is composed for as many pages as it programs.
#[test]
fn composing_a_write_costs_its_share_of_a_transaction() {
    let (design, mut section) = section(Design::Pipeline, 12);
    let page = |section: &Section, step| {
        let costs = Costs::new(design, section, PROGRAM_PAGES);
        costs.of(step, 9) - costs.of(step, 8)
    };
    let compose = section.cost.compose;
    assert_eq!(page(&section, Step::ComposeWrite), compose);
    section.transaction_percent = 60;
    assert_eq!(page(&section, Step::Compose), compose);
    let expected = compose.as_ps() * 40 / 100 + compose.as_ps() * 60 / 100 / PROGRAM_PAGES;
    assert_eq!(page(&section, Step::ComposeWrite).as_ps(), expected);
}

/// Without the bypass a read passes CACHE twice, if it fills the buffer: the way to the medium, and back.
#[test]
fn filling_the_buffer_takes_a_cache_thread_twice() {
    let (design, mut section) = section(Design::Pipeline, 64);
    section.cache_bypass = false;
    section.cache_pages = 16;
    let threads = &mut section.threads;
    (threads.nvmq, threads.cache, threads.trans, threads.fcmd) = (16, 1, 16, 16);
    section.cost.cache = Duration::from_us(1);
    let each = section.cost.message + section.cost.cache;
    for (fill, times) in [(false, 1), (true, 2)] {
        section.cache_fill = fill;
        let expected = 1e9 / (each * times).as_ps() as f64;
        let ratio = kiops(design, &section, 512) / expected;
        assert!((0.97..1.01).contains(&ratio), "{fill}: {ratio}");
    }
    // Of commands of two pages, which are aligned, each thread has its part.
    section.threads.cache = 2;
    let mut bench = Bench::new(&(design, section.clone()), Duration::from_us(20));
    let rate = bench.rate(512, 20_000, |number| Order::read(uniform(number) * 2, 2));
    let each = section.cost.message + section.cost.cache * 2;
    let ratio = rate / (1e12 / each.as_ps() as f64);
    assert!((0.97..1.01).contains(&ratio), "{ratio}");
    // The buffer has the pages that were read.
    section.cache_pages = 1 << 12;
    let mut bench = Bench::new(&(design, section.clone()), Duration::from_us(20));
    bench.rate(1, 1_000, |number| Order::read(number % 10, 1));
    let hits = bench.usage().cache_hits;
    assert!(hits >= 990, "{hits}");
}

/// Many naive cores: the busiest lock, held and handed over for each command.
#[test]
fn many_naive_cores_take_what_the_busiest_lock_takes() {
    let (design, section) = section(Design::Naive, 64);
    let cost = &section.cost;
    let index = cost.lock + cost.unlock + cost.handover * 2;
    let busiest = index
        .max(cost.translate + cost.handover)
        .max(cost.fetch + cost.handover);
    let expected = 1e9 / busiest.as_ps() as f64;
    let measured = kiops(design, &section, 512);
    assert!(
        (measured / expected - 1.0).abs() < 0.02,
        "{measured} {expected}"
    );
}

/// Each type of thread in turn is the narrow one: its threads, divided by what it does for a read.
#[test]
fn the_narrowest_stage_limits_the_pipeline() {
    let (design, mut plenty) = section(Design::Pipeline, 64);
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
            let measured = kiops(design, &section, 512);
            let ratio = measured / expected;
            assert!((0.97..1.01).contains(&ratio), "{narrow} {count}: {ratio}");
        }
    }
}

#[test]
fn each_optimisation_changes_the_result() {
    // Each thread has its own core.
    let (design, mut full) = section(Design::Pipeline, 24);
    full.threads.cache = 1;
    let without: [fn(&mut Section); 3] = [
        |section| section.dynamic_serialization = false,
        |section| section.lock_forwarding = false,
        |section| section.cache_bypass = false,
    ];
    let best = kiops(design, &full, 256);
    for (index, change) in without.into_iter().enumerate() {
        let mut section = full.clone();
        change(&mut section);
        let other = kiops(design, &section, 256);
        assert!(other < 0.995 * best, "{index}: {other} of {best}");
    }
}

/// Journalling that yields to NVMQ costs reads nothing; in turn with them it does.
#[test]
fn background_work_waits_until_nvmq_idles() {
    let (design, mut section) = section(Design::Pipeline, 12);
    (
        section.threads.nvmq,
        section.threads.trans,
        section.threads.fcmd,
    ) = (2, 8, 8);
    section.cores = 24;
    section.cost.journal = Duration::from_us(2);
    let [with, without] = [true, false].map(|scheduling| {
        section.background_scheduling = scheduling;
        let mut bench = Bench::new(&(design, section.clone()), Duration::from_us(20));
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
            let usage = bench.usage();
            (bench.queue.now(), bench.completed, usage)
        };
        assert_eq!(run(), run());
    }
}
