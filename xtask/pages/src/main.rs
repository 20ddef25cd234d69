//! Writes the manual pages of the program `zariz` and its completions for shells, below a prefix such as
//! `/usr/local`. It is apart from the program, so that the program does not carry it.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;
use zariz_cli::commands::Cli;

/// Where each shell looks for completions.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/zariz"),
    (Shell::Fish, "share/fish/vendor_completions.d/zariz.fish"),
    (Shell::Zsh, "share/zsh/site-functions/_zariz"),
];

fn main() -> Result<()> {
    let prefix = std::env::args_os().nth(1).map(PathBuf::from);
    let prefix = prefix.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "usage: zariz-pages PREFIX"))?;
    let man = prefix.join("share/man/man1");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(Cli::command(), man)?;
    for (shell, path) in COMPLETIONS {
        let path = prefix.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "zariz", &mut text);
        fs::write(path, text)?;
    }
    Ok(())
}
