//! fio's own command line behind `meldsim run`: `--name` begins a job, and options before the first are of all jobs.

use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use meldsim_workload::is_job_option;

/// Flags of `run` that are options of fio's jobs, too.
const SHARED: [&str; 6] = ["rw", "bs", "iodepth", "size", "runtime", "rwmixread"];
/// Options of fio that have no value, or one after an equals sign.
const FLAGS: [&str; 9] = [
    "norandommap",
    "time_based",
    "exitall",
    "stonewall",
    "new_group",
    "thread",
    "group_reporting",
    "zero_buffers",
    "refill_buffers",
];
/// Switches of fio itself that change neither requests nor results.
const SWITCHES: [&str; 7] = [
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "readonly",
    "max-jobs",
    "warnings-fatal",
];

/// The name of an argument that is a flag, and its value if that is there.
fn flag(argument: &str) -> Option<(&str, Option<&str>)> {
    // As in fio, one hyphen does.
    let bare = argument.strip_prefix("--");
    let bare = bare.or_else(|| argument.strip_prefix('-'))?;
    let (key, value) = bare.split_once('=').unzip();
    Some((key.unwrap_or(bare), value))
}

/// The arguments of the process, in which a command line of fio has become the value of one `--name`: the text of a job file.
/// Each of its lines is of the argument at that place, `run` being the first.
pub(crate) fn translated(arguments: Vec<String>, cli: &dyn Fn() -> Command) -> Vec<String> {
    let is_name = |argument: &String| flag(argument).is_some_and(|(key, _)| key == "name");
    if arguments.get(1).is_none_or(|command| command != "run") || !arguments.iter().any(is_name) {
        return arguments;
    }
    let cli = cli();
    let is_own = |key: &str| {
        let run = cli.find_subcommand("run");
        let mut flags = run.into_iter().flat_map(Command::get_arguments);
        !SHARED.contains(&key) && flags.any(|flag| flag.get_long() == Some(key))
    };
    let (mut kept, mut text) = (arguments[..2].to_vec(), "[global]\n".to_owned());
    let mut rest = arguments[2..].iter().peekable();
    while let Some(argument) = rest.next() {
        let (key, value) = flag(argument).unwrap_or(("", None));
        let is_option = key == "name" || is_job_option(key) && !is_own(key);
        match (key, value) {
            _ if is_option => {
                let takes_next = value.is_none() && !FLAGS.contains(&key);
                let next = rest.next_if(|next| takes_next && !next.starts_with('-'));
                let value = value.or(next.map(String::as_str)).unwrap_or_default();
                text += &match (key, value) {
                    ("name", _) => format!("[{value}]"),
                    (_, "") => key.to_owned(),
                    _ => format!("{key}={value}"),
                };
                text += if next.is_some() { "\n" } else { "" };
            }
            ("output-format", Some(form @ ("json" | "json+"))) => {
                kept.push(format!("--format={form}"));
            }
            ("output-format", Some("normal")) => {}
            _ if SWITCHES.contains(&key) => {}
            _ => kept.push(argument.clone()),
        }
        text.push('\n');
    }
    kept.push(format!("--name={text}"));
    kept
}

/// The error with what to write instead, where that is known better than from the names of flags.
pub(crate) fn with_tip(mut error: Error) -> Error {
    let said = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = said(ContextKind::InvalidArg);
    let key = flag(&argument).map_or("", |(key, _)| key);
    let tip = match error.kind() {
        ErrorKind::UnknownArgument if key == "output" => Some("write > FILE".to_owned()),
        ErrorKind::UnknownArgument if is_job_option(key) => Some(format!(
            "write --set job.{key}=VALUE, or put --name=NAME before it, as on fio's command line"
        )),
        ErrorKind::ArgumentConflict => {
            let both = argument.clone() + &said(ContextKind::PriorArg);
            let shared = SHARED
                .iter()
                .find(|key| both.contains(&format!("--{key} ")));
            shared.map(|key| format!("write --set job.{key}=VALUE for all jobs of a file"))
        }
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand);
            // Not behind a command that has others below it.
            let is_first = std::env::args().nth(1).as_ref() == Some(&word);
            let is_file = is_first && Path::new(&word).is_file();
            is_file.then(|| format!("to run a job file, write meldsim run {word}"))
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    error
}
