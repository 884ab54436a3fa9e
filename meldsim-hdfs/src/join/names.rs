//! How names of a cluster are shown.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Names as they are, or as hashes with a key that nobody has.
#[derive(Debug, Default)]
pub struct Names(Option<RandomState>);

impl Names {
    /// Paths, hosts, devices, clients and applications are hashes, the same name always the same one.
    pub fn redacted() -> Names {
        Names(Some(RandomState::new()))
    }

    pub(super) fn show(&self, kind: &str, name: &str) -> String {
        match &self.0 {
            None => name.to_owned(),
            Some(key) => format!("{kind}-{:016x}", key.hash_one((kind, name))),
        }
    }
}
