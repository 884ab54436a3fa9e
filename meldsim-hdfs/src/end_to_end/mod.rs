//! `end-to-end`: how much of the devices' gain a reader of HDFS sees, by how long it waits for them.
//!
//! ```text
//!   a slow host   |..h..|..h..|..h..|..h..|     reads come ahead of it: nothing to gain
//!   a fast host   |.| wait |.| wait |.| wait    all of the devices' gain
//! ```

mod blocks;
mod curves;
mod measured;
mod outcome;
mod read_ahead;

use curves::{
    ADAPTIVE, Beside, Both, Curves, DEFAULT_KERNEL, HOST_US_PER_MIB, Host, KERNELS, KernelKind,
    READERS, ReadAheads, Together, WAITING, WRITE_PERCENT, beside_writes, on_host, together,
};
use measured::Point;
use meldsim_lab::MELDED_PAGES;
use meldsim_lab::prelude::*;

/// How much of the devices' gain readers of HDFS see.
pub const END_TO_END: Experiment = Experiment {
    name: "end-to-end",
    about: "Gain of melding for readers of HDFS blocks: by time waiting, readers, writes and the kernel's read-ahead",
    paper: MELDED_PAGES,
    profile: "melded-tlc-8x8",
    options: Options::Runs,
    plan,
    ..Experiment::DEFAULT
};

fn plan<'a>(run: &'a Run, cells: &mut Cells<'a>) -> Planned<'a> {
    let points: Result<Vec<[Point; 2]>, String> = run
        .measured_runs
        .iter()
        .map(|file| measured::points(file))
        .collect();
    let points: Vec<Point> = points?.into_iter().flatten().collect();
    let profile = &run.profile;
    let by_host = cells.each(HOST_US_PER_MIB, |&us_per_mib| {
        Ok(Host {
            us_per_mib,
            ahead: on_host(profile, ADAPTIVE, us_per_mib)?,
            not_ahead: on_host(profile, WAITING, us_per_mib)?,
        })
    });
    let by_readers = cells.each(READERS, |&readers| {
        Ok(Together {
            readers,
            adaptive: together(profile, ADAPTIVE, readers)?,
            kernel: together(profile, DEFAULT_KERNEL, readers)?,
        })
    });
    let by_writes = cells.each(WRITE_PERCENT, |&percent| {
        let both = beside_writes(profile, percent)?;
        Ok(Beside { percent, both })
    });
    let by_read_ahead = cells.each((17..=24).map(|power| 1u64 << power), |&read_ahead_bytes| {
        let of = |kernel: &KernelKind| together(profile, kernel.with(read_ahead_bytes), 1);
        let kernels: Result<Vec<Both>> = KERNELS.iter().map(of).collect();
        Ok(ReadAheads {
            read_ahead_bytes,
            kernels: kernels?,
        })
    });
    Ok(Box::new(move || {
        let curves = Curves {
            hosts: by_host.take()?,
            together: by_readers.take()?,
            beside: by_writes.take()?,
            read_aheads: by_read_ahead.take()?,
        };
        Some(outcome::outcome(run, &curves, &points))
    }))
}
