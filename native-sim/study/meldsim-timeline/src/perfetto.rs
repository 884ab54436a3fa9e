//! Records as packets of Perfetto's trace format (perfetto.dev/docs/reference/trace-packet-proto).
//!
//! In come records of a device, out go bytes: each packet is complete, and packets may be left out or written in any order, for
//! all names are given at the beginning and what reads them sorts by time. Times are nanoseconds, of the device or of the wall
//! that it follows; where a span is not of whole ones, its annotation `ps` has the length in picoseconds of the device.
//!
//! ```text
//!   a device            outstanding commands, write buffer, free block groups: counters
//!     commands            slot 0, slot 1 ...     a slice for each command; its latency's parts are annotations, in ps
//!     firmware            core 0 ...
//!     garbage collection  set 0 lane 0 ...       a slice for each victim
//!     channel 0           bus                    commands and data
//!                         die 0, die 1 ...       senses, programs, erases
//! ```
//!
//! A command's number is the id of a flow from its slice through its spans.

use std::collections::HashSet;

use super::clock::Clock;
use super::proto::Message;
use super::records::{BUS_USES, WORKS, number_of};
use super::writer::Form;
use meldsim::profile::Profile;
use meldsim::timeline::{
    ArraySpan, BusSpan, BusUse, CommandRecord, Gauge, Level, Part, Purpose, Record, Work,
};
use meldsim::{Instant, Opcode};

/// Fields of the messages.
pub(super) mod field {
    pub(in super::super) const PACKET: u32 = 1;
    pub(in super::super) mod packet {
        pub(in super::super::super) const TIMESTAMP: u32 = 8;
        pub(in super::super::super) const SEQUENCE: u32 = 10;
        pub(in super::super::super) const TRACK_EVENT: u32 = 11;
        pub(in super::super::super) const INTERNED: u32 = 12;
        pub(in super::super::super) const SEQUENCE_FLAGS: u32 = 13;
        pub(in super::super::super) const TRACK: u32 = 60;
    }
    pub(in super::super) mod track {
        pub(in super::super::super) const UUID: u32 = 1;
        pub(in super::super::super) const NAME: u32 = 2;
        pub(in super::super::super) const PARENT: u32 = 5;
        pub(in super::super::super) const COUNTER: u32 = 8;
        pub(in super::super::super) const CHILD_ORDER: u32 = 11;
        pub(in super::super::super) const RANK: u32 = 12;
    }
    pub(in super::super) mod event {
        pub(in super::super::super) const ANNOTATION: u32 = 4;
        pub(in super::super::super) const TYPE: u32 = 9;
        pub(in super::super::super) const NAME_IID: u32 = 10;
        pub(in super::super::super) const TRACK: u32 = 11;
        pub(in super::super::super) const COUNTER_VALUE: u32 = 30;
        pub(in super::super::super) const NAME: u32 = 23;
        pub(in super::super::super) const FLOW: u32 = 47;
    }
    pub(in super::super) mod annotation {
        pub(in super::super::super) const NAME_IID: u32 = 1;
        pub(in super::super::super) const UINT: u32 = 3;
        pub(in super::super::super) const TEXT: u32 = 6;
        pub(in super::super::super) const NAME: u32 = 10;
    }
    pub(in super::super) mod interned {
        pub(in super::super::super) const EVENT_NAMES: u32 = 2;
        pub(in super::super::super) const ANNOTATION_NAMES: u32 = 3;
        pub(in super::super::super) const IID: u32 = 1;
        pub(in super::super::super) const NAME: u32 = 2;
    }
}

/// Kinds of track events.
pub(super) const BEGIN: u64 = 1;
pub(super) const END: u64 = 2;
const COUNTER: u64 = 4;
/// The state of the sequence begins here; it goes on.
const CLEARED: u64 = 1;
const NEEDED: u64 = 2;
/// Children of a track in the order of their ranks.
const BY_RANK: u64 = 3;

/// Identifiers of tracks: a kind in the upper bits.
const DEVICE: u64 = 1;
const COMMANDS: u64 = 2;
const FIRMWARE: u64 = 3;
const COLLECTIONS: u64 = 4;
const SLOT: u64 = 1 << 32;
const CORE: u64 = 2 << 32;
const LANE: u64 = 3 << 32;
const CHANNEL: u64 = 4 << 32;
const BUS: u64 = 5 << 32;
const DIE: u64 = 6 << 32;
const LEVEL: u64 = 7 << 32;

