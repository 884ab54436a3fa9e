//! Completions and man pages, of the same source as `--help`.

use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::error::BadInput;

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

/// The script that completes `command` in a shell.
pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<String> {
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    generate(args.shell, &mut command, name, &mut script);
    String::from_utf8(script).context("the completions are no text")
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
