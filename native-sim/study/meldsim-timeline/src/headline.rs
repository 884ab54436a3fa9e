//! What a timeline shows, in sentences: how many commands, how long they took, and the part that took most of it.

use std::collections::BTreeMap;

use meldsim::timeline::{CommandRecord, Part};
use meldsim::{Duration, Opcode};
use meldsim_stats::{duration, percent};

/// Adds up the commands that completed, by opcode.
#[derive(Debug, Default)]
pub(super) struct Headline(BTreeMap<u8, Sum>);

/// Times in picoseconds.
#[derive(Debug, Default)]
struct Sum {
    commands: u64,
    latency: u128,
    parts: [u128; Part::COUNT],
}

impl Headline {
    pub(super) fn add(&mut self, command: &CommandRecord) {
        let sum = self.0.entry(command.opcode as u8).or_default();
        sum.commands += 1;
        sum.latency += u128::from((command.completed - command.submitted).as_ps());
        for (all, part) in sum.parts.iter_mut().zip(command.parts) {
            *all += u128::from(part.as_ps());
        }
    }

    /// `16 reads of 385.0 us on average, 73.0 % waiting for a die`, for each opcode. The first sentence is of the two that took
    /// longest in all.
    pub(super) fn finish(&self) -> String {
        let mut opcodes: Vec<(&u8, &Sum)> = self.0.iter().collect();
        opcodes.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.latency));
        let clauses = opcodes.iter().map(|(opcode, sum)| sum.to_text(**opcode));
        let clauses: Vec<String> = clauses.collect();
        let (first, others) = clauses.split_at(clauses.len().min(2));
        let sentences = [first, others].map(|clauses| clauses.join("; "));
        sentences.join(". ").trim_end_matches(". ").to_owned()
    }
}

impl Sum {
    fn to_text(&self, opcode: u8) -> String {
        let (one, several) = match Opcode::from_u8(opcode) {
            Some(Opcode::Read) => ("read", "reads"),
            Some(Opcode::Write) => ("write", "writes"),
            Some(Opcode::Flush) => ("flush", "flushes"),
            Some(Opcode::Deallocate) => ("deallocation", "deallocations"),
            Some(Opcode::Append) => ("append", "appends"),
            Some(Opcode::ManageZone) => ("zone command", "zone commands"),
            None => ("command", "commands"),
        };
        let mean = (self.latency / u128::from(self.commands)) as u64;
        let mean = duration(Duration::from_ps(mean));
        let text = match self.commands {
            1 => format!("1 {one} of {mean}"),
            commands => format!("{commands} {several} of {mean} on average"),
        };
        let parts = Part::ALL.into_iter().zip(self.parts);
        match parts.max_by_key(|&(_, time)| time) {
            Some((part, time)) if time > 0 => {
                let share = percent(time as f64, self.latency as f64);
                format!("{text}, {share} {}", spent(part))
            }
            _ => text,
        }
    }
}

/// How the time of a part is spent.
fn spent(part: Part) -> &'static str {
    match part {
        Part::Queue => "in the queue",
        Part::Firmware => "in firmware",
        Part::Buffer => "waiting for the write buffer",
        Part::DieWait => "waiting for a die",
        Part::Sense => "sensing",
        Part::BusWait => "waiting for a bus",
        Part::Transfer => "transferring data",
        Part::Controller => "in the controller",
        Part::Mapping => "looking up the mapping",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tail::tests::command;

    #[test]
    fn the_mean_and_the_part_that_is_most_of_it_are_told() {
        let mut headline = Headline::default();
        headline.add(&command(0, 300, 100));
        headline.add(&command(1, 0, 200));
        let mut flush = command(2, 0, 0);
        flush.opcode = Opcode::Flush;
        headline.add(&flush);
        assert_eq!(
            headline.finish(),
            "2 reads of 300.0 us on average, 50.0 % sensing; 1 flush of 0 ps"
        );
        let mut write = command(3, 0, 500);
        write.opcode = Opcode::Write;
        headline.add(&write);
        let text = headline.finish();
        assert!(text.ends_with(". 1 flush of 0 ps"), "{text}");
    }
}
