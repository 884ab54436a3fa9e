//! Jobs whose NVM sets are independent: each set is a device of its own for the time of the run, on any thread.
//!
//! ```text
//!   device --split--> device, jobs of set 0 --Group, host--> all at the same time --join--> counters
//!                     device, jobs of set 1 ------------'
//! ```

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use super::super::error::RunError;
use super::super::job::Job;
use super::super::options::Exit;
use super::running::Running;
use super::{Runner, run_group};
use meldsim::Duration;
use meldsim::device::{Device, Stats, Utilisation};
use meldsim::profile::PathTimes;
use meldsim_host::try_map;

/// An NVM set and the jobs on it.
pub(super) struct Part {
    device: Device,
    jobs: Vec<Running>,
    /// The number of each among all.
    places: Vec<usize>,
}

impl Runner {
    /// The NVM sets and the jobs of each, if they may run at once: jobs have at least two of them, none has to do with
    /// another set, and the run is not seen over time.
    pub(super) fn split(&mut self) -> Option<Vec<Part>> {
        let set_of = |device: &Device, job: &Running| device.set_of(job.nsid);
        let first = set_of(&self.device, self.jobs.first()?);
        let may_split = self.threads.get() > 1
            && self.series.is_none()
            && self.jobs.iter().all(|job| goes_on_alone(&job.job))
            && self.jobs[1..].iter().all(|job| !job.job.stonewall)
            && self.jobs.iter().any(|job| set_of(&self.device, job) != first)
            // Threads of the host see completions at times of their own.
            && self.device.profile().host.path_times() == PathTimes::default();
        if !may_split {
            return None;
        }
        let devices = self.device.split_sets()?;
        let part = |device| Part {
            device,
            jobs: Vec::new(),
            places: Vec::new(),
        };
        let mut parts: Vec<Part> = devices.into_iter().map(part).collect();
        for (place, job) in self.jobs.drain(..).enumerate() {
            let set = set_of(&self.device, &job).unwrap_or_default();
            let part = &mut parts[set as usize];
            part.jobs.push(job);
            part.places.push(place);
        }
        Some(parts)
    }

