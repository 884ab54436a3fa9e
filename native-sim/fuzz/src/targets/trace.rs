//! Traces: any bytes are records, or an error that names file and line.

use meldsim_workload::trace::{
    Beyond, Description, Replay, ReplayMode, ReplayOptions, TraceError, TraceFormat, TraceReader,
    TraceWriter,
};

use super::exercise::tiny_profile;

const FILE: &str = "fuzz.trace";
const MOST_RECORDS: usize = 512;
const MOST_BYTES: u64 = 4 << 20;

/// Reads `data`, after a byte of options, as a trace and replays it when it is small.
pub fn run(data: &[u8]) {
    let Some((options, text)) = data.split_first() else {
        return;
    };
    let format = match options & 3 {
        0 => None,
        1 => Some(TraceFormat::Mqsim),
        2 => Some(TraceFormat::Msr),
        _ => Some(TraceFormat::Meld),
    };
    describe_and_convert(text, format, usize::from(options >> 2));
    let reader = match TraceReader::new(FILE, text, format) {
        Ok(reader) => reader,
        Err(error) => return check(&error, text),
    };
    if !readable_and_small(reader, text) {
        return;
    }
    let Ok(reader) = TraceReader::new(FILE, text, format) else {
        panic!("the same trace cannot be read a second time");
    };
    let options = ReplayOptions {
        mode: if options & 4 == 0 {
            ReplayMode::Open
        } else {
            ReplayMode::Closed
        },
        iodepth: if options & 8 == 0 { 65_536 } else { 3 },
        beyond: if options & 16 == 0 {
            Beyond::Wrap
        } else {
            Beyond::Refuse
        },
        speedup: if options & 32 == 0 { 1_000_000 } else { 7 },
        ..ReplayOptions::default()
    };
    match Replay::new(&tiny_profile(), reader, options) {
        Ok(replay) => {
            if let Err(error) = replay.run(|| {}) {
                assert!(!error.to_string().is_empty());
            }
        }
        Err(error) => panic!("the tiny device is refused: {error}"),
    }
}

/// What can be read can be described, and written in every format, which then reads it.
fn describe_and_convert(text: &[u8], format: Option<TraceFormat>, to: usize) {
    let formats: Vec<TraceFormat> = TraceFormat::all().collect();
    let to = formats[to % formats.len()];
    let Ok(mut reader) = TraceReader::new(FILE, text, format) else {
        return;
    };
    let mut written = Vec::new();
    let mut writer = TraceWriter::new(&mut written, to);
    let (mut bytes, mut records) = (0u64, 0);
    while let Ok(Some(record)) = reader.next_record() {
        (bytes, records) = (bytes.saturating_add(record.length), records + 1);
        let volume = &reader.volumes()[record.volume];
        let written = writer.write(&record, volume, "trace");
        assert!(written.is_ok(), "{written:?}");
        if bytes > MOST_BYTES {
            return;
        }
    }
    let lost = writer.finish().expect("memory takes what is written");
    if let Ok(mut reader) = TraceReader::new(FILE, &written[..], Some(to)) {
        let described = Description::of(&mut reader, || {});
        assert_eq!(described.is_ok(), records > lost.records, "{}", to.name());
    }
}

fn readable_and_small(mut reader: TraceReader<&[u8]>, text: &[u8]) -> bool {
    let (mut records, mut bytes) = (0, 0u64);
    loop {
        match reader.next_record() {
            Ok(None) => return records <= MOST_RECORDS && bytes <= MOST_BYTES,
            Ok(Some(record)) => {
                assert!(record.volume < reader.volumes().len());
                records += 1;
                bytes = bytes.saturating_add(record.length);
            }
            Err(error) => {
                check(&error, text);
                return false;
            }
        }
    }
}

fn check(error: &TraceError, text: &[u8]) {
    assert!(error.to_string().starts_with(FILE), "{error}");
    let (TraceError::Line { line, .. } | TraceError::Read { line, .. }) = error else {
        return;
    };
    // A line that is missing is the one after the last.
    let lines = text.split(|byte| *byte == b'\n').count() as u64;
    // A record of a binary trace has 24 B at least.
    let lines = lines.max(text.len() as u64 / 24);
    assert!((1..=lines + 1).contains(line), "{error}");
}
