//! Reads give the data of the last write before them, whatever is evicted meanwhile, and the index lock
//! orders commands that overlap: seen by the data.

use proptest::prelude::*;

use meldsim::engine::TotalTime;

use super::*;
use crate::command::NIL;

/// Pages of the tests: several for each slot of the smallest buffer.
const PAGES: u64 = 40;
const SLOTS: u32 = 16;

fn orders() -> impl Strategy<Value = Vec<(Order, u64)>> {
    let order = (any::<bool>(), 0..PAGES, 1..5u64, 0..3u16, 0..6_000u64).prop_map(
        |(writes, first, pages, queue, pause_ns)| {
            let pages = pages.min(PAGES - first);
            let order = match writes {
                true => Order::write(first, pages),
                false => Order::read(first, pages),
            };
            (Order { queue, ..order }, pause_ns)
        },
    );
    prop::collection::vec(order, 1..120)
}

/// Submits the orders with the pauses between them. Without evicted-page fields they are emptied after
/// every event.
fn run(section: &(Design, Section), orders: &[(Order, u64)], has_evicted_field: bool) -> Bench {
    let mut bench = Bench::new(section, Duration::from_us(25));
    let step = |bench: &mut Bench| {
        let is_any = bench.step();
        if !has_evicted_field {
            bench.firmware.tables().buffer.forget_evicted();
        }
        is_any
    };
    for &(order, pause_ns) in orders {
        let until = bench.queue.now() + Duration::from_ns(pause_ns);
        while bench.queue.next_time().is_some_and(|next| next <= until) {
            step(&mut bench);
        }
        bench.queue.advance_clock(until);
        bench.submit(order);
    }
    while step(&mut bench) {}
    bench.run();
    bench
}

/// The naive model: commands one after the other, in the order in which they got their ranges. Returns
/// the reads that gave something else.
fn wrong(bench: &mut Bench) -> Vec<(u32, u64, Option<u32>)> {
    let order = bench.firmware.tables().record.order.clone();
    assert_eq!(order.len(), bench.orders.len());
    let mut place = vec![0; order.len()];
    for (index, &request) in order.iter().enumerate() {
        place[request as usize] = index;
    }
    // The order keeps what the host can know: who completed before another was submitted.
    for (&before, &completed) in &bench.completed_at {
        for after in 0..bench.orders.len() as u32 {
            let overlap = {
                let [a, b] = [before, after].map(|request| bench.orders[request as usize]);
                a.first < b.first + b.pages && b.first < a.first + a.pages
            };
            if overlap && completed < bench.submitted_at[after as usize] {
                assert!(place[before as usize] < place[after as usize]);
            }
        }
    }
    let mut model = BTreeMap::new();
    let mut expected = BTreeMap::new();
    for &request in &order {
        let command = bench.orders[request as usize];
        for page in command.range() {
            if command.opcode == Opcode::Write {
                model.insert(page, request);
            } else {
                expected.insert((request, page), model.get(&page).copied());
            }
        }
    }
    assert_eq!(bench.medium, model, "the medium ends with other data");
    assert_eq!(bench.given.len(), expected.len());
    let given = bench.given.iter().copied();
    given
        .filter(|&(request, page, write)| expected[&(request, page)] != write)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_read_gives_the_last_write_before_it(orders in orders()) {
        for section in sections(7, SLOTS) {
            let mut bench = run(&section, &orders, true);
            prop_assert_eq!(wrong(&mut bench), [], "{:?}", section);
        }
    }
}

/// A page in transit is displaced by another one of its slot and then read.
fn displaced() -> Vec<(Order, u64)> {
    vec![
        (Order::write(3, 1), 0),
        (Order::write(3 + u64::from(SLOTS), 1), 12_000),
        (Order::read(3, 1), 12_000),
    ]
}

#[test]
fn a_displaced_page_is_read_through_the_evicted_page_field() {
    for section in sections(7, SLOTS) {
        let mut bench = run(&section, &displaced(), true);
        assert_eq!(wrong(&mut bench), [], "{section:?}");
        assert_eq!(bench.usage().cache_hits, 1, "{section:?}");
    }
}

