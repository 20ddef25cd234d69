//! Batches in which some numbers may be missing.

use std::ptr;

use zariz_kernels::limbs::Limbs;

use super::error::Error;

/// Applies `all` to the numbers that are present, with each result in its place; the others keep their
/// errors. `all` returns one result for each number.
pub(super) fn each<'a, K>(
    numbers: &'a [(&'a K, Result<Limbs, Error>)],
    all: impl FnOnce(&[(&'a K, &'a [u64])]) -> Vec<Result<Limbs, Error>>,
) -> Vec<Result<Limbs, Error>> {
    let good: Vec<_> = numbers.iter().filter_map(|(key, number)| Some((*key, &number.as_ref().ok()?[..]))).collect();
    let results = all(&good);
    place(numbers, &good, results)
}

/// The results of `good` in the places of their numbers.
fn place<K>(
    numbers: &[(&K, Result<Limbs, Error>)],
    good: &[(&K, &[u64])],
    results: Vec<Result<Limbs, Error>>,
) -> Vec<Result<Limbs, Error>> {
    let mut results = good.iter().zip(results);
    let result = |(key, number): &(&K, Result<Limbs, Error>)| match number {
        // If a fault has made an error of a number meanwhile, the results after it would be those of others. If it has
        // changed which key the caller sees, the result would get another length.
        Ok(number) => match results.next() {
            Some(((used, entered), result)) if ptr::eq(*entered, &number[..]) && ptr::eq(*used, *key) => result,
            _ => Err(Error::Fault),
        },
        Err(error) => Err(*error),
    };
    numbers.iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_other_numbers_and_keys_are_withheld() {
        let number = |limb: u64| Limbs::new(vec![limb]);
        let [key, other] = [&1, &2];
        let numbers = [(key, Ok(number(1))), (key, Err(Error::Random)), (key, Ok(number(1)))];
        let [first, _, last] = numbers.each_ref().map(|(_, number)| number.as_deref().map_or(&[][..], |limbs| limbs));
        let results = || vec![Ok(number(2)), Ok(number(3))];
        let placed = place(&numbers, &[(key, first), (key, last)], results());
        assert_eq!(placed, [Ok(number(2)), Err(Error::Random), Ok(number(3))]);
        let placed = place(&numbers, &[(key, last), (key, last)], results());
        assert_eq!(placed, [Err(Error::Fault), Err(Error::Random), Ok(number(3))]);
        let placed = place(&numbers, &[(other, first), (key, last)], results());
        assert_eq!(placed, [Err(Error::Fault), Err(Error::Random), Ok(number(3))]);
    }
}
