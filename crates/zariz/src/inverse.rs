//! Inverses modulo odd numbers.

use std::collections::HashMap;
use std::fmt;

use zariz_kernels::invert as inverses;
use zariz_kernels::limbs::{self, Limbs, Numbers};

use crate::backend;
use crate::declassify;
use crate::dispatch::{Dispatch, Route};
use crate::modulus::Modulus;
use crate::prepared::Prepared;

/// One number to invert, big-endian.
#[derive(Clone, Copy)]
pub struct InvertJob<'a> {
    /// The modulus, of any size and engine.
    pub modulus: &'a Modulus,
    /// The number, of any length.
    pub number: &'a [u8],
}

impl<'a> InvertJob<'a> {
    /// A number to invert modulo a modulus.
    pub fn new(modulus: &'a Modulus, number: &'a [u8]) -> Self {
        Self { modulus, number }
    }
}

impl fmt::Debug for InvertJob<'_> {
    /// Shows the length, not the number: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut job = f.debug_struct("InvertJob");
        job.field("modulus", self.modulus).field("number_bytes", &self.number.len()).finish()
    }
}

impl Modulus {
    /// The inverse of each number, big-endian; results are in order and have [`size`](Self::size) bytes. A
    /// number has none (`None`) if it shares a factor with the modulus, as 0 does.
    ///
    /// Numbers above the modulus are reduced. All numbers together need one inversion (Montgomery's trick),
    /// and each some products. Where a number has no inverse, halves of the list are tried: up to two
    /// inversions more for each halving, until it is found.
    ///
    /// Constant time: the time depends on lengths (leading zero bytes included), and on which numbers have no
    /// inverse.
    ///
    /// ```
    /// use zariz::Modulus;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let modulus = Modulus::new(&[35])?;
    /// let inverses = modulus.invert_batch(&[&[2], &[7], &[3]]);
    /// assert_eq!(inverses, [Some(vec![18]), None, Some(vec![12])]); // 2·18 = 3·12 = 36
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn invert_batch(&self, numbers: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let bits = numbers.iter().map(|number| 8 * number.len()).max().unwrap_or(0);
        let numbers = Numbers::from_be_bytes(numbers.iter().copied());
        let numbers: Vec<&[u64]> = numbers.iter().collect();
        let inverses = invert(self.route, &self.prepared, &numbers, bits);
        inverses.into_iter().map(|inverse| inverse.map(|inverse| self.to_bytes(&inverse))).collect()
    }
}

/// Many inverses, each with its own modulus; result `i` has the size of modulus `i`. Jobs with one
/// [`Modulus`], or clones of it, need one inversion together; otherwise like [`Modulus::invert_batch`].
///
/// ```
/// use zariz::{InvertJob, Modulus, invert_many};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (a, b) = (Modulus::new(&[35])?, Modulus::new(&[11])?);
/// let jobs = [InvertJob { modulus: &a, number: &[2] }, InvertJob { modulus: &b, number: &[2] }];
/// assert_eq!(invert_many(&jobs), [Some(vec![18]), Some(vec![6])]);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn invert_many(jobs: &[InvertJob]) -> Vec<Option<Vec<u8>>> {
    // In the order of the jobs. Clones share what is prepared of a modulus.
    let mut groups: Vec<(&Modulus, Vec<usize>)> = Vec::new();
    let mut places: HashMap<(*const Prepared, Dispatch), usize> = HashMap::new();
    for (i, InvertJob { modulus, .. }) in jobs.iter().enumerate() {
        let place = *places.entry((&*modulus.prepared, modulus.route.dispatch)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, mine)) => mine.push(i),
            None => groups.push((modulus, vec![i])),
        }
    }
    let mut out = vec![None; jobs.len()];
    for (modulus, mine) in groups {
        let numbers: Vec<&[u8]> = mine.iter().map(|&i| jobs[i].number).collect();
        for (i, inverse) in mine.into_iter().zip(modulus.invert_batch(&numbers)) {
            out[i] = inverse;
        }
    }
    out
}

/// The inverses of numbers of at most `bits` bits: of all at once, or where that fails, of each half.
pub(crate) fn invert(
    route: Route,
    modulus: &Prepared,
    numbers: &[&[u64]],
    bits: usize,
) -> Vec<Option<Limbs>> {
    match numbers {
        [] => Vec::new(),
        [number] => vec![inverse_of(modulus, &limbs::rem(number, modulus.limbs()))],
        _ => match invert_all(route, modulus, numbers, bits, |number| inverse_of(modulus, number)) {
            Some(inverses) => inverses.iter().map(|inverse| Some(Limbs::new(inverse.to_vec()))).collect(),
            None => {
                let (lower, upper) = numbers.split_at(numbers.len() / 2);
                let mut out = invert(route, modulus, lower, bits);
                out.extend(invert(route, modulus, upper, bits));
                out
            }
        },
    }
}

/// The inverses of numbers with one inversion; `None` where one of them has none.
fn invert_all(
    route: Route,
    modulus: &Prepared,
    numbers: &[&[u64]],
    bits: usize,
    inverse: impl FnOnce(&[u64]) -> Option<Limbs>,
) -> Option<Numbers> {
    let backend = route.machine(modulus);
    let _default = backend::default_mxcsr(backend);
    let mut montgomery = backend::repeated(backend, modulus, numbers.len());
    inverses::invert(&mut *montgomery, numbers, bits, inverse)
}

/// The inverse of a number below the modulus, if it has one. Only whether there is one shows in the time.
fn inverse_of(modulus: &Prepared, number: &[u64]) -> Option<Limbs> {
    let (gcd, inverse) = limbs::gcd_inverse(number, modulus.limbs());
    declassify::has_inverse(limbs::equal(&gcd, &[1])).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::Engine;

    /// Results are right without it, too: halves of the list would be tried, down to single numbers.
    #[test]
    fn numbers_with_inverses_need_one_inversion() {
        let powers: Vec<_> = (0..19).map(|i| [1 << i]).collect();
        let numbers: Vec<&[u64]> = powers.iter().map(|power| &power[..]).collect();
        for engine in Engine::ALL.iter().copied().filter(|engine| engine.is_available()) {
            let Modulus { prepared, route, .. } =
                Modulus::new(&[0xff; 40]).expect("odd").with_engine(engine).expect("available");
            for count in [2, 5, 19] {
                let inversions = Cell::new(0);
                let inverse = |number: &[u64]| {
                    inversions.set(inversions.get() + 1);
                    inverse_of(&prepared, number)
                };
                let inverses = invert_all(route, &prepared, &numbers[..count], 64, inverse);
                assert_eq!((inverses.map(|all| all.len()), inversions.get()), (Some(count), 1), "{engine}");
            }
        }
    }
}
