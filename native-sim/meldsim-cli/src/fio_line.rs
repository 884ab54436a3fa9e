//! fio's own command line behind `meldsim run`: `--name` begins a job, and options before the first are of all jobs.

use std::path::Path;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use meldsim::profile::nearest;
use meldsim_workload::{is_own_engine, job_options, named_option};

/// Flags of `run` that are options of fio's jobs, too.
const SHARED: [&str; 6] = ["rw", "bs", "iodepth", "size", "runtime", "rwmixread"];
/// Options of fio that have no value, or one after an equals sign.
const FLAGS: &str = "norandommap, time_based, exitall, stonewall, new_group, thread, group_reporting, zero_buffers, refill_buffers";
/// Switches of fio itself that change neither requests nor results, with a value and without.
const WITH_VALUE: &str = "eta, eta-newline, eta-interval, status-interval, max-jobs, alloc-size, aux-path, debug, idle-prof, terse-version";
const WITHOUT_VALUE: &str = "readonly, warnings-fatal, bandwidth-log, append-terse, latency-log";
/// Switches that start something else than a run.
const OTHERS: &str = "showcmd, cmdhelp, enghelp, crctest, cpuclock-test, server, client, daemonize, remote-config, \
     merge-blktrace-only, inflate-log, trigger, trigger-file, trigger-timeout, trigger-remote, memcheck";

fn is_in(list: &str, word: &str) -> bool {
    list.split(", ").any(|other| other == word)
}

/// The name of an argument that is a flag, and its value if that is there.
fn flag(argument: &str) -> Option<(&str, Option<&str>)> {
    // As in fio, one hyphen does. One alone is standard input.
    let bare = argument.strip_prefix("--");
    let bare = bare
        .or_else(|| argument.strip_prefix('-'))
        .filter(|bare| !bare.is_empty())?;
    let (key, value) = bare.split_once('=').unzip();
    Some((key.unwrap_or(bare), value))
}

