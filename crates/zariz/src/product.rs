//! Products modulo odd numbers.

use std::fmt;

use zariz_kernels::limbs::{self, Limbs, Numbers};

use crate::backend::Product;
use crate::jobs;
use crate::modulus::{Modulus, in_groups};

/// One product to compute; numbers are big-endian.
#[derive(Clone, Copy)]
pub struct MulJob<'a> {
    /// The modulus, of any size and engine.
    pub modulus: &'a Modulus,
    /// A factor, of any length.
    pub a: &'a [u8],
    /// A factor, of any length.
    pub b: &'a [u8],
}

impl fmt::Debug for MulJob<'_> {
    /// Shows lengths, not numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut job = f.debug_struct("MulJob");
        job.field("modulus", self.modulus)
            .field("a_bytes", &self.a.len())
            .field("b_bytes", &self.b.len())
            .finish()
    }
}

impl Modulus {
    /// The product of each pair, big-endian; results are in order and have [`size`](Self::size) bytes.
    ///
    /// Factors above the modulus are reduced. Constant time: the time depends on lengths (leading zero bytes
    /// included), not on values. For many products in a row, [`Residues`](crate::Residues) saves the
    /// conversions.
    #[must_use]
    pub fn mul_batch(&self, pairs: &[(&[u8], &[u8])]) -> Vec<Vec<u8>> {
        mul_many(&pairs.iter().map(|&(a, b)| MulJob { modulus: self, a, b }).collect::<Vec<_>>())
    }
}

/// Many products `a·b`, each with its own modulus; result `i` has the size of modulus `i`. Constant time,
/// like [`Modulus::mul_batch`].
///
/// ```
/// use zariz::{Modulus, MulJob, mul_many};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (a, b) = (Modulus::new(&[35])?, Modulus::new(&[0xff; 128])?);
/// let jobs = [MulJob { modulus: &a, a: &[6], b: &[7] }, MulJob { modulus: &b, a: &[6], b: &[7] }];
/// let products = mul_many(&jobs);
/// assert_eq!((products[0][0], products[1][127]), (7, 42));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn mul_many(jobs: &[MulJob]) -> Vec<Vec<u8>> {
    let a = Numbers::from_be_bytes(jobs.iter().map(|job| job.a));
    let b = Numbers::from_be_bytes(jobs.iter().map(|job| job.b));
    let reduced: Vec<Limbs> =
        jobs.iter().zip(b.iter()).map(|(job, b)| limbs::rem(b, job.modulus.prepared.limbs())).collect();
    let product = |i: usize| Product {
        modulus: &*jobs[i].modulus.prepared,
        a: &a[i],
        a_bits: 8 * jobs[i].a.len(),
        b: &reduced[i],
    };
    in_groups(jobs.len(), |i| jobs[i].modulus, product, jobs::mul)
}
