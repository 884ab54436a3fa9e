//! Compiles C programs against `include/meldsim.h`, links them with the C libraries and runs them: as they
//! are, with the address and undefined behaviour sanitizers of the C compiler, and under valgrind, which
//! sees into the library too.
#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const SMOKE: &str = "tests/c/smoke.c";
const SCAN: &str = "examples/scan.c";
const READS: &str = "examples/reads.c";
/// What the notebooks need.
const DRAWN_WITH: [&str; 3] = ["matplotlib==3.10.7", "numpy==2.2.6", "pandas==2.3.3"];

/// How a program is built and run.
#[derive(Clone, Copy, Debug)]
enum Under {
    Nothing,
    Sanitizers,
    Valgrind,
}

impl Under {
    fn compiler_flags(self) -> &'static [&'static str] {
        match self {
            Under::Sanitizers => &[
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
            ],
            Under::Nothing | Under::Valgrind => &["-g"],
        }
    }

    fn command(self, program: &Path) -> Command {
        match self {
            Under::Nothing | Under::Sanitizers => Command::new(program),
            Under::Valgrind => {
                let mut valgrind = Command::new("valgrind");
                valgrind
                    .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
                    .arg(program);
                valgrind
            }
        }
    }
}

/// The directory of the C libraries, built when first asked for: cargo does not build them for tests by
/// itself.
fn library_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(build_libraries)
}

/// All libraries with the profile and the features that a test of the whole workspace has, so that only these are built.
fn build_libraries() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--profile", "test"])
        .args(["--workspace", "--lib", "--tests"])
        .arg("--target-dir")
        .arg(target)
        .current_dir(CRATE)
        .status()
        .unwrap();
    assert!(status.success(), "cargo build failed");
    target.join("debug")
}

fn checked(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{messages}");
    output
}

