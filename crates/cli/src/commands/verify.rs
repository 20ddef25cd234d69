//! `zariz verify`: checks one signature, or one for every line.

use std::path::PathBuf;

use zariz::rsa::{Algorithm, PublicKey};

use crate::args::{self, Work};
use crate::batch::{self, ItemResult, Tally};
use crate::encoding::Encoding;
use crate::exit::{Failure, Outcome};
use crate::input::{self, Input};
use crate::keyfile;
use crate::lines::Pairs;
use crate::progress::Progress;

/// Arguments of `verify`.
#[derive(clap::Args)]
pub struct Args {
    /// The public key, or the private key: PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The signature algorithm, by its name in JOSE
    #[arg(long, default_value = "RS256", ignore_case = true, value_parser = args::algorithm())]
    alg: Algorithm,
    /// The signature; with --lines, line N is the signature of line N of the input
    #[arg(long, value_name = "FILE")]
    signatures: PathBuf,
    /// How signatures are written [default: raw for one message, base64 for lines]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    /// Each line (without its end) is a message of its own
    #[arg(long)]
    lines: bool,
    /// The message or messages; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    #[command(flatten)]
    work: Work,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let encoding = Encoding::or_default(args.encoding, args.lines, "--encoding")?;
    input::one_stdin(&[("--key", &args.key), ("--signatures", &args.signatures), ("FILE", &args.input)])?;
    let key = keyfile::public(&args.key, args.work.engine)?;
    let signatures = Input::open(&args.signatures)?;
    let input = Input::open(&args.input)?;

    let mut progress = Progress::new(args.work.quiet, input.size, "line", false);
    let tally = if args.lines {
        let pairs = Pairs::new(input, signatures);
        verify_lines(&key, args.alg, encoding, pairs, args.work.threads(), &mut progress)?
    } else {
        let (message, signature) = (input.read_all()?, signatures.read_all()?);
        let result = encoding
            .decode_file(signature)
            .and_then(|signature| key.verify(args.alg, &message, &signature).map_err(|error| error.to_string()));
        match result {
            Ok(()) => Tally { done: 1, failed: 0 },
            Err(error) => {
                progress.error(error);
                Tally { done: 0, failed: 1 }
            }
        }
    };
    progress.note(format_args!("verified {}, failed {}", tally.done, tally.failed));
    Ok(if tally.failed == 0 { Outcome::Done } else { Outcome::NotVerified })
}

/// Verifies the signature beside every line.
pub fn verify_lines(
    key: &PublicKey,
    algorithm: Algorithm,
    encoding: Encoding,
    pairs: Pairs,
    threads: usize,
    progress: &mut Progress,
) -> Result<Tally, Failure> {
    batch::run(pairs, threads, progress, None, |pairs: &[(Line, Line)]| -> Vec<ItemResult> {
        batch::among_good(pairs.iter().map(|pair| decoded(pair, encoding)).collect(), |good| {
            let good: Vec<(&[u8], &[u8])> = good.iter().map(|(message, s)| (*message, s.as_slice())).collect();
            let results = key.verify_batch(algorithm, &good).into_iter();
            results.map(|result| result.map(|()| Vec::new()).map_err(|error| error.to_string())).collect()
        })
    })
}

/// A line, unless its file ended before it.
type Line = Option<Vec<u8>>;

fn decoded((message, signature): &(Line, Line), encoding: Encoding) -> Result<(&[u8], Vec<u8>), String> {
    match (message, signature) {
        (Some(message), Some(signature)) => Ok((message, encoding.decode(signature)?)),
        (Some(_), None) => Err("there is no signature for this line: the signatures end before it".into()),
        (None, _) => Err("there is no such line: the signatures go on after the last message".into()),
    }
}
