//! The commands: the command line, and a module for each command.

pub mod decrypt;
pub mod demo;
pub mod info;
pub mod keygen;
pub mod modexp;
pub mod prime;
pub mod sign;
pub mod speed;
pub mod verify;

use clap::{Parser, Subcommand};

use crate::exit::{Failure, Outcome};

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 a signature did not verify, a checked number is composite, or there was nothing to verify or check; \
2 wrong usage; 3 bad key, input or output; 4 some items of a batch failed (each gives an empty line of output, and an error with its line number). \
If the reader of the output closes it, the run ends by SIGPIPE.

Data goes to standard output, everything else to standard error. NO_COLOR is honoured.
ZARIZ_HIDE=avx512,ifma,avx2,adx hides these instructions (or some of them) from zariz.";

/// RSA and modular exponentiation, many at a time.
#[derive(Parser)]
#[command(name = "zariz", version, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Sign one message, or every line of a file
    Sign(sign::Args),
    /// Verify a signature, or one for every line of a file
    Verify(verify::Args),
    /// Decrypt one ciphertext, or one on every line of a file
    Decrypt(decrypt::Args),
    /// Compute base^exponent mod modulus for every line of a file
    ///
    /// Every line is `base`, `base exponent` or `base exponent modulus` in hexadecimal, separated by spaces
    /// or tabs; missing numbers come from the options. Every line of output is the result in lower-case
    /// hexadecimal without leading zeros. Moduli are odd, at least 3, of up to 16384 bits, and may differ
    /// from line to line.
    ///
    /// Lines are streamed: they, their numbers and results take at most 64 MiB of memory plus twice the
    /// longest line, for all threads together. A line may have at most 256 MiB.
    Modexp(modexp::Args),
    /// Make an RSA key, or a folder of keys
    ///
    /// One key goes to --out, or to standard output. Many keys (--count) go into the folder --out-dir, each
    /// into a file of its own, which appears when it is complete and on the disk. --threads threads make
    /// them.
    Keygen(keygen::Args),
    /// Make primes, or test numbers for primality
    ///
    /// Primes are random and have exactly --bits bits. Each is a line of lower-case hexadecimal, in the order
    /// in which the threads find them.
    Prime(prime::Args),
    /// Measure the speed of this machine, or compare it with OpenSSL's
    ///
    /// rsa signs and verifies short messages (RS256). modexp raises many bases to one secret exponent,
    /// fixedbase one base to many; exponents are as long as the modulus. keygen makes RSA keys; prime and
    /// safeprime make primes. The number in a name is the length in bits. All work in batches. The signing
    /// keys are built in and public.
    ///
    /// The columns with the names of operations are seconds per operation, and those with /s are operations
    /// per second. Both count processor time, like `openssl speed`: the time of other programs does not
    /// count. With several threads, a rate is that of all threads together, on as many processors as they can
    /// have at once. p50 and p99 are microseconds by the clock: the time of a batch, divided by its
    /// operations. Half of the batches take at most p50, and 99 of 100 at most p99.
    ///
    /// ~ marks operations that were disturbed: in at least one round, other programs had more than 5 % of the
    /// time. A line below says how much zariz had. Other programs also fill caches and slow the processor
    /// down, so measure again for exact figures. In JSON, disturbed_rounds is the number of such rounds, and
    /// processor_share is the share of the time that zariz had in the worst round.
    ///
    /// OpenSSL makes each key (`openssl genrsa`) and each prime (`openssl prime -generate`) in its own
    /// process, so its rates include the start of the process. --compare also measures only that start (with
    /// `openssl prime 7`) and shows it; in JSON it is peer_start_seconds. These are also processor times. The
    /// time for a prime varies: with more --seconds, its rate is steadier.
    Speed(speed::Args),
    /// Show the processor, and test each engine on it; or show the settings and counters of the module for
    /// OpenSSL
    Info(info::Args),
    /// Sign 20,000 lines with a fresh key, verify them, and compare with OpenSSL
    Demo(demo::Args),
}

/// Runs a command.
pub fn run(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Sign(args) => sign::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Decrypt(args) => decrypt::run(&args),
        Command::Modexp(args) => modexp::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Prime(args) => prime::run(&args),
        Command::Speed(args) => speed::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Demo(args) => demo::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
