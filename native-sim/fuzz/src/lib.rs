//! Fuzz targets: everything of the simulator that reads what others wrote.
//!
//! A target is a function of bytes that panics on a defect. The same function runs under libFuzzer
//! (`main.rs`) and, over the committed corpus and mutations of it, in the tests of this crate.

pub mod mutate;
/// The targets. Each says what must hold whatever the bytes are.
pub mod targets {
    pub mod abi;
    pub mod device;
    mod exercise;
    pub mod job;
    pub mod profile;
    pub mod run;
    pub mod snapshot;
    pub mod trace;
}

use std::path::PathBuf;

/// A target: what is fuzzed, and the function that panics on a defect.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is that of its corpus folder.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target::new("abi", targets::abi::run),
    Target::new("device", targets::device::run),
    Target::new("handles", targets::abi::handles),
    Target::new("job", targets::job::run),
    Target::new("profile", targets::profile::run),
    Target::new("run", targets::run::run),
    Target::new("snapshot", targets::snapshot::run),
    Target::new("trace", targets::trace::run),
    Target::new("zones", targets::abi::zones),
];

impl Target {
    const fn new(name: &'static str, run: fn(&[u8])) -> Target {
        Target { name, run }
    }

    /// The folder of its corpus.
    pub fn corpus(&self) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(self.name)
    }

    /// The words of its input language, one entry a word.
    pub fn dictionary(&self) -> Vec<Vec<u8>> {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("dict")
            .join(format!("{}.dict", self.name));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'))
            .map(|word| {
                word.replace("\\x0a", "\n")
                    .replace("\\\"", "\"")
                    .into_bytes()
            })
            .collect()
    }
}
