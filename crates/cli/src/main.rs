//! The program `zariz`. Its parts are a library, which the fuzz targets also use.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use zariz_cli::commands::{self, Cli};

fn main() -> ExitCode {
    zariz_cli::run(|cli: Cli| commands::run(cli.command))
}
