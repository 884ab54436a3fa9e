//! Runs of the demo, measured, beside the curves.

use std::path::Path;

use serde::Deserialize;

/// What a run of `./meld demo` found at one time dilation.
pub(super) struct Point {
    pub(super) dilation: f64,
    /// The part of their time in which readers waited for the device, of the normal layout.
    pub(super) waiting_percent: f64,
    /// Of the wall clock's throughputs.
    pub(super) gain: f64,
}

impl Point {
    pub(super) fn name(&self) -> String {
        format!("HDFS, dilation {}, measured", self.dilation)
    }
}

#[derive(Deserialize)]
struct File {
    result: Demo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Demo {
    normal: Scan,
    melded: Scan,
    undilated: Undilated,
}

/// The same scans at the device's own speed.
#[derive(Deserialize)]
struct Undilated {
    normal: Scan,
    melded: Scan,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Scan {
    dilation: f64,
    reader_wait_share: f64,
    wall_mib_per_second: f64,
}

/// The points of a file: at the device's own speed, and slowed down.
pub(super) fn points(file: &Path) -> Result<[Point; 2], String> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        format!("{name}: {error}; give a file that hdfs-meld's demo wrote with --json")
    })?;
    let File { result } = serde_json::from_str(&text).map_err(|error| {
        format!("{name}: {error}; give a file that hdfs-meld's demo wrote with --json")
    })?;
    let point = |normal: &Scan, melded: &Scan| Point {
        dilation: normal.dilation,
        waiting_percent: 100.0 * normal.reader_wait_share,
        gain: melded.wall_mib_per_second / normal.wall_mib_per_second,
    };
    Ok([
        point(&result.undilated.normal, &result.undilated.melded),
        point(&result.normal, &result.melded),
    ])
}
