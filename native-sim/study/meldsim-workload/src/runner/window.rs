//! The window in which a job is counted: how fast it was, what its NVM set programmed, and whether both halves are alike.
//!
//! ```text
//!   Marks of a set: what the set and its jobs have done, at even times --> Track of a job, with its window's ends --> Window
//! ```
//!
//! The marks of a set depend on its own jobs alone, so that sets that run apart have the same.

use crate::result::rates::Rates;
use crate::result::{Half, Window};
use meldsim::device::{Device, amplification};
use meldsim::{Duration, Instant};

/// More marks than that, and every second one goes.
const MARKS_MAX: u64 = 64;
/// From each mark to the next, at first.
const INTERVAL: Duration = Duration::from_us(100);
/// Halves are alike up to that.
const ALIKE: f64 = 0.05;
/// What is steady since some time has been so for this share of the window.
const LEAST_SHARE: f64 = 0.25;

/// What a job has done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Done {
    pub(super) bytes: u64,
    /// Requests and bytes that were counted, of reads, writes and trims.
    pub(super) counted: [(u64, u64); 3],
}

/// What an NVM set and a job have done by then.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Instant,
    done: Done,
    written_bytes: u64,
    programmed_bytes: u64,
    erases: u64,
    /// What collection has to keep up.
    room_bytes: Option<u64>,
}

/// The marks of a job.
#[derive(Debug, Default)]
pub(super) struct Track {
    even: Vec<Mark>,
    begin: Option<Mark>,
    end: Option<Mark>,
}

impl Track {
    pub(super) fn has_begun(&self) -> bool {
        self.begin.is_some()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// The window begins, or begins anew.
    pub(super) fn begin(&mut self, device: &Device, set: u32, done: Done) {
        self.begin = Some(mark(device, set, done));
        self.end = None;
    }

    /// The window ends.
    pub(super) fn end(&mut self, device: &Device, set: u32, done: Done) {
        self.end = Some(mark(device, set, done));
    }

    /// What was in the window, of a job that has so many bytes outstanding.
    pub(super) fn window(&self, outstanding_bytes: u64, is_flash: bool) -> Option<Window> {
        let (begin, end, marks) = (self.begin?, self.end?, self.marks());
        let whole = half(&begin, &end, is_flash);
        let halves = halves(&marks, is_flash);
        let telling =
            halves.filter(|halves| halves.iter().all(|half| half.tells(outstanding_bytes)));
        let freed = freed(&begin, &end);
        // What is programmed will be collected once, and then is slower.
        let erases = end.erases - begin.erases;
        let writes = end.written_bytes > begin.written_bytes;
        let is_fresh =
            is_flash && writes && end.programmed_bytes > begin.programmed_bytes && erases == 0;
        let is_steady = telling
            .as_ref()
            .map(|halves| alike(halves) && freed.is_none() && !is_fresh);
        let length = |from: &Mark| (end.at - from.at).as_secs_f64();
        let steady_since = marks.iter().enumerate().find(|(first, from)| {
            let rest = self::halves(&marks[*first..], is_flash);
            let lasts = length(from) >= LEAST_SHARE * length(&begin);
            lasts && rest.as_ref().is_some_and(alike) && self::freed(from, &end).is_none()
        });
        Some(Window {
            write_amplification: whole.write_amplification,
            programmed_bytes: end.programmed_bytes - begin.programmed_bytes,
            written_bytes: end.written_bytes - begin.written_bytes,
            blocks_erased: erases,
            is_fresh,
            was_erased: end.erases > 0,
            halves: telling,
            is_steady,
            freed,
            steady_since: is_steady
                .and(steady_since)
                .filter(|_| !is_fresh)
                .map(|(_, mark)| mark.at - begin.at),
        })
    }

    /// Where the window begins, the marks in it, and where it ends.
    fn marks(&self) -> Vec<Mark> {
        let (Some(begin), Some(end)) = (self.begin, self.end) else {
            return Vec::new();
        };
        let between = |mark: &&Mark| mark.at > begin.at && mark.at < end.at;
        let even = self.even.iter().filter(between).copied();
        [begin].into_iter().chain(even).chain([end]).collect()
    }

    /// The rates between the marks, of reads, writes and trims.
    pub(super) fn rates(&self) -> [Rates; 3] {
        let mut rates = [Rates::default(); 3];
        let marks = self.marks();
        // The last part is short, where it is not the only one.
        let parts = marks.windows(2).take(marks.len().saturating_sub(2).max(1));
        for pair in parts.filter(|pair| pair[1].at > pair[0].at) {
            for (direction, rates) in rates.iter_mut().enumerate() {
                let [before, after] = [0, 1].map(|nth: usize| pair[nth].done.counted[direction]);
                let requests = after.0.saturating_sub(before.0);
                let bytes = after.1.saturating_sub(before.1);
                rates.add(requests, bytes, pair[1].at - pair[0].at);
            }
        }
        rates
    }
}

/// When the jobs of an NVM set are looked at.
#[derive(Debug)]
pub(super) struct Marks {
    pub(super) set: u32,
    start: Instant,
    interval: Duration,
    count: u64,
}

impl Marks {
    pub(super) fn new(set: u32, start: Instant) -> Marks {
        Marks {
            set,
            start,
            interval: INTERVAL,
            count: 0,
        }
    }

