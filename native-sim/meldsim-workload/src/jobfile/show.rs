//! The options of a job as a result shows them.

use super::super::job::{BlockSizes, GENERATORS, Job, PATTERNS, PRIORITIES, Rate};
use super::super::options::{EXITS, LatencyTarget, PLACEMENTS, SteadyState, Strided, ZonedBlock};
use super::super::quantity::name_of;
use super::draft::RATE_PROCESSES;
use meldsim::engine::Duration;

/// The options of a job as a result shows them: those that say what it does, and those that differ from fio's defaults.
pub(crate) fn options(job: &Job) -> Vec<(&'static str, String)> {
    let is_shown = |key, differs: bool| match key {
        "rw" | "iodepth" | "numjobs" | "size" | "randseed" => true,
        "bs" => job.block_sizes.is_none(),
        "rwmixread" => job.rw.reads() && job.rw.writes(),
        _ => differs,
    };
    let defaults = texts(&Job::new("")).into_iter();
    let both = texts(job).into_iter().zip(defaults);
    both.filter(|(option, default)| is_shown(option.0, option != default))
        .map(|(option, _)| option)
        .collect()
}

/// Every option as text.
fn texts(job: &Job) -> Vec<(&'static str, String)> {
    let flag = |value| u8::from(value).to_string();
    let zone = |of: fn(Strided) -> u64| list(job.strided.map(of), "");
    let zoned = |of: fn(ZonedBlock) -> u64| list(job.zoned.map(of).filter(|value| *value > 0), "");
    let share = |of: fn(ZonedBlock) -> u64| {
        let millionths = job.zoned.map(of).filter(|share| *share > 0);
        list(
            millionths.map(|share| share as f64 / ZonedBlock::ALL as f64),
            "",
        )
    };
    let (least_read, least_write) = (job.min_rate_read, job.min_rate_write);
    let percent = |target: &LatencyTarget| target.percentile as f64 / 1e6;
    let percentiles = job.percentiles.iter().map(|part| *part as f64 / 1e6);
    let (target, steady) = (job.latency_target.as_ref(), job.steady_state.as_ref());
    vec![
        ("rw", direction(job)),
        ("rw_sequencer", sequencer(job)),
        ("bs", job.block_bytes.to_string()),
        ("bssplit", sizes(job, true)),
        ("bsrange", sizes(job, false)),
        ("bs_is_seq_rand", flag(job.sizes_by_order)),
        ("blockalign", list(job.align_bytes.iter().flatten(), ",")),
        ("iodepth", job.iodepth.to_string()),
        ("iodepth_low", list(job.iodepth_low, "")),
        ("iodepth_batch_complete_min", job.complete_min.to_string()),
        ("size", job.size_bytes.to_string()),
        (
            "pass_size",
            list(
                Some(job.pass_bytes()).filter(|bytes| *bytes < job.size_bytes),
                "",
            ),
        ),
        ("io_size", list(job.io_bytes, "")),
        ("number_ios", list(job.most_requests, "")),
        ("loops", job.loops.to_string()),
        ("offset", job.offset_bytes.to_string()),
        ("offset_align", job.offset_align_bytes.to_string()),
        ("offset_increment", job.offset_increment_bytes.to_string()),
        ("filename", list(job.file.as_ref(), "")),
        ("runtime", list(job.runtime.map(time), "")),
        ("time_based", flag(job.time_based)),
        ("ramp_time", time(job.ramp_time)),
        ("startdelay", time(job.start_delay)),
        ("stonewall", flag(job.stonewall)),
        ("wait_for", list(job.wait_for.as_ref(), "")),
        ("exit_what", name_of(&job.exit, &EXITS)),
        ("new_group", flag(job.new_group)),
        ("numjobs", job.numjobs.to_string()),
        ("group_reporting", flag(job.group_reporting)),
        ("rwmixread", job.rwmixread.to_string()),
        ("percentage_random", list(job.random_percent, ",")),
        ("random_distribution", job.distribution.to_string()),
        ("random_generator", name_of(&job.generator, &GENERATORS)),
        ("randseed", job.seed.to_string()),
        ("randrepeat", flag(job.random_repeat)),
        ("allrandrepeat", flag(job.all_random_repeat)),
        ("fsync", job.fsync.to_string()),
        ("fdatasync", job.fdatasync.to_string()),
        ("end_fsync", flag(job.end_fsync)),
        ("sync", flag(job.sync_writes)),
        ("zonerange", zone(|zone| zone.range_bytes)),
        ("zonesize", zone(|zone| zone.size_bytes)),
        ("zoneskip", zone(|zone| zone.skip_bytes)),
        ("zonemode", list(job.zoned.map(|_| "zbd"), "")),
        ("max_open_zones", zoned(|zoned| u64::from(zoned.max_open))),
        (
            "job_max_open_zones",
            zoned(|zoned| u64::from(zoned.job_max_open)),
        ),
        ("zone_reset_threshold", share(|zoned| zoned.reset_threshold)),
        ("zone_reset_frequency", share(|zoned| zoned.reset_frequency)),
        (
            "read_beyond_wp",
            zoned(|zoned| u64::from(zoned.read_beyond)),
        ),
        ("rate_read", rate(job.rate_read, Rate::Bytes)),
        ("rate_iops_read", rate(job.rate_read, Rate::Requests)),
        ("rate_write", rate(job.rate_write, Rate::Bytes)),
        ("rate_iops_write", rate(job.rate_write, Rate::Requests)),
        ("rate_trim", rate(job.rate_trim, Rate::Bytes)),
        ("rate_iops_trim", rate(job.rate_trim, Rate::Requests)),
        ("rate_process", name_of(&job.poisson, &RATE_PROCESSES)),
        ("rate_min_read", rate(least_read, Rate::Bytes)),
        ("rate_iops_min_read", rate(least_read, Rate::Requests)),
        ("rate_min_write", rate(least_write, Rate::Bytes)),
        ("rate_iops_min_write", rate(least_write, Rate::Requests)),
        ("rate_cycle", time(job.rate_cycle)),
        ("flow", list(job.flow.map(|flow| flow.weight), "")),
        ("flow_id", list(job.flow.map(|flow| flow.id), "")),
        ("flow_sleep", list(job.flow.map(|it| time(it.sleep)), "")),
        ("latency_target", list(target.map(|it| time(it.target)), "")),
        ("latency_window", list(target.map(|it| time(it.window)), "")),
        ("latency_percentile", list(target.map(percent), "")),
        ("latency_run", list(target.map(|it| flag(it.run)), "")),
        ("steadystate", list(steady.map(SteadyState::describe), "")),
        ("ss_dur", list(steady.map(|it| time(it.window)), "")),
        ("ss_ramp", list(steady.map(|it| time(it.ramp_time)), "")),
        ("ss_interval", list(steady.map(|it| time(it.interval)), "")),
        ("thinktime", time(job.think_time)),
        ("thinktime_blocks", job.think_blocks.to_string()),
        ("percentile_list", list(percentiles, ":")),
        ("nvm_set", list(job.nvm_set, "")),
        ("queue_priority", name_of(&job.queue_priority, &PRIORITIES)),
        ("read_pattern", name_of(&job.read_pattern, &PATTERNS)),
        ("dataplacement", name_of(&job.data_placement, &PLACEMENTS)),
        ("plids", list(&job.placement_ids, ",")),
    ]
}

