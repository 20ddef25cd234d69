//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::measure::Budget;

/// Measures zariz and other RSA libraries side by side, in one process and on one thread.
///
/// Every library signs and verifies with the same keys (PKCS#1 v1.5, SHA-256), in many short rounds that take
/// turns. Tables go to standard output, and all data as JSON to a folder; `pages` makes pages and charts of
/// it.
#[derive(Parser, Debug)]
#[command(name = "zariz-bench", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Measure something else.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Modulus sizes to measure, in bits.
    #[arg(long, value_delimiter = ',', default_values_t = [1024, 2048, 3072, 4096, 8192], value_name = "BITS,…")]
    pub sizes: Vec<usize>,

    /// Batch sizes to measure zariz at. Of the peers, only crypto_mb has batches.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 64], value_name = "N,…")]
    pub batches: Vec<usize>,

    /// zariz engines to measure, auto for zariz left to itself [default: every engine this processor has, and
    /// auto].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub engines: Vec<String>,

    /// Peers to measure: openssl, aws-lc, ring, graviola, rustcrypto, gmp, or none [default: all].
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pub peers: Vec<String>,

    /// crypto_mb of Intel's Cryptography Primitives Library, which you built: its libcrypto_mb.so. It is
    /// measured at batches of 8 and more, and a table compares primitives: private and public operations, and
    /// powers.
    #[arg(long, value_name = "FILE")]
    pub crypto_mb: Option<PathBuf>,

    /// Seconds that each library, engine and batch size gets per operation, over all rounds [default: 1.5].
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,

    /// Rounds that these seconds are spread over [default: 25].
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,

    /// A short, rough run: 0.25 seconds in 5 rounds unless told otherwise.
    #[arg(long)]
    pub quick: bool,

    /// Where to write the results [default: lab/results under `cargo run`, else results].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// A remark to keep with the results.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,

    /// Stay on this processor (numbered from 0); without it, the system chooses.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,

    /// Start again with OPENSSL_ia32cap set so that OpenSSL and AWS-LC do not see AVX512-IFMA (nor AVX-IFMA),
    /// as on a processor without it. zariz does not read that variable.
    #[arg(long)]
    pub mask_ifma: bool,
}

/// What can be measured beside RSA.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measures one field operation of BLS12-381 beside blst, arkworks and num-bigint.
    #[command(name = "bls12-381")]
    Bls12381(FieldArgs),
    /// Measures RSA keys, safe primes and powers of one base beside OpenSSL, AWS-LC, RustCrypto and GMP.
    Bulk(BulkArgs),
    /// Measures nothing: makes pages and charts of all data, as `cargo xtask results` does.
    Pages(PagesArgs),
}

/// Arguments of `pages`.
#[derive(clap::Args, Debug)]
pub struct PagesArgs {
    /// Where the data is [default: lab/results under `cargo run`, else results].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Where to write pages and charts.
    #[arg(value_name = "DIR")]
    pub out: PathBuf,
}

impl PagesArgs {
    /// The folder of the data.
    pub fn data(&self) -> PathBuf {
        folder(self.data.as_ref())
    }
}

/// Arguments of `bulk`.
#[derive(clap::Args, Debug)]
pub struct BulkArgs {
    /// Lengths of RSA keys, in bits.
    #[arg(long, value_delimiter = ',', default_values_t = [2048, 3072, 4096], value_name = "BITS,…")]
    pub sizes: Vec<usize>,

    /// Keys of 2048 bits that zariz makes by each method; a tenth as many safe primes; fewer longer keys.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub count: usize,

    /// Keys of 2048 bits and safe primes that each peer makes; fewer longer keys.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub peer_count: usize,

    /// Leave out safe primes.
    #[arg(long)]
    pub skip_primes: bool,

    /// Rounds in which all take turns.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,

    /// Where to write the results [default: lab/results under `cargo run`, else results].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Stay on this processor (numbered from 0); without it, the system chooses.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
}

impl BulkArgs {
    /// The folder for the results.
    pub fn out(&self) -> PathBuf {
        folder(self.out.as_ref())
    }
}

/// Arguments of `bls12-381`.
#[derive(clap::Args, Debug)]
pub struct FieldArgs {
    /// Rounds in which all take turns.
    #[arg(long, value_name = "N", default_value_t = 101)]
    pub rounds: usize,

    /// Where to write the results [default: lab/results under `cargo run`, else results].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Stay on this processor (numbered from 0); without it, the system chooses.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
}

impl FieldArgs {
    /// The folder for the results.
    pub fn out(&self) -> PathBuf {
        folder(self.out.as_ref())
    }
}

/// The folder that was named, or else that beside the package. Cargo tells programs that it runs where their
/// package is.
fn folder(named: Option<&PathBuf>) -> PathBuf {
    let beside = |package| PathBuf::from(package).join("../results");
    let usual = || std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| "results".into(), beside);
    named.cloned().unwrap_or_else(usual)
}

impl Args {
    /// Seconds per cell over all rounds.
    pub fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.quick { 0.25 } else { 1.5 })
    }

    /// Rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 5 } else { 25 })
    }

    /// How long to measure.
    pub fn budget(&self) -> Budget {
        Budget { seconds: self.seconds(), rounds: self.rounds() }
    }

    /// The folder for the results.
    pub fn out(&self) -> PathBuf {
        folder(self.out.as_ref())
    }

    /// What is wrong with the arguments, if anything.
    pub fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.seconds().is_finite() && self.seconds() > 0.0, "--seconds must be more than 0");
        anyhow::ensure!(self.rounds() > 0, "--rounds must be more than 0");
        anyhow::ensure!(
            self.batches.iter().all(|&n| (1..=65_536).contains(&n)),
            "--batches must be 1 to 65536"
        );
        Ok(())
    }
}