/// Compiles `source` and gives what the program prints.
fn run(source: &str, under: Under) -> String {
    let library = library_directory();
    let source = Path::new(CRATE).join(source);
    let name = source.file_stem().unwrap().to_str().unwrap();
    let program = library.join(format!("{name}-{under:?}"));
    checked(
        Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
            .arg(Path::new(CRATE).join("include"))
            .args(under.compiler_flags())
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(library)
            .arg(if source.ends_with(SMOKE) {
                "-lmeldsim_study"
            } else {
                "-lmeldsim"
            })
            .arg(format!("-Wl,-rpath,{}", library.display())),
    );
    let output = checked(&mut under.command(&program));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(
        messages.is_empty(),
        "the library must not print: {messages}"
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_c_program_uses_the_whole_interface() {
    assert_eq!(run(SMOKE, Under::Nothing), "ok\n");
    let sources =
        [SMOKE, SCAN].map(|path| std::fs::read_to_string(Path::new(CRATE).join(path)).unwrap());
    for function in functions("") {
        let call = format!("{function}(");
        assert!(
            sources.iter().any(|text| text.contains(&call)),
            "{function}"
        );
    }
}

#[test]
fn the_scan_example_is_faster_melded() {
    let output = run(SCAN, Under::Nothing);
    let rate = |layout: &str| -> f64 {
        let line = output
            .lines()
            .find(|line| line.starts_with(layout))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    assert!(rate("melded:") > 1.3 * rate("normal:"), "{output}");
}

#[test]
fn the_page_on_embedding_shows_the_example_and_what_it_prints() {
    let read = |path| std::fs::read_to_string(Path::new(CRATE).join(path)).unwrap();
    let page = read("../../docs/how-to/embed-in-c.md");
    assert!(
        page.contains(&read(READS)),
        "the page shows another program"
    );
    let output = run(READS, Under::Sanitizers);
    assert!(
        page.contains(&output),
        "the page shows another output than\n{output}"
    );
}

/// Python with what the notebooks draw with, from the Python package index; `None`, with a word, where there is no Python or no index.
/// Continuous integration has both.
fn python_that_draws() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(DRAWN_WITH.join("-"));
    let python = folder.join("bin/python");
    let mut there = Command::new(&python);
    there.args(["-c", "import matplotlib, pandas"]);
    if there.output().is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    let mut install = Command::new(&python);
    install
        .args(["-m", "pip", "install", "--quiet"])
        .arg("--disable-pip-version-check")
        .args(DRAWN_WITH);
    for command in [&mut venv, &mut install] {
        let why = match command.output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(std::env::var_os("CI").is_none(), "{command:?}: {why}");
        eprintln!("SKIPPED: the notebooks: {why}; on Debian, install python3-venv and python3-pip");
        return None;
    }
    Some(python)
}

/// Whether a program is there, or a word that the test does nothing: a developer's machine may have none.
fn is_there(program: &str, package: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        assert!(std::env::var_os("CI").is_none(), "no {program}");
        eprintln!("skipped: no {program}; on Debian: apt-get install {package}");
    }
    is_there
}

/// Its own tests, with the library; the command line that `MELDSIM_TESTED` names prints the same.
#[test]
fn the_python_package_and_its_notebooks_use_the_library() {
    if !is_there("python3", "python3") {
        return;
    }
    let drawing = python_that_draws();
    let package = Path::new(CRATE).join("../python");
    let python = drawing.clone().unwrap_or_else(|| "python3".into());
    let output = checked(
        Command::new(python)
            .args([
                "-B",
                "-m",
                "unittest",
                "discover",
                "--verbose",
                "-s",
                "tests",
            ])
            .current_dir(&package)
            .env("PYTHONPATH", &package)
            .env(
                "MELDSIM_LIBRARY",
                library_directory().join("libmeldsim_study.so"),
            ),
    );
    // unittest reports there.
    let report = String::from_utf8_lossy(&output.stderr);
    for test in ["test_notebooks", "test_frame"] {
        let line = report.lines().find(|line| line.starts_with(test));
        let line = line.unwrap_or_else(|| panic!("no {test} in {report}"));
        assert!(drawing.is_none() || line.ends_with("ok"), "{line}");
    }
    eprint!("{report}");
}

#[test]
fn c_programs_are_clean_under_the_sanitizers() {
    assert_eq!(run(SMOKE, Under::Sanitizers), "ok\n");
    assert!(run(SCAN, Under::Sanitizers).contains("melded:"));
}

#[test]
fn c_programs_are_clean_under_valgrind() {
    if !is_there("valgrind", "valgrind") {
        return;
    }
    assert_eq!(run(SMOKE, Under::Valgrind), "ok\n");
    assert!(run(SCAN, Under::Valgrind).contains("melded:"));
}

#[test]
fn the_header_is_cpp_too() {
    let header = Path::new(CRATE).join("include/meldsim.h");
    if !is_there("c++", "g++") {
        return;
    }
    checked(
        Command::new("c++")
            .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"])
            .args(["-fsyntax-only", "-x", "c++"])
            .arg(header),
    );
}

/// The functions that the header declares whose text says that they are `of` a library.
fn functions(of: &str) -> BTreeSet<String> {
    let header = std::fs::read_to_string(Path::new(CRATE).join("include/meldsim.h")).unwrap();
    let documented = header.split("\n/**\n").skip(1);
    let functions = documented
        .filter(|text| text.contains(of))
        .filter_map(|text| {
            let (_, declaration) = text.split_once(" */\n")?;
            let (start, _) = declaration.split_once('(')?;
            let starts = ["int", "uint", "const"];
            let is_function = starts.iter().any(|name| start.starts_with(name));
            is_function.then(|| start.rsplit([' ', '*']).next().unwrap().to_owned())
        });
    functions.collect()
}

/// The functions that a library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let output = checked(
        Command::new("nm")
            .args(["--dynamic", "--defined-only", "--format=just-symbols"])
            .arg(library),
    );
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

#[test]
fn the_libraries_are_what_the_header_says_and_nothing_for_tests() {
    let directory = library_directory();
    let library = directory.join("libmeldsim.so");
    let (all, study) = (functions(""), functions(" * Of libmeldsim_study. "));
    let of_a_device = &all - &study;
    assert_eq!((study.len(), of_a_device.len() > 40), (4, true));
    assert_eq!(exported(&library), of_a_device);
    assert_eq!(exported(&directory.join("libmeldsim_study.so")), all);
    let bytes = std::fs::read(library).unwrap();
    let injected = bytes.windows(8).any(|window| window == b"injected");
    assert!(!injected, "fault injection in the library");
    let mut for_tests = exported(&directory.join("libmeldsim_testing.so"));
    assert!(for_tests.remove("meldsim_testing_inject_fault"));
    assert_eq!(for_tests, of_a_device);
}
