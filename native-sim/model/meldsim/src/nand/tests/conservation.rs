//! Any mix of operations under any options: each finishes once, whole, and in bounded time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::profile::{Arbitration, ByteSize, ChannelKind, DieInterleave, Issue};

/// Wordlines of a block of the profiles here.
const WORDLINES: u32 = 256;

#[derive(Clone, Debug)]
enum Step {
    Read {
        unit: u32,
        row: u32,
        pages: PageSet,
        melded: bool,
        for_gc: bool,
    },
    Program {
        unit: u32,
        row: u32,
        page: Option<u32>,
    },
    Erase {
        unit: u32,
        block: u32,
    },
    Copyback {
        unit: u32,
        from: u32,
        to: u32,
    },
    Advance {
        us: u64,
    },
}

/// Few rows, so that planes often share.
fn step() -> impl Strategy<Value = Step> {
    let unit = || 0..64u32;
    let row = || 0..6u32;
    prop_oneof![
        8 => (unit(), row(), 1..8u8, any::<[bool; 2]>()).prop_map(|(unit, row, pages, [melded, for_gc])| {
            Step::Read { unit, row, pages: PageSet::from(pages), melded, for_gc }
        }),
        4 => (unit(), row(), prop::option::of(0..3u32))
            .prop_map(|(unit, row, page)| Step::Program { unit, row, page }),
        1 => (unit(), 0..3u32).prop_map(|(unit, block)| Step::Erase { unit, block }),
        1 => (unit(), row(), row()).prop_map(|(unit, from, to)| Step::Copyback { unit, from, to }),
        3 => (0..3000u64).prop_map(|us| Step::Advance { us }),
    ]
}

fn any_profile() -> impl Strategy<Value = Profile> {
    let shape = (1..=2u32, 1..=3u32, 1..=3u32, 1..=4u32);
    let options = (0..4u8, any::<[bool; 8]>(), 1..40u32, 0..300u64);
    (shape, options).prop_map(
        |((channels, packages, dies, planes), (servers, on, limit, progress))| {
            let mut profile = profile();
            profile.geometry.channels = channels;
            profile.geometry.dies_per_package = dies;
            profile.geometry.dies_per_channel = packages * dies;
            profile.geometry.planes_per_die = planes;
            profile.timing.program_pages = Some(vec![us(558), us(2201), us(5001)]);
            profile.controller.reads_before_program = limit;
            let commands = &mut profile.commands;
            commands.multi_plane = planes > 1 && on[0];
            commands.die_interleave = match servers {
                0 | 1 => DieInterleave::Independent,
                2 => DieInterleave::Composed,
                _ => DieInterleave::Off,
            };
            commands.issue = if on[1] {
                Issue::InOrder
            } else {
                Issue::OutOfOrder
            };
            if servers < 2 && !on[1] {
                commands.cache_read = on[2];
                commands.cache_program = on[3];
                commands.suspend_program = on[4];
                commands.suspend_erase = on[5];
                commands.max_suspends = limit;
                commands.suspend_progress = us(progress);
                commands.suspend_phase = us(progress % 4 * 90);
                profile.gc.reads_yield = on[7];
            }
            profile.bus.arbitration = if on[6] {
                Arbitration::DataFirst
            } else {
                Arbitration::CommandsFirst
            };
            profile
        },
    )
}

fn units(profile: &Profile) -> u32 {
    let geometry = &profile.geometry;
    geometry.channels * geometry.dies_per_channel * geometry.planes_per_die
}

/// What is to be finished, each with how often: pages of reads by owner, and the rest by token.
type Expected = BTreeMap<(u8, u32), u32>;

fn submit(rig: &mut Rig, step: &Step, n: u32, units: u32, expected: &mut Expected) {
    let queue = &mut rig.queue;
    match *step {
        Step::Read {
            unit,
            row,
            pages,
            melded,
            for_gc,
        } => {
            let at = at(unit % units, row);
            let owner = match for_gc {
                true => Owner::gc(n),
                false => Owner::request(n),
            };
            rig.flash.read(queue, at, pages, melded, owner);
            expected.insert((0, n), pages.count_ones());
        }
        Step::Program { unit, row, page } => {
            let pages = page.map_or(ALL, |page| 1 << page);
            rig.flash.program(queue, at(unit % units, row), pages, n);
            expected.insert((1, n), 1);
        }
        Step::Erase { unit, block } => {
            rig.flash.erase(queue, Unit(unit % units), block, n);
            expected.insert((2, n), 1);
        }
        Step::Copyback { unit, from, to } => {
            let (from, to) = (at(unit % units, from), at(unit % units, to));
            rig.flash.copyback(queue, from, to, ALL, n);
            expected.insert((3, n), 1);
        }
        Step::Advance { us } => {
            // Odd picoseconds: nothing arrives at the very instant at which something else ends.
            let until = queue.now() + Duration::from_us(us) + Duration::from_ps(7);
            rig.run_until(until - Instant::START);
        }
    }
}

fn finished(rig: &Rig) -> Expected {
    let mut finished = Expected::new();
    for (_, what) in &rig.done {
        let (key, count) = match *what {
            Finished::Read { pages, owner, .. } => {
                let reader = owner.as_request().or(owner.as_gc());
                ((0, reader.unwrap()), pages.count_ones())
            }
            Finished::Program { token, .. } => ((1, token), 1),
            Finished::Erase { token, .. } => ((2, token), 1),
            Finished::Copyback { token, .. } => ((3, token), 1),
        };
        *finished.entry(key).or_default() += count;
    }
    finished
}

