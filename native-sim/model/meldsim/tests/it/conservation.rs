//! Nothing is lost and nothing invented: random commands against a model that only counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::small_profile;
use meldsim::profile::Journaling;
use meldsim::{
    Command, Device, Directive, Duration, Instant, NamespaceId, NamespaceStats, Opcode, Pattern,
    Profile, Stats, Status,
};
use proptest::prelude::*;

/// Logical blocks of each namespace. All of them together fit the device, so nothing may fail.
const BLOCKS: [u64; 2] = [2400, 700];
const LBA_BYTES: u64 = 512;

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(Range, Directive),
    Read(Range),
    /// Reads it in order, eight blocks at a time.
    Scan(Range),
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
        2 => range().prop_map(Step::Scan),
        2 => range().prop_map(Step::Deallocate),
        1 => (0..2usize).prop_map(Step::Flush),
        1 => (range(), hint()).prop_map(|(range, hint)| Step::Preload(range, hint)),
        3 => (0..20_000u64).prop_map(|us| Step::Advance(Duration::from_us(us))),
    ]
}

/// A device whose pages are four logical blocks to sixteen, so that writes cover them in part.
fn profile() -> impl Strategy<Value = Profile> {
    let journal = prop::sample::select(vec![
        Journaling::Off,
        Journaling::OnDemand,
        Journaling::Background,
    ]);
    let read_ahead = prop::sample::select(vec![0, 1, 7, 64]);
    let drawn = (0..3u32, 1..=2u32, any::<bool>(), journal, read_ahead);
    drawn.prop_map(|(page, planes, small_buffer, journal, read_ahead)| {
        let mut profile = small_profile();
        profile.controller.lba_size.0 = LBA_BYTES;
        profile.geometry.page_size.0 = 2048 << page;
        profile.controller.read_ahead.0 = read_ahead * profile.geometry.page_size.0;
        profile.geometry.planes_per_die = planes;
        profile.geometry.blocks_per_plane = 28;
        profile.ftl.journal = journal;
        // A page of few entries, so that writes wait for room.
        profile.ftl.journal_entry.0 = 64;
        profile.ftl.journal_buffer = profile.geometry.page_size;
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
    /// Of each namespace, but for what only the device can know.
    counted: [NamespaceStats; 2],
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
    /// The namespaces of the commands that have not completed, by tag.
    waiting: BTreeMap<u64, usize>,
}

impl Run {
    fn new(profile: &Profile) -> Run {
        let mut device = Device::new(profile).unwrap();
        let namespaces = BLOCKS.map(|blocks| device.create_namespace(blocks * LBA_BYTES).unwrap());
        Run {
            device,
            namespaces,
            model: Model::default(),
            waiting: BTreeMap::new(),
        }
    }

    fn step(&mut self, tag: u64, step: Step) {
        let page_bytes = self.device.profile().geometry.page_size.0;
        let nsid = |range: Range| self.namespaces[range.namespace];
        let (command, namespace) = match step {
            Step::Write(range, hint) => {
                self.model.map(range, page_bytes);
                let counted = &mut self.model.counted[range.namespace];
                counted.write_commands += 1;
                counted.host_written_bytes += range.count * LBA_BYTES;
                let count = range.count as u32;
                let write = Command::write(nsid(range), range.first, count, hint, tag);
                (write, range.namespace)
            }
            Step::Read(range) => {
                let counted = &mut self.model.counted[range.namespace];
                counted.read_commands += 1;
                counted.host_read_bytes += range.count * LBA_BYTES;
                let read = Command::read(nsid(range), range.first, range.count as u32, tag);
                (read, range.namespace)
            }
            Step::Scan(range) => {
                for at in (0..range.count).step_by(8) {
                    let (first, count) = (range.first + at, (range.count - at).min(8));
                    let read = Range {
                        first,
                        count,
                        ..range
                    };
                    self.step(tag + 1000 * at, Step::Read(read));
                }
                return;
            }
            Step::Deallocate(range) => {
                self.model.unmap(range, page_bytes);
                self.model.counted[range.namespace].deallocate_commands += 1;
                let count = range.count as u32;
                let deallocate = Command::deallocate(nsid(range), range.first, count, tag);
                (deallocate, range.namespace)
            }
            Step::Flush(namespace) => {
                self.model.counted[namespace].flush_commands += 1;
                (Command::flush(self.namespaces[namespace], tag), namespace)
            }
            Step::Preload(range, hint) => {
                // Placing data is for a device at rest: it would overtake writes that wait for the buffer.
                self.drain();
                self.model.map(range, page_bytes);
                self.model.counted[range.namespace].preloaded_bytes += range.count * LBA_BYTES;
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
        self.waiting.insert(tag, namespace);
        self.model.counted[namespace].outstanding_commands += 1;
    }

    fn collect(&mut self) {
        while let Some(completion) = self.device.pop_completion() {
            let namespace = self.waiting.remove(&completion.tag);
            let namespace = namespace.expect("completed twice, or never submitted");
            assert_eq!(completion.status, Status::SUCCESS);
            assert!(completion.submitted < completion.completed);
            assert!(completion.completed <= self.device.now());
            let counted = &mut self.model.counted[namespace];
            counted.outstanding_commands -= 1;
            let latency_ps = completion.latency().as_ps();
            match completion.opcode {
                Opcode::Read => counted.read_latency_ps += latency_ps,
                Opcode::Write => counted.write_latency_ps += latency_ps,
                _ => {}
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
        self.check_namespaces(&stats);
        assert!(stats.read_active_ps <= stats.active_ps && stats.active_ps <= stats.now_ps);
        assert!(stats.channel_busy_ps <= stats.channels * stats.now_ps);
        assert!(stats.die_busy_ps <= stats.dies * stats.now_ps);
        // Each page that went to flash or came from it has somebody who asked for that.
        let programmed: u64 = self.device.utilisation().pages_programmed.iter().sum();
        assert_eq!(
            stats.host_pages_programmed
                + stats.gc_pages_programmed
                + stats.journal_pages_programmed
                + stats.padded_pages,
            programmed
        );
        let page_bytes = self
            .device
            .namespace(self.namespaces[0])
            .unwrap()
            .page_bytes;
        let made_of = stats.programmed();
        assert_eq!(stats.programmed_bytes, programmed * page_bytes);
        assert_eq!(stats.programmed_bytes, made_of.total());
        assert!(made_of.host_bytes <= stats.host_written_bytes);
        assert_eq!(
            stats.host_pages_read
                + stats.merge_pages_read
                + stats.gc_pages_read
                + stats.read_ahead_pages,
            stats.page_reads + stats.melded_pages_read
        );
    }

    /// Each namespace has counted its own, and together they have counted what the device has.
    fn check_namespaces(&self, stats: &Stats) {
        let stats_of = |nsid| self.device.namespace_stats(nsid).unwrap();
        let all = self.namespaces.map(stats_of);
        for (namespace, counted) in all.iter().enumerate() {
            let mapped = self.model.mapped.iter();
            let nsid = self.namespaces[namespace];
            let layout = self.device.layout(nsid, 0, BLOCKS[namespace]).unwrap();
            let expected = NamespaceStats {
                mapped_pages: mapped.filter(|page| page.0 == namespace).count() as u64,
                melded_mapped_pages: layout.melded,
                page_reads: counted.page_reads,
                melded_reads: counted.melded_reads,
                melded_pages_read: counted.melded_pages_read,
                buffer_page_reads: counted.buffer_page_reads,
                unmapped_page_reads: counted.unmapped_page_reads,
                host_pages_read: counted.host_pages_read,
                merge_pages_read: counted.merge_pages_read,
                read_ahead_hits: counted.read_ahead_hits,
                ..self.model.counted[namespace]
            };
            assert_eq!(*counted, expected);
            assert_eq!(
                counted.host_pages_read + counted.merge_pages_read,
                counted.page_reads + counted.melded_pages_read
            );
        }
        let of_device = stats.to_array();
        for (at, name) in NamespaceStats::NAMES.iter().enumerate() {
            let sum: u64 = all.iter().map(|of| of.to_array()[at]).sum();
            let Some(of_device) = Stats::NAMES
                .iter()
                .position(|of| of == name)
                .map(|at| of_device[at])
            else {
                assert_eq!(*name, "preloaded_bytes");
                continue;
            };
            if stats.gc_pages_read + stats.read_ahead_pages > 0
                && ["page_reads", "melded_reads", "melded_pages_read"].contains(name)
            {
                assert!(sum <= of_device, "{name}");
            } else {
                assert_eq!(sum, of_device, "{name}");
            }
        }
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
