//! RSA's private and public operation.

use std::ffi::c_int;
use std::ptr;
use std::slice;

use zariz::rsa::hazmat::primitive::{PrivateJob, PublicJob, private_many, public_many_vartime};
use zariz::rsa::{CrtComponents, Error, KeyError, PrivateKey, PublicKey};
use zariz::{Modulus, PowJob};
use zeroize::Zeroizing;

use crate::bignum::{Bignum, Functions};
use crate::cache::Cache;
use crate::lanes::{
    Failure, Input, LANES, Lane, Output, each, guard, pointers, read_words, to_be_bytes, write_bytes,
};

/// The lengths of keys in bits.
const SIZES: [c_int; 4] = [1024, 2048, 3072, 4096];

/// The public exponent of `mbx_rsa_public_mb8`.
const E: u32 = 65_537;
/// Room for a public exponent: zariz takes up to 256 bits.
const E_WORDS: usize = 4;
/// The most words of a key's numbers: five of 2048 bits.
const MOST_WORDS: usize = 160;
/// Public exponents that are tried for a key of which only `n` and `d` are given, the most usual ones first.
const EXPONENTS: [u32; 8] = [E, 3, 17, 37, 35, 5, 7, 257];

/// The operation of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Public,
    Private,
    PrivateCrt,
}

/// `mbx_RSA_Method`: an operation, and the length of its keys. Callers have only pointers to constants.
#[derive(Debug)]
pub struct Method {
    operation: Operation,
    bits: c_int,
}

static METHODS: [[Method; SIZES.len()]; 3] =
    [methods(Operation::Public), methods(Operation::Private), methods(Operation::PrivateCrt)];

const fn methods(operation: Operation) -> [Method; SIZES.len()] {
    let [a, b, c, d] = SIZES;
    [
        Method { operation, bits: a },
        Method { operation, bits: b },
        Method { operation, bits: c },
        Method { operation, bits: d },
    ]
}

/// The method for keys of that length, or null.
fn method(operation: Operation, bits: c_int) -> *const Method {
    METHODS
        .as_flattened()
        .iter()
        .find(|it| it.operation == operation && it.bits == bits)
        .map_or(ptr::null(), ptr::from_ref)
}

macro_rules! methods {
    ($($name:ident = $operation:ident, $bits:literal;)*) => {
        $(
            #[doc = concat!("The method for keys of ", $bits, " bits.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> *const Method {
                method(Operation::$operation, $bits)
            }
        )*
    };
}

methods! {
    mbx_RSA1K_pub65537_Method = Public, 1024;
    mbx_RSA2K_pub65537_Method = Public, 2048;
    mbx_RSA3K_pub65537_Method = Public, 3072;
    mbx_RSA4K_pub65537_Method = Public, 4096;
    mbx_RSA1K_private_Method = Private, 1024;
    mbx_RSA2K_private_Method = Private, 2048;
    mbx_RSA3K_private_Method = Private, 3072;
    mbx_RSA4K_private_Method = Private, 4096;
    mbx_RSA1K_private_crt_Method = PrivateCrt, 1024;
    mbx_RSA2K_private_crt_Method = PrivateCrt, 2048;
    mbx_RSA3K_private_crt_Method = PrivateCrt, 3072;
    mbx_RSA4K_private_crt_Method = PrivateCrt, 4096;
}

/// The method of the public operation for keys of that length, or null.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_RSA_pub65537_Method(bits: c_int) -> *const Method {
    method(Operation::Public, bits)
}

/// The method of the private operation with `n` and `d`, or null.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_RSA_private_Method(bits: c_int) -> *const Method {
    method(Operation::Private, bits)
}

/// The method of the private operation with the primes, or null.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_RSA_private_crt_Method(bits: c_int) -> *const Method {
    method(Operation::PrivateCrt, bits)
}

/// The bytes of scratch space for a method, which callers may allocate. zariz needs none.
#[unsafe(no_mangle)]
pub extern "C" fn mbx_RSA_Method_BufSize(method: *const Method) -> c_int {
    // The pointer is compared, not followed.
    let is_ours = METHODS.as_flattened().iter().any(|it| ptr::eq(it, method));
    if is_ours { crate::exp::SCRATCH } else { 0 }
}

/// The bytes of a key of `bits` bits.
fn size(bits: c_int) -> Lane<usize> {
    if SIZES.contains(&bits) { Ok(bits as usize / 8) } else { Err(Failure::Mismatch) }
}

