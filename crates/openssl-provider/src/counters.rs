//! What was done so far: in this process, or in all that share a file.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use zariz::rsa::check_failures;

/// The first bytes of a file of counters.
const MAGIC: [u8; 8] = *b"zariz-c1";

/// Failures of the check that are in somebody's counters.
static KNOWN_FAILURES: AtomicU64 = AtomicU64::new(0);

/// The counters, in the order of the file.
#[repr(C)]
#[derive(Default)]
pub struct Numbers {
    /// Private operations that were computed.
    pub private_operations: AtomicU64,
    /// Public operations that were computed.
    pub public_operations: AtomicU64,
    /// Batches they were computed in.
    pub batches: AtomicU64,
    /// The most operations of a batch.
    pub largest_batch: AtomicU64,
    /// Operations that were left to OpenSSL.
    pub fallbacks: AtomicU64,
    /// Private results that failed the check with the public exponent.
    pub check_failures: AtomicU64,
    /// Keys that were generated.
    pub keys_generated: AtomicU64,
}

/// A file of counters: processes map it and share it.
#[repr(C)]
pub struct File {
    magic: [u8; 8],
    numbers: Numbers,
}

/// Where the counters are.
pub enum Counters {
    /// Those of this process.
    Own(Box<Numbers>),
    /// Those of all processes that have mapped the same file.
    Shared(NonNull<File>),
}

// SAFETY: counters are atomic, wherever they are.
unsafe impl Send for Counters {}
// SAFETY: as above.
unsafe impl Sync for Counters {}

impl Counters {
    /// Counters of this process alone.
    pub fn own() -> Self {
        Self::Own(Box::default())
    }

    /// Counters in a file, which is made if it is not there; else what is wrong with it.
    pub fn shared(path: &Path) -> Result<Self, String> {
        let fail = |what: &str, why: &dyn std::fmt::Display| format!("{what} {}: {why}", path.display());
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o644)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let file = options.open(path).map_err(|error| fail("cannot open", &error))?;
        let metadata = file.metadata().map_err(|error| fail("cannot read", &error))?;
        let size = size_of::<File>() as u64;
        if !metadata.is_file() || ![0, size].contains(&metadata.len()) {
            return Err(fail("cannot count in", &"it is not a file of counters; remove it or name another"));
        }
        let mut magic = [0; 8];
        if metadata.len() == size {
            file.read_exact_at(&mut magic, 0).map_err(|error| fail("cannot read", &error))?;
        }
        // Zero: a process beside this one has just made it. The first bytes are the same whoever writes them.
        if magic != [0; 8] && magic != MAGIC {
            return Err(fail("cannot count in", &"it is not a file of counters; remove it or name another"));
        }
        // Room on the disk is taken now: a mapping without it would end the process later.
        // SAFETY: a file that is open.
        if unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size as i64) } != 0 {
            return Err(fail("cannot make", &"there is no room for it"));
        }
        file.write_all_at(&MAGIC, 0).map_err(|error| fail("cannot write", &error))?;
        // SAFETY: a new mapping of a file of that size, wherever the system wants it.
        let mapped = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size_of::<File>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(mapped.cast::<File>()) {
            Some(shared) if mapped != libc::MAP_FAILED => Ok(Self::Shared(shared)),
            _ => Err(fail("cannot map", &std::io::Error::last_os_error())),
        }
    }

    /// The numbers.
    pub fn numbers(&self) -> &Numbers {
        match self {
            Self::Own(numbers) => numbers,
            // SAFETY: mapped until this is dropped; every bit pattern is a number.
            Self::Shared(file) => unsafe { &file.as_ref().numbers },
        }
    }

    /// Adds to one of the counters.
    pub fn add(&self, counter: impl FnOnce(&Numbers) -> &AtomicU64, more: u64) {
        counter(self.numbers()).fetch_add(more, Ordering::Relaxed);
    }

    /// Notes a batch.
    pub fn batch(&self, private: u64, public: u64) {
        let numbers = self.numbers();
        numbers.private_operations.fetch_add(private, Ordering::Relaxed);
        numbers.public_operations.fetch_add(public, Ordering::Relaxed);
        numbers.batches.fetch_add(1, Ordering::Relaxed);
        numbers.largest_batch.fetch_max(private + public, Ordering::Relaxed);
        // The library counts failures of the whole process: what is new since somebody last looked is added.
        let failures = check_failures();
        let known = KNOWN_FAILURES.fetch_max(failures, Ordering::Relaxed);
        if failures > known {
            numbers.check_failures.fetch_add(failures - known, Ordering::Relaxed);
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        if let Self::Shared(file) = self {
            // SAFETY: it was mapped by `shared`, and nobody refers to it any more.
            unsafe { libc::munmap(file.as_ptr().cast(), size_of::<File>()) };
        }
    }
}
