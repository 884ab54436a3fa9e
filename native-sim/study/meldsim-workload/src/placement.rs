//! Data placement of a job's writes: fio's `dataplacement` and `plids`, and `fdp` and `fdp_pli` of old.

use super::job::Job;
use super::options::DataPlacement;
use meldsim::nvme::wire::io::DsmByte;
use meldsim::nvme::{Command, Directive, MAX_STREAMS, Pattern};
use meldsim_host::directive;

/// Placement identifiers as fio writes them: `1,3-5`.
pub(super) fn parse_placement_ids(text: &str) -> Result<Vec<u16>, String> {
    let mut ids = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let id = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|&id: &u16| id <= MAX_STREAMS)
        };
        match (id(first), id(last)) {
            (Some(first), Some(last)) if first <= last => ids.extend(first..=last),
            _ => {
                return Err(format!(
                    "is \"{text}\"; write streams from 1 to {MAX_STREAMS}, or handles from 0, such as 1,3-5"
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
    /// Streams or handles that they go to in turn; none when empty.
    directives: Vec<Directive>,
    next: usize,
}

impl Placement {
    /// Of a job on a device with so many handles: without identifiers it goes through all of these.
    pub(super) fn new(job: &Job, handles: u16) -> Placement {
        let ids = job.placement_ids.iter().copied();
        let directives = match job.data_placement {
            DataPlacement::None => Vec::new(),
            DataPlacement::Streams => ids.map(Directive::stream_of).collect(),
            DataPlacement::Fdp if job.placement_ids.is_empty() => {
                (0..handles).map(Directive::placement).collect()
            }
            DataPlacement::Fdp => ids.map(Directive::placement).collect(),
        };
        Placement {
            pattern: job.read_pattern,
            directives,
            next: 0,
        }
    }

    /// The directive of data that may be anywhere.
    pub(super) fn directive(&self) -> Directive {
        directive(self.pattern)
    }

    /// The next write as the job hints it. A write carries one directive: where that is of placement,
    /// the DSM field says that it will be read sequentially.
    pub(super) fn hint(&mut self, write: Command) -> Command {
        let Some(&directive) = self.directives.get(self.next) else {
            let directive = self.directive();
            return Command { directive, ..write };
        };
        self.next = (self.next + 1) % self.directives.len();
        let write = Command { directive, ..write };
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
        assert_eq!(parse_placement_ids("0,3"), Ok(vec![0, 3]));
        assert_eq!(parse_placement_ids("1, 16,2-4"), Ok(vec![1, 16, 2, 3, 4]));
        for wrong in ["", "17", "1-", "4-2", "1,,2", "0-65535", "one"] {
            assert!(parse_placement_ids(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn writes_take_streams_in_turn_and_keep_their_pattern() {
        let write = Command::write(NamespaceId(1), 0, 1, Directive::NONE, 7);
        let mut job = Job {
            read_pattern: Pattern::Sequential,
            data_placement: DataPlacement::Streams,
            placement_ids: vec![5, 2],
            ..Job::new("j")
        };
        let mut placement = Placement::new(&job, 0);
        let streams = [5, 2, 5].map(Directive::stream_of);
        for directive in streams {
            let hinted = placement.hint(write);
            assert_eq!((hinted.directive, hinted.tag), (directive, 7));
            assert!(hinted.dsm.sequential());
        }
        job.data_placement = DataPlacement::Fdp;
        job.placement_ids.clear();
        let mut placement = Placement::new(&job, 2);
        for directive in [0, 1, 0].map(Directive::placement) {
            assert_eq!(placement.hint(write).directive, directive);
        }
        job.read_pattern = Pattern::Random;
        job.data_placement = DataPlacement::None;
        let mut placement = Placement::new(&job, 2);
        let random = Directive::read_pattern(Pattern::Random);
        assert_eq!(placement.hint(write).directive, random);
    }
}
