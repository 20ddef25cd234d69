//! `zariz keygen`: makes an RSA key.

use std::path::{Path, PathBuf};

use zariz::rsa::PrivateKey;

use crate::args::Work;
use crate::exit::{Failure, Outcome};
use crate::output::{self, Access, Output};
use crate::place::Existing;
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

    let (private, public) = (key.to_pkcs8_pem().map_err(not_made)?, key.public_key().to_spki_pem().map_err(not_made)?);
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    let mut parts = vec![Part { kind: "private", output: private_output, pem: private.as_bytes() }];
    parts.extend(public_output.map(|output| Part { kind: "public", output, pem: public.as_bytes() }));
    write(parts, existing)?;
    Ok(Outcome::Done)
}

fn open(path: Option<&Path>, access: Access) -> Result<Output, Failure> {
    path.map_or(Ok(Output::Stdout), |path| Output::new(path, access))
}

/// One key of the pair, and where it goes.
struct Part<'a> {
    kind: &'static str,
    output: Output,
    pem: &'a [u8],
}

/// Writes the private key and then the public one, if it is wanted. Where the private key could not be written, there
/// is no file of the public one, either.
fn write(mut parts: Vec<Part>, existing: Existing) -> Result<(), Failure> {
    // Files first: they get their names at the end, so that nothing is left of them if something else fails.
    let mut private = None;
    for is_final in [false, true] {
        for part in parts.iter_mut().filter(|part| part.output.is_final() == is_final) {
            let written = part.output.write(part.pem).and_then(|()| part.output.settle());
            written.map_err(|failure| incomplete(part.kind, &part.output.name(), &failure, private.as_deref()))?;
            if is_final && part.kind == "private" {
                private = Some(part.output.name());
            }
        }
    }
    for Part { kind, output, .. } in parts {
        let name = output.name();
        output.finish_over(existing).map_err(|failure| incomplete(kind, &name, &failure, private.as_deref()))?;
        private.get_or_insert(name);
    }
    Ok(())
}

/// The error when one key of the pair could not be written; `private` is where the private key is, if it is complete.
fn incomplete(kind: &str, name: &str, failure: &Failure, private: Option<&str>) -> Failure {
    let cause = match failure {
        // For results that is no error; a key would be lost.
        Failure::Closed => format!("{name}: closed by its reader"),
        failure => failure.to_string(),
    };
    Failure::Input(match private {
        Some(private) => format!(
            "{cause}; the {kind} key was not written; the private key is complete in {private}, and \
             `openssl pkey -pubout` makes its public key"
        ),
        None => format!("{cause}; the {kind} key was not written, and no key was kept"),
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{PipeReader, Read, pipe};
    use std::os::fd::OwnedFd;

    /// Where a key may go, good and bad.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Target {
        File,
        /// Something appears at its path after the output is open.
        InTheWay,
        /// Its folder is removed after the output is open.
        NoFolder,
        Pipe,
        ClosedPipe,
        FullDevice,
    }

    const ALL: [Target; 6] =
        [Target::File, Target::InTheWay, Target::NoFolder, Target::Pipe, Target::ClosedPipe, Target::FullDevice];

    impl Target {
        fn is_good(self) -> bool {
            matches!(self, Self::File | Self::Pipe)
        }

        fn open(self, folder: &Path) -> (Output, Option<PipeReader>) {
            let path = folder.join("key");
            fs::create_dir(folder).expect("made");
            match self {
                Self::File => (open(Some(&path), Access::Owner).expect("opened"), None),
                Self::InTheWay => {
                    let output = open(Some(&path), Access::Owner).expect("opened");
                    fs::write(path, "another key").expect("written");
                    (output, None)
                }
                Self::NoFolder => {
                    let output = open(Some(&path), Access::Owner).expect("opened");
                    fs::remove_dir_all(folder).expect("removed");
                    (output, None)
                }
                Self::Pipe | Self::ClosedPipe => {
                    let (reader, writer) = pipe().expect("a pipe");
                    let output = Output::Direct(fs::File::from(OwnedFd::from(writer)), "a pipe".into());
                    (output, (self == Self::Pipe).then_some(reader))
                }
                Self::FullDevice => (open(Some(Path::new("/dev/full")), Access::Owner).expect("opened"), None),
            }
        }

        /// What has arrived.
        fn arrived(self, folder: &Path, reader: Option<PipeReader>) -> String {
            let mut text = String::new();
            match reader {
                Some(mut reader) => drop(reader.read_to_string(&mut text).expect("text")),
                None => text = fs::read_to_string(folder.join("key")).unwrap_or_default(),
            }
            text
        }
    }

    #[test]
    fn a_pair_is_whole_or_an_error_says_what_there_is() {
        for private in ALL {
            for public in ALL.map(Some).into_iter().chain([None]) {
                if !Path::new("/dev/full").exists() && [Some(private), public].contains(&Some(Target::FullDevice)) {
                    continue;
                }
                let case = format!("private {private:?}, public {public:?}");
                let folder = tempfile::tempdir().expect("a folder");
                let folders = ["private", "public"].map(|name| folder.path().join(name));
                let (output, reader) = private.open(&folders[0]);
                let mut parts = vec![Part { kind: "private", output, pem: b"PRIVATE" }];
                let public_reader = public.and_then(|public| {
                    let (output, reader) = public.open(&folders[1]);
                    parts.push(Part { kind: "public", output, pem: b"PUBLIC" });
                    reader
                });

                let written = write(parts, Existing::Kept);
                let has_private = private.arrived(&folders[0], reader) == "PRIVATE";
                let at_public = public.map_or_else(String::new, |public| public.arrived(&folders[1], public_reader));
                let all_good = private.is_good() && public.is_none_or(Target::is_good);
                assert_eq!(written.is_ok(), all_good, "{case}: {written:?}");
                assert_eq!(at_public == "PUBLIC" && has_private, all_good && public.is_some(), "{case}");
                if public == Some(Target::File) && !has_private {
                    assert_eq!(at_public, "", "{case}: a public key without its private key");
                }
                if let Err(failure) = written {
                    let text = failure.to_string();
                    assert!(matches!(failure, Failure::Input(_)), "{case}: {text}");
                    let named = |kind: &str| text.contains(&format!("the {kind} key was not written"));
                    assert!(
                        named("private") && !private.is_good() || named("public") && !at_public.contains("PUBLIC"),
                        "{case}: {text}"
                    );
                    assert_eq!(text.contains("private key is complete"), has_private, "{case}: {text}");
                    assert_eq!(text.contains("no key was kept"), !has_private, "{case}: {text}");
                }
                for folder in folders.iter().filter(|folder| folder.exists()) {
                    let names =
                        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
                    assert!(names.into_iter().all(|name| name == "key"), "{case}: a temporary file");
                }
            }
        }
    }
}