/// The negative control: without the field the read gives what the medium had before.
#[test]
fn without_the_evicted_page_field_it_is_read_too_early() {
    for section in sections(7, SLOTS) {
        let mut bench = run(&section, &displaced(), false);
        assert_eq!(wrong(&mut bench), [(2, 3, None)], "{section:?}");
    }
}

#[test]
fn bypassing_keeps_reads_off_cache_threads() {
    let mut section = sections(7, SLOTS).pop().unwrap();
    let reads: Vec<(Order, u64)> = (0..50).map(|page| (Order::read(page, 1), 100)).collect();
    for bypass in [true, false] {
        section.1.cache_bypass = bypass;
        let mut bench = run(&section, &reads, true);
        let usage = bench.usage();
        let cache = usage.busy[2];
        assert_eq!(usage.cache_bypasses, if bypass { 50 } else { 0 });
        assert_eq!(cache == TotalTime::default(), bypass);
    }
}

/// Two writes of the same pages, of which the second is done sooner in every stage but shares one
/// page with the first. If they were not ordered, the medium would have the first write's data on the
/// shared page after the second has completed. Unlocked: the first loses its range to the second.
fn racing(section: &(Design, Section), unlocked: bool) -> (Vec<u32>, u32, u32) {
    let mut bench = Bench::new(section, Duration::from_us(10));
    let long = bench.submit(Order::write(0, 64));
    let short = bench.submit(Order {
        queue: 1,
        ..Order::write(63, 1)
    });
    if unlocked {
        let is_locked =
            |bench: &mut Bench, request| bench.firmware.tables().commands[request].is_locked;
        while !is_locked(&mut bench, long) {
            bench.step();
        }
        let tables = bench.firmware.tables();
        assert_eq!(
            tables.index.release(&tables.commands[long].fetched.pages),
            NIL
        );
        while !is_locked(&mut bench, short) {
            bench.step();
        }
        while is_locked(&mut bench, short) {
            bench.step();
        }
        let tables = bench.firmware.tables();
        assert!(tables.index.acquire(&mut tables.commands, long));
        assert!(is_locked(&mut bench, long), "it still has to unlock it");
    }
    bench.run();
    let on_medium = bench.medium[&63];
    assert!([long, short].contains(&on_medium));
    (bench.completed, on_medium, short)
}

#[test]
fn a_short_write_does_not_overtake_a_long_one_that_it_overlaps() {
    for section in sections(8, 1024) {
        let (completed, on_medium, short) = racing(&section, false);
        assert_eq!(completed, [0, 1], "{section:?}");
        assert_eq!(on_medium, short, "{section:?}");
    }
}

/// The negative control: without the lock the data are wrong.
#[test]
fn without_the_lock_it_does() {
    let mut section = sections(8, 1024).pop().unwrap();
    section.1.optimise(true);
    let (completed, on_medium, short) = racing(&section, true);
    assert_eq!(completed, [1, 0]);
    assert_ne!(on_medium, short);
}

#[test]
fn waiting_commands_are_served_in_the_order_of_asking() {
    for mut section in sections(6, 64) {
        // Several may overtake each other before they ask.
        section.1.threads.nvmq = 1;
        let mut bench = Bench::new(&section, Duration::from_us(5));
        for _ in 0..40 {
            bench.submit(Order::write(7, 1));
        }
        bench.run();
        let in_order: Vec<u32> = (0..40).collect();
        assert_eq!(
            bench.firmware.tables().record.order,
            in_order,
            "{section:?}"
        );
        let usage = bench.usage();
        assert!(usage.lock_conflicts > 0, "{section:?}");
        assert!(usage.lock_wait > TotalTime::default());
    }
}

#[test]
fn commands_that_do_not_overlap_do_not_wait() {
    for section in sections(6, 64) {
        let mut bench = Bench::new(&section, Duration::from_us(5));
        for number in 0..200 {
            bench.submit(Order::write(3 * number, 3));
        }
        bench.run();
        assert_eq!(bench.usage().lock_conflicts, 0, "{section:?}");
    }
}
