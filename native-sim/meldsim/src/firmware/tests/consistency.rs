//! Reads give the data of the last write before them, whatever is evicted meanwhile.

use proptest::prelude::*;

use super::*;

/// Pages of the tests: several for each slot of the smallest buffer.
const PAGES: u64 = 40;
const SLOTS: u32 = 16;

fn orders() -> impl Strategy<Value = Vec<(Order, u64)>> {
    let order = (any::<bool>(), 0..PAGES, 1..5u64, 0..3u32, 0..6_000u64).prop_map(
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

/// Submits the orders with the pauses between them.
fn run(section: &Section, orders: &[(Order, u64)], has_evicted_field: bool) -> Bench {
    let mut bench = Bench::new(section, Time::from_us(25));
    bench.firmware.tables_mut().buffer.has_evicted_field = has_evicted_field;
    for &(order, pause_ns) in orders {
        let until = bench.queue.now() + Time::from_ns(pause_ns);
        while bench.queue.next_time().is_some_and(|next| next <= until) {
            bench.step();
        }
        bench.queue.advance_clock(until);
        bench.submit(order);
    }
    bench.run();
    bench
}

/// The naive model: commands one after the other, in the order in which they got their ranges. Returns
/// the reads that gave something else.
fn wrong(bench: &mut Bench) -> Vec<(u32, u64, u64)> {
    let order = bench.firmware.tables_mut().order.clone();
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
                model.insert(page, bench.firmware.tables_mut().data(request));
            } else {
                let data = model.get(&page).copied().unwrap_or(0);
                expected.insert((request, page), data);
            }
        }
    }
    assert_eq!(bench.medium, model, "the medium ends with other data");
    assert_eq!(bench.given.len(), expected.len());
    let given = bench.given.iter().copied();
    given
        .filter(|&(request, page, data)| expected[&(request, page)] != data)
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
        assert_eq!(bench.firmware.usage().cache_hits, 1, "{section:?}");
    }
}

/// The negative control: without the field the read gives what the medium had before.
#[test]
fn without_the_evicted_page_field_it_is_read_too_early() {
    for section in sections(7, SLOTS) {
        let mut bench = run(&section, &displaced(), false);
        assert_eq!(wrong(&mut bench), [(2, 3, 0)], "{section:?}");
    }
}

#[test]
fn bypassing_keeps_reads_off_cache_threads() {
    let mut section = sections(7, SLOTS).pop().unwrap();
    let reads: Vec<(Order, u64)> = (0..50).map(|page| (Order::read(page, 1), 100)).collect();
    for bypass in [true, false] {
        section.cache_bypass = bypass;
        let bench = run(&section, &reads, true);
        let usage = bench.firmware.usage();
        let cache = usage.busy[2];
        assert_eq!(usage.cache_bypasses, if bypass { 50 } else { 0 });
        assert_eq!(cache == Time::ZERO, bypass);
    }
}
