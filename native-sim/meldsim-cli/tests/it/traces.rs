//! Traces from the command line: formats, errors, forms of the result.

use std::io::Write;

use crate::support::{meldsim, stdout, text_file};
use serde_json::Value;

const TPCC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/tpcc-small.trace");
const MELD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/two-scans.meld");
const MSR: &str = "128166372003061629,hm,0,Read,383496192,32768,1331\n\
                   128166372016382155,hm,0,Write,2822144,4096,2049\n\
                   128166372026382245,hm,1,Write,2826240,4096,153903\n";

fn parsed(line: &str) -> Value {
    serde_json::from_str(&stdout(line)).unwrap()
}

#[test]
fn the_shipped_traces_are_served_whole() {
    let document = parsed(&format!(
        "run --profile melded-tlc-8x8 --trace {TPCC} --format json"
    ));
    let job = &document["jobs"][0];
    assert_eq!(job["read"]["total_ios"], 4381);
    assert_eq!(job["write"]["total_ios"], 2618);
    assert_eq!(document["trace"]["records"], 6999);

    let document = parsed(&format!(
        "run --profile melded-tlc-8x8 --trace {MELD} --format json"
    ));
    let jobs = document["jobs"].as_array().unwrap();
    let names: Vec<&str> = jobs
        .iter()
        .map(|job| job["jobname"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["vol0", "vol1"]);
    assert!(document["device"]["melded_reads"].as_u64().unwrap() > 0);
}

#[test]
fn formats_are_told_apart_by_their_first_line() {
    let msr = text_file("hm.csv", MSR);
    let document = parsed(&format!("run --trace {} --format json", msr.path));
    assert_eq!(document["jobs"][0]["jobname"], "hm.0");
    assert_eq!(document["jobs"][1]["write"]["io_bytes"], 4096);
    // The last request came 2.33 s after the first.
    let now_ps = document["device"]["now_ps"].as_u64().unwrap();
    assert!(
        (2_332_061_600_000..2_333_000_000_000).contains(&now_ps),
        "{now_ps}"
    );
    assert_eq!(
        stdout(&format!("run --trace {}", msr.path)),
        stdout(&format!("run --trace {} --trace-format msr", msr.path))
    );
    let outcome = meldsim(&format!("run --trace {} --trace-format mqsim", msr.path));
    assert!(
        outcome.stderr.contains("hm.csv:1: arrival time"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_mark_of_utf_8_or_a_line_of_columns_changes_nothing() {
    let run = |text: &str| {
        let file = text_file("a.csv", text);
        stdout(&format!("run --trace {} --format csv", file.path))
    };
    let columns = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n";
    let plain = run(MSR);
    for text in [
        format!("\u{feff}{MSR}"),
        format!("{columns}{MSR}"),
        format!("\u{feff}{}{MSR}", columns.to_lowercase()),
    ] {
        assert_eq!(run(&text), plain, "{text}");
    }
    let shipped = [TPCC, MELD].map(|path| std::fs::read_to_string(path).unwrap());
    for text in shipped {
        assert_eq!(run(&format!("\u{feff}{text}")), run(&text));
    }
}

#[test]
fn a_compressed_trace_is_the_same_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tpcc.gz");
    let mut file = std::fs::File::create(&path).unwrap();
    // In two members, as rotated files that were joined.
    let text = std::fs::read(TPCC).unwrap();
    let middle = text.len() / 2;
    for part in [&text[..middle], &text[middle..]] {
        let mut gzip = flate2::write::GzEncoder::new(&mut file, flate2::Compression::fast());
        gzip.write_all(part).unwrap();
        gzip.finish().unwrap();
    }
    drop(file);
    let compressed = stdout(&format!("run --trace {}", path.display()));
    assert_eq!(compressed, stdout(&format!("run --trace {TPCC}")));

    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let outcome = meldsim(&format!("run --trace {}", path.display()));
    assert_eq!(outcome.code, 2);
    let remedy = "is cut off or damaged; what is whole: gzip -dc FILE | head -n ";
    let (_, lines) = outcome.stderr.split_once(remedy).unwrap();
    let lines: usize = lines.split(' ').next().unwrap().parse().unwrap();
    assert!((6000..6999).contains(&lines), "{}", outcome.stderr);
}

#[test]
fn columns_are_said_by_hand_and_what_is_doubtful_is_told() {
    let file = text_file(
        "mine.csv",
        "at,n,kind,lba\n1e-05,8,0,64\n2e-05,8,1,128\n1e-05,8,1,64\n0.5e-05,8,1,64\n",
    );
    let named = format!(
        "run --trace {} --trace-columns time=at:s,op=kind:0/1,offset=lba:512B,length=n:512B",
        file.path
    );
    let table = stdout(&named);
    assert!(
        table.contains("doubt: 2 records are earlier than one before them, by up to 10.0 us"),
        "{table}"
    );
    assert!(
        table.contains("merge them by time: sort -s -t ',' -k 1,1g"),
        "{table}"
    );
    let document = parsed(&format!("{named} --format json"));
    assert_eq!(document["jobs"][0]["read"]["io_bytes"], 4096);
    assert_eq!(document["jobs"][0]["write"]["io_bytes"], 3 * 4096);
    let in_order = format!(
        "trace describe {} --trace-columns time:s,length:512B,op:0/1,offset:512B",
        file.path
    );
    assert!(
        stdout(&in_order).contains("format described, times in s"),
        "{}",
        stdout(&in_order)
    );
    for (columns, words) in [
        ("time:us,op,offset", "no column is length"),
        ("time=a:s,op,offset,length", "none is \"a\""),
    ] {
        let outcome = meldsim(&format!(
            "run --trace {} --trace-columns {columns}",
            file.path
        ));
        assert!(
            outcome.code == 2 && outcome.stderr.contains(words),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn one_bad_line_in_the_middle_is_named() {
    let good = std::fs::read_to_string(TPCC).unwrap();
    let mut lines: Vec<&str> = good.lines().collect();
    lines[3499] = "1000000000 3 12x45 16 0";
    let file = text_file("bad.trace", &lines.join("\n"));
    let outcome = meldsim(&format!("run --trace {}", file.path));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    let expected = "bad.trace:3500: first sector: is \"12x45\", which is not a whole number below 2^64; mend or remove the line (read as mqsim; --trace-format and --trace-columns say otherwise)\n";
    assert!(outcome.stderr.ends_with(expected), "{}", outcome.stderr);
}

#[test]
fn an_empty_trace_is_refused_whether_its_format_is_named_or_not() {
    let file = text_file("empty.trace", "");
    for format in ["", "mqsim", "msr", "meld"] {
        let named = match format {
            "" => String::new(),
            format => format!("--trace-format {format}"),
        };
        let outcome = meldsim(&format!("run --trace {} {named}", file.path));
        assert_eq!(outcome.code, 2, "{format}: {}", outcome.stdout);
        let said = "empty.trace:1: (file): is empty; give a trace with records";
        assert!(
            outcome.stderr.contains(said),
            "{format}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn a_trace_without_a_request_is_refused() {
    for text in [
        "\n\n",
        "# nothing\n",
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
        "device_id,opcode,offset,length,timestamp\n",
        "fio version 3 iolog\n",
        "fio version 2 iolog\nf add\nf open\nf close\n",
        "# meld-trace 3\ntime_ns,volume,block,offset,length,op,pattern,client,directory\n",
        "0 0 1000 0 1\n",
    ] {
        let file = text_file("none.trace", text);
        for command in ["run --trace", "what-if", "trace describe"] {
            let outcome = meldsim(&format!("{command} {}", file.path));
            let said = "(file): has no request to replay; give a trace with records";
            assert_eq!(outcome.code, 2, "{text}: {}", outcome.stdout);
            assert!(outcome.stderr.contains(said), "{text}: {}", outcome.stderr);
        }
    }
}

#[test]
fn a_trace_on_zones_is_refused() {
    let file = text_file("a.trace", "0 0 1000 8 1\n");
    let outcome = meldsim(&format!("run --profile zn540 --trace {}", file.path));
    let said = "a.trace:1: volume: has no zones, and those of the device are written in order";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
}

#[test]
fn bad_traces_are_refused_with_a_remedy() {
    let header = "# meld-trace 2\ntime_ns,volume,block,offset,length,op,pattern,client\n";
    for (text, words) in [
        (String::new(), "(file): is empty"),
        // The header that the remedy names is that of the format as it is described.
        (
            "# meld-trace 1\ntime_ns\n".to_owned(),
            "begin the file with \"# meld-trace 3\\ntime_ns,volume,block,offset,length,op,pattern,client,directory\\n\"",
        ),
        (
            "what is this\n".to_owned(),
            "a.trace:1: line: is of no known format",
        ),
        ("# meld-trace 4\n".to_owned(), "version: is 4"),
        ("# meld-trace 1\ntime\n".to_owned(), "a.trace:2: columns"),
        (
            format!("{header}1,v,1,0,4096,read,maybe,client\n"),
            "a.trace:3: pattern",
        ),
        (
            format!("{header}1,v,1,0,4096,read,none\n"),
            "a.trace:3: client: is missing",
        ),
        (
            format!("{header}1,v,1,0,0,read,none,c\n"),
            "a.trace:3: length: is 0",
        ),
        (
            format!("{header}1,v,1,0,2147483648,read,none,c\n"),
            "a.trace:3: length: ends at",
        ),
        ("1 0 0 8 2\n".to_owned(), "a.trace:1: op: is \"2\""),
        (
            "1 0 0 8\n".to_owned(),
            "a.trace:1: line: is of no known format",
        ),
        (
            "1 0 0 8 1\n1 0 0 8 1 7\n".to_owned(),
            "a.trace:2: line: has more fields",
        ),
        (
            "1 0 18446744073709551615 8 1\n".to_owned(),
            "a.trace:1: first sector",
        ),
        (
            "1 0 0 8 1\n99999999999999999 0 0 8 1\n".to_owned(),
            "a.trace:2: arrival time",
        ),
        (
            "1,h,0,Read,0,4096,1\n1,h,0,Erase,0,4096,1\n".to_owned(),
            "a.trace:2: Type",
        ),
    ] {
        let file = text_file("a.trace", &text);
        let outcome = meldsim(&format!("run --trace {}", file.path));
        assert_eq!(outcome.code, 2, "{text}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{text}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains("; "),
            "no remedy: {}",
            outcome.stderr
        );
    }
    let outcome = meldsim(&format!(
        "run --profile melded-tlc-8x8 --trace {TPCC} --beyond refuse"
    ));
    assert!(
        outcome.stderr.contains("tpcc-small.trace:10: offset"),
        "{}",
        outcome.stderr
    );
    for (flags, word) in [
        ("--job x.fio", "--job"),
        ("--speedup 0", "--speedup"),
        ("--replay sideways", "open or closed"),
        ("--iodepth 0", "--iodepth: is 0"),
        ("--interval 0", "--interval"),
        ("--report /nowhere/x.html", "--report: cannot write"),
    ] {
        let outcome = meldsim(&format!("run --trace {TPCC} {flags}"));
        assert_eq!(outcome.code, 2, "{flags}");
        assert!(outcome.stderr.contains(word), "{flags}: {}", outcome.stderr);
    }
    assert_eq!(meldsim("run --speedup 2").code, 2, "needs a trace");
}

#[test]
fn the_way_of_replay_changes_the_result_as_it_should() {
    let now = |flags: &str| {
        let document = parsed(&format!(
            "run --profile melded-tlc-8x8 --trace {TPCC} --format json {flags}"
        ));
        document["device"]["now_ps"].as_u64().unwrap()
    };
    let open = now("");
    let twice = now("--speedup 0.5");
    // Twice as slow: the last arrival comes twice as late, and what waits behind it is short.
    assert!(twice > open * 17 / 10, "{open} {twice}");
    let (one, many) = (now("--replay closed"), now("--replay closed --iodepth 64"));
    assert!(one > many * 2, "{one} {many}");
    let document = parsed(&format!(
        "run --profile melded-tlc-8x8 --trace {TPCC} --format json --iodepth 4"
    ));
    let read = &document["jobs"][0]["read"];
    assert!(
        read["slat_ns"]["max"].as_u64().unwrap() > 0,
        "they wait for one of four places"
    );
    let (slat, clat, lat) = (&read["slat_ns"], &read["clat_ns"], &read["lat_ns"]);
    let mean = |latency: &Value| latency["mean"].as_f64().unwrap();
    let difference = mean(slat) + mean(clat) - mean(lat);
    assert!(difference.abs() < 1.0, "{difference}");
    assert!(lat["percentile"]["99.000000"].as_u64() > clat["percentile"]["99.000000"].as_u64());
}

#[test]
fn a_used_device_is_slower_than_a_fresh_one() {
    // It collects and serves in turns, so that a short trace is enough.
    let document = |flags: &str| {
        parsed(&format!(
            "run --profile p5520 --trace {TPCC} --format json {flags}"
        ))
    };
    let used = document("--precondition fill=100,random=100");
    assert_eq!(used["trace"]["preloaded_bytes"], 0, "all is there");
    assert!(used["device"]["gc_pages_moved"].as_u64() > Some(0));
    assert!(used["flash"]["write_amplification"].as_f64() > Some(1.0));
    assert!(used["fill"]["overwritten_pages"].as_u64() > Some(0));
    assert_eq!(document("")["device"]["gc_pages_moved"], 0);
    for (flags, word) in [
        (
            format!("{TPCC} --precondition random=200"),
            "--precondition",
        ),
        (
            format!("{MELD} --precondition fill=50"),
            "two-scans.meld:4: volume",
        ),
    ] {
        let outcome = meldsim(&format!("run --trace {flags}"));
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(word), "{}", outcome.stderr);
    }
}

#[test]
fn every_form_of_the_result_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (series, page) = (folder.path().join("s.csv"), folder.path().join("p.html"));
    let line = format!(
        "run --profile melded-tlc-8x8 --trace {TPCC} --format csv --interval 1ms --time-series {} --report {}",
        series.display(),
        page.display()
    );
    let csv = stdout(&line);
    assert_eq!(csv.lines().count(), 3);
    assert!(
        csv.lines()
            .nth(1)
            .unwrap()
            .starts_with("trace,read,4381,0,"),
        "{csv}"
    );
    assert_eq!(
        csv,
        stdout(&format!(
            "run --profile melded-tlc-8x8 --trace {TPCC} --format csv"
        )),
        "the series changes nothing"
    );

    let text = std::fs::read_to_string(&series).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    assert!(rows.iter().all(|row| row.len() == header.len()));
    let sum = |name: &str| {
        let cells = rows
            .iter()
            .map(|row| row[column(name)].parse::<f64>().unwrap());
        cells.sum::<f64>()
    };
    assert_eq!(sum("requests"), 6999.0);

    let document = parsed(&format!(
        "run --profile melded-tlc-8x8 --trace {TPCC} --format json --interval 1ms"
    ));
    let intervals = document["time_series"]["tracks"][0]["intervals"]
        .as_array()
        .unwrap();
    assert_eq!(intervals.len() * 2, rows.len());
    let busy = |key: &str| {
        let shares = document["device"][key].as_array().unwrap().iter();
        shares
            .map(|share| share.as_f64().unwrap())
            .collect::<Vec<f64>>()
    };
    let (channels, dies) = (busy("channels_busy_percent"), busy("dies_busy_percent"));
    assert_eq!((channels.len(), dies.len()), (8, 64));
    assert!(
        channels
            .iter()
            .chain(&dies)
            .all(|share| (0.0..=100.0).contains(share))
    );

    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<figure>").count(), 10);
    for needless in ["<link", "http:", "https:", "src=", "NaN", "inf\""] {
        assert!(!html.contains(needless), "{needless}");
    }
}

#[test]
fn a_trace_is_described_and_converted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/traces");
    let text = stdout(&format!("trace describe {folder}/msr.csv"));
    for said in [
        "trace: 6 records in 3.00 s; format msr, times in 100ns\n",
        "rate: 2 IOPS on average, 3 in the busiest second",
        "footprint: 164 KiB in blocks of 4 KiB, 8 KiB read, 160 KiB written; ends at 60.3 MiB",
    ] {
        assert!(text.contains(said), "{text}");
    }
    let there = stdout(&format!(
        "trace convert {folder}/blktrace.bin --to mqsim --quiet"
    ));
    let original = std::fs::read_to_string(format!("{folder}/mqsim.trace")).unwrap();
    let from_zero = |line: &str| {
        let (time, rest) = line.split_once(' ').unwrap();
        (time.parse::<u64>().unwrap() - 1_000_000, rest.to_owned())
    };
    let expected: Vec<_> = original.lines().map(from_zero).collect();
    let lines = there.lines().map(|line| line.split_once(' ').unwrap());
    let found: Vec<_> = lines
        .map(|(time, rest)| (time.parse().unwrap(), rest.to_owned()))
        .collect();
    assert_eq!(found, expected);
    let twice = stdout(&format!(
        "trace convert {folder}/spc.spc --to spc --speedup 2 --repeat 2"
    ));
    assert_eq!(twice.lines().count(), 12);
    assert!(twice.ends_with("0,0,131072,W,3.000000000\n"), "{twice}");
    let outcome = meldsim("trace convert /nowhere --to msr");
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("TRACE: cannot read \"/nowhere\""),
        "{}",
        outcome.stderr
    );
    assert_eq!(meldsim("trace describe - --repeat 2").code, 2);
}

#[test]
fn a_trace_is_replayed_several_times_for_some_time() {
    let records = |flags: &str| {
        let line = format!("run --profile melded-tlc-8x8 --trace {TPCC} --format json {flags}");
        parsed(&line)["trace"].clone()
    };
    assert_eq!(records("--repeat 3")["records"], 3 * 6999);
    // 6999 requests in 1.1 s, one at a time: some still wait then. What had not arrived does not count.
    let cut = records("--iodepth 1 --runtime 100ms");
    let unserved = cut["unserved"].as_u64().unwrap();
    assert!(unserved > 100, "{cut}");
    assert!(cut["records"].as_u64().unwrap() < 6999, "{cut}");
    assert_eq!(records("")["unserved"], Value::Null);
    let file = text_file(
        "seconds.trace",
        &(0..200)
            .map(|n| format!("{n} 0 {} 8 1\n", n * 8))
            .collect::<String>(),
    );
    let table = stdout(&format!("run --trace {}", file.path));
    assert!(table.contains("doubt: times were taken as ns"), "{table}");
    let table = stdout(&format!("run --trace {} --time-unit ms", file.path));
    assert!(!table.contains("doubt"), "{table}");
}
