//! Every format of traces: the same six requests in each, from each to each, and what is wrong with bad ones.

use meldsim::Duration;
use meldsim_workload::trace::{
    Columns, Description, Extent, Op, Record, TimeUnit, TraceError, TraceFormat, TraceReader,
    TraceWriter,
};
use proptest::prelude::*;

/// A file of `workloads/traces`: its format, when its requests may arrive instead of in the microsecond, and the volume.
const SAMPLES: [(&str, TraceFormat, u64, &str); 19] = [
    ("mqsim.trace", TraceFormat::Mqsim, 1, "trace"),
    ("disksim.trace", TraceFormat::Disksim, 1, "0"),
    ("msr.csv", TraceFormat::Msr, 1, "web.0"),
    ("alibaba.csv", TraceFormat::Alibaba, 1, "3"),
    ("tencent.csv", TraceFormat::Tencent, 1_000_000, "1063"),
    ("systor.csv", TraceFormat::Systor, 1, "4"),
    ("spc.spc", TraceFormat::Spc, 1, "0"),
    ("fiu.blkparse", TraceFormat::Fiu, 1, "6.0"),
    ("version-2.iolog", TraceFormat::Fio, 1, "/dev/nvme0n1"),
    ("version-3.iolog", TraceFormat::Fio, 1, "/dev/nvme0n1"),
    ("blkparse.txt", TraceFormat::Blkparse, 1, "8.0"),
    ("blktrace.bin", TraceFormat::Blktrace, 1, "8.0"),
    (
        "oraclegeneral.bin",
        TraceFormat::OracleGeneral,
        1_000_000,
        "trace",
    ),
    ("ftrace.txt", TraceFormat::Ftrace, 1, "8.0"),
    ("biosnoop.txt", TraceFormat::Biosnoop, 1, "sda"),
    ("fiolog.txt", TraceFormat::Fiolog, 1000, "trace"),
    ("etw.csv", TraceFormat::Etw, 1, "0"),
    ("vscsi.bin", TraceFormat::Vscsi, 1, "trace"),
    ("meld.csv", TraceFormat::Meld, 1, "vol0"),
];

/// Microseconds, operation, offset, length.
const REQUESTS: [(u64, Op, u64, u64); 6] = [
    (0, Op::Read, 4096, 4096),
    (1500, Op::Write, 1_048_576, 16_384),
    (2000, Op::Write, 1_064_960, 16_384),
    (2_000_000, Op::Read, 4096, 4096),
    (2_250_000, Op::Read, 63_209_472, 512),
    (3_000_000, Op::Write, 0, 131_072),
];

fn sample(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/traces");
    std::fs::read(format!("{folder}/{name}")).unwrap()
}

fn records(text: &[u8], format: Option<TraceFormat>) -> Result<Vec<Record>, TraceError> {
    let mut reader = TraceReader::new("t", text, format)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(records)
}

fn converted(text: &[u8], to: TraceFormat) -> Result<Vec<u8>, TraceError> {
    let mut reader = TraceReader::new("t", text, None)?;
    let mut out = Vec::new();
    let mut writer = TraceWriter::new(&mut out, to);
    while let Some(record) = reader.next_record()? {
        let client = record
            .client
            .map_or("trace", |client| &reader.clients()[client]);
        writer
            .write(&record, &reader.volumes()[record.volume], client)
            .unwrap();
    }
    writer.finish().unwrap();
    Ok(out)
}

/// Whether records are the requests, as far as a format can say: when, in steps of microseconds; and whether it has writes.
fn assert_requests(found: &[Record], step_us: u64, writes: bool, what: &str) {
    let moving: Vec<&Record> = found
        .iter()
        .filter(|record| record.op.moves_data())
        .collect();
    let expected: Vec<_> = REQUESTS
        .iter()
        .filter(|(_, op, ..)| writes || *op == Op::Read)
        .collect();
    assert_eq!(moving.len(), expected.len(), "{what}: {found:?}");
    for (record, (us, op, offset, length)) in moving.iter().zip(expected) {
        let arrival_us = record.arrival.as_ps() / 1_000_000;
        assert!(
            arrival_us.abs_diff(us / step_us * step_us) <= 2,
            "{what}: {record:?}"
        );
        let op = if writes { *op } else { Op::Read };
        assert_eq!(
            (record.op, record.offset, record.length),
            (op, *offset, *length),
            "{what}"
        );
    }
}

