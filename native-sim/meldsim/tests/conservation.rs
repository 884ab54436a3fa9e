//! Nothing is lost and nothing invented: random commands against a model that only counts.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;

use common::small_profile;
use meldsim::{
    Command, Device, Directive, Duration, Instant, NamespaceId, Pattern, Profile, Status,
};
use proptest::prelude::*;

/// Logical blocks of each namespace. All of them together fit the device, so nothing may fail.
const BLOCKS: [u64; 2] = [2400, 700];
const LBA_BYTES: u64 = 512;

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(Range, Directive),
    Read(Range),
    Deallocate(Range),
    Flush(usize),
    Preload(Range, Directive),
    Advance(Duration),
}

/// Logical blocks of one of the namespaces.
#[derive(Clone, Copy, Debug)]
struct Range {
    namespace: usize,
    first: u64,
    count: u64,
}

fn range() -> impl Strategy<Value = Range> {
    (0..2usize, any::<prop::sample::Index>(), 1..130u64).prop_map(|(namespace, at, count)| {
        let first = at.index(BLOCKS[namespace] as usize) as u64;
        let count = count.min(BLOCKS[namespace] - first);
        Range {
            namespace,
            first,
            count,
        }
    })
}

fn hint() -> impl Strategy<Value = Directive> {
    prop_oneof![
        Just(Directive::NONE),
        Just(Directive::read_pattern(Pattern::Sequential)),
        Just(Directive::read_pattern(Pattern::Random)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (range(), hint()).prop_map(|(range, hint)| Step::Write(range, hint)),
        6 => range().prop_map(Step::Read),
        2 => range().prop_map(Step::Deallocate),
        1 => (0..2usize).prop_map(Step::Flush),
        1 => (range(), hint()).prop_map(|(range, hint)| Step::Preload(range, hint)),
        3 => (0..20_000u64).prop_map(|us| Step::Advance(Duration::from_us(us))),
    ]
}

/// A device whose pages are four logical blocks to sixteen, so that writes cover them in part.
fn profile() -> impl Strategy<Value = Profile> {
    (0..3u32, 1..=2u32, any::<bool>()).prop_map(|(page, planes, small_buffer)| {
        let mut profile = small_profile();
        profile.controller.lba_size.0 = LBA_BYTES;
        profile.geometry.page_size.0 = 2048 << page;
        profile.geometry.planes_per_die = planes;
        profile.geometry.blocks_per_plane = 28;
        if small_buffer {
            profile.controller.write_buffer.0 =
                120 * profile.geometry.page_size.0 * u64::from(planes);
        }
        profile
    })
}

/// What must come out, by counting what goes in.
#[derive(Default)]
struct Model {
    mapped: BTreeSet<(usize, u64)>,
    read_bytes: u64,
    written_bytes: u64,
    /// Reads, writes, deallocations, flushes.
    commands: [u64; 4],
}

impl Model {
    fn map(&mut self, range: Range, page_bytes: u64) {
        let last = (range.first + range.count) * LBA_BYTES;
        for page in range.first * LBA_BYTES / page_bytes..last.div_ceil(page_bytes) {
            self.mapped.insert((range.namespace, page));
        }
    }

    /// Only pages that lie in the range as a whole.
    fn unmap(&mut self, range: Range, page_bytes: u64) {
        let last = (range.first + range.count) * LBA_BYTES;
        for page in (range.first * LBA_BYTES).div_ceil(page_bytes)..last / page_bytes {
            self.mapped.remove(&(range.namespace, page));
        }
    }
}

struct Run {
    device: Device,
    namespaces: [NamespaceId; 2],
    model: Model,
    /// Tags of the commands that have not completed.
    waiting: BTreeSet<u64>,
    read_latency: Duration,
    write_latency: Duration,
    reads: BTreeSet<u64>,
    writes: BTreeSet<u64>,
}

impl Run {
    fn new(profile: &Profile) -> Run {
        let mut device = Device::new(profile).unwrap();
        let namespaces = BLOCKS.map(|blocks| device.create_namespace(blocks * LBA_BYTES).unwrap());
        Run {
            device,
            namespaces,
            model: Model::default(),
            waiting: BTreeSet::new(),
            read_latency: Duration::ZERO,
            write_latency: Duration::ZERO,
            reads: BTreeSet::new(),
            writes: BTreeSet::new(),
        }
    }

    fn step(&mut self, tag: u64, step: Step) {
        let page_bytes = self.device.profile().geometry.page_size.0;
        let nsid = |range: Range| self.namespaces[range.namespace];
        let command = match step {
            Step::Write(range, hint) => {
                self.model.map(range, page_bytes);
                self.model.written_bytes += range.count * LBA_BYTES;
                self.model.commands[1] += 1;
                self.writes.insert(tag);
                Command::write(nsid(range), range.first, range.count as u32, hint, tag)
            }
            Step::Read(range) => {
                self.model.read_bytes += range.count * LBA_BYTES;
                self.model.commands[0] += 1;
                self.reads.insert(tag);
                Command::read(nsid(range), range.first, range.count as u32, tag)
            }
            Step::Deallocate(range) => {
                self.model.unmap(range, page_bytes);
                self.model.commands[2] += 1;
                Command::deallocate(nsid(range), range.first, range.count as u32, tag)
            }
            Step::Flush(namespace) => {
                self.model.commands[3] += 1;
                Command::flush(self.namespaces[namespace], tag)
            }
            Step::Preload(range, hint) => {
                // Placing data is for a device at rest: it would overtake writes that wait for the buffer.
                self.drain();
                self.model.map(range, page_bytes);
                let nsid = self.namespaces[range.namespace];
                return self
                    .device
                    .preload(nsid, range.first, range.count, hint)
                    .unwrap();
            }
            Step::Advance(by) => {
                let until = self.device.now() + by;
                self.device.advance_to(until);
                assert_eq!(self.device.now(), until);
                return self.collect();
            }
        };
        self.device.submit(&command).unwrap();
        self.waiting.insert(tag);
    }

    fn collect(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            assert!(
                self.waiting.remove(&completion.tag),
                "completed twice, or never submitted"
            );
            assert_eq!(completion.status, Status::Success);
            assert!(completion.submitted < completion.completed);
            assert!(completion.completed <= self.device.now());
            if self.reads.contains(&completion.tag) {
                self.read_latency += completion.latency();
            }
            if self.writes.contains(&completion.tag) {
                self.write_latency += completion.latency();
            }
        }
        assert_eq!(self.device.outstanding(), self.waiting.len());
    }

    /// Until nothing is outstanding and no event is left.
    fn drain(&mut self) {
        while let Some(time) = self.device.next_event() {
            assert!(time >= self.device.now(), "time goes back");
            self.device.advance_to(time);
            self.collect();
        }
        assert!(
            self.waiting.is_empty(),
            "never completed: {:?}",
            self.waiting
        );
    }

    fn check(&self) {
        let stats = self.device.stats();
        let Model {
            mapped,
            read_bytes,
            written_bytes,
            commands,
        } = &self.model;
        let counted = [
            stats.read_commands,
            stats.write_commands,
            stats.deallocate_commands,
            stats.flush_commands,
        ];
        assert_eq!(counted, *commands);
        assert_eq!(
            (stats.host_read_bytes, stats.host_written_bytes),
            (*read_bytes, *written_bytes)
        );
        assert_eq!(stats.failed_commands, 0);
        assert_eq!(stats.mapped_pages, mapped.len() as u64);
        assert!(stats.melded_mapped_pages <= stats.mapped_pages);
        assert_eq!(stats.read_latency_ps, self.read_latency.as_ps());
        assert_eq!(stats.write_latency_ps, self.write_latency.as_ps());
        assert!(stats.read_active_ps <= stats.active_ps && stats.active_ps <= stats.now_ps);
        assert!(stats.channel_busy_ps <= stats.channels * stats.now_ps);
        assert!(stats.die_busy_ps <= stats.dies * stats.now_ps);
        // Each page that went to flash or came from it has somebody who asked for that.
        let programmed: u64 = self.device.utilisation().pages_programmed.iter().sum();
        assert_eq!(
            stats.host_pages_programmed + stats.gc_pages_programmed + stats.padded_pages,
            programmed
        );
        assert_eq!(
            stats.host_pages_read + stats.merge_pages_read + stats.gc_pages_read,
            stats.page_reads + stats.melded_pages_read
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_goes_in_comes_out(profile in profile(), steps in prop::collection::vec(step(), 1..120)) {
        let mut run = Run::new(&profile);
        for (at, step) in steps.iter().enumerate() {
            run.step(at as u64 + 1, *step);
        }
        run.drain();
        run.check();
    }

    /// Time moved in one go, event by event or in slices: the same completions and counters.
    #[test]
    fn how_time_is_moved_makes_no_difference(steps in prop::collection::vec(step(), 1..60), slice_us in 1..3000u64) {
        let run = |mut drive: Box<dyn FnMut(&mut Device)>| {
            let mut run = Run::new(&small_profile_of_512());
            for (at, step) in steps.iter().enumerate() {
                // What drains or moves time would hide the difference.
                if !matches!(step, Step::Preload(..) | Step::Advance(_)) {
                    run.step(at as u64 + 1, *step);
                }
            }
            drive(&mut run.device);
            let completions: Vec<_> = std::iter::from_fn(|| run.device.pop_completion()).collect();
            let stats = meldsim::Stats { now_ps: 0, ..run.device.stats() };
            (completions, stats)
        };
        let at_once = run(Box::new(|device| device.advance_to(Instant::START + Duration::from_ms(1_000_000))));
        let by_event = run(Box::new(|device| {
            while let Some(time) = device.next_event() {
                device.advance_to(time);
            }
        }));
        let in_slices = run(Box::new(move |device| {
            while device.next_event().is_some() {
                let until = device.now() + Duration::from_us(slice_us);
                device.advance_to(until);
            }
        }));
        prop_assert_eq!(&at_once, &by_event);
        prop_assert_eq!(&at_once, &in_slices);
    }
}

fn small_profile_of_512() -> Profile {
    let mut profile = small_profile();
    profile.controller.lba_size.0 = LBA_BYTES;
    profile.geometry.blocks_per_plane = 28;
    profile
}
