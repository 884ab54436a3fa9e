//! A map over independent items on several threads. The results are in the order of the items, whatever the number of threads.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// As many threads as the machine has cores.
pub fn all_cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Calls `run` with each item on `jobs` threads, this one included.
///
/// # Errors
///
/// The error of the first item that fails; what had not begun by then is not run.
pub fn try_map<T: Sync, R: Send, E: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    run: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut done = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            // Items begin in order. So all before one that fails have begun, and the first error does not depend on timing.
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = run(item);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.push((index, result));
        }
        done
    };
    let mut results = thread::scope(|scope| {
        let others = 1..jobs.get().min(items.len());
        let others: Vec<_> = others.map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(jobs: usize) -> NonZeroUsize {
        NonZeroUsize::new(jobs).unwrap()
    }

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for threads in [1, 2, 7, 200] {
            // The first items take longest.
            let run = |item: &u64| {
                thread::sleep(std::time::Duration::from_micros(100 - item));
                Ok::<u64, ()>(item * item)
            };
            let squares = try_map(jobs(threads), &items, run).unwrap();
            assert!(squares.into_iter().eq(items.iter().map(|item| item * item)));
        }
        assert_eq!(try_map(jobs(4), &[0; 0], |_: &u8| Err(())), Ok(vec![(); 0]));
    }

    #[test]
    fn the_first_error_is_returned_and_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [1, 4] {
            begun.store(0, Ordering::Relaxed);
            let run = |item: &usize| {
                begun.fetch_add(1, Ordering::Relaxed);
                match item {
                    10 => {
                        // The failures of later items come sooner.
                        thread::sleep(std::time::Duration::from_millis(5));
                        Err(10)
                    }
                    11.. => Err(*item),
                    _ => Ok(()),
                }
            };
            assert_eq!(try_map(jobs(threads), &items, run), Err(10));
            assert!(begun.load(Ordering::Relaxed) <= 11 + threads);
        }
    }
}
