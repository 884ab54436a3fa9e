//! Writes: the buffer, the layouts, flush and its padding, capacity.

use crate::common::{SEQUENTIAL, burst, device, drain, published_profile, small_profile};
use crate::profiles::NEEDS_FIRMWARE;
use meldsim::device::Programmed;
use meldsim::profile::{Allocation, ByteSize, Flush, ProgramOrder};
use meldsim::{
    Command, Device, DeviceError, Directive, Duration, Location, NamespaceId, Pattern,
    Precondition, Profile, Status,
};

fn write_all(device: &mut Device, nsid: NamespaceId, slba: u64, nlb: u32, directive: Directive) {
    device
        .submit(&Command::write(nsid, slba, nlb, directive, 0))
        .unwrap();
    device.submit(&Command::flush(nsid, 1)).unwrap();
    drain(device);
}

#[test]
fn written_data_reads_like_preloaded_data() {
    let profile = published_profile();
    for directive in [Directive::NONE, SEQUENTIAL] {
        let (mut device, nsid) = device(&profile);
        write_all(&mut device, nsid, 0, 4096, directive);
        device.submit(&Command::read(nsid, 0, 4096, 2)).unwrap();
        assert_eq!(drain(&mut device), burst(&profile, 16 << 20, directive));
    }
}

/// Pieces of data, one after the other, each flushed or long since in place.
#[test]
fn preloaded_pages_lie_where_written_ones_do() {
    let pieces = [(0, 5), (1000, 700), (3, 64), (2001, 9), (2100, 333)];
    for (allocation, program_order, directive) in [
        (Allocation::Dynamic, ProgramOrder::OneShot, Directive::NONE),
        (Allocation::Dynamic, ProgramOrder::OneShot, SEQUENTIAL),
        (Allocation::Dynamic, ProgramOrder::Shadow, Directive::NONE),
        (Allocation::Static, ProgramOrder::OneShot, Directive::NONE),
        (Allocation::Static, ProgramOrder::OneShot, SEQUENTIAL),
        (Allocation::Static, ProgramOrder::Shadow, Directive::NONE),
    ] {
        let mut profile = small_profile();
        profile.geometry.blocks_per_plane = 60;
        profile.timing.program_pages = Some(vec![Duration::from_us(500); 3]);
        profile.ftl.allocation = allocation;
        profile.ftl.program_order = program_order;
        let (mut written, nsid) = device(&profile);
        let (mut preloaded, _) = device(&profile);
        for (slba, nlb) in pieces {
            write_all(&mut written, nsid, slba, nlb, directive);
            let preload = preloaded.preload(nsid, slba, u64::from(nlb), directive);
            preload.unwrap();
        }
        for lba in pieces
            .iter()
            .flat_map(|&(slba, nlb)| slba..slba + u64::from(nlb))
        {
            assert_eq!(
                written.locate(nsid, lba),
                preloaded.locate(nsid, lba),
                "{allocation:?} {program_order:?} {directive:?}: {lba}"
            );
        }
        let counters = |device: &Device| {
            let stats = device.stats();
            (stats.mapped_pages, stats.free_blocks)
        };
        assert_eq!(counters(&written), counters(&preloaded));
        let stats = preloaded.stats();
        assert_eq!(
            (stats.programs, stats.padded_pages),
            (0, 0),
            "before the counting"
        );
    }
}

