//! Status codes and the calling thread's last error.
//!
//! Codes are part of the ABI: they are negative, stable, and never reused.

use std::cell::RefCell;

/// The call succeeded.
pub const MELDSIM_OK: i32 = 0;
/// An argument is null, malformed or out of its documented range.
pub const MELDSIM_ERR_ARGUMENT: i32 = -1;
/// The profile cannot be found, read, parsed, or describes an impossible device.
pub const MELDSIM_ERR_PROFILE: i32 = -2;
/// No such namespace on this device.
pub const MELDSIM_ERR_NAMESPACE: i32 = -3;
/// The range of logical blocks is empty or leaves the namespace.
pub const MELDSIM_ERR_RANGE: i32 = -4;
/// The device is physically full, or a bounded table of the library is.
pub const MELDSIM_ERR_CAPACITY: i32 = -5;
/// The device does not know this opcode or directive.
pub const MELDSIM_ERR_UNSUPPORTED: i32 = -6;
/// The time allowed for a wait has passed; the ticket stays valid.
pub const MELDSIM_ERR_TIMEOUT: i32 = -7;
/// The handle has been closed.
pub const MELDSIM_ERR_CLOSED: i32 = -8;
/// The simulator failed inside; the device is out of service, others are not.
pub const MELDSIM_ERR_PANIC: i32 = -9;
/// The caller was built against another version of this interface.
pub const MELDSIM_ERR_ABI: i32 = -10;
/// The ticket was never given out, or was already waited for or forgotten.
pub const MELDSIM_ERR_TICKET: i32 = -11;
/// The error asked for with `meldsim_inject_fault`.
pub const MELDSIM_ERR_INJECTED: i32 = -12;
/// The bytes are no snapshot, one of another version, damaged, or of a device that cannot be.
pub const MELDSIM_ERR_SNAPSHOT: i32 = -13;

/// What goes wrong behind an entry point: a code for the caller, a text for the person.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) code: i32,
    message: String,
}

impl Failure {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
        }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure::new(MELDSIM_ERR_ARGUMENT, message)
    }

    pub(crate) fn panic(message: impl Into<String>) -> Failure {
        Failure::new(MELDSIM_ERR_PANIC, message)
    }
}

thread_local! {
    static LAST_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers `failure` as this thread's last error and gives its code.
pub(crate) fn remember(failure: &Failure) -> i32 {
    LAST_ERROR.with_borrow_mut(|last| {
        last.clear();
        // An embedded NUL would cut the text short for a C reader.
        last.extend(failure.message.chars().filter(|c| *c != '\0'));
    });
    failure.code
}

/// Runs `read` on the text of this thread's last error.
pub(crate) fn with_last<R>(read: impl FnOnce(&str) -> R) -> R {
    LAST_ERROR.with_borrow(|last| read(last))
}

/// The longest start of `text` that has at most `bytes` bytes and whole characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