/// Like [`size`], where the caller also names a method, or null.
fn size_with(given: *const Method, operation: Operation, bits: c_int) -> Lane<usize> {
    let size = size(bits)?;
    if given.is_null() || given == method(operation, bits) { Ok(size) } else { Err(Failure::Mismatch) }
}

/// A kind of key, and its operation.
trait Key: Sized {
    type Number: AsRef<[u8]>;
    fn size(&self) -> usize;
    fn operate<'a>(jobs: impl Iterator<Item = (&'a Self, &'a [u8])>) -> Vec<Result<Self::Number, Error>>
    where
        Self: 'a;
}

impl Key for PrivateKey {
    type Number = Zeroizing<Vec<u8>>;

    fn size(&self) -> usize {
        self.size()
    }

    fn operate<'a>(jobs: impl Iterator<Item = (&'a Self, &'a [u8])>) -> Vec<Result<Self::Number, Error>> {
        private_many(&jobs.map(|(key, number)| PrivateJob::new(key, number)).collect::<Vec<_>>())
    }
}

impl Key for PublicKey {
    type Number = Vec<u8>;

    fn size(&self) -> usize {
        self.size()
    }

    fn operate<'a>(jobs: impl Iterator<Item = (&'a Self, &'a [u8])>) -> Vec<Result<Self::Number, Error>> {
        public_many_vartime(&jobs.map(|(key, number)| PublicJob::new(key, number)).collect::<Vec<_>>())
    }
}

/// Raises the number of each lane to the exponent of its key. All inputs are read before anything is written,
/// so a result may take the place of an input. `key` reads and prepares the key of a lane.
///
/// # Safety
/// `from` and `to` are null, or arrays of pointers that are null or to `size` bytes.
unsafe fn run<K: Key>(
    from: Input<u8>,
    to: Output<u8>,
    size: usize,
    mut key: impl FnMut(usize) -> Lane<K>,
) -> Lane<[Lane<()>; LANES]> {
    // SAFETY: the caller's promise.
    let (from, to) = unsafe { (pointers(from)?, pointers(to)?) };
    let lanes = each(|lane| {
        if from[lane].is_null() || to[lane].is_null() {
            return Err(Failure::Null);
        }
        let key = key(lane)?;
        // The modulus may be shorter than its size says.
        let zeros = size.checked_sub(key.size()).ok_or(Failure::Mismatch)?;
        // SAFETY: the caller's promise, and it is not null. Nothing is written while this is used.
        let (zeros, number) = unsafe { slice::from_raw_parts(from[lane], size) }.split_at(zeros);
        if zeros.iter().all(|&byte| byte == 0) { Ok((key, number)) } else { Err(Failure::Mismatch) }
    });
    let jobs = lanes.iter().flatten().map(|(key, number)| (key, *number));
    let mut results = K::operate(jobs).into_iter();
    Ok(each(|lane| {
        lanes[lane].as_ref().map_err(|failure| *failure)?;
        let result = results.next().unwrap_or(Err(Error::Fault)).map_err(|error| match error {
            Error::Length { .. } | Error::OutOfRange => Failure::Mismatch,
            _ => Failure::Withheld,
        })?;
        // SAFETY: the caller's promise, and it is not null. No input is used any more.
        unsafe { write_bytes(result.as_ref(), to[lane], size) };
        Ok(())
    }))
}

/// The pointers of a lane's numbers, of which none is null.
fn present<T, const N: usize>(arrays: &[[*const T; LANES]; N], lane: usize) -> Lane<[*const T; N]> {
    let pointers = arrays.map(|array| array[lane]);
    if pointers.iter().any(|pointer| pointer.is_null()) { Err(Failure::Null) } else { Ok(pointers) }
}

/// Reads numbers of the same length, one after the other, into all of `out`.
fn read_all<T, const N: usize>(
    pointers: [*const T; N],
    out: &mut [u64],
    read: impl Fn(*const T, &mut [u64]) -> Lane<()>,
) -> Lane<()> {
    let len = out.len() / N;
    out.chunks_exact_mut(len).zip(pointers).try_for_each(|(out, pointer)| read(pointer, out))
}

