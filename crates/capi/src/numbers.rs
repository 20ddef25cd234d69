//! Powers modulo odd numbers, and primes.

use std::mem::MaybeUninit;

use zariz::primes::{PrimeError, Search};
use zariz::{FixedBaseError, pow_many, pow_many_vartime};
use zeroize::Zeroizing;

use crate::failure::{Failure, Status, ZARIZ_INPUT_LENGTH, ZARIZ_OK, ZARIZ_RANDOM, guard};
use crate::handle::{fact, free, get, give, handle};
use crate::jobs::many;
use crate::memory::{Buffer, Bytes, array, list, put, put_value};

/// An odd modulus with its constants. It never changes, so any number of threads may use it at once.
pub struct Modulus {
    tag: u64,
    value: zariz::Modulus,
}

/// A base with a table of its powers. It never changes, so any number of threads may use it at once.
pub struct FixedBase {
    tag: u64,
    value: zariz::FixedBase,
}

handle!(Modulus, zariz::Modulus, b"zrz-modu", "the modulus");
handle!(FixedBase, zariz::FixedBase, b"zrz-base", "the fixed base");

/// Makes a modulus from a big-endian number, which must be odd, above 1, and have at most 16384 bits. It must
/// be freed with zariz_modulus_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_modulus_new(number: Bytes, modulus: *mut *mut Modulus) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let number = number.get("the modulus")?;
            give(modulus, zariz::Modulus::new(number).map_err(Failure::argument)?)
        }
    })
}

/// Frees a modulus.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_modulus_free(modulus: *mut Modulus) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(modulus) }
}

/// Returns the length of the modulus in bytes, which is also the length of powers; 0 for a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_modulus_size(modulus: *const Modulus) -> usize {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(modulus, 0, zariz::Modulus::size) }
}

/// One power: base^exponent mod modulus, big-endian. The caller owns all memory; `output` may be the memory
/// of an input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PowJob {
    /// The modulus.
    pub modulus: *const Modulus,
    /// The base, of any length; it may be above the modulus.
    pub base: Bytes,
    /// The exponent. Its value is secret, its length is not.
    pub exponent: Bytes,
    /// `zariz_modulus_size` bytes are written here.
    pub output: *mut u8,
    /// How many bytes may be written to `output`.
    pub capacity: usize,
    /// The library writes the status of the job here.
    pub status: Status,
}

/// Computes `count` powers, each with its own modulus, base and exponent, many at once in the lanes of vector
/// registers. Each job has its own status; the call returns that of the first job that failed. In constant
/// time, except for the lengths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_pow_many(jobs: *mut PowJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { powers(jobs, count, pow_many) })
}

/// Like zariz_pow_many, but faster if the exponents have few bits set. The time depends on the exponents, so
/// they must be public.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_pow_many_vartime(jobs: *mut PowJob, count: usize) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { powers(jobs, count, pow_many_vartime) })
}

impl crate::jobs::Job for PowJob {
    fn finish(&mut self, status: Status, _len: usize) {
        self.status = status;
    }
    fn output(&self) -> (*mut u8, usize) {
        (self.output, self.capacity)
    }
}

/// The parts of a job for a power.
pub(crate) unsafe fn to_pow<'a>(job: &PowJob) -> Result<zariz::PowJob<'a>, Failure> {
    // SAFETY: as the caller promises.
    unsafe {
        let (base, exponent) = (job.base.get("the base")?, job.exponent.get("the exponent")?);
        Ok(zariz::PowJob { modulus: get(job.modulus)?, base, exponent })
    }
}

unsafe fn powers(
    jobs: *mut PowJob,
    count: usize,
    compute: impl FnOnce(&[zariz::PowJob]) -> Vec<Vec<u8>>,
) -> Result<(), Failure> {
    let compute =
        |jobs: &[zariz::PowJob]| compute(jobs).into_iter().map(|it| Ok(Zeroizing::new(it))).collect();
    // SAFETY: as the caller promises.
    unsafe { many(jobs, count, |job| to_pow(job), compute, true) }
}

