//! The script `meld` at the root of the tree: every command that it lists helps, within 80 columns.

use std::process::Command;

fn meld(arguments: &[&str]) -> (i32, String) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../meld");
    let output = Command::new(script).args(arguments).output().unwrap();
    let code = output.status.code().unwrap();
    (code, String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_command_that_is_listed_helps() {
    let (code, usage) = meld(&[]);
    assert_eq!(code, 0);
    // Commands are indented by two, and what they do stands in a column.
    let commands = usage
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_once("  "))
        .map(|(command, _)| command)
        .filter(|command| !command.is_empty() && !command.contains(' '));
    let commands: Vec<&str> = commands.collect();
    assert!(commands.len() >= 17, "{commands:?}");
    // `sim` is the simulator's own command line, which would be built first.
    for command in commands.into_iter().filter(|command| *command != "sim") {
        let (code, help) = meld(&[command, "--help"]);
        assert_eq!(code, 0, "{command}");
        assert!(help.starts_with("Usage: ./meld "), "{command}: {help}");
        assert_eq!(meld(&["help", command]), (0, help.clone()), "{command}");
        // The demo's options are its program's own, once that is built.
        if command != "demo" {
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "{command}: {line}");
            }
        }
    }
    assert_eq!(meld(&["nonsense"]).0, 2);
}

#[test]
fn the_version_is_that_of_the_crates() {
    let (code, version) = meld(&["--version"]);
    assert_eq!(code, 0);
    let expected = concat!("hdfs-meld ", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(expected), "{version}");
}
