//! Private operations that stay in the lanes of vectors, on a machine that the caller does not name.

use zariz_kernels::batch::{self, crt};
use zariz_kernels::limbs::Numbers;

use super::{Arithmetic, Lanes, counts};
use crate::prepared::Prepared;

/// The numbers of a key.
pub(crate) type KeyNumbers<'a> = crt::Key<'a, Prepared>;

/// Private operations with a key in each lane.
pub(crate) trait PrivateOperations {
    /// See [`crt::Private::raise`].
    fn raise(&mut self, numbers: &[&[u64]], pairs: &mut [crt::Pair], change: Option<crt::Change>) -> Numbers;
    /// See [`crt::Private::open_vartime`].
    fn open_vartime(&mut self, numbers: &[&[u64]], e: &[u64]) -> Numbers;
}

/// Operations of keys that fill the lanes and may share a batch.
pub(super) fn in_lanes<'a, M: batch::Kernels>(
    machine: Lanes<M>,
    keys: &[KeyNumbers<'a>],
) -> Option<Box<dyn PrivateOperations + 'a>> {
    if M::LANES == 1 || keys.len() < M::LANES {
        return None;
    }
    let constants = |modulus: &'a Prepared| machine.constants(modulus, M::LANES);
    let prime = |it: &crt::Prime<'a, Prepared>| crt::Prime {
        modulus: constants(it.modulus),
        exponent: it.exponent,
        unit: it.unit,
    };
    let key =
        |it: &KeyNumbers<'a>| crt::Key { modulus: constants(it.modulus), primes: it.primes.each_ref().map(prime) };
    let keys: Vec<_> = keys.iter().map(key).collect();
    crt::Private::<M>::fits(&keys).then(|| {
        let operations = machine.held(|| crt::Private::new(machine.0, keys));
        Box::new(Held { machine, operations }) as Box<dyn PrivateOperations + 'a>
    })
}

/// Operations, and the machine whose floating-point environment they need.
struct Held<'a, M: batch::Kernels> {
    machine: Lanes<M>,
    operations: crt::Private<'a, M>,
}

impl<M: batch::Kernels> PrivateOperations for Held<'_, M> {
    fn raise(&mut self, numbers: &[&[u64]], pairs: &mut [crt::Pair], change: Option<crt::Change>) -> Numbers {
        counts::powers(2 * numbers.len());
        self.machine.held(|| self.operations.raise(numbers, pairs, change))
    }
    fn open_vartime(&mut self, numbers: &[&[u64]], e: &[u64]) -> Numbers {
        self.machine.held(|| self.operations.open_vartime(numbers, e))
    }
}
