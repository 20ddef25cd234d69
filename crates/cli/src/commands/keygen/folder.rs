//! A folder of many keys: numbered files, each complete before it gets its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Pems;
use super::pair::{self, Part};
use crate::cleanup;
use crate::exit::Failure;
use crate::output::Output;
use crate::place::{self, Disk, Existing};
use crate::progress::Progress;
use crate::report::counted;

/// The most keys in a folder.
pub const MOST: u64 = 10_000_000;

/// The digits of numbers in file names; more if the count has more.
const DIGITS: usize = 4;

/// A folder for a number of keys.
pub struct KeyFolder {
    path: PathBuf,
    count: u64,
}

impl KeyFolder {
    /// Makes the folder, accessible only by its owner, or takes an existing empty one.
    pub fn new(disk: &mut impl Disk, path: &Path, count: u64) -> Result<Self, Failure> {
        let failed = |error| Failure::io(path.display(), &error);
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if let Some(entry) = entries.next().transpose().map_err(failed)? {
                    let (folder, name) = (path.display(), entry.file_name());
                    let what = format!("{folder}: not empty: it has {}", name.display());
                    return Err(Failure::Input(format!("{what}; name a new or empty folder for the keys")));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(path).map_err(failed)?;
                disk.sync_folder(place::folder(path)).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(Self { path: path.to_owned(), count })
    }

    /// Writes keys in the order in which they come, until there are enough. A failure or an interruption
    /// leaves only complete keys, and reports how many there are.
    pub fn fill(
        &self,
        disk: &mut impl Disk,
        mut keys: impl Iterator<Item = Result<Pems, Failure>>,
        progress: &mut Progress,
    ) -> Result<(), Failure> {
        cleanup::whole(|last_words| *last_words = self.state(0));
        let mut complete = 0;
        let filled = (1..=self.count).try_for_each(|number| {
            let ended = || Err(Failure::Input("no more keys are made".into()));
            let pems = keys.next().unwrap_or_else(ended)?;
            let parts = self.parts(number, &pems)?;
            // An interruption finds the key either complete, named and counted, or not at all.
            cleanup::whole(|last_words| {
                let written = pair::write(disk, parts, Existing::Foreign);
                if written.as_ref().map_or_else(|unfinished| unfinished.missing.is_none(), |()| true) {
                    complete = number;
                    *last_words = self.state(complete);
                }
                written.map_err(unfinished)
            })?;
            progress.made();
            Ok(())
        });
        cleanup::whole(String::clear);
        filled.map_err(|failure: Failure| Failure::Input(format!("{failure}; {}", self.state(complete))))
    }

    fn parts<'a>(&self, number: u64, pems: &'a Pems) -> Result<Vec<Part<'a>>, Failure> {
        let output = Output::private(&self.file(number, ".pem"), Existing::Foreign)?;
        let mut parts = vec![Part { kind: pair::PRIVATE, output, pem: pems.private.as_bytes() }];
        if let Some(public) = &pems.public {
            let output = Output::open(Some(&self.file(number, ".pub.pem")))?;
            parts.push(Part { kind: pair::PUBLIC, output, pem: public.as_bytes() });
        }
        Ok(parts)
    }

    /// The file of the key with this number, from 1.
    fn file(&self, number: u64, ending: &str) -> PathBuf {
        let digits = DIGITS.max(self.count.to_string().len());
        self.path.join(format!("key-{number:0digits$}{ending}"))
    }

    /// A text that says how many keys are complete, and where.
    fn state(&self, complete: u64) -> String {
        let (count, folder) = (counted(self.count, "key"), self.path.display());
        let name = |number| self.file(number, ".pem").file_name().unwrap_or_default().display().to_string();
        match complete {
            0 => format!("none of {count} is complete in {folder}"),
            1 => format!("1 of {count} is complete in {folder}: {}", name(1)),
            _ => format!("{complete} of {count} are complete in {folder}: {} to {}", name(1), name(complete)),
        }
    }
}

