//! Bad input: one error that names the culprit and the remedy, exit code 2, no panic and no stack trace.

use crate::support::{self, meldsim, text_file};
use meldsim::Profile;
use meldsim_hdfs::{END_TO_END, HDFS_LIFETIMES};
use meldsim_lab::{EXPERIMENTS, Run};

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
    for key in ["geometry.chanels", "channels"] {
        refused(
            &format!("run --set {key}=4"),
            &["did you mean geometry.channels?"],
        );
    }
}

#[test]
fn several_values_of_a_flag_have_the_way_to_a_sweep_named() {
    for (flags, option) in [
        ("--rw randread,randwrite", "rw"),
        ("--iodepth 1..8", "iodepth"),
        ("--bs 4k,8k", "bs"),
    ] {
        let tip = format!("--set job.{option}=VALUE,VALUE");
        refused(&format!("run {flags}"), &[&tip]);
    }
    refused("run --set job.a.bs=4k", &["is of one section", "--section"]);
    refused(
        "run --precondition fill=80,fill=90",
        &["fill is there twice"],
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
    let file = text_file(
        "a.fio",
        "[j]\nsize=1m\nbs=1000\niodepth=2\nioengine=libaio\n",
    );
    let outcome = meldsim(&format!("run --job {}", file.path));
    assert!(
        outcome.code == 2 && outcome.stderr.contains("error: job j: bs: of 1000 B"),
        "{}",
        outcome.stderr
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
    refused("run --rw read --job x.fio", &["cannot read \"x.fio\""]);
    refused(
        "run --read-pattern none x.fio",
        &["--read-pattern", "[FILE]"],
    );
    refused("run --trace x.trace x.fio", &["--trace", "[FILE]"]);
    refused("run --job x.fio y.fio", &["--job", "[FILE]"]);
    refused("run --section a", &["--job"]);
}

/// One of logical blocks that are larger than what an experiment asks for.
#[test]
fn an_experiment_on_too_large_logical_blocks() {
    meldsim_firmware::register();
    for experiment in EXPERIMENTS.iter().chain([&END_TO_END, &HDFS_LIFETIMES]) {
        let text = format!(
            "base = \"{}\"\nname = \"b\"\n[controller]\nlba_size = \"64KiB\"\n",
            experiment.profile
        );
        let profile = Profile::from_toml(&text).unwrap();
        let own = ["melded-latency", "melded-throughput", "real-drives"];
        match Run::new(experiment, profile) {
            // These make logical blocks as small as they need them.
            Ok(_) => assert!(own.contains(&experiment.name), "{}", experiment.name),
            Err(error) => {
                let error = error.to_string();
                let expected = format!(
                    "controller.lba_size: is 65536 B, and experiment {}",
                    experiment.name
                );
                assert!(error.starts_with(&expected), "{error}");
            }
        }
    }
    for (experiment, base, lba_size, most) in [
        ("latency-windows", "nvmset-2tb", "64KiB", 4096),
        ("palloc --quick", "palloc-mlc-8x8x2", "8KiB", 2048),
        ("optane-contract --quick", "optane-900p", "4KiB", 512),
    ] {
        let text =
            format!("base = \"{base}\"\nname = \"b\"\n[controller]\nlba_size = \"{lba_size}\"\n");
        let file = text_file("b.toml", &text);
        let remedy = format!("use {most} B or less in the profile");
        let words = ["controller.lba_size: is ", remedy.as_str()];
        refused(
            &format!("experiment {experiment} --profile {}", file.path),
            &words,
        );
    }
}

#[test]
fn one_mistake_of_a_job_file_is_told_once() {
    let file = text_file("a.fio", "[global]\nsize=64q\n[a]\n[b]\n[c]\niodepth=0\n");
    let words = [
        "a.fio: 2 mistakes",
        "\n  ",
        "a.fio:2: size: is \"64q\", which is not a size",
        "a.fio:5: [c] iodepth: is 0",
    ];
    refused(&format!("run --job {}", file.path), &words);
    let file = text_file("b.fio", "[global]\nsize=1m\niodepth=0\n[a]\n[b]\n[c]\n");
    refused(
        &format!("run --job {}", file.path),
        &[
            "error: ",
            "b.fio:4: [a] iodepth: is 0, as in 2 more sections; use 1 to 65536",
        ],
    );
    let file = text_file("b.fio", "[global]\nsize=1m\niodepth=0\n[a]\n[b]\n");
    let words = "[a] iodepth: is 0, as in one more section; use 1 to 65536";
    refused(&format!("run --job {}", file.path), &[words]);
    for (lines, expected) in [
        (
            "runtime=365d\ntime_based",
            "c.fio:3: runtime: is \"365d\", which is more than can be simulated; use at most 213d",
        ),
        (
            "thinktime=300d",
            "c.fio:3: thinktime: is \"300d\", which is more than can be simulated",
        ),
        (
            "io_size=16777216T",
            "c.fio:3: io_size: is \"16777216T\", which is too large; use less than 16777216 TiB",
        ),
        (
            "rw=randrw\nrwmixwrite=200",
            "c.fio:4: rwmixwrite: is 200; use a percentage, 0 to 100",
        ),
    ] {
        let file = text_file("c.fio", &format!("[j]\nsize=1m\n{lines}\n"));
        let error = format!("error: {}", file.path);
        refused(&format!("run --job {}", file.path), &[&error, expected]);
    }
}

#[test]
fn long_values_and_many_mistakes_are_cut() {
    let long = "x".repeat(100_000);
    let jobs = [
        format!("[j]\nsize={long}\n"),
        format!("[j]\nsize=1m\nbssplit={long}/10:{long}\n"),
        format!("[j]\nsize=1m\n{long}=1\n"),
        format!("[{long}]\nsize=0\n"),
        format!("[{long}\nsize=0\n"),
        format!("[j]\nsize=1m\nwait_for={long}\n"),
        format!("[j]\n{}", "<option>\n".repeat(1000)),
    ];
    let profiles = [
        preset().replace("\"166us\"", &format!("\"{long}\"")),
        format!("name = {long}"),
    ];
    let jobs = jobs.map(|text| ("run --job", text));
    let profiles = profiles.map(|text| ("profiles check", text));
    for (command, text) in jobs.into_iter().chain(profiles) {
        let file = text_file("a", &text);
        let outcome = meldsim(&format!("{command} {}", file.path));
        assert_eq!(outcome.code, 2);
        let (start, length) = (&text[..20], outcome.stderr.len());
        assert!(length < 5000, "{command} {start}: {length}");
    }
    let text = format!("[j]\nsize=1m\n{}", "<option>\n".repeat(1000));
    let file = text_file("a.fio", &text);
    let words = [
        "1000 mistakes",
        "and 980 more; make sure that this is the right file",
    ];
    refused(&format!("run --job {}", file.path), &words);
}

#[test]
fn a_file_that_is_not_in_utf_8() {
    let file = text_file("a.fio", "");
    std::fs::write(&file.path, b"\xEF\xBB\xBF[j]\nsize=64k\n# Gr\xF6sse\n").unwrap();
    let words = [
        "--job",
        "line 3 is not text in UTF-8",
        "give the path of a job file in UTF-8",
    ];
    refused(&format!("run --job {}", file.path), &words);
    refused(
        &format!("run --profile {}", file.path),
        &["line 3 is not text in UTF-8"],
    );
    let including = text_file("b.fio", &format!("[j]\ninclude {}\n", file.path));
    refused(
        &format!("run --job {}", including.path),
        &["b.fio:2: include", "line 3 is not text in UTF-8"],
    );
    // A mark that says UTF-8 is none of the text.
    std::fs::write(&file.path, b"\xEF\xBB\xBF[j]\nsize=64k\n# Gr\xC3\xB6sse\n").unwrap();
    support::stdout(&format!("run --job {}", file.path));
}

#[test]
fn an_end_may_come_from_the_command_line() {
    let file = text_file("a.fio", "[j]\nsize=1m\ntime_based\n");
    refused(
        &format!("run --job {}", file.path),
        &["[j] time_based: needs an end; add runtime"],
    );
    let json = support::stdout(&format!(
        "run --job {} --runtime 10ms --format json",
        file.path
    ));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let us = json["jobs"][0]["job_runtime_us"].as_f64().unwrap();
    assert!((9_900.0..10_500.0).contains(&us), "{us}");
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
    refused(
        "run --blocksize 4k",
        &["--blocksize", "--set job.blocksize=", "--name=NAME"],
    );
    refused(
        "run --name=a --uring_cmd=1",
        &["--uring_cmd", "leave it out"],
    );
    refused(
        "run -uring_cmd=1 --name=a",
        &["--uring_cmd", "leave it out"],
    );
    refused(
        "run --name=a --showcmd",
        &["--showcmd", "something else than a run"],
    );
    refused("run --terse-version=4 --name=a", &["version 3"]);
    refused(
        "run --rw read --bs 512",
        &["--set controller.lba_size=512B"],
    );
    refused("run x.fio --iodepth 8", &["cannot read \"x.fio\""]);
    refused("run --set iodepth=8", &["write job.iodepth=8"]);
    refused(
        "run --name=a --size=64q --rw=reed",
        &[
            "(command line):3: size: is \"64q\"",
            "(command line):4: rw: is \"reed\"",
        ],
    );
    let file = text_file("a.fio", "[j]\n");
    refused(&file.path, &[&format!("meldsim run {}", file.path)]);
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