/// Annotations by number.
const ANNOTATIONS: [&str; 12] = [
    "ps",
    "tag",
    "nsid",
    "offset",
    "bytes",
    "queue",
    "status",
    "behind",
    "melded reads",
    "page reads",
    "planes",
    "valid pages",
];
const PS: u64 = 1;
const TAG: u64 = 2;
const NSID: u64 = 3;
const OFFSET: u64 = 4;
const BYTES: u64 = 5;
const QUEUE: u64 = 6;
const STATUS: u64 = 7;
const BEHIND: u64 = 8;
const MELDED_READS: u64 = 9;
const PAGE_READS: u64 = 10;
const PLANES: u64 = 11;
const VALID_PAGES: u64 = 12;
/// Those of the parts of a latency follow.
const FIRST_PART: u64 = 13;

/// Names of slices that are none of buses and dies, by number from [`FIRST_NAME`].
const NAMES: [&str; 14] = [
    "read",
    "write",
    "deallocate",
    "flush",
    "collection",
    "NVMQ",
    "ILOCK",
    "CACHE",
    "TRANS",
    "FCMD",
    "BGC",
    "LOG",
    "melded read",
    "other",
];
/// Before them: uses of a bus from 1, works, and senses for collection.
const FIRST_WORK: u64 = 1 + BUS_USES.len() as u64;
const SENSES: u64 = 5;
const FIRST_NAME: u64 = FIRST_WORK + WORKS.len() as u64 + SENSES;

fn name(wanted: &str) -> u64 {
    let found = NAMES.iter().position(|name| *name == wanted);
    FIRST_NAME + found.unwrap_or(NAMES.len() - 1) as u64
}

/// Makes packets of records.
#[derive(Debug, Default)]
pub struct Perfetto {
    /// Of the last record.
    tracks: Message,
    events: Message,
    /// Tracks that have been described beside those of the device.
    described: HashSet<u64>,
    /// Whether the names were given that packets refer to.
    is_named: bool,
    /// Devices that have begun.
    devices: u64,
    /// Where the times of the device lie.
    clock: Clock,
    /// Slices of the last record.
    slices: u64,
}

impl Form for Perfetto {
    const MOST_SLICES: u64 = u64::MAX;

    /// The tracks of a device; before those of the first, all names.
    fn begin(&mut self, profile: &Profile, name: &str) {
        self.tracks.clear();
        self.events.clear();
        self.described.clear();
        if !self.is_named {
            self.names();
        }
        self.devices += 1;
        let root = self.track(DEVICE);
        let rank = self.devices;
        track(&mut self.tracks, |track| {
            track.varint(field::track::UUID, root);
            track.text(field::track::NAME, name);
            track.varint(field::track::CHILD_ORDER, BY_RANK);
            track.varint(field::track::RANK, rank);
        });
        let geometry = &profile.geometry;
        self.named(COMMANDS, DEVICE, 11, "commands");
        self.named(FIRMWARE, DEVICE, 12, "firmware");
        self.named(COLLECTIONS, DEVICE, 13, "garbage collection");
        for channel in 0..u64::from(geometry.channels) {
            let of_channel = CHANNEL + channel;
            self.named(
                of_channel,
                DEVICE,
                20 + channel,
                &format!("channel {channel}"),
            );
            self.named(BUS + channel, of_channel, 0, "bus");
            for die in 0..u64::from(geometry.dies_per_channel) {
                let uuid = DIE + (channel << 16) + die;
                self.named(uuid, of_channel, 1 + die, &format!("die {die}"));
            }
        }
    }

    fn encode(&mut self, record: &Record<'_>) -> u64 {
        self.events.clear();
        self.tracks.clear();
        self.slices = 0;
        match record {
            Record::Bus(span) => self.bus(span),
            Record::Array(span) => self.array(span),
            Record::Core(span) => {
                let track = CORE + u64::from(span.core);
                self.describe(track, FIRMWARE, &format!("core {}", span.core));
                let name = name(span.thread.1);
                self.slice(track, name, (span.start, span.end), &[], |_| {});
            }
            Record::Collection(span) => {
                let track = LANE + (u64::from(span.set) << 16) + u64::from(span.log);
                let title = format!("set {} lane {}", span.set, span.log);
                self.describe(track, COLLECTIONS, &title);
                let valid = u64::from(span.valid_pages);
                let times = (span.start, span.end);
                self.slice(track, name("collection"), times, &[], |event| {
                    annotate(event, VALID_PAGES, valid);
                });
            }
            Record::Level(level) => self.level(level),
            Record::Command(command) => self.command(command),
            // A die's busy time is that of its spans and of what they wait for.
            _ => {}
        }
        self.slices
    }

