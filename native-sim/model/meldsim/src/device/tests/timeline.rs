//! The timeline adds up: bus spans to the busy time of channels, busy spans to that of dies, and the parts of a command
//! to its latency, to the picosecond. And it changes nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::profiles::profile;
use super::reads::{Step, step};
use super::{NAMESPACES, advance, come_to_rest, device};
use crate::device::Device;
use crate::engine::{Duration, Instant};
use crate::nvme::{Command, Completion};
use crate::profile::{Allocation, DieInterleave, Issue, Profile};
use crate::timeline::{CommandRecord, Purpose, Record, Timeline, Work};

/// Work of an array: when, what, for whom.
type Worked = (Instant, Instant, Work, Purpose);

/// What a test keeps of the records.
#[derive(Default)]
struct Kept {
    /// By channel.
    bus: HashMap<u32, Vec<(Instant, Instant)>>,
    /// By channel and die.
    busy: HashMap<(u32, u32), Duration>,
    array: HashMap<(u32, u32), Vec<Worked>>,
    commands: Vec<CommandRecord>,
    /// Spans with a command that was not submitted yet.
    strangers: u64,
    collections: u64,
    submitted: u64,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Kept>>);

impl Timeline for Shared {
    fn record(&mut self, record: &Record<'_>) {
        let mut kept = self.0.lock().unwrap();
        match record {
            Record::Bus(span) => {
                let spans = kept.bus.entry(span.channel).or_default();
                spans.push((span.start, span.end));
            }
            Record::Array(span) => {
                let spans = kept.array.entry((span.channel, span.die)).or_default();
                spans.push((span.start, span.end, span.work, span.purpose));
                let submitted = kept.submitted;
                let strangers = span.commands.iter().filter(|&&number| number >= submitted);
                kept.strangers += strangers.count() as u64;
            }
            Record::Busy(span) => {
                *kept.busy.entry((span.channel, span.die)).or_default() += span.end - span.start;
            }
            Record::Command(command) => kept.commands.push(*command),
            Record::Collection(_) => kept.collections += 1,
            _ => {}
        }
    }
}

fn submit(device: &mut Device, kept: Option<&Shared>, command: Command) {
    if let Some(kept) = kept {
        kept.0.lock().unwrap().submitted += 1;
    }
    device.submit(&command).unwrap();
}

/// Does the steps, and returns how the commands ended.
fn run(profile: &Profile, steps: &[Step], kept: Option<&Shared>) -> (Device, Vec<Completion>) {
    let (mut device, last) = begin(profile, steps, kept);
    for (tag, nsid) in (last + 1..).zip(NAMESPACES) {
        submit(&mut device, kept, Command::flush(nsid, tag));
    }
    come_to_rest(&mut device);
    let completions = std::iter::from_fn(|| device.pop_completion()).collect();
    (device, completions)
}

/// Does the steps, and returns the last tag.
fn begin(profile: &Profile, steps: &[Step], kept: Option<&Shared>) -> (Device, u64) {
    let mut device = device(profile);
    if let Some(kept) = kept {
        let before = device.set_timeline(Some(Box::new(kept.clone()))).unwrap();
        assert!(before.is_none());
    }
    let mut tag = 0;
    let mut next_tag = || {
        tag += 1;
        tag
    };
    for step in steps {
        match *step {
            Step::Write(range, hint) => {
                let directive = hint.directive();
                let (nsid, slba, nlb) = (range.nsid, range.slba, range.nlb);
                let write = Command::write(nsid, slba, nlb, directive, next_tag());
                submit(&mut device, kept, write);
            }
            Step::Read(range) => {
                let read = Command::read(range.nsid, range.slba, range.nlb, next_tag());
                submit(&mut device, kept, read);
            }
            Step::Deallocate(range) => {
                let (nsid, slba, nlb) = (range.nsid, range.slba, range.nlb);
                let command = Command::deallocate(nsid, slba, nlb, next_tag());
                submit(&mut device, kept, command);
            }
            Step::Flush(nsid) => submit(&mut device, kept, Command::flush(nsid, next_tag())),
            Step::Advance { us } => advance(&mut device, us),
            Step::Writers { .. } | Step::Preload(..) => {}
            Step::Drain => come_to_rest(&mut device),
        }
    }
    (device, tag)
}

