//! RSAZ on every machine, against a big-integer library.

use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::rsaz::{self, Quotients};
use zariz_kernels::{Montgomery, batch};

#[path = "common/mod.rs"]
#[macro_use]
mod common;
use common::{big, check_reduced, limbs_of, modulus, number, odd};

/// Runs a generic check on every machine of RSAZ that this processor has, with both ways to find quotients.
macro_rules! on_every_wide_machine {
    ($check:ident) => {
        for &quotients in Quotients::ALL {
            $check(zariz_machines::rsaz::Portable::new(), quotients);
            #[cfg(target_arch = "aarch64")]
            $check(zariz_machines::rsaz::Neon::new(), quotients);
            #[cfg(target_arch = "x86_64")]
            match zariz_machines::rsaz::Avx2::new() {
                Some(w) => $check(w, quotients),
                None => eprintln!("skipped on avx2: the processor lacks it, or BMI2"),
            }
        }
    };
}

/// A power and a product, each in constant time, and the power by the public exponent's way.
fn check_power<W: rsaz::Kernels>(
    w: W,
    quotients: Quotients,
    constants: &batch::Constants,
    base: &BigUint,
    exponent: &BigUint,
    exponent_bits: usize,
) {
    let modulus = big(constants.modulus().limbs());
    let (base_limbs, exponent_limbs) = (limbs_of(base, 1), limbs_of(exponent, exponent_bits.div_ceil(64)));
    let base_bits = constants.modulus().bits().max(base.bits() as usize);
    let power = [Power {
        modulus: constants,
        base: &base_limbs,
        base_bits,
        exponent: &exponent_limbs,
        exponent_bits,
    }];
    let mont = || rsaz::Context::with_quotients(w, constants, quotients);
    let expected = base.modpow(exponent, &modulus);
    let what = || format!("{quotients:?}: {base:x} to {exponent:x} modulo {modulus:x}");
    for results in [pow::pow(&mut mont(), &power), pow::pow_vartime(&mut mont(), &power)] {
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].len(), constants.modulus().limbs().len());
        assert_eq!(big(&results[0]), expected, "{}", what());
    }
    check_reduced(mont, &power, std::slice::from_ref(&modulus));
    let factor = limbs_of(&(exponent % &modulus), 1);
    let product = [Product { modulus: constants, a: &base_limbs, a_bits: base_bits, b: &factor }];
    assert_eq!(big(&mul::mul(&mut mont(), &product)[0]), base * exponent % &modulus, "{}", what());
}

#[test]
fn every_small_length() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let mut rng = StdRng::seed_from_u64(31);
        for bits in 2..=260 {
            let constants = rsaz::constants(&odd(&modulus(&mut rng, bits)));
            let (base, exponent) = (number(&mut rng, bits + 9), number(&mut rng, bits / 3 + 1));
            check_power(w, quotients, &constants, &base, &exponent, bits / 3 + 1);
        }
    }
    on_every_wide_machine!(check);
}

#[test]
fn the_usual_lengths_and_the_edges_of_radices() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let mut rng = StdRng::seed_from_u64(32);
        for bits in
            [511, 512, 576, 577, 1023, 1024, 1025, 1041, 1042, 1536, 2048, 2125, 3072, 4096, rsaz::MAX_BITS]
        {
            for _ in 0..if bits > 2048 { 2 } else { 12 } {
                let constants = rsaz::constants(&odd(&modulus(&mut rng, bits)));
                let (base, exponent) = (number(&mut rng, bits), number(&mut rng, 40));
                check_power(w, quotients, &constants, &base, &exponent, 40);
            }
        }
    }
    on_every_wide_machine!(check);
}

#[test]
fn both_radices_at_every_digit_count() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let mut rng = StdRng::seed_from_u64(33);
        for m in [28, 29] {
            for digits in (4..=rsaz::most_sums(m).min(128)).step_by(4) {
                // As little room above the modulus as allowed, and more.
                for free in [3, 4, rng.random_range(5..50)] {
                    let modulus = modulus(&mut rng, m as usize * digits - free);
                    let constants = batch::Constants::new(&odd(&modulus), m, digits);
                    let (base, exponent) = (number(&mut rng, m as usize * digits), number(&mut rng, 9));
                    check_power(w, quotients, &constants, &base, &exponent, 9);
                }
            }
        }
    }
    on_every_wide_machine!(check);
}

#[test]
fn long_exponents() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let mut rng = StdRng::seed_from_u64(34);
        for (bits, exponent_bits) in [(512, 512), (1024, 1024), (2048, 300), (64, 2000), (1024, 1), (512, 0)]
        {
            let constants = rsaz::constants(&odd(&modulus(&mut rng, bits)));
            for exponent in [
                (BigUint::from(1u32) << exponent_bits) - 1u32,
                number(&mut rng, exponent_bits),
                BigUint::ZERO,
            ] {
                let base = number(&mut rng, 2 * bits);
                check_power(w, quotients, &constants, &base, &exponent, exponent_bits);
            }
        }
    }
    on_every_wide_machine!(check);
}

