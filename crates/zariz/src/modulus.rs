//! Powers modulo an odd number.

use std::fmt;
use std::sync::Arc;

use zariz_kernels::batch::{Constants, MAX_DIGITS};
use zariz_kernels::limbs::{self, Numbers};
use zeroize::ZeroizeOnDrop;

use crate::backend::Power;
use crate::dispatch::{self, Dispatch, Route};
use crate::engine::{Engine, EngineError};
use crate::jobs;
use crate::method::Method;
use crate::prepared::Prepared;
use crate::zeroize_stack::zeroize_stack;

/// An odd modulus, prepared for many powers. Cheap to clone.
///
/// ```
/// use zariz::Modulus;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let modulus = Modulus::new(&[35])?;
/// assert_eq!(modulus.pow(&[2], &[10]), [9]); // 1024 = 29·35 + 9
/// assert_eq!(modulus.pow_batch(&[&[2], &[3]], &[10]), [[9], [4]]);
/// # Ok(())
/// # }
/// ```
///
/// The modulus may be secret: only its bit length shows in the time that operations take. It is zeroised when
/// the last clone is dropped.
#[derive(Clone)]
pub struct Modulus {
    pub(crate) route: Route,
    pub(crate) prepared: Arc<Prepared>,
}

/// Why a number cannot be a modulus.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModulusError {
    /// The modulus is zero.
    Zero,
    /// The modulus is one.
    One,
    /// The modulus is even: Montgomery's method needs an odd one.
    Even,
    /// The modulus is longer than [`Modulus::MAX_BITS`].
    TooLong {
        /// Its length in bits.
        bits: usize,
    },
}

impl std::error::Error for ModulusError {}

impl fmt::Display for ModulusError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("the modulus is zero; it must be odd and at least 3"),
            Self::One => f.write_str("the modulus is one; it must be odd and at least 3"),
            Self::Even => f.write_str("the modulus is even; it must be odd"),
            Self::TooLong { bits } => {
                write!(f, "the modulus has {bits} bits; at most {} are supported", Modulus::MAX_BITS)
            }
        }
    }
}

/// When the last clone is dropped.
impl ZeroizeOnDrop for Modulus {}

impl fmt::Debug for Modulus {
    /// Shows the length of the modulus, not its value: it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Modulus")
            .field("bits", &self.bits())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl Modulus {
    /// The length of the longest modulus, in bits.
    pub const MAX_BITS: usize = {
        const BITS: usize = 16_384;
        // The shortest digits of any machine have 51 bits.
        assert!(Constants::digits_for(BITS, 51) <= MAX_DIGITS);
        BITS
    };

    /// Prepares a big-endian modulus for [`Dispatch::Auto`].
    ///
    /// # Errors
    /// A [`ModulusError`] says why the number cannot be a modulus.
    pub fn new(modulus: &[u8]) -> Result<Self, ModulusError> {
        let limbs = limbs::from_be_bytes(modulus);
        let bits = limbs::bits_vartime(&limbs);
        match bits {
            0 => return Err(ModulusError::Zero),
            1 => return Err(ModulusError::One),
            _ if limbs[0] & 1 == 0 => return Err(ModulusError::Even),
            bits if bits > Self::MAX_BITS => return Err(ModulusError::TooLong { bits }),
            _ => {}
        }
        Ok(Self { route: Route::default(), prepared: Arc::new(Prepared::new(&limbs, bits)) })
    }

    /// A copy of the modulus for another [`Engine`] or [`Dispatch`]. Nothing is computed: the copy shares
    /// what is already prepared.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] where this processor cannot run the engine.
    pub fn with_engine(&self, engine: impl Into<Dispatch>) -> Result<Self, EngineError> {
        Ok(Self { route: Route::new(engine.into())?, prepared: Arc::clone(&self.prepared) })
    }

    /// A copy of the modulus with another method for powers; `None` is the default, the fastest method known.
    /// With a method of the caller's choice, the main engine computes everything, for any number of powers.
    #[doc(hidden)]
    #[must_use]
    pub fn with_method(&self, method: impl Into<Option<Method>>) -> Self {
        let method = method.into().map(|method| method.0);
        if method == self.prepared.method() {
            return self.clone();
        }
        Self { route: self.route, prepared: Arc::new(self.prepared.with_method(method)) }
    }

    /// The method for powers.
    #[doc(hidden)]
    pub fn method(&self) -> Method {
        Method(self.route.method(&self.prepared))
    }

    /// The modulus's length in bits.
    pub fn bits(&self) -> usize {
        self.prepared.bits()
    }

    /// The length of every result in bytes: `⌈bits/8⌉`.
    pub fn size(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// How work is shared out between engines: what [`with_engine`](Self::with_engine) took, else
    /// [`Dispatch::Auto`].
    pub fn dispatch(&self) -> Dispatch {
        self.route.dispatch
    }

    /// The engine that computes when there is enough work for all of its lanes.
    pub fn engine(&self) -> Engine {
        self.route.engine()
    }

    /// `base^exponent mod modulus`, all big-endian; the result has [`size`](Self::size) bytes.
    ///
    /// A base above the modulus is reduced; `0^0 = 1`. Constant time: the time depends on the lengths of
    /// modulus, base and exponent (leading zero bytes included), not on their values. A secret result is the
    /// caller's to wipe.
    #[must_use]
    pub fn pow(&self, base: &[u8], exponent: &[u8]) -> Vec<u8> {
        self.pow_batch(&[base], exponent).swap_remove(0)
    }

    /// Like [`pow`](Self::pow), for a public exponent: faster, in time that depends on the exponent.
    #[must_use]
    pub fn pow_vartime(&self, base: &[u8], exponent: &[u8]) -> Vec<u8> {
        self.pow_batch_vartime(&[base], exponent).swap_remove(0)
    }

    /// [`pow`](Self::pow) of many bases, results in order. Several at once cost less than one by one.
    #[must_use]
    pub fn pow_batch(&self, bases: &[&[u8]], exponent: &[u8]) -> Vec<Vec<u8>> {
        pow_many(&self.jobs(bases, exponent))
    }

    /// Like [`pow_batch`](Self::pow_batch), for a public exponent: faster, in time that depends on the
    /// exponent.
    #[must_use]
    pub fn pow_batch_vartime(&self, bases: &[&[u8]], exponent: &[u8]) -> Vec<Vec<u8>> {
        pow_many_vartime(&self.jobs(bases, exponent))
    }

    /// A number below the modulus, big-endian and as long as the modulus.
    pub(crate) fn to_bytes(&self, number: &[u64]) -> Vec<u8> {
        let mut out = vec![0; self.size()];
        limbs::to_be_bytes(number, &mut out);
        out
    }

    fn jobs<'a>(&'a self, bases: &[&'a [u8]], exponent: &'a [u8]) -> Vec<PowJob<'a>> {
        bases.iter().map(|&base| PowJob { modulus: self, base, exponent }).collect()
    }
}

/// One power to compute; numbers are big-endian.
#[derive(Clone, Copy)]
pub struct PowJob<'a> {
    /// The modulus, of any size and engine.
    pub modulus: &'a Modulus,
    /// The base, of any length.
    pub base: &'a [u8],
    /// The exponent, of any length.
    pub exponent: &'a [u8],
}

