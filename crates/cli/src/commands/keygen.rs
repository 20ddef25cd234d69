//! `zariz keygen`: makes an RSA key.

use std::path::{Path, PathBuf};

use zariz::rsa::PrivateKey;

use crate::args::Work;
use crate::exit::{Failure, Outcome};
use crate::output::{self, Access, Output};
use crate::progress::Progress;

/// Arguments of `keygen`.
#[derive(clap::Args)]
pub struct Args {
    /// Bits of the modulus: 1024 to 16384; 2048 or 3072 is usual
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1024..=16384))]
    bits: u16,
    /// Where the private key goes, readable by the owner alone [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where the public key goes, if it is wanted; - is standard output, after the private key if that goes there, too
    #[arg(long, value_name = "FILE")]
    public_out: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    work: Work,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let (out, public_out) = (args.out.as_deref(), args.public_out.as_deref());
    if out.zip(public_out).is_some_and(|(out, public_out)| output::same_file(out, public_out)) {
        return Err(Failure::Usage("--out and --public-out are the same file".into()));
    }
    // Before the work, which may take minutes; the same is checked again when the files take their places.
    if !args.force {
        [out, public_out].into_iter().flatten().try_for_each(output::must_be_new)?;
    }
    let private_output = open(out, Access::Owner)?;
    let public_output = public_out.map(|path| open(Some(path), Access::Usual)).transpose()?;

    let progress = Progress::step(args.work.quiet, format!("making a {}-bit key", args.bits));
    let not_made = |error| Failure::Input(format!("no key was made: {error}"));
    let key = PrivateKey::generate_with(args.bits.into(), args.work.engine).map_err(not_made)?;
    drop(progress);

    complete(private_output, key.to_pkcs8_pem().map_err(not_made)?.as_bytes(), args.force)?;
    if let Some(output) = public_output {
        complete(output, key.public_key().to_spki_pem().map_err(not_made)?.as_bytes(), args.force)?;
    }
    Ok(Outcome::Done)
}

fn open(path: Option<&Path>, access: Access) -> Result<Output, Failure> {
    path.map_or(Ok(Output::Stdout), |path| Output::new(path, access))
}

fn complete(mut output: Output, contents: &[u8], force: bool) -> Result<(), Failure> {
    output.write(contents)?;
    if force { output.finish() } else { output.finish_new() }
}
