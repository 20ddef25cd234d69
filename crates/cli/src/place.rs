//! Moves a complete temporary file to its place. Results and keys get their names only in this way.
//!
//! The file's contents are on the disk before it gets its name, and the name is on the disk before the run
//! reports success. So a power failure leaves either the old file or the whole new one, and never undoes what
//! was reported.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::exit::Failure;

/// What happens to an existing file with the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replaced,
    /// It stays, and the new file fails; `--force` would replace it.
    Kept,
    /// It stays, and the new file fails: no file may have the name.
    Foreign,
}

/// An error of placing a file, by what the target is now.
#[derive(Debug)]
pub enum PlaceError {
    /// The old file, if there was one.
    NotPlaced(Failure),
    /// The new file, complete. A power failure may still remove its name.
    NameNotSynced(Failure),
}

impl PlaceError {
    /// The error to report.
    pub fn failure(self) -> Failure {
        match self {
            Self::NotPlaced(failure) | Self::NameNotSynced(failure) => failure,
        }
    }
}

/// Puts the contents of `file` on the disk. This also finds a full disk, if writing did not.
pub fn sync(file: &File) -> io::Result<()> {
    System.sync(file)
}

/// The error if a file already exists.
pub fn exists(path: &Path) -> Failure {
    Failure::Input(format!("{}: exists already; --force replaces it", path.display()))
}

/// The folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The operations on the disk for placing a file. Tests record them, or make them fail.
pub trait Disk {
    /// Puts the contents of `file` on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Gives `file` the name `target`.
    fn give_name(&mut self, file: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()>;
    /// Puts the names in `folder` on the disk.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
}

/// Gives `file` the name `target`, in its own folder. Returns when both are safe on the disk.
pub fn place(
    disk: &mut impl Disk,
    file: NamedTempFile,
    target: &Path,
    existing: Existing,
) -> Result<(), PlaceError> {
    let failed = |error| PlaceError::NotPlaced(Failure::io(target.display(), &error));
    disk.sync(file.as_file()).map_err(failed)?;
    disk.give_name(file, target, existing).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => PlaceError::NotPlaced(match existing {
            Existing::Replaced | Existing::Kept => exists(target),
            Existing::Foreign => {
                let text = "exists already; something else writes into its folder";
                Failure::Input(format!("{}: {text}", target.display()))
            }
        }),
        _ => failed(error),
    })?;
    disk.sync_folder(folder(target)).map_err(|error| {
        let text =
            "complete, but its folder could not be synced, so a power failure may still remove its name";
        PlaceError::NameNotSynced(Failure::Input(format!("{}: {text}: {error}", target.display())))
    })
}

/// The real disk.
pub struct System;

impl Disk for System {
    fn sync(&mut self, file: &File) -> io::Result<()> {
        unless_impossible(file.sync_all())
    }

    fn give_name(&mut self, file: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()> {
        let placed = match existing {
            Existing::Replaced => file.persist(target),
            Existing::Kept | Existing::Foreign => file.persist_noclobber(target),
        };
        placed.map(drop).map_err(|error| error.error)
    }

    #[cfg(unix)]
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        match File::open(folder) {
            // A folder with write but no read permission cannot be opened, and so cannot be synced.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            opened => unless_impossible(opened?.sync_all()),
        }
    }

