//! One timeline of a cluster: what a DataNode, its device and Spark recorded belongs together again, as Perfetto shows it.

use crate::support::{browser, meldsim, perfetto};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use meldsim::{Command, Device, Directive, Instant, Pattern, Profile};
use meldsim_timeline::Recording;
use serde_json::Value;

const BLOCK: u64 = 8 << 20;
const REQUEST: u64 = 1 << 20;
const DILATION: u64 = 100;
/// When the DataNode began, in nanoseconds since the epoch.
const BEGIN: u64 = 1_700_000_000_000_000_000;
const UUID: &str = "1f0c";

/// A DataNode's device: two tasks read a block each, eight requests at once, and wait for each.
fn record(folder: &Path) -> u64 {
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    let lba = profile.controller.lba_size.0;
    let mut device = Device::new(&profile).unwrap();
    let nsid = device.create_namespace(4 * BLOCK).unwrap();
    let pattern = Directive::read_pattern(Pattern::Sequential);
    device.preload(nsid, 0, 2 * BLOCK / lba, pattern).unwrap();
    let recording = Recording::new(1 << 22);
    device
        .set_timeline(Some(Box::new(recording.clone())))
        .unwrap();
    let wall = |device: &Device| BEGIN + device.now().as_ps() * DILATION / 1000;

    // Requests come before their commands, if by a nanosecond.
    device.advance_to(Instant::from_ps(1_000_000_000));
    let mut lines = format!(
        "{{\"meld_timeline\":1,\"datanode\":\"{UUID}\",\"host\":\"worker-1\",\"begin_ns\":{BEGIN}}}\n\
         {{\"device\":{{\"n\":0,\"name\":\"/data1\",\"records\":\"meld-timeline-1-0.records\"}}}}\n\
         {{\"clock\":{{\"device\":0,\"sim_ps\":0,\"ns\":{BEGIN},\"dilation\":{DILATION}}}}}\n\
         {{\"volume\":{{\"n\":7,\"device\":0,\"nsid\":{}}}}}\n",
        nsid.0
    );
    let mut spark =
        "{\"meld_spark_timeline\":1,\"application\":\"a\",\"name\":\"secret app\"}\n".to_owned();
    let mut waited = 0;
    for block in 0..2 {
        let begin = wall(&device);
        for request in 0..BLOCK / REQUEST {
            let ticket = block * 100 + request + 1;
            let at = block * BLOCK + request * REQUEST;
            let command = Command::read(nsid, at / lba, (REQUEST / lba) as u32, ticket);
            let ns = wall(&device);
            device.submit(&command).unwrap();
            writeln!(lines, "{{\"request\":{{\"reader\":{block},\"volume\":7,\"ticket\":{ticket},\"ns\":{ns},\"start_byte\":{at},\"bytes\":{REQUEST}}}}}").unwrap();
        }
        let mut ready = Vec::new();
        while let Some(next) = device.next_event() {
            device.advance_to(next);
            while let Some(completion) = device.pop_completion() {
                ready.push((completion.tag, wall(&device)));
            }
        }
        let mut since = begin;
        for (ticket, until) in ready {
            writeln!(lines, "{{\"wait\":{{\"reader\":{block},\"volume\":7,\"ticket\":{ticket},\"begin_ns\":{since},\"end_ns\":{until}}}}}").unwrap();
            waited += until - since;
            since = until;
        }
        let (end, id) = (wall(&device), block + 1000);
        writeln!(lines, "{{\"read\":{{\"reader\":{block},\"volume\":7,\"pool\":\"BP-1\",\"block\":{id},\"client\":\"DFSClient_secret\",\"kind\":\"client\",\"begin_ns\":{begin},\"end_ns\":{end},\"offset\":0,\"bytes\":{BLOCK}}}}}").unwrap();
        writeln!(spark, "{{\"task\":{{\"id\":{block},\"stage\":3,\"stage_attempt\":0,\"index\":{block},\"attempt\":0,\"host\":\"h\",\"executor\":\"driver\",\"begin_ns\":{begin},\"end_ns\":{end},\"successful\":true}}}}").unwrap();
        writeln!(spark, "{{\"read\":{{\"task\":{block},\"path\":\"/secret/part-{block}\",\"pool\":\"BP-1\",\"block\":{id},\"offset\":0,\"bytes\":{BLOCK},\"begin_ns\":{begin},\"end_ns\":{end},\"waited_ns\":5}}}}").unwrap();
    }
    writeln!(spark, "{{\"stage\":{{\"id\":3,\"attempt\":0,\"name\":\"scan\",\"begin_ns\":{BEGIN},\"end_ns\":{}}}}}", wall(&device)).unwrap();
    lines += "{\"lost\":{\"records\":0}}\n";

    device.set_timeline(None).unwrap();
    let records = File::create(folder.join(format!("{UUID}-meld-timeline-1-0.records"))).unwrap();
    recording.write_to(&profile, records).unwrap();
    gzip(
        &folder.join(format!("{UUID}-meld-timeline-1.jsonl.gz")),
        &lines,
    );
    gzip(&folder.join("app.spark.jsonl.gz"), &spark);
    waited
}

fn gzip(path: &Path, text: &str) {
    let mut file = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
    file.write_all(text.as_bytes()).unwrap();
    file.finish().unwrap();
}

