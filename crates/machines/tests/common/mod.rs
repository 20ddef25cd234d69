//! What the tests of machines share.
#![allow(dead_code)] // Each test program uses a part of this.

use num_bigint::BigUint;
use rand::{Rng, rngs::StdRng};

/// Runs a generic check on every machine that this processor has; says which it has not.
macro_rules! on_every_machine {
    ($check:ident) => {{
        $check(zariz_machines::Portable::<1>::new());
        $check(zariz_machines::Portable::<8>::new());
        #[cfg(target_arch = "x86_64")]
        {
            use zariz_machines::{Avx2Fma, Avx512Fma, Avx512Ifma};
            match Avx2Fma::new() {
                Some(m) => $check(m),
                None => eprintln!("skipped on avx2-fma: the processor lacks it"),
            }
            match Avx512Fma::new() {
                Some(m) => $check(m),
                None => eprintln!("skipped on avx512-fma: the processor lacks it"),
            }
            match Avx512Ifma::new() {
                Some(m) => $check(m),
                None => eprintln!("skipped on avx512-ifma: the processor lacks it"),
            }
        }
    }};
}

pub fn big(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |acc, &limb| (acc << 64) + limb)
}

pub fn limbs_of(x: &BigUint, len: usize) -> Vec<u64> {
    let mut out: Vec<u64> = x.iter_u64_digits().collect();
    out.resize(len.max(out.len()), 0);
    out
}

/// A number of at most `bits` bits: random, or of a shape that drives carries as far as they go.
pub fn number(rng: &mut StdRng, bits: usize) -> BigUint {
    let one = BigUint::from(1u32);
    let all = (&one << bits) - &one;
    match rng.random_range(0..6) {
        0 => all,
        1 => {
            let low = rng.random_range(0..=bits);
            &all - ((&one << low) - &one) // ones above, zeros below
        }
        2 => (&one << rng.random_range(0..=bits)) - &one,
        3 => {
            // Sparse digits of all ones or all zeros.
            let mut x = BigUint::ZERO;
            for at in (0..bits).step_by(52) {
                if rng.random() {
                    x |= ((&one << 52u32) - &one) << at;
                }
            }
            x & all
        }
        _ => {
            let bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| rng.random()).collect();
            BigUint::from_bytes_be(&bytes) & all
        }
    }
}

/// An odd modulus of exactly `bits` bits.
pub fn modulus(rng: &mut StdRng, bits: usize) -> BigUint {
    number(rng, bits) | BigUint::from(1u32) | (BigUint::from(1u32) << (bits - 1))
}
