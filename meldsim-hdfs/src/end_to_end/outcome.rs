//! The curves as sheets, figures and what is claimed of them.

use super::curves::{
    BLOCK_BYTES, BLOCKS_BESIDE_WRITES, Beside, Both, Curves, Host, KERNELS, ReadAheads, Together,
    WINDOW_BYTES, WRITER_LEADS,
};
use super::measured::Point;
use meldsim_lab::MELDED_PAGES;
use meldsim_lab::prelude::*;

/// What the gain may be off from that of the slower of host and device: a block's first window is small.
const OVERLAP_TOLERANCE: f64 = 0.03;

const ADAPTIVE_NAME: &str = "adaptive window";
const GAIN: &str = "melded / normal";

pub(super) fn outcome(run: &Run, curves: &Curves, points: &[Point]) -> Outcome {
    let about = format!(
        "Readers of {} blocks, all of them normal or melded, through the DataNode plugin's adaptive window of {}: on slower and \
         faster hosts, several on one device, beside a writer, and with the kernel's read-ahead instead.",
        bytes(BLOCK_BYTES),
        bytes(WINDOW_BYTES)
    );
    let outcome = run
        .report(about)
        .published(format!("Arpith K, K. Gopinath: {MELDED_PAGES}: one burst of 128 MiB gains 1.41"))
        .published("Linux 6.12, mm/readahead.c, and Hadoop 3.5.0: what a kernel and a DataNode request ahead")
        .fitted("the read timing, to the cells of melded-latency and melded-throughput")
        .assumed("a host needs the same time for each 64 KiB packet, one after the other; read-ahead continues meanwhile")
        .assumed(format!("without read-ahead, {} are requested once the host has taken everything before", bytes(WINDOW_BYTES)))
        .assumed(format!(
            "beside writes, {BLOCKS_BESIDE_WRITES} blocks are read. 100 % is the rate of a writer alone: 1 MiB requests, 16 outstanding. \
             The writer begins {} ms earlier and has the reader's layout",
            WRITER_LEADS.as_us() / 1000
        ))
        .assumed("how many reads a die serves before a waiting program (a key of the profile) decides the reads beside writes")
        .sheet(hosts(&curves.hosts))
        .sheet(together(&curves.together))
        .sheet(beside(&curves.beside))
        .sheet(read_aheads(&curves.read_aheads));
    let outcome = match points {
        [] => outcome,
        points => outcome.sheet(
            Sheet::of("measured", points)
                .cell("point", "HDFS, measured", Point::name)
                .number("waiting_percent", "waiting, normal %", 1, |point| {
                    point.waiting_percent
                })
                .number("gain", "gain on the wall clock", 3, |point| point.gain),
        ),
    };
    outcome
        .figure(
            by_waiting(&curves.hosts, points),
            "Who waits little for the device gains little. Where reads come ahead of the host, the slower of the two is all that counts.",
        )
        .figure(
            by_readers(&curves.together),
            "Several readers keep enough outstanding even by the kernel's small read-ahead.",
        )
        .figure(
            by_writes(&curves.beside),
            "A program holds a die for 5 ms, whichever layout is read. Much written, normal reads lose more: they need each die more often.",
        )
        .figure(
            by_read_ahead(&curves.read_aheads, &curves.hosts),
            "With the read-ahead of most kernels, 128 KiB, melded blocks are read more slowly.",
        )
        .claims([overlap(&curves.hosts)])
}

/// The device alone: the host takes no time.
fn device(hosts: &[Host]) -> Option<&Both> {
    let host = hosts.iter().find(|host| host.us_per_mib == 0);
    host.map(|host| &host.ahead)
}

fn hosts(hosts: &[Host]) -> impl Into<Sheet> {
    let device_mib_s = device(hosts).map(|both| both.normal.read_mib_s);
    let columns = Sheet::of("hosts", hosts)
        .count("host_us_per_mib", "host us/MiB", |host| host.us_per_mib)
        .number("host_by_device", "host / device", 2, move |host| {
            let host_mib_s = (host.us_per_mib > 0).then(|| 1e6 / host.us_per_mib as f64);
            Some(host_mib_s? / device_mib_s?)
        })
        .number("waiting_percent", "waiting, normal %", 1, |host| {
            host.ahead.waiting_percent()
        });
    let columns = rates(columns, RATES, "normal MiB/s", |host| &host.ahead).number(
        "not_ahead_waiting_percent",
        "not read ahead: waiting, normal %",
        1,
        |host| host.not_ahead.waiting_percent(),
    );
    let keys = [
        "not_ahead_normal_mib_s",
        "not_ahead_melded_mib_s",
        "not_ahead_gain",
    ];
    rates(columns, keys, "normal MiB/s", |host| &host.not_ahead)
}

/// Keys of the rates of a reader.
const RATES: [&str; 3] = ["normal_mib_s", "melded_mib_s", "gain"];

/// Adds what was read in both layouts, and the gain.
fn rates<'a, R>(
    columns: Columns<'a, R>,
    [normal, melded, gain]: [&'static str; 3],
    heading: &'static str,
    both: fn(&R) -> &Both,
) -> Columns<'a, R> {
    columns
        .number(normal, heading, 1, |row| both(row).normal.read_mib_s)
        .number(melded, "melded", 1, |row| both(row).melded.read_mib_s)
        .number(gain, "gain", 3, |row| both(row).gain())
}

