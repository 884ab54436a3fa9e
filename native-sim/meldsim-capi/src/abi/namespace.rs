//! Namespaces and the NVM sets they are in.

use meldsim::NamespaceId;

use super::{fill, status};
use crate::convert;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;
use crate::session::Session;

/// How many values `meldsim_namespace_info` knows.
pub const MELDSIM_NAMESPACE_INFO_COUNT: u32 = 7;
/// How many values `meldsim_layout` knows.
pub const MELDSIM_LAYOUT_COUNT: u32 = 3;
/// How many values `meldsim_set_info` knows.
pub const MELDSIM_SET_INFO_COUNT: u32 = 13;

/// Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
///
/// Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device, and go to
/// its NVM sets in turn, the first to set 0. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED. `*nsid` is set
/// on success only.
///
/// # Safety
/// `nsid` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_create(
    handle: i64,
    size_bytes: u64,
    nsid: *mut u32,
) -> i32 {
    // SAFETY: the contract of this function on `nsid`.
    unsafe { create(handle, None, size_bytes, nsid) }
}

/// Creates a namespace in the NVM set `set`, which counts from 0; else as `meldsim_namespace_create`.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, set, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC, MELDSIM_ERR_INJECTED. `*nsid` is
/// set on success only.
///
/// # Safety
/// `nsid` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_create_in(
    handle: i64,
    set: u32,
    size_bytes: u64,
    nsid: *mut u32,
) -> i32 {
    // SAFETY: the contract of this function on `nsid`.
    unsafe { create(handle, Some(set), size_bytes, nsid) }
}

/// Fills `out` with at most `n` of: bytes of a logical block, size in logical blocks, bytes of a flash page, bytes of a
/// wordline (the preferred unit of melded reads), capacity of the device in bytes, NVM set, logical blocks that hold data.
///
/// Returns how many values there are (MELDSIM_NAMESPACE_INFO_COUNT, more in a later library). The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_info(
    handle: i64,
    nsid: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        let session = handles::get(handle)?;
        let values = session
            .guard(|session| session.namespace(NamespaceId(nsid), convert::namespace_values))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}

/// Fills `out` with at most `n` of, for the flash pages that the range lies in: pages that hold data; of those, the ones in
/// the write buffer, which have no layout yet; of those, the ones melded, which share a wordline with what follows them.
///
/// Returns how many values there are (MELDSIM_LAYOUT_COUNT, more in a later library). Takes wall time in proportion to the
/// range, about 10 ns a page, in which the device serves nobody else. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_layout(
    handle: i64,
    nsid: u32,
    slba: u64,
    nlb: u64,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        let layout = handles::get(handle)?.guard(|session| {
            session.on_device(|device| {
                device
                    .layout(NamespaceId(nsid), slba, nlb)
                    .map_err(convert::refused)
            })
        })?;
        let values = [layout.mapped, layout.buffered, layout.melded];
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}

/// The number of namespaces of the device; their ids count from 1. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_namespaces(handle: i64) -> i32 {
    boundary(|| {
        let count = handles::get(handle)?
            .guard(|session| session.on_device(|device| Ok(device.namespaces().len())))?;
        Ok(i32::try_from(count).unwrap_or(i32::MAX))
    })
}

/// The number of NVM sets of the device, as its profile has it; they are numbered from 0. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_sets(handle: i64) -> i32 {
    boundary(|| {
        let sets = handles::get(handle)?.guard(Session::sets)?;
        Ok(i32::try_from(sets).unwrap_or(i32::MAX))
    })
}

/// Fills `out` with at most `n` of an NVM set's: capacity in pages, pages that hold data, erased blocks; since the device
/// was opened pages programmed for the host, pages moved by garbage collection, blocks erased, reads begun and their bytes,
/// writes begun and their bytes, bytes programmed in all; its optimal write in bytes (a wordline), and what a read of one
/// page takes on an idle device, in simulated picoseconds.
///
/// Returns how many values there are (MELDSIM_SET_INFO_COUNT, more in a later library). In real-time mode they are as of
/// now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, set), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_set_info(handle: i64, set: u32, out: *mut u64, n: u32) -> i32 {
    boundary(|| {
        let values = handles::get(handle)?
            .guard(|session| session.on_device(|device| convert::set_values(device, set)))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, values.into_iter()) }
    })
}

/// Creates a namespace in `set`, or in the sets in turn.
///
/// # Safety
/// `nsid` is null or writable.
unsafe fn create(handle: i64, set: Option<u32>, size_bytes: u64, nsid: *mut u32) -> i32 {
    status(handle, |session| {
        if nsid.is_null() {
            return Err(Failure::argument("nsid is null"));
        }
        let created = session.create_namespace(set, size_bytes)?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { nsid.write(created.0) };
        Ok(())
    })
}