/// Computes one power in constant time. `output` must have room for `zariz_modulus_size` bytes. Many at once
/// are faster.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_pow(
    modulus: *const Modulus,
    base: Bytes,
    exponent: Bytes,
    output: *mut u8,
    capacity: usize,
) -> Status {
    let mut job = PowJob { modulus, base, exponent, output, capacity, status: ZARIZ_OK };
    // SAFETY: the header asks it of the caller.
    unsafe { zariz_pow_many(&raw mut job, 1) }
}

/// Makes a table of powers of a base, for exponents of at most `max_exponent_bits` bits. Powers of that base
/// then take a fraction of the time. The table must be freed with zariz_fixed_base_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_fixed_base_new(
    modulus: *const Modulus,
    base: Bytes,
    max_exponent_bits: usize,
    fixed_base: *mut *mut FixedBase,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let (modulus, base) = (get(modulus)?, base.get("the base")?);
            let made = zariz::FixedBase::new(modulus, base, max_exponent_bits).map_err(Failure::argument)?;
            give(fixed_base, made)
        }
    })
}

/// Frees the table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_fixed_base_free(fixed_base: *mut FixedBase) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(fixed_base) }
}

/// Computes the powers of a fixed base for `count` exponents, in constant time. Writes them to `output` one
/// after the other, each as long as the modulus: all of them, or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_fixed_base_pow_many(
    fixed_base: *const FixedBase,
    exponents: *const Bytes,
    count: usize,
    output: *mut u8,
    capacity: usize,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let fixed_base = get(fixed_base)?;
            let exponents = list(exponents, count, "the array of exponents")?;
            let exponents: Result<Vec<_>, _> = exponents.iter().map(|it| it.get("an exponent")).collect();
            let powers = fixed_base.pow_batch(&exponents?).map_err(|error| match error {
                FixedBaseError::ExponentTooLong { .. } => Failure::new(ZARIZ_INPUT_LENGTH, error),
                error => Failure::argument(error),
            })?;
            let powers: Vec<_> = powers.into_iter().map(Zeroizing::new).collect();
            let size = fixed_base.modulus().size();
            let mut all = Zeroizing::new(Vec::with_capacity(size * powers.len()));
            powers.iter().for_each(|power| all.extend_from_slice(power));
            put(&all, output, capacity)
        }
    })
}

/// Generates `count` random primes of `bits` bits into an array of `count` buffers. If `safe` is not 0, half
/// of p − 1 is also prime, for each prime p. All are made, or none. The time reveals how many candidates were
/// tried.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_primes_generate(
    bits: usize,
    count: usize,
    safe: i32,
    primes: *mut Buffer,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let places = array(primes.cast::<MaybeUninit<_>>(), count, "the array for the primes")?;
            let mut search = Search::new(bits).map_err(Failure::argument)?;
            if safe != 0 {
                search = search.safe().map_err(Failure::argument)?;
            }
            let primes = search.generate_many(count).map_err(prime_failure)?;
            for (place, prime) in places.iter_mut().zip(primes) {
                Buffer::give(place.as_mut_ptr(), &prime)?;
            }
        }
        Ok(())
    })
}

fn prime_failure(error: PrimeError) -> Failure {
    match error {
        PrimeError::Random(_) => Failure::new(ZARIZ_RANDOM, error),
        error => Failure::argument(error),
    }
}

/// Sets `result` to 1 if the number is prime, and to 0 if it is not. A composite number passes as a prime
/// with probability at most 2^−128, even if an attacker chose it. The time reveals at which test a composite
/// failed, and the value of a number below 2^36.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_is_prime(number: Bytes, result: *mut i32) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let is_prime = zariz::primes::is_prime(number.get("the number")?).map_err(prime_failure)?;
            put_value(i32::from(is_prime), result, "the pointer for the result")
        }
    })
}
