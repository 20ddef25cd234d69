//! `zariz`: the program, whose parts are a library so that the fuzz targets reach them.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    zariz_cli::run()
}
