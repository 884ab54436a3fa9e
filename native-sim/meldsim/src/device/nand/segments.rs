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
    /// Pages of a segment.
    segment: u64,
    /// Pages of its present segment that are on their way from flash.
    in_flight: u64,
}

/// Reads of several segments.
#[derive(Debug)]
pub(super) struct Segments {
    /// Pages of a segment at most.
    pages: u64,
    /// Beside other commands, but no more than this many in all, reads that one segment would do take
    /// two.
    halved_depth: usize,
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
                halved_depth: profile.controller.halved_read_depth as usize,
                readings: Vec::new(),
            })
        })
    }

    /// A read begins, with so many commands outstanding; false unless it is of several segments.
    pub(super) fn begin(&mut self, request: u32, range: PageRange, outstanding: usize) -> bool {
        let segment = self.segment(range.pages(), outstanding);
        if range.pages() <= segment {
            return false;
        }
        let index = request as usize;
        if index >= self.readings.len() {
            self.readings.resize(index + 1, None);
        }
        self.readings[index] = Some(Reading {
            left: range,
            segment,
            in_flight: 0,
        });
        true
    }

    /// Pages of a segment of a read of so many.
    fn segment(&self, pages: u64, outstanding: usize) -> u64 {
        let is_halved = pages >= self.pages && (2..=self.halved_depth).contains(&outstanding);
        match is_halved {
            true => self.pages.min(pages.div_ceil(2)),
            false => self.pages,
        }
    }

    /// The segment that a request issues now, if the last one has arrived.
    pub(super) fn next(&mut self, request: u32) -> Option<PageRange> {
        let reading = self.readings.get_mut(request as usize)?;
        let Reading {
            left,
            segment,
            in_flight,
        } = reading.as_mut()?;
        if *in_flight > 0 {
            return None;
        }
        let end = left.end.min(left.first + *segment);
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
