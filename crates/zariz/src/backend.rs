//! A machine behind a `dyn` interface: whole batches in, canonical numbers out.

use zariz_kernels::limbs::Limbs;
use zariz_kernels::mul::{Product, mul};
use zariz_kernels::pow::{Power, pow, pow_vartime};
use zariz_kernels::{Constants, Lanes, Machine, Method};

use crate::batch::{Numbers, in_frame};

/// What the library asks of a machine. A batch holds from 1 to [`lanes`](Backend::lanes) jobs of one digit count.
pub(crate) trait Backend: Sync {
    fn lanes(&self) -> usize;
    fn digit_bits(&self) -> u32;
    fn method(&self, modulus: &Constants) -> Method;
    fn pow(&self, batch: &[Power]) -> Vec<Limbs>;
    fn pow_vartime(&self, batch: &[Power]) -> Vec<Limbs>;
    fn mul(&self, batch: &[Product]) -> Vec<Limbs>;
    fn numbers<'a>(&self, moduli: &[&'a Constants], x: &[&[u64]], y: &[&[u64]], bits: usize) -> Box<dyn Numbers + 'a>;
}

impl<M: Machine> Backend for M {
    fn lanes(&self) -> usize {
        <M as Lanes>::LANES
    }
    fn digit_bits(&self) -> u32 {
        <M as Lanes>::DIGIT_BITS
    }
    fn method(&self, modulus: &Constants) -> Method {
        Method::of::<M>(modulus)
    }
    fn pow(&self, batch: &[Power]) -> Vec<Limbs> {
        pow(*self, batch)
    }
    fn pow_vartime(&self, batch: &[Power]) -> Vec<Limbs> {
        pow_vartime(*self, batch)
    }
    fn mul(&self, batch: &[Product]) -> Vec<Limbs> {
        mul(*self, batch)
    }
    fn numbers<'a>(&self, moduli: &[&'a Constants], x: &[&[u64]], y: &[&[u64]], bits: usize) -> Box<dyn Numbers + 'a> {
        in_frame(*self, moduli, x, y, bits)
    }
}