    fn lasting(&self) -> &[u8] {
        self.tracks.as_slice()
    }

    fn events(&self) -> &[u8] {
        self.events.as_slice()
    }
}

impl Perfetto {
    /// Times of the device that begins next lie on another axis.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The id of the flow of a command of the device at work.
    pub fn flow_of(&self, command: u64) -> u64 {
        // Numbers of commands begin anew with each device.
        (self.devices << 48) + 1 + command
    }

    /// The identifier of a track of the device at work.
    fn track(&self, track: u64) -> u64 {
        (self.devices << 48) + track
    }

    /// The beginning of a trace: all names. The first device brings it if nothing else did.
    pub fn names(&mut self) {
        self.is_named = true;
        self.tracks.message(field::PACKET, |packet| {
            packet.varint(field::packet::SEQUENCE, 1);
            packet.varint(field::packet::SEQUENCE_FLAGS, CLEARED);
            packet.message(field::packet::INTERNED, |interned| {
                let intern = |interned: &mut Message, to, iid, name: &str| {
                    interned.message(to, |entry| {
                        entry.varint(field::interned::IID, iid);
                        entry.text(field::interned::NAME, name);
                    });
                };
                let (uses, works) = (BUS_USES.map(BusUse::name), WORKS.map(Work::name));
                let senses = works.iter().take(SENSES as usize);
                let of_map = senses.clone().map(|sense| format!("{sense} (mapping)"));
                let senses = senses.map(|sense| format!("{sense} (collection)"));
                let names = uses.iter().chain(&works).map(|name| (*name).to_owned());
                let names = names
                    .chain(senses)
                    .chain(NAMES.map(str::to_owned))
                    .chain(of_map);
                for (iid, name) in (1..).zip(names) {
                    intern(interned, field::interned::EVENT_NAMES, iid, &name);
                }
                let parts = Part::ALL.map(Part::name);
                for (iid, name) in (1..).zip(ANNOTATIONS.iter().chain(&parts)) {
                    intern(interned, field::interned::ANNOTATION_NAMES, iid, name);
                }
            });
        });
    }

    fn level(&mut self, level: &Level) {
        let (track, name, rank) = match level.of {
            Gauge::Outstanding => (LEVEL, "outstanding".to_owned(), 0),
            Gauge::WriteBuffer(set) => (
                LEVEL + 1 + 2 * u64::from(set),
                format!("write buffer, pages, set {set}"),
                1,
            ),
            Gauge::FreeSuperblocks(set) => (
                LEVEL + 2 + 2 * u64::from(set),
                format!("free block groups, set {set}"),
                2,
            ),
        };
        let (uuid, parent) = (self.track(track), self.track(DEVICE));
        if self.described.insert(track) {
            self::track(&mut self.tracks, |track| {
                track.varint(field::track::UUID, uuid);
                track.text(field::track::NAME, &name);
                track.varint(field::track::PARENT, parent);
                track.message(field::track::COUNTER, |_| {});
                track.varint(field::track::RANK, rank);
            });
        }
        let at = self.clock.at(level.at);
        event(&mut self.events, at, COUNTER, uuid, |event| {
            event.varint(field::event::COUNTER_VALUE, level.value);
        });
    }

    fn bus(&mut self, span: &BusSpan<'_>) {
        let name = 1 + span.what as u64;
        let track = BUS + u64::from(span.channel);
        self.slice(track, name, (span.start, span.end), span.commands, |_| {});
    }

    fn array(&mut self, span: &ArraySpan<'_>) {
        let work = u64::from(number_of(span.work));
        let is_read = matches!(span.work, Work::Sense(_) | Work::MeldedSense);
        let name = match span.purpose {
            Purpose::Collection if is_read => FIRST_WORK + WORKS.len() as u64 + work,
            Purpose::Mapping => FIRST_NAME + NAMES.len() as u64 + work,
            _ => FIRST_WORK + work,
        };
        let track = DIE + (u64::from(span.channel) << 16) + u64::from(span.die);
        let planes = span.planes;
        self.slice(
            track,
            name,
            (span.start, span.end),
            span.commands,
            |event| {
                if planes > 1 {
                    annotate(event, PLANES, u64::from(planes));
                }
            },
        );
    }

