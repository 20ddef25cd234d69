//! The parts of the program `zariz`: it signs, verifies, decrypts, raises to powers, and makes keys and
//! primes, many at a time.
//!
//! This library is for the program, for that of the papers and for the fuzz targets. It may change with any
//! release.
//!
//! Data goes to standard output, everything else to standard error. The exit codes are in [`exit`].
#![forbid(unsafe_code)]

pub mod args;
pub mod batch;
mod cleanup;
pub mod commands;
pub mod encoding;
pub mod exit;
pub mod input;
mod keyfile;
pub mod lines;
mod makers;
pub mod measure;
pub mod number;
pub mod output;
mod password;
mod place;
pub mod processor;
pub mod progress;
mod report;
mod standard;
mod stream;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use exit::{Failure, Outcome};

/// A whole program: reads the command line and runs it.
pub fn run<Cli: Parser>(run: impl FnOnce(Cli) -> Result<Outcome, Failure>) -> ExitCode {
    // Memory that one thread frees must be free for all threads. Call this before any other thread is
    // started.
    zariz_process::return_long_allocations();
    let run = |cli| processor::check_hidden().and_then(|()| run(cli)).map(Into::into);
    let done = Cli::try_parse().map_or_else(|error| not_run::<Cli>(&error), run);
    done.unwrap_or_else(|failure| failure.report())
}

/// Prints the help or version that was asked for, or the error in the command line.
fn not_run<Cli: Parser>(error: &clap::Error) -> Result<ExitCode, Failure> {
    if !error.use_stderr() {
        output::Output::stdout()?;
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        return printed
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| Failure::write("standard output", &error));
    }
    // Errors repeat arguments unchanged: parse escaped arguments for the same error.
    let arguments = std::env::args_os().map(|argument| report::Escaped(argument.display()).to_string());
    let escaped = Cli::try_parse_from(arguments).err();
    // If it cannot be printed, the exit code still says so.
    let _ = escaped.as_ref().unwrap_or(error).print();
    Ok(ExitCode::from(2))
}
