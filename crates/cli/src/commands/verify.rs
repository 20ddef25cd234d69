//! `zariz verify`: checks one signature, or one for every line.

use std::path::PathBuf;

use zariz::rsa::{Algorithm, Message, PublicKey, Signed};

use crate::args::{Execution, SignatureFormat};
use crate::batch::{self, ItemResult, Tally};
use crate::encoding::Encoding;
use crate::exit::{Failure, Outcome};
use crate::input::{self, Input};
use crate::keyfile;
use crate::lines::Pairs;
use crate::password::Password;
use crate::progress::Progress;

/// Arguments of `verify`.
#[derive(clap::Args)]
pub struct Args {
    /// The public key, or the private key: PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    password: Password,
    #[command(flatten)]
    format: SignatureFormat,
    /// The signature, or the signatures of --lines: line N has that of line N of the input
    #[arg(long, value_name = "FILE")]
    signatures: PathBuf,
    /// Each line (without its end) is a separate message
    ///
    /// Lines are streamed: messages and signatures take at most 64 MiB of memory plus the longest line, for
    /// all threads together. A message may have at most 256 MiB, a signature 64 KiB.
    #[arg(long)]
    lines: bool,
    /// Accept empty input of --lines; without this, two empty files are an error (exit code 1)
    #[arg(long, requires = "lines")]
    allow_empty: bool,
    /// The message or messages; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    #[command(flatten)]
    execution: Execution,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let (algorithm, encoding) = (args.format.alg, args.format.encoding(args.lines)?);
    input::one_stdin(
        [
            ("--key", args.key.as_path()),
            ("--signatures", args.signatures.as_path()),
            ("FILE", args.input.as_path()),
        ]
        .into_iter()
        .chain(args.password.source()),
    )?;
    let key = keyfile::public(&args.key, &args.password, args.execution.engine)?;
    args.format.must_fit(&key, &args.key)?;
    let signatures = Input::open(&args.signatures)?;
    let mut input = Input::open(&args.input)?;

    let (quiet, size) = (args.execution.quiet, input.size);
    let mut progress = if args.lines {
        Progress::new(quiet, size, "line", false)
    } else {
        Progress::bytes(quiet, size, false)
    };
    let tally = if args.lines {
        let pairs = Pairs::new(input, signatures);
        verify_lines(&key, algorithm, encoding, pairs, args.execution.threads(), &mut progress)?
    } else {
        let digest = input.digest(algorithm.hash(), &mut progress)?;
        let (signature, advice) = signatures.read_item(encoding, key.size())?;
        let digest = Message::Digest(&digest);
        let verify =
            |signature: Vec<u8>| key.verify(algorithm, digest, &signature).map_err(|e| e.to_string());
        match encoding.decode_file(signature).and_then(verify) {
            Ok(()) => Tally { done: 1, failed: 0 },
            Err(error) => {
                progress.error(format_args!("{error}{advice}"));
                Tally { done: 0, failed: 1 }
            }
        }
    };
    let nothing = tally == Tally::default() && !args.allow_empty;
    if nothing {
        let (input, signatures) = (input::name(&args.input), input::name(&args.signatures));
        progress.error(format_args!(
            "nothing to verify: {input} and {signatures} have no lines; --allow-empty accepts that"
        ));
    }
    progress.note(format_args!("verified {}, failed {}", tally.done, tally.failed));
    Ok(if tally.failed == 0 && !nothing { Outcome::Done } else { Outcome::NotVerified })
}

/// Verifies each line of `input` with its signature.
pub fn verify_lines(
    key: &PublicKey,
    algorithm: Algorithm,
    encoding: Encoding,
    pairs: Pairs,
    threads: usize,
    progress: &mut Progress,
) -> Result<Tally, Failure> {
    batch::run(pairs, threads, 0, progress, None, |pairs: Vec<(Line, Line)>| -> Vec<ItemResult> {
        batch::among_good(pairs.iter().map(|pair| decoded(pair, encoding)).collect(), |good| {
            let signed =
                good.iter().map(|(message, signature)| Signed { message: message.into(), signature });
            let results = key.verify_batch(algorithm, &signed.collect::<Vec<_>>()).into_iter();
            results.map(|result| result.map(|()| Vec::new()).map_err(|error| error.to_string())).collect()
        })
    })
}

/// A line; `None` if its file ended earlier.
type Line = Option<Vec<u8>>;

fn decoded((message, signature): &(Line, Line), encoding: Encoding) -> Result<(&[u8], Vec<u8>), String> {
    match (message, signature) {
        (Some(message), Some(signature)) => Ok((message, encoding.decode(signature)?)),
        (Some(_), None) => {
            Err("there is no signature for this line: there are fewer signatures than lines".into())
        }
        (None, _) => Err("there is no line for this signature: there are more signatures than lines".into()),
    }
}
