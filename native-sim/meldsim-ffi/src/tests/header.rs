//! `include/meldsim.h` is generated from the entry points and committed: a test regenerates and compares it.

use std::path::Path;

const PREAMBLE: &str = "\
/* meldsim: a deterministic simulator of an SSD with melded pages. C ABI.
 *
 * Handles and tickets are integers; a wrong one is an error, never undefined behaviour. Statuses below 0 are errors,
 * whose text meldsim_last_error gives to the thread that got them. Everything ending in _ps is simulated picoseconds;
 * everything ending in _ns is wall nanoseconds. All functions may be called from any thread at any time.
 *
 * Generated from src/abi.rs: UPDATE_HEADER=1 cargo test -p meldsim-ffi header */";

fn generate() -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
        .with_src(source.join("abi.rs"))
        .with_src(source.join("error.rs"))
        .with_src(source.join("session.rs"))
        .generate()
        .unwrap()
        .write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn the_committed_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/meldsim.h");
    let fresh = generate();
    if std::env::var_os("UPDATE_HEADER").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == fresh,
        "include/meldsim.h is out of date; run UPDATE_HEADER=1 cargo test -p meldsim-ffi header"
    );
}
