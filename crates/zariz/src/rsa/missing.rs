//! Batches in which some numbers may be missing: the caller gets an error in place of each.

use zariz_kernels::limbs::Numbers;

use super::error::Error;

/// The numbers, given by big-endian bytes; those that are missing have no limbs.
pub(super) fn numbers<'a, B: AsRef<[u8]> + 'a>(
    given: impl Iterator<Item = &'a Result<B, Error>> + Clone,
) -> Numbers {
    Numbers::from_be_bytes(given.map(|number| number.as_ref().map_or(&[][..], B::as_ref)))
}

/// Results before anything is computed: the error of each number that is missing, and [`Error::Fault`] for
/// the others.
pub(super) fn results<'a, B: 'a, T>(
    given: impl Iterator<Item = &'a Result<B, Error>>,
) -> Vec<Result<T, Error>> {
    given.map(|number| Err(number.as_ref().err().copied().unwrap_or(Error::Fault))).collect()
}
