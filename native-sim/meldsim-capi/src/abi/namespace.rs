//! Namespaces: what they are, where their data is, and how it will be read.

use meldsim::nvme::{DsmRange, MAX_DSM_RANGES};
use meldsim::{DeviceError, Directive, Location, NamespaceId};

use crate::entry::{
    List, check_out, check_reserved, count, device, device_for_long, fill, give, status, versioned,
};
use crate::error::{Failure, MELDSIM_ERR_UNSUPPORTED};

/// Write directive: no hint.
pub const MELDSIM_DIRECTIVE_NONE: u32 = 0;
/// Write directive (`dtype << 16 | dspec`): will be read sequentially.
pub const MELDSIM_DIRECTIVE_SEQUENTIAL: u32 = 0x000F_0001;
/// Write directive (`dtype << 16 | dspec`): will be read at random.
pub const MELDSIM_DIRECTIVE_RANDOM: u32 = 0x000F_0002;
/// Write directive: add a stream's number, 1 to 16. Data of one stream is kept together, and apart from that of others.
pub const MELDSIM_DIRECTIVE_STREAM: u32 = 0x0001_0000;

/// The most ranges of one call.
pub const MELDSIM_RANGES_MAX: u32 = 256;
/// Context attributes of a range: it will be read sequentially, in commands of 64 logical blocks.
pub const MELDSIM_RANGE_SEQUENTIAL_READ: u32 = 0x4000_0100;

/// A location: never written, or deallocated.
pub const MELDSIM_UNMAPPED: u32 = 0;
/// A location: in the write buffer.
pub const MELDSIM_BUFFERED: u32 = 1;
/// A location: on flash.
pub const MELDSIM_ON_FLASH: u32 = 2;
/// A location: in XPoint memory.
pub const MELDSIM_IN_XPOINT: u32 = 3;

/// A namespace, of `meldsim_namespace_info`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_namespace {
    /// sizeof(meldsim_namespace), set by the caller.
    pub size: u32,
    /// The NVM set it is in.
    pub set: u32,
    /// Bytes of a logical block.
    pub lba_bytes: u64,
    /// Its size in logical blocks. It is thin: the device may hold less.
    pub size_lbas: u64,
    /// Bytes of a flash page: the smallest write that costs no more than itself.
    pub page_bytes: u64,
    /// Bytes of a wordline: the preferred unit of melded reads.
    pub wordline_bytes: u64,
    /// Bytes that the whole device can hold.
    pub capacity_bytes: u64,
    /// Logical blocks that hold data.
    pub allocated_lbas: u64,
}

/// Flash pages of a range, of `meldsim_layout`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_page_counts {
    /// sizeof(meldsim_page_counts), set by the caller.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// Pages that hold data.
    pub mapped: u64,
    /// Of those, the ones in the write buffer, which have no layout yet.
    pub buffered: u64,
    /// Of those that hold data, the ones melded: they share a wordline with what follows them.
    pub melded: u64,
}

/// Where a logical block is, of `meldsim_locate`. What a location does not have is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_location {
    /// sizeof(meldsim_location), set by the caller.
    pub size: u32,
    /// MELDSIM_UNMAPPED, MELDSIM_BUFFERED, MELDSIM_ON_FLASH or MELDSIM_IN_XPOINT.
    pub kind: u32,
    /// On flash, the channel. This and all that follows count from 0.
    pub channel: u32,
    /// On flash, the die of the channel; in XPoint memory, the die of the device.
    pub die: u32,
    /// On flash, the plane of the die.
    pub plane: u32,
    /// On flash, the wordline of the block.
    pub wordline: u32,
    /// On flash, the page of the wordline.
    pub page: u32,
    /// 0.
    pub reserved: u32,
    /// On flash, the block of the plane; in XPoint memory, the chunk of the device.
    pub block: u64,
}

/// A range of logical blocks, of `meldsim_describe` and `meldsim_deallocate`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct meldsim_range {
    /// sizeof(meldsim_range).
    pub size: u32,
    /// Context attributes as in NVMe's Range Definition, such as MELDSIM_RANGE_SEQUENTIAL_READ; 0 for none. Of no
    /// meaning to a deallocation.
    pub attributes: u32,
    /// Number of logical blocks.
    pub nlb: u32,
    /// 0.
    pub reserved: u32,
    /// First logical block.
    pub slba: u64,
}

const _: () = assert!(MELDSIM_RANGES_MAX as usize == MAX_DSM_RANGES);
const _: () =
    assert!(MELDSIM_RANGE_SEQUENTIAL_READ == DsmRange::attributes_of(0, 0, true, false, false, 64));

