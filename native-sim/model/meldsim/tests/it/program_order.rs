//! Shadow program order: where pages go, and what has to be padded.

use crate::common::{SEQUENTIAL, device, drain, published_profile};
use meldsim::profile::ProgramOrder;
use meldsim::{Command, Device, Directive, Duration, Location, NamespaceId, Profile};

/// LSB, CSB, MSB.
const PROGRAM_US: [u64; 3] = [558, 2201, 5001];

fn shadow_profile() -> Profile {
    let mut profile = published_profile();
    profile.ftl.program_order = ProgramOrder::Shadow;
    profile.timing.program_pages = Some(PROGRAM_US.map(Duration::from_us).to_vec());
    profile
}

/// Writes and flushes; returns how long the flush took.
fn write_all(
    device: &mut Device,
    nsid: NamespaceId,
    slba: u64,
    nlb: u32,
    hint: Directive,
) -> Duration {
    let write = Command::write(nsid, slba, nlb, hint, 0);
    device.submit(&write).unwrap();
    device.submit(&Command::flush(nsid, 1)).unwrap();
    drain(device)
}

/// Die, block, wordline and page of the wordline.
fn place(device: &Device, nsid: NamespaceId, lba: u64) -> (u32, u32, u32, u32) {
    match device.locate(nsid, lba).unwrap() {
        Location::Flash {
            channel,
            die,
            block,
            wordline,
            page,
            ..
        } => (channel * 8 + die, block, wordline, page),
        other => panic!("{lba} is {other:?}"),
    }
}

#[test]
fn unhinted_pages_are_programmed_one_by_one_and_need_no_padding() {
    let (mut device, nsid) = device(&shadow_profile());
    let took = write_all(&mut device, nsid, 0, 1, Directive::NONE);
    assert!(
        took > Duration::from_us(558) && took < Duration::from_us(600),
        "{took}"
    );
    write_all(&mut device, nsid, 1, 64 * 6 - 1, Directive::NONE);
    let stats = device.stats();
    assert_eq!((stats.padded_pages, stats.programs), (0, 64 * 6));
    // On each die: L0, L1, C0, L2, C1, M0.
    let order = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)];
    for page in 0..64 * 6 {
        let (die, _, wordline, index) = place(&device, nsid, page);
        assert_eq!(u64::from(die), page % 8 * 8 + page / 8 % 8);
        assert_eq!((wordline, index), order[page as usize / 64]);
    }
}

#[test]
fn a_melded_wordline_waits_for_its_neighbours_or_for_padding() {
    let (mut device, nsid) = device(&shadow_profile());
    let write = Command::write(nsid, 0, 3, SEQUENTIAL, 0);
    device.submit(&write).unwrap();
    drain(&mut device);
    // Only the first page's turn has come; the others are held.
    assert_eq!(device.stats().programs, 1);
    assert_eq!(device.locate(nsid, 1).unwrap(), Location::Buffered);
    device.submit(&Command::flush(nsid, 1)).unwrap();
    let took = drain(&mut device);
    // L1, C0, L2, C1, M0: three of them hold nothing.
    let stats = device.stats();
    assert_eq!((stats.programs, stats.padded_pages), (6, 3));
    assert_eq!(stats.melded_wordlines_programmed, 1);
    assert!(
        took > Duration::from_us(558 * 2 + 2201 * 2 + 5001),
        "{took}"
    );
    let places = [0, 1, 2].map(|lba| place(&device, nsid, lba));
    assert_eq!(places.map(|place| place.3), [0, 1, 2]);
    assert!(
        places
            .iter()
            .all(|&(die, _, wordline, _)| (die, wordline) == (0, 0))
    );
}

#[test]
fn consecutive_pages_share_wordlines_in_either_order() {
    for profile in [published_profile(), shadow_profile()] {
        let (mut device, nsid) = device(&profile);
        write_all(&mut device, nsid, 0, 64 * 3 * 5, SEQUENTIAL);
        for q in 0..64 * 5 {
            let (die, _, wordline, _) = place(&device, nsid, 3 * q);
            assert_eq!(u64::from(die), q % 8 * 8 + q / 8 % 8);
            assert_eq!(u64::from(wordline), q / 64);
            for page in 0..3 {
                let (_, _, same, index) = place(&device, nsid, 3 * q + page);
                assert_eq!((same, u64::from(index)), (wordline, page));
            }
        }
    }
}