/// The arguments of the process, in which a command line of fio has become the value of one `--name`: the text of a job file.
/// Each of its lines is of the argument at that place, `run` being the first. As in fio, options of jobs beside a job file are
/// what its jobs have unless it says otherwise, wherever they stand.
pub(crate) fn translated(arguments: Vec<String>, cli: &dyn Fn() -> Command) -> Vec<String> {
    if arguments.get(1).is_none_or(|command| command != "run") {
        return arguments;
    }
    let cli = cli();
    let own = |key: &str| {
        let run = cli.find_subcommand("run");
        let mut flags = run.into_iter().flat_map(Command::get_arguments);
        flags.find(|flag| flag.get_long() == Some(key))
    };
    let takes_value = |key: &str| own(key).is_some_and(|flag| flag.get_action().takes_values());
    let mut is_value = false;
    let is_begun = |argument: &String| {
        let of_flag = flag(argument);
        let is_file = of_flag.is_none() && !std::mem::replace(&mut is_value, false);
        if let Some((key, value)) = of_flag {
            let takes_one = takes_value(key) || is_in(WITH_VALUE, key) || key == "output-format";
            is_value = value.is_none()
                && (takes_one || named_option(key).is_some_and(|key| !is_in(FLAGS, key)));
        }
        is_file || of_flag.is_some_and(|(key, _)| ["name", "job"].contains(&key))
    };
    let is_fio = arguments[2..].iter().any(is_begun);
    let is_name = |argument: &String| flag(argument).is_some_and(|(key, _)| key == "name");
    let has_file = is_fio && !arguments.iter().any(is_name);
    let has_own_engine = arguments
        .iter()
        .filter_map(|argument| argument.rsplit_once("ioengine="))
        .any(|(_, engine)| is_own_engine(engine));
    let (mut kept, mut text) = (arguments[..2].to_vec(), "[global]\n".to_owned());
    let mut has_options = false;
    let mut rest = arguments[2..].iter().peekable();
    while let Some(argument) = rest.next() {
        let Some((key, value)) = flag(argument) else {
            kept.push(argument.clone());
            text.push('\n');
            continue;
        };
        let is_own = own(key).is_some()
            && !(is_fio && SHARED.contains(&key) && !(has_file && key == "runtime"));
        let named = if is_own { None } else { named_option(key) };
        let is_option = is_fio
            && (key == "name" || !is_own && (named.is_some() || has_own_engine && value.is_some()));
        let mut next_value = |wanted: bool| {
            rest.next_if(|next| {
                wanted && value.is_none() && (*next == "-" || !next.starts_with('-'))
            })
        };
        match key {
            _ if is_option => {
                let key = named.unwrap_or(key);
                let next = next_value(!is_in(FLAGS, key));
                let value = value.or(next.map(String::as_str)).unwrap_or_default();
                text += &match (key, value) {
                    ("name", _) => format!("[{value}]"),
                    (_, "") => key.to_owned(),
                    _ => format!("{key}={value}"),
                };
                text += if next.is_some() { "\n" } else { "" };
                has_options = true;
            }
            "output-format" => {
                let forms = value
                    .or(next_value(true).map(String::as_str))
                    .unwrap_or_default();
                // Of several forms the one that says most: what follows it would be no JSON.
                let form = ["json+", "json", "terse"]
                    .into_iter()
                    .find(|form| forms.split(',').any(|other| other == *form));
                let form = form.or(Some(forms).filter(|forms| *forms != "normal"));
                kept.extend(form.map(|form| format!("--format={form}")));
            }
            "minimal" => kept.push("--format=terse".to_owned()),
            "terse-version" if value.is_some_and(|version| version != "3") => {
                kept.push(argument.clone());
            }
            _ if is_in(WITH_VALUE, key) => {
                next_value(true);
            }
            _ if is_in(WITHOUT_VALUE, key) => {}
            _ if is_own => {
                kept.push(argument.clone());
                kept.extend(next_value(takes_value(key)).cloned());
            }
            // Not a heap of short flags, to clap.
            _ if key.len() > 1 && !argument.starts_with("--") => kept.push(format!("-{argument}")),
            _ => kept.push(argument.clone()),
        }
        text.push('\n');
    }
    if has_options {
        kept.push(format!("--name={text}"));
    }
    kept
}

/// The error with what to write instead, where that is known better than from the names of flags.
pub(crate) fn with_tip(mut error: Error) -> Error {
    let is_run = std::env::args().nth(1).as_deref() == Some("run");
    let said = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = said(ContextKind::InvalidArg);
    // clap says `--rw <KIND>` of what it knows.
    let word = argument.split(' ').next().unwrap_or_default();
    let key = flag(word).map_or("", |(key, _)| key);
    let named = named_option(key);
    let key = named.unwrap_or(key);
    let tip = match error.kind() {
        _ if !is_run && error.kind() == ErrorKind::UnknownArgument => None,
        ErrorKind::UnknownArgument if named.is_some() => Some(format!(
            "write --set job.{key}=VALUE, or put --name=NAME before it, as on fio's command line"
        )),
        ErrorKind::UnknownArgument if is_in(OTHERS, key) => Some(format!(
            "--{key} of fio starts something else than a run; leave it out, or ask fio for it"
        )),
        ErrorKind::UnknownArgument if key == "terse-version" => {
            Some("version 3 is what is written; leave it out".to_owned())
        }
        ErrorKind::UnknownArgument if error.get(ContextKind::SuggestedArg).is_some() => None,
        ErrorKind::UnknownArgument => Some(match nearest(key, job_options()) {
            Some(known) => format!("did you mean --{known}, of fio's jobs?"),
            None => "neither meldsim run nor fio 3.33's jobs have it; leave it out".to_owned(),
        }),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if is_run
                && SHARED.contains(&key)
                && said(ContextKind::InvalidValue).contains([',', '.']) =>
        {
            Some(format!(
                "for a run with each of several values write --set job.{key}=VALUE,VALUE"
            ))
        }
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
