//! Standard output and error, and the frame around every result.

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};
use meldsim_experiments::report::document;
use serde::Serialize;

pub(crate) const NO_JSON: &str = "cannot write the result as JSON";

/// A result as JSON, with the command that gave it.
pub(crate) fn to_json<T: Serialize>(profile: &str, kind: &str, body: &T) -> Result<String> {
    document(&command_line(), profile, kind, body).context(NO_JSON)
}

/// The last line of a table: what the numbers are.
pub(crate) fn footer(profile: &str, kind: &str) -> String {
    format!(
        "{kind} by meldsim {} on profile {profile}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The last line of a result of several profiles.
pub(crate) fn version_line(kind: &str) -> String {
    format!("{kind} by meldsim {}\n", env!("CARGO_PKG_VERSION"))
}

/// The command as it can be repeated in a shell, by name and not by path, and without `--jobs`: the result does not depend
/// on it.
pub(crate) fn command_line() -> String {
    let mut line = "meldsim".to_owned();
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        if argument == "--jobs" {
            arguments.next();
        }
        if argument.starts_with("--jobs") {
            continue;
        }
        let plain = |c: char| c.is_alphanumeric() || "-_=./:,%+@".contains(c);
        line.push(' ');
        if !argument.is_empty() && argument.chars().all(plain) {
            line += &argument;
        } else {
            line += &format!("'{}'", argument.replace('\'', r"'\''"));
        }
    }
    line
}

/// Prints `text`. A reader that has seen enough, as `head` has, is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Prints a message to standard error; there is nowhere left to complain to when that fails.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "{message}");
}