/// The key of `p`, `q`, `dp`, `dq` and `qinv`.
fn crt_key(numbers: &[u64]) -> Lane<PrivateKey> {
    static KEYS: Cache<PrivateKey> = Cache::new();
    KEYS.get(numbers, || {
        let len = numbers.len() / 5;
        let [p, q, dp, dq, qinv] = [0, 1, 2, 3, 4].map(|i| to_be_bytes(&numbers[i * len..][..len]));
        let components = CrtComponents { p: &p, q: &q, dp: &dp, dq: &dq, qinv: &qinv };
        PrivateKey::from_crt(&components).map_err(|_| Failure::Mismatch)
    })
}

/// The key of `d` and `n`. The public exponent is the one of [`EXPONENTS`] that undoes `d`.
fn exponent_key(numbers: &[u64]) -> Lane<PrivateKey> {
    static KEYS: Cache<PrivateKey> = Cache::new();
    KEYS.get(numbers, || {
        let (d, n) = numbers.split_at(numbers.len() / 2);
        let [d, n] = [d, n].map(to_be_bytes);
        let modulus = Modulus::new(&n).map_err(|_| Failure::Mismatch)?;
        let power = Zeroizing::new(modulus.pow(&[2], &d));
        let exponents = EXPONENTS.map(u32::to_be_bytes);
        let job = |e| PowJob { modulus: &modulus, base: &power, exponent: e };
        let opened = zariz::pow_many_vartime(&exponents.each_ref().map(|e| job(e)));
        let is_two = |number: &Vec<u8>| {
            number.split_last().is_some_and(|(last, rest)| *last == 2 && rest.iter().all(|&byte| byte == 0))
        };
        let e = exponents.iter().zip(&opened).find(|(_, opened)| is_two(opened)).ok_or(Failure::Mismatch)?.0;
        PrivateKey::from_exponents(&n, e, &d).map_err(|error| match error {
            KeyError::Random => Failure::Withheld,
            _ => Failure::Mismatch,
        })
    })
}

/// The key of `n`, and of `e` in the last [`E_WORDS`] words.
fn public_key(numbers: &[u64]) -> Lane<PublicKey> {
    static KEYS: Cache<PublicKey> = Cache::new();
    KEYS.get(numbers, || {
        let (n, e) = numbers.split_at(numbers.len() - E_WORDS);
        PublicKey::from_components(&to_be_bytes(n), &to_be_bytes(e)).map_err(|_| Failure::Mismatch)
    })
}

/// `x^65537 mod n` for each lane: `from` and `to` have `bits/8` bytes, big-endian, and `n` has `bits/64`
/// words, the lowest first.
///
/// # Safety
/// Arrays of eight pointers, which are null or to numbers of these lengths. An array, `method` and `buffer`
/// may also be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_public_mb8(
    from: Input<u8>,
    to: Output<u8>,
    n: Input<u64>,
    bits: c_int,
    method: *const Method,
    _buffer: *mut u8,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = [unsafe { pointers(n) }?];
        let size = size_with(method, Operation::Public, bits)?;
        let words = &mut [0; MOST_WORDS][..size / 8 + E_WORDS];
        words[size / 8] = E.into();
        let key = |lane| {
            let [n] = present(&numbers, lane)?;
            // SAFETY: the caller's promise, and it is not null.
            unsafe { read_words(n, &mut words[..size / 8]) };
            public_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}

/// `x^d mod n` for each lane, as [`mbx_rsa_public_mb8`] says; `d` and `n` have `bits/64` words.
///
/// # Safety
/// As for [`mbx_rsa_public_mb8`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_private_mb8(
    from: Input<u8>,
    to: Output<u8>,
    d: Input<u64>,
    n: Input<u64>,
    bits: c_int,
    method: *const Method,
    _buffer: *mut u8,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { [pointers(d)?, pointers(n)?] };
        let size = size_with(method, Operation::Private, bits)?;
        let mut words = Zeroizing::new([0; MOST_WORDS]);
        let words = &mut words[..2 * size / 8];
        let key = |lane| {
            read_all(present(&numbers, lane)?, words, |pointer, out| {
                // SAFETY: the caller's promise, and it is not null.
                unsafe { read_words(pointer, out) };
                Ok(())
            })?;
            exponent_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}

