//! Hints to the processor's cache.

/// Asks the processor to fetch what will be looked at soon. Tables of the size of a device's mapping
/// miss every cache, and who looks at many entries need not wait for one after the other.
#[inline]
#[allow(unsafe_code)]
pub(crate) fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it changes nothing but caches, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}
