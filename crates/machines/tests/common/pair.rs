//! Numbers laid across vectors, against a big-integer library.

use num_bigint::BigUint;
use rand::{Rng, rngs::StdRng};
use zariz_kernels::limbs::Numbers;
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pair::{Constants, Context, Kernels};
use zariz_kernels::pow::{self, Power};

use super::{big, check_reduced, limbs_of, modulus, number, odd};

/// Powers and products of `count` numbers side by side; `bits` the length of the first modulus, others may be
/// shorter.
pub fn check<M: Kernels>(
    m: M,
    rng: &mut StdRng,
    bits: usize,
    count: usize,
    base_bits: usize,
    exponent_bits: usize,
) {
    let moduli: Vec<BigUint> = (0..count)
        .map(|i| {
            let bits = if i > 0 && rng.random() { rng.random_range(2..=bits) } else { bits };
            modulus(rng, bits)
        })
        .collect();
    let constants: Vec<_> = moduli.iter().map(|m| Constants::new(&odd(m), bits, count)).collect();
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
    let expect = |what: &str, found: Numbers, expected: &dyn Fn(usize) -> BigUint| {
        assert_eq!(found.len(), count);
        for (i, found) in found.iter().enumerate() {
            assert_eq!(found.len(), constants[i].modulus().limbs().len());
            let (base, exponent, modulus) = (&bases[i], &exponents[i], &moduli[i]);
            assert_eq!(
                big(found),
                expected(i),
                "{what}, {bits} bits, {i} of {count}: base {base:x} exponent {exponent:x} modulus {modulus:x}"
            );
        }
    };
    let numbers = || Context::new(m, &pow::moduli(&powers));
    expect("pow", pow::pow(&mut numbers(), &powers), &|i| bases[i].modpow(&exponents[i], &moduli[i]));
    expect("pow_vartime", pow::pow_vartime(&mut numbers(), &powers), &|i| {
        bases[i].modpow(&exponents[i], &moduli[i])
    });

    check_reduced(numbers, &powers, &moduli);

    let others: Vec<_> = (0..count).map(|i| limbs_of(&(&exponents[i] % &moduli[i]), 1)).collect();
    let products: Vec<_> = (0..count)
        .map(|i| Product {
            modulus: &constants[i],
            a: &base_limbs[i],
            a_bits: base_bits.max(bits),
            b: &others[i],
        })
        .collect();
    let mut numbers = Context::new(m, &mul::moduli(&products));
    expect("mul", mul::mul(&mut numbers, &products), &|i| &bases[i] * &exponents[i] % &moduli[i]);
}
