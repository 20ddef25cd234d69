//! Counters of the provider's work: in this process, or shared by processes through a file.

use std::fmt::Display;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use zariz::rsa::check_failures;

/// The first bytes of a counters file.
const MAGIC: [u8; 8] = *b"zariz-c1";

/// The check failures that are already counted.
static KNOWN_FAILURES: AtomicU64 = AtomicU64::new(0);

/// The counters, in the order of the file.
#[repr(C)]
#[derive(Default)]
pub struct Counts {
    /// Private operations that were computed.
    pub private_operations: AtomicU64,
    /// Public operations that were computed.
    pub public_operations: AtomicU64,
    /// Batches they were computed in.
    pub batches: AtomicU64,
    /// The most operations in one batch.
    pub largest_batch: AtomicU64,
    /// Operations that were left to OpenSSL.
    pub fallbacks: AtomicU64,
    /// Private results that failed the check with the public exponent.
    pub check_failures: AtomicU64,
    /// Keys that were generated.
    pub keys_generated: AtomicU64,
}

/// The contents of a counters file, which processes map and share.
#[repr(C)]
pub struct File {
    magic: [u8; 8],
    counts: Counts,
}

/// Where the counters are stored.
pub enum Counters {
    /// In this process.
    Own(Box<Counts>),
    /// In a file that other processes map too.
    Shared(NonNull<File>),
}

// SAFETY: counters are atomic, whether owned or mapped.
unsafe impl Send for Counters {}
// SAFETY: counters are atomic, whether owned or mapped.
unsafe impl Sync for Counters {}

impl Counters {
    /// Counters of this process only.
    pub fn own() -> Self {
        Self::Own(Box::default())
    }

