//! Calls with their arguments, as bytes make them.

use arbitrary::{Arbitrary, Unstructured};
use meldsim_capi_study::*;

/// A number of an argument: mostly small, and an index into what earlier calls gave; sometimes anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) u64);

impl<'a> Arbitrary<'a> for Number {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Number> {
        let small = u.arbitrary::<u8>()?;
        Ok(Number(match small {
            0..=0xEF => u64::from(small),
            0xF0..=0xF7 => u64::MAX >> (small & 7),
            _ => u.arbitrary()?,
        }))
    }
}

/// Bounded so that one call ends soon: 4096 blocks, or a count that the device must refuse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks(pub(super) u64);

impl<'a> Arbitrary<'a> for Blocks {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Blocks> {
        let blocks = u64::from(u.arbitrary::<u16>()?);
        Ok(Blocks(match blocks >> 12 {
            0..15 => blocks & 0xFFF,
            _ => u64::MAX >> (blocks & 63),
        }))
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Order {
    opcode: Number,
    nsid: Number,
    slba: Blocks,
    pub(super) nlb: Blocks,
    directive: Hint,
    dsm: u8,
    queue: u8,
}

/// The size that a struct of the caller's says: mostly the right one, sometimes anything.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Size {
    is_right: u8,
    other: u16,
}

impl Size {
    pub(super) fn of<T>(self) -> u32 {
        match self.is_right {
            0..=0xDF => size_of::<T>() as u32,
            0xE0..=0xEF => size_of::<T>() as u32 + u32::from(self.other % 64),
            _ => u32::from(self.other),
        }
    }
}

/// Ranges of a namespace, and how many of them are said to be there.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct Ranges {
    pub(super) nsid: Number,
    ranges: [(Blocks, Blocks, bool); 4],
    pub(super) count: u8,
    pub(super) size: Size,
    pub(super) null: bool,
}

