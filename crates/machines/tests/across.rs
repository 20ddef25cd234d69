//! Numbers laid across vectors, one or two side by side, against a big-integer library.

#[macro_use]
mod common;

use common::{big, limbs_of, modulus, number};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::across::{Constants, Machine, Numbers};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};

/// Powers and products of `count` numbers side by side; `bits` the length of the first modulus, others may be shorter.
fn check<M: Machine>(m: M, rng: &mut StdRng, bits: usize, count: usize, base_bits: usize, exponent_bits: usize) {
    let moduli: Vec<BigUint> = (0..count)
        .map(|i| {
            let bits = if i > 0 && rng.random() { rng.random_range(2..=bits) } else { bits };
            modulus(rng, bits)
        })
        .collect();
    let constants: Vec<_> = moduli.iter().map(|m| Constants::with_bits(&limbs_of(m, 1), bits)).collect();
    let bases: Vec<BigUint> = moduli
        .iter()
        .map(|modulus| match rng.random_range(0..6) {
            0 => BigUint::ZERO,
            1 => BigUint::from(1u32),
            2 => modulus - 1u32,
            3 => modulus.clone(),
            _ => number(rng, base_bits),
        })
        .collect();
    let exponents: Vec<BigUint> = moduli.iter().map(|_| number(rng, exponent_bits)).collect();
    let base_limbs: Vec<_> = bases.iter().map(|x| limbs_of(x, 1)).collect();
    let exponent_limbs: Vec<_> = exponents.iter().map(|x| limbs_of(x, 1)).collect();
    let powers: Vec<_> = (0..count)
        .map(|i| Power {
            modulus: &constants[i],
            base: &base_limbs[i],
            base_bits: base_bits.max(bits),
            exponent: &exponent_limbs[i],
            exponent_bits,
        })
        .collect();
    let expect = |what: &str, found: Vec<zariz_kernels::limbs::Limbs>, expected: &dyn Fn(usize) -> BigUint| {
        assert_eq!(found.len(), count);
        for (i, found) in found.iter().enumerate() {
            assert_eq!(found.len(), constants[i].limbs().len());
            let (base, exponent, modulus) = (&bases[i], &exponents[i], &moduli[i]);
            assert_eq!(
                big(found),
                expected(i),
                "{what}, {bits} bits, {i} of {count}: base {base:x} exponent {exponent:x} modulus {modulus:x}"
            );
        }
    };
    let numbers = || Numbers::new(m, &pow::moduli(&powers));
    expect("pow", pow::pow(numbers(), &powers), &|i| bases[i].modpow(&exponents[i], &moduli[i]));
    expect("pow_vartime", pow::pow_vartime(numbers(), &powers), &|i| bases[i].modpow(&exponents[i], &moduli[i]));

    let others: Vec<_> = (0..count).map(|i| limbs_of(&(&exponents[i] % &moduli[i]), 1)).collect();
    let products: Vec<_> = (0..count)
        .map(|i| Product { modulus: &constants[i], a: &base_limbs[i], a_bits: base_bits.max(bits), b: &others[i] })
        .collect();
    let numbers = Numbers::new(m, &mul::moduli(&products));
    expect("mul", mul::mul(numbers, &products), &|i| &bases[i] * &exponents[i] % &moduli[i]);
}

/// Whether `M` is AVX512-IFMA and emulated, so that long cases take minutes.
fn slow<M: Machine>() -> bool {
    #[cfg(target_arch = "x86_64")]
    let ifma = std::any::TypeId::of::<M>() == std::any::TypeId::of::<zariz_machines::Avx512Ifma>();
    #[cfg(not(target_arch = "x86_64"))]
    let ifma = false;
    ifma && zariz_emulator::is_emulating()
}

macro_rules! on_every_machine_across {
    ($check:ident) => {{
        zariz_emulator::install();
        $check(zariz_machines::Portable::<8>::new());
        #[cfg(target_arch = "x86_64")]
        match zariz_machines::Avx512Ifma::new() {
            Some(m) => $check(m),
            None => eprintln!("skipped on avx512-ifma: the processor lacks it"),
        }
    }};
}

#[test]
fn every_length_a_little() {
    fn run<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(41);
        let step = if slow::<M>() { 211 } else { 13 };
        for bits in (2..2300).step_by(step).chain([1021, 1024, 1037, 1038, 1245, 1246, 1557, 1558, 2077, 2078]) {
            for count in [1, 2] {
                let exponent_bits = rng.random_range(0..40);
                check(m, &mut rng, bits, count, bits, exponent_bits);
            }
        }
        for bits in [3072, 4096, 8192, Constants::MAX_BITS] {
            check(m, &mut rng, bits, 1, bits, 5);
        }
    }
    on_every_machine_across!(run);
}

#[test]
fn many_numbers_of_the_tuned_lengths() {
    fn run<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(42);
        for bits in [1024, 1536, 2048] {
            for _ in 0..if slow::<M>() { 1 } else { 300 } {
                check(m, &mut rng, bits, 2, 2 * bits, 60);
            }
        }
    }
    on_every_machine_across!(run);
}

#[test]
fn long_exponents() {
    fn run<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(43);
        for bits in [512, 1024, 1536, 2048] {
            check(m, &mut rng, bits, 2, 2 * bits, if slow::<M>() { 30 } else { bits });
        }
    }
    on_every_machine_across!(run);
}