/// In fio's units, of which nanoseconds are none.
fn time(time: Duration) -> String {
    let ns = time.as_ns();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let unit = units.iter().find(|(unit, _)| ns % unit == 0);
    let (unit, name) = unit.unwrap_or(&(1, "ns"));
    format!("{}{name}", ns / unit)
}

/// `rw` with its modifier.
fn direction(job: &Job) -> String {
    let rw = job.rw;
    match (job.step_bytes, job.repeat) {
        (_, Some(repeat)) => format!("{rw}:{}", repeat.requests),
        (0, None) => rw.to_string(),
        (step, None) => format!("{rw}:{step}"),
    }
}

fn sequencer(job: &Job) -> String {
    let identical = job.repeat.is_some_and(|repeat| repeat.identical);
    if identical { "identical" } else { "sequential" }.to_owned()
}

/// The sizes of reads, writes and trims with their shares, or else those between two; once where all are the same.
fn sizes(job: &Job, shares: bool) -> String {
    let of = |sizes: &BlockSizes| match (sizes.split.is_empty(), shares) {
        (true, true) => format!("{}/100", sizes.least),
        (true, false) => format!("{}-{}", sizes.least, sizes.most),
        (false, _) => {
            let split = sizes.split.iter();
            let split = split.map(|share| format!("{}/{}", share.bytes, share.percent));
            list(split, ":")
        }
    };
    let Some(sizes) = &job.block_sizes else {
        return String::new();
    };
    let is_range = |sizes: &BlockSizes| sizes.split.is_empty() && sizes.least != sizes.most;
    if sizes.iter().any(is_range) == shares {
        return String::new();
    }
    match sizes.iter().all(|other| *other == sizes[0]) {
        true => of(&sizes[0]),
        false => list(sizes.each_ref().map(of), ","),
    }
}

/// Values with `separator` between them; one of them, or none.
fn list<T: ToString>(values: impl IntoIterator<Item = T>, separator: &str) -> String {
    let texts = values.into_iter().map(|value| value.to_string());
    texts.collect::<Vec<_>>().join(separator)
}

/// The rate if it is of that kind.
fn rate(rate: Option<Rate>, kind: fn(u64) -> Rate) -> String {
    let of_kind = rate.filter(|rate| *rate == kind(rate.per_second()));
    list(of_kind.map(Rate::per_second), "")
}