    pub(super) fn next(&self) -> Instant {
        self.start + self.interval * (self.count + 1)
    }

    /// Marks the set's jobs, with what each has done, as often as that is due.
    pub(super) fn keep_up<'a>(
        &mut self,
        device: &Device,
        jobs: impl Iterator<Item = (&'a mut Track, Done)>,
    ) {
        let mut tracks: Vec<(&mut Track, Done)> = jobs.collect();
        while self.next() <= device.now() {
            if self.count == MARKS_MAX {
                for (track, _) in &mut tracks {
                    let seconds = track.even.chunks_exact(2).map(|pair| pair[1]);
                    track.even = seconds.collect();
                }
                self.interval = self.interval * 2;
                self.count /= 2;
                continue;
            }
            for (track, done) in &mut tracks {
                track.even.push(mark(device, self.set, *done));
            }
            self.count += 1;
        }
    }
}

fn mark(device: &Device, set: u32, done: Done) -> Mark {
    let usage = device.set_usage(set);
    Mark {
        at: device.now(),
        done,
        written_bytes: usage.written_bytes,
        programmed_bytes: usage.programmed_bytes,
        erases: usage.erases,
        room_bytes: device.kept_room(set),
    }
}

/// Bytes that collection freed for each that the host wrote, where it did not keep up what is free.
fn freed(from: &Mark, to: &Mark) -> Option<f64> {
    let written = (to.written_bytes - from.written_bytes) as f64;
    let gained = to.room_bytes? as f64 - from.room_bytes? as f64;
    (written > 0.0 && gained.abs() > ALIKE * written).then(|| 1.0 + gained / written)
}

fn half(from: &Mark, to: &Mark, is_flash: bool) -> Half {
    let seconds = (to.at - from.at).as_secs_f64();
    let programmed = to.programmed_bytes - from.programmed_bytes;
    let written = to.written_bytes - from.written_bytes;
    Half {
        bytes: to.done.bytes - from.done.bytes,
        seconds,
        write_amplification: amplification(programmed, written).filter(|_| is_flash),
    }
}

/// Both sides of the mark in the middle, if there is one.
fn halves(marks: &[Mark], is_flash: bool) -> Option<[Half; 2]> {
    let [first, between @ .., last] = marks else {
        return None;
    };
    let middle = first.at + Duration::from_ps((last.at - first.at).as_ps() / 2);
    let away = |mark: &&Mark| match mark.at > middle {
        true => mark.at - middle,
        false => middle - mark.at,
    };
    let middle = between.iter().min_by_key(away)?;
    Some([half(first, middle, is_flash), half(middle, last, is_flash)])
}

fn alike([first, second]: &[Half; 2]) -> bool {
    let near = |one: f64, other: f64| (one - other).abs() <= ALIKE * one.max(other);
    near(first.bytes_per_s(), second.bytes_per_s())
        && match (first.write_amplification, second.write_amplification) {
            (Some(one), Some(other)) => near(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job's track with marks each millisecond: bytes done, written and programmed in each.
    fn track(rows: &[(u64, u64)]) -> Track {
        let mut at = Mark {
            at: Instant::START,
            done: Done::default(),
            written_bytes: 0,
            programmed_bytes: 0,
            erases: 0,
            room_bytes: None,
        };
        let mut marks = vec![at];
        for (written, programmed) in rows {
            at.at += Duration::from_ms(1);
            at.done.bytes += written;
            at.written_bytes += written;
            at.programmed_bytes += programmed;
            at.erases += programmed.saturating_sub(*written) / 100;
            marks.push(at);
        }
        let end = marks.pop();
        Track {
            begin: Some(marks.remove(0)),
            even: marks,
            end,
        }
    }

    #[test]
    fn even_halves_are_steady_from_the_start() {
        let window = track(&[(1000, 3000); 8]).window(1, true).unwrap();
        assert_eq!(window.is_steady, Some(true));
        assert_eq!(window.steady_since, Some(Duration::ZERO));
        assert_eq!(window.write_amplification, Some(3.0));
    }

    #[test]
    fn a_device_that_begins_to_collect_is_steady_since_then() {
        let rows = [[(1000, 1000); 3], [(400, 1200); 3]].concat();
        let window = track(&rows).window(1, true).unwrap();
        let of = |half: &Half| (half.bytes_per_s(), half.write_amplification);
        let halves = window.halves.unwrap();
        assert_eq!(of(&halves[0]), (1e6, Some(1.0)));
        assert_eq!(of(&halves[1]), (4e5, Some(3.0)));
        assert_eq!(window.is_steady, Some(false));
        assert_eq!(window.steady_since, Some(Duration::from_ms(3)));
    }

    #[test]
    fn what_is_written_on_credit_is_not_steady() {
        let mut track = track(&[(1000, 1000); 8]);
        let all = track.begin.iter_mut().chain(&mut track.even);
        let all = all.chain(&mut track.end);
        (0..)
            .zip(all)
            .for_each(|(written, mark)| mark.room_bytes = Some(20_000 - 900 * written));
        let window = track.window(1, true).unwrap();
        assert_eq!((window.is_steady, window.steady_since), (Some(false), None));
        assert!((window.freed.unwrap() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_never_is_steady_has_no_time() {
        let rows: Vec<(u64, u64)> = (0..8).map(|n| (1000 << n, 1000 << n)).collect();
        let window = track(&rows).window(1, true).unwrap();
        assert_eq!((window.is_steady, window.steady_since), (Some(false), None));
    }

    #[test]
    fn what_erases_nothing_is_fresh_and_not_steady() {
        let window = |is_flash| track(&[(1000, 1000); 8]).window(1, is_flash).unwrap();
        let (flash, memory) = (window(true), window(false));
        assert_eq!((flash.is_steady, flash.is_fresh), (Some(false), true));
        assert_eq!(flash.steady_since, None);
        let of = |is_new| flash.to_text(is_new).unwrap();
        assert_eq!(of(true), "fresh, out of the box: no block erased yet");
        assert_eq!(of(false), "not steady: no block erased yet");
        assert_eq!((memory.is_steady, memory.is_fresh), (Some(true), false));
        assert!(!memory.to_text(true).unwrap().contains("erased"));
    }

    #[test]
    fn what_an_earlier_job_left_to_program_makes_no_reader_fresh() {
        let mut track = track(&[(1000, 0); 8]);
        let all = track.begin.iter_mut().chain(&mut track.even);
        all.chain(&mut track.end)
            .for_each(|mark| mark.written_bytes = 0);
        track.end.as_mut().unwrap().programmed_bytes = 500;
        let window = track.window(1, true).unwrap();
        assert_eq!((window.is_steady, window.is_fresh), (Some(true), false));
        assert_eq!(window.to_text(true), None);
    }

    #[test]
    fn few_requests_tell_nothing() {
        let window = track(&[(1000, 1000), (2000, 2000)]).window(500, true);
        assert_eq!(window.unwrap().is_steady, None);
        assert!(
            track(&[(1000, 1000); 8])
                .window(0, false)
                .unwrap()
                .write_amplification
                .is_none()
        );
    }
}
