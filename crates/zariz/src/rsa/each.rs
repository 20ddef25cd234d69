//! Batches in which some numbers may be missing.

use zariz_kernels::limbs::Limbs;

use super::error::Error;

/// Applies `all` to the numbers that are present, with each result in its place; the others keep their
/// errors. `all` returns one result for each number.
pub(super) fn each<'a, K>(
    numbers: &'a [(&'a K, Result<Limbs, Error>)],
    all: impl FnOnce(&[(&'a K, &'a [u64])]) -> Vec<Result<Limbs, Error>>,
) -> Vec<Result<Limbs, Error>> {
    let good: Vec<_> = numbers.iter().filter_map(|(key, number)| Some((*key, &number.as_ref().ok()?[..]))).collect();
    let mut results = all(&good).into_iter();
    let result = |number: &Result<Limbs, Error>| match number {
        Ok(_) => results.next().unwrap_or(Err(Error::Fault)),
        Err(error) => Err(*error),
    };
    numbers.iter().map(|(_, number)| number).map(result).collect()
}
