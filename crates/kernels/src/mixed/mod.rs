//! Two numbers at once, each with its own modulus: one across vectors by [`rsaz`], the other in limbs as by
//! [`scalar`], in one stream of instructions.
//!
//! A processor whose vectors have units of their own computes both in little more than the time of one. It
//! looks ahead for less than a row of both, so the streams are mixed finely: the loops of RSAZ call a step of
//! the other number after every few products ([`rsaz::Beside`]). What one number is does not change what is
//! computed of the other, nor when.
//!
//! # Bounds
//!
//! Those of [`rsaz`] for the first number, and of [`scalar`] for the second.

mod context;

pub use context::Context;

use crate::rsaz::{self, Workspace};
use crate::scalar;

/// The longest moduli, in bits: as many as primes of the usual keys have.
pub const MAX_BITS: usize = 2048;

/// The compiled kernels of one machine.
pub trait Kernels: Copy + Send + Sync + 'static {
    /// The machine of the number across vectors.
    type Vectors: rsaz::Kernels;
    /// The machine of the number in limbs.
    type Limbs: scalar::Kernels;
    /// The number in limbs, its modulus, and the steps of its products. Zeroised when dropped.
    type Steps: Send + Sync;

    /// The machine of the number across vectors.
    fn vectors(self) -> Self::Vectors;
    /// The machine of the number in limbs.
    fn limbs(self) -> Self::Limbs;

    /// Prepares for numbers in limbs modulo `m`, with `mu = −m^{−1} mod 2^64`, beside numbers of `groups`
    /// fours of digits.
    fn steps(self, m: &[u64], mu: u64, groups: usize) -> Self::Steps;

    /// [`rsaz::multiply()`], and `a ← a·b·R^{−1}`: as [`scalar::Kernels::reduce`] leaves it.
    fn multiply(
        self,
        space: &mut Workspace<Self::Vectors>,
        x: &mut [<Self::Vectors as rsaz::Machine>::Digit],
        y: &[<Self::Vectors as rsaz::Machine>::Digit],
        steps: &mut Self::Steps,
        a: &mut [u64],
        b: &[u64],
    );

    /// [`rsaz::square()`], and `a ← a²·R^{−1}`, `times` times.
    fn square(
        self,
        space: &mut Workspace<Self::Vectors>,
        x: &mut [<Self::Vectors as rsaz::Machine>::Digit],
        times: usize,
        steps: &mut Self::Steps,
        a: &mut [u64],
    );
}