/// As a trace's reads of data that it never wrote: each die programs as much as any other.
#[test]
fn what_is_placed_while_the_host_writes_leaves_it_all_dies() {
    let mut profile = published_profile();
    profile.controller.write_buffer = ByteSize(4 << 20);
    let (mut device, nsid) = device(&profile);
    const STRIPE: u64 = 192;
    for page in 0..20 * STRIPE {
        let write = Command::write(nsid, page, 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        if page % 7 == 0 {
            let chunk = (1 << 20) + page / 7 * STRIPE;
            device
                .preload(nsid, chunk, STRIPE, Directive::NONE)
                .unwrap();
        }
        drain(&mut device);
    }
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(&mut device);
    let mut pages = std::collections::BTreeMap::new();
    for page in 0..20 * STRIPE {
        match device.locate(nsid, page).unwrap() {
            Location::Flash { channel, die, .. } => *pages.entry((channel, die)).or_insert(0) += 1,
            other => panic!("{page} is {other:?}"),
        }
    }
    assert!(
        pages.len() == 64 && pages.values().all(|&of_die| of_die == 60),
        "{pages:?}"
    );
}

#[test]
fn hinted_pages_share_wordlines_and_unhinted_ones_do_not() {
    let (mut device, nsid) = device(&published_profile());
    write_all(&mut device, nsid, 0, 768, SEQUENTIAL);
    write_all(&mut device, nsid, 1 << 20, 768, Directive::NONE);
    let locate = |lba| match device.locate(nsid, lba).unwrap() {
        Location::Flash {
            channel,
            die,
            block,
            wordline,
            page,
            ..
        } => (channel, die, block, wordline, page),
        other => panic!("{lba} is {other:?}"),
    };
    for page in 0..768 {
        let q = page / 3;
        let (channel, die, _, wordline, index) = locate(u64::from(page));
        assert_eq!((channel, die), (q % 8, q / 8 % 8));
        assert_eq!((wordline, index), (q / 64, page % 3));
        let (channel, die, _, wordline, index) = locate((1 << 20) + u64::from(page));
        assert_eq!((channel, die), (page % 8, page / 8 % 8));
        assert_eq!((wordline, index), (page / 192, page / 64 % 3));
    }
    let stats = device.stats();
    assert_eq!((stats.mapped_pages, stats.melded_mapped_pages), (1536, 768));
    assert_eq!(
        (stats.programs, stats.melded_wordlines_programmed),
        (512, 256)
    );
    assert_eq!((stats.host_pages_programmed, stats.padded_pages), (1536, 0));
}

#[test]
fn writers_that_interleave_each_keep_their_wordlines() {
    let (mut device, nsid) = device(&published_profile());
    let blocks: u64 = 5;
    for chunk in 0..8 {
        for block in 0..blocks {
            // 1 MiB is no multiple of a wordline.
            let slba = (block << 16) + chunk * 256;
            device
                .submit(&Command::write(nsid, slba, 256, SEQUENTIAL, 0))
                .unwrap();
        }
    }
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(&mut device);
    let mut shared = 0;
    for block in 0..blocks {
        for q in 0..2048 / 3 {
            let place = |page| match device.locate(nsid, (block << 16) + 3 * q + page).unwrap() {
                Location::Flash {
                    channel,
                    die,
                    block,
                    wordline,
                    ..
                } => (channel, die, block, wordline),
                other => panic!("{other:?}"),
            };
            assert!(
                place(0) == place(1) && place(1) == place(2),
                "block {block} wordline {q}"
            );
            shared += 1;
        }
    }
    assert_eq!(shared, 5 * 682);
    // Two pages are left of each run: packed, and the last wordline padded.
    let stats = device.stats();
    assert_eq!(stats.host_pages_programmed, 5 * 2048);
    assert_eq!(stats.padded_pages, 2);
}

#[test]
fn a_write_completes_when_buffered_and_a_flush_when_programmed() {
    let profile = published_profile();
    let (mut device, nsid) = device(&profile);
    device
        .submit(&Command::write(nsid, 0, 3, SEQUENTIAL, 7))
        .unwrap();
    device.submit(&Command::flush(nsid, 8)).unwrap();
    assert!(device.run_until_completion());
    let write = device.pop_completion().unwrap();
    assert_eq!(
        (write.tag, write.latency()),
        (7, profile.controller.latency)
    );
    assert!(device.run_until_completion());
    let flush = device.pop_completion().unwrap();
    // The command and three pages cross the bus, then the wordline is programmed in one shot.
    let transfer = Duration::from_ps(12_500 + 3 * 5_781_250);
    assert_eq!(
        (flush.tag, flush.latency()),
        (8, transfer + profile.timing.program)
    );
    // Nothing is left to wait for.
    device.submit(&Command::flush(nsid, 9)).unwrap();
    assert_eq!(drain(&mut device), profile.controller.latency);
}

#[test]
fn padding_is_counted() {
    let (mut device, nsid) = device(&published_profile());
    write_all(&mut device, nsid, 0, 4, SEQUENTIAL);
    assert_eq!(device.stats().padded_pages, 2);
    // A single page of the normal layout takes a wordline of its own; 65 take the 63 that are left
    // of the row.
    write_all(&mut device, nsid, 1000, 1, Directive::NONE);
    assert_eq!(device.stats().padded_pages, 4);
    write_all(&mut device, nsid, 2000, 65, Directive::NONE);
    assert_eq!(device.stats().padded_pages, 4 + 63 * 3 - 65);
    // Nothing is open: a flush pads nothing.
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(&mut device);
    assert_eq!(device.stats().padded_pages, 128);
}

#[test]
fn buffered_pages_are_read_from_dram_and_unmapped_ones_from_nowhere() {
    let profile = published_profile();
    let (mut device, nsid) = device(&profile);
    device
        .submit(&Command::write(nsid, 0, 10, Directive::NONE, 0))
        .unwrap();
    drain(&mut device);
    assert_eq!(device.locate(nsid, 0).unwrap(), Location::Buffered);
    device.submit(&Command::read(nsid, 0, 16, 0)).unwrap();
    assert_eq!(drain(&mut device), profile.controller.latency);
    let stats = device.stats();
    assert_eq!(
        (stats.buffer_page_reads, stats.unmapped_page_reads),
        (10, 6)
    );
    assert_eq!((stats.page_reads, stats.melded_reads), (0, 0));
}

#[test]
fn a_full_buffer_blocks_writes_until_programs_free_it() {
    let mut profile = published_profile();
    profile.controller.write_buffer = ByteSize(4 << 20);
    let (mut device, nsid) = device(&profile);
    // 16 MiB through a buffer of 4 MiB: three quarters have to be programmed first.
    device
        .submit(&Command::write(nsid, 0, 4096, SEQUENTIAL, 0))
        .unwrap();
    let latency = {
        assert!(device.run_until_completion());
        device.pop_completion().unwrap().latency()
    };
    // 1024 wordlines remain to be freed of 64 dies: at least 16 programs one after the other.
    assert!(latency > profile.timing.program * 15, "{latency}");
    drain(&mut device);
    device
        .submit(&Command::write(nsid, 0, 256, SEQUENTIAL, 0))
        .unwrap();
    assert!(device.run_until_completion());
    assert_eq!(
        device.pop_completion().unwrap().latency(),
        profile.controller.latency
    );
}

#[test]
fn a_partial_page_write_reads_the_rest() {
    let mut profile = published_profile();
    profile.controller.lba_size = ByteSize(512);
    let (mut device, nsid) = device(&profile);
    device.preload(nsid, 0, 16, Directive::NONE).unwrap();
    // Half of the first page, and half of a page that was never written.
    device
        .submit(&Command::write(nsid, 4, 4, Directive::NONE, 0))
        .unwrap();
    device
        .submit(&Command::write(nsid, 1000, 4, Directive::NONE, 0))
        .unwrap();
    drain(&mut device);
    let stats = device.stats();
    assert_eq!((stats.page_reads, stats.merge_pages_read), (1, 1));
    assert_eq!((stats.host_pages_read, stats.mapped_pages), (0, 3));
    // Deallocating part of a page leaves it.
    device.submit(&Command::deallocate(nsid, 4, 12, 0)).unwrap();
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, 2);
    assert_eq!(device.locate(nsid, 8).unwrap(), Location::Unmapped);
}

