//! How the command line behaves: help, completions, man pages, versions, quiet, progress, tables in a terminal.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{BINARY, meldsim, stdout, text_file};

/// Every command, with the experiments.
fn commands() -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut open = vec![String::new()];
    while let Some(command) = open.pop() {
        let help = stdout(&format!("{command} --help"));
        let listed = help.split("\nCommands:\n").nth(1).unwrap_or("");
        let listed = listed.lines().take_while(|line| !line.is_empty());
        let names = listed.filter_map(|line| line.strip_prefix("  "));
        let names = names.filter(|line| !line.starts_with(' '));
        let names = names.filter_map(|line| line.split_whitespace().next());
        open.extend(
            names
                .filter(|name| *name != "help")
                .map(|name| format!("{command} {name}").trim().to_owned()),
        );
        commands.push(command);
    }
    commands
}

fn help_in(command: &str, columns: usize) -> String {
    let output = Command::new(BINARY)
        .args(command.split_whitespace())
        .arg("--help")
        .env("COLUMNS", columns.to_string())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_fits_its_terminal_without_ragged_lines_and_names_no_checkout() {
    let commands = commands();
    assert!(commands.len() >= 24, "{commands:?}");
    for command in &commands {
        for columns in [80, 100, 200] {
            let width = columns.min(100);
            let help = help_in(command, columns);
            for path in ["native-sim", "src/", "docs/", "./meld"] {
                assert!(!help.contains(path), "{command}: {path}");
            }
            let lines: Vec<&str> = help.lines().collect();
            for line in &lines {
                assert!(line.chars().count() <= width, "{command}: {line}");
            }
            for pair in lines.windows(2) {
                let indent = |line: &str| line.len() - line.trim_start().len();
                let starts = pair[1].trim_start();
                let word = starts.split(' ').next().unwrap();
                // A line that goes on a paragraph: what it begins with had no room on the line before.
                let is_text = starts.starts_with(|c: char| c.is_lowercase() || c.is_numeric());
                let same = indent(pair[0]) == indent(pair[1]) && !starts.starts_with("meldsim ");
                let goes_on = is_text && same && !pair[0].trim().is_empty();
                let listed = pair[0].trim_start().split("  ").count() > 1;
                if goes_on && !listed && !starts.contains("  ") {
                    let joined = pair[0].chars().count() + 1 + word.chars().count();
                    assert!(
                        joined > width,
                        "{command}, {columns}: {}\n{}",
                        pair[0],
                        pair[1]
                    );
                }
            }
        }
    }
}

#[test]
fn completions_and_man_pages_know_every_command() {
    for (shell, sign) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef meldsim"),
        ("fish", "complete -c meldsim"),
    ] {
        let script = stdout(&format!("completions {shell}"));
        assert!(script.contains(sign), "{shell}");
        for word in ["what-if", "melded-latency", "read-pattern", "quiet"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        for value in ["pm9a3", "dramless", "fill=100,random=100", "json"] {
            assert!(script.contains(value), "{shell}: {value}");
        }
        // Where the shell is there, it can read its script.
        let file = text_file("script", &script);
        match Command::new(shell).args(["-n", &file.path]).status() {
            Ok(status) => assert!(status.success(), "{shell}"),
            Err(_) => eprintln!("{shell} is not installed: its script is not read"),
        }
    }
    // A profile is one that ships, or a file.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pm9mine.toml"), "").unwrap();
    let script = text_file("script", &stdout("completions bash"));
    let typed = "source \"$0\"; COMP_WORDS=(meldsim run --profile pm9); COMP_CWORD=3; \
        _meldsim meldsim pm9 --profile; echo \"${COMPREPLY[@]}\"";
    let mut bash = Command::new("bash");
    bash.args(["-c", typed, &script.path]);
    let offered = bash.current_dir(folder.path()).output().unwrap().stdout;
    let offered = String::from_utf8(offered).unwrap();
    let mut offered: Vec<&str> = offered.split_whitespace().collect();
    offered.sort_unstable();
    assert_eq!(offered, ["pm9a3", "pm9d3a", "pm9mine.toml"]);
    let path = folder.path().join("man1");
    assert_eq!(stdout(&format!("man {}", path.display())), "");
    for page in [
        "meldsim",
        "meldsim-run",
        "meldsim-what-if",
        "meldsim-experiment-palloc",
    ] {
        let text = std::fs::read_to_string(path.join(format!("{page}.1"))).unwrap();
        assert!(
            text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    let outcome = meldsim("man /dev/null/x");
    assert_eq!(outcome.code, 2);
    assert!(
        outcome.stderr.contains("give a directory"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_version_names_the_commit_of_a_checkout() {
    let version = stdout("--version");
    let rest = version
        .strip_prefix(concat!("meldsim ", env!("CARGO_PKG_VERSION")))
        .unwrap();
    let git = Command::new("git")
        .args(["ls-files", "--error-unmatch", "build.rs"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    if git.is_ok_and(|git| git.status.success()) {
        let commit = rest
            .trim()
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        let commit = commit.unwrap();
        assert!(
            commit.len() == 12 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
            "{version}"
        );
    } else {
        assert_eq!(rest, "\n");
    }
}

#[test]
fn notes_are_told_once_and_quiet_silences_them() {
    let file = text_file("a.fio", "[j]\nsize=1m\ndirect=1\nioengine=libaio\nthread\n");
    let line = format!("run --job {}", file.path);
    let outcome = meldsim(&line);
    assert_eq!(outcome.code, 0);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("passed over: direct, thread (a simulated device has no files"),
        "{}",
        outcome.stderr
    );
    for quiet in ["--quiet", "-q"] {
        assert_eq!(stdout(&format!("{quiet} {line}")), outcome.stdout);
        assert_eq!(stdout(&format!("{line} {quiet}")), outcome.stdout);
    }
    // The command in the result is the one without it.
    let json = stdout(&format!("{line} --quiet --format json"));
    assert!(!json.contains("quiet"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["passed_over"],
        serde_json::json!(["direct", "ioengine", "thread"])
    );
}

#[test]
fn every_command_names_its_device_first_and_has_the_same_one() {
    let job = text_file("a.fio", "[j]\nsize=1m\nrw=randread\n");
    let trace = text_file("a.trace", "0 0 0 8 1\n");
    for (line, expected) in [
        (format!("run {}", job.path), "device: 7450-pro"),
        (format!("run --trace {}", trace.path), "device: 7450-pro"),
        (format!("advise --job {}", job.path), "device: 7450-pro"),
        (
            format!("what-if {}", trace.path),
            "devices: 7450-pro, pm9a3, p5520, cm7-r",
        ),
        (
            format!("what-if {} --profile optane-900p", trace.path),
            "device: optane-900p",
        ),
    ] {
        let text = stdout(&line);
        assert_eq!(text.lines().next(), Some(expected), "{line}");
    }
}

#[test]
fn a_job_file_may_be_an_argument_or_standard_input() {
    let text = "[j]\nsize=1m\nrw=randread\n";
    let file = text_file("a.fio", text);
    let expected = stdout(&format!("run --job {}", file.path));
    assert_eq!(stdout(&format!("run {}", file.path)), expected);
    assert_eq!(stdout(&format!("run {} --section j", file.path)), expected);
    let piped = |line: &str, text: &str| {
        let mut child = Command::new(BINARY)
            .args(line.split(' '))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (text(output.stdout), text(output.stderr))
    };
    for line in ["run --job -", "run -"] {
        assert_eq!(
            piped(line, text),
            (expected.clone(), String::new()),
            "{line}"
        );
    }
    let advice = stdout(&format!("advise --job {}", file.path));
    assert_eq!(piped("advise --job -", text).0, advice);
    let (_, error) = piped("run -", "[j]\nsize=1q\n");
    assert!(error.contains("(standard input):2: size"), "{error}");
}

#[test]
fn validate_tells_a_pipe_how_far_it_is() {
    let outcome = meldsim("validate --experiment melded-latency");
    assert_eq!(outcome.code, 0);
    let lines: Vec<&str> = outcome.stderr.lines().collect();
    assert!((3..=10).contains(&lines.len()), "{lines:?}");
    for line in lines {
        assert!(
            line.starts_with("validating: ") && line.ends_with(" left"),
            "{line}"
        );
    }
    stdout("validate --quiet --experiment melded-latency");
}

fn in_columns(line: &str, columns: &str) -> String {
    let output = Command::new(BINARY)
        .args(line.split_whitespace())
        .env("COLUMNS", columns)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tables_fit_their_terminal_or_say_what_they_left_out() {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../workloads/two-scans.meld");
    // The rows of a table are those from its header to a blank line or the line of what was left out.
    for (line, header) in [
        ("profiles".to_owned(), "name "),
        ("run --rw randrw --size 1m".to_owned(), "job "),
        (
            format!("what-if {trace} --profile melded-tlc-8x8"),
            "profile ",
        ),
        (
            "validate --quiet --experiment melded-latency".to_owned(),
            "verdict ",
        ),
    ] {
        let text = in_columns(&line, "80");
        let rows = text.lines().skip_while(|row| !row.starts_with(header));
        let ends = |row: &str| row.is_empty() || row.starts_with("columns hidden");
        let rows: Vec<&str> = rows.take_while(|row| !ends(row)).collect();
        assert!(rows.len() > 2, "{line}: {text}");
        // What follows at once are sentences.
        let rows = rows.iter().take_while(|row| row.contains("  "));
        for row in rows {
            assert!(row.chars().count() <= 80, "{line}: {row}");
        }
        let whole = in_columns(&line, "1000");
        assert!(whole.lines().any(|row| row.chars().count() > 80), "{line}");
        assert!(!whole.contains("columns hidden"), "{line}");
    }
    let run = in_columns("run --rw randrw --size 1m", "80");
    assert!(
        run.contains("columns hidden (terminal too narrow): min us, block, depth, requests\n"),
        "{run}"
    );
}
