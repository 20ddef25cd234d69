//! Output: standard output, or a file that appears complete or not at all.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::cleanup::{self, Watch};
use crate::exit::Failure;
use crate::place::{self, Disk, Existing, PlaceError, System, exists, place};
use crate::standard;

/// Where results go.
pub enum Output {
    /// Standard output.
    Stdout,
    /// A device, named pipe or the like, which cannot be replaced.
    Direct(File, PathBuf),
    /// A temporary file that takes its place when it is complete.
    Replaced(Draft),
}

/// An incomplete file, in the folder of its target.
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    _watch: Watch,
}

/// Who may read a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// As the user's mask allows; a replaced file keeps its mode.
    Usual,
    /// Only the owner: mode 0600.
    Owner,
}

impl Output {
    /// Standard output, if it was not closed.
    pub fn stdout() -> Result<Self, Failure> {
        standard::must_be_open(1).map(|()| Self::Stdout)
    }

    /// Opens the file, or standard output for `-` or without a path.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else { return Self::stdout() };
        must_name_file(path)?;
        if is_special(path) {
            return Ok(Self::Direct(open_special(path)?, path.to_owned()));
        }
        Draft::new(path, Access::Usual).map(Self::Replaced)
    }

    /// Opens the output for a private key: a file, or standard output for `-`. Other users cannot read a new
    /// file; their devices and pipes are refused. An existing file stays until
    /// [`finish_on`](Self::finish_on), which must get the same `existing`.
    pub fn private(path: &Path, existing: Existing) -> Result<Self, Failure> {
        if is_stdout(path) {
            return Self::stdout();
        }
        must_name_file(path)?;
        // If nothing may be replaced, open nothing that exists: giving the name will fail.
        if existing == Existing::Replaced && is_special(path) {
            return Ok(Self::Direct(open_special_for_key(path)?, path.to_owned()));
        }
        Draft::new(path, Access::Owner).map(Self::Replaced)
    }

    /// Whether the results appear on a terminal.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Direct(file, _) => file.is_terminal(),
            Self::Replaced(_) => false,
        }
    }

    /// Refuses a terminal for binary output; `option` is the option that makes it text.
    pub fn refuse_binary(&self, option: &str) -> Result<(), Failure> {
        if self.is_terminal() {
            let text =
                format!("binary output is not written to a terminal; use --out FILE or {option} base64");
            return Err(Failure::Usage(text));
        }
        Ok(())
    }

    /// Writes bytes without buffering them, so that the reader gets them at once.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Stdout => {
                let mut stdout = io::stdout().lock();
                let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
                written.map_err(|e| Failure::write("standard output", &e))
            }
            Self::Direct(file, path) => file.write_all(bytes).map_err(|e| Failure::write(path.display(), &e)),
            Self::Replaced(draft) => draft.file.write_all(bytes).map_err(|e| failed(&draft.target, &e)),
        }
    }

    /// Whether output shows at once and cannot be taken back.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Replaced(_))
    }

    /// Ensures that the output fits on the disk, so that only the file's name is missing.
    pub fn settle(&self) -> Result<(), Failure> {
        match self {
            Self::Stdout | Self::Direct(..) => Ok(()),
            Self::Replaced(draft) => place::sync(draft.file.as_file()).map_err(|e| failed(&draft.target, &e)),
        }
    }

    /// Completes the output: a file takes its place, and replaces an existing one. Without this call, nothing
    /// of it remains.
    pub fn finish(self) -> Result<(), Failure> {
        self.finish_on(&mut System, Existing::Replaced).map_err(PlaceError::failure)
    }

    /// Like [`finish`](Self::finish), with a given disk and a choice for an existing file.
    pub fn finish_on(self, disk: &mut impl Disk, existing: Existing) -> Result<(), PlaceError> {
        match self {
            Self::Stdout | Self::Direct(..) => Ok(()),
            Self::Replaced(Draft { file, target, _watch }) => place(disk, file, &target, existing),
        }
    }

    /// Its name in errors.
    pub fn name(&self) -> String {
        match self {
            Self::Stdout => "standard output".into(),
            Self::Direct(_, path) | Self::Replaced(Draft { target: path, .. }) => path.display().to_string(),
        }
    }
}

