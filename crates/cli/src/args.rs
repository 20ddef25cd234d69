//! The command line: commands, and the options that several of them share.

use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use zariz::rsa::Algorithm;
use zariz::{Dispatch, EngineError};

use crate::commands::{decrypt, demo, info, keygen, modexp, papers, sign, speed, verify};
use crate::encoding::Encoding;
use crate::exit::Failure;

/// More threads than this would only fight over the cores.
const MOST_THREADS: i64 = 1024;

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 a signature did not verify, or there was nothing to verify; 2 wrong usage; 3 bad key, input or output; \
4 some items of a batch failed (each leaves an empty line in its place, and an error with its line number).

Data goes to standard output, everything else to standard error. NO_COLOR is honoured.";

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
    /// Every line is `base`, `base exponent` or `base exponent modulus` in hexadecimal, separated by spaces or tabs;
    /// what is missing comes from the options. Every line of output is the result in lower-case hexadecimal without
    /// leading zeros. Moduli are odd, 3 or more, of up to 16384 bits, and may differ from line to line.
    ///
    /// Lines stream: they, their numbers and results take at most 64 MiB of memory plus twice the longest line, for all
    /// threads together. A line has at most 256 MiB.
    Modexp(modexp::Args),
    /// Make an RSA key
    Keygen(keygen::Args),
    /// Measure how fast this machine is, alone or against OpenSSL
    ///
    /// RSA signs and verifies short messages (RS256); modexp raises to secret exponents as long as the modulus. Both
    /// work in batches: sign, verify and modexp are the seconds for each operation, as in `openssl speed`; p50 and p99
    /// are the microseconds that half and 99 of 100 batches keep within. The keys are built in, and public.
    Speed(speed::Args),
    /// Measure the tables of the papers that zariz implements, beside their published figures
    ///
    /// Papers come in a fixed order, that of the list below, in whatever order they are named.
    ///
    /// Cycles are reference cycles of the processor's time stamp counter, whatever the clock of the core; ns are the
    /// nanoseconds of the same measurement, and - is what is not published or could not be measured. Rows of GMP and
    /// OpenSSL need libgmp.so.10 and libcrypto.so.3 (or their likes of other systems), which are looked for where the
    /// system looks for shared libraries; where they are missing, a line says so. Rows of one size are timed in turns, in
    /// three to fifteen rounds; each row takes at least three calls, however long they are. Figures are medians over
    /// rounds; ratios are medians of the ratios of each round, not ratios of the figures shown. ~ marks figures whose
    /// rounds spread by more than 15 %, * what the paper does not print but its figures give.
    ///
    /// The rows of `openssl speed` in ahmm run the system's openssl program on its default provider and on zariz's module
    /// with either method, a second for each of signing and verifying in each round; as many rounds as --seconds says, and
    /// three at least.
    ///
    /// JSON has for each paper its name (`paper`), the setting, and `tables`, each with `name`, `title`, `source`,
    /// `notes` and `rows`; a row has `row`, `size` (bits), `unit`, `published` and `measured` (in that unit, or null),
    /// `published_note` where the paper's figure is not printed there, `rounds`, `least` and `most` of the rounds (in
    /// the unit; null where nothing was timed), `noisy` (what ~ marks), `nanoseconds` (or null), `engine` (or "counted",
    /// where `measured` is a count), and a `note` where nothing could be measured or something is to be minded.
    Papers(papers::Args),
    /// Show the processor, and test each engine on it; or what the module for OpenSSL says of itself
    Info(info::Args),
    /// Sign 20,000 lines with a fresh key, verify them, and compare with OpenSSL
    Demo(demo::Args),
}

/// How to work: options of every command that computes.
#[derive(clap::Args, Clone, Copy)]
pub struct Work {
    /// Threads to use [default: one for each core; for speed one]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
    /// Engine for everything, of those that `zariz info` shows; auto takes the fastest for as many as there are
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = dispatch)]
    pub engine: Dispatch,
    /// Say nothing on standard error but errors: no progress, no summary
    #[arg(long, short)]
    pub quiet: bool,
}

impl Work {
    /// The threads asked for, else one for each core.
    pub fn threads(&self) -> usize {
        self.threads.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
    }

    /// The threads asked for, else one.
    pub fn threads_or_one(&self) -> usize {
        self.threads.map_or(1, usize::from)
    }
}

/// What the commands for messages share: where they come from, and where results go.
#[derive(clap::Args)]
pub struct Files {
    /// Each line (without its end) is an item of its own; each makes one line of output
    ///
    /// Lines stream: they and their results take at most 64 MiB of memory plus the longest line, for all threads
    /// together. A line has at most 256 MiB.
    #[arg(long)]
    pub lines: bool,
    /// Where results go; the file appears when it is complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The input; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub input: PathBuf,
}

/// What the commands for signatures share: how these are made and written.
#[derive(clap::Args)]
pub struct Form {
    /// The signature algorithm, by its name in JOSE
    #[arg(long, default_value = "RS256", ignore_case = true, value_parser = algorithm())]
    pub alg: Algorithm,
    /// How signatures are written [default: raw for one message, base64 for lines]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
}

impl Form {
    /// The encoding asked for, or the usual one.
    pub fn encoding(&self, lines: bool) -> Result<Encoding, Failure> {
        Encoding::or_default(self.encoding, lines, "--encoding")
    }
}

fn threads() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(1..=MOST_THREADS)
}

/// The engine of that name, or auto, if this processor can run it.
pub fn dispatch(name: &str) -> Result<Dispatch, EngineError> {
    let dispatch: Dispatch = name.parse()?;
    dispatch.check().map(|()| dispatch)
}

/// Reads the name of a signature algorithm, in any case.
fn algorithm() -> impl TypedValueParser<Value = Algorithm> {
    PossibleValuesParser::new(Algorithm::NAMED.iter().copied().filter_map(Algorithm::name))
        .try_map(|name| name.parse::<Algorithm>())
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
