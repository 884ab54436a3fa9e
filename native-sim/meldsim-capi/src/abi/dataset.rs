//! Ranges of logical blocks: what they are told, and where they are.

use meldsim::NamespaceId;
use meldsim::nvme::{DsmRange, MAX_DSM_RANGES};

use super::{MELDSIM_DETACHED, MELDSIM_NO_WAIT, check_flags, fill, status};
use crate::convert;
use crate::error::Failure;
use crate::handles;
use crate::panic::boundary;

/// The most ranges of one call.
pub const MELDSIM_RANGES_MAX: u32 = 256;

/// Context attributes of a range: it will be read sequentially, in commands of 64 logical blocks.
pub const MELDSIM_RANGE_SEQUENTIAL_READ: u32 = 0x4000_0100;

/// How many values `meldsim_locate` knows.
pub const MELDSIM_LOCATION_COUNT: u32 = 7;
/// A location: never written, or deallocated.
pub const MELDSIM_UNMAPPED: u32 = 0;
/// A location: in the write buffer.
pub const MELDSIM_BUFFERED: u32 = 1;
/// A location: on flash.
pub const MELDSIM_ON_FLASH: u32 = 2;
/// A location: in XPoint memory.
pub const MELDSIM_IN_XPOINT: u32 = 3;

/// A range of logical blocks: 16 bytes, laid out as NVMe's Range Definition of Dataset Management.
#[repr(C)]
#[allow(non_camel_case_types, reason = "the C name of the type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct meldsim_range {
    /// Context attributes, such as MELDSIM_RANGE_SEQUENTIAL_READ; 0 for none, which a deallocation does not look at.
    pub attributes: u32,
    /// Number of logical blocks.
    pub nlb: u32,
    /// First logical block.
    pub slba: u64,
}

const _: () = assert!(size_of::<meldsim_range>() == 16);
const _: () = assert!(MELDSIM_RANGES_MAX as usize == MAX_DSM_RANGES);
const _: () =
    assert!(MELDSIM_RANGE_SEQUENTIAL_READ == DsmRange::attributes_of(0, 0, true, false, false, 64));

/// Says how the data of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace will be read, for the writes to them that follow:
/// as Dataset Management with the integral dataset for read attribute. A range with sequential read and a command access
/// size will be read sequentially; any other takes back what was told, and so does a deallocation. A namespace remembers
/// 4096 ranges. The caller owns `ranges`, which is copied. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, `n`), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE (those before it are told),
/// MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `ranges` is null, or points to `n` ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_describe(
    handle: i64,
    nsid: u32,
    ranges: *const meldsim_range,
    n: u32,
) -> i32 {
    status(handle, |session| {
        // SAFETY: the contract of this function on `ranges` and `n`.
        let ranges = unsafe { slice_of(ranges, n) }?;
        session.on_device(|device| {
            ranges.iter().try_for_each(|range| {
                let &meldsim_range {
                    attributes,
                    nlb: length,
                    slba,
                } = range;
                let range = DsmRange {
                    attributes,
                    length,
                    slba,
                };
                let told = device.describe(NamespaceId(nsid), &range);
                told.map_err(convert::refused)
            })
        })
    })
}

/// Submits the deallocation of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace as one command, to submission queue
/// `queue`; all of them or, on an error, none. Else as `meldsim_submit`.
///
/// # Safety
/// `ranges` is null, or points to `n` ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_deallocate(
    handle: i64,
    nsid: u32,
    ranges: *const meldsim_range,
    n: u32,
    queue: u32,
    flags: u32,
) -> i64 {
    boundary(|| {
        check_flags(flags)?;
        let queue = convert::queue(queue)?;
        // SAFETY: the contract of this function on `ranges` and `n`.
        let ranges = unsafe { slice_of(ranges, n) }?;
        let ranges: Vec<(u64, u32)> = ranges.iter().map(|range| (range.slba, range.nlb)).collect();
        handles::get(handle)?.guard(|session| {
            let (detached, no_wait) = (flags & MELDSIM_DETACHED != 0, flags & MELDSIM_NO_WAIT != 0);
            session.submit(1, detached, no_wait, |device, _, tag| {
                let sent = device.deallocate(queue, NamespaceId(nsid), &ranges, tag);
                sent.map_err(convert::refused)
            })
        })
    })
}

/// Fills `out` with at most `n` of where a logical block is: MELDSIM_UNMAPPED, MELDSIM_BUFFERED or MELDSIM_ON_FLASH; and on flash
/// its channel, die of the channel, plane, block, wordline, and page of the wordline, each from 0. MELDSIM_IN_XPOINT has the
/// die and the chunk of the device in the places of die and block, else 0.
///
/// Returns how many values there are (MELDSIM_LOCATION_COUNT, more in a later library). In real-time mode they are as of
/// now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_locate(
    handle: i64,
    nsid: u32,
    lba: u64,
    out: *mut u64,
    n: u32,
) -> i32 {
    boundary(|| {
        let location = handles::get(handle)?.guard(|session| {
            session.on_device(|device| {
                let location = device.locate(NamespaceId(nsid), lba);
                location.map_err(convert::refused)
            })
        })?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, convert::location_values(location).into_iter()) }
    })
}

/// # Safety
/// `ranges` is null, or points to `n` ranges that outlive the slice.
unsafe fn slice_of<'a>(
    ranges: *const meldsim_range,
    n: u32,
) -> Result<&'a [meldsim_range], Failure> {
    if ranges.is_null() || !ranges.is_aligned() {
        return Err(Failure::argument("ranges is null or not aligned"));
    }
    if !(1..=MELDSIM_RANGES_MAX).contains(&n) {
        return Err(Failure::argument(format!(
            "{n} ranges; must be 1 to {MELDSIM_RANGES_MAX}"
        )));
    }
    // SAFETY: not null, aligned, and the caller vouches for `n` ranges.
    Ok(unsafe { std::slice::from_raw_parts(ranges, n as usize) })
}
