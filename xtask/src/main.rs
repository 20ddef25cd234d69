//! The chores of this repository, as `cargo xtask …`.

mod api;
mod archives;
mod codegen;
mod emulated;
mod handshakes;
mod instructions;
mod layers;
mod metadata;
mod msrv;
mod newest;
mod packages;
mod process;
mod sanitizers;
mod secrets;
mod source;
mod tables;
mod test;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test [STEP…]       what must hold before a change goes in, without the long steps; with names, those steps alone
  test long          the long steps, which rarely find anything new
  codegen [--bless]  compiles the roots of every machine, prints what they became, and compares it with
                     xtask/codegen-budget.txt; --bless rewrites that file
  api                writes the lists of the public API, docs/api
  tables             runs the kernels over intervals and counts, and writes docs/generated and the counts that the
                     program shows (crates/papers/src/counts.json)
  instructions       counts the instructions of an exponentiation under valgrind, and writes
                     docs/generated/instructions.md and what the program shows of it
                     (crates/papers/src/instructions.json)
  handshakes         measures haproxy with zariz beside haproxy with OpenSSL's own code (five minutes), and writes
                     bench/results/handshakes-PROCESSOR.md
  sanitizers [NAME…] runs the provider's concurrent tests under the sanitizers of a nightly compiler (address, thread), and
                     loading and unloading under valgrind (valgrind); with names, those alone
  help               this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}\nSteps of test:\n{}", test::list());
            return ExitCode::SUCCESS;
        }
        ["test", ref steps @ ..]
            if steps.iter().all(|step| *step == test::LONG || test::STEPS.iter().any(|s| s.name == *step)) =>
        {
            test::run(steps)
        }
        ["api"] => api::write(),
        ["tables"] => tables::write(),
        ["instructions"] => instructions::write(),
        ["handshakes"] => handshakes::measure(),
        ["sanitizers", ref names @ ..] if names.iter().all(|name| ["address", "thread", "valgrind"].contains(name)) => {
            sanitizers::check(names)
        }
        ["codegen"] => codegen::report(),
        ["codegen", "--bless"] => codegen::bless(),
        _ => {
            match arguments[..] {
                [] => {}
                ["test", ..] => eprintln!("xtask: no such step among: {}\n", arguments[1..].join(" ")),
                _ => eprintln!("xtask: unknown command: {}\n", arguments.join(" ")),
            }
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
