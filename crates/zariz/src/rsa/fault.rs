//! Faults: a counter of those found, and the places where tests flip bits. Outside of tests, numbers pass
//! unchanged.

use std::sync::atomic::{AtomicU64, Ordering};

use zariz_kernels::limbs::Numbers;

static CHECK_FAILURES: AtomicU64 = AtomicU64::new(0);

/// How many private results of this process failed the check with the public exponent, or changed after it. Each
/// was computed again, or withheld. If it is not 0, the machine's processor or memory is faulty or attacked, or a key's
/// primes are not prime ([`Error::InvalidKey`](super::Error::InvalidKey)).
pub fn check_failures() -> u64 {
    CHECK_FAILURES.load(Ordering::Relaxed)
}

/// Adds to the number of results that failed the check.
pub(super) fn note(failures: usize) {
    CHECK_FAILURES.fetch_add(failures as u64, Ordering::Relaxed);
}

/// A step of the private operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// The copies of the requests' numbers.
    Copy,
    /// Fresh blinding masks, one for each request.
    Mask,
    /// The halves of the result modulo p and q, two for each request.
    Half,
    /// Results without their masks.
    Unmasked,
    /// Results whose copies are being checked.
    Checked,
    /// Copies of checked results, with which what leaves is compared.
    Leaving,
    /// Results computed again without the Chinese remainder theorem.
    Recomputed,
}

/// Lets the numbers of one step pass.
#[cfg(not(all(test, feature = "keygen")))]
#[inline(always)]
pub(super) fn pass(_: Place, numbers: Numbers) -> Numbers {
    numbers
}

/// What halves in lanes pass: nothing.
#[cfg(not(all(test, feature = "keygen")))]
#[inline(always)]
pub(super) fn halves() -> Option<impl FnMut(usize, usize, &mut [u64])> {
    None::<fn(usize, usize, &mut [u64])>
}

/// Lets the length of a key pass.
#[cfg(not(all(test, feature = "keygen")))]
#[inline(always)]
pub(super) fn size(bytes: usize) -> usize {
    bytes
}

#[cfg(all(test, feature = "keygen"))]
pub(super) use testing::*;

#[cfg(all(test, feature = "keygen"))]
mod testing {
    use super::{Numbers, Place};
    use std::cell::Cell;

    thread_local! {
        /// The place, the number in the batch and the bit to flip, once.
        pub static FAULT: Cell<Option<(Place, usize, usize)>> = const { Cell::new(None) };
        /// Whether every recomputation goes wrong too.
        pub static RECOMPUTATION: Cell<bool> = const { Cell::new(false) };
        /// What lengths of keys are changed by.
        pub static SIZE: Cell<usize> = const { Cell::new(0) };
        /// How many results were computed again.
        pub static RECOMPUTED: Cell<usize> = const { Cell::new(0) };
    }

    pub fn size(bytes: usize) -> usize {
        bytes ^ SIZE.get()
    }

    /// Halves in lanes are numbered as those in a list are.
    pub fn halves() -> Option<impl FnMut(usize, usize, &mut [u64])> {
        Some(|prime: usize, lane: usize, digits: &mut [u64]| {
            if let Some((_, _, bit)) = FAULT.get().filter(|fault| (fault.0, fault.1) == (Place::Half, 2 * lane + prime))
            {
                // Digits have 51 bits or 52.
                digits[bit / 52] ^= 1 << (bit % 51);
                FAULT.set(None);
            }
        })
    }

    pub fn pass(place: Place, mut numbers: Numbers) -> Numbers {
        if let Some((_, i, bit)) = FAULT.get().filter(|fault| fault.0 == place) {
            numbers[i][bit / 64] ^= 1 << (bit % 64);
            FAULT.set(None);
        }
        if place == Place::Recomputed {
            RECOMPUTED.set(RECOMPUTED.get() + numbers.len());
            if RECOMPUTATION.get() {
                (0..numbers.len()).for_each(|i| numbers[i][0] ^= 2);
            }
        }
        numbers
    }
}