#[test]
fn each_format_is_known_by_its_first_lines_and_says_the_same() {
    for (name, format, step_us, volume) in SAMPLES {
        let text = sample(name);
        let mut reader = TraceReader::new(name, &text[..], None).unwrap();
        assert_eq!(reader.format(), format, "{name}");
        assert!(!reader.is_unit_inferred(), "{name}");
        let has_writes = format != TraceFormat::OracleGeneral;
        assert_requests(&records(&text, None).unwrap(), step_us, has_writes, name);
        assert_eq!(
            records(&text, None).unwrap(),
            records(&text, Some(format)).unwrap(),
            "{name}"
        );
        let description = Description::of(&mut reader, || {}).unwrap();
        assert_eq!(reader.volumes(), [volume], "{name}");
        assert_eq!(description.read.requests, 3, "{name}");
        assert_eq!(description.doubt, None, "{name}");
        assert_eq!(description.footprint.read_bytes, 8192, "{name}");
    }
}

#[test]
fn each_format_becomes_each_other() {
    for (name, from, from_us, _) in SAMPLES {
        for to in TraceFormat::all() {
            let what = format!("{name} to {}", to.name());
            let written = converted(&sample(name), to).unwrap();
            let read = records(&written, None).unwrap_or_else(|error| panic!("{what}: {error}"));
            let to_us = match to {
                TraceFormat::Tencent | TraceFormat::OracleGeneral => 1_000_000,
                TraceFormat::Fiolog => 1000,
                _ => 1,
            };
            let writes = from != TraceFormat::OracleGeneral && to != TraceFormat::OracleGeneral;
            assert_requests(&read, from_us.max(to_us), writes, &what);
            let again = converted(&written, to).unwrap();
            assert_eq!(records(&again, None).unwrap(), read, "{what}, and again");
        }
    }
}

#[test]
fn flushes_and_trims_pass_where_a_format_has_them() {
    for to in [
        TraceFormat::Fio,
        TraceFormat::Blkparse,
        TraceFormat::Blktrace,
    ] {
        let read = records(&converted(&sample("blkparse.txt"), to).unwrap(), None).unwrap();
        let others: Vec<_> = read
            .iter()
            .filter(|record| !record.op.moves_data())
            .collect();
        assert_eq!(others.len(), 2, "{}", to.name());
        assert_eq!((others[0].op, others[1].op), (Op::Flush, Op::Trim));
        assert_eq!(
            (others[1].offset, others[1].length),
            (8192 * 512, 2048 * 512)
        );
        assert_eq!(others[1].arrival, Duration::from_us(1_500_000));
    }
}

#[test]
fn blocks_of_a_volume_lie_apart() {
    let header = meldsim_workload::trace::MELD_HEADER;
    let text = format!(
        "{header}1,v,7,0,4096,write,none,c,0\n2,v,9,4096,512,read,none,c,0\n3,v,7,0,0,delete,none,c,0\n"
    );
    let read = records(&converted(text.as_bytes(), TraceFormat::Fio).unwrap(), None).unwrap();
    let places: Vec<_> = read
        .iter()
        .map(|record| (record.op, record.offset, record.length))
        .collect();
    let gib = 1 << 30;
    assert_eq!(
        places,
        [
            (Op::Write, 0, 4096),
            (Op::Read, gib + 4096, 512),
            (Op::Trim, 0, gib)
        ]
    );
    // The other way: what crosses a block's end is two requests.
    let back = converted(b"0 0 2097144 16 1\n", TraceFormat::Meld).unwrap();
    let read = records(&back, None).unwrap();
    assert_eq!((read[0].extent, read[0].length), (Extent::Block(0), 4096));
    assert_eq!(
        (read[1].extent, read[1].offset, read[1].length),
        (Extent::Block(1), 0, 4096)
    );
}

