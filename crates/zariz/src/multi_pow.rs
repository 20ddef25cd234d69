//! Products of several powers.

use std::fmt;

use zariz_kernels::limbs::Numbers;

use crate::backend::MultiPower;
use crate::dispatch::Route;
use crate::jobs;
use crate::modulus::{Modulus, in_groups};
use crate::zeroize_stack::zeroize_stack;

/// One product of powers to compute, `Π bases[i]^exponents[i]`; numbers are big-endian.
#[derive(Clone, Copy)]
pub struct MultiPowJob<'a> {
    /// The modulus, of any size and engine.
    pub modulus: &'a Modulus,
    /// Two to eight bases, of any length.
    pub bases: &'a [&'a [u8]],
    /// An exponent for each base, of any length. Squarings are done for the longest.
    pub exponents: &'a [&'a [u8]],
}

impl MultiPowJob<'_> {
    /// The fewest bases of a job. With one base, it is a [`PowJob`](crate::PowJob).
    pub const MIN_BASES: usize = 2;
    /// The most bases of a job.
    pub const MAX_BASES: usize = 8;
}

impl fmt::Debug for MultiPowJob<'_> {
    /// Shows lengths, not numbers: they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let lengths = |numbers: &[&[u8]]| numbers.iter().map(|number| number.len()).collect::<Vec<_>>();
        let (bases, exponents) = (lengths(self.bases), lengths(self.exponents));
        let mut job = f.debug_struct("MultiPowJob");
        job.field("modulus", self.modulus)
            .field("base_bytes", &bases)
            .field("exponent_bytes", &exponents)
            .finish()
    }
}

/// Why a product of powers cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiPowError {
    /// A job has fewer than two or more than eight bases.
    Bases {
        /// Its index in the list.
        job: usize,
        /// How many bases it has.
        bases: usize,
    },
    /// A job has not as many exponents as bases.
    Lengths {
        /// Its index in the list.
        job: usize,
        /// How many bases it has.
        bases: usize,
        /// How many exponents it has.
        exponents: usize,
    },
}

impl std::error::Error for MultiPowError {}

impl fmt::Display for MultiPowError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Bases { job, bases } => write!(
                f,
                "job {job} (counted from 0) has {bases} bases; a job needs {} to {}: use `pow_many` for one base, \
                 and several jobs and `mul_many` for more",
                MultiPowJob::MIN_BASES,
                MultiPowJob::MAX_BASES
            ),
            Self::Lengths { job, bases, exponents } => write!(
                f,
                "job {job} (counted from 0) has {bases} bases and {exponents} exponents; each base needs one exponent"
            ),
        }
    }
}

/// Many products of powers, each with its own modulus, bases and exponents; result `i` has the size of
/// modulus `i`. All powers of a product share their squarings (Straus 1964), so two cost about 1.2 times as
/// much as one.
///
/// Constant time: the time depends on lengths (leading zero bytes included) and on how many bases there are.
/// `0^0 = 1`. Jobs of similar size with equally many bases are computed together.
///
/// # Errors
/// A [`MultiPowError`] for the first job that has not 2 to 8 bases, or not an exponent for each; nothing is
/// computed then.
///
/// ```
/// use zariz::{Modulus, MultiPowJob, multi_pow_many};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let modulus = Modulus::new(&[35])?;
/// let job = MultiPowJob { modulus: &modulus, bases: &[&[2], &[3]], exponents: &[&[5], &[4]] };
/// assert_eq!(multi_pow_many(&[job])?, [[2]]); // 32·81 = 2592 = 74·35 + 2
/// # Ok(())
/// # }
/// ```
pub fn multi_pow_many(jobs: &[MultiPowJob]) -> Result<Vec<Vec<u8>>, MultiPowError> {
    zeroize_stack(|| run(jobs, jobs::multi_pow))
}

/// Like [`multi_pow_many`], for public exponents: faster if they are short, or the same for the whole batch
/// (several proofs for one statement). The time depends on them.
///
/// # Errors
/// As [`multi_pow_many`].
pub fn multi_pow_many_vartime(jobs: &[MultiPowJob]) -> Result<Vec<Vec<u8>>, MultiPowError> {
    run(jobs, jobs::multi_pow_vartime)
}

fn run(
    jobs: &[MultiPowJob],
    pow: impl Fn(Route, &[MultiPower]) -> Numbers,
) -> Result<Vec<Vec<u8>>, MultiPowError> {
    for (job, MultiPowJob { bases, exponents, .. }) in jobs.iter().enumerate() {
        let (bases, exponents) = (bases.len(), exponents.len());
        if !(MultiPowJob::MIN_BASES..=MultiPowJob::MAX_BASES).contains(&bases) {
            return Err(MultiPowError::Bases { job, bases });
        }
        if bases != exponents {
            return Err(MultiPowError::Lengths { job, bases, exponents });
        }
    }
    let limbs_of = |numbers: &[&[u8]]| Numbers::from_be_bytes(numbers.iter().copied());
    let numbers: Vec<_> = jobs.iter().map(|job| (limbs_of(job.bases), limbs_of(job.exponents))).collect();
    let slices = |numbers| Numbers::iter(numbers).collect::<Vec<_>>();
    let slices: Vec<_> =
        numbers.iter().map(|(bases, exponents)| (slices(bases), slices(exponents))).collect();
    let longest = |numbers: &[&[u8]]| numbers.iter().map(|number| 8 * number.len()).max().unwrap_or(0);
    let powers = |i: usize| MultiPower {
        modulus: &*jobs[i].modulus.prepared,
        bases: &slices[i].0,
        base_bits: longest(jobs[i].bases),
        exponents: &slices[i].1,
        exponent_bits: longest(jobs[i].exponents),
    };
    Ok(in_groups(jobs.len(), |i| jobs[i].modulus, powers, pow))
}
