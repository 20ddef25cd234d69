//! `zariz keygen`: makes an RSA key, or a folder of them.

mod folder;
mod pair;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use zariz::rsa::{KeyError, KeyGenerator, KeyMethod, PrivateKey};
use zeroize::Zeroizing;

use crate::args::Execution;
use crate::exit::{Failure, Outcome};
use crate::input;
use crate::makers::{self, Makers};
use crate::output::{self, Output};
use crate::password;
use crate::place::{Existing, System};
use crate::progress::Progress;

use folder::KeyFolder;
use pair::Part;

/// Arguments of `keygen`.
#[derive(clap::Args)]
pub struct Args {
    /// Bits of the modulus: 1024 to 16384; 2048 or 3072 is usual
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1024..=16384))]
    bits: u16,
    /// Where the private key goes, readable only by its owner [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where the public key goes [default: nowhere]; - is standard output, after a private key that goes
    /// there too
    #[arg(long, value_name = "FILE")]
    public_out: Option<PathBuf>,
    /// How many keys to make, in the folder --out-dir
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=folder::MOST))]
    count: Option<u64>,
    /// The folder for the keys of --count: key-0001.pem, key-0002.pem and so on. It must be new or empty. A
    /// run that is interrupted or fails leaves only complete keys, and says how many
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Also write the public keys of --count, as key-0001.pub.pem and so on
    #[arg(long)]
    public: bool,
    /// Encrypt the private keys (PKCS#8, AES-256) with a password: the first line of this file
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// How to search for primes
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Method::Fips)]
    method: Method,
    #[command(flatten)]
    execution: Execution,
}

/// How to search for primes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Each candidate is random, as FIPS 186-5 (A.1.3) requires
    Fips,
    /// Candidates ascend from a random number: faster, but not according to FIPS
    Incremental,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let many = many(args)?;
    let password = password(args)?;
    match many {
        Some((folder, count)) => make_many(args, folder, count, password),
        None => make_one(args, password),
    }
}

/// The folder and number of keys, or `None` for one key. Refuses options that do not go together.
fn many(args: &Args) -> Result<Option<(&Path, u64)>, Failure> {
    let (out, public_out) = (args.out.as_deref(), args.public_out.as_deref());
    let text = match (&args.out_dir, args.count) {
        (None, None)
            if out.zip(public_out).is_some_and(|(out, public_out)| output::same_file(out, public_out)) =>
        {
            "--out and --public-out are the same file"
        }
        (None, None) if args.public => {
            "--public is for --count; for one key, name the file: --public-out FILE"
        }
        (None, None) => return Ok(None),
        (Some(_), None) => "--out-dir needs --count N, the number of keys; for one key, use --out FILE",
        (_, Some(_)) if out.is_some() => {
            "--count and --out do not go together: a file holds one key; for several, use --out-dir DIR"
        }
        (_, Some(_)) if public_out.is_some() => {
            "--count and --public-out do not go together; --public writes each public key beside its private key"
        }
        (_, Some(_)) if args.force => {
            "--count and --force do not go together: keys in a folder are never replaced; name a new or empty folder"
        }
        (None, Some(_)) => "--count needs --out-dir DIR, a new or empty folder for the keys",
        (Some(folder), Some(count)) => return Ok(Some((folder, count))),
    };
    Err(Failure::Usage(text.into()))
}

/// The password to encrypt with, if a file is given.
fn password(args: &Args) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    for output in [("--out", args.out.as_deref()), ("--public-out", args.public_out.as_deref())] {
        output::must_not_replace(
            output,
            args.password_file.as_deref().map(|file| ("--password-file", file)),
        )?;
    }
    let Some(file) = &args.password_file else { return Ok(None) };
    let password = password::first_line(file)?;
    if password.is_empty() {
        return Err(Failure::Input(format!("{}: an empty first line protects no key", input::name(file))));
    }
    Ok(Some(password))
}

fn make_one(args: &Args, password: Option<Zeroizing<Vec<u8>>>) -> Result<Outcome, Failure> {
    let (out, public_out) = (args.out.as_deref(), args.public_out.as_deref());
    // Checked before the key is made, which may take minutes, and again when the files get their names.
    if !args.force {
        [out, public_out].into_iter().flatten().try_for_each(output::must_be_new)?;
    }
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    let private_output = out.map_or_else(Output::stdout, |path| Output::private(path, existing))?;
    let public_output = public_out.map(|path| Output::open(Some(path))).transpose()?;

    let progress = Progress::step(args.execution.quiet, format!("making a {}-bit key", args.bits));
    let key = generator(args)?.generate().map_err(not_made)?;
    drop(progress);

    let pems = Pems::of(&key, password.as_ref().map(|password| password.as_slice()), public_output.is_some());
    let pems = pems.map_err(not_made)?;
    let mut parts = vec![Part { kind: pair::PRIVATE, output: private_output, pem: pems.private.as_bytes() }];
    if let Some((output, pem)) = public_output.zip(pems.public.as_ref()) {
        parts.push(Part { kind: pair::PUBLIC, output, pem: pem.as_bytes() });
    }
    pair::write(&mut System, parts, existing)?;
    Ok(Outcome::Done)
}

fn make_many(
    args: &Args,
    folder: &Path,
    count: u64,
    password: Option<Zeroizing<Vec<u8>>>,
) -> Result<Outcome, Failure> {
    let generator = generator(args)?;
    let folder = KeyFolder::new(&mut System, folder, count)?;
    let mut progress = Progress::of(args.execution.quiet, count, "key", false);
    let (public, threads) = (args.public, args.execution.threads());
    let share = makers::small_share(count, threads);
    let keys = Makers::start(threads, || {
        let (generator, password) = (generator.clone(), password.clone());
        let keys: Box<dyn Iterator<Item = _> + Send> = match share {
            Some(share) => Box::new(makers::in_shares(move || generator.generate_many(share))),
            None => Box::new(generator.keys()),
        };
        // Encrypting a key is slow by design, so each thread encrypts its own keys.
        let pems = move |key: PrivateKey| {
            Pems::of(&key, password.as_ref().map(|password| password.as_slice()), public)
        };
        keys.map(move |key| key.and_then(&pems).map_err(not_made))
    })?;
    folder.fill(&mut System, keys, &mut progress)?;
    Ok(Outcome::Done)
}

fn generator(args: &Args) -> Result<KeyGenerator, Failure> {
    let method = match args.method {
        Method::Fips => KeyMethod::Fips,
        Method::Incremental => KeyMethod::Incremental,
    };
    Ok(KeyGenerator::new(args.bits.into())
        .map_err(not_made)?
        .with_method(method)
        .with_engine(args.execution.engine)?)
}

fn not_made(error: KeyError) -> Failure {
    Failure::Input(format!("cannot make a key: {error}"))
}

/// A key as text: the private half, and the public half if wanted.
struct Pems {
    private: Zeroizing<String>,
    public: Option<String>,
}

impl Pems {
    fn of(key: &PrivateKey, password: Option<&[u8]>, public: bool) -> Result<Self, KeyError> {
        let private = match password {
            Some(password) => Zeroizing::new(key.to_encrypted_pem(password)?),
            None => key.to_pem()?,
        };
        let public = if public { Some(key.public_key().to_pem()?) } else { None };
        Ok(Self { private, public })
    }
}
