//! The experiment from files to verdicts, on few and short runs.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::super::Outcome;
use super::super::plan::Run;
use super::REAL_DRIVES;
use meldsim::profile::Profile;
use meldsim_measured::Scale;

/// A folder of measured rows that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Folder {
        let path = std::env::temp_dir().join(format!("real-drives-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            std::fs::write(path.join(file), text).unwrap();
        }
        Folder(path)
    }

    fn outcome(&self) -> Result<Outcome, String> {
        let profile = Profile::builtin(REAL_DRIVES.profile).unwrap();
        let mut run = Run::new(&REAL_DRIVES, profile).unwrap();
        run.scale = Scale::Quick;
        run.measured = Some(self.0.clone());
        let two = NonZeroUsize::new(2).unwrap();
        run.outcome(two, &|_| {}).map_err(|error| error.to_string())
    }

    fn json(&self) -> serde_json::Value {
        serde_json::to_value(self.outcome().unwrap()).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const READS: &str = "drive,dataset,sw_path,block_bytes,threads,depth_per_thread,iops,mean_us,p50_us,p99_us,limit\n\
    980PRO,x,SPDK,4096,1,4,64776,61.441,56.576,98.816,\n\
    980PRO,x,SPDK,4096,1,256,783330,326.56,268.29,1011.7,link_or_host\n\
    OPTANE,x,libaio,4096,1,1,79517,12.049,10.048,,\n";
const STEADY: &str = "drive,unit,dataset,pattern,param,block_bytes,file_bytes,threads,depth_per_thread,iops_steady,steady,\
    write_p50_us,write_p99_us,p99_clipped,waf_counter\n\
    7450MAX,mp0,d,uniform,0,4096,800166076416,4,128,159420,1,3221,3251,0,1.89\n\
    7450MAX,mp0,d,twozone,0.7,4096,800166076416,4,128,150000,1,,,,\n\
    7450MAX,mp0,d,fiozipf,1.1,4096,800166076416,4,128,150000,1,,,,\n";

#[test]
fn reads_are_answered_and_what_is_left_out_has_a_reason() {
    let folder = Folder::new("reads", &[("read_latency_by_depth.csv", READS)]);
    let json = folder.json();
    let cells = json["sheets"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4, "{cells:?}");
    let iops = &cells[0];
    assert_eq!(iops["column"], "iops");
    assert_eq!(
        (&iops["row"], &iops["basis"]),
        (&2.into(), &"predicted".into())
    );
    assert_eq!(iops["measured"], 64776.0);
    assert!(iops["error"].as_f64().unwrap() < 0.1, "{iops}");
    let left_out = json["sheets"]["left_out"].as_array().unwrap();
    let reason = |row: u64| {
        let found = left_out.iter().find(|left| left["row"] == row);
        found.unwrap()["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(3), "the link or the host is the limit");
    assert_eq!(reason(4), "no profile stands for the drive");
    assert_eq!(json["sheets"]["fitted"].as_array().unwrap().len(), 0);
}

#[test]
fn rows_with_other_parameters_are_answered() {
    let folder = Folder::new("steady", &[("steady_random_writes.csv", STEADY)]);
    let json = folder.json();
    let cells = json["sheets"]["cells"].as_array().unwrap();
    let iops: Vec<f64> = cells
        .iter()
        .filter(|cell| cell["column"] == "iops_steady")
        .map(|cell| cell["simulated"].as_f64().unwrap())
        .collect();
    let [uniform, skewed] = iops.as_slice() else {
        panic!("{iops:?}");
    };
    // Another skew gives another value, and both are in the region of the drive.
    assert!((uniform - skewed).abs() > 0.01 * uniform, "{iops:?}");
    assert!(
        (80e3..300e3).contains(uniform) && (80e3..300e3).contains(skewed),
        "{iops:?}"
    );
    let text = folder.outcome().unwrap().to_text();
    assert!(text.contains("the pattern is not defined"), "{text}");
}

const RATES: &str = "drive,unit,offered_total_iops,saturated,achieved_write_iops,achieved_read_iops,read_p50_us\n\
    PE8110,h0,100000,1,79349,5751.6,4806.5\n";

#[test]
fn reads_beside_writes_are_judged_with_the_drive_left_out_too() {
    let files = [
        ("latency_by_offered_rate.csv", RATES),
        ("steady_random_writes.csv", STEADY),
    ];
    let json = Folder::new("left-out", &files).json();
    let kinds = json["sheets"]["by_kind"].as_array().unwrap();
    let line = |of: &str| kinds.iter().find(|line| line["cells_of"] == of).unwrap();
    let read = line("read p50");
    let [own, left_out] =
        ["p90_error", "left_out_p90_error"].map(|key| read[key].as_f64().unwrap());
    // Reads of this drive wait behind writes; those of most others pass them.
    assert!(own < 50.0 && left_out > 80.0, "{read}");
    assert!(line("uniform")["left_out_p90_error"].is_null());
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let folder = Folder::new("same", &[("read_latency_by_depth.csv", READS)]);
    assert_eq!(folder.json(), folder.json());
}

#[test]
fn what_is_wrong_with_the_rows_is_named() {
    let folder = Folder::new("none", &[]);
    let error = folder.outcome().unwrap_err();
    assert!(
        error.contains("has none of the files read_latency_by_depth.csv"),
        "{error}"
    );
    let wrong = READS.replace(",4096,1,4,", ",4096,1,four,");
    let folder = Folder::new("wrong", &[("read_latency_by_depth.csv", &wrong)]);
    let error = folder.outcome().unwrap_err();
    let said =
        "read_latency_by_depth.csv:2: depth_per_thread: is \"four\", which is not a number; write";
    assert!(error.starts_with(said), "{error}");
}
