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

/// Engine `null` with two descriptors, as `fio --debug=io` 3.33 shows it: a pass of 47 requests leaves one outstanding, so the one that
/// finds no place has the second descriptor of the next pass. That pass begins one request into a batch, and leaves the first.
#[test]
fn a_request_without_a_place_leaves_its_mark_to_the_next_pass() {
    let mut one = job(ReadWrite::RandRead);
    (one.iodepth, one.submit_batch) = (2, 2);
    one.random_percent = [90; 3];
    let mut descriptors = Descriptors::new(&one).unwrap();
    let mut pass = || -> Vec<u32> {
        let mut marked = Vec::new();
        for request in 0..47 {
            if descriptors.is_marked() {
                marked.push(request);
            }
            descriptors.take();
        }
        descriptors.leave(true);
        descriptors.complete();
        marked
    };
    assert_eq!([pass(), pass(), pass()], [vec![], vec![1], vec![0]]);
    one.random_percent = [100; 3];
    assert!(Descriptors::new(&one).is_none());
}

#[test]
fn a_register_that_begins_with_ones_makes_no_request() {
    let mut lfsr = job(ReadWrite::RandRead);
    (lfsr.size_bytes, lfsr.generator) = (5 * 4096, Generator::Lfsr);
    lfsr.random_percent = [50; 3];
    let counts: Vec<usize> = (0..64)
        .map(|seed| {
            (lfsr.seed, lfsr.random_repeat) = (seed, false);
            starts(&lfsr).len()
        })
        .collect();
    // Where it can begin, half of the requests follow one another.
    assert_eq!(counts.iter().filter(|count| **count == 0).count(), 8);
}

#[test]
fn equal_jobs_have_what_is_left_of_a_file() {
    let mut parts = job(ReadWrite::Write);
    (parts.numjobs, parts.pass_percent) = (3, Some(50));
    (parts.size_bytes, parts.within_bytes) = (100 * 4096, Some(100 * 4096));
    parts.offset_increment_bytes = 20 * 4096;
    let lengths: Vec<usize> = parts.clones().map(|clone| starts(&clone).len()).collect();
    assert_eq!(lengths, [50, 40, 30]);
    assert_eq!(parts.validate(), Ok(()));
    parts.offset_increment_bytes = 50 * 4096;
    let error = parts.validate().unwrap_err().to_string();
    assert!(
        error.contains("leaves j.2 0 B, less than a block"),
        "{error}"
    );
}

/// Zones go beyond a region whose file goes on.
#[test]
fn zones_go_to_the_end_of_the_file() {
    let mut zones = job(ReadWrite::Read);
    zones.size_bytes = 3 * 4096;
    zones.strided = Some(Strided {
        range_bytes: 4096,
        size_bytes: 4096,
        skip_bytes: 4096,
    });
    assert_eq!(starts(&zones), [0, 2 * 4096, 0]);
    zones.file_bytes = Some(9 * 4096);
    assert_eq!(starts(&zones), [0, 2 * 4096, 4 * 4096]);
    assert_eq!(zones.reach_bytes(), 9 * 4096);
}
