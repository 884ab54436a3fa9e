//! Completions and man pages, of the same source as `--help`.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::error::BadInput;
use meldsim::profile::Profile;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim completions bash > ~/.local/share/bash-completion/completions/meldsim\n  \
    meldsim completions zsh > ~/.zfunc/_meldsim\n  \
    meldsim completions fish > ~/.config/fish/completions/meldsim.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    meldsim man ~/.local/share/man/man1\n\n\
    Writes meldsim.1 and a page for each command. The directory is made if it is not there.")]
pub(crate) struct ManArgs {
    /// Where the pages go
    #[arg(value_name = "DIR")]
    directory: String,
}

/// Beginnings of what the flag takes, which has no end of forms.
const PASTS: [&str; 3] = [
    "fill=100,random=100",
    "fill=100,random=100,skew=zipf:0.9",
    "fill=100",
];

/// The script that completes `command` in a shell.
pub(crate) fn completions(args: &CompletionsArgs, command: Command) -> Result<String> {
    let mut script = Vec::new();
    let mut command = with_values(command);
    let name = command.get_name().to_owned();
    generate(args.shell, &mut command, name, &mut script);
    let script = String::from_utf8(script).context("the completions are no text")?;
    // A profile may be a file, too.
    let names = Profile::builtin_names().collect::<Vec<_>>().join(" ");
    Ok(match args.shell {
        Shell::Bash => script.replace(
            &format!("compgen -W \"{names}\""),
            &format!("compgen -f -W \"{names}\""),
        ),
        Shell::Zsh => script.replace(
            &format!(":({names})"),
            &format!(
                ":{{_alternative \"profiles\\:profile\\:({names})\" \"files\\:file\\:_files\"}}"
            ),
        ),
        Shell::Fish => {
            let values = format!("-a \"{}", names.split(' ').next().unwrap_or_default());
            script.replace(&format!("-f {values}"), &values)
        }
        _ => script,
    })
}

/// The command with values to offer where a parser takes more than these.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "profile" | "profiles" => {
            arg.value_parser(PossibleValuesParser::new(Profile::builtin_names()))
        }
        "precondition" => arg.value_parser(PossibleValuesParser::new(PASTS)),
        _ => arg,
    });
    command.mut_subcommands(with_values)
}

/// Writes the man pages of `command` and of its subcommands.
pub(crate) fn man(args: &ManArgs, command: Command) -> Result<String> {
    let directory = &args.directory;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| write_pages(command, Path::new(directory)));
    written.map_err(|error| {
        let remedy = "give a directory that can be written";
        BadInput(format!(
            "DIR: cannot write to \"{directory}\": {error}; {remedy}"
        ))
    })?;
    Ok(String::new())
}

fn write_pages(mut command: Command, directory: &Path) -> io::Result<()> {
    for command in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        write_pages(command.clone(), directory)?;
    }
    let usage = command.render_usage().to_string();
    let page = Man::new(command).source(concat!("meldsim ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let text = text.replace(".SH EXTRA\n", ".SH EXAMPLES AND NOTES\n");
    // The synopsis of the usage has values; that of clap_mangen names flags alone.
    let text = match text.split_once(".SH SYNOPSIS\n") {
        Some((head, rest)) => {
            let rest = rest.find(".SH ").map_or("", |at| &rest[at..]);
            let usage = usage.trim_start_matches("Usage: ").replace('-', "\\-");
            format!("{head}.SH SYNOPSIS\n{usage}\n{rest}")
        }
        None => text,
    };
    std::fs::write(directory.join(page.get_filename()), text)
}