/// Makes a folder that only its owner may enter.
fn create(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The error if one of several keys is not safe on the disk.
fn unfinished(unfinished: pair::Unfinished) -> Failure {
    match unfinished {
        // A key in the folder is either complete or absent; the message covers all of them.
        pair::Unfinished { cause, private: None, .. } | pair::Unfinished { cause, missing: None, .. } => {
            Failure::Input(cause)
        }
        unfinished => unfinished.into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    use tempfile::NamedTempFile;
    use zeroize::Zeroizing;

    use crate::place::System;

    /// The operations for placing a key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Operation {
        Sync,
        GiveName,
        SyncFolder,
    }

    /// A disk that fails at one operation, after a number of successful ones.
    struct Failing {
        operation: Operation,
        left: usize,
    }

    impl Failing {
        fn call(&mut self, operation: Operation) -> io::Result<()> {
            if operation != self.operation {
                return Ok(());
            }
            self.left = self.left.wrapping_sub(1);
            if self.left == 0 { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
        }
    }

    impl Disk for Failing {
        fn sync(&mut self, file: &fs::File) -> io::Result<()> {
            self.call(Operation::Sync)?;
            System.sync(file)
        }

        fn give_name(&mut self, file: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()> {
            self.call(Operation::GiveName)?;
            System.give_name(file, target, existing)
        }

        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            self.call(Operation::SyncFolder)?;
            System.sync_folder(folder)
        }
    }

    fn keys(public: bool) -> impl Iterator<Item = Result<Pems, Failure>> {
        let pems = move |number| Pems {
            private: Zeroizing::new(format!("private {number}")),
            public: public.then(|| format!("public {number}")),
        };
        (1..).map(move |number| Ok(pems(number)))
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries =
            fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.display().to_string()).collect();
        names.sort();
        names
    }

    fn fill(
        disk: &mut impl Disk,
        folder: &Path,
        count: u64,
        keys: impl Iterator<Item = Result<Pems, Failure>>,
    ) -> Result<(), Failure> {
        KeyFolder::new(disk, folder, count)?.fill(disk, keys, &mut Progress::of(true, count, "key", false))
    }

    #[test]
    fn names_have_the_digits_of_the_count() {
        let name = |count, number| {
            let folder = KeyFolder { path: "keys".into(), count };
            folder.file(number, ".pem").display().to_string()
        };
        assert_eq!(name(1, 1), "keys/key-0001.pem");
        assert_eq!(name(9999, 9999), "keys/key-9999.pem");
        assert_eq!(name(10_000, 9), "keys/key-00009.pem");
        assert_eq!(name(MOST, MOST), "keys/key-10000000.pem");
    }

    #[test]
    fn a_disk_that_fails_leaves_complete_keys_and_says_how_many() {
        // The folder's creation syncs its parent first.
        for (operation, before) in
            [(Operation::Sync, 0), (Operation::GiveName, 0), (Operation::SyncFolder, 1)]
        {
            for good in 0..4 {
                let parent = tempfile::tempdir().expect("a folder");
                let folder = parent.path().join("keys");
                let mut disk = Failing { operation, left: before + good + 1 };
                let error =
                    fill(&mut disk, &folder, 10, keys(false)).expect_err("the disk fails").to_string();
                // If only the sync of the folder failed, the key is there.
                let complete = if operation == Operation::SyncFolder { good + 1 } else { good };
                let expected: Vec<String> =
                    (1..=complete).map(|number| format!("key-{number:04}.pem")).collect();
                assert_eq!(names(&folder), expected, "{operation:?} {good}");
                let said = match complete {
                    0 => "; none of 10 keys is complete in ".to_owned(),
                    1 => "; 1 of 10 keys is complete in ".to_owned(),
                    _ => format!("; {complete} of 10 keys are complete in "),
                };
                assert!(error.contains(&said) && error.contains("the disk is broken"), "{error}");
                assert!(error.contains(&folder.display().to_string()), "{error}");
                for (number, name) in (1..).zip(expected) {
                    let contents = fs::read_to_string(folder.join(name)).expect("readable");
                    assert_eq!(contents, format!("private {number}"));
                }
            }
        }
    }

    #[test]
    fn a_public_key_that_is_not_written_is_named() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("keys");
        let mut disk = Failing { operation: Operation::GiveName, left: 4 };
        let error = fill(&mut disk, &folder, 3, keys(true)).expect_err("the disk fails").to_string();
        assert_eq!(names(&folder), ["key-0001.pem", "key-0001.pub.pem", "key-0002.pem"]);
        for words in
            ["the public key was not written", "openssl pkey -pubout", "; 1 of 3 keys is complete in "]
        {
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_file_that_appears_in_the_folder_is_not_replaced() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = KeyFolder::new(&mut System, &parent.path().join("keys"), 3).expect("made");
        fs::write(folder.file(2, ".pem"), "another").expect("written");
        let mut progress = Progress::of(true, 3, "key", false);
        let error = folder.fill(&mut System, keys(false), &mut progress).expect_err("in the way").to_string();
        for words in ["key-0002.pem: exists already; something else", "; 1 of 3 keys is complete in "] {
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(names(&folder.path), ["key-0001.pem", "key-0002.pem"]);
        assert_eq!(fs::read_to_string(folder.file(2, ".pem")).expect("readable"), "another");
    }

    #[test]
    fn a_folder_that_is_not_synced_is_an_error_and_no_key_is_made() {
        let parent = tempfile::tempdir().expect("a folder");
        let mut disk = Failing { operation: Operation::SyncFolder, left: 1 };
        let never = std::iter::from_fn(|| -> Option<Result<Pems, Failure>> { panic!("no key is asked for") });
        let error =
            fill(&mut disk, &parent.path().join("keys"), 3, never).expect_err("the disk fails").to_string();
        assert!(error.contains("keys: the disk is broken"), "{error}");
    }

    #[test]
    fn keys_that_cannot_be_made_end_it() {
        let parent = tempfile::tempdir().expect("a folder");
        let some = || keys(true).take(2);
        let failing = some().chain([Err(Failure::Input("no random numbers".into()))]);
        let error = fill(&mut System, &parent.path().join("a"), 5, failing).expect_err("too few").to_string();
        assert!(error.contains("no random numbers; 2 of 5 keys are complete in "), "{error}");
        assert!(error.contains(": key-0001.pem to key-0002.pem"), "{error}");
        let error = fill(&mut System, &parent.path().join("b"), 5, some()).expect_err("too few").to_string();
        assert!(error.contains("; 2 of 5 keys are complete"), "{error}");
        assert_eq!(names(&parent.path().join("b")).len(), 4);
    }
}
