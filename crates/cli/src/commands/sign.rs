//! `zariz sign`: signatures of one message or of every line.

use std::path::PathBuf;

use zariz::rsa::{Algorithm, Message, PrivateKey};

use crate::args::{Execution, Files, SignatureFormat};
use crate::batch::{self, Tally};
use crate::encoding::Encoding;
use crate::exit::{Failure, Outcome};
use crate::input::{self, Input};
use crate::keyfile;
use crate::lines::Lines;
use crate::output::{self, Output};
use crate::password::Password;
use crate::progress::Progress;

/// Arguments of `sign`.
#[derive(clap::Args)]
pub struct Args {
    /// The private key: PEM or DER, PKCS#8 or PKCS#1; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    password: Password,
    #[command(flatten)]
    format: SignatureFormat,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    execution: Execution,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let Files { lines, out, input } = &args.files;
    let (algorithm, encoding) = (args.format.alg, args.format.encoding(*lines)?);
    let secrets = || [("--key", args.key.as_path())].into_iter().chain(args.password.source());
    input::one_stdin(secrets().chain([("FILE", input.as_path())]))?;
    output::must_not_replace(("--out", out.as_deref()), secrets())?;
    let mut output = Output::open(out.as_deref())?;
    if encoding == Encoding::Raw {
        output.refuse_binary("--encoding")?;
    }
    let key = keyfile::private(&args.key, &args.password, args.execution.engine)?;
    args.format.must_fit(key.public_key(), &args.key)?;
    let mut input = Input::open(input)?;

    let outcome = if *lines {
        let mut progress = Progress::new(args.execution.quiet, input.size, "line", output.is_terminal());
        let threads = args.execution.threads();
        sign_lines(&key, algorithm, encoding, input, &mut output, threads, &mut progress)?.outcome(&progress)
    } else {
        let mut progress = Progress::bytes(args.execution.quiet, input.size, output.is_terminal());
        let digest = input.digest(algorithm.hash(), &mut progress)?;
        let signature = key.sign(algorithm, Message::Digest(&digest)).map_err(Failure::key(&args.key))?;
        output.write(&encoding.encode_file(&signature))?;
        Outcome::Done
    };
    output.finish()?;
    Ok(outcome)
}

/// Signs every line of `input`, and writes each signature as a line of `output`.
pub fn sign_lines(
    key: &PrivateKey,
    algorithm: Algorithm,
    encoding: Encoding,
    input: Input,
    output: &mut Output,
    threads: usize,
    progress: &mut Progress,
) -> Result<Tally, Failure> {
    let longest = encoding.length(key.public_key().size());
    batch::run(Lines::new(input), threads, longest, progress, Some(output), |messages: Vec<Vec<u8>>| {
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let signatures = key.sign_batch(algorithm, &messages).into_iter();
        signatures.map(|result| result.map(|s| encoding.encode(&s)).map_err(|e| e.to_string())).collect()
    })
}
