//! What goes wrong behind an entry point: status codes, texts, panics.
//!
//! In: refusals of the model and of the crates above it, panics. Out: a negative code for the caller,
//! and the calling thread's last error. Codes are part of the ABI: stable, and never reused. -12 is
//! that of the tests' library.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use meldsim::nvme::DirectiveError;
use meldsim::policy::PolicyFault;
use meldsim::{DeviceError, SnapshotError, Status};

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
/// The bytes are no snapshot, one of another version, damaged, or of a device that cannot be.
pub const MELDSIM_ERR_SNAPSHOT: i32 = -13;
/// The device's simulated time is used up, after 106 days: close it and open a new one.
pub const MELDSIM_ERR_CLOCK: i32 = -14;
/// A zone is not as the command needs it; `meldsim_last_status` says what is wrong.
pub const MELDSIM_ERR_ZONE: i32 = -15;
/// A registered policy failed, or answered what it must not; the device is out of service, others are not.
pub const MELDSIM_ERR_POLICY: i32 = -16;

/// A code for the caller, a text for the person.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub(crate) code: i32,
    message: String,
    /// With which a controller completes a command that fails so; success where it is no command's.
    status: Status,
}

impl Failure {
    /// A status below 0, and its text.
    pub fn new(code: i32, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            status: Status::SUCCESS,
        }
    }

    /// MELDSIM_ERR_ARGUMENT, and its text.
    pub fn argument(message: impl Into<String>) -> Failure {
        Failure::new(MELDSIM_ERR_ARGUMENT, message)
    }

    pub(crate) fn panic(message: impl Into<String>) -> Failure {
        Failure::new(MELDSIM_ERR_PANIC, message)
    }

    /// The same of a command, with its status.
    pub(crate) fn with_status(self, status: Status) -> Failure {
        Failure { status, ..self }
    }

    /// The failure of a command that completed with an error.
    pub(crate) fn of_command(status: Status) -> Failure {
        let (code, text) = match status {
            Status::CAPACITY_EXCEEDED => (
                MELDSIM_ERR_CAPACITY,
                "the device has no room for the write; deallocate something",
            ),
            Status::ZONE_BOUNDARY_ERROR => (
                MELDSIM_ERR_ZONE,
                "the range is in more than one zone, or beyond its capacity; stay in one",
            ),
            Status::ZONE_IS_FULL => (MELDSIM_ERR_ZONE, "the zone is full; reset it first"),
            Status::ZONE_INVALID_WRITE => (
                MELDSIM_ERR_ZONE,
                "a write must begin at the write pointer of its zone; see the report of zones",
            ),
            Status::TOO_MANY_ACTIVE_ZONES => (
                MELDSIM_ERR_ZONE,
                "too many zones are active; finish or reset one",
            ),
            Status::TOO_MANY_OPEN_ZONES => (MELDSIM_ERR_ZONE, "too many zones are open; close one"),
            Status::INVALID_ZONE_STATE_TRANSITION => (
                MELDSIM_ERR_ZONE,
                "the state of the zone does not allow this; see the report of zones",
            ),
            Status::INVALID_FIELD => (
                MELDSIM_ERR_ARGUMENT,
                "the first logical block is not that of a zone",
            ),
            Status::INVALID_OPCODE => (
                MELDSIM_ERR_UNSUPPORTED,
                "a zoned namespace is not deallocated; reset zones",
            ),
            Status(code) => {
                let text = format!("the command ended with NVMe status {code:#05x}");
                return Failure::panic(text).with_status(status);
            }
        };
        Failure::new(code, text).with_status(status)
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        Failure::new(device_code(&error), error.to_string()).with_status(error.status())
    }
}

impl From<DirectiveError> for Failure {
    fn from(error: DirectiveError) -> Failure {
        DeviceError::from(error).into()
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Failure {
        Failure::new(MELDSIM_ERR_SNAPSHOT, error.to_string())
    }
}

/// The code of what a device refuses.
pub fn device_code(error: &DeviceError) -> i32 {
    match error {
        DeviceError::UnknownNamespace { .. } => MELDSIM_ERR_NAMESPACE,
        DeviceError::Policy => MELDSIM_ERR_PROFILE,
        DeviceError::NamespaceSize { .. }
        | DeviceError::UnknownSet { .. }
        | DeviceError::UnknownQueue { .. }
        | DeviceError::QueueDepth
        | DeviceError::NoRanges
        | DeviceError::NoTimeline
        | DeviceError::NoZoneAction
        | DeviceError::ZonesNotEmpty
        | DeviceError::Busy
        | DeviceError::WindowsUnsupported
        | DeviceError::WindowsDisabled { .. }
        | DeviceError::WindowNotEarned { .. } => MELDSIM_ERR_ARGUMENT,
        DeviceError::OutOfRange { .. } => MELDSIM_ERR_RANGE,
        DeviceError::Directive(_)
        | DeviceError::DirectiveNotOnWrite
        | DeviceError::FdpDisabled
        | DeviceError::NotZoned { .. }
        | DeviceError::SecondZoned
        | DeviceError::ZonedPast
        | DeviceError::PlacementIdentifier { .. } => MELDSIM_ERR_UNSUPPORTED,
        DeviceError::CapacityExceeded { .. }
        | DeviceError::Memory { .. }
        | DeviceError::QueueFull { .. }
        | DeviceError::TooManyQueues => MELDSIM_ERR_CAPACITY,
        DeviceError::EndOfTime => MELDSIM_ERR_CLOCK,
    }
}

thread_local! {
    static LAST_ERROR: RefCell<String> = const { RefCell::new(String::new()) };
    static LAST_STATUS: Cell<Status> = const { Cell::new(Status::SUCCESS) };
    /// How many [`catch`]es this thread is in.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Remembers `failure` as this thread's last error and gives its code.
pub(crate) fn remember(failure: &Failure) -> i32 {
    LAST_STATUS.set(failure.status);
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

/// The status of the command of this thread's last error.
pub(crate) fn last_status() -> Status {
    LAST_STATUS.get()
}

/// Runs `body`; a panic inside gives its text, with the place it came from, and a policy's fault its own.
///
/// The text goes to the caller instead of the process's standard error: a library inside a DataNode
/// must not print.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(install_hook);
    CATCHING.set(CATCHING.get() + 1);
    let outcome = catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(CATCHING.get() - 1);
    outcome.map_err(|payload| match payload.downcast_ref::<PolicyFault>() {
        Some(fault) => Failure::new(MELDSIM_ERR_POLICY, fault.to_string()),
        None => {
            let text = PANIC.take();
            Failure::panic(text.unwrap_or_else(|| payload_text(payload.as_ref()).to_owned()))
        }
    })
}

fn install_hook() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if CATCHING.get() == 0 {
            previous(info);
            return;
        }
        let text = payload_text(info.payload());
        let text = match info.location() {
            Some(at) => format!("{text} (at {}:{})", at.file(), at.line()),
            None => text.to_owned(),
        };
        PANIC.set(Some(text));
    }));
}

fn payload_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_text_and_place() {
        let failure = catch(|| panic!("out of {}", "wordlines")).unwrap_err();
        assert!(
            failure.message.starts_with("out of wordlines (at "),
            "{failure}"
        );
        assert!(matches!(catch(|| 7), Ok(7)));
    }
}
