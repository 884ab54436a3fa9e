//! Whether melding all data wins on a device, and why: from what the replays with all data melded and with none did.

use serde::Serialize;

use super::gain::{Gain, LEAST_REQUESTS};
use super::outcome::Outcome;
use super::used::Use;
use meldsim::device::Device;
use meldsim::nvme::Pattern;
use meldsim::profile::Profile;
use meldsim_host::{LoadError, Reader, directive};
use meldsim_stats::bytes;
use meldsim_workload::Group;
use meldsim_workload::RunError;
use meldsim_workload::trace::ReplayMode;

/// From this share on, reads are taken for random ones.
pub(super) const MOSTLY_PERCENT: f64 = 50.0;
/// What the crossover is looked for with.
const BLOCK_BYTES: u64 = 32 << 20;

/// What melding all data does on a device, against melding none.
#[derive(Clone, Debug, Serialize)]
pub struct Melding {
    /// The device.
    pub profile: String,
    /// In the mean latency of reads, or in throughput where each request arrives when one before it has completed.
    #[serde(flatten)]
    pub gain: Gain,
    /// Least bytes outstanding with which one reader of a melded block is sooner than of a normal one, if any are.
    pub crossover_bytes: Option<u64>,
    /// Share of the reads in runs shorter than [`RANDOM_BELOW_BYTES`](meldsim_workload::RANDOM_BELOW_BYTES).
    pub random_percent: f64,
    /// Share of the bytes that were written.
    pub written_percent: f64,
    #[serde(skip)]
    reads: u64,
    /// With all data melded.
    pub melded: Use,
    /// With none melded.
    pub normal: Use,
    /// Which wins, and why, in sentences.
    pub verdict: String,
}

impl Melding {
    pub(super) fn new(
        mode: ReplayMode,
        profile: &Profile,
        [melded, normal]: [&Outcome; 2],
    ) -> Result<Melding, RunError> {
        let crossover_bytes = crossover(profile)?;
        let share = |part: fn(&Group) -> u64, of: fn(&Group) -> u64| -> f64 {
            let sum =
                |value: fn(&Group) -> u64| normal.groups.iter().map(value).sum::<u64>() as f64;
            100.0 * sum(part) / sum(of).max(1.0)
        };
        let used = |outcome: &Outcome| Use {
            mean_us: outcome.mean_us(),
            ..outcome.used
        };
        let mut melding = Melding {
            profile: profile.name.clone(),
            gain: Gain::of(&normal.costs(mode), &melded.costs(mode)),
            crossover_bytes,
            random_percent: share(|group| group.random_reads, |group| group.reads),
            written_percent: share(
                |group| group.written_bytes,
                |group| group.read_bytes + group.written_bytes,
            ),
            reads: normal.groups.iter().map(|group| group.reads).sum(),
            melded: used(melded),
            normal: used(normal),
            verdict: String::new(),
        };
        let result = melding.result(mode, [melded, normal]);
        let why = [melding.cause(), melding.circumstances()].concat();
        melding.verdict = format!("{result} {why}");
        Ok(melding)
    }

    /// Which wins, by how much.
    fn result(&self, mode: ReplayMode, [melded, normal]: [&Outcome; 2]) -> String {
        let what = match self {
            _ if self.gain.wins() => "Melding wins",
            _ if self.gain.loses() => "Melding loses",
            _ => "Melding makes no clear difference",
        };
        let value = |outcome: &Outcome| match mode {
            ReplayMode::Open => format!("{:.1} us", outcome.mean_us()),
            ReplayMode::Closed => format!("{:.1} MiB/s", outcome.bandwidth_mib_s()),
        };
        let measure = match mode {
            ReplayMode::Closed => "throughput",
            ReplayMode::Open if normal.read.is_some() => "mean read latency",
            ReplayMode::Open => "mean write latency",
        };
        format!(
            "{what} on {}: {measure} {} with all data melded, {} with none, {}.",
            self.profile,
            value(melded),
            value(normal),
            self.gain.text()
        )
    }

