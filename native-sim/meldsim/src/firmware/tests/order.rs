//! The index lock orders commands that overlap: seen by the data.

use super::*;

/// Two writes of the same pages, of which the second is done sooner in every stage but shares one
/// page with the first. If they were not ordered, the medium would have the first write's data on the
/// shared page after the second has completed.
fn racing(section: &Section, unlocked: bool) -> (Vec<u32>, u64, u64) {
    let mut bench = Bench::new(section, Time::from_us(10));
    if unlocked {
        bench.firmware.tables_mut().index.ignore_conflicts();
    }
    let long = bench.submit(Order::write(0, 64));
    let short = bench.submit(Order {
        queue: 1,
        ..Order::write(63, 1)
    });
    bench.run();
    let tables = bench.firmware.tables_mut();
    let (long, short) = (tables.data(long), tables.data(short));
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
    section.optimise(true);
    let (completed, on_medium, short) = racing(&section, true);
    assert_eq!(completed, [1, 0]);
    assert_ne!(on_medium, short);
}

#[test]
fn who_waits_is_served_in_the_order_of_asking() {
    for mut section in sections(6, 64) {
        // Several may overtake each other before they ask.
        section.threads.nvmq = 1;
        let mut bench = Bench::new(&section, Time::from_us(5));
        for _ in 0..40 {
            bench.submit(Order::write(7, 1));
        }
        bench.run();
        let in_order: Vec<u32> = (0..40).collect();
        assert_eq!(bench.firmware.tables_mut().order, in_order, "{section:?}");
        let usage = bench.firmware.usage();
        assert!(usage.lock_conflicts > 0, "{section:?}");
        assert!(usage.lock_wait > Time::ZERO);
    }
}

#[test]
fn commands_that_do_not_overlap_do_not_wait() {
    for section in sections(6, 64) {
        let mut bench = Bench::new(&section, Time::from_us(5));
        for number in 0..200 {
            bench.submit(Order::write(3 * number, 3));
        }
        bench.run();
        assert_eq!(bench.firmware.usage().lock_conflicts, 0, "{section:?}");
    }
}