#[test]
fn pages_smaller_than_a_logical_block() {
    let mut profile = published_profile();
    profile.geometry.page_size = ByteSize(2048);
    let (mut device, nsid) = device(&profile);
    write_all(&mut device, nsid, 0, 3, SEQUENTIAL);
    assert_eq!(device.stats().mapped_pages, 6);
    assert_eq!(device.stats().padded_pages, 0);
    assert_eq!(device.namespace(nsid).unwrap().wordline_bytes, 6144);
}

#[test]
fn a_full_device_says_so_and_goes_on_after_a_deallocation() {
    let (mut device, nsid) = device(&small_profile());
    let capacity = device.stats().capacity_pages;
    let mut tag = 0;
    let mut run = |device: &mut Device, command: &Command| {
        tag += 1;
        device.submit(&Command { tag, ..*command }).unwrap();
        while device.run_until_completion() {
            let completion = device.pop_completion().unwrap();
            if completion.tag == tag {
                return completion.status;
            }
        }
        panic!("no completion");
    };
    for slba in 0..capacity {
        let directive = if slba % 2 == 0 {
            SEQUENTIAL
        } else {
            Directive::NONE
        };
        let write = Command::write(nsid, slba, 1, directive, 0);
        assert_eq!(run(&mut device, &write), Status::SUCCESS);
    }
    let beyond = Command::write(nsid, capacity - 5, 6, SEQUENTIAL, 0);
    assert_eq!(run(&mut device, &beyond), Status::CAPACITY_EXCEEDED);
    assert_eq!(device.stats().failed_commands, 1);
    assert_eq!(device.stats().mapped_pages, capacity);
    assert_eq!(
        device.preload(nsid, capacity, 9, SEQUENTIAL),
        Err(DeviceError::CapacityExceeded { pages: 9, free: 0 })
    );
    // Rewriting needs no room.
    let rewrite = Command::write(nsid, 0, 7, Directive::NONE, 0);
    assert_eq!(run(&mut device, &rewrite), Status::SUCCESS);
    assert_eq!(
        run(&mut device, &Command::deallocate(nsid, 3, 1, 0)),
        Status::SUCCESS
    );
    assert_eq!(run(&mut device, &beyond), Status::SUCCESS);
    drain(&mut device);
    assert_eq!(device.stats().mapped_pages, capacity);
}

