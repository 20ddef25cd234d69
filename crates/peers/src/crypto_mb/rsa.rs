//! RSA's primitives, `x^d mod n` and `x^65537 mod n`, for eight numbers with keys of their own.

use std::array;
use std::ffi::c_int;
use std::ptr::{null, null_mut};

use super::{Api, CryptoMb, LANES, Method, check, scratch};
use crate::error::{Error, fitting, modulus};
use crate::limbs::limbs;

/// The function of private keys.
pub(super) const PRIVATE: &str = "mbx_rsa_private_crt_mb8";
/// The function of public keys.
pub(super) const PUBLIC: &str = "mbx_rsa_public_mb8";

/// A private key's numbers, big-endian.
#[derive(Clone, Copy)]
pub struct CrtKey<'a> {
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
    /// `d mod p − 1`.
    pub dp: &'a [u8],
    /// `d mod q − 1`.
    pub dq: &'a [u8],
    /// `1/q mod p`.
    pub q_inverse: &'a [u8],
}

/// What a size of key requires.
struct Size {
    api: Api,
    bits: c_int,
    bytes: usize,
    /// A constant of the library.
    method: *const Method,
    scratch: Vec<u8>,
}

impl Size {
    fn new(
        api: Api,
        bits: usize,
        method: unsafe extern "C" fn(c_int) -> *const Method,
        function: &'static str,
    ) -> Result<Self, Error> {
        // Halves of a key in whole limbs.
        let c_bits = c_int::try_from(bits).ok().filter(|bits| bits % 128 == 0).ok_or(Error::Bits(bits))?;
        // SAFETY: a function of numbers alone; null for a size that it does not have.
        let method = unsafe { method(c_bits) };
        if method.is_null() {
            return Err(Error::Bits(bits));
        }
        // SAFETY: a method of the library.
        let scratch = scratch(unsafe { (api.buffer_size)(method) }, function)?;
        Ok(Self { api, bits: c_bits, bytes: bits / 8, method, scratch })
    }

    /// Pointers to numbers and results, null for the lanes that have none. There are eight numbers at most,
    /// as many results, and all are as long as the key.
    fn pointers(
        &self,
        numbers: &[&[u8]],
        results: &mut [Vec<u8>],
    ) -> Result<([*const u8; LANES], [*mut u8; LANES]), Error> {
        let lengths = numbers.iter().map(|number| number.len()).chain(results.iter().map(Vec::len));
        let fits = numbers.len() <= LANES && numbers.len() == results.len();
        if !fits || !lengths.into_iter().all(|length| length == self.bytes) {
            return Err(Error::Length);
        }
        let (mut from, mut to) = ([null(); LANES], [null_mut(); LANES]);
        for (lane, (number, result)) in numbers.iter().zip(results).enumerate() {
            (from[lane], to[lane]) = (number.as_ptr(), result.as_mut_ptr());
        }
        Ok((from, to))
    }
}

/// Eight private keys of one length: `mbx_rsa_private_crt_mb8`, which neither blinds nor checks its results.
pub struct CryptoMbPrivate {
    size: Size,
    /// p, q, dp, dq and 1/q mod p of each lane, each half as long as the key.
    numbers: [[Vec<u64>; LANES]; 5],
}

impl CryptoMbPrivate {
    /// `x^d mod n` for eight numbers or fewer, the first with the first key. Numbers and results are
    /// big-endian and as long as the keys. A number that is not below its modulus has a wrong result.
    pub fn compute(&mut self, numbers: &[&[u8]], results: &mut [Vec<u8>]) -> Result<(), Error> {
        let (from, to) = self.size.pointers(numbers, results)?;
        let [p, q, dp, dq, q_inverse] = self.numbers.each_ref().map(pointers);
        let Size { api, bits, method, scratch, .. } = &mut self.size;
        // SAFETY: numbers and results have `bits / 8` bytes, as `pointers` checked, or are null; each number
        // of a key has `bits / 2` bits in whole limbs, by `CryptoMb::private`; the scratch space is as large
        // as the method requires. All are apart.
        let statuses = unsafe {
            (api.private)(&from, &to, &p, &q, &dp, &dq, &q_inverse, *bits, *method, scratch.as_mut_ptr())
        };
        check(PRIVATE, statuses, numbers.len())
    }
}

/// Eight public keys of one length, with the exponent 65,537: `mbx_rsa_public_mb8`.
pub struct CryptoMbPublic {
    size: Size,
    moduli: [Vec<u64>; LANES],
}

impl CryptoMbPublic {
    /// `x^65537 mod n`; otherwise as [`CryptoMbPrivate::compute`].
    pub fn compute(&mut self, numbers: &[&[u8]], results: &mut [Vec<u8>]) -> Result<(), Error> {
        let (from, to) = self.size.pointers(numbers, results)?;
        let moduli = pointers(&self.moduli);
        let Size { api, bits, method, scratch, .. } = &mut self.size;
        // SAFETY: as in `CryptoMbPrivate::compute`; each modulus has `bits` bits in whole limbs, by
        // `CryptoMb::public`.
        let statuses = unsafe { (api.public)(&from, &to, &moduli, *bits, *method, scratch.as_mut_ptr()) };
        check(PUBLIC, statuses, numbers.len())
    }
}

impl CryptoMb {
    /// Prepares eight private keys of `bits` bits (1024, 2048, 3072 or 4096), with two primes half as long.
    pub fn private(&self, bits: usize, keys: [CrtKey; LANES]) -> Result<CryptoMbPrivate, Error> {
        let size = Size::new(self.api, bits, self.api.private_method, PRIVATE)?;
        let half = |number| Ok(limbs(fitting(number, bits / 16)?, bits / 128));
        let prime = |number| half(modulus(number)?);
        let numbers = [
            each(&keys, |key| prime(key.p))?,
            each(&keys, |key| prime(key.q))?,
            each(&keys, |key| half(key.dp))?,
            each(&keys, |key| half(key.dq))?,
            each(&keys, |key| half(key.q_inverse))?,
        ];
        Ok(CryptoMbPrivate { size, numbers })
    }

    /// Prepares eight public keys of `bits` bits (1024, 2048, 3072 or 4096), whose exponent is 65,537.
    pub fn public(&self, bits: usize, moduli: [&[u8]; LANES]) -> Result<CryptoMbPublic, Error> {
        let size = Size::new(self.api, bits, self.api.public_method, PUBLIC)?;
        let moduli = each(&moduli, |number| Ok(limbs(fitting(modulus(number)?, bits / 8)?, bits / 64)))?;
        Ok(CryptoMbPublic { size, moduli })
    }
}

/// Limbs that are made of each lane's item.
fn each<T>(
    items: &[T; LANES],
    make: impl Fn(&T) -> Result<Vec<u64>, Error>,
) -> Result<[Vec<u64>; LANES], Error> {
    let mut all = array::from_fn(|_| Vec::new());
    for (limbs, item) in all.iter_mut().zip(items) {
        *limbs = make(item)?;
    }
    Ok(all)
}

/// A pointer to each lane's limbs.
fn pointers(lanes: &[Vec<u64>; LANES]) -> [*const u64; LANES] {
    lanes.each_ref().map(|limbs| limbs.as_ptr())
}
