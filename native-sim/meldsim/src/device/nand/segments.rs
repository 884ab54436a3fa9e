//! Large reads: segments of a command, one after the other.
//!
//! ```text
//!   command   |  segment 0  |  segment 1  |  ...
//!   flash      pages of 0 at once ==> the last has arrived: pages of 1 at once ==> ...
//! ```

use crate::device::front::PageRange;
use crate::profile::Profile;

/// A read that has begun.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// The pages still to issue.
    left: PageRange,
    /// Pages of its present segment that are on their way from flash.
    in_flight: u64,
}

/// Reads of several segments.
#[derive(Debug)]
pub(super) struct Segments {
    /// Pages of a segment.
    pages: u64,
    /// By request.
    readings: Vec<Option<Reading>>,
}

impl Segments {
    /// None when a read is issued as a whole.
    pub(super) fn new(profile: &Profile) -> Option<Box<Segments>> {
        let pages = profile.controller.read_segment.0 / profile.geometry.page_size.0;
        (pages > 0).then(|| {
            Box::new(Segments {
                pages,
                readings: Vec::new(),
            })
        })
    }

    /// A read begins, if it is of several segments.
    pub(super) fn begin(&mut self, request: u32, range: PageRange) -> bool {
        if range.pages() <= self.pages {
            return false;
        }
        let index = request as usize;
        if index >= self.readings.len() {
            self.readings.resize(index + 1, None);
        }
        self.readings[index] = Some(Reading {
            left: range,
            in_flight: 0,
        });
        true
    }

    /// The segment that a request issues now, if the last one has arrived.
    pub(super) fn next(&mut self, request: u32) -> Option<PageRange> {
        let reading = self.readings.get_mut(request as usize)?;
        let Reading { left, in_flight } = reading.as_mut()?;
        if *in_flight > 0 {
            return None;
        }
        let end = left.end.min(left.first + self.pages);
        let segment = PageRange { end, ..*left };
        left.first = end;
        if left.pages() == 0 {
            // Nobody waits for the last segment.
            self.readings[request as usize] = None;
        }
        Some(segment)
    }

    /// So many pages of the segment are on their way from flash.
    pub(super) fn issued(&mut self, request: u32, pages: u64) {
        if let Some(Some(reading)) = self.readings.get_mut(request as usize) {
            reading.in_flight = pages;
        }
    }

    /// So many of them have arrived.
    pub(super) fn arrived(&mut self, request: u32, pages: u64) {
        if let Some(Some(reading)) = self.readings.get_mut(request as usize) {
            reading.in_flight -= pages;
        }
    }
}