    /// Opens the counters file, or makes it. The error says what is wrong with the file.
    ///
    /// A process without write access reads the file, but counts only for itself. A process without read
    /// access also counts for itself: programs of users other than the server's must not fail because of
    /// this.
    pub fn shared(path: &Path) -> Result<Self, String> {
        let fail = |what: &str, why: &dyn Display| format!("cannot {what} {}: {why}", path.display());
        // Check before opening, which may affect a device.
        if let Ok(found) = fs::symlink_metadata(path) {
            check_kind(found.file_type()).map_err(|why| fail("count in", &why))?;
        }
        let opened = match open(path, true) {
            Err(error) if is_forbidden(&error) => open(path, false).map(|file| (file, libc::MAP_PRIVATE)),
            opened => opened.map(|file| (file, libc::MAP_SHARED)),
        };
        let (file, sharing) = match opened {
            Err(error) if is_forbidden(&error) => return Ok(Self::own()),
            opened => opened.map_err(|error| fail("open", &error))?,
        };
        let is_new = check(&file).map_err(|why| fail("count in", &why))?;
        if sharing == libc::MAP_SHARED {
            prepare(&file).map_err(|error| fail("write", &error))?;
        } else if is_new {
            return Ok(Self::own());
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file of that size, at an address of the system's choice.
        let mapped = unsafe { libc::mmap(ptr::null_mut(), SIZE, access, sharing, file.as_raw_fd(), 0) };
        match NonNull::new(mapped.cast::<File>()) {
            Some(shared) if mapped != libc::MAP_FAILED => Ok(Self::Shared(shared)),
            _ => Err(fail("map", &io::Error::last_os_error())),
        }
    }

    /// The counts.
    pub fn counts(&self) -> &Counts {
        match self {
            Self::Own(counts) => counts,
            // SAFETY: mapped until this is dropped; every bit pattern is a number.
            Self::Shared(file) => unsafe { &file.as_ref().counts },
        }
    }

    /// Adds to one of the counters.
    pub fn add(&self, counter: impl FnOnce(&Counts) -> &AtomicU64, more: u64) {
        counter(self.counts()).fetch_add(more, Ordering::Relaxed);
    }

    /// Counts a batch.
    pub fn batch(&self, private: u64, public: u64) {
        let counts = self.counts();
        counts.private_operations.fetch_add(private, Ordering::Relaxed);
        counts.public_operations.fetch_add(public, Ordering::Relaxed);
        counts.batches.fetch_add(1, Ordering::Relaxed);
        counts.largest_batch.fetch_max(private + public, Ordering::Relaxed);
        // The library counts failures of the whole process. Add those since the last call.
        let failures = check_failures();
        let known = KNOWN_FAILURES.fetch_max(failures, Ordering::Relaxed);
        if failures > known {
            counts.check_failures.fetch_add(failures - known, Ordering::Relaxed);
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        if let Self::Shared(file) = self {
            // SAFETY: it was mapped by `shared`, and nothing refers to it any more.
            unsafe { libc::munmap(file.as_ptr().cast(), SIZE) };
        }
    }
}

const SIZE: usize = size_of::<File>();

/// Opens the file; with `write`, makes it if necessary. Follows no symbolic link. Never blocks, even on a
/// FIFO without a writer.
fn open(path: &Path, write: bool) -> io::Result<fs::File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let mut options = fs::OpenOptions::new();
    options.read(true).write(write).create(write).mode(0o644).custom_flags(flags);
    options.open(path)
}

/// Checks that the file is a regular one.
fn check_kind(kind: fs::FileType) -> Result<(), String> {
    let found = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => "symbolic link",
        kind if kind.is_fifo() => "FIFO",
        kind if kind.is_socket() => "socket",
        _ => "device",
    };
    Err(format!("it is a {found}, and not a file of counters; name another path"))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Returns whether the file is new. If it is neither new nor a counters file, that is an error.
fn check(file: &fs::File) -> Result<bool, String> {
    let other = || "it is not a file of counters; remove it, or name another".to_owned();
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    check_kind(metadata.file_type())?;
    if ![0, SIZE as u64].contains(&metadata.len()) {
        return Err(other());
    }
    // If a mapped file gets shorter, processes that count in it are killed. So only the superuser or this
    // user may own it.
    // SAFETY: it has no preconditions.
    let own = [0, unsafe { libc::geteuid() }].contains(&metadata.uid());
    if !own || metadata.nlink() != 1 || metadata.mode() & 0o022 != 0 {
        return Err(
            "users other than its owner may write it, or its owner is neither root nor this user".into()
        );
    }
    let mut magic = MAGIC;
    if metadata.len() > 0 {
        file.read_exact_at(&mut magic, 0).map_err(|error| error.to_string())?;
    }
    // Zeros: another process is just making the file.
    if magic == MAGIC || magic == [0; 8] { Ok(metadata.len() == 0) } else { Err(other()) }
}

/// Gives the file its size and its first bytes, which are the same from every process. Reserves disk space
/// now: writing to a mapping without it would kill the process later.
fn prepare(file: &fs::File) -> io::Result<()> {
    // SAFETY: a file that is open.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, SIZE as i64) } {
        0 => file.write_all_at(&MAGIC, 0),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn private(counters: &Counters) -> u64 {
        counters.counts().private_operations.load(Ordering::Relaxed)
    }

    #[test]
    fn all_who_map_a_file_count_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counters");
        let one = Counters::shared(&path).expect("a new file");
        let other = Counters::shared(&path).expect("a file of counters");
        one.batch(3, 0);
        other.batch(5, 2);
        assert_eq!((private(&one), private(&other)), (8, 8));
        assert_eq!(one.counts().largest_batch.load(Ordering::Relaxed), 7);
        drop((one, other));
        assert_eq!(private(&Counters::shared(&path).expect("the same file")), 8);
        assert_eq!(fs::read(&path).expect("a file")[..8], MAGIC);
    }

    #[test]
    fn files_that_others_may_shorten_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counters");
        drop(Counters::shared(&path).expect("a new file"));
        for mode in [0o666, 0o664, 0o646] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("ours");
            assert!(Counters::shared(&path).is_err_and(|why| why.contains("may write")), "{mode:o}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        assert!(Counters::shared(&path).is_ok());
        fs::hard_link(&path, folder.path().join("another name")).expect("a link");
        assert!(Counters::shared(&path).is_err());
    }

    #[test]
    fn other_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("other");
        for contents in [&b"text"[..], &[7; SIZE], &[0; SIZE + 1]] {
            fs::write(&path, contents).expect("written");
            assert!(Counters::shared(&path).is_err_and(|why| why.contains("not a file of counters")));
            assert_eq!(fs::read(&path).expect("a file"), contents);
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert!(Counters::shared(&link).is_err() && Counters::shared(folder.path()).is_err());
        assert!(
            Counters::shared(&folder.path().join("no/folder")).is_err_and(|why| why.contains("no/folder"))
        );
    }
}
