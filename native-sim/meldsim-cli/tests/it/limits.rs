//! What limits a run, and where the number behind that comes from; and the capacity that a drive is sold with.

use crate::support::{stdout, text_file};
use serde_json::Value;

const TRACE: &str = "../workloads/two-scans.meld";

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(&format!("{line} --format json"))).unwrap()
}

/// A drive that is small enough to fill.
const SMALL: &str = "--profile pm9a3 --set geometry.blocks_per_plane=24 --set geometry.wordlines_per_block=8 --set controller.capacity=0B";

#[test]
fn a_run_names_what_limits_and_whether_that_was_measured() {
    let scan = "--rw read --bs 128k --iodepth 32 --size 128m";
    for (line, limit) in [
        (
            format!("--profile pm9a3 {scan}"),
            "link (host.link_rate 6500MB/s, published), ",
        ),
        (
            format!("--profile pm9a3 --set host.link_rate=1GB/s {scan}"),
            "link (host.link_rate 1GB/s, given), ",
        ),
        (
            format!("--profile pm9a3 --set host.link_rate=0B/s {scan}"),
            "bus (bus.rate 1200MT/s, assumed), ",
        ),
        (
            "--profile pm9a3 --rw write --bs 128k --iodepth 32 --size 256m".to_owned(),
            "dies (timing.program 1970us, fitted), ",
        ),
        (
            "--profile pm9a3 --set host.path=io_uring --rw randread --iodepth 64 --size 64m"
                .to_owned(),
            "host path (host.path_submit_time 2300ns, published), ",
        ),
        (
            format!(
                "{SMALL} --precondition fill=100,random=100 --rw randwrite --iodepth 32 --size 100% --runtime 100ms"
            ),
            "throttle (gc.throttle_iops 74000, fitted), ",
        ),
        (
            "--profile pm9a3 --rw randread --size 1m".to_owned(),
            "latency of one command at a time (no part of the device is saturated)\n",
        ),
        (
            "--profile pm9a3 --rw randread --iodepth 4 --size 1m".to_owned(),
            "iodepth (no part of the device is saturated)\n",
        ),
        // What is left in the buffer keeps the dies busy, and nobody waits for them.
        (
            "--profile 7450-pro --rw randwrite --bs 4k --size 512m".to_owned(),
            "latency of one command at a time (writes hardly wait for the busy dies)\nnote: no host is modelled; through io_uring these ",
        ),
        (
            "--profile melded-tlc-8x8 --rw write --bs 64k --iodepth 64 --size 34m".to_owned(),
            "dies (timing.program 5001us, assumed), ",
        ),
        (
            "--profile 980-pro --rw randwrite --bs 4k --size 2m --set job.fsync=4".to_owned(),
            "flush (controller.flush program, assumed), whose programs take 9",
        ),
        (
            format!("--profile pm9a3 --trace {TRACE}"),
            "trace (requests come no faster; ",
        ),
    ] {
        let text = stdout(&format!("run {line}"));
        let said = format!("\nlimit: {limit}");
        assert!(text.contains(&said), "{line}: no {said:?} in {text}");
    }
    let job = text_file("a.fio", "[j]\nrw=randread\nsize=1m\nrate_iops=1000\n");
    let text = stdout(&format!("run --profile pm9a3 --job {}", job.path));
    assert!(text.contains("\nlimit: rate ("), "{text}");
    let job = text_file(
        "zones.fio",
        "[j]\nrw=write\nbs=4k\nnumjobs=8\nsize=1z\nio_size=8m\noffset_increment=10g\nzonemode=zbd\n",
    );
    let text = stdout(&format!("run --profile zn540 --job {}", job.path));
    let said = "\nlimit: zone writes (zones.write_time 3500ns, fitted), ";
    assert!(text.contains(said), "{text}");
    // As many as a host can ask for, or a device whose own times have the host in them.
    for line in [
        "--profile 7450-pro --set host.path=spdk",
        "--profile optane-900p",
    ] {
        let text = stdout(&format!("run {line} --rw randwrite --bs 4k --size 4m"));
        assert!(!text.contains("no host is modelled"), "{text}");
    }
    let limit = &parsed(&format!("run --profile pm9a3 {scan}"))["limit"];
    assert_eq!(limit["what"], "link");
    assert_eq!(limit["source"], "published");
    assert!(limit["busy_percent"].as_f64().unwrap() > 90.0, "{limit}");
}

#[test]
fn what_no_connector_carries_is_noted() {
    let line = "run --profile enterprise-8tb --rw read --bs 1m --iodepth 64 --size 512m";
    let text = stdout(line);
    assert!(text.contains("is more than PCIe 5.0 x4 carries"), "{text}");
    let text = stdout(&format!("{line} --set host.link_rate=7GB/s"));
    assert!(!text.contains("PCIe"), "{text}");
}