    /// What the device did differently that made it so.
    fn cause(&self) -> String {
        let (melded, normal) = (&self.melded, &self.normal);
        let ms = |us: f64| us / 1e3;
        let die_time = format!(
            "1 MiB keeps dies busy for {:.1} ms instead of {:.1} ms",
            ms(melded.die_us_per_mib),
            ms(normal.die_us_per_mib)
        );
        let sensing = format!(
            "one sense gives {:.2} pages instead of {:.2}",
            melded.pages_per_sensing, normal.pages_per_sensing
        );
        let fewer_dies = melded.dies_at_work < normal.dies_at_work;
        let less_time = melded.die_us_per_mib < normal.die_us_per_mib;
        if self.gain.wins() && less_time {
            format!("When melded, {sensing}, and {die_time}. ")
        } else if self.gain.loses() && self.is_random() && !less_time {
            format!("Random reads want few pages of a wordline: {sensing}, and {die_time}. ")
        } else if self.gain.loses() && self.is_narrow() && fewer_dies {
            // Programs keep dies busy, too, so the numbers are those of reads where nothing is written.
            let dies = match self.written_percent == 0.0 {
                true => format!(
                    "only {:.1} dies at a time when melded, {:.1} when not",
                    melded.dies_at_work, normal.dies_at_work
                ),
                false => "fewer dies at a time when melded".to_owned(),
            };
            format!("The requests in flight use {dies}. That outweighs the cheaper sensing. ")
        } else if melded.from_buffer_percent >= MOSTLY_PERCENT {
            format!(
                "{:.0} % of the pages read come from the write buffer, whatever the layout. Of the rest, {sensing}. ",
                melded.from_buffer_percent
            )
        } else if self.written_percent > 0.0 {
            format!("Reads and writes together: {die_time}, and {sensing}. ")
        } else {
            format!("When melded, {die_time}, and {sensing}. ")
        }
    }

    /// The readers: window, depth, share of random reads, against the crossover.
    fn circumstances(&self) -> String {
        let used = &self.normal;
        if used.depth == 0.0 {
            return "Nothing is read.".to_owned();
        }
        let crossover = match self.crossover_bytes {
            None => "On this device melding never pays.".to_owned(),
            Some(crossover) => format!("Melding pays from {} on.", bytes(crossover)),
        };
        let reads = match self.reads < LEAST_REQUESTS {
            true => format!("The trace has {} reads: too few to rely on.", self.reads),
            false => format!("{:.0} % of the reads are random.", self.random_percent),
        };
        format!(
            "On average {} are in flight ({:.1} requests), {} of one reader. {crossover} {reads}",
            bytes(used.outstanding_bytes as u64),
            used.depth,
            bytes(used.window_bytes as u64),
        )
    }

    /// Whether less is outstanding than a melded layout needs.
    fn is_narrow(&self) -> bool {
        let crossover = self.crossover_bytes.unwrap_or(u64::MAX);
        self.normal.outstanding_bytes < crossover as f64
    }

    fn is_random(&self) -> bool {
        self.random_percent >= MOSTLY_PERCENT
    }

    /// `on melded-qlc-8x8 it loses (x0.92)`.
    pub(super) fn brief(&self) -> String {
        let what = match self {
            _ if self.gain.wins() => "it wins",
            _ if self.gain.loses() => "it loses",
            _ => "it makes no clear difference",
        };
        format!("on {} {what} (x{:.2})", self.profile, self.gain.gain)
    }
}

/// The least window, by doubling, from which on one sliding reader of a melded block is sooner than of a normal one.
fn crossover(profile: &Profile) -> Result<Option<u64>, RunError> {
    let mut crossover = None;
    let mut window_bytes = BLOCK_BYTES;
    while window_bytes >= Reader::PACKET_BYTES {
        let mib_s = |pattern| -> Result<f64, RunError> {
            let mut device = Device::new(profile)?;
            let layout = directive(pattern);
            let read = Reader::Sliding.read_block(&mut device, layout, BLOCK_BYTES, window_bytes);
            let tally = read.map_err(|error| match error {
                LoadError::Device(error) => RunError::of("crossover")(error),
                LoadError::Incomplete(_) => RunError::Stuck { outstanding: 1 },
            })?;
            Ok(tally.bandwidth_mib_s().unwrap_or(f64::NAN))
        };
        if mib_s(Pattern::Sequential)? <= mib_s(Pattern::None)? {
            break;
        }
        crossover = Some(window_bytes);
        window_bytes /= 2;
    }
    Ok(crossover)
}
