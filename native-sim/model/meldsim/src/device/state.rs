//! The state of a device apart from its commands: data that are there before a run, and the state after a long past.

use std::ops::ControlFlow;
use std::str::FromStr;

use super::request::PageRange;
use super::{Device, DeviceError};
use crate::engine::available_memory;
use crate::nvme::{Command, Directive, Namespace, NamespaceId};
use crate::profile::Kind;
use crate::profile::limits::mapping_bytes_per_page;

/// Besides its entry of the mapping a page takes what the table has beside, and a 32nd of the pages are noted in the map of
/// garbage collection, twice as much while that grows.
const NOTED_BYTES_A_PAGE: u64 = 1;
/// Of pages that were written in order 1024 take what the table has, twice as much while that grows.
const ORDERED_PAGES_A_BYTE: u64 = 14;

/// How the namespaces of a device have been used: see [`Device::precondition`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precondition {
    /// Share of each namespace that holds data, from its start. Unit: percent; range 1 to 100.
    pub fill_percent: u32,
    /// Share of that data, from its start, that was overwritten at random for so long that garbage
    /// collection came to its steady state; the rest was written once, in order. Unit: percent;
    /// range 0 to 100.
    pub random_percent: u32,
}

/// A write of a long past: consecutive logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastWrite {
    /// The namespace.
    pub nsid: NamespaceId,
    /// The first logical block.
    pub slba: u64,
    /// Logical blocks; at least one.
    pub nlb: u64,
}

/// How far a long past of overwrites came: see [`Device::precondition_by`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aging {
    /// Pages that were written.
    pub pages: u64,
    /// Times that as many pages were written as the past overwrites in all.
    pub passes: u32,
    /// Pages placed on flash for each of the host's, in the last of these passes. Those that were written again
    /// while they were in the write buffer were not placed.
    pub write_amplification: f64,
    /// The last two passes came to the write amplification of the two before within 1 %. In small devices passes
    /// may differ by more, by chance: then 16 were done.
    pub is_steady: bool,
}

impl Aging {
    /// Passes are not more than this, alike or not.
    pub const MOST_PASSES: u32 = 16;
}

impl Default for Precondition {
    fn default() -> Precondition {
        Precondition {
            fill_percent: 100,
            random_percent: 100,
        }
    }
}

impl FromStr for Precondition {
    type Err = String;

    /// Reads `fill=100,random=75`; what is left out is 100.
    fn from_str(text: &str) -> Result<Precondition, String> {
        let mut precondition = Precondition::default();
        let mut given = Vec::new();
        for part in text.split(',') {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| format!("\"{part}\" has no value; write fill=100,random=75"))?;
            if given.contains(&key) {
                return Err(format!(
                    "{key} is there twice; give one, and another in a run of its own"
                ));
            }
            given.push(key);
            let (least, percent) = match key {
                "fill" => (1, &mut precondition.fill_percent),
                "random" => (0, &mut precondition.random_percent),
                _ => return Err(format!("\"{key}\" is unknown; use fill and random")),
            };
            let range = least..=100;
            let read = value.parse().ok().filter(|value| range.contains(value));
            *percent = read.ok_or_else(|| {
                format!("{key} is \"{value}\"; use a whole number of percent, {least} to 100")
            })?;
        }
        Ok(precondition)
    }
}

/// State that commands did not bring about.
impl Device {
    /// Places data as if it had been written in order and flushed long since. Takes no simulated
    /// time; only the namespace counts it. A page that is covered in part counts as covered. On a nearly
    /// full device there may be room for the pages and none for the padding: then a part is placed.
    /// Memory that is mapped by address holds everything already.
    pub fn preload(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), DeviceError> {
        if let Some(parts) = self.fill_zones(nsid, slba, nlb)? {
            return parts
                .into_iter()
                .try_for_each(|(slba, nlb)| self.place(nsid, slba, nlb, directive));
        }
        self.place(nsid, slba, nlb, directive)
    }

