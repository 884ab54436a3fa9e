//! What the slowest commands waited for: those beyond the 99.9th percentile, by the longest part of their latency.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use meldsim::Duration;
use meldsim::timeline::{CommandRecord, Part, Purpose, Record, Work};
use meldsim_stats::Table;

/// One in so many commands is among the slowest: those beyond the 99.9th percentile.
const ONE_IN: u64 = 1000;
/// So many are kept at most.
const MOST: usize = 4096;

/// What commands waited for: the longest part, and if that was a die, what the die did.
type Reason = (Part, Option<(Work, Purpose)>);

/// Keeps the slowest commands of a device.
#[derive(Debug, Default)]
pub(super) struct Tail {
    commands: u64,
    /// By latency; of equal ones the later as the faster. Each with the longest part, and how long it was.
    slowest: BTreeMap<(Duration, Reverse<u64>), (Reason, Duration)>,
}

/// What the slowest commands of a device waited for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Waits {
    /// The device.
    pub device: String,
    /// All commands that completed.
    pub commands: u64,
    /// The slowest of them: one in a thousand, at least one, at most 4096.
    pub slowest: u64,
    /// The least latency of the slowest, in microseconds.
    pub from_us: f64,
    /// What they waited for, that of most commands first.
    pub causes: Vec<Cause>,
}

/// What some of the slowest commands waited for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Cause {
    /// By name: the longest part of the latency, and for a die what it did before.
    pub name: String,
    /// Commands.
    pub commands: u64,
    /// Mean latency, in microseconds.
    pub latency_us: f64,
    /// Of it in the part that is named, in microseconds.
    pub longest_us: f64,
}

impl Tail {
    pub(super) fn record(&mut self, record: &Record<'_>) {
        let Record::Command(command) = record else {
            return;
        };
        self.commands += 1;
        let key = (
            command.completed - command.submitted,
            Reverse(command.number),
        );
        let is_full = self.slowest.len() == MOST;
        if is_full
            && self
                .slowest
                .first_key_value()
                .is_some_and(|(least, _)| key < *least)
        {
            return;
        }
        let longest = command.parts.into_iter().max().unwrap_or_default();
        self.slowest.insert(key, (reason(command), longest));
        if is_full {
            self.slowest.pop_first();
        }
    }

    pub(super) fn finish(self, device: &str) -> Waits {
        let us = |time: Duration| time.as_ps() as f64 / 1e6;
        let wanted = self.commands.div_ceil(ONE_IN) as usize;
        let slowest = self.slowest.into_iter().rev().take(wanted);
        let mut causes: BTreeMap<String, Cause> = BTreeMap::new();
        let (mut count, mut from) = (0, Duration::ZERO);
        for ((latency, _), (reason, longest)) in slowest {
            let name = name(reason);
            let cause = causes.entry(name.clone()).or_insert(Cause {
                name,
                commands: 0,
                latency_us: 0.0,
                longest_us: 0.0,
            });
            cause.commands += 1;
            cause.latency_us += us(latency);
            cause.longest_us += us(longest);
            (count, from) = (count + 1, latency);
        }
        let mut causes: Vec<Cause> = causes.into_values().collect();
        for cause in &mut causes {
            cause.latency_us /= cause.commands as f64;
            cause.longest_us /= cause.commands as f64;
        }
        causes.sort_by_key(|cause| Reverse(cause.commands));
        Waits {
            device: device.to_owned(),
            commands: self.commands,
            slowest: count,
            from_us: us(from),
            causes,
        }
    }
}

/// The longest part of a command's latency; of equal ones the first.
fn reason(command: &CommandRecord) -> Reason {
    let parts = Part::ALL.into_iter().zip(command.parts);
    let longest = parts.min_by_key(|&(_, time)| Reverse(time));
    let part = longest.map_or(Part::Queue, |(part, _)| part);
    let behind = command.behind.filter(|_| part == Part::DieWait);
    (part, behind)
}

fn name((part, behind): Reason) -> String {
    let Some((work, purpose)) = behind else {
        return part.name().to_owned();
    };
    let whose = match purpose {
        Purpose::Host => "",
        Purpose::Collection => " of garbage collection",
        Purpose::Buffer => " of the write buffer",
        Purpose::Mapping => " of the mapping",
    };
    format!("{}, behind {}{whose}", part.name(), work.name())
}

impl Waits {
    /// In a sentence and a table.
    pub fn to_table(&self) -> (String, Table) {
        let title = format!(
            "The slowest {} of {} commands, {:.1} us and more, by the longest part of their latency ({})",
            self.slowest, self.commands, self.from_us, self.device
        );
        let mut table = Table::of("<longest part|commands|mean latency us|in that part us");
        for cause in &self.causes {
            table.row([
                cause.name.clone(),
                cause.commands.to_string(),
                format!("{:.1}", cause.latency_us),
                format!("{:.1}", cause.longest_us),
            ]);
        }
        (title, table)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use meldsim::{Instant, NamespaceId, Opcode, Status};

    pub(crate) fn command(number: u64, die_wait_us: u64, sense_us: u64) -> CommandRecord {
        let mut parts = [Duration::ZERO; Part::COUNT];
        parts[Part::DieWait as usize] = Duration::from_us(die_wait_us);
        parts[Part::Sense as usize] = Duration::from_us(sense_us);
        CommandRecord {
            number,
            slot: 0,
            tag: number,
            opcode: Opcode::Read,
            nsid: NamespaceId(1),
            start_byte: 0,
            bytes: 4096,
            queue: 0,
            status: Status::SUCCESS,
            melded_reads: 0,
            page_reads: 1,
            submitted: Instant::START,
            completed: Instant::START + parts.iter().copied().sum(),
            parts,
            behind: Some((Work::Erase, Purpose::Collection)),
        }
    }

    #[test]
    fn one_in_a_thousand_is_explained_by_its_longest_part() {
        let mut tail = Tail::default();
        for number in 0..10_000 {
            let (wait, sense) = match number {
                5 => (10, 2000),
                n if n % 1250 == 0 => (1000 + n, 58),
                _ => (0, 58),
            };
            tail.record(&Record::Command(command(number, wait, sense)));
        }
        let waits = tail.finish("d");
        assert_eq!((waits.commands, waits.slowest), (10_000, 10));
        assert!(
            (waits.from_us - 58.0).abs() < 1e-9,
            "the tenth is a fast one"
        );
        let causes: Vec<(&str, u64)> = waits
            .causes
            .iter()
            .map(|cause| (cause.name.as_str(), cause.commands))
            .collect();
        assert_eq!(
            causes,
            [
                ("die wait, behind erase of garbage collection", 8),
                ("sense", 2)
            ]
        );
        assert!((waits.causes[1].longest_us - (2000.0 + 58.0) / 2.0).abs() < 1e-9);
    }
}
