//! The provider's counters.
#![allow(dead_code)] // Each test program uses a part of this.

use std::io::ErrorKind;
use std::path::Path;

/// The first bytes of a counters file.
const MAGIC: &[u8] = b"zariz-c1";

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Signatures and decryptions.
    pub private: u64,
    /// Verifications and encryptions.
    pub public: u64,
    pub batches: u64,
    /// The most operations in one batch.
    pub largest_batch: u64,
    /// Operations that OpenSSL's own code did.
    pub fallbacks: u64,
    /// Results that were wrong and were computed again.
    pub check_failures: u64,
    pub keys_generated: u64,
}

impl Counters {
    /// Reads a counters file, which processes may share. Without the file, nothing was counted: the provider
    /// was not loaded.
    #[track_caller]
    pub fn in_file(path: &Path) -> Self {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::default(),
            bytes => bytes.unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        };
        assert_eq!(bytes.get(..8), Some(MAGIC), "{} is no file of counters", path.display());
        let counter = |i: usize| {
            let bytes = bytes.get(8 + 8 * i..16 + 8 * i).expect("a file of counters has all of them");
            u64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
        };
        Self {
            private: counter(0),
            public: counter(1),
            batches: counter(2),
            largest_batch: counter(3),
            fallbacks: counter(4),
            check_failures: counter(5),
            keys_generated: counter(6),
        }
    }

    /// The counts since an earlier moment, except the largest batch, which is of all times.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            private: self.private - earlier.private,
            public: self.public - earlier.public,
            batches: self.batches - earlier.batches,
            largest_batch: self.largest_batch,
            fallbacks: self.fallbacks - earlier.fallbacks,
            check_failures: self.check_failures - earlier.check_failures,
            keys_generated: self.keys_generated - earlier.keys_generated,
        }
    }

    /// Operations in a batch, on average.
    pub fn mean_batch(self) -> f64 {
        (self.private + self.public) as f64 / self.batches as f64
    }
}
