//! The first requests of a workload, of jobs or of a trace, without a device.

use std::collections::HashMap;
use std::io::BufRead;
use std::ops::Range;

use super::error::{Fault, RunError};
use super::job::{Job, JobError};
use super::requests::{Pace, Requests};
use super::runner::waits_for;
use super::trace::{Extent, Op, TraceReader};
use meldsim::{Duration, Instant};
use meldsim_host::Direction;

/// Requests of a sample at most.
const MOST_REQUESTS: usize = 100_000;
/// Volumes, blocks and files begin at multiples of this, so that requests are aligned as within these.
const ALIGNMENT: u64 = 1 << 30;

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// When it arrives, from its source's start; `None` is as soon as the source may submit it.
    pub arrival: Option<Duration>,
    /// Its first byte, of all that the workload touches.
    pub offset: u64,
    /// How many there are.
    pub bytes: u64,
    /// Whether it writes them.
    pub is_write: bool,
}

impl Io {
    /// The byte behind its last.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }

    /// The chunks it touches.
    pub fn chunks(&self, chunk_bytes: u64) -> Range<u64> {
        self.offset / chunk_bytes..self.end().div_ceil(chunk_bytes)
    }

    /// The first of the logical blocks it touches, and how many there are.
    pub fn lbas(&self, lba_bytes: u64) -> (u64, u64) {
        let touched = self.chunks(lba_bytes);
        (touched.start, touched.end - touched.start)
    }
}

/// What submits requests in its order: a job, or a trace.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its requests.
    pub requests: Vec<Io>,
    /// Most of them outstanding.
    pub depth: u64,
    /// The sources that must have ended before it begins.
    pub after: Range<usize>,
    /// It starts so much later.
    pub delay: Duration,
    /// Pause after every so many requests, when those are complete.
    pub pause: (Duration, u32),
}

impl Source {
    /// Submits as its depth and the arrivals allow.
    fn new(requests: Vec<Io>, depth: u64) -> Source {
        Source {
            requests,
            depth,
            after: 0..0,
            delay: Duration::ZERO,
            pause: (Duration::ZERO, 1),
        }
    }
}

/// The first requests of a workload.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Those that submit them.
    pub sources: Vec<Source>,
}