    /// Runs each set's jobs on its device. Returns what all have counted, and how busy their parts were.
    pub(super) fn run_apart(
        &mut self,
        parts: Vec<Part>,
        progress: &mut impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<(Stats, Utilisation), RunError> {
        let threads = self.threads;
        let is_stopped = &AtomicBool::new(false);
        let counts: Vec<f64> = parts.iter().map(|part| part.jobs.len() as f64).collect();
        let parts: Vec<Mutex<(usize, Part)>> =
            parts.into_iter().enumerate().map(Mutex::new).collect();
        let (sender, shares) = mpsc::channel();
        let work = move || {
            let run = |part: &Mutex<(usize, Part)>| {
                let (set, part) = &mut *unlocked(part.lock());
                part.run(|share| {
                    // Nobody listens any more when that thread has panicked.
                    let _ = sender.send((*set, share));
                    match is_stopped.load(Ordering::Relaxed) {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                })
            };
            try_map(threads, &parts, run).map(|_| parts)
        };
        let parts = thread::scope(|scope| {
            let work = scope.spawn(work);
            let mut done = vec![0.0; counts.len()];
            for (set, share) in shares {
                done[set] = share * counts[set];
                let share = done.iter().sum::<f64>() / counts.iter().sum::<f64>();
                is_stopped.fetch_or(progress(share).is_break(), Ordering::Relaxed);
            }
            work.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        let parts = parts?.into_iter().map(|part| unlocked(part.into_inner()).1);
        Ok(self.join(parts))
    }

    /// Takes all jobs back, and adds up what the devices have counted.
    fn join(&mut self, parts: impl Iterator<Item = Part>) -> (Stats, Utilisation) {
        let (mut devices, mut jobs) = (Vec::new(), Vec::new());
        for part in parts {
            devices.push(part.device);
            jobs.extend(part.places.into_iter().zip(part.jobs));
        }
        jobs.sort_unstable_by_key(|(place, _)| *place);
        self.jobs = jobs.into_iter().map(|(_, job)| job).collect();
        // Programs and collection go on in each set until the last job of all has ended.
        let end = devices.iter().map(Device::now).max();
        for device in &mut devices {
            device.advance_to(end.unwrap_or(device.now()));
        }
        self.device.join_sets(devices)
    }
}

impl Part {
    /// Runs its jobs to their ends, or until `progress` breaks off.
    fn run(
        &mut self,
        progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, RunError> {
        let all = 0..self.jobs.len();
        run_group(&mut self.device, &mut self.jobs, all, None, progress)
    }
}

/// Whether a job goes on when requests of its own have completed, and at no other time.
fn goes_on_alone(job: &Job) -> bool {
    let adapts = job.latency_target.is_some() || job.steady_state.is_some();
    let has_to_do_with_others =
        job.flow.is_some() || job.wait_for.is_some() || job.exit != Exit::Alone;
    let is_counted_later = job.ramp_time > Duration::ZERO;
    !(job.has_times() || is_counted_later || adapts || has_to_do_with_others)
}

/// A panic of another thread is passed on where that is joined.
fn unlocked<T>(part: Result<T, PoisonError<T>>) -> T {
    part.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::super::job::{Rate, ReadWrite};
    use super::super::super::options::Flow;
    use super::*;
    use meldsim::profile::{BufferScope, DataRate, HostPath, Profile, SetLayout};
    use std::num::NonZeroUsize;

    /// How many sets have jobs of their own, of two jobs on the two sets of a device.
    fn parts(device: impl Fn(&mut Profile), change: impl Fn(&mut Job)) -> Option<usize> {
        let mut profile = Profile::builtin("melded-tlc-8x8").unwrap();
        profile.sets.layout = SetLayout::Vertical;
        profile.sets.count = 2;
        device(&mut profile);
        let mut jobs = [0, 1].map(|set| Job {
            rw: ReadWrite::RandRead,
            size_bytes: 1 << 20,
            nvm_set: Some(set),
            ..Job::new("job")
        });
        change(&mut jobs[1]);
        let runner = Runner::new(&profile, &jobs).unwrap();
        let mut runner = runner.with_threads(NonZeroUsize::new(2).unwrap());
        let parts = runner.split()?;
        Some(parts.iter().filter(|part| !part.jobs.is_empty()).count())
    }

    #[test]
    fn independent_sets_run_apart() {
        assert_eq!(parts(|_| {}, |_| {}), Some(2));
    }

    #[test]
    fn sets_that_share_something_run_together() {
        let devices: [fn(&mut Profile); 6] = [
            |profile| profile.sets.layout = SetLayout::Horizontal,
            |profile| profile.sets.write_buffer = BufferScope::Global,
            |profile| profile.controller.dram_rate = DataRate(4_000_000_000),
            |profile| profile.host.link_rate = DataRate(4_000_000_000),
            |profile| profile.host.commands_in_flight = 8,
            |profile| profile.host.path = HostPath::Spdk,
        ];
        for device in devices {
            assert_eq!(parts(device, |_| {}), None);
        }
    }

    #[test]
    fn jobs_with_times_or_others_to_wait_for_run_together() {
        let jobs: [fn(&mut Job); 7] = [
            |job| job.nvm_set = Some(0),
            |job| job.think_time = Duration::from_us(1),
            |job| job.start_delay = Duration::from_us(1),
            |job| job.rate_read = Some(Rate::Requests(1_000)),
            |job| job.stonewall = true,
            |job| job.exit = Exit::All,
            |job| job.wait_for = Some("job".to_owned()),
        ];
        for job in jobs {
            assert_eq!(parts(|_| {}, job), None);
        }
        let flow = Flow {
            id: 1,
            weight: 1,
            sleep: Duration::ZERO,
        };
        assert_eq!(parts(|_| {}, |job| job.flow = Some(flow)), None);
    }
}