    fn command(&mut self, command: &CommandRecord) {
        let track = SLOT + u64::from(command.slot);
        self.describe(track, COMMANDS, &format!("slot {}", command.slot));
        let name = match command.opcode {
            Opcode::Read if command.melded_reads > 0 => name("melded read"),
            Opcode::Read => name("read"),
            Opcode::Write => name("write"),
            Opcode::Deallocate => name("deallocate"),
            Opcode::Flush => name("flush"),
            Opcode::ManageZone => name("manage zone"),
            Opcode::Append => name("append"),
        };
        let times = (command.submitted, command.completed);
        self.slice(track, name, times, &[command.number], |event| {
            annotate(event, TAG, command.tag);
            annotate(event, NSID, u64::from(command.nsid.0));
            annotate(event, OFFSET, command.start_byte);
            annotate(event, BYTES, command.bytes);
            annotate(event, QUEUE, u64::from(command.queue));
            annotate(event, STATUS, u64::from(command.status.0));
            annotate(event, MELDED_READS, u64::from(command.melded_reads));
            annotate(event, PAGE_READS, u64::from(command.page_reads));
            for (iid, part) in (FIRST_PART..).zip(command.parts) {
                if part.as_ps() > 0 {
                    annotate(event, iid, part.as_ps());
                }
            }
            if let Some((work, purpose)) = command.behind {
                let collection = match purpose {
                    Purpose::Collection => " (collection)",
                    Purpose::Mapping => " (mapping)",
                    _ => "",
                };
                event.message(field::event::ANNOTATION, |annotation| {
                    annotation.varint(field::annotation::NAME_IID, BEHIND);
                    let text = format!("{}{collection}", work.name());
                    annotation.text(field::annotation::TEXT, &text);
                });
            }
        });
    }

    /// A slice from its begin to its end.
    fn slice(
        &mut self,
        track: u64,
        name: u64,
        (start, end): (Instant, Instant),
        flows: &[u64],
        more: impl FnOnce(&mut Message),
    ) {
        self.slices += 1;
        let ps = end.as_ps() - start.as_ps();
        let (track, first) = (self.track(track), self.flow_of(0));
        let (at, until) = (self.clock.at(start), self.clock.at(end));
        let is_exact = ps % 1000 == 0 && start.as_ps() % 1000 == 0 && self.clock.is_own();
        event(&mut self.events, at, BEGIN, track, |event| {
            event.varint(field::event::NAME_IID, name);
            for &flow in flows {
                event.fixed64(field::event::FLOW, first + flow);
            }
            if !is_exact {
                annotate(event, PS, ps);
            }
            more(event);
        });
        event(&mut self.events, until, END, track, |_| {});
    }

    /// Describes a track before its first slice.
    fn describe(&mut self, uuid: u64, parent: u64, name: &str) {
        if self.described.insert(uuid) {
            self.named(uuid, parent, uuid & 0xffff_ffff, name);
        }
    }

    fn named(&mut self, uuid: u64, parent: u64, rank: u64, name: &str) {
        let (uuid, parent) = (self.track(uuid), self.track(parent));
        track(&mut self.tracks, |track| {
            track.varint(field::track::UUID, uuid);
            track.text(field::track::NAME, name);
            track.varint(field::track::PARENT, parent);
            track.varint(field::track::CHILD_ORDER, BY_RANK);
            track.varint(field::track::RANK, rank);
        });
    }
}

/// The packet that describes a track.
pub(super) fn track(packets: &mut Message, write: impl FnOnce(&mut Message)) {
    packets.message(field::PACKET, |packet| {
        packet.varint(field::packet::SEQUENCE, 1);
        packet.message(field::packet::TRACK, write);
    });
}

/// The packet of an event, at nanoseconds.
pub(super) fn event(
    packets: &mut Message,
    at: u64,
    kind: u64,
    track: u64,
    write: impl FnOnce(&mut Message),
) {
    packets.message(field::PACKET, |packet| {
        packet.varint(field::packet::TIMESTAMP, at);
        packet.varint(field::packet::SEQUENCE, 1);
        packet.varint(field::packet::SEQUENCE_FLAGS, NEEDED);
        packet.message(field::packet::TRACK_EVENT, |event| {
            event.varint(field::event::TYPE, kind);
            event.varint(field::event::TRACK, track);
            write(event);
        });
    });
}

fn annotate(event: &mut Message, iid: u64, value: u64) {
    event.message(field::event::ANNOTATION, |annotation| {
        annotation.varint(field::annotation::NAME_IID, iid);
        annotation.varint(field::annotation::UINT, value);
    });
}
