//! Small devices of every kind of cell, layout, order, collection and division.

use crate::policy::pacing::PacingPolicy;
use crate::policy::placement::PlacementPolicy;
use crate::policy::wear::WearPolicy;
use proptest::prelude::*;

use crate::engine::Duration;
use crate::policy::victim::VictimPolicy;
use crate::profile::{
    Allocation, BufferScope, ByteSize, DataRate, Flush, Gc, Journaling, MapKind, MapUpdate,
    MeldedPartialRead, Profile, ProgramOrder, SetLayout, Sets,
};

/// Groups of blocks that a stream needs: one for each layout.
const GROUPS_PER_STREAM: u32 = 2;

/// What differs from device to device.
#[derive(Clone, Debug)]
struct Kind {
    pages_per_wordline: usize,
    /// Mapping units of a page.
    subpages: u32,
    channels: u32,
    dies: u32,
    planes: u32,
    melds: bool,
    cheapest: bool,
    allocation: Allocation,
    program_order: ProgramOrder,
    copyback: bool,
    gc: Gc,
    sets: Sets,
    /// Streams of the host's that each log has groups for.
    streams: u32,
}

fn sets() -> impl Strategy<Value = SetLayout> {
    prop_oneof![
        3 => Just(SetLayout::Baseline),
        1 => Just(SetLayout::Vertical),
        1 => Just(SetLayout::Horizontal),
        1 => Just(SetLayout::Mixed),
    ]
}

fn gc() -> impl Strategy<Value = Gc> {
    let victim = prop_oneof![
        1 => Just(VictimPolicy::default()),
        1 => prop::sample::select(VictimPolicy::all()),
    ];
    let levelling = prop::sample::select(WearPolicy::all());
    let pacing = prop::sample::select(PacingPolicy::all());
    // Idle soon and worn soon, so that a short test comes to it.
    let background = (any::<bool>(), 1..2_000u64, 1..=90u32);
    let wear_threshold = prop_oneof![3 => 1..=2u32, 1 => Just(100)];
    (
        (victim, 1..8u32),
        levelling,
        wear_threshold,
        background,
        any::<bool>(),
        (pacing, 64..4096u64),
    )
        .prop_map(
            |(
                (victim, window),
                wear_levelling,
                wear_threshold,
                (background, idle_us, free),
                relayout,
                (pacing, burst_kib),
            )| Gc {
                victim,
                window,
                background,
                background_idle: Duration::from_us(idle_us),
                background_free_percent: free,
                relayout,
                wear_levelling,
                wear_threshold,
                pacing,
                burst_size: ByteSize(burst_kib << 10),
                throttle_iops: burst_kib as u32,
                ..Gc::default()
            },
        )
}

fn kind() -> impl Strategy<Value = Kind> {
    let geometry = (1..=4usize, 1..=3u32, 1..=3u32, 1..=2u32);
    let allocation = prop_oneof![2 => Just(Allocation::Dynamic), 1 => Just(Allocation::Static)];
    let order = prop_oneof![2 => Just(ProgramOrder::OneShot), 1 => Just(ProgramOrder::Shadow)];
    let flags = any::<(bool, bool, bool)>();
    let subpages = (0..=2u32).prop_map(|shift| 1 << shift);
    let streams = 0..=2u32;
    (
        geometry,
        subpages,
        flags,
        allocation,
        order,
        gc(),
        sets(),
        streams,
    )
        .prop_map(
            |(
                geometry,
                subpages,
                (melds, cheapest, copyback),
                allocation,
                program_order,
                gc,
                layout,
                streams,
            )| {
                let (pages_per_wordline, channels, dies, planes) = geometry;
                let melds = melds && pages_per_wordline > 1;
                // Two sets or more, where there are.
                let (channels, dies) = match layout {
                    SetLayout::Baseline => (channels, dies),
                    SetLayout::Vertical => (channels.max(2), dies),
                    SetLayout::Horizontal | SetLayout::Mixed => (channels, dies.max(2)),
                };
                let (count, channel_groups) = match layout {
                    SetLayout::Baseline => (1, 1),
                    SetLayout::Vertical => (channels, 1),
                    SetLayout::Horizontal => (dies, 1),
                    SetLayout::Mixed => (channels * dies, channels),
                };
                Kind {
                    pages_per_wordline,
                    subpages: match allocation {
                        Allocation::Static => 1,
                        _ => subpages,
                    },
                    channels,
                    dies,
                    planes,
                    melds,
                    cheapest,
                    allocation,
                    program_order,
                    copyback: copyback && program_order == ProgramOrder::OneShot,
                    gc: Gc {
                        relayout: gc.relayout && melds && allocation == Allocation::Dynamic,
                        ..gc
                    },
                    sets: Sets {
                        layout,
                        count,
                        channel_groups,
                        // Half of the devices share the buffer, and a DRAM that limits.
                        write_buffer: match planes {
                            1 => BufferScope::Local,
                            _ => BufferScope::Global,
                        },
                    },
                    streams,
                }
            },
        )
}

