//! Keys: read, made from numbers, generated, and written.

use std::mem::MaybeUninit;

use zariz::rsa::{self, Components, KeyGenerator, PrimeComponents};
use zeroize::Zeroizing;

use crate::failure::{Failure, Status, guard};
use crate::handle::{fact, free, get, give, handle};
use crate::memory::{Buffer, Bytes, array, bytes};

/// A private key. It never changes, so any number of threads may use it at once.
pub struct PrivateKey {
    tag: u64,
    value: rsa::PrivateKey,
}

/// A public key. It never changes, so any number of threads may use it at once.
pub struct PublicKey {
    tag: u64,
    value: rsa::PublicKey,
}

handle!(PrivateKey, rsa::PrivateKey, b"zrz-priv", "the private key");
handle!(PublicKey, rsa::PublicKey, b"zrz-publ", "the public key");

/// The numbers of a private key, big-endian, with or without leading zeros. If `dp`, `dq` and `qinv` are all
/// empty, they are computed.
#[repr(C)]
pub struct PrivateNumbers {
    /// The modulus, p·q.
    pub n: Bytes,
    /// The public exponent.
    pub e: Bytes,
    /// The private exponent.
    pub d: Bytes,
    /// A prime.
    pub p: Bytes,
    /// The other prime.
    pub q: Bytes,
    /// d mod (p − 1).
    pub dp: Bytes,
    /// d mod (q − 1).
    pub dq: Bytes,
    /// The inverse of q mod p.
    pub qinv: Bytes,
}

/// Reads a private key: PKCS #8 or PKCS #1, PEM or DER. If the key is encrypted (PKCS #8, PBES2), give the
/// password; otherwise give NULL and length 0. The key must be freed with zariz_private_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_parse(
    data: *const u8,
    len: usize,
    password: *const u8,
    password_len: usize,
    key: *mut *mut PrivateKey,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let data = bytes(data, len, "the key's file")?;
            let parsed = if password.is_null() && password_len == 0 {
                rsa::PrivateKey::parse(data)?
            } else {
                rsa::PrivateKey::parse_encrypted(data, bytes(password, password_len, "the password")?)?
            };
            give(key, parsed)
        }
    })
}

/// Makes a private key from its numbers, and checks that they belong together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_from_numbers(
    numbers: *const PrivateNumbers,
    key: *mut *mut PrivateKey,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let numbers = numbers.as_ref().ok_or_else(|| Failure::null("the list of numbers"))?;
            let secret = |number: &Bytes, what| Ok::<_, Failure>(Zeroizing::new(number.get(what)?.to_vec()));
            let (n, e) = (numbers.n.get("n")?, numbers.e.get("e")?);
            let (d, p, q) = (secret(&numbers.d, "d")?, secret(&numbers.p, "p")?, secret(&numbers.q, "q")?);
            let (dp, dq) = (secret(&numbers.dp, "dp")?, secret(&numbers.dq, "dq")?);
            let qinv = secret(&numbers.qinv, "qinv")?;
            let made = if dp.is_empty() && dq.is_empty() && qinv.is_empty() {
                rsa::PrivateKey::from_primes(&PrimeComponents { n, e, d: &d, p: &p, q: &q })?
            } else {
                let (n, e) = (n.to_vec(), e.to_vec());
                rsa::PrivateKey::from_components(&Components { n, e, d, p, q, dp, dq, qinv })?
            };
            give(key, made)
        }
    })
}

/// Generates `count` private keys of `bits` bits with e = 65537 into an array of `count` pointers. All are
/// made, or none. Many in one call take less time than one by one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_generate(
    bits: usize,
    count: usize,
    keys: *mut *mut PrivateKey,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let keys = array(keys.cast::<MaybeUninit<*mut PrivateKey>>(), count, "the array for the keys")?;
            let generator = KeyGenerator::new(bits).map_err(Failure::argument)?;
            for (place, key) in keys.iter_mut().zip(generator.generate_many(count)?) {
                give(place.as_mut_ptr(), key)?;
            }
        }
        Ok(())
    })
}

/// Makes another handle of the same key. It costs little, and must be freed too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_clone(
    key: *const PrivateKey,
    clone: *mut *mut PrivateKey,
) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { give(clone, get(key)?.clone()) })
}

/// Frees a handle. The key is wiped when its last handle is freed, and no operation uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_free(key: *mut PrivateKey) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(key) }
}