#[test]
fn bad_commands_are_refused_and_change_nothing() {
    let (mut device, nsid) = device(&published_profile());
    let before = device.stats();
    let ok = Command::write(nsid, 0, 1, SEQUENTIAL, 0);
    let bad = [
        Command {
            nsid: NamespaceId(2),
            ..ok
        },
        Command {
            nsid: NamespaceId(0),
            ..ok
        },
        Command { nlb: 0, ..ok },
        Command {
            slba: u64::MAX,
            ..ok
        },
        Command {
            slba: 1 << 28,
            ..ok
        },
        Command {
            directive: Directive { dtype: 2, dspec: 0 },
            ..ok
        },
        Command {
            directive: Directive::stream_of(17),
            ..ok
        },
        Command {
            directive: Directive { dtype: 0, dspec: 1 },
            ..ok
        },
        Command {
            directive: Directive {
                dtype: 0x0F,
                dspec: 0x0101,
            },
            ..ok
        },
        Command {
            directive: Directive {
                dtype: 0x0F,
                dspec: 3,
            },
            ..ok
        },
        Command {
            directive: SEQUENTIAL,
            ..Command::read(nsid, 0, 1, 0)
        },
    ];
    for command in bad {
        assert!(device.submit(&command).is_err(), "{command:?}");
    }
    assert!(device.create_namespace(0).is_err());
    assert!(device.create_namespace(4097).is_err());
    assert!(device.create_namespace(!4095).is_err());
    assert_eq!(device.stats(), before);
    assert_eq!(device.outstanding(), 0);
    // Every expected read size is accepted; a random pattern is laid out as usual.
    for dspec in [0x00F1, 0x0051, 0x0002, 0x0000] {
        let directive = Directive { dtype: 0x0F, dspec };
        device.submit(&Command { directive, ..ok }).unwrap();
    }
    assert_eq!(Directive::read_pattern(Pattern::Random).dspec, 2);
    drain(&mut device);
}