impl fmt::Debug for PowJob<'_> {
    /// Shows lengths, not numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (base, exponent) = (self.base.len(), self.exponent.len());
        let mut job = f.debug_struct("PowJob");
        job.field("modulus", self.modulus)
            .field("base_bytes", &base)
            .field("exponent_bytes", &exponent)
            .finish()
    }
}

/// Many powers, each with its own modulus, base and exponent; result `i` has the size of modulus `i`.
///
/// Constant time, like [`Modulus::pow`]. Jobs of similar size are computed together. Sizes may be mixed:
/// lanes stay empty only where fewer jobs of one size are left than an engine has lanes.
///
/// ```
/// use zariz::{Modulus, PowJob, pow_many};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (a, b) = (Modulus::new(&[35])?, Modulus::new(&[0xff; 128])?);
/// let jobs = [
///     PowJob { modulus: &a, base: &[2], exponent: &[10] },
///     PowJob { modulus: &b, base: &[3], exponent: &[2] },
/// ];
/// let powers = pow_many(&jobs);
/// assert_eq!((powers[0][0], powers[1][127]), (9, 9));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn pow_many(jobs: &[PowJob]) -> Vec<Vec<u8>> {
    zeroize_stack(|| run(jobs, jobs::pow))
}

/// Like [`pow_many`], for public exponents: faster if they are short, or the same for the whole batch. The
/// time depends on them.
#[must_use]
pub fn pow_many_vartime(jobs: &[PowJob]) -> Vec<Vec<u8>> {
    run(jobs, jobs::pow_vartime)
}

fn run(jobs: &[PowJob], pow: impl Fn(Route, &[Power]) -> Numbers) -> Vec<Vec<u8>> {
    let bases = Numbers::from_be_bytes(jobs.iter().map(|job| job.base));
    let exponents = Numbers::from_be_bytes(jobs.iter().map(|job| job.exponent));
    let power = |i: usize| Power {
        modulus: &*jobs[i].modulus.prepared,
        base: &bases[i],
        base_bits: 8 * jobs[i].base.len(),
        exponent: &exponents[i],
        exponent_bits: 8 * jobs[i].exponent.len(),
    };
    in_groups(jobs.len(), |i| jobs[i].modulus, power, pow)
}

/// The results of `count` jobs, as bytes and in order; those of one dispatch are computed together.
pub(crate) fn in_groups<'a, J>(
    count: usize,
    modulus: impl Fn(usize) -> &'a Modulus,
    job: impl Fn(usize) -> J,
    compute: impl Fn(Route, &[J]) -> Numbers,
) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new(); count];
    for (_, mine) in dispatch::groups(count, |i| modulus(i).route.dispatch) {
        let jobs: Vec<J> = mine.iter().map(|&i| job(i)).collect();
        for (&i, result) in mine.iter().zip(compute(modulus(mine[0]).route, &jobs).iter()) {
            out[i] = modulus(i).to_bytes(result);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::{self, Counts};

    #[test]
    fn the_first_power_makes_no_other() {
        for bits in (256..2048).step_by(64) {
            let modulus = Modulus::new(&vec![0xff; bits / 8]).expect("an odd number");
            let (_, first) = counts::of(|| modulus.pow(&[3], &[5]));
            assert_eq!(first, Counts { powers: 1, products: 0 }, "the first power of {bits} bits");
        }
    }
}