/// Everything that finishes and when, if data may be granted the bus ahead of time or not, and if the code of a
/// channel may leave something out or not.
fn timeline(
    profile: &Profile,
    steps: &[Step],
    early_grants: bool,
    has_shortcut: bool,
) -> Vec<(Duration, String)> {
    let units = units(profile);
    let mut rig = Rig::new(profile);
    rig.flash.shared.early_grants &= early_grants;
    if !has_shortcut {
        rig.flash.shared.kind = ChannelKind::Any;
    }
    for (n, step) in (0..).zip(steps) {
        submit(&mut rig, step, n, units, &mut Expected::new());
    }
    rig.run();
    let mut timeline: Vec<_> = rig
        .done
        .iter()
        .map(|(time, what)| (*time, format!("{what:?}")))
        .collect();
    // What ends at one instant on different channels has no order of its own.
    timeline.sort();
    timeline
}

/// Pages of a read that finished among the first `count` operations.
fn pages_read(rig: &Rig, request: u32, count: usize) -> u32 {
    let pages = rig.done[..count].iter().map(|(_, what)| match *what {
        Finished::Read { pages, owner, .. }
            if owner.as_request().or(owner.as_gc()) == Some(request) =>
        {
            pages.count_ones()
        }
        _ => 0,
    });
    pages.sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn early_grants_change_nothing(
        profile in any_profile(),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        // A plain channel always grants early: it is left aside.
        let timelines =
            [false, true].map(|early_grants| timeline(&profile, &steps, early_grants, false));
        prop_assert_eq!(&timelines[0], &timelines[1]);
    }

    #[test]
    fn what_the_code_of_a_channel_leaves_out_changes_nothing(
        mut profile in any_profile(),
        steps in prop::collection::vec(step(), 1..150),
        halves in any::<bool>(),
    ) {
        profile.geometry.dies_per_package = 1;
        profile.geometry.planes_per_die = 1;
        profile.commands.multi_plane = false;
        profile.commands.die_interleave = DieInterleave::Independent;
        profile.commands.issue = Issue::OutOfOrder;
        if halves {
            profile.geometry.page_size = ByteSize(8 << 10);
            profile.ftl.mapping_unit = ByteSize(4 << 10);
        }
        prop_assert_ne!(Rig::new(&profile).flash.shared.kind, ChannelKind::Any);
        let timelines =
            [false, true].map(|has_shortcut| timeline(&profile, &steps, true, has_shortcut));
        prop_assert_eq!(&timelines[0], &timelines[1]);
    }

    #[test]
    fn no_erase_begins_before_earlier_reads_of_its_block_have_finished(
        profile in any_profile(),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let units = units(&profile);
        let mut rig = Rig::new(&profile);
        for (n, step) in (0..).zip(&steps) {
            submit(&mut rig, step, n, units, &mut Expected::new());
        }
        rig.run();
        for (&erase, &count) in &rig.erases_begun {
            let Step::Erase { unit: erased, block } = steps[erase as usize] else {
                panic!("{erase} is no erase");
            };
            for (n, step) in (0..erase).zip(&steps) {
                let Step::Read { unit, row, pages, .. } = *step else { continue };
                if unit % units == erased % units && row / WORDLINES == block {
                    prop_assert_eq!(pages_read(&rig, n, count), pages.count_ones());
                }
            }
        }
        let erases = steps.iter().filter(|step| matches!(step, Step::Erase { .. }));
        prop_assert_eq!(rig.erases_begun.len(), erases.count());
    }

    #[test]
    fn everything_submitted_finishes_once(
        profile in any_profile(),
        steps in prop::collection::vec(step(), 1..150),
    ) {
        let units = units(&profile);
        let mut rig = Rig::new(&profile);
        let mut expected = Expected::new();
        for (n, step) in (0..).zip(&steps) {
            submit(&mut rig, step, n, units, &mut expected);
        }
        let submitted = rig.queue.now();
        rig.run();
        prop_assert_eq!(finished(&rig), expected);
        prop_assert!(rig.times().windows(2).all(|pair| pair[0] <= pair[1]));
        // Nothing waits for nothing: at worst all is done one after the other, with every
        // suspension there may be.
        let each = us(5001 + 166 + 1000) + us(58 + 20 + 20) * 40;
        prop_assert!(rig.queue.now() <= submitted + each * steps.len() as u64 * 3);
        prop_assert_eq!(rig.queue.next_time(), None);
        prop_assert_eq!(rig.flash.shared.ops.len(), 0);
        let now = rig.queue.now();
        let elapsed = now - Instant::START;
        let stats = rig.stats();
        prop_assert!(rig.flash.channels_busy(now).all(|busy| busy <= elapsed));
        prop_assert!(rig.flash.dies_busy(now).all(|busy| busy <= elapsed));
        prop_assert!(rig.flash.packages_busy(now).iter().all(|&busy| busy <= elapsed));
        prop_assert!(stats.package_busy <= stats.die_busy && stats.die_busy <= stats.dies.plane_busy);
        prop_assert!(stats.dies.plane_busy.as_ps() <= stats.die_busy.as_ps() * u128::from(profile.geometry.planes_per_die));
        let pages = stats.dies.pages_read();
        let programmed: u64 = rig.flash.die_counts().map(|die| die.pages_programmed).sum();
        prop_assert_eq!(stats.commands.transaction_pages.iter().sum::<u64>(), pages + programmed);
    }
}
