//! Writes the two halves of a key: both, only the private one, or none.

use crate::exit::Failure;
use crate::output::Output;
use crate::place::{Disk, Existing, PlaceError};

/// One half of the pair, and its output.
pub struct Part<'a> {
    /// Which half: [`PRIVATE`] or [`PUBLIC`].
    pub kind: &'static str,
    /// Where it goes.
    pub output: Output,
    /// The contents.
    pub pem: &'a [u8],
}

/// The half that cannot be recovered.
pub const PRIVATE: &str = "private";
/// The half that follows from the private one.
pub const PUBLIC: &str = "public";

/// Why a pair is not safe on the disk, and which files there are.
#[derive(Debug)]
pub struct Unfinished {
    /// What went wrong.
    pub cause: String,
    /// The half that was not written; `None` if both are in place, but a power failure may remove their
    /// names.
    pub missing: Option<&'static str>,
    /// Where the private key is, if it is complete.
    pub private: Option<String>,
}

/// Writes the private key, and then the public key if there is one. If the private key could not be written,
/// the public key has no file either.
pub fn write(disk: &mut impl Disk, mut parts: Vec<Part>, existing: Existing) -> Result<(), Unfinished> {
    // Files get their names last, so that nothing is left of them if something else fails.
    let mut private = None;
    for is_final in [false, true] {
        for part in parts.iter_mut().filter(|part| part.output.is_final() == is_final) {
            let written = part.output.write(part.pem).and_then(|()| part.output.settle());
            written.map_err(|failure| Unfinished {
                cause: cause(&part.output.name(), &failure),
                missing: Some(part.kind),
                private: private.clone(),
            })?;
            if is_final && part.kind == PRIVATE {
                private = Some(part.output.name());
            }
        }
    }
    // Files that are in place, but whose names a power failure may remove.
    let mut not_synced = Vec::new();
    for Part { kind, output, .. } in parts {
        let name = output.name();
        match output.finish_on(disk, existing) {
            Ok(()) => {}
            Err(PlaceError::NameNotSynced(failure)) => not_synced.push(cause(&name, &failure)),
            Err(PlaceError::NotPlaced(failure)) => {
                not_synced.push(cause(&name, &failure));
                return Err(Unfinished { cause: not_synced.join("; "), missing: Some(kind), private });
            }
        }
        // The first half is the private key, unless that is complete already.
        private.get_or_insert(name);
    }
    if not_synced.is_empty() {
        return Ok(());
    }
    Err(Unfinished { cause: not_synced.join("; "), missing: None, private })
}

/// Why a key could not be written to the output `name`.
fn cause(name: &str, failure: &Failure) -> String {
    match failure {
        // For results, a closed output is not an error; but a key would be lost.
        Failure::Closed => format!("{name}: closed by its reader"),
        failure => failure.to_string(),
    }
}

impl From<Unfinished> for Failure {
    fn from(Unfinished { cause, missing, private }: Unfinished) -> Self {
        let private = private.map(|private| format!("the private key is complete in {private}"));
        Self::Input(match (missing, private) {
            (Some(kind), Some(private)) => format!(
                "{cause}; the {kind} key was not written; {private}, and `openssl pkey -pubout` makes its public key"
            ),
            (Some(kind), None) => format!("{cause}; the {kind} key was not written, and no key was kept"),
            (None, Some(private)) => format!("{cause}; {private}"),
            (None, None) => cause,
        })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{self, PipeReader, Read, pipe};
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    use tempfile::NamedTempFile;

    use crate::place::System;

    /// Outputs for a key, good and bad.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Target {
        File,
        /// A file appears at its path after the output is opened.
        InTheWay,
        /// Its folder is removed after the output is opened.
        NoFolder,
        /// Its folder cannot be synced.
        NameNotSynced,
        Pipe,
        ClosedPipe,
        FullDevice,
    }

    const ALL: [Target; 7] = [
        Target::File,
        Target::InTheWay,
        Target::NoFolder,
        Target::NameNotSynced,
        Target::Pipe,
        Target::ClosedPipe,
        Target::FullDevice,
    ];

    /// A disk on which these folders cannot be synced.
    struct Broken(Vec<PathBuf>);

