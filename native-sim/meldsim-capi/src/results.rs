//! The calling thread's last result of a whole run.

use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Forgets it and frees its memory.
pub(crate) fn clear() {
    LAST.take();
}

/// Keeps `result` and gives the bytes it needs as a C string.
pub(crate) fn keep(result: String) -> i64 {
    let bytes = i64::try_from(result.len() + 1).unwrap_or(i64::MAX);
    LAST.set(result);
    bytes
}

/// Runs `read` on it; on nothing when there is none.
pub(crate) fn with_last<R>(read: impl FnOnce(&str) -> R) -> R {
    LAST.with_borrow(|last| read(last))
}