/// Devices whose dies suspend, overlap and work together, too.
fn any_profile() -> impl Strategy<Value = Profile> {
    (profile(), prop::array::uniform6(any::<bool>())).prop_map(|(mut profile, on)| {
        let commands = &mut profile.commands;
        commands.multi_plane = on[0] && profile.geometry.planes_per_die > 1;
        if on[5] {
            commands.die_interleave = DieInterleave::Composed;
            if on[4] && profile.ftl.allocation == Allocation::Static {
                commands.issue = Issue::InOrder;
            }
            return profile;
        }
        commands.cache_read = on[1];
        commands.cache_program = on[2];
        commands.suspend_program = on[3];
        commands.suspend_erase = on[3];
        commands.suspend_phase = Duration::from_us(if on[4] { 150 } else { 0 });
        profile
    })
}

fn without_overlap(mut spans: Vec<(Instant, Instant)>) -> Duration {
    spans.sort_unstable();
    for pair in spans.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
    spans.iter().map(|&(start, end)| end - start).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn spans_add_up_to_busy_times_and_parts_to_latencies(
        profile in any_profile(),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let kept = Shared::default();
        let (device, completions) = run(&profile, &steps, Some(&kept));
        let mut kept = kept.0.lock().unwrap();
        let dies = profile.geometry.dies_per_channel;
        let utilisation = device.utilisation();
        for (channel, &busy) in (0..).zip(&utilisation.channels_busy) {
            let spans = kept.bus.remove(&channel).unwrap_or_default();
            prop_assert_eq!(without_overlap(spans), busy, "channel {}", channel);
        }
        for (die, &busy) in (0..).zip(&utilisation.dies_busy) {
            let at = (die / dies, die % dies);
            prop_assert_eq!(kept.busy.remove(&at).unwrap_or_default(), busy, "die {:?}", at);
        }
        for spans in kept.array.values() {
            // What is suspended leaves the array to reads.
            let array = spans.iter().filter(|(_, _, work, _)| *work != Work::Suspended);
            without_overlap(array.map(|&(start, end, ..)| (start, end)).collect());
        }
        prop_assert_eq!(kept.strangers, 0);
        let latencies: HashMap<u64, Duration> =
            completions.iter().map(|done| (done.tag, done.latency())).collect();
        prop_assert_eq!(kept.commands.len(), completions.len());
        for command in &kept.commands {
            prop_assert_eq!(command.number + 1, command.tag, "they were submitted in this order");
            let parts: Duration = command.parts.iter().copied().sum();
            prop_assert_eq!(parts, latencies[&command.tag], "{:?}", command);
        }
        let (without, same) = run(&profile, &steps, None);
        prop_assert_eq!(same, completions);
        prop_assert_eq!(without.stats(), device.stats());
        // With pacing a log may come to rest with a victim that is not empty yet.
        let units = u64::from(utilisation.planes_per_die) * utilisation.dies_busy.len() as u64;
        let chosen = device.stats().gc_collections;
        prop_assert!(kept.collections <= chosen && chosen <= kept.collections + units);
    }

    #[test]
    fn what_dies_are_at_work_on_is_told_when_the_timeline_ends(
        profile in any_profile(),
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let kept = Shared::default();
        let (mut device, _) = begin(&profile, &steps, Some(&kept));
        let timeline = device.set_timeline(None).unwrap();
        prop_assert!(timeline.is_some());
        let kept = kept.0.lock().unwrap();
        let dies = profile.geometry.dies_per_channel;
        for (die, &busy) in (0..).zip(&device.utilisation().dies_busy) {
            let told = kept.busy.get(&(die / dies, die % dies)).copied();
            prop_assert_eq!(told.unwrap_or_default(), busy, "die {}", die);
        }
        for spans in kept.array.values() {
            let array = spans.iter().filter(|(_, _, work, _)| *work != Work::Suspended);
            without_overlap(array.map(|&(start, end, ..)| (start, end)).collect());
        }
    }
}
