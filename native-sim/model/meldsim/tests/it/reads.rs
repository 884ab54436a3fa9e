//! Reads: closed forms on other geometries, melded reads of parts, coalescing, priorities, busy times.

use crate::common::{
    SEQUENTIAL, burst, burst_mib_s, device, drain, published_profile, small_profile,
};
use meldsim::profile::{ByteSize, MeldedPartialRead, SetLayout, TransferRate};
use meldsim::{
    Command, Device, Directive, Duration, Instant, Location, NamespaceId, Pattern, Profile,
};

fn with(channels: u32, dies: u32, page_bytes: u64, mts: u64, bits: u32) -> Profile {
    let mut profile = published_profile();
    profile.geometry.channels = channels;
    profile.geometry.dies_per_channel = dies;
    profile.geometry.page_size = ByteSize(page_bytes);
    profile.bus.rate = TransferRate(mts);
    profile.bus.width_bits = bits;
    profile
}

/// Steady throughput of a channel by arithmetic, in MiB/s for the device: the bus or its dies,
/// whichever is slower.
fn closed_form(profile: &Profile, melded: bool) -> f64 {
    let byte_us = 8.0 / (profile.bus.rate.0 as f64 * f64::from(profile.bus.width_bits));
    let page_bytes = profile.geometry.page_size.0 as f64;
    let page_us = page_bytes * 4625.0 / 4096.0 * byte_us;
    let command_us = 10.0 * byte_us;
    let pages = profile.timing.read.len() as f64;
    let senses: f64 = profile
        .timing
        .read
        .iter()
        .map(|time| time.as_secs_f64() * 1e6)
        .sum();
    // Per wordline: what the bus carries, and how long the die is busy.
    let (commands, sense) = match melded {
        true => (1.0, profile.timing.melded_read.unwrap().as_secs_f64() * 1e6),
        false => (pages, senses),
    };
    let bus_us = commands * command_us + pages * page_us;
    let die_us = bus_us + sense;
    let wordline_us = bus_us.max(die_us / f64::from(profile.geometry.dies_per_channel));
    let wordline_mib = pages * page_bytes / f64::from(1 << 20);
    f64::from(profile.geometry.channels) * wordline_mib / (wordline_us * 1e-6)
}

/// 32 pages on 32 dies of 8 channels. A segment begins when the last one has arrived.
#[test]
fn segments_of_a_read_are_done_one_after_the_other() {
    let mut profile = published_profile();
    profile.timing.read = vec![Duration::from_us(58); 3];
    let mut latency = |pages: u64, segment_pages: u64| {
        profile.controller.read_segment = ByteSize(segment_pages * 4096);
        burst(&profile, pages * 4096, Directive::NONE)
    };
    let (page, half, whole) = (latency(1, 0), latency(16, 0), latency(32, 0));
    assert!(whole < half * 2);
    assert_eq!(latency(32, 16), half * 2);
    assert_eq!(latency(32, 1), page * 32);
    assert_eq!(latency(17, 16), half + page);
    assert_eq!(latency(32, 32), whole);
    assert_eq!(latency(16, 32), half);
}

/// 64 dies: each of the reads has dies of its own.
#[test]
fn a_read_of_a_segment_is_halved_beside_few_others() {
    let latencies = |depth: u32, reads: u64| {
        let mut profile = published_profile();
        profile.timing.read = vec![Duration::from_us(58); 3];
        profile.controller.read_segment = ByteSize(16 * 4096);
        profile.controller.halved_read_depth = depth;
        let (mut device, nsid) = device(&profile);
        device.preload(nsid, 0, 64, Directive::NONE).unwrap();
        for read in 0..reads {
            device
                .submit(&Command::read(nsid, read * 16, 16, read))
                .unwrap();
        }
        let mut latencies = vec![Duration::ZERO; reads as usize];
        while device.run_until_completion() {
            while let Some(completion) = device.pop_completion() {
                latencies[completion.tag as usize] = completion.latency();
            }
        }
        latencies
    };
    let (whole, halved) = (latencies(0, 2), latencies(2, 2));
    assert_eq!(whole[0], halved[0], "it was alone when it began");
    assert!(
        halved[1] > whole[1] + Duration::from_us(50),
        "{halved:?} {whole:?}"
    );
    assert_eq!(latencies(2, 1), latencies(0, 1));
    // The third begins under load again.
    let (three, unhalved) = (latencies(2, 3), latencies(0, 3));
    assert!(three[1] > unhalved[1] + Duration::from_us(50));
    assert!(three[2] <= unhalved[2]);
}

