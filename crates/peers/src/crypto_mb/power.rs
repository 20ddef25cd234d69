//! Powers of eight numbers at once, each with its own exponent and modulus.

use std::ffi::c_int;
use std::ptr::{null, null_mut};

use super::{Api, CryptoMb, LANES, check, scratch};
use crate::error::{Error, exponent, fitting, modulus, operand};
use crate::limbs::{bytes, limbs};

/// The function of powers.
pub(super) const FUNCTION: &str = "mbx_exp_mb8";

/// A power to compute, in big-endian numbers.
#[derive(Clone, Copy)]
pub struct PowerJob<'a> {
    /// At least 1 and below the modulus.
    pub base: &'a [u8],
    /// At least 1, and at most as long as the modulus.
    pub exponent: &'a [u8],
    /// Odd, and as long as those of all other jobs.
    pub modulus: &'a [u8],
}

/// A job's numbers in limbs, all as many as the modulus has.
struct Prepared {
    base: Vec<u64>,
    exponent: Vec<u64>,
    modulus: Vec<u64>,
    result: Vec<u64>,
}

/// Many powers in constant time, eight in each call: `mbx_exp_mb8`.
pub struct CryptoMbPowers {
    api: Api,
    /// Bits of every modulus, and of the longest exponent.
    bits: c_int,
    exponent_bits: c_int,
    jobs: Vec<Prepared>,
    /// One for all calls.
    scratch: Vec<u8>,
    scratch_bytes: c_int,
}

impl CryptoMbPowers {
    /// Computes all powers.
    pub fn compute(&mut self) -> Result<(), Error> {
        for jobs in self.jobs.chunks_mut(LANES) {
            let (mut to, mut base) = ([null_mut(); LANES], [null(); LANES]);
            let (mut exponent, mut modulus) = (base, base);
            for (lane, job) in jobs.iter_mut().enumerate() {
                to[lane] = job.result.as_mut_ptr();
                (base[lane], exponent[lane]) = (job.base.as_ptr(), job.exponent.as_ptr());
                modulus[lane] = job.modulus.as_ptr();
            }
            let (bits, scratch) = (self.bits, self.scratch.as_mut_ptr());
            // SAFETY: each number of a job has as many limbs as `bits` need, and exponents have no more bits,
            // by `CryptoMb::powers`; the pointers of other lanes are null; the scratch space has the length
            // that `mbx_exp_BufferSize` requires. All are apart.
            let statuses = unsafe {
                let exponent_bits = self.exponent_bits;
                (self.api.power)(
                    &to,
                    &base,
                    &exponent,
                    exponent_bits,
                    &modulus,
                    bits,
                    scratch,
                    self.scratch_bytes,
                )
            };
            check(FUNCTION, statuses, jobs.len())?;
        }
        Ok(())
    }

    /// The last results, big-endian, in whole limbs; zeros before the first.
    pub fn values(&self) -> Vec<Vec<u8>> {
        self.jobs.iter().map(|job| bytes(&job.result)).collect()
    }
}

impl CryptoMb {
    /// Prepares powers. All moduli have the same length, at most 4096 bits.
    pub fn powers(&self, jobs: &[PowerJob]) -> Result<CryptoMbPowers, Error> {
        let first = modulus(jobs.first().ok_or(Error::Length)?.modulus)?;
        let (bits, count) = (bit_length(first), first.len().div_ceil(8));
        let mut exponent_bits = 0;
        let mut prepared = Vec::new();
        for job in jobs {
            let modulus = modulus(job.modulus)?;
            let exponent = fitting(exponent(job.exponent)?, first.len())?;
            exponent_bits = exponent_bits.max(bit_length(exponent));
            if bit_length(modulus) != bits || exponent_bits > bits {
                return Err(Error::Length);
            }
            prepared.push(Prepared {
                base: limbs(operand(job.base, modulus)?, count),
                exponent: limbs(exponent, count),
                modulus: limbs(modulus, count),
                result: vec![0; count],
            });
        }
        let c_bits = c_int::try_from(bits).ok().filter(|&bits| bits <= 4096).ok_or(Error::Bits(bits))?;
        // SAFETY: a function of numbers alone.
        let scratch_bytes = unsafe { (self.api.power_buffer_size)(c_bits) };
        Ok(CryptoMbPowers {
            api: self.api,
            bits: c_bits,
            exponent_bits: c_int::try_from(exponent_bits).map_err(|_| Error::TooLong)?,
            jobs: prepared,
            scratch: scratch(scratch_bytes, FUNCTION)?,
            scratch_bytes,
        })
    }
}

/// Bits of a number without leading zeros.
fn bit_length(number: &[u8]) -> usize {
    8 * number.len() - number.first().map_or(0, |byte| byte.leading_zeros() as usize)
}