impl Ranges {
    pub(super) fn all(self) -> [meldsim_range; 4] {
        self.ranges.map(|(slba, nlb, is_sequential)| meldsim_range {
            attributes: u32::from(is_sequential) * MELDSIM_RANGE_SEQUENTIAL_READ,
            nlb: u32::try_from(nlb.0).unwrap_or(u32::MAX),
            slba: slba.0,
            ..Default::default()
        })
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Hint {
    None,
    Sequential,
    Random,
    Stream(u8),
    Any(u32),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Call {
    Open {
        profile: u8,
        version: Number,
    },
    Close {
        device: Number,
    },
    SetMode {
        device: Number,
        mode: Number,
        dilation: u8,
    },
    NamespaceCreate {
        device: Number,
        blocks: Blocks,
        odd: bool,
        null: bool,
    },
    NamespaceInfo {
        device: Number,
        nsid: Number,
        size: Size,
        null: bool,
    },
    Submit {
        device: Number,
        order: Order,
        flags: Number,
    },
    SubmitBatch {
        device: Number,
        orders: [Order; 4],
        count: u8,
        size: Size,
        flags: Number,
    },
    Wait {
        device: Number,
        ticket: Number,
        timeout_us: u8,
    },
    Forget {
        device: Number,
        ticket: Number,
    },
    Reap {
        device: Number,
        room: u8,
    },
    Preload {
        device: Number,
        order: Order,
    },
    Stats {
        device: Number,
        room: u8,
        null: bool,
    },
    Busy {
        device: Number,
        dies: bool,
        room: u8,
        null: bool,
    },
    SetInfo {
        device: Number,
        set: Number,
        size: Size,
        null: bool,
    },
    NamespaceCreateIn {
        device: Number,
        set: Number,
        blocks: Blocks,
    },
    StreamBind {
        device: Number,
        nsid: Number,
        stream: Number,
        hint: Hint,
    },
    Layout {
        device: Number,
        order: Order,
        size: Size,
        null: bool,
    },
    Precondition {
        device: Number,
        fill: u8,
        random: u8,
    },
    StreamRelease {
        device: Number,
        nsid: Number,
        stream: Number,
    },
    StreamsBound {
        device: Number,
        nsid: Number,
        room: u8,
        null: bool,
    },
    Describe {
        device: Number,
        ranges: Ranges,
    },
    Deallocate {
        device: Number,
        ranges: Ranges,
        queue: u8,
        flags: Number,
    },
    Locate {
        device: Number,
        nsid: Number,
        lba: Blocks,
        size: Size,
        null: bool,
    },
    QueueCreate {
        device: Number,
        depth: Number,
        priority: u8,
        null: bool,
    },
    Queued {
        device: Number,
        queue: Number,
    },
    Arbitration {
        device: Number,
        burst: Number,
        weights: [u8; 3],
        size: Size,
        null: bool,
    },
    WindowConfigure {
        device: Number,
        set: Number,
        enable: u8,
        size: Size,
        events: Number,
        thresholds: [Number; 3],
    },
    WindowEnter {
        device: Number,
        set: Number,
        window: u8,
    },
    WindowInfo {
        device: Number,
        set: Number,
        retain: u8,
        size: Size,
        null: bool,
    },
    Advance {
        device: Number,
        us: Number,
    },
    Snapshot {
        device: Number,
        less: u8,
        null: bool,
    },
    Restore {
        version: Number,
        less: u8,
        change: (u16, u8),
    },
    About {
        device: Number,
        room: u8,
        null: bool,
    },
    StatsName {
        index: Number,
    },
    LastError {
        room: u8,
        null: bool,
    },
    Zone(ZoneCall),
}

/// A command of a zone.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) struct ZoneCall {
    pub(super) device: Number,
    what: u8,
    zone: u8,
    /// Mostly none.
    offset: u8,
    pub(super) blocks: u8,
    pub(super) is_awaited: bool,
}

impl ZoneCall {
    /// Opcode, distance from the start of the zone, and what is done.
    pub(super) fn order(self, at_pointer: u64) -> (u32, u64, u32) {
        let offset = u64::from(self.offset.saturating_sub(0xF0));
        let blocks = u32::from(self.blocks);
        match self.what {
            0..=0x5F => (MELDSIM_WRITE, at_pointer + offset, blocks),
            0x60..=0x7F => (MELDSIM_ZONE_APPEND, offset, blocks),
            0x80..=0x9F => (MELDSIM_READ, offset, blocks),
            what => {
                let action = u32::from(what % 7);
                let all = u32::from(self.blocks >= 0xF0) * MELDSIM_ZONE_SELECT_ALL;
                (MELDSIM_ZONE_MANAGE, offset, action | all)
            }
        }
    }

    pub(super) fn zone(self) -> usize {
        usize::from(self.zone) % 10
    }
}

impl Hint {
    pub(super) fn packed(self) -> u32 {
        match self {
            Hint::None => MELDSIM_DIRECTIVE_NONE,
            Hint::Sequential => MELDSIM_DIRECTIVE_SEQUENTIAL,
            Hint::Random => MELDSIM_DIRECTIVE_RANDOM,
            Hint::Stream(handle @ 128..) => MELDSIM_DIRECTIVE_PLACEMENT | u32::from(handle % 20),
            Hint::Stream(stream) => MELDSIM_DIRECTIVE_STREAM | u32::from(stream % 20),
            Hint::Any(packed) => packed,
        }
    }
}

impl Order {
    pub(super) fn command(self) -> meldsim_command {
        meldsim_command {
            opcode: match self.opcode.0 {
                small @ 0..=0xDF => [
                    MELDSIM_WRITE,
                    MELDSIM_READ,
                    MELDSIM_DEALLOCATE,
                    MELDSIM_FLUSH,
                ][small as usize % 4],
                0xE0..=0xE7 => MELDSIM_ZONE_APPEND,
                0xE8..=0xEF => MELDSIM_ZONE_MANAGE,
                any => any as u32,
            },
            nsid: match self.nsid.0 {
                small @ 0..=0xEF => 1 + small as u32 / 80,
                any => any as u32,
            },
            slba: self.slba.0,
            nlb: u32::try_from(self.nlb.0).unwrap_or(u32::MAX),
            directive: self.directive.packed(),
            dsm: self.dsm.into(),
            queue: match self.queue {
                small @ 0..=0x7F => u32::from(small) % 4,
                any => u32::from(any) << (any & 15),
            },
            ..Default::default()
        }
    }
}