impl Sample {
    /// The jobs' requests, in turn. Each job begins, waits and keeps its depth and its rate as when it runs; equal jobs are
    /// jobs of their own. Jobs with the same file access the same bytes.
    ///
    /// # Errors
    ///
    /// A job that waits for one that is not there, or files that end beyond 2^64 B.
    pub fn of_jobs(jobs: &[Job]) -> Result<Sample, RunError> {
        let mut room = Room::default();
        let mut files: Vec<(String, usize)> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        let mut draws = Vec::new();
        let mut sections: Vec<Range<usize>> = Vec::new();
        // The first source of those that start together.
        let mut group = 0;
        for (section, job) in jobs.iter().enumerate() {
            let first = sources.len();
            if job.stonewall {
                group = first;
            }
            // A job of its own group has waited for the groups before.
            let after = waits_for(&jobs[..section], job)?
                .map(|section| sections[section].clone())
                .filter(|others| others.start >= group)
                .unwrap_or(0..group);
            for clone in job.clones() {
                let known = files
                    .iter()
                    .find(|(file, _)| Some(file) == clone.file.as_ref());
                let extent = known.map_or(room.ends.len(), |(_, extent)| *extent);
                room.grow(extent, clone.reach_bytes())
                    .ok_or_else(|| too_far(&clone))?;
                let source = Source {
                    after: after.clone(),
                    delay: clone.start_delay,
                    pause: (clone.think_time, clone.think_blocks),
                    ..Source::new(Vec::new(), u64::from(clone.iodepth))
                };
                sources.push(source);
                let pace = Pace::new(&clone, Instant::START);
                draws.push((Requests::new(&clone), pace, extent));
                files.extend(clone.file.map(|file| (file, extent)));
            }
            sections.push(first..sources.len());
        }
        let bases = room.bases();
        let mut left = MOST_REQUESTS;
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for (source, (draw, pace, extent)) in sources.iter_mut().zip(&mut draws) {
                let Some(next) = draw.next().filter(|_| left > 0) else {
                    continue;
                };
                goes_on = true;
                let arrival = pace.next(next.direction).map(Instant::since_start);
                pace.take(next.direction, next.bytes);
                left -= 1;
                if !matches!(next.direction, Direction::Read | Direction::Write) {
                    continue;
                }
                source.requests.push(Io {
                    arrival,
                    offset: bases[*extent] + next.start,
                    bytes: next.bytes,
                    is_write: next.direction == Direction::Write,
                });
            }
        }
        Ok(Sample { sources })
    }

    /// The trace's reads and writes, when they arrived. Volumes and blocks lie one after the other.
    ///
    /// # Errors
    ///
    /// A line that cannot be read, or volumes and blocks that end beyond 2^64 B.
    pub fn of_trace<R: BufRead>(mut reader: TraceReader<R>) -> Result<Sample, RunError> {
        let mut requests = Vec::new();
        let mut room = Room::default();
        let mut extents = Vec::new();
        // Only looked up, so that its order is never seen.
        let mut places: HashMap<(usize, Option<u64>), usize> = HashMap::new();
        while let Some(record) = reader.next_record()? {
            if requests.len() == MOST_REQUESTS {
                break;
            }
            if !matches!(record.op, Op::Read | Op::Write) || record.length == 0 {
                continue;
            }
            let block = match record.extent {
                Extent::Volume => None,
                Extent::Block(block) => Some(block),
            };
            let next = places.len();
            let extent = *places.entry((record.volume, block)).or_insert(next);
            room.grow(extent, record.offset + record.length)
                .ok_or_else(|| {
                    let message = format!(
                        "is {}: with it all volumes and blocks together end beyond 2^64 B",
                        record.offset
                    );
                    reader.fault(Fault::new("offset", message, "mend or remove the line"))
                })?;
            extents.push(extent);
            requests.push(Io {
                arrival: Some(record.arrival),
                offset: record.offset,
                bytes: record.length,
                is_write: record.op == Op::Write,
            });
        }
        let bases = room.bases();
        for (io, extent) in requests.iter_mut().zip(extents) {
            io.offset += bases[extent];
        }
        Ok(Sample {
            sources: vec![Source::new(requests, u64::MAX)],
        })
    }

    /// How many requests there are.
    pub fn count(&self) -> usize {
        self.sources
            .iter()
            .map(|source| source.requests.len())
            .sum()
    }

    /// All requests.
    pub fn requests(&self) -> impl Iterator<Item = &Io> {
        self.sources.iter().flat_map(|source| &source.requests)
    }

    /// The requests of all sources in their order, from one with that depth.
    pub fn with_depth(&self, depth: u32) -> Sample {
        let mut requests = Vec::new();
        for source in &self.sources {
            let numbered = source.requests.iter().enumerate();
            requests
                .extend(numbered.map(|(index, io)| ((source.after.end, io.arrival, index), io)));
        }
        // Stable: of equal ones, that of the first source is first.
        requests.sort_by_key(|(order, _)| *order);
        let together = requests.into_iter().map(|(_, io)| Io {
            arrival: None,
            ..*io
        });
        Sample {
            sources: vec![Source::new(together.collect(), u64::from(depth))],
        }
    }
}

/// The job whose file ends where no device has an address.
fn too_far(job: &Job) -> RunError {
    let text = "with the jobs before it ends beyond 2^64 B; use a smaller one";
    RunError::Job {
        job: job.name.clone(),
        error: JobError::new("size", text),
    }
}

/// Room for volumes, blocks or files, one after the other.
#[derive(Debug, Default)]
struct Room {
    /// Bytes of each.
    ends: Vec<u64>,
    bytes: u64,
}

impl Room {
    /// Makes one at least so long; `None` where all together would end beyond 2^64 B.
    fn grow(&mut self, extent: usize, end: u64) -> Option<()> {
        if extent == self.ends.len() {
            self.ends.push(0);
        }
        let end = end.checked_next_multiple_of(ALIGNMENT)?;
        let more = end.saturating_sub(self.ends[extent]);
        self.bytes = self.bytes.checked_add(more)?;
        self.ends[extent] += more;
        Some(())
    }

    /// Where each begins.
    fn bases(&self) -> Vec<u64> {
        let mut next = 0;
        let mut base = |bytes: &u64| {
            next += bytes;
            next - bytes
        };
        self.ends.iter().map(&mut base).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadWrite;

    #[test]
    fn jobs_with_a_file_access_the_same_bytes() {
        let first = |file: Option<&str>| {
            let job = |name: &str| Job {
                rw: ReadWrite::Read,
                size_bytes: 64 << 20,
                io_bytes: Some(4 << 20),
                file: file.map(str::to_owned),
                ..Job::new(name)
            };
            let sample = Sample::of_jobs(&[job("a"), job("b")]).unwrap();
            let sources = sample.sources.iter();
            let first = sources.map(|source| source.requests[0].offset);
            first.collect::<Vec<u64>>()
        };
        assert_eq!(first(Some("one")), [0, 0]);
        assert_eq!(first(None), [0, ALIGNMENT]);
    }
}
