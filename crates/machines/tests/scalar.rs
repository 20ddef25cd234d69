//! The scalar machines against num-bigint: whole operations, and powers in Montgomery form.

use num_bigint::BigUint;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::scalar::{self, Constants, Context};
use zariz_kernels::{OddModulus, limbs};

mod common;
use common::{big, check_reduced, limbs_of};

/// Numbers that carry as far as they can, and random ones, some with long runs of equal bits.
fn number(rng: &mut StdRng, n: usize) -> Vec<u64> {
    let mut out = vec![0; n];
    match rng.random_range(0..8) {
        0 => {}
        1 => out.fill(u64::MAX),
        2 => out[0] = 1,
        3 => {
            out.fill(u64::MAX);
            out[rng.random_range(0..n)] = rng.random();
        }
        4 => out[rng.random_range(0..n)] = 1 << rng.random_range(0..64),
        5 => out.fill_with(|| [0, u64::MAX, 1, u64::MAX - 1, 1 << 63][rng.random_range(0..5)]),
        _ => rng.fill(&mut out[..]),
    }
    out
}

fn odd(rng: &mut StdRng, n: usize) -> Vec<u64> {
    let mut out = number(rng, n);
    out[0] |= 1;
    if rng.random() {
        out[n - 1] |= 1 << 63;
    }
    out
}

fn operations<S: scalar::Kernels>(machine: S) {
    let rng = &mut StdRng::seed_from_u64(7);
    let lengths: Vec<usize> =
        (1..=40).map(|k| k * S::STEP).filter(|&n| n <= 40 || n == 64 || n == 128).collect();
    for n in lengths {
        for _ in 0..200 {
            let (a, b, m) = (number(rng, n), number(rng, n), odd(rng, n));
            let mut t = number(rng, 2 * n);
            machine.mul(&mut t, &a, &b);
            assert_eq!(big(&t), big(&a) * big(&b), "{n} limbs: {a:x?} times {b:x?}");
            machine.sqr(&mut t, &a);
            assert_eq!(big(&t), big(&a) * big(&a), "{n} limbs: the square of {a:x?}");

            let t = number(rng, 2 * n);
            let (mut rest, mut out, mu) = (t.clone(), number(rng, n), limbs::negative_inverse(m[0]));
            machine.reduce(&mut out, &mut rest, &m, mu);
            let radix = BigUint::from(1u8) << (64 * n);
            let inverse = limbs::negative_inverse_many(&m, n);
            let q = big(&t) * big(&inverse) % &radix;
            let mut expected = (big(&t) + q * big(&m)) >> (64 * n);
            if expected >= radix {
                expected -= big(&m);
            }
            assert_eq!(big(&out), expected, "{n} limbs: {t:x?} reduced by {m:x?}");
        }
    }
}

fn tables<S: scalar::Kernels>(machine: S) {
    let rng = &mut StdRng::seed_from_u64(8);
    for n in [1, 3, 8, 15, 16, 24, 40].map(|n: usize| n.next_multiple_of(S::STEP)) {
        for entries in [1, 2, 32, 64] {
            let table: Vec<u64> = (0..n * entries).map(|_| rng.random()).collect();
            for index in 0..entries {
                let mut out = vec![1; n];
                machine.select(&mut out, &table, index as u64);
                assert_eq!(out, table[index * n..][..n]);
            }
        }
    }
}

fn powers<S: scalar::Kernels>(machine: S) {
    let rng = &mut StdRng::seed_from_u64(9);
    for bits in [2usize, 3, 63, 64, 65, 127, 381, 512, 521, 1000, 1024, 1025, 1536, 2048, 3072] {
        for round in 0..6 {
            let n = bits.div_ceil(64);
            let mut m = odd(rng, n);
            m[n - 1] &= u64::MAX >> (64 * n - bits);
            m[(bits - 1) / 64] |= 1 << ((bits - 1) % 64);
            if round == 0 {
                m = limbs_of(&((BigUint::from(1u8) << bits) - 1u8), n);
            }
            let constants = Constants::new(&OddModulus::new(&m).expect("odd"), S::STEP);
            // Shorter, equal, and longer than the modulus.
            let base_limbs = [1, n, n + 1, 2 * n, 5 * n][round % 5];
            let base = match round {
                1 => limbs_of(&(big(&m) - 1u8), n),
                2 => m.clone(),
                _ => number(rng, base_limbs),
            };
            let exponent_limbs = rng.random_range(0..=3);
            let exponent = if exponent_limbs == 0 { Vec::new() } else { number(rng, exponent_limbs) };
            let exponent_bits = 64 * exponent.len();
            let power = Power {
                modulus: &constants,
                base: &base,
                base_bits: 64 * base.len(),
                exponent: &exponent,
                exponent_bits,
            };
            let expected = big(&base).modpow(&big(&exponent), &big(&m));
            for result in [
                pow::pow(&mut Context::new(machine, &constants), &[power]),
                pow::pow_vartime(&mut Context::new(machine, &constants), &[power]),
            ] {
                assert_eq!(result[0].len(), n);
                assert_eq!(big(&result[0]), expected, "{base:x?} to {exponent:x?} mod {m:x?}");
            }
            check_reduced(|| Context::new(machine, &constants), &[power], &[big(&m)]);
            let factor = limbs_of(&(big(&number(rng, n)) % big(&m)), n);
            let product = Product { modulus: &constants, a: &base, a_bits: 64 * base.len(), b: &factor };
            let result = mul::mul(&mut Context::new(machine, &constants), &[product]);
            assert_eq!(
                big(&result[0]),
                big(&base) * big(&factor) % big(&m),
                "{base:x?} times {factor:x?} mod {m:x?}"
            );
        }
    }
}

macro_rules! on_every_machine {
    ($($check:ident)*) => {$(
        #[test]
        fn $check() {
            if let Some(machine) = machine() {
                super::$check(machine);
            }
        }
    )*};
}

mod portable {
    fn machine() -> Option<zariz_machines::scalar::Portable> {
        Some(zariz_machines::scalar::Portable::new())
    }
    on_every_machine!(operations tables powers);
}

#[cfg(target_arch = "x86_64")]
mod adx {
    fn machine() -> Option<zariz_machines::scalar::Adx> {
        let machine = zariz_machines::scalar::Adx::new();
        if machine.is_none() {
            eprintln!("skipped: the processor lacks BMI2 or ADX");
        }
        machine
    }
    on_every_machine!(operations tables powers);
}

#[cfg(target_arch = "aarch64")]
mod a64 {
    fn machine() -> Option<zariz_machines::scalar::A64> {
        Some(zariz_machines::scalar::A64::new())
    }
    on_every_machine!(operations tables powers);
}
