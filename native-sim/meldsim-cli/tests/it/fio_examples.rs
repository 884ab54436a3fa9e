//! fio's own example job files, from Debian's package `fio-examples`: which run here as they are, and why each other is
//! refused. `fio_examples.txt` has a line for each: `run`, or `refused` and the reasons.
//!
//! Where the package is not installed, nothing is tested, loudly; `.ci/run` installs it. A change that is meant to change
//! the list makes it anew: `MELDSIM_RECORD=1 cargo test --package meldsim-cli --test it fio_examples`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const EXAMPLES: &str = "/usr/share/doc/fio/examples";
const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fio_examples.txt");
/// Engines that many have. A file without an engine has fio's own choice, which is one of these.
const COMMON_ENGINES: [&str; 5] = ["libaio", "io_uring", "sync", "psync", "posixaio"];

/// Whether a file has only common engines.
fn is_common(text: &str) -> bool {
    let engines = text
        .lines()
        .filter_map(|line| line.strip_prefix("ioengine="));
    let engines = engines.map(|engine| engine.split([';', '#']).next().unwrap().trim());
    engines
        .into_iter()
        .all(|engine| COMMON_ENGINES.contains(&engine))
}

/// What becomes of a file: it runs, on a device with sectors of 512 B, or is refused for reasons by option.
fn outcome(path: &Path) -> String {
    let mut command = Command::new(crate::support::BINARY);
    command
        .args(["run", "--quiet", "--runtime", "1ms", "--format", "csv"])
        .args(["--set", "controller.lba_size=512B", "--job"])
        .arg(path);
    // As these files' first lines say: one section, the others want variables.
    let text = std::fs::read_to_string(path).unwrap();
    if text.contains("--section=default") {
        command.args(["--section", "default"]);
    }
    let output = command.output().unwrap();
    let code = output.status.code().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    if code == 0 {
        let rows = String::from_utf8(output.stdout).unwrap().lines().count();
        assert!(
            rows > 1 && errors.is_empty(),
            "{}: {errors}",
            path.display()
        );
        return "run".to_owned();
    }
    assert_eq!(code, 2, "{}: {errors}", path.display());
    assert!(!errors.contains("panicked"), "{}: {errors}", path.display());
    // `path:line: option: reason; remedy`, a reason once for each option; `job name: ...` of what does not go with the device.
    let mut reasons: Vec<String> = Vec::new();
    for line in errors.lines() {
        let in_file = line.split_once(&format!("{}:", path.display()));
        let of_job = line.split_once("job ").filter(|_| in_file.is_none());
        let Some((_, said)) = in_file.or(of_job) else {
            continue;
        };
        let Some((at, reason)) = said.split_once(": ") else {
            continue;
        };
        let is_line = at.parse::<u32>().is_ok();
        let (reason, remedy) = reason.split_once("; ").unwrap_or((reason, ""));
        if is_line || of_job.is_some() {
            assert!(!remedy.is_empty(), "no remedy: {line}");
            if !reasons.iter().any(|other| other == reason) {
                reasons.push(reason.to_owned());
            }
        }
    }
    assert!(!reasons.is_empty(), "no reason: {errors}");
    format!("refused: {}", reasons.join("; "))
}

#[test]
fn each_runs_or_is_refused_as_expected() {
    let Ok(files) = std::fs::read_dir(EXAMPLES) else {
        let is_left_out = std::env::var_os("MELDSIM_WITHOUT_FIO").is_some();
        assert!(
            is_left_out,
            "{EXAMPLES} is not there; install fio-examples, or set MELDSIM_WITHOUT_FIO=1"
        );
        return;
    };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ext| ext == "fio"));
    files.sort();
    let (mut list, mut common, mut run) = (String::new(), 0, 0);
    for file in &files {
        let name = file.file_name().unwrap().to_str().unwrap();
        let outcome = outcome(file);
        if is_common(&std::fs::read_to_string(file).unwrap()) {
            common += 1;
            run += u32::from(outcome == "run");
        }
        writeln!(list, "{name}: {outcome}").unwrap();
    }
    if std::env::var_os("MELDSIM_RECORD").is_some() {
        std::fs::write(EXPECTED, &list).unwrap();
    }
    let expected = std::fs::read_to_string(EXPECTED).unwrap();
    assert_eq!(files.len(), 86);
    for (now, expected) in list.lines().zip(expected.lines()) {
        assert_eq!(now, expected);
    }
    assert_eq!(list.lines().count(), expected.lines().count());
    eprintln!("{run} of {common} files with common engines run");
    assert_eq!(common, 37);
    assert!(run >= 30, "only {run} of {common} run");
}
