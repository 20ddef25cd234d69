//! Proves the assembly of this program, or of another that contains zariz.

use std::process::ExitCode;

const USAGE: &str = "\
Usage: zariz-proof [FILE]

Proves, for all inputs, that the functions of zariz in assembly compute what they should. The machine code is that of FILE,
a program or library for Linux on x86-64 or 64-bit Arm with a symbol table, or else of this program itself. Rows of products and reductions
of the generic kernels are proved as they are written.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => run(None),
        ["--help" | "-h"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        [file] if !file.starts_with('-') => run(Some(file)),
        _ => {
            eprint!("zariz-proof: unknown arguments: {}\n\n{USAGE}", arguments.join(" "));
            ExitCode::from(2)
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn run(_: Option<&str>) -> ExitCode {
    println!("not proved: the assembly is for x86-64, and is read from files of Linux");
    ExitCode::SUCCESS
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn run(file: Option<&str>) -> ExitCode {
    use object::Architecture;
    use zariz_proof::{a64, claims, code::Code, own_program, program::Program};
    claims::link::link();
    let prefixes = [claims::PREFIXES, claims::a64::PREFIXES].concat();
    let program = match file {
        Some(file) => Program::read(file.as_ref(), &prefixes),
        None => own_program(),
    };
    let program = match program {
        Ok(program) => program,
        Err(error) => {
            eprintln!("zariz-proof: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut proved, mut failed) = (0, 0);
    let mut each = |outcome: claims::Outcome| {
        let name = outcome.function.trim_start_matches("zariz_machines::");
        match outcome.result {
            Ok(proof) => {
                proved += 1;
                println!(
                    "{name}, {}: proved ({} equations, {} dropped carries decided, {} cases)",
                    outcome.size, proof.equations, proof.decided, proof.cases
                );
            }
            Err(error) => {
                failed += 1;
                println!("{name}, {}: NOT PROVED: {error}", outcome.size);
            }
        }
    };
    match program.architecture {
        Architecture::Aarch64 => claims::a64::all(&a64::code::Code::decode(program), &mut each),
        _ => claims::all(&Code::decode(program), each),
    }
    for (place, why) in claims::others::OTHERS {
        println!("{}: nothing is claimed: {why}", place.trim_start_matches("zariz_machines::"));
    }
    println!("{proved} claims proved, {failed} not");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
