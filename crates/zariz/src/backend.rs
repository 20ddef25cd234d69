//! A machine behind a `dyn` interface: whole batches in, canonical numbers out.

use zariz_kernels::limbs::Limbs;
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::{Constants, Frame, Lanes, Machine, Method};

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
        pow::pow(Frame::new(*self, &pow::moduli(batch)), batch)
    }
    fn pow_vartime(&self, batch: &[Power]) -> Vec<Limbs> {
        pow::pow_vartime(Frame::new(*self, &pow::moduli(batch)), batch)
    }
    fn mul(&self, batch: &[Product]) -> Vec<Limbs> {
        mul::mul(Frame::new(*self, &mul::moduli(batch)), batch)
    }
    fn numbers<'a>(&self, moduli: &[&'a Constants], x: &[&[u64]], y: &[&[u64]], bits: usize) -> Box<dyn Numbers + 'a> {
        in_frame(*self, moduli, x, y, bits)
    }
}
