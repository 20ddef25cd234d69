//! Makes the generated tables, or checks that they are up to date.

use std::process::ExitCode;

use zariz_analysis::tables::{self, Table};

const USAGE: &str = "\
Usage: zariz-analysis [--check]

Runs the kernels over intervals, counts and exact integers, and writes the tables of docs/generated,
lab/papers/src/counts.json and carry.json. With --check, compares them with the files instead, and writes nothing.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let finish: fn(&[Table]) -> Result<(), String> =
        match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => tables::write,
            ["--check"] => tables::check,
            ["--help" | "-h"] => {
                print!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            _ => {
                eprint!("zariz-analysis: unknown arguments: {}\n\n{USAGE}", arguments.join(" "));
                return ExitCode::from(2);
            }
        };
    match tables::all().and_then(|tables| finish(&tables)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zariz-analysis: {error}");
            ExitCode::FAILURE
        }
    }
}
