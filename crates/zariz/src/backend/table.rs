//! A table of a base's powers on a machine that the caller does not name.

use zariz_kernels::fixed_base::{self, Size, Table};
use zariz_kernels::limbs::Numbers;

use super::{Arithmetic, repeated_sharing};
use crate::prepared::Prepared;

/// The powers of one base modulo one modulus, for one machine.
pub(crate) trait PowerTable: Send + Sync {
    fn size(&self) -> Size;
    /// The bytes of its entries.
    fn bytes(&self) -> usize;
    /// Powers in constant time, any number of them. Preconditions: the modulus is the one that the table was
    /// made for, and `bits`, which bounds the exponents' lengths, is at most what it was made for.
    fn pow(&self, modulus: &Prepared, exponents: &[&[u64]], bits: usize) -> Numbers;
    /// Like [`pow`](Self::pow), for exponents that are public.
    fn pow_vartime(&self, modulus: &Prepared, exponents: &[&[u64]], bits: usize) -> Numbers;
}

pub(super) struct TableOf<A: Arithmetic> {
    machine: A,
    table: Table<A::Element>,
}

impl<A: Arithmetic> TableOf<A> {
    /// Precondition: the machine is [held](Arithmetic::held).
    pub fn new(machine: A, modulus: &Prepared, base: &[u64], base_bits: usize, size: Size) -> Self {
        let mut domain = repeated_sharing(machine, modulus, machine.lanes());
        Self { machine, table: fixed_base::build(&mut domain, base, base_bits, size) }
    }
}

impl<A: Arithmetic> PowerTable for TableOf<A> {
    fn size(&self) -> Size {
        self.table.size()
    }
    fn bytes(&self) -> usize {
        self.table.bytes()
    }
    fn pow(&self, modulus: &Prepared, exponents: &[&[u64]], bits: usize) -> Numbers {
        let domain = || repeated_sharing(self.machine, modulus, exponents.len());
        self.machine.held(|| fixed_base::pow(domain(), &self.table, exponents, bits))
    }
    fn pow_vartime(&self, modulus: &Prepared, exponents: &[&[u64]], bits: usize) -> Numbers {
        let domain = || repeated_sharing(self.machine, modulus, exponents.len());
        self.machine.held(|| fixed_base::pow_vartime(domain(), &self.table, exponents, bits))
    }
}
