//! Namespaces.

use meldsim_core::NamespaceId;

use super::{fill, status};
use crate::convert;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;

/// How many values `meldsim_namespace_info` knows.
pub const MELDSIM_NAMESPACE_INFO_COUNT: u32 = 5;

/// Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
///
/// Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device.
/// Thread-safe.
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
    status(handle, |session| {
        if nsid.is_null() {
            return Err(Failure::argument("nsid is null"));
        }
        let created = session.create_namespace(size_bytes)?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { nsid.write(created.0) };
        Ok(())
    })
}

/// Fills `out` with at most `n` of: bytes of a logical block, size in logical blocks, bytes of a flash page, bytes of a
/// wordline (the preferred unit of melded reads), physical capacity of the device in bytes.
///
/// Returns how many values there are (MELDSIM_NAMESPACE_INFO_COUNT). The caller owns `out`. Thread-safe.
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
