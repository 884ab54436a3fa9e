use super::*;
use crate::distribution::Distribution;
use crate::job::{Generator, ReadWrite};
use crate::options::Strided;

fn job(rw: ReadWrite) -> Job {
    Job {
        rw,
        size_bytes: 1000 * 4096,
        ..Job::new("j")
    }
}

fn starts(job: &Job) -> Vec<u64> {
    Requests::new(job).map(|request| request.start).collect()
}

/// A past and its run draw other blocks in turn, and the same ones most often.
#[test]
fn a_past_has_the_popular_blocks_of_its_run() {
    let mut skewed = job(ReadWrite::RandWrite);
    skewed.distribution = Distribution::zipf(1_200_000);
    skewed.offset_bytes = 40 * 4096;
    skewed.time_based = true;
    skewed.seed = 5;
    let bytes = skewed.end_bytes();
    let past = |bytes| Requests::past(&skewed, &skewed.distribution, bytes);
    let starts = |requests: Requests| -> Vec<u64> {
        requests.take(20_000).map(|request| request.start).collect()
    };
    let popular = |starts: &[u64]| {
        let mut counts = std::collections::BTreeMap::new();
        for start in starts {
            *counts.entry(*start).or_insert(0u32) += 1;
        }
        let mut blocks: Vec<(u32, u64)> = counts.into_iter().map(|(at, n)| (n, at)).collect();
        blocks.sort_unstable_by(|a, b| b.cmp(a));
        blocks[..4].iter().map(|(_, at)| *at).collect::<Vec<u64>>()
    };
    let before = starts(past(bytes).unwrap());
    let run = starts(Requests::new(&skewed));
    assert_ne!(before, run);
    assert_eq!(popular(&before), popular(&run));
    // What was overwritten may end before the job's region does, or before it begins.
    let half = starts(past(bytes / 2).unwrap());
    assert!(
        half.iter()
            .all(|start| (40 * 4096..bytes / 2).contains(start))
    );
    assert!(past(40 * 4096).is_none());
}

#[test]
fn one_pass_touches_every_block_once() {
    for generator in [Generator::Tausworthe, Generator::Lfsr] {
        for rw in [
            ReadWrite::Read,
            ReadWrite::RandRead,
            ReadWrite::RandReadWrite,
            ReadWrite::RandTrim,
        ] {
            let mut pass = job(rw);
            pass.generator = generator;
            let mut blocks = starts(&pass);
            assert_eq!(blocks.is_sorted(), !rw.is_random());
            blocks.sort_unstable();
            assert!(blocks.into_iter().eq((0..1000).map(|block| block * 4096)));
        }
    }
}

#[test]
fn passes_are_alike_unless_there_is_a_seed() {
    let mut passes = job(ReadWrite::RandWrite);
    passes.loops = 2;
    let both = starts(&passes);
    assert_eq!(both[..1000], both[1000..]);
    passes = passes.with_seed(Some(7));
    let both = starts(&passes);
    assert_ne!(both[..1000], both[1000..]);
}

#[test]
fn a_pass_begins_when_the_one_before_has_ended() {
    let mut passes = job(ReadWrite::Write);
    (passes.loops, passes.end_fsync) = (2, true);
    let waiting = Requests::new(&passes).enumerate();
    let waiting: Vec<_> = waiting
        .filter(|(_, request)| request.waits)
        .map(|(nth, request)| (nth, request.direction))
        .collect();
    let sync = Direction::Sync;
    let expected = [(1000, sync), (1001, Direction::Write), (2001, sync)];
    assert_eq!(waiting, expected);
}

#[test]
fn what_zones_skip_is_not_done() {
    let mut zones = job(ReadWrite::RandRead);
    zones.strided = Some(Strided {
        range_bytes: 4096,
        size_bytes: 4096,
        skip_bytes: 4096,
    });
    assert_eq!(starts(&zones).len(), 1000);
}