#[test]
fn writes_that_wait_for_whole_blocks_are_noted() {
    let line = |pacing| {
        format!(
            "run {SMALL} --set gc.pacing={pacing} --precondition fill=100,random=100 --rw randwrite --iodepth 32 --size 100% --runtime 100ms"
        )
    };
    let said = "\nnote: writes stand still while whole blocks are collected";
    let (off, credit) = (stdout(&line("off")), stdout(&line("credit")));
    assert!(
        off.contains(said) && !credit.contains(said),
        "{off}{credit}"
    );
    assert_eq!(parsed(&line("off"))["limit"]["waits_for_blocks"], true);
}

#[test]
fn an_answer_that_rests_on_an_assumption_says_so() {
    let file = text_file(
        "p.toml",
        "base = \"pm9a3\"\nname = \"mine\"\n[host]\nlink_rate = \"500MB/s\" # [A] a guess\n",
    );
    let mut scan =
        "# meld-trace 1\ntime_ns,volume,block,offset,length,op,pattern,client\n".to_owned();
    for at in 0..256 {
        scan += &format!(
            "1700000000000000000,vol0,1,{},131072,read,sequential,client\n",
            at * 131_072
        );
    }
    let trace = text_file("scan.meld", &scan);
    let line = format!(
        "what-if {} --closed --iodepth 64 --profile {}",
        trace.path, file.path
    );
    let said =
        "mine as recorded is limited by host.link_rate 500MB/s, which is assumed: measure it";
    let text = stdout(&line);
    assert!(text.contains(said), "{text}");
    let text = stdout(&line.replace(&file.path, "pm9a3"));
    assert!(!text.contains("assumed"), "{text}");
}

#[test]
fn a_percentage_is_of_what_the_drive_is_sold_with() {
    let device = |size: &str| {
        let run = parsed(&format!(
            "run --profile pm9a3 --rw randwrite --size {size} --runtime 1ms"
        ));
        (
            run["jobs"][0]["job options"]["size"].clone(),
            run["fill"]["capacity_pages"].clone(),
        )
    };
    let (whole, pages) = device("100%");
    assert_eq!(
        (whole, pages.as_u64()),
        ("960197124096".into(), Some(960_197_124_096 / 4096))
    );
    let file = text_file("a.fio", "[j]\nrw=randwrite\nsize=100%\nruntime=1ms\n");
    let run = parsed(&format!("run --profile pm9a3 --job {}", file.path));
    assert_eq!(run["fill"]["capacity_pages"], pages);
}

/// Of 122.88 TB and more, in units of which 32 bits number a few or none of those that are used.
#[test]
fn drives_of_more_units_than_32_bits_number_take_every_kind_of_job_and_trace() {
    const DRIVE: &str = "--profile enterprise-8tb --set geometry.blocks_per_plane=3600 --set ftl.mapping_memory=200GiB";
    let zones = "--set zones.size=64GiB --set zones.max_active=4 --set zones.max_open=4 --set controller.write_buffer=1GiB";
    let far = text_file(
        "far.csv",
        "1,hm,0,Write,109951162777600,65536,9\n2,hm,0,Read,109951162777600,4096,9\n3,hm,0,Read,70368744177664,4096,9\n",
    );
    let trace = format!("--trace {}", far.path);
    for (unit, pages) in [("16KiB", "7898923008 pages"), ("4KiB", "31595692032 pages")] {
        let job = |settings: &str, offset: &str, kind: &str| {
            format!("{settings} --rw {kind} --iodepth 16 --size 8m --set job.offset={offset}")
        };
        let mut lines = vec![
            trace.clone(),
            job("--precondition fill=20,random=0", "1t", "randrw"),
        ];
        for kind in [
            "randwrite",
            "randread",
            "randrw",
            "write",
            "trim",
            "randtrim",
            "trimwrite",
        ] {
            lines.push(job("", "100t", kind));
        }
        lines.push(job(
            "--set sets.count=2 --set sets.layout=vertical",
            "40t",
            "randrw",
        ));
        let fdp = "--set fdp.handles=4 --set controller.write_buffer=512MiB --set job.fdp=1";
        lines.push(job(fdp, "100t", "randwrite"));
        if unit == "4KiB" {
            let zoned = |kind: &str| {
                format!(
                    "{zones} --set job.zonemode=zbd --rw {kind} --iodepth 4 --size 128g --set job.offset=64t --set job.io_size=64m"
                )
            };
            lines.extend([zoned("write"), zoned("randread")]);
        }
        for line in lines {
            let said = stdout(&format!("run {DRIVE} --set ftl.mapping_unit={unit} {line}"));
            assert!(said.contains(&format!(" of {pages}")), "{line}: {said}");
        }
    }
}
