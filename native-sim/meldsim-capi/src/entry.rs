//! What every entry point does: one panic boundary, the device of a handle, pointers of the caller.
//!
//! In: raw pointers and sizes, as the caller gives them. Out: values, or a failure that names the
//! argument. Nothing else of the crate reads or writes through a caller's pointer.

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use meldsim::Device;

use crate::error::{self, Failure, MELDSIM_OK};
use crate::handles;
use crate::session::Session;

/// The panic boundary: runs an entry point's body. A failure or a panic becomes a negative code and
/// this thread's last error.
pub fn boundary<T: From<i32>>(body: impl FnOnce() -> Result<T, Failure>) -> T {
    let outcome = error::catch(body).unwrap_or_else(Err);
    outcome.unwrap_or_else(|failure| T::from(error::remember(&failure)))
}

/// Runs an entry point's body on the device behind `handle`.
pub(crate) fn session<T: From<i32>>(
    handle: i64,
    body: impl FnOnce(&Session) -> Result<T, Failure>,
) -> T {
    boundary(|| handles::get(handle)?.guard(body))
}

/// As [`session`], for a call that returns a status only.
pub(crate) fn status(handle: i64, body: impl FnOnce(&Session) -> Result<(), Failure>) -> i32 {
    session(handle, |session| body(session).map(|()| MELDSIM_OK))
}

/// As [`session`], on the model's device as it is now.
pub(crate) fn device<T: From<i32>>(
    handle: i64,
    body: impl FnOnce(&mut Device) -> Result<T, Failure>,
) -> T {
    session(handle, |session| {
        session.with(|state| body(&mut state.device))
    })
}

/// As [`device`], for a call whose time grows with what the device holds.
pub(crate) fn device_for_long<T: From<i32>>(
    handle: i64,
    body: impl FnOnce(&mut Device) -> Result<T, Failure>,
) -> T {
    session(handle, |session| {
        session.with_for_long(|state| body(&mut state.device))
    })
}

/// A count as a return value; more than fit are as many as fit.
pub(crate) fn count(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A count as a long return value; more than fit are as many as fit.
pub fn long(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A struct of the header: it begins with its size, as the caller was compiled with it.
///
/// # Safety
/// The type is `repr(C)`, its first field is the `u32` size, it has no padding, and any bytes are a
/// value of it.
pub(crate) unsafe trait Versioned: Copy {
    /// The type's name, for messages.
    const NAME: &'static str;
    /// Its size in the first version of the interface that has it.
    const OLDEST: usize = size_of::<Self>();
}

/// Makes structs of the header [`Versioned`]: their fields are integers, the size first, and the number after the name is the sum
/// of their bytes.
macro_rules! versioned {
    ($($of:ident: $bytes:literal,)+) => {$(
        const _: () = assert!(size_of::<$of>() == $bytes);
        // SAFETY: integers from the size on, and no padding: the size is the sum of the fields.
        unsafe impl $crate::entry::Versioned for $of {
            const NAME: &str = stringify!($of);
        }
    )+};
}
pub(crate) use versioned;

/// A size above this is no struct's; the caller has forgotten to set it.
const SIZE_MAX: usize = 1024;

/// The size in front of a struct of the caller's.
///
/// # Safety
/// `at` is null or points to four readable bytes.
unsafe fn size_at<T: Versioned>(at: *const T) -> Result<usize, Failure> {
    if at.is_null() || !at.is_aligned() {
        return Err(Failure::argument(format!(
            "a pointer to {} is null or not aligned",
            T::NAME
        )));
    }
    // SAFETY: not null, aligned for the whole struct, and the caller vouches for its first field.
    let size = unsafe { at.cast::<u32>().read() } as usize;
    match (8..=SIZE_MAX).contains(&size) {
        true => Ok(size),
        false => Err(Failure::argument(format!(
            "the size of a {0} is {size}; set it to sizeof({0})",
            T::NAME
        ))),
    }
}

/// The caller's struct. Fields that it does not have are 0; those that this library does not know must
/// be.
///
/// # Safety
/// `from` is null, or points to as many readable bytes as the struct there says.
pub(crate) unsafe fn take<T: Versioned>(from: *const T) -> Result<T, Failure> {
    // SAFETY: the contract of this function.
    let size = unsafe { size_at(from) }?;
    if size < T::OLDEST {
        return Err(Failure::argument(format!(
            "the size of a {} is {size}, less than the {} it has always had",
            T::NAME,
            T::OLDEST
        )));
    }
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are readable.
    let (bytes, rest) =
        unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) }.split_at(known);
    if rest.iter().any(|&byte| byte != 0) {
        return Err(Failure::argument(format!(
            "a {} sets fields after the first {known} bytes, which is all that this library knows",
            T::NAME
        )));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the value has room for `known` bytes, and any bytes are a value of the type.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.as_mut_ptr().cast(), known);
        Ok(value.assume_init())
    }
}