fn join(folder: &Path, more: &str) -> (String, Vec<u8>) {
    let output = folder.join("joined.perfetto.gz");
    let outcome = meldsim(&format!(
        "timeline --join {} --timeline {} {more}",
        folder.display(),
        output.display()
    ));
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let mut bytes = Vec::new();
    MultiGzDecoder::new(File::open(&output).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    (outcome.stdout + &outcome.stderr, bytes)
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[test]
fn every_read_has_its_task_and_every_request_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let waited = record(folder.path());
    let (said, trace) = join(folder.path(), "");
    let seconds = waited as f64 / 1e9;
    for expected in [
        "2 tasks, 2 block reads of clients on 1 DataNodes, 16 commands of 1 devices",
        "block reads that a task made: 2 of 2",
        "requests with their command: 16 of 16",
        &format!("readers waited for devices: {seconds:.6} s, tasks {seconds:.6} s of it"),
        "a second of the device takes 100.000 s here",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert!(contains(&trace, "/secret/part-0") && contains(&trace, "worker-1"));
}

#[test]
fn names_can_be_hashes() {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path());
    let (said, trace) = join(folder.path(), "--redact");
    assert!(said.contains("requests with their command: 16 of 16"));
    for name in ["secret", "worker-1", "/data1"] {
        assert!(
            !contains(&trace, name) && !said.contains(name),
            "{name}: {said}"
        );
    }
    assert!(contains(&trace, "path-"));
}

#[test]
fn what_cannot_be_joined_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("timeline --join {} --timeline ", folder.path().display());
    let outcome = meldsim(&format!("{line} x.perfetto.gz"));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("hdfs meld -timeline fetch"),
        "{}",
        outcome.stderr
    );
    let outcome = meldsim(&format!("{line} x.html"));
    assert!(
        outcome.stderr.contains("are for Perfetto"),
        "{}",
        outcome.stderr
    );

    gzip(
        &folder.path().join("u-meld-timeline-1.jsonl.gz"),
        "{\"meld_timeline\":9,\"datanode\":\"\",\"host\":\"\",\"begin_ns\":0}\n",
    );
    let output = folder.path().join("out");
    let outcome = meldsim(&format!("{line} {}", output.display()));
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("line 1: version 9 is not known"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    record(outside.path());
    let folder = outside.path().join("fetched");
    std::fs::create_dir(&folder).unwrap();
    let header = |datanode: &str| {
        format!(
            "{{\"meld_timeline\":1,\"datanode\":\"{datanode}\",\"host\":\"h\",\"begin_ns\":0}}\n"
        )
    };
    let device = |records: &str| {
        format!("{{\"device\":{{\"n\":0,\"name\":\"d\",\"records\":\"{records}\"}}}}\n")
    };
    let records = "meld-timeline-1-0.records";
    // The record file that these name is there.
    let leads_out = format!("/../../{UUID}-{records}");
    std::fs::create_dir(folder.join("u-")).unwrap();
    for (line, text) in [
        (1, header(&format!("../{UUID}")) + &device(records)),
        (2, header("u") + &device(&leads_out)),
    ] {
        gzip(&folder.join("u-meld-timeline-1.jsonl.gz"), &text);
        let output = folder.join("out");
        let outcome = meldsim(&format!(
            "timeline --join {} --timeline {}",
            folder.display(),
            output.display()
        ));
        assert_eq!(outcome.code, 2, "{text}: {}", outcome.stdout);
        let said = format!("line {line}: \"");
        assert!(
            outcome.stderr.contains(&said) && outcome.stderr.contains("is not the name of a file"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn perfetto_shows_the_way_from_a_task_to_flash() {
    let (Some(mut browser), Some(page)) = (browser::start(), perfetto::find()) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let waited = record(folder.path());
    let (_, trace) = join(folder.path(), "");
    browser.resize(1400, 1000);
    let _server = perfetto::open(&mut browser, &page, trace);
    let mut query = |sql: &str| perfetto::query(&mut browser, sql);
    let number = |rows: Vec<Vec<Value>>| rows[0][0].as_f64().unwrap() as u64;
    let errors = query("select name, value from stats where value > 0 and severity != 'info'");
    assert_eq!(errors, Vec::<Vec<Value>>::new());
    for (name, count) in [
        ("task %", 2),
        ("read block", 4),
        ("wait", 16),
        ("request", 16),
        ("stage %", 1),
    ] {
        let sql = format!("select count(*) from slice where name like '{name}'");
        assert_eq!(number(query(&sql)), count, "{name}");
    }
    // A task's read leads to the DataNode's, and each request to its command and on to the dies.
    let linked = |from: &str, to: &str| {
        format!(
            "select count(distinct a.id) from flow join slice a on a.id = slice_out join slice b on b.id = slice_in \
             where a.name like '{from}' and b.name like '{to}'"
        )
    };
    assert_eq!(number(query(&linked("read block", "read block"))), 2);
    assert_eq!(number(query(&linked("request", "%"))), 16);
    assert_eq!(number(query(&linked("melded read", "%"))), 16);
    assert!(number(query(&linked("%", "melded sense"))) > 16);
    // The device's time lies on the wall's: the last command ends with the last read.
    let end = |name: &str| format!("select max(ts + dur) from slice where name like '{name}'");
    let (commands, reads) = (
        number(query(&end("melded read"))),
        number(query(&end("read block"))),
    );
    assert!(commands.abs_diff(reads) <= 1000, "{commands} {reads}");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/timeline.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let (_, after) = docs
        .split_once("Which task waited longest for devices:")
        .unwrap();
    let sql = after.split("```").nth(1).unwrap().trim_start_matches("sql");
    let rows = query(sql.trim().trim_end_matches(';'));
    let of_tasks: f64 = rows.iter().map(|row| row[1].as_f64().unwrap()).sum();
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        (of_tasks - waited as f64 / 1e6).abs() < 0.01,
        "{rows:?} {waited}"
    );
    browser.evaluate("waitForPerfettoIdle().then(() => 0)");
    browser.screenshot(&browser::screenshots().join("joined.png"));
}
