//! Read patterns: the host says them in four encodings, which come to one hint here.
//!
//! In: directives and DSM fields of writes, described ranges, streams bound to a pattern. Out: the
//! pattern and the stream of a write, for the FTL. `docs/reference/nvme.md` has the order of the encodings.

use super::dataset::{DsmByte, DsmRange, RangeSet};
use super::directive::{Directive, DirectiveError, MAX_STREAMS, Pattern};

/// Pattern and stream of a write, for the FTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) pattern: Pattern,
    /// 1 to [`MAX_STREAMS`], 0 for none.
    pub(crate) stream: u8,
}

impl Hint {
    pub(crate) const NONE: Hint = Hint {
        pattern: Pattern::None,
        stream: 0,
    };
}

/// What the host has said about a namespace before its writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    /// Ranges that will be read sequentially.
    sequential: RangeSet,
    /// Reclaim unit handles of the device; none without flexible data placement.
    handles: u16,
    /// The pattern each stream is bound to.
    streams: [Pattern; MAX_STREAMS as usize + 1],
}

impl Hints {
    /// Of a namespace of a device with so many reclaim unit handles.
    pub(crate) fn new(handles: u16) -> Hints {
        Hints {
            handles,
            ..Hints::default()
        }
    }

    /// The pattern and the stream of a write. The pattern is that of the strongest encoding that
    /// names one: the read-pattern directive, a described range that covers the write, the DSM
    /// byte, the stream.
    #[inline]
    pub(crate) fn resolve(
        &self,
        slba: u64,
        nlb: u64,
        directive: Directive,
        dsm: DsmByte,
    ) -> Result<Hint, DirectiveError> {
        let named = directive.pattern()?;
        let stream = directive.stream(self.handles)?;
        let pattern = if named != Pattern::None {
            named
        } else if self.sequential.covers(slba, slba.saturating_add(nlb))
            || (dsm.sequential() && dsm.frequency() == DsmByte::AF_READ_MOSTLY)
        {
            Pattern::Sequential
        } else {
            self.streams[usize::from(stream)]
        };
        Ok(Hint {
            pattern,
            stream: stream as u8,
        })
    }

    /// A range of a Dataset Management command whose ranges are an integral dataset for reads.
    /// Sequential with an access size says how it will be read; anything else withdraws that.
    pub(crate) fn describe(&mut self, range: &DsmRange) {
        if range.sequential_read() && range.access_lbas() > 0 {
            self.sequential.insert(range.slba, range.end());
        } else {
            self.sequential.remove(range.slba, range.end());
        }
    }

    /// The data of the range are deallocated, so its description is void.
    pub(crate) fn forget(&mut self, slba: u64, nlb: u64) {
        self.sequential.remove(slba, slba.saturating_add(nlb));
    }

    /// Binds a stream to a pattern; [`Pattern::None`] releases it.
    pub(crate) fn bind(&mut self, stream: u16, pattern: Pattern) -> Result<(), DirectiveError> {
        if stream == 0 || stream > MAX_STREAMS {
            return Err(DirectiveError::Stream { dspec: stream });
        }
        self.streams[usize::from(stream)] = pattern;
        Ok(())
    }

    /// The pattern each stream is bound to; that of stream 0 is none.
    pub(crate) fn bound(&self) -> &[Pattern] {
        &self.streams
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(slba: u64, length: u32, attributes: u32) -> DsmRange {
        DsmRange {
            attributes,
            length,
            slba,
        }
    }

    fn sequential(slba: u64, length: u32) -> DsmRange {
        range(
            slba,
            length,
            DsmRange::attributes_of(3, 0, true, false, false, 64),
        )
    }

    fn pattern(hints: &Hints, slba: u64, directive: Directive, dsm: DsmByte) -> Pattern {
        hints.resolve(slba, 10, directive, dsm).unwrap().pattern
    }

    const RANDOM: Directive = Directive::read_pattern(Pattern::Random);
    const UNKNOWN: Directive = Directive::read_pattern(Pattern::None);
    const SEQUENTIAL_BYTE: DsmByte = DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, true);