/// Pages of any segment may be in the write buffer or nowhere.
#[test]
fn segments_need_not_be_on_flash() {
    let mut profile = small_profile();
    profile.controller.read_segment = ByteSize(2 * 4096);
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 4, 3, Directive::NONE).unwrap();
    device
        .submit(&Command::write(nsid, 2, 1, Directive::NONE, 0))
        .unwrap();
    device.submit(&Command::read(nsid, 0, 9, 1)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    assert_eq!(
        (
            stats.page_reads,
            stats.buffer_page_reads,
            stats.unmapped_page_reads
        ),
        (3, 1, 5)
    );
}

/// Every bus and page size, on devices of the two presets' shapes. The closed form knows no waiting
/// for the bus and no end of the burst, so it is an upper bound that is nearly reached, except
/// where bus and dies are about equally busy.
#[test]
fn other_geometries_stay_just_below_the_closed_form() {
    for (channels, dies) in [(8, 8), (16, 4), (4, 16), (3, 5)] {
        for page_bytes in [2048, 4096, 8192, 16384] {
            for (mts, bits) in [(400, 8), (800, 8), (1600, 8), (1600, 16)] {
                let profile = with(channels, dies, page_bytes, mts, bits);
                for (directive, melded) in [(Directive::NONE, false), (SEQUENTIAL, true)] {
                    let bound = closed_form(&profile, melded);
                    let share = burst_mib_s(&profile, directive) / bound;
                    let cell = format!("{channels}x{dies} {page_bytes} {mts}x{bits} {melded}");
                    assert!(share < 1.001, "{cell}: {share}");
                    assert!(share > 0.80, "{cell}: {share}");
                }
            }
        }
    }
}

/// Dies of a channel overlap: on a bus fast enough, N dies are N times as fast as one.
#[test]
fn dies_and_channels_scale() {
    let base = burst_mib_s(&with(1, 1, 4096, 100_000, 64), Directive::NONE);
    for (channels, dies) in [(1, 2), (1, 4), (1, 8), (2, 1), (8, 1), (4, 4)] {
        let profile = with(channels, dies, 4096, 100_000, 64);
        for directive in [Directive::NONE, SEQUENTIAL] {
            let one = burst_mib_s(&with(1, 1, 4096, 100_000, 64), directive);
            let ratio = burst_mib_s(&profile, directive) / one / f64::from(channels * dies);
            assert!((ratio - 1.0).abs() < 0.01, "{channels}x{dies}: {ratio}");
        }
    }
    assert!(base > 0.0);
}

#[test]
fn cells_of_one_to_four_pages() {
    let times = [40, 58, 78, 107].map(Duration::from_us);
    for pages in 1..=4 {
        let mut profile = published_profile();
        profile.timing.read = times[..pages].to_vec();
        profile.timing.melded_read = (pages > 1).then_some(Duration::from_us(100));
        for directive in [Directive::NONE, SEQUENTIAL] {
            let rate = burst_mib_s(&profile, directive);
            let melded = directive == SEQUENTIAL && pages > 1;
            let share = rate / closed_form(&profile, melded);
            assert!(
                (0.8..1.001).contains(&share),
                "{pages} {directive:?}: {share}"
            );
        }
    }
}

#[test]
fn a_device_that_cannot_meld_lays_hinted_data_as_all_other() {
    let mut profile = published_profile();
    profile.timing.melded_read = None;
    assert_eq!(
        burst(&profile, 1 << 20, SEQUENTIAL),
        burst(&profile, 1 << 20, Directive::NONE)
    );
}

#[test]
fn a_read_of_part_of_a_wordline_is_never_slower_than_its_pages_one_by_one() {
    let mut profile = published_profile();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let page = Duration::from_ps(12_500 + 5_781_250);
    let singles: Vec<Duration> = profile
        .timing
        .read
        .iter()
        .map(|&sense| sense + page)
        .collect();
    let melded = Duration::from_us(166) + Duration::from_ps(12_500 + 3 * 5_781_250);
    for first in 0..3u64 {
        for end in first + 1..=3 {
            let (mut device, nsid) = device(&profile);
            device.preload(nsid, 0, 3, SEQUENTIAL).unwrap();
            device
                .submit(&Command::read(nsid, first, (end - first) as u32, 0))
                .unwrap();
            let one_by_one: Duration = singles[first as usize..end as usize].iter().copied().sum();
            assert_eq!(drain(&mut device), one_by_one.min(melded), "{first}..{end}");
        }
    }
}

