//! `zariz`: the program, whose parts are a library so that the fuzz targets reach them.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use zariz_cli::commands::{self, Cli};

fn main() -> ExitCode {
    zariz_cli::run(|cli: Cli| commands::run(cli.command))
}
