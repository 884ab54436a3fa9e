//! The flash alone, driven without an FTL.

mod commands;
mod conservation;
mod parallelism;

use std::collections::BTreeMap;

use super::counts::FlashStats;
use super::operation::Kind;
use super::{Finished, Flash, Geometry, Owner, PageRead, PageSet, Sense, Unit, WordlineAddr};
use crate::engine::{Duration, EventQueue, Instant, NIL};
use crate::event::Event;
use crate::profile::{ChannelKind, Profile};

/// Time of a command and of a page on the bus of the profiles here: 10 and 4625 bytes at 1.25 ns.
const COMMAND: Duration = Duration::from_ps(12_500);
const PAGE: Duration = Duration::from_ps(5_781_250);
/// All pages of a TLC wordline.
const ALL: PageSet = 0b111;

/// TLC with 58/78/107 us of sensing, 166 us melded, 5001 us of one-shot programming, 2274 us of
/// erasing; one channel of one die of one plane, to be extended.
fn profile() -> Profile {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.geometry.dies_per_package = 1;
    profile.geometry.planes_per_die = 1;
    profile
}

/// A profile with one package of so many dies and planes.
fn package(dies: u32, planes: u32) -> Profile {
    let mut profile = profile();
    profile.geometry.dies_per_channel = dies;
    profile.geometry.dies_per_package = dies;
    profile.geometry.planes_per_die = planes;
    profile.commands.multi_plane = planes > 1;
    profile
}

struct Rig {
    flash: Flash,
    queue: EventQueue<Event>,
    /// What has finished, and how long after the start.
    done: Vec<(Duration, Finished)>,
    /// Tokens of the erases that have begun, each with how much had finished before.
    erases_begun: BTreeMap<u32, usize>,
}

impl Rig {
    fn new(profile: &Profile) -> Rig {
        profile.validate().unwrap();
        let geometry = Geometry::new(profile);
        Rig {
            flash: Flash::new(profile, &geometry).unwrap(),
            queue: EventQueue::new(geometry.channels as usize),
            done: Vec::new(),
            erases_begun: BTreeMap::new(),
        }
    }

    fn read(&mut self, unit: u32, row: u32, page: u32) {
        self.read_pages(unit, row, 1 << page, false, 0);
    }

    fn read_pages(&mut self, unit: u32, row: u32, pages: PageSet, melded: bool, owner: u32) {
        let owner = Owner::request(owner);
        self.flash
            .read(&mut self.queue, at(unit, row), pages, melded, owner);
    }

    /// Reads pages for collection.
    fn collect(&mut self, unit: u32, row: u32, pages: PageSet) {
        let owner = Owner::gc(0);
        self.flash
            .read(&mut self.queue, at(unit, row), pages, false, owner);
    }

    fn program(&mut self, unit: u32, row: u32, pages: PageSet) {
        self.flash
            .program(&mut self.queue, at(unit, row), pages, row);
    }

    fn erase(&mut self, unit: u32, block: u32) {
        self.flash.erase(&mut self.queue, Unit(unit), block, block);
    }

    fn copyback(&mut self, from: WordlineAddr, to: WordlineAddr, pages: PageSet) {
        self.flash
            .copyback(&mut self.queue, from, to, pages, to.row);
    }

    /// Processes everything up to `limit`.
    fn process(&mut self, limit: Instant) {
        let mut finished = Vec::new();
        while let Some(event) = self.queue.pop_until(limit) {
            if let Event::Channel(channel) = event {
                let (flash, queue) = (&mut self.flash, &mut self.queue);
                let page = match flash.kind() {
                    ChannelKind::Plain => flash.step::<true, true>(queue, channel, &mut finished),
                    ChannelKind::Single => flash.step::<true, false>(queue, channel, &mut finished),
                    ChannelKind::Any => flash.step::<false, false>(queue, channel, &mut finished),
                };
                finished.extend(page.map(
                    |PageRead {
                         at, pages, owner, ..
                     }| Finished::Read {
                        is_failed: false,
                        at,
                        pages,
                        owner,
                        sense: Sense::Page,
                    },
                ));
            }
            let now = self.queue.now() - Instant::START;
            self.done.extend(finished.drain(..).map(|what| (now, what)));
            self.note_erases();
        }
    }

    fn note_erases(&mut self) {
        let ops = &self.flash.shared.ops;
        for die in &self.flash.dies {
            let mut index = die.executing;
            while index != NIL {
                if ops[index].kind == Kind::Erase {
                    let begun = self.erases_begun.entry(ops[index].tag);
                    begun.or_insert(self.done.len());
                }
                index = ops[index].next;
            }
        }
    }

    /// Lets so much time pass from the start on.
    fn run_until(&mut self, limit: Duration) {
        let limit = Instant::START + limit;
        self.process(limit);
        self.queue.advance_clock(limit);
    }

    /// Processes everything; returns when the last operation finished.
    fn run(&mut self) -> Duration {
        self.process(Instant::MAX);
        self.done.last().map_or(Duration::ZERO, |&(time, _)| time)
    }

    fn times(&self) -> Vec<Duration> {
        self.done.iter().map(|&(time, _)| time).collect()
    }

    fn stats(&self) -> FlashStats {
        self.flash.stats(self.queue.now())
    }
}

fn at(unit: u32, row: u32) -> WordlineAddr {
    WordlineAddr {
        unit: Unit(unit),
        row,
    }
}

fn us(us: u64) -> Duration {
    Duration::from_us(us)
}

/// Within 1 % of arithmetic.
#[track_caller]
fn assert_close(measured: Duration, expected: Duration, what: &str) {
    let (m, e) = (measured.as_secs_f64(), expected.as_secs_f64());
    assert!((m - e).abs() <= e / 100.0, "{what}: {m} instead of {e}");
}