    impl Disk for Broken {
        fn sync(&mut self, file: &fs::File) -> io::Result<()> {
            System.sync(file)
        }

        fn give_name(&mut self, file: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()> {
            System.give_name(file, target, existing)
        }

        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            if self.0.iter().any(|broken| folder.ends_with(broken)) {
                return Err(io::Error::other("the disk is broken"));
            }
            System.sync_folder(folder)
        }
    }

    impl Target {
        fn is_good(self) -> bool {
            matches!(self, Self::File | Self::Pipe)
        }

        /// Whether a key arrives there, perhaps with an error.
        fn arrives(self) -> bool {
            self.is_good() || self == Self::NameNotSynced
        }

        fn open(self, folder: &Path) -> (Output, Option<PipeReader>) {
            let path = folder.join("key");
            fs::create_dir(folder).expect("made");
            let file = || Output::private(&path, Existing::Kept).expect("opened");
            match self {
                Self::File | Self::NameNotSynced => (file(), None),
                Self::InTheWay => {
                    let output = file();
                    fs::write(path, "another key").expect("written");
                    (output, None)
                }
                Self::NoFolder => {
                    let output = file();
                    fs::remove_dir_all(folder).expect("removed");
                    (output, None)
                }
                Self::Pipe | Self::ClosedPipe => {
                    let (reader, writer) = pipe().expect("a pipe");
                    let output = Output::Direct(fs::File::from(OwnedFd::from(writer)), "a pipe".into());
                    (output, (self == Self::Pipe).then_some(reader))
                }
                Self::FullDevice => {
                    let full = fs::File::options().write(true).open("/dev/full").expect("opened");
                    (Output::Direct(full, "/dev/full".into()), None)
                }
            }
        }

        /// The contents that have arrived.
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
                if !Path::new("/dev/full").exists()
                    && [Some(private), public].contains(&Some(Target::FullDevice))
                {
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

                let broken = [("private", Some(private)), ("public", public)].into_iter();
                let broken = broken.filter(|(_, target)| *target == Some(Target::NameNotSynced));
                let mut disk = Broken(broken.map(|(name, _)| name.into()).collect());
                let written = write(&mut disk, parts, Existing::Kept).map_err(Failure::from);
                let has_private = private.arrived(&folders[0], reader) == "PRIVATE";
                let at_public =
                    public.map_or_else(String::new, |public| public.arrived(&folders[1], public_reader));
                let all_good = private.is_good() && public.is_none_or(Target::is_good);
                assert_eq!(written.is_ok(), all_good, "{case}: {written:?}");
                let all_arrive = private.arrives() && public.is_none_or(Target::arrives);
                assert_eq!(at_public == "PUBLIC" && has_private, all_arrive && public.is_some(), "{case}");
                if public == Some(Target::File) && !has_private {
                    assert_eq!(at_public, "", "{case}: a public key without its private key");
                }
                if let Err(failure) = written {
                    let text = failure.to_string();
                    assert!(matches!(failure, Failure::Input(_)), "{case}: {text}");
                    let named = |kind: &str| text.contains(&format!("the {kind} key was not written"));
                    assert_eq!(named("private") || named("public"), !all_arrive, "{case}: {text}");
                    assert!(!named("private") || !private.arrives() && !has_private, "{case}: {text}");
                    assert!(!named("public") || !at_public.contains("PUBLIC"), "{case}: {text}");
                    let not_synced = text.contains("could not be synced");
                    let in_place = private == Target::NameNotSynced && has_private
                        || public == Some(Target::NameNotSynced) && at_public == "PUBLIC";
                    assert_eq!(not_synced, in_place, "{case}: {text}");
                    assert_eq!(text.contains("private key is complete"), has_private, "{case}: {text}");
                    assert_eq!(text.contains("no key was kept"), !has_private, "{case}: {text}");
                }
                for folder in folders.iter().filter(|folder| folder.exists()) {
                    let names = fs::read_dir(folder)
                        .expect("a folder")
                        .map(|entry| entry.expect("an entry").file_name());
                    assert!(names.into_iter().all(|name| name == "key"), "{case}: a temporary file");
                }
            }
        }
    }
}
