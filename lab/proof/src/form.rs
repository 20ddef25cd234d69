//! Polynomials of degree two over the words of a run, with integer coefficients.

use num_bigint::BigInt;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A word, a carry or a borrow: a number that the run names once and never changes. 0 names the number 1.
pub type Id = u32;

/// A product of two numbers, the smaller name first; `(0, x)` is `x`, and `(0, 0)` is 1.
pub type Monomial = (Id, Id);

/// A sum of monomials. No coefficient is 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Form(pub BTreeMap<Monomial, BigInt>);

/// `2^(64·limbs)`.
pub fn radix(limbs: usize) -> BigInt {
    BigInt::from(1) << (64 * limbs)
}

impl Form {
    /// Adds a monomial.
    pub fn add(&mut self, monomial: Monomial, coefficient: BigInt) {
        if coefficient == BigInt::ZERO {
            return;
        }
        match self.0.entry(monomial) {
            Entry::Vacant(entry) => _ = entry.insert(coefficient),
            Entry::Occupied(mut entry) => {
                *entry.get_mut() += coefficient;
                if *entry.get() == BigInt::ZERO {
                    entry.remove();
                }
            }
        }
    }

    /// Adds a multiple of another form.
    pub fn add_scaled(&mut self, other: &Form, factor: &BigInt) {
        for (monomial, coefficient) in &other.0 {
            self.add(*monomial, coefficient * factor);
        }
    }

    /// Multiplies by a number.
    pub fn scale(&mut self, factor: &BigInt) {
        self.0.values_mut().for_each(|coefficient| *coefficient *= factor);
    }

    /// Takes a linear term out; its coefficient.
    pub fn take(&mut self, id: Id) -> BigInt {
        self.0.remove(&(0, id)).unwrap_or_default()
    }

    /// The linear term with the greatest name below `limit`.
    pub fn last_linear(&self, limit: Id) -> Option<Id> {
        (limit > 1).then(|| self.0.range((0, 1)..(0, limit)).next_back().map(|((_, id), _)| *id))?
    }
}