#[test]
fn a_request_of_absurd_length_is_left_out_of_blocks() {
    let header = meldsim_workload::trace::MELD_HEADER;
    let written = converted(b"0 0 0 36028797018963967 1\n", TraceFormat::Meld).unwrap();
    assert_eq!(written, header.as_bytes());
}

#[test]
fn what_real_files_do_is_read() {
    for (text, format, expected) in [
        // Columns' names of one's own, blanks after commas, capitals, a byte of Windows' lines.
        (
            "dev, op, offset, size, time\r\n7, READ, 0, 4096, 10\r\n7, write, 4096, 512, 20\r\n",
            "alibaba",
            2,
        ),
        // No response time; a table's export with decimals; hexadecimal.
        (
            "128166372003061629,hm,0,Read,4096.0,0x1000\n128166372003061639,hm,0,Write,0,512\n",
            "msr",
            2,
        ),
        // SCSI's operation codes, more fields, a request of nothing.
        (
            "0,8,4096,28,0.5,x,y\n0,8,4096,2A,0.6,x\n0,8,0,r,0.7\n",
            "spc",
            2,
        ),
        // Comments, empty lines, tabs.
        (
            "# recorded\n\n1000\t0\t8\t8\t1\n2000  0 8 8  0\n",
            "mqsim",
            2,
        ),
        (
            "0.5 0 8 8 1\n1 0 16 8 40000001\n2.25 1 8 8 0\n",
            "disksim",
            3,
        ),
        // Files that were joined.
        (
            "fio version 3 iolog\n1 f read 0 512\nfio version 2 iolog\nf write 0 512\nf wait 7 0\nf sync 0 0\n",
            "fio",
            3,
        ),
        // Only queued or only completed requests, a command that is passed through.
        (
            "8,16 1 1 0.000000001 7 Q R 8 + 8 [a]\n8,16 1 1 0.000000001 7 C R 8 + 8 [0]\n",
            "blkparse",
            1,
        ),
        (
            "8,16 1 1 0.000000001 0 C W 8 + 8 [0]\n259,0 1 1 0.000000001 0 C W 8 + 8 [0]\n",
            "blkparse",
            2,
        ),
        (
            "8,0 1 1 0.1 7 D R 8 + 8 [a]\n8,0 1 2 0.2 7 D R 24 (12 00 00) [hald]\n8,0 1 3 0.3 7 D FF [a]\n",
            "blkparse",
            2,
        ),
        ("10,20782,1,gzip,2\n", "", 0),
        // blkparse's own: processes' names, times of each request, what -s prints of each process.
        (
            "8,0 1 1 0.1 7 D R 8 + 8 [(sd-pam)]\n8,0 1 2 0.2 7 D W 8 + 8 [kworker/u8:2+flush-259:0]\n\
             8,0 1 3 0.3 7 D RA 8 + 8 (    1234) [a) + 3]\n8,0 1 4 0.4 7 D FN 0 (    12) [a (b)]\n\
             8,0 1 5 0.5 7 C R 8 + 8 (  900) [0]\n8,0 1 6 0.6 7 m N cfq7 (x) + 8\n\
             fio (7)\n Reads Queued:           3,       12KiB\t Writes Queued:  1, 4KiB\n\nCPU0 (8,0):\n\
             Total (8,0):\n Reads Queued: 3, 12KiB\nThroughput (R/W): 1KiB/s / 2KiB/s\nEvents (8,0): 6 entries\nSkips: 0 forward\n",
            "blkparse",
            4,
        ),
        // As trace-cmd and perf print tracepoints; a command passed through, a flush, completions.
        (
            "cpus=4\n           fio-81 [002]   9.000001: block_rq_issue:       259,0 WS 4096 () 8 + 8 [fio]\n\
             a b-9 [000] 9.1: block_rq_issue: 259,0 FF 0 () 18446744073709551615 + 0 none,0,0 [a b]\n\
             a-9 [000] 9.2: block_rq_issue: 8,0 N 36 (12 00 00 00) 0 + 0 [a]\n\
             a-9 [000] 9.2: block_rq_complete: 8,0 R () 8 + 8 [0]\nCPU 3 is empty\n",
            "ftrace",
            2,
        ),
        (
            "fio 81 [002] 9.000001:    block:block_bio_queue: 259,0 R 8 + 8 [fio]\n",
            "ftrace",
            1,
        ),
        // biosnoop in C with queueing times; in Python of old, without a disk and a sector.
        (
            "TIME(s)     COMM           PID     DISK      T      SECTOR     BYTES   QUE(ms) LAT(ms)\n\
             0.000000    kworker/u8:2+f 88      nvme0n1   WS     8          4096    0.001   0.210\n\
             0.100000    kworker/u8:2   88      nvme0n1   FF     -1         0       0.001   0.210\n",
            "biosnoop",
            2,
        ),
        (
            "TIME(s)        COMM           PID    DISK    T  SECTOR    BYTES   LAT(ms)\n\
             0.000000000    ?              0              R  -1        8       0.26\n\
             0.1  Web Content  3  sda  R  8  512  0.3\n0.2  a 5 b  3  sda  R  8  512  0.3\n",
            "biosnoop",
            2,
        ),
        // Logs of fio with priorities, with times of issue, of before 3.27; of xperf with the processor.
        (
            "0, 61, 0, 4096, 8192, 0x0001\n1, 61, 2, 4096, 0, 0x0001\n",
            "fiolog",
            2,
        ),
        ("0, 61, 0, 4096, 8192, 0, 123456789\n", "fiolog", 1),
        ("0, 61, 0, 4096, 0\n2, 61, 1, 4096, 8192\n", "fiolog", 2),
        (
            "BeginHeader\r\nDiskRead,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum\r\n\
             EndHeader\r\nOS Version: 6.1\r\nCSwitch, 12, x\r\nDiskRead, 13, a.exe ( 4), 8, 1, 0xfa, 0x00123000, 0x00001000, 20, 0\r\n\
             DiskFlush, 14, a.exe ( 4), 8\r\n",
            "etw",
            1,
        ),
        // Tables as they are exported: an index, other orders, separators, quotes, exponents.
        (
            ",Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n0,128166372003061629,web,0,Read,4096.0,4096,1331\n",
            "msr",
            1,
        ),
        (
            "\u{feff}Size;offset;Type;\"DiskNumber\";Hostname;Timestamp\r\n4096;0;Write;1;usr;128166372003061629\r\n",
            "msr",
            1,
        ),
        (
            "\tTimestamp\tResponse\tIOType\tLUN\tOffset\tSize\n0\t1e-05\t2e-4\tR\t0\t4.096e+03\t512\n1\t1.5e-05\t\tW\t0\t0\t512\n",
            "systor",
            2,
        ),
        (
            "\"3\",\"R\",\"0\",\"4096\",\"1577808000000626\"\n",
            "alibaba",
            1,
        ),
    ] {
        match (
            TraceReader::new("t", text.as_bytes(), None),
            records(text.as_bytes(), None),
        ) {
            (Ok(reader), Ok(records)) => {
                assert_eq!(reader.format().name(), format, "{text}");
                assert_eq!(records.len(), expected, "{text}");
            }
            (_, Err(error)) => assert_eq!((format, expected), ("", 0), "{text}: {error}"),
            (Err(error), _) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn a_table_of_no_format_is_refused_with_the_nearest() {
    for (text, words) in [
        (
            "0.1,5,0,R,8192,4096,12\n0.2,5,0,W,8192,4096,12\n",
            "t:1: line: is of no known format",
        ),
        (
            "100,0,1,R,64,8,12\n",
            "the nearest is fiolog, but for \"R\" as block size",
        ),
        (
            "1,5,1,R,8192\n2,5,1,W,8192\n",
            "t:1: line: is of no known format",
        ),
        ("7,0,4096,1,3\n9,4096,4096,0,3\n", "the nearest is"),
        ("0.5,sda,R\n", "is of no known format: \"0.5,sda,R\""),
        (
            "ts,dev,cpu,op,sector,count,lat\n100,sda,3,R,64,512,12\n",
            "t:1: columns: are \"ts,dev,cpu,op,sector,count,lat\"; the lines look like msr",
        ),
        (
            "time,lba,n,what\n100,64,8,R\n",
            "t:2: line: is of no known format: \"100,64,8,R\"",
        ),
        (
            "# Notes\n\nOn 4 of 9 disks we saw 3 5 R 8 0 of it\n4 of 9 disks 3 5 R 8 0 each\nand more\nand more\n",
            "is of no known format",
        ),
        ("\u{0}T\u{0}i", "is of no known format"),
        (
            "0, 61, 0, 4096, 0\n2, 61, 1, 4096, 0\n",
            "t:1: offset: is in no line of this log of fio's; record it again with log_offset=1",
        ),
        ("0, 61, 0, 4096\n", "record it again with log_offset=1"),
    ] {
        let error = records(text.as_bytes(), None).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
    let utf_16: Vec<u8> = "\u{feff}a,b"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let error = records(&utf_16, None).unwrap_err().to_string();
    assert!(
        error.contains("is text in UTF-16; pipe it: iconv"),
        "{error}"
    );
    let error = records(b"1000 0 8 8 1\n1001 0 x 8 1\n", None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("t:2: first sector: is \"x\"") && error.contains("(read as mqsim;"),
        "{error}"
    );
}

#[test]
fn a_table_of_ones_own_is_described() {
    let read = |columns: &str, text: &str| {
        let mut reader = TraceReader::described("t", text.as_bytes(), &columns.parse().unwrap())?;
        let mut read = Vec::new();
        while let Some(record) = reader.next_record()? {
            read.push((
                record.arrival.as_ps() / 1000,
                record.op,
                record.offset,
                record.length,
                record.volume,
            ));
        }
        Ok::<_, TraceError>(read)
    };
    let all = [
        (0, Op::Read, 4096, 512, 0),
        (10_000, Op::Write, 0, 4096, 1),
        (20_000, Op::Read, 0, 4096, 0),
    ];
    for (columns, text) in [
        (
            "time:us,volume,op,offset:512B,length:B",
            "5,a,R,8,512\n15,b,W,0,4096\n25,a,r,0,4096\n",
        ),
        (
            "time=start_time:s,op=Op Type,offset=file_offset,length=n:sectors,volume=file",
            "\u{feff},n,\"Op Type\",Start_Time,file,file_offset,x\r\n0,1,READ,1e-05,a,4096.0,nan\r\n\r\n1,8,WRITE,2e-05,b,0.0,\r\n2,8,Read,3e-05,a,0,1\r\n",
        ),
        (
            "-,op:in/out,length,offset:4KiB,time:ms,volume",
            "x in 512 1 .5e0 a\n",
        ),
        (
            "-,op:0/1,length,offset:4KiB,time:ms,volume",
            "x\t0\t512\t1\t7.00\ta\t\nx\t1\t4096\t0\t7.01\tb\ty\n\t0\t4096\t0\t7.02\ta\n",
        ),
    ] {
        match text.contains(".5e0") {
            true => assert!(
                read(columns, text)
                    .unwrap_err()
                    .to_string()
                    .contains("t:1: time: is \".5e0\"")
            ),
            false => assert_eq!(read(columns, text).unwrap(), all, "{columns}"),
        }
    }
    let all = "time:us,op,offset,length";
    let read = read(all, "1;flush;0;0\n2;discard;0;512\n3;WS;0;512\n").unwrap();
    assert_eq!(
        read.iter().map(|record| record.1).collect::<Vec<_>>(),
        [Op::Flush, Op::Trim, Op::Write]
    );
    for (columns, words) in [
        ("op,offset,length", "no column is time"),
        (
            "time,op,offset,length",
            "\"time\" has no unit; write one of",
        ),
        ("time:min,op,offset,length", "\"time:min\": use"),
        ("time:us,op,offset:x,length", "\"x\" is no unit"),
        (
            "time:us,op,offset,length,size",
            "\"size\" is no column; use time, op",
        ),
    ] {
        let error = columns.parse::<Columns>().unwrap_err();
        assert!(error.contains(words), "{columns}: {error}");
    }
}

#[test]
fn what_is_missing_of_a_table_of_ones_own_is_named() {
    for (columns, text, words) in [
        (
            "time=t:s,op=kind,offset=o,length=n",
            "t,op,o,n\n1,R,0,512\n",
            "t:1: columns: are \"t,op,o,n\", none is \"kind\"",
        ),
        (
            "time:s,op,offset,length",
            "1,R,0,512\n2,R,0\n",
            "t:2: length: is missing",
        ),
        (
            "time:s,op,offset,length",
            "1,copy,0,512\n",
            "op: is \"copy\", which no one knows: name those of reads and writes",
        ),
    ] {
        let reader = TraceReader::described("t", text.as_bytes(), &columns.parse().unwrap());
        let error = reader.and_then(|mut reader| {
            while reader.next_record()?.is_some() {}
            Ok(())
        });
        let error = error.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn files_that_overlap_in_time_are_doubted_with_what_merges_them() {
    let doubt = |text: &[u8]| {
        let mut reader = TraceReader::new("t", text, None).unwrap();
        Description::of(&mut reader, || {}).unwrap().doubt
    };
    let alibaba = |from: u64, lines: u64| -> String {
        let line = |n: u64| {
            format!(
                "1,R,{},4096,{}\n",
                n * 4096,
                1_577_808_000_000_000 + (from + n) * 1000
            )
        };
        (0..lines).map(line).collect()
    };
    // Wholly, in three lines or many; in part, where many come late though not far.
    for (first, second, late) in [
        ((0, 3), (0, 3), 2),
        ((0, 500), (10, 500), 489),
        ((0, 5000), (4900, 5000), 99),
    ] {
        let text = alibaba(first.0, first.1) + &alibaba(second.0, second.1);
        let doubt = doubt(text.as_bytes()).unwrap();
        assert!(
            doubt.starts_with(&format!(
                "{late} records are earlier than one before them, by up to "
            )),
            "{doubt}"
        );
        assert!(
            doubt.ends_with("merge them by time: sort -s -t ',' -k 5,5g"),
            "{doubt}"
        );
    }
    let late = |n: u64| if n % 10 == 9 { n - 3 } else { n };
    let little: String = (0..500).map(|n| alibaba(late(n), 1)).collect();
    assert_eq!(
        doubt(little.as_bytes()),
        None,
        "one now and then is a processor's"
    );
    let mut two = sample("blktrace.bin");
    two.extend(sample("blktrace.bin"));
    assert!(
        doubt(&two)
            .unwrap()
            .ends_with("merge them by time: blkparse -i NAME -d merged.bin")
    );
    let in_blanks = "5 0 8 8 1\n9 0 8 8 1\n5 0 8 8 1\n6 0 8 8 1\n";
    assert!(
        doubt(in_blanks.as_bytes())
            .unwrap()
            .ends_with("sort -s -k 1,1g")
    );
}

#[test]
fn a_binary_trace_that_is_cut_off_is_read_as_far_as_it_goes() {
    for (name, bytes, whole) in [
        ("blktrace.bin", 48, 5),
        ("vscsi.bin", 32, 5),
        ("oraclegeneral.bin", 24, 2),
    ] {
        let text = sample(name);
        let cut = &text[..text.len() - bytes / 2];
        let mut reader = TraceReader::new("t", cut, None).unwrap();
        let description = Description::of(&mut reader, || {}).unwrap();
        assert!(
            description.records >= whole,
            "{name}: {}",
            description.records
        );
        let (doubt, there) = (description.doubt.unwrap(), text.len() - bytes);
        let words = format!(
            "of {bytes} B, after {there} B that are whole; they are read: {} records in ",
            description.records
        );
        assert!(
            doubt.starts_with("the trace is cut off: record ") && doubt.contains(&words),
            "{name}: {doubt}"
        );
    }
}

#[test]
fn a_time_unit_is_inferred_or_said() {
    let lines: String = (0..40)
        .map(|n| format!("1,R,{},4096,{}\n", n * 4096, 1_577_808_000 + n / 20))
        .collect();
    let reader = TraceReader::new("t", lines.as_bytes(), None).unwrap();
    assert!(reader.is_unit_inferred());
    assert_eq!(reader.time_unit(), TimeUnit::S);
    assert_eq!(
        records(lines.as_bytes(), None).unwrap()[39].arrival,
        Duration::from_us(1_000_000)
    );
    let mut said = TraceReader::new("t", lines.as_bytes(), None)
        .unwrap()
        .with_time_unit(TimeUnit::Us);
    let description = Description::of(&mut said, || {}).unwrap();
    assert!(description.doubt.unwrap().contains("--time-unit"));
}

#[test]
fn volumes_are_chosen_by_name() {
    let text = "1,R,0,4096,1\n2,W,0,4096,2\n1,R,4096,4096,3\n3,R,0,512,4\n";
    let chosen = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut reader = TraceReader::new("t", text.as_bytes(), None)
            .unwrap()
            .with_volumes(&names);
        let description = Description::of(&mut reader, || {})?;
        Ok::<_, TraceError>((description.records, reader.volumes().to_vec()))
    };
    assert_eq!(
        chosen(&["1", "3"]).unwrap(),
        (3, vec!["1".to_owned(), "3".to_owned()])
    );
    assert_eq!(chosen(&[]).unwrap().0, 4);
    let error = chosen(&["9"]).unwrap_err().to_string();
    assert!(
        error.contains("--volume: is \"9\"") && error.contains("use some of 1, 2, 3"),
        "{error}"
    );
    let text = "8,16 1 1 0.1 0 D W 8 + 8 [0]\n259,0 1 1 0.2 0 D W 8 + 8 [0]\n".as_bytes();
    let mut reader = TraceReader::new("t", text, None)
        .unwrap()
        .with_volumes(&["259,0".to_owned()]);
    assert_eq!(Description::of(&mut reader, || {}).unwrap().records, 1);
}

#[test]
fn times_that_go_back_are_counted() {
    let text: &[u8] =
        b"0,8,512,r,5.0\n0,8,512,r,4.0\n0,8,512,w,6.0\n0,8,512,w,5.5\n0,8,512,w,1.0\n";
    let mut reader = TraceReader::new("t", text, None).unwrap();
    let description = Description::of(&mut reader, || {}).unwrap();
    assert_eq!((description.out_of_order, description.span_us), (3, 1e6));
}

#[test]
fn a_trace_is_read_again_from_its_last_arrival() {
    let text: &[u8] = b"fio version 3 iolog\n5 f read 0 512\n9 f write 0 512\n";
    let mut reader = TraceReader::new("t", text, None)
        .unwrap()
        .with_passes(3, move || Ok(text));
    let mut arrivals = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        arrivals.push(record.arrival.as_ps() / 1_000_000);
    }
    assert_eq!(arrivals, [0, 4, 4, 8, 8, 12]);
}

#[test]
fn bad_lines_are_named_with_a_remedy() {
    let iolog = "fio version 3 iolog\n";
    for (format, text, words) in [
        (
            "disksim",
            "0.5 0 8 8 1\n1.0 0 8 8 zz\n",
            "t:2: flags: is \"zz\"",
        ),
        ("disksim", "0.5 0 8 8\n", "t:1: flags: is missing"),
        (
            "msr",
            "-5,h,0,Read,0,4096,1\n",
            "t:1: Timestamp: is \"-5\", which is not a time",
        ),
        (
            "msr",
            "1,h,0,Read,0,4096,1\n2,h,0,Read,0\n",
            "t:2: Size: is missing",
        ),
        ("alibaba", "1,R,-4096,4096,1\n", "t:1: offset: is \"-4096\""),
        ("alibaba", "1,R,0,4096,1,9\n", "t:1: line: has more fields"),
        ("alibaba", ",R,0,4096,1\n", "t:1: device_id: is blank"),
        (
            "tencent",
            "1,8,8,2,7\n",
            "t:1: IOType: is \"2\", which is neither 0 (read) nor 1 (write)",
        ),
        (
            "tencent",
            "1,36028797018963968,8,0,7\n",
            "t:1: Offset: is 36028797018963968, which is more than 2^64 B",
        ),
        ("systor", "1.5,0.1,Q,0,0,512\n", "t:1: IOType: is \"Q\""),
        (
            "systor",
            "1.5.2,0.1,R,0,0,512\n",
            "t:1: Timestamp: is \"1.5.2\"",
        ),
        ("spc", "0,8,4096,r,\n", "t:1: Timestamp: is missing"),
        (
            "spc",
            "0,8,18446744073709551615,r,1\n",
            "t:1: Size: ends beyond 2^64 B",
        ),
        ("fiu", "1 2 p 8 8 X 6 0 md\n", "t:1: op: is \"X\""),
        ("fiu", "1 2 p 8 8 R 6\n", "t:1: minor: is missing"),
        (
            "",
            "fio version 1 iolog\n0, 4096, 4096\n",
            "t:1: version: is 1",
        ),
        (
            "",
            &format!("{iolog}5 f wrote 0 512\n"),
            "t:2: action: is \"wrote\"",
        ),
        (
            "",
            &format!("{iolog}5 f write 0\n"),
            "t:2: length: is missing",
        ),
        (
            "",
            &format!("{iolog}f write 0 512\n"),
            "t:2: timestamp: is \"f\"",
        ),
        (
            "blkparse",
            "8,0 1 1 0.1 7 D R 8x + 8 [a]\n",
            "t:1: sector: is \"8x\"",
        ),
        (
            "blkparse",
            "8,0 1 1 0.1 7 D R 8 8 [a]\n",
            "t:1: sectors: do not stand behind a plus",
        ),
        (
            "blkparse",
            "8,0 1 1 later 7 D R 8 + 8 [a]\n",
            "t:1: time: is \"later\"",
        ),
        ("blkparse", "8,0 1 1 0.1 7 D W\n", "t:1: sector: is missing"),
        (
            "blktrace",
            "not a record, but as long as one: 48 bytes of it",
            "t:1: record: begins with",
        ),
        ("blktrace", "short", "t:1: record: has 5 of 48 B"),
        ("oraclegeneral", "short", "t:1: record: has 5 of 24 B"),
        ("", "\u{28}\u{b5}", "is of no known format"),
        (
            "",
            "BZh91AY",
            "t:1: (file): is compressed by bzip2; pipe it",
        ),
        ("", "PK\u{3}\u{4}", "is a zip archive"),
    ] {
        let format = (!format.is_empty()).then(|| format.parse().unwrap());
        let error = records(text.as_bytes(), format).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
        assert!(error.contains("; "), "no remedy: {error}");
    }
}

#[test]
fn a_large_footprint_is_estimated_in_little_memory() {
    let mut text = String::new();
    for n in 0..400_000u64 {
        let sector = n % 300_000 * 8;
        text += &format!("{} 0 {sector} 8 1\n", n * 10_000);
    }
    let mut reader = TraceReader::new("t", text.as_bytes(), None).unwrap();
    let footprint = Description::of(&mut reader, || {}).unwrap().footprint;
    assert!(footprint.is_estimate);
    let relative = footprint.bytes as f64 / (300_000.0 * 4096.0);
    assert!((0.97..1.03).contains(&relative), "{relative}");
    assert!(
        (24.0..26.0).contains(&footprint.reuse_percent),
        "{footprint:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A sample with some bytes changed, cut or doubled is records, or an error that names the file and a remedy; whatever
    /// could be read can be written in every format.
    #[test]
    fn damaged_samples_are_read_or_refused(
        which in 0..SAMPLES.len(),
        changes in prop::collection::vec((0usize..1000, any::<u8>()), 0..6),
        end in 0usize..1200,
        named in any::<bool>(),
        to in 0usize..18,
    ) {
        let (name, format, ..) = SAMPLES[which];
        let mut text = sample(name);
        for (at, byte) in changes {
            let at = at % text.len();
            text[at] = byte;
        }
        text.truncate(end.max(1));
        match records(&text, named.then_some(format)) {
            Err(TraceError::Line { file, remedy, .. }) => prop_assert!(file == "t" && !remedy.is_empty()),
            Err(error) => prop_assert!(false, "{error}"),
            Ok(found) => {
                let to = TraceFormat::all().nth(to).unwrap();
                if let Ok(written) = converted(&text, to) {
                    let read = if written.is_empty() { Ok(Vec::new()) } else { records(&written, Some(to)) };
                    prop_assert!(read.is_ok(), "{read:?} of {found:?}");
                }
            }
        }
    }
}
