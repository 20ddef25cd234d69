//! `zariz`: sign, verify, decrypt and raise to powers, many at a time.
//!
//! Data goes to standard output, everything else to standard error. The exit codes are in [`exit`].
#![forbid(unsafe_code)]

mod args;
mod batch;
mod cleanup;
mod commands;
mod encoding;
mod exit;
mod input;
mod keyfile;
mod lines;
mod number;
mod output;
mod password;
mod place;
mod processor;
mod progress;
mod report;
mod stream;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;
use exit::Failure;

fn main() -> ExitCode {
    // Memory that one thread frees must be free for all threads. Called before any other thread is started.
    zariz_process::return_long_allocations();
    match commands::run(Cli::parse().command) {
        Ok(outcome) => outcome.into(),
        // The reader of our output has closed it, as `head` does. That is no error.
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => {
            report::error(&failure);
            failure.into()
        }
    }
}
