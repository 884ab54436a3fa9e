//! What replaying traces does to the device.

use meldsim::{Pattern, Profile};
use meldsim_workload::trace::{MELD_HEADER, Replay, ReplayOptions, TraceReader};
use meldsim_workload::{RunError, RunResult};

fn replay(text: &str, options: ReplayOptions) -> Result<RunResult, RunError> {
    let reader = TraceReader::new("t", text.as_bytes(), None)?;
    let profile = Profile::builtin("melded-tlc-8x8").unwrap();
    Replay::new(&profile, reader, options)?.run(|| {})
}

#[test]
fn what_is_read_and_never_written_is_there() {
    let text = "0 0 0 8 1\n1000 0 80000 8 0\n2000 0 80000 8 1\n3000 0 160000 1600 1\n";
    let result = replay(text, ReplayOptions::default()).unwrap();
    let (trace, stats) = (result.trace.unwrap(), result.device.stats);
    assert_eq!(stats.unmapped_page_reads, 0);
    assert_eq!((trace.without_room, trace.records), (0, 4));
    assert!(trace.preloaded_bytes >= (8 + 1600) * 512);
    assert_eq!(result.jobs[0].read.as_ref().unwrap().requests, 3);
}

#[test]
fn a_read_pattern_lays_the_preloaded_data_out() {
    let text = "0 0 0 4096 1\n";
    let melded = |read_pattern| {
        let options = ReplayOptions {
            read_pattern,
            ..ReplayOptions::default()
        };
        replay(text, options).unwrap().device.stats.melded_reads
    };
    assert_eq!(melded(Pattern::None), 0);
    assert!(melded(Pattern::Sequential) > 100);
}

#[test]
fn blocks_are_placed_deleted_and_placed_again() {
    let mut text = MELD_HEADER.to_owned();
    for (n, op) in ["write", "delete", "write", "read"].into_iter().enumerate() {
        let length = if op == "delete" { 0 } else { 1 << 20 };
        let time = n * 100_000_000;
        text += &format!("{time},v,7,0,{length},{op},sequential,client,0\n# note\n");
    }
    text += "400000000,v,8,0,0,delete,none,client,0\n";
    let result = replay(&text, ReplayOptions::default()).unwrap();
    let stats = result.device.stats;
    assert_eq!((stats.write_commands, stats.deallocate_commands), (2, 1));
    assert_eq!(stats.mapped_pages, 256);
    assert!(stats.melded_reads > 0);
    assert_eq!(result.trace.unwrap().deletions, 2);
}

#[test]
fn a_truncated_block_keeps_what_is_before_the_cut() {
    let mut text = MELD_HEADER.to_owned();
    for (n, (op, offset, length)) in [
        ("write", 0, 1 << 20),
        ("truncate", 600_000, 0),
        ("truncate", 700_000, 0),
        ("open", 0, 0),
        ("write", 600_000, 4096),
        ("delete", 0, 0),
        ("truncate", 0, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let time = n * 100_000_000;
        text += &format!("{time},v,7,{offset},{length},{op},none,client,0\n");
    }
    let until = |records: usize| {
        let lines: Vec<&str> = text.lines().take(2 + records).collect();
        replay(&lines.join("\n"), ReplayOptions::default()).unwrap()
    };
    // 600,000 bytes reach into the 147th of the 256 logical blocks.
    for (records, mapped_lbas) in [(1, 256), (2, 147), (4, 147), (5, 148), (7, 0)] {
        let result = until(records);
        let stats = result.device.stats;
        assert_eq!(stats.mapped_pages, mapped_lbas, "after {records}");
    }
    let result = until(7);
    assert_eq!(result.device.stats.deallocate_commands, 2);
    let trace = result.trace.unwrap();
    assert_eq!((trace.truncations, trace.opens, trace.deletions), (3, 1, 1));
    // Version 1 differs in nothing but its number.
    let text = text.replace("# meld-trace 3", "# meld-trace 1");
    let old = replay(&text, ReplayOptions::default()).unwrap();
    assert_eq!(old.device.stats, result.device.stats);
}

#[test]
fn arrivals_out_of_order_do_not_turn_time_back() {
    let text = "5000000 0 0 8 1\n5700000 0 8 8 1\n5600000 0 16 8 1\n";
    let result = replay(text, ReplayOptions::default()).unwrap();
    assert_eq!(result.trace.unwrap().out_of_order, 1);
    assert_eq!(result.jobs[0].read.as_ref().unwrap().requests, 3);
    assert!(result.device.stats.now_ps < 1_200_000_000);
}
