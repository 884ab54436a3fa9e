//! Bad input: one error that names the culprit and the remedy, exit code 2, no panic and no stack trace.

use crate::support::{self, meldsim, text_file};

/// Runs `line` and checks that it is refused with all of `words` on the one message.
fn refused(line: &str, words: &[&str]) {
    let outcome = meldsim(line);
    assert_eq!(outcome.code, 2, "{line}: {}", outcome.stderr);
    assert_eq!(outcome.stdout, "", "{line}");
    assert_eq!(
        outcome.stderr.matches("error:").count(),
        1,
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    for word in words {
        assert!(
            outcome.stderr.contains(word),
            "{line}: no {word:?} in {}",
            outcome.stderr
        );
    }
    for trace in ["panicked", "stack backtrace", "src/", "note: run with"] {
        assert!(
            !outcome.stderr.contains(trace),
            "{line}: {}",
            outcome.stderr
        );
    }
}

fn preset() -> String {
    support::stdout("profiles show melded-tlc-8x8")
}

#[test]
fn a_profile_with_an_unknown_key() {
    let file = text_file(
        "p.toml",
        &preset().replace("[geometry]", "[geometry]\nchanels = 8"),
    );
    refused(
        &format!("run --profile {}", file.path),
        &["p.toml", "geometry.chanels"],
    );
}

#[test]
fn a_profile_with_a_wrong_unit() {
    let file = text_file("p.toml", &preset().replace("\"166us\"", "\"166 parsecs\""));
    refused(
        &format!("run --profile {}", file.path),
        &["timing.melded_read", "166 parsecs", "such as \"58us\""],
    );
}

#[test]
fn a_profile_with_many_mistakes_has_them_told_at_once() {
    let text = preset()
        .replace("channels = 8", "channels = \"abc\"")
        .replace("[bus]", "[bus]\nwitdh_bits = 8")
        .replace("\"166us\"", "\"166 parsecs\"")
        .replace("blocks_per_plane = 736", "blocks_per_plane = 0");
    let file = text_file("p.toml", &text);
    refused(
        &format!("profiles check {}", file.path),
        &[
            "p.toml: 4 mistakes",
            "geometry.channels: is \"abc\"; write a whole number, such as 8",
            "bus.witdh_bits: is not a key of a profile; did you mean bus.width_bits?",
            "timing.melded_read: is \"166 parsecs\"",
            "geometry.blocks_per_plane: is 0; must be at least 1",
        ],
    );
}

#[test]
fn a_misspelt_profile_or_setting() {
    for command in ["profiles check", "profiles show", "run --profile"] {
        refused(
            &format!("{command} melded-tlc-8x9"),
            &["\"melded-tlc-8x9\"", "did you mean melded-tlc-8x8?"],
        );
    }
    refused(
        "run --set geometry.chanels=4",
        &["did you mean geometry.channels?"],
    );
}

#[test]
fn a_profile_of_an_impossible_device() {
    let file = text_file("p.toml", &preset().replace("channels = 8", "channels = 0"));
    for command in [
        "run",
        "experiment melded-latency",
        "experiment melded-throughput",
    ] {
        refused(
            &format!("{command} --profile {}", file.path),
            &["geometry.channels: is 0; must be at least 1"],
        );
    }
    refused(
        &format!("profiles check {}", file.path),
        &["geometry.channels"],
    );
}

#[test]
fn a_profile_larger_than_memory() {
    let large = preset().replace("blocks_per_plane = 736", "blocks_per_plane = 60000");
    let file = text_file("p.toml", &large);
    refused(
        &format!("run --profile {}", file.path),
        &["ftl.mapping_memory", "raise it"],
    );
}

#[test]
fn a_profile_that_is_not_there_or_not_toml() {
    refused(
        "run --profile nowhere.toml",
        &["nowhere.toml", "melded-tlc-8x8", "melded-tlc-16x4"],
    );
    let file = text_file("p.toml", "channels: 8\n");
    refused(
        &format!("profiles check {}", file.path),
        &["p.toml", "not TOML"],
    );
}

#[test]
fn a_job_file_with_an_unknown_option() {
    let file = text_file("a.fio", "[global]\nsize=1m\n[j]\niodpeth=4\n");
    refused(
        &format!("run --job {}", file.path),
        &["a.fio:4: iodpeth: is not a known option; did you mean iodepth?"],
    );
}

#[test]
fn a_job_that_cannot_run() {
    let file = text_file("a.fio", "[j]\nsize=1m\nbs=1000\n");
    refused(
        &format!("run --job {}", file.path),
        &["job j", "bs", "multiple of 4096 B"],
    );
    refused("run --job nowhere.fio", &["--job", "nowhere.fio"]);
    refused("run --iodepth 0", &["--iodepth: is 0; use 1 to 65536"]);
    refused("run --size 1k", &["--size", "at least one block"]);
    refused("run --size 100t", &["job read"]);
    // A drive of 960 GB is no device of 960 GiB.
    refused(
        "run --profile pm9a3 --rw randwrite --size 960g",
        &[
            "the device can hold 960197124096 B",
            "100% for all of it (units are powers of 1024)",
        ],
    );
    refused("run --size 101%", &["--size", "from 0% to 100%"]);
    // Before the run, which would take its time.
    let room = [
        "9663676416000 B",
        "the device can hold 137707388928 B",
        "use a",
    ];
    let device = "--profile melded-tlc-8x8";
    refused(&format!("run {device} --size 9000GiB"), &room);
    refused(
        &format!("run {device} --rw randwrite --size 9000GiB --runtime 1ms"),
        &room,
    );
    let file = text_file("b.fio", "[j]\nrw=write\nsize=100g\nnumjobs=2\n");
    refused(
        &format!("run {device} --job {}", file.path),
        &[
            "job j.1",
            "214748364800 B (200 GiB)",
            "137707388928 B",
            "filename",
        ],
    );
    refused("run --rw read --job x.fio", &["--rw", "--job"]);
    refused("run --rw read x.fio", &["--rw", "[FILE]"]);
    refused("run --trace x.trace x.fio", &["--trace", "[FILE]"]);
    refused("run --job x.fio y.fio", &["--job", "[FILE]"]);
    refused("run --section a", &["--job"]);
}

#[test]
fn flags_with_wrong_values() {
    refused("run --bs 4x", &["--bs", "\"4x\"", "such as 4KiB"]);
    refused("run --runtime 5parsecs", &["--runtime", "such as 100ms"]);
    refused("run --rw sideways", &["--rw", "randread"]);
    refused(
        "run --read-pattern up",
        &["--read-pattern", "sequential, random or none"],
    );
    refused("run --blocksize 4k", &["--blocksize"]);
    refused(
        "experiment melded-throughput --bus fast",
        &["--bus", "800x8"],
    );
    refused(
        "experiment melded-throughput --channels 0",
        &["geometry.channels"],
    );
    refused(
        "experiment melded-throughput --dies 0",
        &["geometry.dies_per_channel"],
    );
    refused("experiment melded-throughput --bus 0x8", &["bus.rate"]);
    refused(
        "experiment melded-throughput --page-size 5000",
        &["geometry.page_size"],
    );
    refused(
        "experiment melded-latency --request-size 1000",
        &["request size", "multiple"],
    );
    refused(
        "experiment melded-latency --request-size 0",
        &["request size"],
    );
}

#[test]
fn a_program_to_compare_with_that_is_none() {
    refused(
        "bench --against ./nowhere --pairs 1",
        &["--against ./nowhere", "cannot be started", "give the path"],
    );
    refused("bench --pairs 3", &["--against"]);
    refused("bench --bar 0.97", &["--against"]);
}