/// The latency of everything when two parts of one wordline are read by two commands.
fn split_read(profile: &Profile, between: Duration) -> (Duration, u64, u64) {
    let (mut device, nsid) = device(profile);
    device.preload(nsid, 0, 3, SEQUENTIAL).unwrap();
    device.submit(&Command::read(nsid, 0, 1, 1)).unwrap();
    let later = device.now() + between;
    device.advance_to(later);
    device.submit(&Command::read(nsid, 1, 2, 2)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    (
        device.now().since_start(),
        stats.melded_reads,
        stats.page_reads,
    )
}

#[test]
fn commands_that_share_a_wordline_are_coalesced() {
    let mut profile = published_profile();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let (end, melded_reads, page_reads) = split_read(&profile, Duration::from_ps(1));
    // One picosecond later the first command is on its way: LSB alone, then CSB and MSB melded.
    assert_eq!((melded_reads, page_reads), (1, 1));
    assert!(end > Duration::from_us(240));

    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 3, SEQUENTIAL).unwrap();
    for (slba, nlb) in [(0, 1), (1, 2)] {
        device.submit(&Command::read(nsid, slba, nlb, 0)).unwrap();
    }
    // At one instant: one melded read serves both.
    assert_eq!(drain(&mut device).as_us(), 183);
    let stats = device.stats();
    assert_eq!(
        (
            stats.melded_reads,
            stats.melded_pages_read,
            stats.page_reads
        ),
        (1, 3, 0)
    );
}

/// A reader in commands of 1 MiB, which is no multiple of a wordline, with all of them queued at
/// once, gets the throughput of one large command.
#[test]
fn a_stream_of_unaligned_commands_loses_nothing() {
    let mut profile = published_profile();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 32768, SEQUENTIAL).unwrap();
    for command in 0..128 {
        device
            .submit(&Command::read(nsid, command * 256, 256, command))
            .unwrap();
    }
    drain(&mut device);
    let one = burst(&profile, 128 << 20, SEQUENTIAL);
    let slower = device.now().since_start().as_secs_f64() / one.as_secs_f64() - 1.0;
    assert!(slower.abs() < 0.001, "{slower}");
    assert_eq!(device.stats().melded_reads, 32768 / 3);
}

#[test]
fn melded_data_is_never_slower_to_read_in_small_random_commands_than_by_much() {
    let mut profile = published_profile();
    profile.ftl.melded_partial_read = MeldedPartialRead::Cheapest;
    let random = |directive| {
        let (mut device, nsid) = device(&profile);
        device.preload(nsid, 0, 1 << 16, directive).unwrap();
        let mut lba = 1u64;
        for tag in 0..4000 {
            lba = lba * 25_214_903_917 % 65_521;
            device.submit(&Command::read(nsid, lba, 1, tag)).unwrap();
            while device.outstanding() >= 64 {
                device.run_until_completion();
                while device.pop_completion().is_some() {}
            }
        }
        drain(&mut device);
        device.now().since_start().as_secs_f64()
    };
    let ratio = random(SEQUENTIAL) / random(Directive::NONE);
    assert!((0.95..1.05).contains(&ratio), "{ratio}");
}

/// Writes one wordline and keeps `queued` reads of a page of the same die queued; returns when
/// the flush was done and how many reads had completed before.
fn program_among_reads(profile: &Profile, queued: u64) -> (Duration, u64) {
    let (mut device, nsid) = device(profile);
    device.preload(nsid, 0, 3, Directive::NONE).unwrap();
    for tag in 0..queued {
        device.submit(&Command::read(nsid, 0, 1, tag)).unwrap();
    }
    device
        .submit(&Command::write(nsid, 1000, 3, SEQUENTIAL, 10_000))
        .unwrap();
    device.submit(&Command::flush(nsid, 10_001)).unwrap();
    let mut reads = 0;
    while device.run_until_completion() {
        let completion = device.pop_completion().unwrap();
        match completion.tag {
            10_000 => {}
            10_001 => return (completion.completed.since_start(), reads),
            _ => reads += 1,
        }
    }
    panic!("the flush never completed");
}

