//! Tracks of what is no device, such as tasks of hosts. Names are in their packets, as there are few slices of a kind.

use super::perfetto::{BEGIN, END, event, field, track};
use super::proto::Message;

/// Perfetto's kind of an event without a length.
const INSTANT: u64 = 3;

/// What is said of a slice.
#[derive(Debug)]
pub struct Annotation<'a> {
    name: &'static str,
    value: Value<'a>,
}

#[derive(Debug)]
enum Value<'a> {
    Number(u64),
    Text(&'a str),
}

impl<'a> Annotation<'a> {
    /// A number.
    pub fn number(name: &'static str, value: u64) -> Annotation<'a> {
        let value = Value::Number(value);
        Annotation { name, value }
    }

    /// A text.
    pub fn text(name: &'static str, value: &'a str) -> Annotation<'a> {
        let value = Value::Text(value);
        Annotation { name, value }
    }
}

/// Makes packets of tracks and their slices. Times are nanoseconds of the axis.
#[derive(Debug, Default)]
pub struct Tracks {
    packets: Message,
    count: u64,
}

impl Tracks {
    /// The packets since this was last called.
    pub fn take(&mut self) -> Vec<u8> {
        let bytes = self.packets.as_slice().to_vec();
        self.packets.clear();
        bytes
    }

    /// A track of its own.
    pub fn root(&mut self, name: &str) -> u64 {
        self.track(name, None)
    }

    /// A track below another one.
    pub fn child(&mut self, parent: u64, name: &str) -> u64 {
        self.track(name, Some(parent))
    }

    fn track(&mut self, name: &str, parent: Option<u64>) -> u64 {
        self.count += 1;
        // Those of devices are above.
        let uuid = self.count;
        track(&mut self.packets, |track| {
            track.varint(field::track::UUID, uuid);
            track.text(field::track::NAME, name);
            if let Some(parent) = parent {
                track.varint(field::track::PARENT, parent);
            }
            track.varint(field::track::RANK, uuid);
        });
        uuid
    }

    /// Something that took time on a track, with its flows.
    pub fn slice(
        &mut self,
        track: u64,
        name: &str,
        (begin, end): (u64, u64),
        flows: &[u64],
        annotations: &[Annotation<'_>],
    ) {
        self.event((track, begin, BEGIN), Some(name), flows, annotations);
        self.event((track, end.max(begin), END), None, &[], &[]);
    }

    /// Something that took none.
    pub fn instant(
        &mut self,
        track: u64,
        name: &str,
        at: u64,
        flows: &[u64],
        annotations: &[Annotation<'_>],
    ) {
        self.event((track, at, INSTANT), Some(name), flows, annotations);
    }

    fn event(
        &mut self,
        (track, at, kind): (u64, u64, u64),
        name: Option<&str>,
        flows: &[u64],
        annotations: &[Annotation<'_>],
    ) {
        event(&mut self.packets, at, kind, track, |event| {
            if let Some(name) = name {
                event.text(field::event::NAME, name);
            }
            for &flow in flows {
                event.fixed64(field::event::FLOW, flow);
            }
            for annotation in annotations {
                event.message(field::event::ANNOTATION, |to| {
                    to.text(field::annotation::NAME, annotation.name);
                    match annotation.value {
                        Value::Number(value) => to.varint(field::annotation::UINT, value),
                        Value::Text(text) => to.text(field::annotation::TEXT, text),
                    }
                });
            }
        });
    }
}

/// Tracks side by side for slices that overlap. Slices come in the order of their beginnings.
#[derive(Debug)]
pub struct Lanes {
    name: &'static str,
    /// Track, and when its last slice ends.
    lanes: Vec<(u64, u64)>,
}

impl Lanes {
    /// None yet; they are called so, and numbered.
    pub fn new(name: &'static str) -> Lanes {
        let lanes = Vec::new();
        Lanes { name, lanes }
    }

    /// The track for a slice: the first one that is free then.
    pub fn track(&mut self, tracks: &mut Tracks, parent: u64, (begin, end): (u64, u64)) -> u64 {
        let free = self.lanes.iter_mut().find(|lane| lane.1 <= begin);
        if let Some(lane) = free {
            lane.1 = end;
            return lane.0;
        }
        let track = tracks.child(parent, &format!("{} {}", self.name, self.lanes.len()));
        self.lanes.push((track, end));
        track
    }
}
