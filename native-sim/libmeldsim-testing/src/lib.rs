//! `libmeldsim_testing`: all that `libmeldsim` is, and a function that makes its devices fail.
//!
//! In: which fault, and when. Out: devices that panic, fail or hang, for tests of what embeds the
//! library. It is never shipped.

#![deny(missing_docs)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use meldsim_capi::testing::FaultCheck;
pub use meldsim_capi::*;

/// The status of calls that the fault of kind 2 strikes.
pub const MELDSIM_TESTING_ERR_INJECTED: i32 = testing::ERR_INJECTED;

/// The kind of fault that does not end.
const HANG: u32 = 3;

/// Devices that were made to hang.
static HANGING: Mutex<Vec<i64>> = Mutex::new(Vec::new());

fn hanging() -> MutexGuard<'static, Vec<i64>> {
    HANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a fault does once it strikes.
#[derive(Clone, Copy)]
enum Fault {
    Panic,
    Error,
    Hang,
}

impl Fault {
    fn strike(self) -> Result<(), String> {
        match self {
            Fault::Panic => panic!("injected panic"),
            Fault::Error => Err("injected error".to_owned()),
            Fault::Hang => loop {
                std::thread::park();
            },
        }
    }
}

/// Has a device fail: after `after_calls` more of the calls that can be made to fail (they create a
/// namespace, bind a stream, precondition, preload, submit or wait), the next one panics inside
/// (`kind` 1: the device is out of service from then on, MELDSIM_ERR_PANIC), or it and every later one
/// fails (`kind` 2: -12), or it never returns (`kind` 3). `kind` 0 disarms. A `handle` of 0 is every
/// device of the process that is open and in service, but for those that were made to hang: whoever
/// wants something of them waits for seconds. Returns a status; the first error, of several.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_testing_inject_fault(handle: i64, kind: u32, after_calls: u64) -> i32 {
    let inject = |handle| {
        let status = testing::set_fault_check(handle, check(kind, after_calls));
        if kind == HANG && status == MELDSIM_OK {
            hanging().push(handle);
        }
        status
    };
    if handle != 0 {
        return inject(handle);
    }
    let hanging = hanging().clone();
    let devices = testing::open_devices().into_iter();
    let statuses = devices
        .filter(|handle| !hanging.contains(handle))
        .map(inject);
    let out_of_service = |status: &i32| matches!(*status, MELDSIM_ERR_PANIC | MELDSIM_ERR_CLOSED);
    let mut failed = statuses.filter(|status| *status != MELDSIM_OK && !out_of_service(status));
    failed.next().unwrap_or(MELDSIM_OK)
}

fn check(kind: u32, after_calls: u64) -> Result<Option<FaultCheck>, String> {
    let fault = match kind {
        0 => return Ok(None),
        1 => Fault::Panic,
        2 => Fault::Error,
        HANG => Fault::Hang,
        other => {
            return Err(format!(
                "fault kind {other} is unknown; use 0 (none), 1 (panic), 2 (error) or 3 (hang)"
            ));
        }
    };
    let mut calls_left = after_calls;
    Ok(Some(Box::new(move || match calls_left {
        0 => fault.strike(),
        _ => {
            calls_left -= 1;
            Ok(())
        }
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> i64 {
        let mut handle = 0;
        // SAFETY: a NUL-terminated name and a writable handle.
        let code =
            unsafe { meldsim_open(MELDSIM_ABI_VERSION, c"melded-tlc-8x8".as_ptr(), &mut handle) };
        assert_eq!(code, MELDSIM_OK);
        handle
    }

    fn create_namespace(handle: i64) -> i32 {
        let mut nsid = 0;
        // SAFETY: writable.
        unsafe { meldsim_namespace_create(handle, 1 << 30, &mut nsid) }
    }

    /// In one test: a handle of 0 is every device of the process.
    #[test]
    fn faults_strike_when_they_are_to_and_whom_they_are_to() {
        let devices = [open(), open()];
        assert_eq!(meldsim_testing_inject_fault(devices[0], 2, 1), MELDSIM_OK);
        assert_eq!(create_namespace(devices[0]), MELDSIM_OK);
        for _ in 0..2 {
            assert_eq!(create_namespace(devices[0]), MELDSIM_TESTING_ERR_INJECTED);
            assert_eq!(create_namespace(devices[1]), MELDSIM_OK);
        }
        assert_eq!(meldsim_testing_inject_fault(devices[0], 0, 0), MELDSIM_OK);
        assert_eq!(create_namespace(devices[0]), MELDSIM_OK);

        let unknown = meldsim_testing_inject_fault(0, 4, 0);
        assert_eq!(unknown, MELDSIM_ERR_ARGUMENT);
        let never = meldsim_testing_inject_fault(12_345 << 32, 1, 0);
        assert_eq!(never, MELDSIM_ERR_ARGUMENT);
        assert_eq!(meldsim_testing_inject_fault(0, 1, 0), MELDSIM_OK);
        for device in devices {
            for _ in 0..2 {
                assert_eq!(create_namespace(device), MELDSIM_ERR_PANIC);
            }
        }
        let broken = meldsim_testing_inject_fault(devices[0], 2, 0);
        assert_eq!(broken, MELDSIM_ERR_PANIC);
        let nobody = meldsim_testing_inject_fault(0, 2, 0);
        assert_eq!(nobody, MELDSIM_OK);
        for device in devices {
            assert_eq!(meldsim_close(device), MELDSIM_OK);
        }
    }
}
