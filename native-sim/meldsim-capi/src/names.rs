//! The counters' names and descriptions as C strings, made once.

use std::ffi::{CString, c_char};
use std::sync::OnceLock;

use meldsim::Stats;

static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
static DESCRIPTIONS: OnceLock<Vec<CString>> = OnceLock::new();

/// The name of counter `index`, or null.
pub(crate) fn name(index: u32) -> *const c_char {
    at(&NAMES, Stats::NAMES, index)
}

/// What counter `index` counts, or null.
pub(crate) fn description(index: u32) -> *const c_char {
    at(&DESCRIPTIONS, Stats::DESCRIPTIONS, index)
}

fn at(made: &'static OnceLock<Vec<CString>>, texts: &[&str], index: u32) -> *const c_char {
    let made = made.get_or_init(|| {
        // Neither an identifier nor a doc comment has a NUL in it.
        let text = |text: &&str| CString::new(*text).unwrap_or_default();
        texts.iter().map(text).collect()
    });
    made.get(index as usize)
        .map_or(std::ptr::null(), |text| text.as_ptr())
}
