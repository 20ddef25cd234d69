//! What the time of RSA and of searches for primes reveals of secrets, on purpose, by name. (`FixedBase` and
//! `Modulus::new` also reveal whether an input is refused.)
//!
//! Each function returns its argument. What it is given may decide a branch or the length of an array
//! afterwards; nothing else that was computed from a secret may. `cargo xtask test secrets` checks that:
//! under valgrind's memcheck, secrets are undefined, and these functions alone make what they pass defined.

use zariz_machines::memcheck;

macro_rules! declassify {
    ($($(#[$doc:meta])* $name:ident: $type:ty),* $(,)?) => {
        $(
            $(#[$doc])*
            #[allow(dead_code, reason = "smaller sets of features make fewer decisions")]
            #[inline(always)]
            pub(crate) fn $name(value: $type) -> $type {
                #[cfg(feature = "memcheck")]
                seen::note(stringify!($name));
                memcheck::public(value)
            }
        )*
        /// Their names.
        #[cfg(feature = "memcheck")]
        pub const ALL: &[&str] = &[$(stringify!($name)),*];
    };
}

declassify! {
    /// The length in bits of a modulus, or of a prime: lengths are public.
    modulus_bits: usize,
    /// Whether a key lacks a private number: it is refused.
    is_missing: bool,
    /// Whether a private number has more limbs than those that it belongs to: such a key is refused.
    is_too_long: bool,
    /// Whether a prime of a key is even: it is refused.
    is_even: bool,
    /// Whether a key's primes are equal: it is refused.
    primes_are_equal: bool,
    /// Whether a private number is below its bound: if not, the key is refused.
    is_in_range: bool,
    /// Whether private numbers of a key fit together: if not, the key is refused.
    fits: bool,
    /// The length in bits of a private number that is written: DER has no leading zeros.
    written_bits: usize,
    /// The first byte of a private number that is written: DER's encoder looks at its sign. That it is above
    /// 127 shows in the length of what is written.
    first_byte: u8,
    /// Whether a file has a marker of PEM (`-----BEGIN`, `-----END`, `4,ENCRYPTED`, a colon), a blank or a
    /// line break at a place.
    is_marker: bool,
    /// Whether a random number, drawn for a mask or a blind, is below the modulus and not zero: others are
    /// thrown away.
    is_usable_mask: bool,
    /// Whether a number has an inverse: callers learn it, and split a batch in which one has none. A random
    /// number for a mask has none only if it shares a factor with `n`, which is as unlikely as guessing the
    /// factor.
    has_inverse: bool,
    /// Whether the inverse of a blind is below the modulus: all that blinding made are.
    blind_fits: bool,
    /// A byte of a signature whose blind is taken off: it is verified, and is for others to see.
    signature_byte: u8,
    /// Whether a private result, raised to the public exponent, is what it was computed from. If not, it is
    /// computed again, or withheld. All results of sound machines are.
    result_is_right: bool,
    /// Whether OAEP's padding is right: a caller learns that, but not what is wrong.
    oaep_is_good: bool,
    /// The length of a message that was decrypted, or for PKCS#1 v1.5 of its substitute: callers get it.
    message_length: usize,
    /// Whether a number passes a test of primality. If not, it is thrown away, or its key is refused.
    is_prime: bool,
    /// Whether `n − 1` has more than 16 factors of two, for a number that is tested: one in 65,536 has.
    has_many_twos: bool,
    /// Whether a new prime fits the public exponent: others are thrown away.
    fits_exponent: bool,
    /// Whether a random number led to no prime of a key that is given by its exponents: another one is tried.
    reveals_no_prime: bool,
    /// A byte of a modulus or public exponent that is computed from private numbers: both are public.
    public_byte: u8,
    /// Whether new primes are as far apart as FIPS 186-5 demands: those of a sound generator always are.
    are_far_apart: bool,
    /// Whether a new private exponent is as long as FIPS 186-5 demands: others are thrown away, one in
    /// `2^(bits/2)`.
    is_long_enough: bool,
}

/// Which decisions were made, for a program that checks that it provokes them all.
#[cfg(feature = "memcheck")]
mod seen {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};

    static SEEN: Mutex<BTreeMap<&str, usize>> = Mutex::new(BTreeMap::new());

    pub fn note(name: &'static str) {
        *SEEN.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default() += 1;
    }

    /// How often each decision was made.
    pub fn counts() -> BTreeMap<&'static str, usize> {
        SEEN.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(feature = "memcheck")]
pub use seen::counts;