/// Checks that both primes are probably prime (eight rounds of Miller-Rabin). The functions that read keys do
/// not check that. It takes as long as several signatures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_validate(key: *const PrivateKey) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { Ok(get(key)?.validate()?) })
}

/// Makes a handle of the public key of a private key. It must be freed with zariz_public_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_public(
    key: *const PrivateKey,
    public: *mut *mut PublicKey,
) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { give(public, get(key)?.public_key().clone()) })
}

/// Returns the length of the modulus in bytes, which is also the length of signatures and ciphertexts; 0 for
/// a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_size(key: *const PrivateKey) -> usize {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(key, 0, rsa::PrivateKey::size) }
}

/// Returns the length of the modulus in bits; 0 for a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_bits(key: *const PrivateKey) -> usize {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(key, 0, rsa::PrivateKey::bits) }
}

/// Writes the numbers of a private key, big-endian, to eight buffers: n, e, d, p, q, dp, dq, qinv.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_numbers(key: *const PrivateKey, numbers: *mut Buffer) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let numbers = array(numbers.cast::<MaybeUninit<_>>(), 8, "the array for the numbers")?;
            let Components { n, e, d, p, q, dp, dq, qinv } = &get(key)?.components();
            for (place, number) in numbers.iter_mut().zip([n, e, &**d, p, q, dp, dq, qinv]) {
                Buffer::give(place.as_mut_ptr(), number)?;
            }
        }
        Ok(())
    })
}

/// Writes the key in PEM (PKCS #8). It is encrypted, unless the password is NULL and its length 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_to_pem(
    key: *const PrivateKey,
    password: *const u8,
    password_len: usize,
    pem: *mut Buffer,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let key = get(key)?;
            let text = if password.is_null() && password_len == 0 {
                key.to_pem()?
            } else {
                Zeroizing::new(key.to_encrypted_pem(bytes(password, password_len, "the password")?)?)
            };
            Buffer::give(pem, text.as_bytes())
        }
    })
}

/// Writes the key in DER (PKCS #8).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_private_key_to_der(key: *const PrivateKey, der: *mut Buffer) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { Buffer::give(der, &get(key)?.to_der()?) })
}

/// Reads a public key: SubjectPublicKeyInfo or PKCS #1, PEM or DER. It must be freed with
/// zariz_public_key_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_parse(
    data: *const u8,
    len: usize,
    key: *mut *mut PublicKey,
) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { give(key, rsa::PublicKey::parse(bytes(data, len, "the key's file")?)?) })
}

/// Makes a public key from its modulus and exponent, big-endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_from_numbers(
    n: Bytes,
    e: Bytes,
    key: *mut *mut PublicKey,
) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { give(key, rsa::PublicKey::from_components(n.get("n")?, e.get("e")?)?) })
}

/// Makes another handle of the same key. It costs little, and must be freed too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_clone(key: *const PublicKey, clone: *mut *mut PublicKey) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { give(clone, get(key)?.clone()) })
}

/// Frees a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_free(key: *mut PublicKey) {
    // SAFETY: the header asks it of the caller.
    unsafe { free(key) }
}

/// Returns the length of the modulus in bytes, which is also the length of signatures and ciphertexts; 0 for
/// a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_size(key: *const PublicKey) -> usize {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(key, 0, rsa::PublicKey::size) }
}

/// Returns the length of the modulus in bits; 0 for a wrong handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_bits(key: *const PublicKey) -> usize {
    // SAFETY: the header asks it of the caller.
    unsafe { fact(key, 0, rsa::PublicKey::bits) }
}

/// Writes the modulus and the exponent, big-endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_numbers(
    key: *const PublicKey,
    n: *mut Buffer,
    e: *mut Buffer,
) -> Status {
    guard(|| {
        // SAFETY: the header asks it of the caller.
        unsafe {
            let key = get(key)?;
            if n.is_null() || e.is_null() {
                return Err(Failure::null("a buffer for a number"));
            }
            Buffer::give(n, &key.n())?;
            Buffer::give(e, &key.e())
        }
    })
}

/// Writes the key in PEM (SubjectPublicKeyInfo).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_to_pem(key: *const PublicKey, pem: *mut Buffer) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { Buffer::give(pem, get(key)?.to_pem()?.as_bytes()) })
}

/// Writes the key in DER (SubjectPublicKeyInfo).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zariz_public_key_to_der(key: *const PublicKey, der: *mut Buffer) -> Status {
    // SAFETY: the header asks it of the caller.
    guard(|| unsafe { Buffer::give(der, &get(key)?.to_der()?) })
}