impl Draft {
    fn new(path: &Path, access: Access) -> Result<Self, Failure> {
        let target = target(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".zariz-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = if access == Access::Owner { 0o600 } else { 0o666 };
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let created = cleanup::watched(|| builder.tempfile_in(place::folder(&target)), NamedTempFile::path);
        let (file, watch) = created.map_err(|e| failed(path, &e))?;
        if access == Access::Usual
            && let Ok(about) = fs::metadata(&target)
        {
            file.as_file().set_permissions(about.permissions()).map_err(|e| failed(path, &e))?;
        }
        Ok(Self { file, target, _watch: watch })
    }
}

/// Refuses the path of a folder, or one that can only be a folder's: its last part is empty, `.` or `..`.
/// Otherwise the results would get another path.
fn must_name_file(path: &Path) -> Result<(), Failure> {
    let whole = path.as_os_str().as_encoded_bytes();
    let ends_with_name = path.file_name().is_some_and(|name| whole.ends_with(name.as_encoded_bytes()));
    match whole {
        b"" => Err(Failure::Input("an empty path names no file".into())),
        _ if ends_with_name && !path.is_dir() => Ok(()),
        _ => Err(Failure::Input(format!("{}: names a folder, not a file", path.display()))),
    }
}

/// Whether `path` means standard output.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file that a path means. For a symbolic link, it is the file that the link points to; if that does not
/// exist, the path's folder is resolved.
fn target(path: &Path) -> PathBuf {
    let new = || Some(fs::canonicalize(place::folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

/// Whether there is something at a path that cannot be replaced, such as a device or a named pipe.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file())
}

fn open_special(path: &Path) -> Result<File, Failure> {
    standard::must_name_open(path)?;
    File::options().write(true).open(path).map_err(|e| failed(path, &e))
}

/// Opens a special file for a private key, unless another user could read the key from it.
#[cfg(unix)]
fn open_special_for_key(path: &Path) -> Result<File, Failure> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    if is_own_descriptor(path) {
        return open_special(path);
    }
    // Check before opening: opening a pipe waits for its reader, and wakes it.
    let about = fs::metadata(path).map_err(|e| failed(path, &e))?;
    if about.file_type().is_fifo() && about.uid() != rustix::process::geteuid().as_raw() {
        return Err(foreign(path));
    }
    // Check again afterwards: another file may have taken its place.
    let file = open_special(path)?;
    must_be_own(&file, path)?;
    Ok(file)
}

#[cfg(not(unix))]
fn open_special_for_key(path: &Path) -> Result<File, Failure> {
    open_special(path)
}

/// Whether a path names a descriptor that this process was given. Its owner may be the user who started the
/// process.
#[cfg(unix)]
fn is_own_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|own| path == Path::new(own))
        || path.parent() == Some(Path::new("/dev/fd"))
}

/// Refuses an open file that belongs to another user, except the null device and a terminal that this process
/// already has.
#[cfg(unix)]
fn must_be_own(file: &File, path: &Path) -> Result<(), Failure> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    let about = file.metadata().map_err(|e| failed(path, &e))?;
    if about.is_file() {
        return Err(Failure::Input(format!(
            "{}: was replaced by a file while it was opened",
            path.display()
        )));
    }
    let is = |device: fs::Metadata| device.file_type().is_char_device() && device.rdev() == about.rdev();
    let is_at = |path| fs::metadata(path).is_ok_and(is);
    let is_given = |stream: std::os::fd::BorrowedFd| {
        stream.try_clone_to_owned().and_then(|stream| File::from(stream).metadata()).is_ok_and(is)
    };
    let is_good = about.uid() == rustix::process::geteuid().as_raw()
        || about.file_type().is_char_device() && (is_at("/dev/null") || is_at("/dev/tty"))
        || file.is_terminal()
            && [io::stdin().as_fd(), io::stdout().as_fd(), io::stderr().as_fd()].into_iter().any(is_given);
    if is_good { Ok(()) } else { Err(foreign(path)) }
}

