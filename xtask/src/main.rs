//! The chores of this repository, as `cargo xtask …`.

mod api;
mod archives;
mod arm;
mod codegen;
mod dependencies;
mod dist;
mod emulated;
mod faults;
mod fuzz;
mod go;
mod handshakes;
mod hidden;
mod instructions;
mod java;
mod layers;
mod metadata;
mod module;
mod msrv;
mod mutants;
mod newest;
mod openssl;
mod packages;
mod process;
mod processor;
mod proof;
mod python;
mod reproducible;
mod results;
mod sanitizers;
mod sbom;
mod secrets;
mod servers;
mod site;
mod soak;
mod source;
mod suite;
mod supply;
mod tables;
mod target;
mod test;
mod timing;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test [STEP…]       the tests, without the steps that are only for a change (ci) or a release (long); with names, only
                     those steps; `ci` and `long` name all of theirs, and `ci` all others too
  test long          the long steps, which rarely find anything new
  codegen [--bless]  compiles the entry points of every machine, prints what they became, and compares it with
                     xtask/codegen-budget.txt; --bless rewrites that file
  codegen --target-cpu CPU…
                     compiles them for these processors, and checks only that nothing depends on secrets
  api                writes the lists of the public API, docs/api
  commands           writes docs/commands.md, the help of the program's commands
  site               builds the documentation site into target/site (MkDocs, by docs/requirements.txt), and checks its links
  tables             runs the kernels over intervals and counts, and writes docs/generated and the counts that the
                     program shows (lab/papers/src/counts.json)
  instructions       counts the instructions of an exponentiation under valgrind, and writes
                     docs/generated/instructions.md and what the program shows of it
                     (lab/papers/src/instructions.json)
  results            makes docs/benchmarks of the data in lab/results: a page of each comparison, charts, times, faults and
                     the papers' figures; it compiles lab/bench, and so needs what that needs
  handshakes         measures haproxy with zariz beside haproxy with OpenSSL's own code (five minutes), and writes
                     lab/results/handshakes-PROCESSOR.md
  timing [--samples N] [--engine E] [--only powers|rsa|decryption|keys|clock]
                     measures whether the time of powers and RSA depends on secrets, by Welch's t-test as
                     dudect does (20 minutes), and writes lab/results/DATE-timing-PROCESSOR-COMMIT; remove older data of the same
  timing --table     writes docs/benchmarks/timing.md, as each measurement does, and shows the table that SOUNDNESS.md
                     must have
  faults [--flips N] [--engine E] [--keys K] [--batches B] [--seed S]
                     flips random bits of a process that computes private operations (100,000 of them, in minutes),
                     shows whether a result reveals its key, and writes lab/results/DATE-faults-PROCESSOR-COMMIT-ENGINE, with the keys and batches
                     at the end where there are several
  mutants [--count N] [--seed S] [--jobs J] [--only kernels|bls12-381|rsa|batcher|provider]
                     plants N small faults (500), drawn at random, in the kernels, RSA and the queue, one at a time, and
                     counts those that tests notice (hours); needs cargo-mutants; the same command continues an
                     interrupted run; writes
                     lab/results/DATE-mutants-PROCESSOR-COMMIT-seed-S.md
  soak [--handshakes N] [--jobs N] [--requests N] [--minutes N]
                     a million handshakes of haproxy with reloads, cut connections and silent clients, a million
                     asynchronous jobs (an hour or more), and a million requests to the queue by callers who give up,
                     panic and fork (minutes): nothing may fail, memory and descriptors may not grow; writes
                     lab/results/DATE-soak-PROCESSOR-COMMIT-*.md as it goes on
  sanitizers [NAME…] runs the provider's concurrent tests under the sanitizers of a nightly compiler (address, thread), and
                     loading and unloading under valgrind (valgrind); with names, only those
  reproducible       builds the module for OpenSSL from the last commit in two folders, and compares the two files
  supply             licences, sources and versions of all dependencies; their known vulnerabilities by cargo-deny, if installed
  sbom               writes bills of materials (CycloneDX) of the program, the module for OpenSSL and the libraries for C to
                     target/sbom
  openssl --tree DIR [--module FILE] [RECIPE…]
                     runs OpenSSL's own tests of a built source tree with zariz, compares those that reach it with the
                     default provider, and without names writes lab/results/DATE-openssl-VERSION-tests-PROCESSOR-COMMIT.md
  dist               makes in dist/ what people install without a compiler, on x86-64 and on 64-bit Arm: wheels and the
                     source archive of the Python package, archives of the program, the module for OpenSSL and the libraries
                     for C, Debian packages of these, the jar for Java, a Maven repository and a Go module proxy; it
                     installs its tools into target/tools
  go                 makes the file with the engine that the Go module links on this kind of processor, in go/internal/syso,
                     and renews the module's copy of the C header
  fuzz [SECONDS] [--target NAME] [--minimise | --keep FILE]
                     runs each fuzz target of lab/fuzz/, or that one, for SECONDS (60), with a nightly compiler and cargo-fuzz;
                     --minimise makes lab/fuzz/corpus-small again from what is known, and --keep puts a file into that of the
                     target, instead of a search
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
            if steps.iter().all(|step| {
                [test::CI, test::LONG].contains(step) || test::STEPS.iter().any(|s| s.name == *step)
            }) =>
        {
            test::run(steps)
        }
        ["api"] => api::write(),
        ["commands"] => site::write_commands(),
        ["site"] => site::build(),
        ["tables"] => tables::write(),
        ["instructions"] => instructions::write(),
        ["results"] => results::write(),
        ["handshakes"] => handshakes::measure(),
        ["mutants", ref rest @ ..] => mutants::test(rest),
        ["soak", ref rest @ ..] => soak::measure(rest),
        ["timing", "--table"] => timing::tabulate(),
        ["timing", ref rest @ ..] => timing::measure(rest),
        ["faults", ref rest @ ..] => faults::measure(rest),
        ["sanitizers", ref names @ ..]
            if names.iter().all(|name| ["address", "thread", "valgrind"].contains(name)) =>
        {
            sanitizers::check(names)
        }
        ["openssl", "--tree", tree, "--module", module, ref recipes @ ..] => {
            openssl::check(tree, Some(module), recipes)
        }
        ["openssl", "--tree", tree, ref recipes @ ..] => openssl::check(tree, None, recipes),
        ["supply"] => supply::check_all(),
        ["sbom"] => sbom::write(),
        ["dist"] => dist::write(),
        ["go"] => go::write(),
        ["reproducible"] => reproducible::check(),
        ["fuzz", ref rest @ ..] => fuzz::run_all(rest),
        ["codegen"] => codegen::report(),
        ["codegen", "--bless"] => codegen::bless(),
        ["codegen", "--target-cpu", ref names @ ..] if !names.is_empty() => codegen::for_processors(names),
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
