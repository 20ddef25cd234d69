//! `zariz decrypt`: one ciphertext, or one on every line.

use std::path::PathBuf;

use clap::ValueEnum;
use zariz::rsa::{Hash, Padding};
use zeroize::Zeroizing;

use crate::args::{Execution, Files};
use crate::batch::{self, ItemResult};
use crate::encoding::{Encoding, LONGEST_ENCODED};
use crate::exit::{Failure, Outcome};
use crate::input::{self, Input};
use crate::keyfile;
use crate::lines::Lines;
use crate::output::{self, Output};
use crate::password::Password;
use crate::progress::Progress;

/// Arguments of `decrypt`.
#[derive(clap::Args)]
pub struct Args {
    /// The private key: PEM or DER, PKCS#8 or PKCS#1; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    #[command(flatten)]
    password: Password,
    /// The padding of the ciphertexts
    ///
    /// A PKCS#1 ciphertext with bad padding is not an error: it gives a plaintext that looks random, so that
    /// this program does not tell an attacker which paddings are good.
    #[arg(long, value_enum, default_value = "oaep")]
    padding: PaddingName,
    /// The hash of OAEP and of its mask; `openssl pkeyutl` uses sha1 by default
    #[arg(long, value_enum, value_name = "HASH", default_value = "sha256")]
    oaep_hash: HashName,
    /// The encoding of ciphertexts [default: raw for one, base64 for lines]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    /// The encoding of plaintexts [default: raw for one, base64 for lines]
    ///
    /// The encoding raw is for plaintexts that are lines of text, if --lines is given: one that contains a
    /// line end fails.
    #[arg(long, value_enum, value_name = "ENCODING")]
    output_encoding: Option<Encoding>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    execution: Execution,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PaddingName {
    /// RSAES-OAEP
    Oaep,
    /// RSAES-PKCS1-v1_5
    Pkcs1,
}

#[derive(Clone, Copy, ValueEnum)]
enum HashName {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Args {
    fn padding(&self) -> Padding {
        match self.padding {
            PaddingName::Pkcs1 => Padding::Pkcs1v15,
            PaddingName::Oaep => Padding::oaep(match self.oaep_hash {
                HashName::Sha1 => Hash::Sha1,
                HashName::Sha256 => Hash::Sha256,
                HashName::Sha384 => Hash::Sha384,
                HashName::Sha512 => Hash::Sha512,
            }),
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Outcome, Failure> {
    let Files { lines, out, input } = &args.files;
    let encoding = Encoding::or_default(args.encoding, *lines, "--encoding")?;
    let plain = args.output_encoding.unwrap_or(if *lines { Encoding::Base64 } else { Encoding::Raw });
    let secrets = || [("--key", args.key.as_path())].into_iter().chain(args.password.source());
    input::one_stdin(secrets().chain([("FILE", input.as_path())]))?;
    output::must_not_replace(("--out", out.as_deref()), secrets())?;
    let mut output = Output::open(out.as_deref())?;
    let key = keyfile::private(&args.key, &args.password, args.execution.engine)?;
    let (padding, source) = (args.padding(), Input::open(input)?);

    let outcome = if *lines {
        let mut progress = Progress::new(args.execution.quiet, source.size, "line", output.is_terminal());
        let work = |lines: Vec<Vec<u8>>| -> Vec<ItemResult<_>> {
            batch::among_good(lines.iter().map(|line| decoded(encoding, line)).collect(), |good| {
                let good: Vec<&[u8]> = good.iter().map(Vec::as_slice).collect();
                let results = key.decrypt_batch(&padding, &good).into_iter();
                results
                    .map(|result| result.map_err(|e| e.to_string()).and_then(|p| line(plain, &p)))
                    .collect()
            })
        };
        let (threads, longest) = (args.execution.threads(), plain.length(key.public_key().size()));
        batch::run(ciphertexts(source), threads, longest, &mut progress, Some(&mut output), work)?
            .outcome(&progress)
    } else {
        let name = source.name.clone();
        let (contents, advice) = source.read_item(encoding, key.public_key().size())?;
        let decrypt =
            |ciphertext: Vec<u8>| key.decrypt(&padding, &ciphertext).map_err(|error| error.to_string());
        let plaintext = encoding.decode_file(contents).and_then(decrypt);
        let plaintext = plaintext.map_err(|error| Failure::Input(format!("{name}: {error}{advice}")))?;
        if plain == Encoding::Raw && !is_text(&plaintext) {
            output.refuse_binary("--output-encoding")?;
        }
        output.write(&Zeroizing::new(plain.encode_file(&plaintext)))?;
        Outcome::Done
    };
    output.finish()?;
    Ok(outcome)
}

/// The lines of ciphertexts. Each is in memory twice: as a line and decoded.
fn ciphertexts(source: Input) -> Lines {
    Lines::new(source).copied()
}

/// The ciphertext on a line. A line that is too long for any ciphertext is not decoded, to save memory.
fn decoded(encoding: Encoding, line: &[u8]) -> Result<Vec<u8>, String> {
    if line.len() as u64 > LONGEST_ENCODED {
        return Err(format!("{} characters are too many for a ciphertext", line.len()));
    }
    encoding.decode(line)
}

/// A plaintext as one line.
fn line(encoding: Encoding, plaintext: &[u8]) -> ItemResult<Zeroizing<Vec<u8>>> {
    if encoding == Encoding::Raw && (plaintext.contains(&b'\n') || plaintext.ends_with(b"\r")) {
        return Err("the plaintext contains a line end; use --output-encoding base64 or hex".into());
    }
    Ok(Zeroizing::new(encoding.encode(plaintext)))
}

/// Whether bytes may be shown on a terminal unchanged.
fn is_text(bytes: &[u8]) -> bool {
    str::from_utf8(bytes)
        .is_ok_and(|text| text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Source;
    use std::io::{BufReader, Cursor};

    #[test]
    fn memory_counts_what_is_decoded() {
        for encoding in [Encoding::Hex, Encoding::Base64, Encoding::Base64url] {
            let text = encoding.encode(&[7; 3000]);
            let reader = BufReader::new(Box::new(Cursor::new(text.clone())) as _);
            let mut lines = ciphertexts(Input { reader, name: "test".into(), size: None });
            let memory = lines.next().expect("readable").map_or(0, |taken| taken.memory);
            let decoded = decoded(encoding, &text).expect("text of bytes");
            assert!(memory >= (text.len() + decoded.len()) as u64, "{encoding:?}: {memory} bytes");
        }
    }

    #[test]
    fn raw_lines_must_be_lines() {
        assert_eq!(line(Encoding::Raw, b"plain text"), Ok(b"plain text".to_vec().into()));
        for plaintext in [&b"two\nlines"[..], b"\n", b"text\r"] {
            assert!(line(Encoding::Raw, plaintext).is_err());
            assert!(line(Encoding::Hex, plaintext).is_ok());
        }
    }

    #[test]
    fn control_characters_are_no_text() {
        assert!(is_text("ünï\tcode\r\n".as_bytes()));
        assert!(!is_text(b"\x1b[31m") && !is_text(b"\xff"));
    }
}