    /// Places data of logical blocks.
    fn place(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<(), DeviceError> {
        let (range, bytes) = self.namespaces.pages(nsid, slba, nlb)?;
        let write = Command::write(nsid, slba, 0, directive, 0);
        let hint = self.namespaces.hint(&write, nlb)?;
        self.medium.preload(range, hint)?;
        self.requests.stats_of_mut(nsid).preloaded_bytes += bytes;
        Ok(())
    }

    /// As [`Device::preload`], but only for the pages of the range that hold nothing. Returns how many logical blocks
    /// those are.
    pub fn preload_unmapped(
        &mut self,
        nsid: NamespaceId,
        slba: u64,
        nlb: u64,
        directive: Directive,
    ) -> Result<u64, DeviceError> {
        let (range, _) = self.namespaces.pages(nsid, slba, nlb)?;
        if self.zones.is_some() {
            return self.preload_empty_zones(nsid, slba, nlb);
        }
        let namespace = self.namespace(nsid);
        let namespace = namespace.ok_or(DeviceError::UnknownNamespace { nsid })?;
        let (page_bytes, lba_bytes) = (namespace.page_bytes, namespace.lba_bytes);
        let (mut placed, mut page) = (0, range.first);
        while let Some(gap) = self.medium.next_unmapped(PageRange {
            first: page,
            ..range
        }) {
            // A logical block that is larger than a page is mapped whole or not at all.
            let from = (gap.start * page_bytes / lba_bytes).max(slba);
            let to = (gap.end * page_bytes).div_ceil(lba_bytes).min(slba + nlb);
            self.preload(nsid, from, to - from, directive)?;
            placed += to - from;
            page = gap.end;
        }
        Ok(placed)
    }

    /// Puts the device into the state it would be in after a long past: all namespaces hold as much
    /// data as `precondition` says, and where that was overwritten at random, its pages lie as
    /// garbage collection leaves them in steady state. The state is computed by its closed form
    /// (see `docs/explanation/model.md`): it takes no simulated time and nanoseconds a page.
    ///
    /// Everything the namespaces held before is gone. Where the namespaces of an NVM set are larger
    /// than the set, which thin ones may be, each counts as its share of the set.
    ///
    /// Memory that is mapped by address has no past: nothing changes.
    pub fn precondition(&mut self, precondition: &Precondition) -> Result<(), DeviceError> {
        self.check_past(precondition)?;
        let (profile, namespaces) = (&self.profile, &self.namespaces);
        self.medium.precondition(profile, namespaces, precondition)
    }

    /// As [`Device::precondition`] and then, from that state on, with the `writes` of a past that was not uniform,
    /// until garbage collection has come to their steady state. Takes no simulated time either, but a tenth of
    /// a microsecond and more for each page that is written or moved, and as many pages are written as the past
    /// overwrites, 4 to 16 times.
    ///
    /// What `writes` touch that holds nothing is passed over. `progress` is asked now and then. When it breaks off,
    /// or there are no more writes, the state is what was come to by then.
    ///
    /// Beside the device itself, memory is needed for the pages of the write buffer only.
    pub fn precondition_by(
        &mut self,
        precondition: &Precondition,
        writes: &mut dyn Iterator<Item = PastWrite>,
        progress: &mut dyn FnMut(&Aging) -> ControlFlow<()>,
    ) -> Result<Aging, DeviceError> {
        self.check_past(precondition)?;
        let (profile, namespaces) = (&self.profile, &self.namespaces);
        self.medium
            .precondition_by(profile, namespaces, precondition, writes, progress)
    }

    /// About how many bytes of the host's memory the device takes when so many bytes of its data were written at random, the
    /// notes of collection included. What was written in order takes hardly any.
    pub fn memory_bytes(&self, data_bytes: u64) -> u64 {
        let profile = &self.profile;
        let pages = data_bytes / profile.mapping_unit().0.max(1);
        match profile.kind {
            Kind::Nand => {
                let entry = mapping_bytes_per_page(profile.flash_pages_per_set());
                pages.min(profile.capacity_pages()) * (entry + NOTED_BYTES_A_PAGE)
            }
            Kind::Xpoint => 0,
        }
    }

    /// Logical blocks of a namespace that a past can fill, from its start: all of them, or its share of the NVM set where
    /// the namespaces of that are larger than the set together. `None` where there is no such namespace.
    pub fn share_lbas(&self, nsid: NamespaceId) -> Option<u64> {
        let namespace = self.namespace(nsid)?;
        let set = self.set_of(nsid)?;
        let total = self.namespaces.of_set(set).map(Namespace::pages).sum();
        let room = self.set_info(set)?.capacity_pages;
        let bytes = share(namespace.pages(), total, room) * namespace.page_bytes;
        Some((bytes / namespace.lba_bytes).min(namespace.size_lbas))
    }

    fn check_past(&self, past: &Precondition) -> Result<(), DeviceError> {
        let namespaces = self.namespaces.all().iter();
        let lbas = namespaces.filter_map(|of| Some((self.share_lbas(of.id)?, of.lba_bytes)));
        let held: u128 = lbas
            .map(|(lbas, bytes)| u128::from(lbas) * u128::from(bytes))
            .sum();
        let filled = held * u128::from(past.fill_percent) / 100;
        let random = filled * u128::from(past.random_percent) / 100;
        match self.outstanding() {
            0 if self.zones.is_some() => Err(DeviceError::ZonedPast),
            0 => {
                let ordered = (filled - random) as u64 / self.profile.mapping_unit().0.max(1);
                let needed = self.memory_bytes(random as u64) + ordered / ORDERED_PAGES_A_BYTE;
                match available_memory() {
                    Some(available) if needed > available => {
                        Err(DeviceError::Memory { needed, available })
                    }
                    _ => Ok(()),
                }
            }
            _ => Err(DeviceError::Busy),
        }
    }
}

/// Of so much room, what belongs to one of the namespaces that are so large together.
pub(super) fn share(pages: u64, total: u64, room: u64) -> u64 {
    match total > room {
        true => (u128::from(pages) * u128::from(room) / u128::from(total)) as u64,
        false => pages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(u32, u32), String> {
        let read = text.parse::<Precondition>()?;
        Ok((read.fill_percent, read.random_percent))
    }

    #[test]
    fn specifications_are_read() {
        assert_eq!(read("fill=80,random=25"), Ok((80, 25)));
        assert_eq!(read("random=0"), Ok((100, 0)));
        assert_eq!(read("fill=1"), Ok((1, 100)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("", "no value"),
            ("fill", "\"fill\" has no value"),
            ("fil=3", "\"fil\" is unknown"),
            ("fill=0", "fill is \"0\""),
            ("random=101", "random is \"101\""),
            ("random=many", "0 to 100"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
