//! fio's command lines as scripts have them: files with options beside them, switches of the output, and jobs that fio would take.

use std::process::Command;

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const SMALL: &str = "--quiet --profile melded-tlc-8x8";

fn requests(line: &str) -> u64 {
    let text = stdout(line);
    let json: Value = serde_json::from_str(&text).unwrap();
    let jobs = json["jobs"].as_array().unwrap();
    jobs.iter()
        .map(|job| job["read"]["total_ios"].as_u64().unwrap())
        .sum()
}

#[test]
fn options_may_stand_before_and_after_a_file() {
    let file = text_file(
        "x.fio",
        "[global]\nioengine=libaio\n[a]\nrw=randread\n[b]\nbs=64k\n",
    );
    let path = &file.path;
    for line in [
        format!("run {SMALL} {path} --size=1m --bs=16k --format json"),
        format!("run {SMALL} -size 1m -bs=16k -filename=/dev/y {path} --output-format=json"),
        format!(
            "run {SMALL} --size=1m --bs=16k --job_max_open_zone=4 --job {path} --eta=never --eta-newline 1 --output-format normal,json+ --readonly"
        ),
    ] {
        assert_eq!(requests(&line), 64 + 16, "{line}");
    }
    let one = format!(
        "run {SMALL} {path} --section=b --size=1m --output-format=json --status-interval 5"
    );
    assert_eq!(requests(&one), 16);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let line = format!(
        "run {SMALL} {path} --size=1m --output-format=json --output={}",
        out.display()
    );
    assert_eq!(stdout(&line), "");
    assert!(
        std::fs::read_to_string(&out)
            .unwrap()
            .contains("\"jobname\": \"a\"")
    );
    assert_eq!(
        stdout(&format!("run {SMALL} {path} --size=1m --parse-only")),
        ""
    );
    assert_eq!(
        meldsim(&format!("run {SMALL} {path} --size=1q --parse-only")).code,
        2
    );
}

/// The fields that scripts read are where fio has them: `cut -d ';' -f 7,8,48,49`.
#[test]
fn terse_lines_have_fios_fields() {
    let job = "--name=c --rw=randrw --size=8m --bs=4k";
    let ours = stdout(&format!("run {SMALL} {job} --minimal"));
    let ours: Vec<&str> = ours.trim_end().split(';').collect();
    let text = stdout(&format!("run {SMALL} {job} --output-format=terse,json"));
    let json: Value = serde_json::from_str(&text).unwrap();
    for (field, direction, key) in [
        (6, "read", "io_kbytes"),
        (7, "read", "bw"),
        (8, "read", "iops"),
        (47, "write", "io_kbytes"),
        (48, "write", "bw"),
        (49, "write", "iops"),
    ] {
        let expected = json["jobs"][0][direction][key].as_f64().unwrap() as u64;
        assert_eq!(ours[field - 1], expected.to_string(), "{field}");
    }
    let args = "--ioengine=null --disk_util=0 --minimal";
    let fio = Command::new("fio")
        .args(job.split(' '))
        .args(args.split(' '))
        .output();
    if let Ok(fio) = fio {
        let fio = String::from_utf8(fio.stdout).unwrap();
        let theirs: Vec<&str> = fio.trim_end().split(';').collect();
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs).skip(3) {
            let shape = |field: &str| {
                (
                    field.contains('%'),
                    field.contains('='),
                    field.contains('.') && !field.contains('='),
                )
            };
            assert_eq!(shape(ours), shape(theirs), "{ours} {theirs}");
        }
    }
}

#[test]
fn blocks_of_a_page_cache_are_widened_and_counted() {
    let etcd = "run --name=etcd --rw=write --ioengine=sync --fdatasync=1 --directory=test-data --size=230000 --bs=2300";
    let text = stdout(&format!("{etcd} {SMALL}"));
    assert!(
        text.contains("etcd: requests were widened to logical blocks"),
        "{text}"
    );
    assert!(text.contains("write  2.25 KiB"), "{text}");
    let json = stdout(&format!("{etcd} {SMALL} --output-format=json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    // 100 writes of 2300 B; 56 of them begin in one block of 4 KiB and end in the next.
    let within = (0..100u64)
        .map(|n| (n * 2300 + 2299) / 4096 - n * 2300 / 4096 + 1)
        .sum::<u64>();
    assert_eq!(json["jobs"][0]["widened_bytes"], within * 4096 - 230_000);
    // As in fio, none after the last write.
    assert_eq!(json["jobs"][0]["sync"]["total_ios"], 99);
    let refused = meldsim(&format!("{etcd} --direct=1 {SMALL}"));
    assert!(
        refused.stderr.contains("use a multiple of 4096 B"),
        "{}",
        refused.stderr
    );
}

#[test]
fn what_takes_too_much_is_refused_with_both_numbers() {
    for (line, said) in [
        (
            "run --rw randwrite --size 4096t",
            "(4096 TiB), but the device can hold 960197124096 B",
        ),
        (
            "run --name=a --rw=randread --bs=4k --size=1g --zonemode=strided --zonesize=1m --zonerange=8388608t",
            "memory: of about 260",
        ),
        ("run /dev/zero", "it has more than the 16777216 B"),
    ] {
        let outcome = meldsim(line);
        assert!(
            outcome.code > 0 && outcome.stderr.contains(said),
            "{line}: {}",
            outcome.stderr
        );
    }
    // What the process may have is known before a long past takes it.
    let drive = "--profile enterprise-8tb --set geometry.blocks_per_plane=3600 --set ftl.mapping_memory=200GiB --set job.norandommap=1";
    for (device, needed) in [
        ("", "1.1 GiB of memory, and this process can have"),
        (drive, "44.1 GiB of memory, and this process can have"),
    ] {
        let limited = format!(
            "ulimit -v 600000; exec {} run {device} --rw randwrite --size 100% --precondition fill=100,random=100 --runtime 1ms",
            crate::support::BINARY
        );
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!("precondition: needs about {needed}")),
            "{said}"
        );
    }
}