#[test]
fn the_edges_of_moduli_and_bases() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let one = BigUint::from(1u32);
        for bits in [512usize, 1023, 1024, 1041, 2048] {
            let top = &one << bits;
            for modulus in [&top - 1u32, (&top >> 1) + 1u32, &top - 105u32, (&top >> 1) + (&top >> 2) - 1u32]
            {
                let constants = rsaz::constants(&odd(&modulus));
                for base in [
                    BigUint::ZERO,
                    one.clone(),
                    &modulus - 1u32,
                    modulus.clone(),
                    &modulus + 1u32,
                    &top - 1u32,
                ] {
                    for exponent in [0u32, 1, 2, 3, 65537] {
                        check_power(w, quotients, &constants, &base, &exponent.into(), 17);
                    }
                }
            }
        }
    }
    on_every_wide_machine!(check);
}

/// The kernels themselves at the edges of what they accept: digits all `2^m − 1` or all `2^m`, numbers up to
/// `R/2`.
#[test]
fn digits_at_their_largest() {
    fn check<W: rsaz::Kernels>(w: W, quotients: Quotients) {
        let mut rng = StdRng::seed_from_u64(35);
        for (m, digits) in [(29u32, 4), (29, 20), (29, 36), (29, 60), (28, 76), (28, 128), (28, 252)] {
            let (one, r_bits) = (BigUint::from(1u32), m as usize * digits);
            let r = &one << r_bits;
            for modulus in [(&r >> 3) - 1u32, modulus(&mut rng, r_bits - 3)] {
                let constants = batch::Constants::new(&odd(&modulus), m, digits);
                let mut mont = rsaz::Context::with_quotients(w, &constants, quotients);
                // The value of digits, and a number with them.
                let value = |digits: &[u32]| {
                    digits.iter().rev().fold(BigUint::ZERO, |sum, &digit| (sum << m) + digit)
                };
                let limit = &modulus << 2;
                let mut numbers: Vec<Vec<u32>> = Vec::new();
                for digit in [(1 << m) - 1, 1 << m] {
                    let mut number = vec![digit; digits];
                    // The top digit that leaves it just below 4M: what is below is less than two of the top.
                    let top = &limit >> (m as usize * (digits - 1));
                    number[digits - 1] = u32::try_from(top).expect("a digit") - 2;
                    assert!(value(&number) < limit);
                    numbers.push(number);
                }
                let mut number = vec![0; digits];
                number[digits - 1] = 1 << (m - 2);
                numbers.push(number);
                for x in &numbers {
                    for y in &numbers {
                        let fill = |mont: &mut rsaz::Context<W>, digits: &[u32]| {
                            let mut out = mont.zeros(mont.words());
                            let places: &mut [W::Digit] = bytemuck::cast_slice_mut(&mut out);
                            places.iter_mut().zip(digits).for_each(|(out, &value)| *out = w.digit(value));
                            out
                        };
                        let congruent = |result: &[u64], product: BigUint| {
                            let result: &[W::Digit] = bytemuck::cast_slice(result);
                            let result: Vec<u32> = result.iter().map(|&digit| w.value(digit)).collect();
                            assert!(result.iter().all(|&digit| digit <= 1 << m), "{result:x?}");
                            assert!(result[digits..].iter().all(|&digit| digit == 0));
                            let result = value(&result[..digits]);
                            assert!(result < limit, "{quotients:?} {m} {digits}");
                            assert_eq!(
                                (result << r_bits) % &modulus,
                                product % &modulus,
                                "{quotients:?} {m} {digits}"
                            );
                        };
                        let (mut a, b) = (fill(&mut mont, x), fill(&mut mont, y));
                        mont.amm(&mut a, &b);
                        congruent(&a, value(x) * value(y));
                        let mut a = fill(&mut mont, x);
                        mont.ams(&mut a, 1);
                        congruent(&a, value(x) * value(x));
                    }
                }
            }
        }
    }
    on_every_wide_machine!(check);
}

#[test]
fn every_entry_of_a_table_is_found() {
    fn check<W: rsaz::Kernels>(w: W, _: Quotients) {
        for words in [8, 24, 40, 48, 80, 104] {
            let table: Vec<W::Digit> = (0..words * 32).map(|i| w.digit(i as u32 * 7 + 1)).collect();
            for index in 0..32 {
                let mut out = vec![w.digit(0); words];
                w.select(&mut out, &table, index as u64);
                let values =
                    |digits: &[W::Digit]| digits.iter().map(|&digit| w.value(digit)).collect::<Vec<_>>();
                assert_eq!(values(&out), values(&table[index * words..][..words]));
            }
        }
    }
    on_every_wide_machine!(check);
}
