//! Output: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::cleanup::{self, Watch};
use crate::exit::Failure;
use crate::place::{self, Existing, exists, place};

/// Where results go.
pub enum Output {
    /// Standard output.
    Stdout,
    /// Something at a path that cannot be replaced, such as a device or a named pipe.
    Direct(File, PathBuf),
    /// A temporary file that takes its place when it is complete.
    Replaced(Draft),
}

/// A file in the making, in the folder of the file it will be.
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
    _watch: Watch,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Whoever the user's mask allows; a replaced file keeps its mode.
    Usual,
    /// The owner alone: mode 0600.
    Owner,
}

impl Output {
    /// Opens the file, or standard output if there is none or it is `-`.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        match path {
            Some(path) => Self::new(path, Access::Usual),
            None => Ok(Self::Stdout),
        }
    }

    /// Opens the file, or standard output for `-`. What is there already stays until [`finish`](Self::finish).
    pub fn new(path: &Path, access: Access) -> Result<Self, Failure> {
        if is_stdout(path) {
            return Ok(Self::Stdout);
        }
        if is_special(path) {
            let file = File::options().write(true).open(path).map_err(|e| failed(path, &e))?;
            return Ok(Self::Direct(file, path.to_owned()));
        }
        Draft::new(path, access).map(Self::Replaced)
    }

    /// Whether the results will be seen on a terminal.
    pub fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Direct(file, _) => file.is_terminal(),
            Self::Replaced(_) => false,
        }
    }

    /// Refuses a terminal, for bytes that would disturb it; `option` is the one that makes text of them.
    pub fn refuse_binary(&self, option: &str) -> Result<(), Failure> {
        if self.is_terminal() {
            let text = format!("binary output is not written to a terminal; use --out FILE or {option} base64");
            return Err(Failure::Usage(text));
        }
        Ok(())
    }

    /// Writes bytes, all the way to whoever reads them.
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

    /// Whether what is written shows at once and cannot be taken back.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Replaced(_))
    }

    /// Makes sure that what was written fits on the disk, so that only the file's name is still missing.
    pub fn settle(&self) -> Result<(), Failure> {
        match self {
            Self::Stdout | Self::Direct(..) => Ok(()),
            Self::Replaced(draft) => place::sync(draft.file.as_file()).map_err(|e| failed(&draft.target, &e)),
        }
    }

    /// Completes the output: a file takes its place, and that of a file that is there. Without this call nothing is
    /// left of it.
    pub fn finish(self) -> Result<(), Failure> {
        self.finish_over(Existing::Replaced)
    }

    /// Like [`finish`](Self::finish), where the caller says what becomes of a file that is there.
    pub fn finish_over(self, existing: Existing) -> Result<(), Failure> {
        match self {
            Self::Stdout | Self::Direct(..) => Ok(()),
            Self::Replaced(Draft { file, target, _watch }) => place(file, &target, existing),
        }
    }

    /// What errors call it.
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
        let file = builder.tempfile_in(place::folder(&target)).map_err(|e| failed(path, &e))?;
        let watch = cleanup::watch(file.path());
        if access == Access::Usual
            && let Ok(about) = fs::metadata(&target)
        {
            file.as_file().set_permissions(about.permissions()).map_err(|e| failed(path, &e))?;
        }
        Ok(Self { file, target, _watch: watch })
    }
}

/// Whether `path` stands for standard output.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file that a path means. Through a symbolic link, the file it points to is the one to replace; where there is none
/// yet, the folder is as good as known.
fn target(path: &Path) -> PathBuf {
    let new = || Some(fs::canonicalize(place::folder(path)).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(new).unwrap_or_else(|| path.to_owned())
}

/// Whether there is something at a path that is no file to be replaced, such as a device or a named pipe.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file())
}

/// Whether two paths mean one file, however they are written, so that one output would replace the other.
pub fn same_file(a: &Path, b: &Path) -> bool {
    ![a, b].into_iter().any(|path| is_stdout(path) || is_special(path)) && target(a) == target(b)
}

/// Refuses a path at which there is something already.
pub fn must_be_new(path: &Path) -> Result<(), Failure> {
    if !is_stdout(path) && path.symlink_metadata().is_ok() { Err(exists(path)) } else { Ok(()) }
}

/// Refuses to put the results in the place of the key that makes them.
pub fn must_not_be_key(output: Option<&Path>, key: &Path) -> Result<(), Failure> {
    if output.is_some_and(|output| same_file(output, key)) {
        Err(Failure::Usage("--out would replace the file of --key".into()))
    } else {
        Ok(())
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::write(path.display(), error)
}
