//! The private operation with a request in every lane of a machine: numbers enter lanes once and leave them once.

use zariz_kernels::batch::crt::{self, Pair};
use zariz_kernels::limbs::{self, Numbers};

use super::super::blinding::Blind;
use super::super::crt::Request;
use super::super::fault::{self, Place};
use super::super::private::{Prime, PrivateKey};
use super::{Checked, are_right};
use crate::backend::{KeyNumbers, PrivateOperations, are_same};

/// The operations of some keys, which the next requests may have too.
pub(super) type Kept<'a> = Option<(Vec<&'a PrivateKey>, Box<dyn PrivateOperations + 'a>)>;

/// Like [`attempt`](super::attempt), and squares the pairs. `None` if the requests do not fill the lanes of their
/// machine, cannot share a batch, or have different public exponents: then the pairs are as they were.
///
/// What was `kept` is used if it is of the same keys, in the same lanes. It is kept again if all results are right;
/// after a wrong one it is dropped, for its numbers may be damaged.
pub(super) fn attempt<'a>(
    requests: &[Request<'a>],
    copies: &[&[u64]],
    pairs: &mut [Blind],
    kept: &mut Kept<'a>,
) -> Option<Box<Checked>> {
    let (first, _) = requests.first()?;
    let e = first.public.exponent();
    if !requests.iter().all(|(key, _)| limbs::equal(key.public.exponent(), e)) {
        return None;
    }
    let keys: Vec<_> = requests.iter().map(|&(key, _)| key).collect();
    let mut operations = match take(kept, &keys) {
        Some(operations) => operations,
        None => {
            first.route().machine(first.public.modulus()).private(&keys.iter().map(numbers_of).collect::<Vec<_>>())?
        }
    };

    let numbers: Vec<_> = requests.iter().map(|&(_, x)| x).collect();
    let pairs = pairs.iter_mut().map(|Blind { mask, unmask, .. }| Pair { mask, unmask });
    let mut pairs: Vec<_> = pairs.collect();
    let mut change = fault::halves();
    let change = change.as_mut().map(|change| change as crt::Change);
    let results = fault::pass(Place::Unmasked, raise(&mut *operations, &numbers, &mut pairs, change));

    let checked = results.clone();
    let results = fault::pass(Place::Checked, results);
    let opened = open_vartime(&mut *operations, &checked.iter().collect::<Vec<_>>(), e);
    let checked = are_right(requests, copies, [results, checked], &opened);
    if checked.good.iter().all(|good| *good) {
        *kept = Some((keys, operations));
    }
    Some(checked)
}

/// What was kept, if it is of these keys.
pub(super) fn take<'a>(kept: &mut Kept<'a>, keys: &[&PrivateKey]) -> Option<Box<dyn PrivateOperations + 'a>> {
    let (others, operations) = kept.take()?;
    are_same(&others, keys, PrivateKey::is_same).then_some(operations)
}

/// A function of its own, so that a debugger's interface sees where it begins and ends: `zariz-attacks` injects faults.
#[inline(never)]
fn raise(
    operations: &mut dyn PrivateOperations,
    x: &[&[u64]],
    pairs: &mut [Pair],
    change: Option<crt::Change>,
) -> Numbers {
    operations.raise(x, pairs, change)
}

/// Likewise.
#[inline(never)]
fn open_vartime(operations: &mut dyn PrivateOperations, y: &[&[u64]], e: &[u64]) -> Numbers {
    operations.open_vartime(y, e)
}

fn numbers_of<'a>(key: &&'a PrivateKey) -> KeyNumbers<'a> {
    let prime = |Prime { modulus, unit, exponent, .. }: &'a Prime| crt::Prime { modulus, unit, exponent };
    KeyNumbers { modulus: key.public.modulus(), primes: [&key.secret.p, &key.secret.q].map(prime) }
}
