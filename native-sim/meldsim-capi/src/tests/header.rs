//! `include/meldsim.h` is generated from the entry points, `docs/reference/counters.md` from the counters, and both are committed:
//! tests regenerate and compare them.

use std::path::Path;

use meldsim::{NamespaceStats, Stats};

const PREAMBLE: &str = "\
/* meldsim: a deterministic simulator of an SSD with melded pages. C ABI.
 *
 * Handles and tickets are integers; a wrong one is an error, never undefined behaviour. Statuses below 0 are errors,
 * whose text meldsim_last_error gives to the thread that got them. Everything ending in _ps is simulated picoseconds;
 * everything ending in _ns is wall nanoseconds. All functions may be called from any thread at any time.
 *
 * Every struct begins with its size: set it to sizeof before each call. Fields are only ever added at the end. A struct
 * that a function fills is filled as far as the caller knows it, with 0 in fields that the library does not know; one that
 * is given to it must have 0 there. Fields named reserved are 0.
 *
 * libmeldsim has a device. libmeldsim_study has that and whole workloads, calibration and reports: link one of the two.
 * Functions of the second alone say so.
 *
 * Generated from src/abi and meldsim-capi-study: UPDATE_HEADER=1 cargo test -p meldsim-capi header */";

const COUNTERS: &str = "\
# Counters of a device

A simulated device counts these since it was opened. All are *simulated*. The same names stand in the `device` object of
`meldsim run --format json`, in `Stats` of the Rust library, in `meldsim_stats_name` of the C ABI, and in the DataNode's metrics. Their
order may change: look one up by its name. `_ps` is simulated picoseconds.

";

const NAMESPACE_COUNTERS: &str = "
## Counters of a namespace

A namespace counts these. A DataNode's volume is one, on a device of its own or on one that volumes share. They
are in `NamespaceStats` of the Rust library and `meldsim_namespace_stats_name` of the C ABI. Where the device has a counter of the
same name, its namespaces' add up to it. Only the three of sensed pages may fall short: garbage collection senses for no namespace. What
else a device counts, such as busy dies, programs or garbage collection, is its namespaces' together.

";

fn generate() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let study = source.join("../../meldsim-capi-study/src");
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        cpp_compat: true,
        no_includes: true,
        sys_includes: vec!["stdint.h".to_owned()],
        header: Some(PREAMBLE.to_owned()),
        include_guard: Some("MELDSIM_H".to_owned()),
        usize_is_size_t: true,
        style: cbindgen::Style::Both,
        line_length: 120,
        ..cbindgen::Config::default()
    };
    let mut out = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(source.join("abi/device.rs"))
        .with_src(source.join("abi/namespace.rs"))
        .with_src(source.join("abi/io.rs"))
        .with_src(source.join("abi/ring.rs"))
        .with_src(source.join("abi/set.rs"))
        .with_src(source.join("abi/fdp.rs"))
        .with_src(source.join("abi/zone.rs"))
        .with_src(source.join("abi/counters.rs"))
        .with_src(source.join("abi/timeline.rs"))
        .with_src(source.join("abi/policy.rs"))
        .with_src(study.join("run.rs"))
        .with_src(study.join("jobs.rs"))
        .with_src(source.join("error.rs"))
        .with_src(source.join("session.rs"))
        .generate()
        .unwrap()
        .write(&mut out);
    in_hexadecimal(&String::from_utf8(out).unwrap())
}

/// Bit fields read better so; cbindgen writes every number in decimal.
fn in_hexadecimal(header: &str) -> String {
    let bit_fields = [
        "#define MELDSIM_DIRECTIVE_",
        "#define MELDSIM_DSM_",
        "#define MELDSIM_RANGE_SEQUENTIAL_READ",
        "#define MELDSIM_ZONE_",
    ];
    let mut converted = String::new();
    for line in header.lines() {
        match line.rsplit_once(' ') {
            Some((define, number)) if bit_fields.iter().any(|of| define.starts_with(of)) => {
                let number: u32 = number.parse().unwrap();
                let digits = if number > 0xFF { 10 } else { 4 };
                converted += &format!("{define} {number:#0digits$x}\n");
            }
            _ => converted += &format!("{line}\n"),
        }
    }
    converted
}

fn counters() -> String {
    let table = |names: &[&str], descriptions: &[&str]| {
        let rows = names.iter().zip(descriptions);
        let rows = rows.map(|(name, description)| format!("| `{name}` | {description} |\n"));
        format!(
            "| counter | what it counts |\n| --- | --- |\n{}",
            rows.collect::<String>()
        )
    };
    COUNTERS.to_owned()
        + &table(Stats::NAMES, Stats::DESCRIPTIONS)
        + NAMESPACE_COUNTERS
        + &table(NamespaceStats::NAMES, NamespaceStats::DESCRIPTIONS)
}

fn assert_committed(path: &str, fresh: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "{} is out of date; run UPDATE_HEADER=1 cargo test -p meldsim-capi header",
        path.display()
    );
}

#[test]
fn the_committed_header_is_up_to_date() {
    assert_committed("include/meldsim.h", &generate());
}

/// The C side of [`Versioned`](crate::entry::Versioned).
#[test]
fn every_struct_begins_with_its_size() {
    let header = generate();
    let structs: Vec<&str> = header.split("typedef struct ").skip(1).collect();
    assert!(structs.len() >= 9, "{}", structs.len());
    for of in structs {
        let fields = of.split_once('{').unwrap().1;
        let code = |line: &&str| !line.trim_start().starts_with(['/', '*']) && !line.is_empty();
        let first = fields.lines().find(code).unwrap();
        assert_eq!(first, "  uint32_t size;", "{of}");
    }
}

#[test]
fn nothing_for_tests_is_in_the_header() {
    let header = generate();
    for word in ["inject", "fault", "testing"] {
        assert!(!header.to_lowercase().contains(word), "{word}");
    }
}

#[test]
fn the_committed_list_of_counters_is_up_to_date() {
    assert_committed("../../docs/reference/counters.md", &counters());
}

#[test]
fn the_page_on_the_interface_names_every_function() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(crate_folder.join("include/meldsim.h")).unwrap();
    let page = std::fs::read_to_string(crate_folder.join("../../docs/reference/c-abi.md")).unwrap();
    let functions: Vec<&str> = header
        .lines()
        .filter(|line| {
            line.starts_with("int") || line.starts_with("uint") || line.starts_with("const")
        })
        .map(|line| {
            let name = line.split('(').next().unwrap();
            name.rsplit([' ', '*']).next().unwrap()
        })
        .collect();
    assert!(functions.contains(&"meldsim_stats_name"), "{functions:?}");
    for function in functions {
        assert!(page.contains(&format!("`{function}`")), "{function}");
    }
}
