//! Data placement of a job's writes: fio's `dataplacement` and `plids`.

use std::ops::RangeInclusive;

use meldsim::nvme::wire::io::DsmByte;
use meldsim::nvme::{Command, Directive, MAX_STREAMS, Pattern};
use meldsim_drive::directive;

/// The streams there are.
pub(super) const STREAMS: RangeInclusive<u16> = 1..=MAX_STREAMS;

/// How a job's writes say which data belongs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataPlacement {
    /// They do not.
    #[default]
    None,
    /// By the streams directive.
    Streams,
}

/// The names of placements in job files.
pub(super) const PLACEMENTS: [(&str, DataPlacement); 2] = [
    ("none", DataPlacement::None),
    ("streams", DataPlacement::Streams),
];

/// Placement identifiers as fio writes them: `1,3-5`.
pub(super) fn parse_placement_ids(text: &str) -> Result<Vec<u16>, String> {
    let mut ids = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let id = |text: &str| text.trim().parse().ok().filter(|id| STREAMS.contains(id));
        match (id(first), id(last)) {
            (Some(first), Some(last)) if first <= last => ids.extend(first..=last),
            _ => {
                return Err(format!(
                    "is \"{text}\"; write streams from 1 to {MAX_STREAMS}, such as 1,3-5"
                ));
            }
        }
    }
    Ok(ids)
}

/// What the writes of a job say about their data.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pattern: Pattern,
    /// Streams they go to in turn; none when empty.
    streams: Vec<u16>,
    next: usize,
}

impl Placement {
    pub(super) fn new(pattern: Pattern, streams: &[u16]) -> Placement {
        Placement {
            pattern,
            streams: streams.to_vec(),
            next: 0,
        }
    }

    /// The directive of data whose stream does not matter.
    pub(super) fn directive(&self) -> Directive {
        directive(self.pattern)
    }

    /// The next write as the job hints it. A write carries one directive: where that is the stream,
    /// the DSM field says that it will be read sequentially.
    pub(super) fn hint(&mut self, write: Command) -> Command {
        let Some(&stream) = self.streams.get(self.next) else {
            let directive = self.directive();
            return Command { directive, ..write };
        };
        self.next = (self.next + 1) % self.streams.len();
        let write = Command {
            directive: Directive::stream_of(stream),
            ..write
        };
        match self.pattern {
            Pattern::Sequential => write.with_dsm(DsmByte::new(DsmByte::AF_READ_MOSTLY, 0, true)),
            Pattern::Random | Pattern::None => write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meldsim::nvme::NamespaceId;

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(parse_placement_ids("3"), Ok(vec![3]));
        assert_eq!(parse_placement_ids("1, 16,2-4"), Ok(vec![1, 16, 2, 3, 4]));
        for wrong in ["", "0", "17", "1-", "4-2", "1,,2", "0-65535", "one"] {
            assert!(parse_placement_ids(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn writes_take_streams_in_turn_and_keep_their_pattern() {
        let write = Command::write(NamespaceId(1), 0, 1, Directive::NONE, 7);
        let mut placement = Placement::new(Pattern::Sequential, &[5, 2]);
        let streams = [5, 2, 5].map(Directive::stream_of);
        for directive in streams {
            let hinted = placement.hint(write);
            assert_eq!((hinted.directive, hinted.tag), (directive, 7));
            assert!(hinted.dsm.sequential());
        }
        let mut placement = Placement::new(Pattern::Random, &[]);
        let random = Directive::read_pattern(Pattern::Random);
        assert_eq!(placement.hint(write).directive, random);
    }
}
