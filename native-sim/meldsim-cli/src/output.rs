//! Standard output and error, and the frame around every result.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use meldsim_report::Origin;
use meldsim_stats::document;
use serde::Serialize;

use crate::error::BadInput;

pub(crate) const NO_JSON: &str = "cannot write the result as JSON";

/// How a command ended that gave a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Good,
    /// A claim does not hold, or a bar is missed.
    Fails,
    /// It was interrupted.
    Partial,
}

impl Ending {
    pub(crate) fn of(holds: bool) -> Ending {
        match holds {
            true => Ending::Good,
            false => Ending::Fails,
        }
    }
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Only results and errors are printed from now on, if `quiet`.
pub(crate) fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether only results and errors are printed.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Columns that a table may have: those of the terminal; where there is none, those that `COLUMNS` names, or any number.
pub(crate) fn columns() -> usize {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || {
        let size = terminal_size::terminal_size_of(io::stdout());
        size.map(|(width, _)| usize::from(width.0))
    };
    let columns: Option<usize> = match io::stdout().is_terminal() {
        true => terminal().or_else(variable),
        false => variable(),
    };
    columns.filter(|columns| *columns > 0).unwrap_or(usize::MAX)
}

/// A result as JSON, with the command that gave it.
pub(crate) fn to_json<T: Serialize>(profile: &str, kind: &str, body: &T) -> Result<String> {
    document(&command_line(), profile, kind, body).context(NO_JSON)
}

/// As [`to_json`]; a result that is not whole says so.
pub(crate) fn to_partial_json<T: Serialize>(
    profile: &str,
    kind: &str,
    body: &T,
    ending: Ending,
) -> Result<String> {
    #[derive(Serialize)]
    struct Partial<'a, T> {
        #[serde(skip_serializing_if = "Option::is_none")]
        partial: Option<bool>,
        #[serde(flatten)]
        body: &'a T,
    }
    let partial = (ending == Ending::Partial).then_some(true);
    to_json(profile, kind, &Partial { partial, body })
}

/// The last line of a table: simulated or measured, and by which version.
pub(crate) fn footer(profile: &str, kind: &str) -> String {
    format!(
        "{kind} by meldsim {} on profile {profile}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The first line of a result: the devices that it is of.
pub(crate) fn devices<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let plural = if names.len() > 1 { "s" } else { "" };
    format!("device{plural}: {}\n", names.join(", "))
}

/// The last line of a result of several profiles.
pub(crate) fn version_line(kind: &str) -> String {
    format!("{kind} by meldsim {}\n", env!("CARGO_PKG_VERSION"))
}

/// Where the numbers of this run's page come from.
pub(crate) fn origin(profile: &str, seed: &str, settings: &str) -> Result<Origin> {
    Ok(Origin {
        command: command_line(),
        profile: profile.to_owned(),
        seed: seed.to_owned(),
        settings: settings.to_owned(),
        version: format!("meldsim {}", env!("CARGO_PKG_VERSION")),
        date: date()?,
    })
}

/// Now, or the time that SOURCE_DATE_EPOCH says: with it, the same command writes the same page.
fn date() -> Result<String> {
    const VARIABLE: &str = "SOURCE_DATE_EPOCH";
    let time = match std::env::var(VARIABLE) {
        Err(_) => SystemTime::now(),
        Ok(text) => text
            .parse()
            .ok()
            .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
            .filter(|time| *time < SystemTime::UNIX_EPOCH + YEAR_10000)
            .ok_or_else(|| {
                let message =
                    format!("{VARIABLE}: is \"{text}\"; use seconds since 1970, or unset it");
                BadInput(message)
            })?,
    };
    Ok(humantime::format_rfc3339_seconds(time).to_string())
}

/// From 1970; later dates have no four-digit year.
const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);

/// The command as it can be repeated in a shell, by name and not by path, and without `--jobs` and `--quiet`: the result does
/// not depend on them.
pub(crate) fn command_line() -> String {
    command_without(&["--jobs"], &[])
}

/// As [`command_line`], without flags of these names and their values, and with `more` at its end.
pub(crate) fn command_without(flags: &[&str], more: &[String]) -> String {
    // That of a program with policies of its own is another.
    let program = std::env::args_os().next();
    let program = program
        .as_deref()
        .and_then(|path| Path::new(path).file_name());
    let mut line = program
        .map_or("meldsim".into(), |name| name.to_string_lossy())
        .into_owned();
    let mut add = |argument: &str| {
        let plain = |c: char| c.is_alphanumeric() || "-_=./:,%+@".contains(c);
        line.push(' ');
        if !argument.is_empty() && argument.chars().all(plain) {
            line += argument;
        } else {
            line += &format!("'{}'", argument.replace('\'', r"'\''"));
        }
    };
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        if flags.contains(&&*argument) {
            arguments.next();
            continue;
        }
        let flag = argument.split_once('=').map(|(flag, _)| flag);
        let is_left_out = flag.is_some_and(|flag| flags.contains(&flag));
        if is_left_out || argument == "--quiet" || argument == "-q" {
            continue;
        }
        add(&argument);
    }
    more.iter().for_each(|argument| add(argument));
    line
}

/// A path for people: `-` is standard input.
pub(crate) fn named(path: &str) -> &str {
    match path {
        "-" => "(standard input)",
        path => path,
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> String {
    let path = named(path);
    let name = Path::new(path).file_name();
    name.map_or(path.into(), |name| name.to_string_lossy())
        .into_owned()
}

/// Prints `text`.
pub(crate) fn print(text: &str) -> Result<()> {
    stream(|out| out.write_all(text.as_bytes()))
}

/// Prints what is written. A reader that has seen enough, as `head` has, is no failure.
pub(crate) fn stream(
    write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> io::Result<()>,
) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Prints a note to standard error, unless it is to be quiet; each but once, for several runs may give the same.
pub(crate) fn note(message: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = |mut said: MutexGuard<BTreeSet<String>>| said.insert(message.to_owned());
    if !is_quiet() && SAID.lock().is_ok_and(is_new) {
        complain(message);
    }
}

/// Prints a message to standard error; there is nowhere left to complain to when that fails.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}