/// Fills the caller's struct but for its size: as far as it goes, and with zeros where it has fields
/// that this library does not know.
///
/// # Safety
/// `out` is null, or points to as many readable and writable bytes as the struct there says.
pub(crate) unsafe fn give<T: Versioned>(out: *mut T, value: T) -> Result<i32, Failure> {
    // SAFETY: the contract of this function.
    let size = unsafe { size_at(out) }?;
    let (from, to) = ((&raw const value).cast::<u8>(), out.cast::<u8>());
    let (begin, filled) = (size_of::<u32>(), size.min(size_of::<T>()));
    // SAFETY: `size` bytes are writable, `filled` of them are in the value, which has no padding, and
    // the two do not overlap: the value is this function's own.
    unsafe {
        std::ptr::copy_nonoverlapping(from.add(begin), to.add(begin), filled - begin);
        to.add(filled).write_bytes(0, size - filled);
    }
    Ok(MELDSIM_OK)
}

/// Structs of the caller's, one after the other.
pub(crate) struct List<'a, T> {
    first: *const T,
    /// Bytes from one to the next.
    stride: usize,
    pub(crate) len: usize,
    of: PhantomData<&'a T>,
}

impl<T: Versioned> List<'_, T> {
    /// `n` structs, 1 to `most`.
    ///
    /// # Safety
    /// `first` is null, or points to `n` structs of the size that the first one says. They outlive
    /// the list.
    pub(crate) unsafe fn new(first: *const T, n: u32, most: u32) -> Result<Self, Failure> {
        if !(1..=most).contains(&n) {
            return Err(Failure::argument(format!(
                "{n} of {}; must be 1 to {most}",
                T::NAME
            )));
        }
        // SAFETY: the contract of this function.
        let stride = unsafe { size_at(first) }?;
        Ok(List {
            first,
            stride,
            len: n as usize,
            of: PhantomData,
        })
    }

    pub(crate) fn get(&self, index: usize) -> Result<T, Failure> {
        assert!(index < self.len, "beyond the list");
        let at = self.first.wrapping_byte_add(index * self.stride);
        // SAFETY: within the list, whose structs are all there.
        let size = unsafe { size_at(at) }?;
        if size != self.stride {
            return Err(Failure::argument(format!(
                "number {index} of a list of {} has size {size} and the first one {}",
                T::NAME,
                self.stride
            )));
        }
        // SAFETY: as above, and its size is that of the first one.
        unsafe { take(at) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<T, Failure>> {
        (0..self.len).map(|index| self.get(index))
    }
}

/// Refuses a reserved field that is set: it may mean something one day.
pub(crate) fn check_reserved<T: Versioned>(value: u32) -> Result<(), Failure> {
    match value {
        0 => Ok(()),
        _ => Err(Failure::argument(format!(
            "the reserved field of a {} is {value}; set it to 0",
            T::NAME
        ))),
    }
}

/// Copies as many of `values` as fit to the caller and returns how many there are.
///
/// # Safety
/// `out` points to `n` writable values, or is null.
pub(crate) unsafe fn fill(
    out: *mut u64,
    n: u32,
    values: impl ExactSizeIterator<Item = u64>,
) -> Result<i32, Failure> {
    let there_are = values.len();
    let fit = there_are.min(n as usize);
    if fit > 0 && (out.is_null() || !out.is_aligned()) {
        return Err(Failure::argument("out is null or not aligned"));
    }
    for (at, value) in values.take(fit).enumerate() {
        // SAFETY: not null, aligned, and the caller vouches for `n >= fit > at` writable values.
        unsafe { out.add(at).write(value) };
    }
    Ok(count(there_are as u64))
}

/// Refuses a pointer for a result before anything is done.
pub(crate) fn check_out<T>(out: *mut T, name: &str) -> Result<(), Failure> {
    match out.is_null() || !out.is_aligned() {
        false => Ok(()),
        true => Err(Failure::argument(format!("{name} is null or not aligned"))),
    }
}

/// The caller's string.
///
/// # Safety
/// `text` is null or a NUL-terminated string that outlives the result.
pub unsafe fn string<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::argument(format!("{name} is null")));
    }
    // SAFETY: not null, and the caller vouches for a NUL-terminated string.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| Failure::argument(format!("{name} is not UTF-8")))
}

/// Copies as much of `text` as fits, with a NUL, and gives the bytes that all of it needs.
///
/// # Safety
/// `buf` is null, or points to `len` writable bytes.
pub unsafe fn copy_text(text: &str, buf: *mut c_char, len: u64) -> u64 {
    if !buf.is_null() && len > 0 {
        let room = usize::try_from(len - 1).unwrap_or(usize::MAX);
        let bytes = cut(text, room).as_bytes();
        // SAFETY: the caller gives `len` writable bytes at `buf`; at most `len - 1` and the NUL are written.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), buf.cast::<u8>(), bytes.len());
            buf.add(bytes.len()).write(0);
        }
    }
    text.len() as u64 + 1
}

/// The longest start of `text` that has at most `bytes` bytes and whole characters.
fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