    #[test]
    fn each_encoding_alone_carries_the_pattern() {
        let mut hints = Hints::default();
        let none = DsmByte::default();
        assert_eq!(pattern(&hints, 0, Directive::NONE, none), Pattern::None);
        let directive = Directive::read_pattern(Pattern::Sequential);
        assert_eq!(pattern(&hints, 0, directive, none), Pattern::Sequential);
        assert_eq!(
            pattern(&hints, 0, Directive::NONE, SEQUENTIAL_BYTE),
            Pattern::Sequential
        );
        for not_enough in [DsmByte::new(3, 0, false), DsmByte::new(1, 0, true)] {
            assert_eq!(
                pattern(&hints, 0, Directive::NONE, not_enough),
                Pattern::None
            );
        }
        hints.describe(&sequential(100, 50));
        assert_eq!(
            pattern(&hints, 140, Directive::NONE, none),
            Pattern::Sequential
        );
        assert_eq!(pattern(&hints, 141, Directive::NONE, none), Pattern::None);
        hints.bind(16, Pattern::Sequential).unwrap();
        let hint = hints.resolve(0, 10, Directive::stream_of(16), none);
        let expected = Hint {
            pattern: Pattern::Sequential,
            stream: 16,
        };
        assert_eq!(hint, Ok(expected));
        assert_eq!(
            pattern(&hints, 0, Directive::stream_of(15), none),
            Pattern::None
        );
    }

    #[test]
    fn the_strongest_encoding_wins() {
        let mut hints = Hints::default();
        hints.describe(&sequential(0, 1000));
        assert_eq!(pattern(&hints, 0, RANDOM, SEQUENTIAL_BYTE), Pattern::Random);
        assert_eq!(
            pattern(&hints, 0, UNKNOWN, DsmByte::default()),
            Pattern::Sequential
        );
        hints.bind(1, Pattern::Random).unwrap();
        let stream = Directive::stream_of(1);
        assert_eq!(
            pattern(&hints, 0, stream, DsmByte::default()),
            Pattern::Sequential,
            "the range"
        );
        assert_eq!(
            pattern(&hints, 5000, stream, SEQUENTIAL_BYTE),
            Pattern::Sequential,
            "the byte"
        );
        assert_eq!(
            pattern(&hints, 5000, stream, DsmByte::default()),
            Pattern::Random
        );
    }

    #[test]
    fn what_was_said_of_a_range_can_be_taken_back() {
        let mut hints = Hints::default();
        hints.describe(&sequential(0, 1000));
        hints.describe(&range(
            100,
            10,
            DsmRange::attributes_of(5, 0, false, false, false, 1),
        ));
        hints.forget(500, 10);
        let at = |hints: &Hints, slba| pattern(hints, slba, Directive::NONE, DsmByte::default());
        assert_eq!(at(&hints, 90), Pattern::Sequential);
        assert_eq!(at(&hints, 95), Pattern::None);
        assert_eq!(at(&hints, 500), Pattern::None);
        assert_eq!(at(&hints, 510), Pattern::Sequential);
        // A size of zero says nothing.
        let unsized_range = DsmRange::attributes_of(3, 0, true, false, false, 0);
        hints.describe(&range(0, 1000, unsized_range));
        assert_eq!(at(&hints, 0), Pattern::None);
    }

    #[test]
    fn streams_are_numbered_from_one() {
        let mut hints = Hints::default();
        for dspec in [0, MAX_STREAMS + 1, u16::MAX] {
            let refused = Err(DirectiveError::Stream { dspec });
            assert_eq!(hints.bind(dspec, Pattern::Random), refused);
        }
        let beyond = Directive::stream_of(MAX_STREAMS + 1);
        assert!(hints.resolve(0, 1, beyond, DsmByte::default()).is_err());
    }
}