fn together(rows: &[Together]) -> impl Into<Sheet> {
    let columns = Sheet::of("readers", rows).count("readers", "readers", |row| row.readers);
    let columns = rates(columns, RATES, "normal MiB/s", |row| &row.adaptive);
    let keys = ["kernel_normal_mib_s", "kernel_melded_mib_s", "kernel_gain"];
    rates(columns, keys, "unmodified kernel: normal MiB/s", |row| {
        &row.kernel
    })
}

fn beside(rows: &[Beside]) -> impl Into<Sheet> {
    Sheet::of("writes", rows)
        .count("write_percent", "writes, % of the device's rate", |row| {
            row.percent
        })
        .number("normal_mib_s", "normal: read MiB/s", 1, |row| {
            row.both.normal.read_mib_s
        })
        .number("normal_written_mib_s", "written", 1, |row| {
            row.both.normal.written_mib_s
        })
        .number("melded_mib_s", "melded: read MiB/s", 1, |row| {
            row.both.melded.read_mib_s
        })
        .number("melded_written_mib_s", "written", 1, |row| {
            row.both.melded.written_mib_s
        })
        .number("gain", "gain", 3, |row| row.both.gain())
}

fn read_aheads(rows: &[ReadAheads]) -> impl Into<Sheet> {
    let gain =
        |kernel: usize| move |row: &ReadAheads| row.kernels.get(kernel).map(|both| both.gain());
    Sheet::of("read_ahead", rows)
        .bytes("read_ahead_bytes", "read-ahead", |row| row.read_ahead_bytes)
        .number("advised_gain", KERNELS[0].name, 3, gain(0))
        .number("advised_4_mib_gain", KERNELS[1].name, 3, gain(1))
        .number("not_advised_gain", KERNELS[2].name, 3, gain(2))
}

fn by_waiting(hosts: &[Host], points: &[Point]) -> LineChart {
    let of = |name, both: fn(&Host) -> &Both| {
        Line::over(name, hosts, |host| {
            let both = both(host);
            (both.waiting_percent(), both.gain())
        })
    };
    let mut lines = vec![
        of(ADAPTIVE_NAME, |host| &host.ahead),
        of("not read ahead", |host| &host.not_ahead),
    ];
    let measured = points
        .iter()
        .map(|point| Line::new(point.name(), vec![(point.waiting_percent, point.gain)]));
    lines.extend(measured);
    LineChart::linear(
        "Gain by the time that readers wait",
        "time waiting for the device, normal layout, %",
        GAIN,
        lines,
    )
}

fn by_readers(rows: &[Together]) -> LineChart {
    let ticks = rows
        .iter()
        .map(|row| (row.readers as f64, row.readers.to_string()));
    LineChart {
        title: "Gain by readers of one device".to_owned(),
        x: Axis {
            ticks: ticks.collect(),
            ..Axis::log("readers, each of its own block")
        },
        y: Axis::linear(GAIN),
        lines: vec![
            Line::over(ADAPTIVE_NAME, rows, |row| {
                (row.readers as f64, row.adaptive.gain())
            }),
            Line::over("unmodified kernel", rows, |row| {
                (row.readers as f64, row.kernel.gain())
            }),
        ],
    }
}

fn by_writes(rows: &[Beside]) -> LineChart {
    let line = Line::over(ADAPTIVE_NAME, rows, |row| {
        (row.percent as f64, row.both.gain())
    });
    let writes = "writes, % of what the device takes alone";
    LineChart::linear("Gain beside a writer", writes, GAIN, [line])
}

fn by_read_ahead(rows: &[ReadAheads], hosts: &[Host]) -> LineChart {
    let kernels = KERNELS.iter().enumerate().map(|(index, kernel)| {
        Line::over(kernel.name, rows, |row| {
            Some((row.read_ahead_bytes as f64, row.kernels.get(index)?.gain()))
        })
    });
    let adaptive = device(hosts).map(|both| {
        let point = |row: &ReadAheads| (row.read_ahead_bytes as f64, both.gain());
        Line::over(ADAPTIVE_NAME, rows, point).dashed()
    });
    LineChart {
        title: "Gain with the kernel's read-ahead".to_owned(),
        x: size_axis("read_ahead_kb", rows.iter().map(|row| row.read_ahead_bytes)),
        y: Axis::linear(GAIN),
        lines: kernels.chain(adaptive).collect(),
    }
}

/// The gain of a host that takes its own time or the device's, whichever is longer.
fn overlap(hosts: &[Host]) -> Claim {
    let device_gain = device(hosts).map_or(f64::NAN, |both| both.gain());
    let expected = |host: &Host| device_gain.min(1.0 / (1.0 - host.ahead.normal.waiting_share));
    let off = hosts
        .iter()
        .map(|host| (host.ahead.gain() / expected(host) - 1.0).abs());
    let worst = off.fold(0.0, f64::max);
    Claim::construction(
        "end-to-end.overlap",
        "reads go on while the host is busy, so a block takes the host's time or the device's, whichever is longer",
    )
    .statement("read ahead, a reader that waits a share w of its time gains 1 / (1 - w), but no more than the devices")
    .expected("the lesser of both")
    .measured(format!("off by {:.1} % at most", 100.0 * worst))
    .when(Bound::Own, format!("it is within {:.0} % at every host's speed", 100.0 * OVERLAP_TOLERANCE)).holds(worst <= OVERLAP_TOLERANCE)
}