/// What is gathered for a wordline stays gathered, also behind writes that wait for room in the buffer and for the link.
#[test]
fn a_flush_of_a_buffer_that_survives_a_power_cut_waits_for_nothing_and_programs_nothing() {
    let mut profile = published_profile();
    profile.controller.flush = Flush::None;
    profile.controller.write_buffer = ByteSize(2 << 20);
    profile.host.link_rate = meldsim::profile::DataRate(1_000_000_000);
    let (mut device, nsid) = device(&profile);
    for page in 0..2 {
        let write = Command::write(nsid, page, 1, Directive::NONE, 0);
        device.submit(&write).unwrap();
        device.submit(&Command::flush(nsid, 1)).unwrap();
        drain(&mut device);
    }
    let stats = device.stats();
    assert_eq!((stats.programs, stats.padded_pages), (0, 0));
    // Twice what there is room for, on the link and then at the buffer.
    let write = Command::write(nsid, 2, 1024, Directive::NONE, 0);
    device.submit(&write).unwrap();
    for wait in [Duration::ZERO, Duration::from_ms(5)] {
        device.advance_to(device.now() + wait);
        device.submit(&Command::flush(nsid, 7)).unwrap();
        assert!(device.run_until_completion());
        let flushed = device.pop_completion().unwrap();
        assert_eq!((flushed.tag, flushed.latency()), (7, Duration::from_us(10)));
    }
    drain(&mut device);
    assert_eq!(device.stats().padded_pages, 0);
}

#[test]
fn every_drive_on_sale_says_what_a_flush_does_and_how_that_is_known() {
    use meldsim::profile::{Kind, Sources};
    let papers = ["melded-", "palloc-", "nvmset-"];
    for name in Profile::builtin_names().filter(|name| *name != NEEDS_FIRMWARE) {
        let (profile, text) = (Profile::builtin(name).unwrap(), Profile::builtin_text(name));
        let is_paper = papers.iter().any(|paper| name.starts_with(paper));
        if is_paper || profile.kind == Kind::Xpoint {
            assert_eq!(profile.controller.flush, Flush::Program, "{name}");
            continue;
        }
        let client = ["980-pro", "flash-970pro", "dramless"].contains(&name);
        let expected = if client { Flush::Program } else { Flush::None };
        assert_eq!(profile.controller.flush, expected, "{name}");
        let line = text
            .unwrap()
            .lines()
            .find(|line| line.starts_with("flush = "));
        let line = line.unwrap();
        assert!(line.contains("# [P] ") || line.contains("# [A] "), "{line}");
        let source = Sources::of(text.unwrap(), &[]).get("controller.flush");
        assert_eq!(source.name() == "published", line.contains("[P]"), "{name}");
    }
}

#[test]
fn without_a_write_cache_a_write_waits_for_its_program() {
    let latency = |write_cache| {
        let mut profile = published_profile();
        profile.controller.write_cache = write_cache;
        let (mut device, nsid) = device(&profile);
        device
            .submit(&Command::write(nsid, 0, 1, Directive::NONE, 0))
            .unwrap();
        assert!(device.run_until_completion());
        let latency = device.pop_completion().unwrap().latency();
        (latency, device.stats().padded_pages)
    };
    assert_eq!(latency(true), (Duration::from_us(10), 0));
    // A command and a wordline on the bus, of which two pages are padding, and the program.
    let programmed = Duration::from_ps(12_500 + 3 * 5_781_250) + Duration::from_us(5001);
    assert_eq!(latency(false), (programmed, 2));
}

#[test]
fn without_a_write_cache_overwrites_and_trims_complete_all_the_same() {
    let mut profile = small_profile();
    profile.controller.write_cache = false;
    let (mut device, nsid) = device(&profile);
    for tag in 0..40 {
        let directive = if tag % 2 == 0 {
            SEQUENTIAL
        } else {
            Directive::NONE
        };
        let write = Command::write(nsid, tag % 5, 4, directive, tag);
        device.submit(&write).unwrap();
        device
            .submit(&Command::deallocate(nsid, tag % 3, 2, 100 + tag))
            .unwrap();
    }
    drain(&mut device);
}