/// `x^d mod p·q` for each lane, as [`mbx_rsa_public_mb8`] says; `p`, `q`, `d mod (p − 1)`, `d mod (q − 1)`
/// and `q^{−1} mod p` have `bits/128` words.
///
/// # Safety
/// As for [`mbx_rsa_public_mb8`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_private_crt_mb8(
    from: Input<u8>,
    to: Output<u8>,
    p: Input<u64>,
    q: Input<u64>,
    dp: Input<u64>,
    dq: Input<u64>,
    qinv: Input<u64>,
    bits: c_int,
    method: *const Method,
    _buffer: *mut u8,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { [pointers(p)?, pointers(q)?, pointers(dp)?, pointers(dq)?, pointers(qinv)?] };
        let size = size_with(method, Operation::PrivateCrt, bits)?;
        let mut words = Zeroizing::new([0; MOST_WORDS]);
        let words = &mut words[..5 * size / 16];
        let key = |lane| {
            read_all(present(&numbers, lane)?, words, |pointer, out| {
                // SAFETY: the caller's promise, and it is not null.
                unsafe { read_words(pointer, out) };
                Ok(())
            })?;
            crt_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}

/// `x^e mod n` for each lane, with OpenSSL's numbers; `n` has exactly `bits` bits, and `e` is any odd number
/// above 1, of up to 256 bits.
///
/// # Safety
/// Arrays of eight pointers, which are null, to `bits/8` bytes, or to numbers of the OpenSSL in this process.
/// An array may also be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_public_ssl_mb8(
    from: Input<u8>,
    to: Output<u8>,
    e: Input<Bignum>,
    n: Input<Bignum>,
    bits: c_int,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { [pointers(e)?, pointers(n)?] };
        let (size, functions) = (size(bits)?, Functions::get()?);
        let words = &mut [0; MOST_WORDS][..size / 8 + E_WORDS];
        let key = |lane| {
            let [e, n] = present(&numbers, lane)?;
            // SAFETY: the caller's promise, and they are not null.
            unsafe {
                functions.expect_bits(n, bits)?;
                functions.read(n, &mut words[..size / 8])?;
                functions.read(e, &mut words[size / 8..])?;
            }
            public_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}

/// `x^d mod n` for each lane, with OpenSSL's numbers; `n` has exactly `bits` bits.
///
/// # Safety
/// As for [`mbx_rsa_public_ssl_mb8`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_private_ssl_mb8(
    from: Input<u8>,
    to: Output<u8>,
    d: Input<Bignum>,
    n: Input<Bignum>,
    bits: c_int,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { [pointers(d)?, pointers(n)?] };
        let (size, functions) = (size(bits)?, Functions::get()?);
        let mut words = Zeroizing::new([0; MOST_WORDS]);
        let words = &mut words[..2 * size / 8];
        let key = |lane| {
            let pointers = present(&numbers, lane)?;
            // SAFETY: the caller's promise, and it is not null.
            unsafe { functions.expect_bits(pointers[1], bits)? };
            // SAFETY: as above.
            read_all(pointers, words, |pointer, out| unsafe { functions.read(pointer, out) })?;
            exponent_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}

/// `x^d mod p·q` for each lane, with OpenSSL's numbers; `p` and `q` have exactly `bits/2` bits.
///
/// # Safety
/// As for [`mbx_rsa_public_ssl_mb8`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mbx_rsa_private_crt_ssl_mb8(
    from: Input<u8>,
    to: Output<u8>,
    p: Input<Bignum>,
    q: Input<Bignum>,
    dp: Input<Bignum>,
    dq: Input<Bignum>,
    qinv: Input<Bignum>,
    bits: c_int,
) -> u32 {
    guard(|| {
        // SAFETY: the caller's promise.
        let numbers = unsafe { [pointers(p)?, pointers(q)?, pointers(dp)?, pointers(dq)?, pointers(qinv)?] };
        let (size, functions) = (size(bits)?, Functions::get()?);
        let mut words = Zeroizing::new([0; MOST_WORDS]);
        let words = &mut words[..5 * size / 16];
        let key = |lane| {
            let pointers = present(&numbers, lane)?;
            for prime in &pointers[..2] {
                // SAFETY: the caller's promise, and it is not null.
                unsafe { functions.expect_bits(*prime, bits / 2)? };
            }
            // SAFETY: as above.
            read_all(pointers, words, |pointer, out| unsafe { functions.read(pointer, out) })?;
            crt_key(words)
        };
        // SAFETY: the caller's promise.
        unsafe { run(from, to, size, key) }
    })
}
