//! Every machine against a big-integer library, with a modulus, base and exponent of its own in every lane.

#[macro_use]
mod common;

use common::{big, limbs_of, modulus, number};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::mul::{Product, mul};
use zariz_kernels::pow::{Power, pow, pow_vartime};
use zariz_kernels::{Constants, Machine, limbs};

struct Case {
    modulus: BigUint,
    constants: Constants,
    base: BigUint,
    exponent: BigUint,
}

fn case<M: Machine>(rng: &mut StdRng, bits: usize, digits: usize, base_bits: usize, exponent_bits: usize) -> Case {
    let modulus = modulus(rng, bits);
    let one = BigUint::from(1u32);
    let base = match rng.random_range(0..6) {
        0 => BigUint::ZERO,
        1 => one.clone(),
        2 => &modulus - &one,
        3 => modulus.clone(),
        _ => number(rng, base_bits),
    };
    let exponent = match rng.random_range(0..6) {
        0 => BigUint::ZERO,
        1 if exponent_bits > 0 => one,
        _ => number(rng, exponent_bits),
    };
    let constants = Constants::new(&limbs_of(&modulus, 1), M::DIGIT_BITS, digits);
    Case { modulus, constants, base, exponent }
}

/// Powers and products of one batch, checked lane by lane; `lanes` may be fewer than the machine has.
fn check_batch<M: Machine>(m: M, rng: &mut StdRng, bits: usize, lanes: usize, base_bits: usize, exponent_bits: usize) {
    // Moduli of different lengths that share a digit count.
    let digits = Constants::digits_for(bits, M::DIGIT_BITS);
    let cases: Vec<Case> = (0..lanes)
        .map(|i| {
            let bits = if i % 3 == 2 { rng.random_range(2..=bits) } else { bits };
            case::<M>(rng, bits, digits, base_bits, exponent_bits)
        })
        .collect();
    let bases: Vec<_> = cases.iter().map(|c| limbs_of(&c.base, 1)).collect();
    let exponents: Vec<_> = cases.iter().map(|c| limbs_of(&c.exponent, exponent_bits.div_ceil(64))).collect();
    let powers: Vec<Power> = cases
        .iter()
        .enumerate()
        .map(|(i, c)| Power {
            modulus: &c.constants,
            base: &bases[i],
            base_bits: base_bits.max(bits),
            exponent: &exponents[i],
            exponent_bits,
        })
        .collect();
    let check = |what: &str, results: Vec<limbs::Limbs>, expected: &dyn Fn(&Case) -> BigUint| {
        assert_eq!(results.len(), lanes);
        for (lane, (case, result)) in cases.iter().zip(&results).enumerate() {
            assert_eq!(result.len(), case.constants.limbs().len());
            assert_eq!(
                big(result),
                expected(case),
                "{what}, {bits} bits, lane {lane}: base {:x} exponent {:x} modulus {:x}",
                case.base,
                case.exponent,
                case.modulus
            );
        }
    };
    check("pow", pow(m, &powers), &|c| c.base.modpow(&c.exponent, &c.modulus));
    check("pow_vartime", pow_vartime(m, &powers), &|c| c.base.modpow(&c.exponent, &c.modulus));
    let shared: Vec<Power> = powers.iter().map(|p| Power { exponent: &exponents[0], ..*p }).collect();
    let exponent = cases[0].exponent.clone();
    check("pow_vartime, one exponent", pow_vartime(m, &shared), &|c| c.base.modpow(&exponent, &c.modulus));

    let factors: Vec<_> = cases.iter().map(|c| limbs_of(&c.base, 1)).collect();
    let others: Vec<_> = cases.iter().map(|c| limbs_of(&(&c.exponent % &c.modulus), 1)).collect();
    let products: Vec<Product> = cases
        .iter()
        .enumerate()
        .map(|(i, c)| Product { modulus: &c.constants, a: &factors[i], a_bits: base_bits.max(bits), b: &others[i] })
        .collect();
    check("mul", mul(m, &products), &|c| &c.base * &c.exponent % &c.modulus);
}

#[test]
fn every_small_length() {
    fn check<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(1);
        for bits in 2..=230 {
            check_batch(m, &mut rng, bits, M::LANES, bits + 7, 1 + bits / 3);
        }
    }
    on_every_machine!(check);
}

#[test]
fn around_digit_and_tile_boundaries() {
    fn check<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(2);
        let w = M::DIGIT_BITS as usize;
        for digits in [5, 8, 9, 10, 11, 18, 19, 20, 21, 22, 40, 41, 61, 80] {
            for extra in [-4i32, -3, -2, 0, 1] {
                let bits = (w * digits).saturating_add_signed(extra as isize);
                check_batch(m, &mut rng, bits, M::LANES, bits, 20);
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn long_bases_and_exponents() {
    fn check<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(3);
        for bits in [2, 3, 64, 100, 512, 1023, 1024] {
            for (base_bits, exponent_bits) in [(1, 1), (5 * bits + 1, 0), (2 * bits, bits), (4096, 700), (64, 1200)] {
                check_batch(m, &mut rng, bits, M::LANES, base_bits, exponent_bits);
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn fewer_jobs_than_lanes() {
    fn check<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(4);
        for lanes in 1..=M::LANES {
            check_batch(m, &mut rng, 300, lanes, 600, 90);
        }
    }
    on_every_machine!(check);
}

#[test]
fn large_moduli() {
    fn check<M: Machine>(m: M) {
        let mut rng = StdRng::seed_from_u64(5);
        for bits in [1536, 2048, 3072, 4096, 8192, 16_384] {
            check_batch(m, &mut rng, bits, M::LANES, bits, 12);
        }
    }
    on_every_machine!(check);
}