#[cfg(unix)]
fn foreign(path: &Path) -> Failure {
    let text = "belongs to another user, who could read the private key from it; choose a new file";
    Failure::Input(format!("{}: {text}", path.display()))
}

/// Whether two paths, however they are written, mean the same file, so that one output would replace the
/// other.
pub fn same_file(a: &Path, b: &Path) -> bool {
    ![a, b].into_iter().any(|path| is_stdout(path) || is_special(path)) && target(a) == target(b)
}

/// Refuses a path that exists.
pub fn must_be_new(path: &Path) -> Result<(), Failure> {
    if is_stdout(path) {
        return Ok(());
    }
    must_name_file(path)?;
    if path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

/// Refuses to replace files that are needed to make or use the results. Each path comes with the name of its
/// option.
pub fn must_not_replace<'a>(
    output: (&str, Option<&Path>),
    needed: impl IntoIterator<Item = (&'a str, &'a Path)>,
) -> Result<(), Failure> {
    let (name, Some(path)) = output else { return Ok(()) };
    match needed.into_iter().find(|(_, needed)| same_file(path, needed)) {
        Some((option, _)) => Err(Failure::Usage(format!("{name} would replace the file of {option}"))),
        None => Ok(()),
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::write(path.display(), error)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::chown;
    use std::process::Command;

    /// A named pipe in its own folder, owned by this user.
    fn pipe(owner: Option<u32>) -> Option<(tempfile::TempDir, PathBuf)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        if owner.is_some() && chown(&path, owner, None).is_err() {
            // Only root may give files away. Not by `eprintln`: the test harness would capture it.
            let _ = writeln!(io::stderr(), "SKIPPED: a pipe of another user cannot be made");
            return None;
        }
        Some((folder, path))
    }

    const OTHER: u32 = 65_534;

    #[test]
    fn a_private_key_goes_to_no_pipe_unless_asked() {
        for owner in [None, Some(OTHER)] {
            let Some((folder, path)) = pipe(owner) else { continue };
            let mut output = Output::private(&path, Existing::Kept).expect("a draft");
            assert!(matches!(output, Output::Replaced(_)));
            output.write(b"key").expect("written");
            let error = output.finish_on(&mut System, Existing::Kept).expect_err("the pipe is in the way");
            assert!(error.failure().to_string().contains("--force"));
            assert!(is_special(&path));
            assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
        }
    }

    #[test]
    fn a_private_key_goes_to_no_pipe_of_another_user() {
        // Opened for reading and writing, so as not to wait for a reader.
        let open = |path: &Path| File::options().read(true).write(true).open(path).expect("opened");
        let (_folder, path) = pipe(None).expect("an own pipe");
        assert!(must_be_own(&open(&path), &path).is_ok());
        if let Some((_folder, path)) = pipe(Some(OTHER)) {
            let error =
                Output::private(&path, Existing::Replaced).err().expect("refused before it is opened");
            assert!(error.to_string().contains("another user"), "{error}");
            let error = must_be_own(&open(&path), &path).expect_err("refused when it is open");
            assert!(error.to_string().contains("another user"), "{error}");
        }
    }

    #[test]
    fn what_takes_the_place_of_a_device_gets_no_private_key() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(must_be_own(file.as_file(), file.path()).is_err());
    }

    #[test]
    fn devices_for_every_user_are_good_for_keys() {
        for path in ["/dev/null", "/dev/stdout", "/dev/fd/1"] {
            let output = Output::private(Path::new(path), Existing::Replaced);
            assert!(matches!(output, Ok(Output::Direct(..) | Output::Replaced(_))), "{path}");
        }
        assert!(!is_own_descriptor(Path::new("/dev/fd/../../tmp/pipe")));
    }
}
