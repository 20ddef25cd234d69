//! The parts of the program `zariz`: sign, verify, decrypt, raise to powers, make keys and primes, many at a time.
//!
//! A library for the program and for the fuzz targets alone: it may change with any release.
//!
//! Data goes to standard output, everything else to standard error. The exit codes are in [`exit`].
#![forbid(unsafe_code)]

mod args;
pub mod batch;
mod cleanup;
pub mod commands;
pub mod encoding;
pub mod exit;
pub mod input;
mod keyfile;
pub mod lines;
mod makers;
pub mod number;
pub mod output;
mod password;
mod place;
mod processor;
pub mod progress;
mod report;
mod stream;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;
use exit::Failure;

/// The whole program: reads the command line and runs it.
pub fn run() -> ExitCode {
    // Memory that one thread frees must be free for all threads. Called before any other thread is started.
    zariz_process::return_long_allocations();
    let command = Cli::parse().command;
    match processor::check_hidden().and_then(|()| commands::run(command)) {
        Ok(outcome) => outcome.into(),
        // The reader of our output has closed it, as `head` does. That is no error.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => {
            report::error(&failure);
            failure.into()
        }
    }
}
