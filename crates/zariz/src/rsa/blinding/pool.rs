//! The pairs for blinding that a key keeps.

use std::sync::{Mutex, MutexGuard, PoisonError};

use zariz_kernels::limbs::Limbs;
use zariz_process::PerProcess;

/// How often a pair is used before a fresh one replaces it: that many operations share the cost of a fresh
/// one.
pub const USES: usize = 64;
/// The most pairs that a key keeps: for 32 threads that sign eight at a time. Others are made for one
/// use.
const KEPT: usize = 256;

/// One blinding.
pub struct Blind {
    pub mask: Limbs,
    pub unmask: Limbs,
    pub uses: usize,
}

impl Blind {
    /// Whether its squares serve another request.
    pub fn has_more_uses(&self) -> bool {
        self.uses + 1 < USES
    }
}

/// The pairs of a key that no operation is using. A child of `fork` begins with none: a mask that two
/// processes use hides less, and a lock that a parent's thread held may never be released.
#[derive(Default)]
pub struct Pool(PerProcess<Mutex<Vec<Blind>>>);

impl Pool {
    /// All of them.
    pub fn pairs(&self) -> MutexGuard<'_, Vec<Blind>> {
        let of_process = self.0.get_or_init(|inherited| {
            // The parent's pairs are wiped, unless one of its threads was changing the list.
            if let Some(Ok(mut pairs)) = inherited.map(Mutex::try_lock) {
                pairs.clear();
            }
            Mutex::default()
        });
        of_process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps pairs, up to [`KEPT`] in all.
    pub fn keep(&self, pairs: impl Iterator<Item = Blind>) {
        let mut kept = self.pairs();
        let room = KEPT.saturating_sub(kept.len());
        kept.extend(pairs.take(room));
    }
}

impl Drop for Pool {
    /// Wipes the pairs of this process, and those that it began with.
    fn drop(&mut self) {
        self.pairs().clear();
    }
}

#[cfg(all(test, feature = "keygen"))]
mod tests {
    use super::*;
    use crate::forks;

    #[test]
    fn a_key_keeps_so_many_pairs_and_no_more() {
        let _alone = forks::alone();
        let pool = Pool::default();
        let pairs =
            |count| (0..count).map(|_| Blind { mask: Limbs::default(), unmask: Limbs::default(), uses: 0 });
        pool.keep(pairs(KEPT - 1));
        assert_eq!(pool.pairs().len(), KEPT - 1);
        pool.keep(pairs(2));
        assert_eq!(pool.pairs().len(), KEPT);
        pool.keep(pairs(1));
        assert_eq!(pool.pairs().len(), KEPT);
    }
}
