//! The volumes of a trace: which there are, and which of them are read.

use std::collections::HashMap;

use crate::error::Fault;
use meldsim::profile::excerpt;

/// Most volumes that are told apart.
const VOLUMES_MAX: usize = 65_536;
/// Names in a message.
const SHOWN: usize = 8;

/// Volumes in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub(super) struct Volumes {
    /// Those that are read.
    pub(super) names: Vec<String>,
    /// The only ones to be read; empty for all.
    chosen: Vec<String>,
    /// By what stands in a line; `None` for what is not read. Only looked up, so that its order is never seen.
    known: HashMap<String, Option<usize>>,
    /// By a device's number.
    numbers: HashMap<u32, Option<usize>>,
    /// That of the record before: mostly that of the next, too.
    last: (String, Option<usize>),
    /// Some that are not read.
    others: Vec<String>,
}

impl Volumes {
    /// Only these are read.
    pub(super) fn choose(&mut self, chosen: &[String]) {
        self.chosen = chosen.iter().map(|name| normal(name)).collect();
    }

    /// The volume that a line calls `key`; `None` if it is not read.
    pub(super) fn index(&mut self, key: &str, field: &'static str) -> Result<Option<usize>, Fault> {
        if self.last.0 == key && !key.is_empty() {
            return Ok(self.last.1);
        }
        let index = match self.known.get(key) {
            Some(index) => *index,
            None => self.add(key, field)?,
        };
        key.clone_into(&mut self.last.0);
        self.last.1 = index;
        Ok(index)
    }

    /// The volume of a device's number, which `name` writes.
    pub(super) fn index_of_number(
        &mut self,
        number: u32,
        field: &'static str,
        name: impl FnOnce() -> String,
    ) -> Result<Option<usize>, Fault> {
        if let Some(index) = self.numbers.get(&number) {
            return Ok(*index);
        }
        let index = self.index(&name(), field)?;
        self.numbers.insert(number, index);
        Ok(index)
    }

    fn add(&mut self, key: &str, field: &'static str) -> Result<Option<usize>, Fault> {
        if self.known.len() >= VOLUMES_MAX {
            let message = format!("is \"{}\", one more than {VOLUMES_MAX}", excerpt(key));
            return Err(Fault::new(field, message, "split the trace by volume"));
        }
        let name = normal(key);
        // Other blanks between the same words.
        let index = match self.known.get(&name) {
            Some(index) => *index,
            None if self.chosen.is_empty() || self.chosen.contains(&name) => {
                self.names.push(name.clone());
                Some(self.names.len() - 1)
            }
            None => {
                if self.others.len() < SHOWN {
                    self.others.push(name.clone());
                }
                None
            }
        };
        self.known.insert(name, index);
        self.known.insert(key.to_owned(), index);
        Ok(index)
    }

    /// Refuses a choice that the whole trace does not have.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let missing = self.chosen.iter().find(|name| !self.names.contains(name));
        missing.map_or(Ok(()), |name| {
            let message = format!("is \"{}\", which the trace does not have", excerpt(name));
            let seen: Vec<&str> = self
                .names
                .iter()
                .chain(&self.others)
                .map(|name| &**name)
                .collect();
            let remedy = format!("use some of {}", seen[..seen.len().min(SHOWN)].join(", "));
            Err(Fault::new("--volume", message, remedy))
        })
    }
}

/// A name in one word, without commas: what stands in a line with other separators is the same volume.
fn normal(key: &str) -> String {
    let words = key.split([',', ' ', '\t']).filter(|word| !word.is_empty());
    words.collect::<Vec<&str>>().join(".")
}