/// Pages that wait in the buffer for their turn are overwritten there: each is programmed once.
#[test]
fn what_is_rewritten_in_the_buffer_is_programmed_once() {
    const PAGES: u64 = 96;
    /// Four rows: what the host's credit is at most.
    const AHEAD: u64 = 48;
    let mut profile = small_profile();
    profile.geometry.blocks_per_plane = 60;
    // Collection reads slowly, and the host has to wait for it.
    profile.timing.read = vec![Duration::from_ms(10); profile.timing.read.len()];
    let mut device = Device::new(&profile).unwrap();
    let nsid = device
        .create_namespace(device.stats().capacity_pages * 4096)
        .unwrap();
    device.precondition(&Precondition::default()).unwrap();
    for _ in 0..5 {
        for page in 0..PAGES {
            let write = Command::write(nsid, page, 1, Directive::NONE, 0);
            device.submit(&write).unwrap();
            assert!(device.run_until_completion());
            while device.pop_completion().is_some() {}
        }
    }
    device.submit(&Command::flush(nsid, 1)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    let programmed = stats.host_pages_programmed;
    // But for what was programmed before it had to wait.
    assert!(
        (PAGES..=PAGES + AHEAD).contains(&programmed),
        "{programmed} pages programmed for {PAGES}"
    );
    assert_eq!(stats.host_written_bytes, 5 * PAGES * 4096);
}

/// What the flash was given for some writes and a flush, of a device with pages of four logical blocks.
fn programmed(writes: &[(u64, u32)]) -> (Programmed, f64) {
    let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
    profile.controller.lba_size = ByteSize(1024);
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(16 << 20).unwrap();
    device.preload(nsid, 0, 64, Directive::NONE).unwrap();
    for (slba, nlb) in writes {
        device
            .submit(&Command::write(nsid, *slba, *nlb, Directive::NONE, 0))
            .unwrap();
        drain(&mut device);
    }
    device.submit(&Command::flush(nsid, 0)).unwrap();
    drain(&mut device);
    let stats = device.stats();
    assert_eq!(stats.programmed().total(), stats.programmed_bytes);
    (stats.programmed(), stats.write_amplification().unwrap())
}

/// A wordline has three pages of 4 KiB. Pages that follow each other go to wordlines of different dies.
#[test]
fn bytes_programmed_are_told_apart() {
    let of = |host: u64, merge: u64, filling: u64, padding: u64| Programmed {
        host_bytes: host << 10,
        merge_bytes: merge << 10,
        filling_bytes: filling << 10,
        padding_bytes: padding << 10,
        ..Programmed::default()
    };
    for (writes, parts, amplification) in [
        // Whole pages.
        (&[(0, 12)][..], of(12, 0, 0, 24), 3.0),
        // A part of a page that holds data, of one that does not, and both parts of another, one after the other.
        (&[(0, 1)], of(1, 3, 0, 8), 12.0),
        (&[(80, 1)], of(1, 0, 3, 8), 12.0),
        (&[(80, 1), (81, 3)], of(4, 0, 0, 8), 3.0),
        (&[(0, 1), (1, 1)], of(2, 2, 0, 8), 6.0),
        // Written in part, then whole: programmed once.
        (&[(0, 1), (0, 4)], of(4, 0, 0, 8), 12.0 / 5.0),
        (&[(0, 4), (0, 1)], of(4, 0, 0, 8), 12.0 / 5.0),
    ] {
        let (found, value) = programmed(writes);
        assert_eq!(found, parts, "{writes:?}");
        assert!((value - amplification).abs() < 1e-9, "{writes:?}: {value}");
    }
}

/// What the buffer holds does not wait, what comes after does: all its time but the controller's latency.
#[test]
fn a_wait_for_the_buffer_is_counted() {
    let profile = small_profile();
    let (mut device, nsid) = device(&profile);
    let lbas = (profile.controller.write_buffer.0 / profile.controller.lba_size.0) as u32;
    let latency = profile.controller.latency;
    for slba in [0, u64::from(lbas)] {
        let write = Command::write(nsid, slba, lbas, Directive::NONE, slba);
        device.submit(&write).unwrap();
    }
    assert_eq!(device.stats().buffer_wait_ps, 0);
    let waited = drain(&mut device) - latency;
    assert!(waited > Duration::ZERO);
    assert_eq!(device.stats().buffer_wait_ps, waited.as_ps());
}