    /// On other systems a folder cannot be opened; the file system keeps its names in a journal.
    #[cfg(not(unix))]
    fn sync_folder(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Ignores the error of a file system that cannot sync.
fn unless_impossible(synced: io::Result<()>) -> io::Result<()> {
    synced.or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    /// A disk that records the calls, and fails at one of them.
    struct Recorder {
        calls: Vec<String>,
        target: PathBuf,
        failing: &'static str,
    }

    impl Recorder {
        fn call(&mut self, name: &str, about: &str) -> io::Result<()> {
            let at_target = fs::read_to_string(&self.target).unwrap_or_default();
            self.calls.push(format!("{name} {about}, at the target: {at_target:?}"));
            if name == self.failing { Err(io::Error::other("the disk is broken")) } else { Ok(()) }
        }
    }

    impl Disk for Recorder {
        fn sync(&mut self, file: &File) -> io::Result<()> {
            self.call("sync", &format!("{} bytes", file.metadata()?.len()))?;
            System.sync(file)
        }

        fn give_name(&mut self, file: NamedTempFile, target: &Path, existing: Existing) -> io::Result<()> {
            self.call("rename", &format!("{existing:?}"))?;
            System.give_name(file, target, existing)
        }

        fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
            let about = if folder == super::folder(&self.target) { "of the target" } else { "elsewhere" };
            self.call("sync folder", about)?;
            System.sync_folder(folder)
        }
    }

    /// Places "new". Returns the calls, the result, and the folder's files with their contents.
    fn placed(
        before: Option<&str>,
        existing: Existing,
        failing: &'static str,
    ) -> (Vec<String>, String, Vec<String>) {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("target");
        if let Some(before) = before {
            fs::write(&target, before).expect("written");
        }
        let mut file = NamedTempFile::new_in(folder.path()).expect("a file");
        file.write_all(b"new").expect("written");
        let mut recorder = Recorder { calls: Vec::new(), target: target.clone(), failing };
        let result = place(&mut recorder, file, &target, existing);
        if let Err(error) = &result {
            let in_place = matches!(error, PlaceError::NameNotSynced(_));
            assert_eq!(in_place, fs::read(&target).is_ok_and(|contents| contents == b"new"), "{error:?}");
        }
        let result = result.map_or_else(|error| error.failure().to_string(), |()| "done".into());
        let entries = fs::read_dir(folder.path()).expect("the folder").map(|entry| entry.expect("an entry"));
        let contents = |path| fs::read_to_string(path).expect("readable");
        let files =
            entries.map(|entry| format!("{:?}: {}", entry.file_name(), contents(entry.path()))).collect();
        (recorder.calls, result, files)
    }

    #[test]
    fn contents_are_synced_before_the_name_and_the_name_after() {
        for (before, existing) in
            [(None, Existing::Kept), (None, Existing::Replaced), (Some("old"), Existing::Replaced)]
        {
            let old = before.unwrap_or_default();
            let (calls, result, files) = placed(before, existing, "");
            let expected = [
                format!("sync 3 bytes, at the target: {old:?}"),
                format!("rename {existing:?}, at the target: {old:?}"),
                "sync folder of the target, at the target: \"new\"".into(),
            ];
            assert_eq!((&calls[..], &result[..]), (&expected[..], "done"));
            assert_eq!(files, ["\"target\": new"]);
        }
    }

    #[test]
    fn a_failure_leaves_what_was_there_and_is_told() {
        for (existing, before, failing, said, left) in [
            (Existing::Replaced, Some("old"), "sync", "broken", Some("old")),
            (Existing::Replaced, Some("old"), "rename", "broken", Some("old")),
            (Existing::Kept, Some("old"), "", "--force", Some("old")),
            (Existing::Foreign, Some("old"), "", "something else", Some("old")),
            (Existing::Kept, None, "sync", "broken", None),
            (Existing::Kept, None, "rename", "broken", None),
            (Existing::Replaced, Some("old"), "sync folder", "could not be synced", Some("new")),
        ] {
            let (_, result, files) = placed(before, existing, failing);
            assert!(result.contains(said) && result.contains("target"), "{failing}: {result}");
            let left: Vec<String> = left.iter().map(|left| format!("\"target\": {left}")).collect();
            assert_eq!(files, left, "{failing}");
        }
    }

    #[test]
    fn only_what_cannot_be_synced_is_accepted() {
        assert!(unless_impossible(Err(io::ErrorKind::InvalidInput.into())).is_ok());
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other, io::ErrorKind::QuotaExceeded] {
            assert!(unless_impossible(Err(kind.into())).is_err());
        }
        assert!(System.sync_folder(Path::new("/does/not/exist")).is_err() || cfg!(not(unix)));
    }
}