#[test]
fn reads_pass_a_waiting_program_but_not_for_ever() {
    let mut profile = published_profile();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.controller.reads_before_program = 8;
    // The program came last; all that were queued go before it, up to the limit.
    assert_eq!(program_among_reads(&profile, 5).1, 5);
    assert_eq!(program_among_reads(&profile, 100).1, 8);
    profile.controller.reads_before_program = 1;
    assert_eq!(program_among_reads(&profile, 100).1, 1);
}

#[test]
fn a_read_waits_for_a_program_that_has_begun() {
    let mut profile = published_profile();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 3, Directive::NONE).unwrap();
    device
        .submit(&Command::write(nsid, 1000, 3, SEQUENTIAL, 1))
        .unwrap();
    device.advance_to(Instant::START + Duration::from_us(100));
    device.submit(&Command::read(nsid, 0, 1, 2)).unwrap();
    assert!(drain(&mut device) > profile.timing.program - Duration::from_us(100));
}

/// How often reads of the first pages of a namespace, begun while these pages are written, suspend a program.
fn suspends_beside(
    device: &mut Device,
    writes: impl Iterator<Item = (NamespaceId, u64)>,
    nsid: NamespaceId,
) -> u64 {
    device.preload(nsid, 0, 64, Directive::NONE).unwrap();
    for (to, page) in writes {
        let write = Command::write(to, page, 1, Directive::NONE, 1);
        device.submit(&write).unwrap();
    }
    device.advance_to(Instant::START + Duration::from_us(300));
    for page in 0..64 {
        device.submit(&Command::read(nsid, page, 1, 2)).unwrap();
    }
    drain(device);
    device.stats().program_suspends
}

#[test]
fn a_read_beside_writes_that_wait_lets_programs_end_if_the_profile_says_so() {
    // A read beside as many writes as the buffer holds twice, or half; how often it suspended a program.
    let suspends = |under_pressure: bool, halves: u64| {
        let mut profile = small_profile();
        profile.commands.suspend_program = true;
        profile.commands.suspend_under_pressure = under_pressure;
        let (mut device, nsid) = device(&profile);
        let pages = halves * profile.controller.write_buffer.0 / profile.mapping_unit().0 / 2;
        suspends_beside(&mut device, (0..pages).map(|page| (nsid, 64 + page)), nsid)
    };
    assert!(suspends(true, 4) > 0);
    assert!(suspends(true, 1) > 0);
    assert_eq!(suspends(false, 4), 0);
    assert_eq!(suspends(false, 1), suspends(true, 1));
}

#[test]
fn writes_that_wait_hold_no_dies_of_another_set() {
    let suspends = |writes_to_the_other: u64| {
        let mut profile = small_profile();
        profile.geometry.blocks_per_plane = 60;
        profile.commands.suspend_program = true;
        profile.commands.suspend_under_pressure = false;
        profile.sets.layout = SetLayout::Vertical;
        profile.sets.count = 2;
        let mut device = Device::new(&profile).unwrap();
        let bytes = device.set_capacity_bytes(0) / 2;
        let [other, nsid] = [0, 1].map(|set| device.create_namespace_in(set, bytes).unwrap());
        let buffered = profile.controller.write_buffer.0 / profile.mapping_unit().0;
        let writes = (0..writes_to_the_other * buffered).map(|page| (other, page));
        // Of its own it writes as much as its part of the buffer holds.
        let writes = writes.chain((64..64 + buffered / 4).map(|page| (nsid, page)));
        suspends_beside(&mut device, writes, nsid)
    };
    assert!(suspends(0) > 0);
    assert_eq!(suspends(2), suspends(0));
}

#[test]
fn two_readers_contend() {
    let profile = published_profile();
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 65536, SEQUENTIAL).unwrap();
    for tag in 0..2 {
        device
            .submit(&Command::read(nsid, tag * 32768, 32768, tag))
            .unwrap();
    }
    let both = drain(&mut device).as_secs_f64();
    let one = burst(&profile, 128 << 20, SEQUENTIAL).as_secs_f64();
    assert!((both / one - 2.0).abs() < 0.02, "{}", both / one);
}