versioned! {
    meldsim_namespace: 56,
    meldsim_page_counts: 32,
    meldsim_location: 40,
    meldsim_range: 24,
}

/// Creates a namespace of `size_bytes`, a multiple of the logical block size, and stores its id in `*nsid`.
///
/// Namespaces are thin: their sizes may add up to more than the device holds. They live as long as the device, and go to
/// its NVM sets in turn, the first to set 0. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. `*nsid` is set on success only.
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
/// Errors: MELDSIM_ERR_ARGUMENT (null, set, size), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC. `*nsid` is set on success only.
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

/// The number of namespaces of the device; their ids count from 1. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_namespaces(handle: i64) -> i32 {
    device(handle, |device| Ok(count(device.namespaces().len() as u64)))
}

/// Fills `*out` with what a namespace is. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_namespace_info(
    handle: i64,
    nsid: u32,
    out: *mut meldsim_namespace,
) -> i32 {
    device(handle, |device| {
        let nsid = NamespaceId(nsid);
        let namespace = device.namespace(nsid);
        let namespace = namespace.ok_or(DeviceError::UnknownNamespace { nsid })?;
        let value = meldsim_namespace {
            size: 0,
            set: device.set_of(namespace.id).unwrap_or(0),
            lba_bytes: namespace.lba_bytes,
            size_lbas: namespace.size_lbas,
            page_bytes: namespace.page_bytes,
            wordline_bytes: namespace.wordline_bytes,
            capacity_bytes: device.stats().capacity_pages * namespace.page_bytes,
            allocated_lbas: device.allocated_lbas(namespace.id),
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Fills `*out` with how many of the flash pages that the range lies in hold data, and how. Takes wall time in proportion
/// to the range, about 10 ns a page, in which the device serves nobody else. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_layout(
    handle: i64,
    nsid: u32,
    slba: u64,
    nlb: u64,
    out: *mut meldsim_page_counts,
) -> i32 {
    device_for_long(handle, |device| {
        let layout = device.layout(NamespaceId(nsid), slba, nlb)?;
        let value = meldsim_page_counts {
            mapped: layout.mapped,
            buffered: layout.buffered,
            melded: layout.melded,
            ..Default::default()
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Fills `*out` with where a logical block is. In real-time mode that is as of now. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null, or points to a struct whose size is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_locate(
    handle: i64,
    nsid: u32,
    lba: u64,
    out: *mut meldsim_location,
) -> i32 {
    device(handle, |device| {
        let nowhere = meldsim_location::default();
        let value = match device.locate(NamespaceId(nsid), lba)? {
            Location::Unmapped => meldsim_location {
                kind: MELDSIM_UNMAPPED,
                ..nowhere
            },
            Location::Buffered => meldsim_location {
                kind: MELDSIM_BUFFERED,
                ..nowhere
            },
            Location::Flash {
                channel,
                die,
                plane,
                block,
                wordline,
                page,
            } => meldsim_location {
                kind: MELDSIM_ON_FLASH,
                channel,
                die,
                plane,
                wordline,
                page,
                block: block.into(),
                ..nowhere
            },
            Location::Xpoint { die, chunk } => meldsim_location {
                kind: MELDSIM_IN_XPOINT,
                die,
                block: chunk,
                ..nowhere
            },
        };
        // SAFETY: the contract of this function on `out`.
        unsafe { give(out, value) }
    })
}

/// Places data as if it had been written long ago with `directive`; takes no simulated time. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CAPACITY, MELDSIM_ERR_UNSUPPORTED (directive),
/// MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_preload(
    handle: i64,
    nsid: u32,
    slba: u64,
    nlb: u64,
    directive: u32,
) -> i32 {
    status(handle, |session| {
        let directive = directive_of(directive)?;
        session.with_for_long(|state| {
            state.check_fault()?;
            let nsid = NamespaceId(nsid);
            Ok(state.device.preload(nsid, slba, nlb, directive)?)
        })
    })
}

/// Says how the data of `n` ranges (1 to MELDSIM_RANGES_MAX) of a namespace will be read, for the writes to them that follow:
/// as Dataset Management with the integral dataset for read attribute. A range with sequential read and a command access
/// size will be read sequentially; any other withdraws that, and so does a deallocation. A namespace remembers 4096 ranges.
/// The caller owns `ranges`, which is copied. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT (null, `n`, size), MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_RANGE, MELDSIM_ERR_CLOSED,
/// MELDSIM_ERR_PANIC. The ranges before the one that is refused are described.
///
/// # Safety
/// `ranges` is null, or points to `n` ranges whose sizes are set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_describe(
    handle: i64,
    nsid: u32,
    ranges: *const meldsim_range,
    n: u32,
) -> i32 {
    status(handle, |session| {
        // SAFETY: the contract of this function on `ranges` and `n`.
        let ranges = unsafe { List::new(ranges, n, MELDSIM_RANGES_MAX) }?;
        session.with(|state| {
            ranges.iter().try_for_each(|range| {
                let range = range_of(range?)?;
                Ok(state.device.describe(NamespaceId(nsid), &range)?)
            })
        })
    })
}

/// Says how the data of a stream will be read, where its writes do not say it themselves: `directive` is
/// MELDSIM_DIRECTIVE_SEQUENTIAL or MELDSIM_DIRECTIVE_RANDOM, or MELDSIM_DIRECTIVE_NONE to withdraw it. `stream` is 1 to 16,
/// of this namespace. For writes submitted from now on. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream, directive), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stream_bind(handle: i64, nsid: u32, stream: u32, directive: u32) -> i32 {
    status(handle, |session| {
        let directive = directive_of(directive)?;
        session.with_check(|state| {
            let (nsid, pattern) = (NamespaceId(nsid), directive.pattern()?);
            Ok(state.device.bind_stream(nsid, stream_of(stream), pattern)?)
        })
    })
}

/// Releases a stream, when nothing will be written to it any more: what it still gathers is programmed, with padding, and its
/// blocks are closed, so that another stream may have blocks. A later write opens it again; it stays bound. Thread-safe.
///
/// Errors: MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_UNSUPPORTED (stream), MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
#[unsafe(no_mangle)]
pub extern "C" fn meldsim_stream_release(handle: i64, nsid: u32, stream: u32) -> i32 {
    status(handle, |session| {
        session.with(|state| {
            let nsid = NamespaceId(nsid);
            Ok(state.device.release_stream(nsid, stream_of(stream))?)
        })
    })
}

/// Fills `out` with what the first `n` streams of a namespace are bound to, from stream 0, which is none: 0 nothing, 1
/// sequential, 2 random.
///
/// Returns how many there are. The caller owns `out`. Thread-safe.
///
/// Errors: MELDSIM_ERR_ARGUMENT, MELDSIM_ERR_NAMESPACE, MELDSIM_ERR_CLOSED, MELDSIM_ERR_PANIC.
///
/// # Safety
/// `out` is null with `n` 0, or points to `n` writable values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn meldsim_streams_bound(
    handle: i64,
    nsid: u32,
    out: *mut u64,
    n: u32,
) -> i32 {
    device(handle, |device| {
        let bound = device.bound_streams(NamespaceId(nsid))?;
        // SAFETY: the contract of this function on `out` and `n`.
        unsafe { fill(out, n, bound.iter().map(|&pattern| pattern as u64)) }
    })
}

/// Creates a namespace in `set`, or in the sets in turn.
///
/// # Safety
/// `nsid` is null or writable.
unsafe fn create(handle: i64, set: Option<u32>, size_bytes: u64, nsid: *mut u32) -> i32 {
    status(handle, |session| {
        check_out(nsid, "nsid")?;
        let created = session.with_check(|state| {
            let created = match set {
                Some(set) => state.device.create_namespace_in(set, size_bytes),
                None => state.device.create_namespace(size_bytes),
            };
            Ok(created?)
        })?;
        // SAFETY: not null, and the caller vouches that it is writable.
        unsafe { nsid.write(created.0) };
        Ok(())
    })
}

/// Takes `dtype << 16 | dspec` apart; the device knows what it means.
pub(super) fn directive_of(packed: u32) -> Result<Directive, Failure> {
    let dtype = u8::try_from(packed >> 16).map_err(|_| {
        Failure::new(
            MELDSIM_ERR_UNSUPPORTED,
            format!("directive {packed:#010x} has a type above 255"),
        )
    })?;
    Ok(Directive {
        dtype,
        dspec: packed as u16,
    })
}

pub(super) fn range_of(range: meldsim_range) -> Result<DsmRange, Failure> {
    check_reserved::<meldsim_range>(range.reserved)?;
    Ok(DsmRange {
        attributes: range.attributes,
        length: range.nlb,
        slba: range.slba,
    })
}

/// A number above 16 bits is no stream.
fn stream_of(number: u32) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
