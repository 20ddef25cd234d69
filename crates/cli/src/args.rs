//! Options that several commands share.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use zariz::rsa::{Algorithm, Error, PublicKey};
use zariz::{Dispatch, EngineError};

use crate::encoding::Encoding;
use crate::exit::Failure;
use crate::input;

/// The most threads; more would only compete for the cores.
const MOST_THREADS: i64 = 1024;

/// Options for computing: threads, engine, progress.
#[derive(clap::Args, Clone, Copy)]
pub struct Execution {
    /// Threads to use [default: one for each core; one for `speed`]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
    /// Engine to use, one that `zariz info` lists; auto picks the fastest for each batch size
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = dispatch)]
    pub engine: Dispatch,
    /// Print nothing but errors on standard error: no progress, no summary
    #[arg(long, short)]
    pub quiet: bool,
}

impl Execution {
    /// The threads that the command line names, or one for each core.
    pub fn threads(&self) -> usize {
        self.threads.map_or_else(|| thread::available_parallelism().map_or(1, NonZero::get), usize::from)
    }

    /// The threads that the command line names, or one.
    pub fn threads_or_one(&self) -> usize {
        self.threads.map_or(1, usize::from)
    }
}

/// The input and output options of the commands for messages.
#[derive(clap::Args)]
pub struct Files {
    /// Treat each line (without its end) as one item; each gives one line of output
    ///
    /// Lines are streamed: they and their results take at most 64 MiB of memory plus the longest line, for
    /// all threads together. A line may have at most 256 MiB.
    #[arg(long)]
    pub lines: bool,
    /// Where results go; the file appears when it is complete [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The input; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub input: PathBuf,
}

/// Options of the commands for signatures: algorithm and encoding.
#[derive(clap::Args)]
pub struct SignatureFormat {
    /// The signature algorithm, by its name in JOSE: RS256, RS384, RS512, PS256, PS384, PS512
    #[arg(long, default_value = "RS256", value_parser = algorithm)]
    pub alg: Algorithm,
    /// The encoding of signatures [default: raw for one message, base64 for lines]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
}

impl SignatureFormat {
    /// The encoding that the command line names, or the default.
    pub fn encoding(&self, lines: bool) -> Result<Encoding, Failure> {
        Encoding::or_default(self.encoding, lines, "--encoding")
    }

    /// Refuses a key that does not fit the algorithm; the error names the algorithms that do. `path` is the
    /// key's file.
    pub fn must_fit(&self, key: &PublicKey, path: &Path) -> Result<(), Failure> {
        let zero = vec![0; key.size()];
        let tried = |algorithm| match key.verify(algorithm, b"", &zero) {
            Err(error @ (Error::PssOnly | Error::PssParameters(_) | Error::KeyTooShort)) => Err(error),
            _ => Ok(()),
        };
        tried(self.alg).map_err(|error| {
            let names = algorithms(|algorithm| tried(algorithm).is_ok());
            let advice = match &names[..] {
                [] => "no --alg fits it".into(),
                [one] => format!("use --alg {one}"),
                [most @ .., last] => format!("use --alg {} or {last}", most.join(", ")),
            };
            Failure::Input(format!("{}: {error}; {advice}", input::name(path)))
        })
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

/// The names of the signature algorithms that fit.
fn algorithms(fits: impl Fn(Algorithm) -> bool) -> Vec<&'static str> {
    Algorithm::NAMED
        .iter()
        .filter(|algorithm| fits(**algorithm))
        .filter_map(|algorithm| algorithm.name())
        .collect()
}

/// Reads the name of a signature algorithm, in upper or lower case. For one of another family, the error
/// names the family.
fn algorithm(name: &str) -> Result<Algorithm, String> {
    let lower = name.to_lowercase();
    let other = match lower.get(..2) {
        _ if lower == "none" => "none means no signature; ",
        _ if lower.starts_with("rsa-oaep") || lower == "rsa1_5" => "this is for encryption; ",
        Some("hs") => "this authenticates with a shared secret, without a key pair; ",
        Some("es") => "this is ECDSA; ",
        Some("ed") => "this is EdDSA; ",
        Some("ml") => "this is ML-DSA; ",
        _ => "",
    };
    name.parse().map_err(|_| {
        let names = algorithms(|_| true).join(", ");
        format!("{other}zariz signs and verifies only with RSA: {names}")
    })
}