fn completions(profile: &Profile) -> (Vec<(u64, Duration)>, meldsim::Stats) {
    let (mut device, nsid): (Device, NamespaceId) = device(profile);
    let mut seed = 7u64;
    let mut order = Vec::new();
    for tag in 0..3000 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let (slba, nlb) = ((seed >> 40) % 400, (seed >> 20) as u32 % 24 + 1);
        let pattern = if seed >> 63 == 0 {
            Pattern::Sequential
        } else {
            Pattern::None
        };
        let command = match (seed >> 59) & 7 {
            0..=2 => Command::write(nsid, slba, nlb, Directive::read_pattern(pattern), tag),
            3 => Command::deallocate(nsid, slba, nlb, tag),
            4 if tag % 16 == 0 => Command::flush(nsid, tag),
            _ => Command::read(nsid, slba, nlb, tag),
        };
        device.submit(&command).unwrap();
        while device.outstanding() >= 16 {
            device.run_until_completion();
            while let Some(done) = device.pop_completion() {
                order.push((done.tag, done.completed.since_start()));
            }
        }
    }
    while device.run_until_completion() {
        while let Some(done) = device.pop_completion() {
            order.push((done.tag, done.completed.since_start()));
        }
    }
    (order, device.stats())
}

#[test]
fn the_same_commands_complete_in_the_same_order_at_the_same_times() {
    let profile = small_profile();
    let (order, stats) = completions(&profile);
    assert_eq!(order.len(), 3000);
    assert!(
        stats.gc_pages_moved > 0 && stats.erases > 0,
        "the device was churned: {stats:?}"
    );
    assert_eq!(completions(&profile), (order, stats));
}

#[test]
fn only_the_die_that_reads_and_its_channel_are_busy() {
    let mut device = Device::new(&Profile::builtin("melded-tlc-8x8").unwrap()).unwrap();
    let nsid = device.create_namespace(1 << 30).unwrap();
    device.preload(nsid, 0, 1000, Directive::NONE).unwrap();
    let Location::Flash { channel, die, .. } = device.locate(nsid, 77).unwrap() else {
        panic!("it was preloaded");
    };
    device.submit(&Command::read(nsid, 77, 1, 0)).unwrap();
    let soon = Instant::START + Duration::from_us(1);
    assert!(!device.run_until_completion_or(soon));
    assert_eq!(device.now(), soon);
    assert!(device.run_until_completion_or(Instant::MAX));

    let (busy, stats) = (device.utilisation(), device.stats());
    assert_eq!((busy.channels_busy.len(), busy.dies_busy.len()), (8, 64));
    let sum = |times: &[Duration]| times.iter().copied().sum::<Duration>().as_ps();
    assert_eq!(sum(&busy.channels_busy), stats.channel_busy_ps);
    assert_eq!(sum(&busy.dies_busy), stats.die_busy_ps);
    assert_eq!(
        busy.channels_busy[channel as usize].as_ps(),
        stats.channel_busy_ps
    );
    let number = (channel * 8 + die) as usize;
    assert_eq!(busy.dies_busy[number].as_ps(), stats.die_busy_ps);
    assert!(stats.die_busy_ps > 0);
}

/// Seven thousand reads of a second each wait for one die: their latencies are 284 days in all, and 64 bits of
/// picoseconds hold 213.
#[test]
fn what_latencies_grow_by_is_known_beyond_64_bits() {
    let mut profile = small_profile();
    profile.geometry.channels = 1;
    profile.geometry.dies_per_channel = 1;
    profile.timing.read = vec![Duration::from_ms(1_000); 3];
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 3, Directive::NONE).unwrap();
    let (mut before, mut grown, mut total) = (device.stats(), 0, 0);
    for _ in 0..7_000 {
        device.submit(&Command::read(nsid, 0, 1, 0)).unwrap();
    }
    while device.run_until_completion() {
        let now = device.stats();
        grown += u128::from(now.since(&before).read_latency_ps);
        before = now;
        while let Some(completion) = device.pop_completion() {
            total += u128::from(completion.latency().as_ps());
        }
    }
    assert!(total > u64::MAX.into(), "{total}");
    assert_eq!(grown, total);
}
