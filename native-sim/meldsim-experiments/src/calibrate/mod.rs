//! A device profile from what was measured on a drive.

#[allow(dead_code)]
mod fio;
