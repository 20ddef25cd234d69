//! The file of counters that all processes with the provider share.

use std::path::Path;

/// What the first bytes of the file are.
const MAGIC: &[u8] = b"zariz-c1";

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Signatures and decryptions.
    pub private_operations: u64,
    /// Verifications and encryptions.
    pub public_operations: u64,
    /// Batches.
    pub batches: u64,
    /// The most operations in one batch.
    pub largest_batch: u64,
    /// Operations that OpenSSL's own code did.
    pub fallbacks: u64,
    /// Results that were wrong before they were made again.
    pub check_failures: u64,
}

impl Counters {
    /// Reads the file; without one, nothing was counted.
    pub fn read(path: &Path) -> Self {
        let Ok(bytes) = std::fs::read(path) else { return Self::default() };
        assert_eq!(bytes.get(..8), Some(MAGIC), "{} is not a file of counters", path.display());
        let counter = |i: usize| {
            let bytes = bytes.get(8 + 8 * i..16 + 8 * i).expect("a file of counters has all of them");
            u64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
        };
        Self {
            private_operations: counter(0),
            public_operations: counter(1),
            batches: counter(2),
            largest_batch: counter(3),
            fallbacks: counter(4),
            check_failures: counter(5),
        }
    }

    /// What was counted since; the largest batch is that of all times.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            private_operations: self.private_operations - earlier.private_operations,
            public_operations: self.public_operations - earlier.public_operations,
            batches: self.batches - earlier.batches,
            largest_batch: self.largest_batch,
            fallbacks: self.fallbacks - earlier.fallbacks,
            check_failures: self.check_failures - earlier.check_failures,
        }
    }

    /// Operations in a batch, on average.
    pub fn mean_batch(self) -> f64 {
        (self.private_operations + self.public_operations) as f64 / self.batches as f64
    }
}