pub(super) fn profile() -> impl Strategy<Value = Profile> {
    kind().prop_map(|kind| {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        let pages = kind.pages_per_wordline;
        profile.timing.read = [30, 58, 78, 107][..pages]
            .iter()
            .map(|&us| Duration::from_us(us))
            .collect();
        profile.timing.melded_read = kind.melds.then_some(Duration::from_us(150));
        profile.timing.program_pages = Some(vec![Duration::from_us(500); pages]);
        profile.geometry.channels = kind.channels;
        profile.geometry.dies_per_channel = kind.dies;
        profile.geometry.planes_per_die = kind.planes;
        let units = kind.channels * kind.dies * kind.planes;
        let subpages = kind.subpages as usize;
        profile.geometry.page_size = ByteSize(subpages as u64 * 4096);
        profile.ftl.mapping_unit = ByteSize(if subpages > 1 { 4096 } else { 0 });
        let per_group = u64::from(units) * (pages * subpages) as u64 * 4;
        let spare = 8 + GROUPS_PER_STREAM * kind.streams;
        let blocks = (600 / per_group).max(1) as u32 + spare;
        profile.geometry.wordlines_per_block = 4;
        profile.geometry.blocks_per_plane = blocks;
        profile.ftl.over_provisioning_percent = match kind.streams {
            0 => 1,
            _ => (spare - 1) * 100 / blocks,
        };
        profile.ftl.open_runs = 3;
        let placements = PlacementPolicy::all();
        profile.ftl.placement = placements[kind.gc.window as usize / 3 % placements.len()];
        profile.ftl.allocation = kind.allocation;
        profile.ftl.program_order = kind.program_order;
        profile.ftl.melded_partial_read = match kind.cheapest {
            true => MeldedPartialRead::Cheapest,
            false => MeldedPartialRead::WholeWordline,
        };
        profile.commands.copyback = kind.copyback;
        // Little more than each set needs.
        let open = (units / kind.sets.count) as usize * pages * (pages + 1).max(4) / 2;
        let buffer = (open + 4 * pages + 8) * subpages;
        let buffer = buffer.max(80) * kind.sets.count as usize;
        profile.controller.write_buffer = ByteSize(buffer as u64 * 4096);
        // Large reads of half of the devices are divided, also otherwise beside a second command.
        let (segment, depth) = if kind.cheapest { (3 * 4096, 2) } else { (0, 0) };
        profile.controller.read_segment = ByteSize(segment);
        profile.controller.halved_read_depth = depth;
        profile.controller.reads_before_program = 4;
        if profile.gc.throttle_iops % 3 == 0 {
            profile.controller.flush = Flush::None;
        }
        // A page of few entries, so that writes wait for room.
        profile.ftl.journal = match (kind.program_order, kind.gc.window % 3) {
            (ProgramOrder::OneShot, 1) => Journaling::OnDemand,
            (ProgramOrder::OneShot, 2) => Journaling::Background,
            _ => Journaling::Off,
        };
        profile.ftl.journal_entry = ByteSize(64);
        profile.ftl.journal_buffer = ByteSize(u64::from(kind.sets.count) * 4096);
        profile.gc = kind.gc;
        if kind.sets.write_buffer == BufferScope::Global {
            profile.controller.dram_rate = DataRate(500_000_000);
        }
        profile.sets = kind.sets;
        // Eight translation pages of a namespace, and a cache of a few lines.
        let map_line = match profile.gc.throttle_iops % 8 {
            0 => Some(0),
            1 => Some(1),
            2 => Some(4),
            _ => None,
        };
        if let Some(line) = map_line.filter(|_| !profile.commands.copyback) {
            profile.ftl.map = MapKind::Cached;
            profile.ftl.map_entry = ByteSize(64);
            profile.ftl.map_line = line;
            profile.ftl.map_update = match profile.gc.window % 2 {
                0 => MapUpdate::Batched,
                _ => MapUpdate::Lazy,
            };
            let line_bytes = profile.map_line_entries() * 64 + 4;
            let lines = u64::from(4 + kind.streams * 8) * u64::from(profile.sets.count);
            profile.ftl.map_cache = ByteSize((lines * line_bytes).max(1 << 10));
            profile.geometry.blocks_per_plane += profile.map_blocks_per_plane();
        }
        profile
    })
}
