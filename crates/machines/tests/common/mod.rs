//! Batches on any machine, against a big-integer library, with a modulus, base and exponent of its own in
//! every lane.
#![allow(dead_code)] // Each test program uses a part of this.

pub mod lookup;
pub mod pair;
pub mod row;

use num_bigint::BigUint;
use rand::{Rng, rngs::StdRng};
use zariz_kernels::batch::{self, Method};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::{Montgomery, OddModulus, limbs};

/// Runs a generic check on every machine that this processor has, or that is emulated; says which it has not.
#[allow(unused_macros)] // Each test program uses a part of this.
macro_rules! on_every_machine {
    ($check:ident) => {{
        use zariz_machines::batch::{Find, Portable};
        fn run<M: Find>() {
            match M::find() {
                Some(machine) => $check(machine),
                None => eprintln!("skipped on {}: {}", M::NAME, crate::common::why_skipped::<M>()),
            }
        }
        $check(Portable::<8>::new());
        zariz_machines::on_each_machine!(run());
    }};
}

/// The VPMADD52 of which a machine's products are made, if any.
#[cfg(target_arch = "x86_64")]
fn form<M: 'static>() -> Option<zariz_emulator::Form> {
    use std::any::TypeId;
    use zariz_emulator::Form;
    use zariz_machines::batch::{Avx512Ifma, AvxIfma};
    let forms = [(TypeId::of::<Avx512Ifma>(), Form::Evex), (TypeId::of::<AvxIfma>(), Form::Vex)];
    forms.into_iter().find(|&(machine, _)| machine == TypeId::of::<M>()).map(|(_, form)| form)
}

#[cfg(not(target_arch = "x86_64"))]
fn form<M: 'static>() -> Option<zariz_emulator::Form> {
    None
}

/// Why a machine that the processor lacks is not emulated either.
pub fn why_skipped<M: 'static>() -> String {
    let emulation = form::<M>().map(|form| zariz_emulator::install().of(form));
    let emulation = emulation.map_or(String::new(), |mode| format!("; emulation: {mode:?}"));
    format!("the processor lacks it{emulation}")
}

/// Whether this machine's multiplications are emulated, so that long cases take minutes.
pub fn slow<M: 'static>() -> bool {
    form::<M>().is_some_and(zariz_emulator::is_emulating)
}

pub fn big(limbs: &[u64]) -> BigUint {
    limbs.iter().rev().fold(BigUint::ZERO, |acc, &limb| (acc << 64) + limb)
}

pub fn limbs_of(x: &BigUint, len: usize) -> Vec<u64> {
    let mut out: Vec<u64> = x.iter_u64_digits().collect();
    out.resize(len.max(out.len()), 0);
    out
}

/// A number that is known to be odd and above 1.
pub fn odd(number: &BigUint) -> OddModulus {
    OddModulus::new(&limbs_of(number, 1)).expect("odd and above 1")
}

/// So many words up to `most`: often 0, `most`, or on either side of its half.
pub fn words(rng: &mut StdRng, count: usize, most: u64) -> Vec<u64> {
    let mut word = || match rng.random_range(0..8) {
        0 | 1 => 0,
        2 | 3 => most,
        4 => most / 2 + 1,
        5 => most / 2,
        _ => rng.random_range(0..=most),
    };
    (0..count).map(|_| word()).collect()
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

struct Case {
    modulus: BigUint,
    constants: batch::Constants,
    base: BigUint,
    exponent: BigUint,
}

fn case<M: batch::Kernels>(
    rng: &mut StdRng,
    bits: usize,
    digits: usize,
    base_bits: usize,
    exponent_bits: usize,
) -> Case {
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
    let constants = batch::Constants::new(&odd(&modulus), M::DIGIT_BITS, digits);
    Case { modulus, constants, base, exponent }
}

/// Powers of bases below their moduli: with the exponents of `powers`, with the first one in all lanes, with
/// those beside it, and with RSA's.
pub fn check_reduced<D: Montgomery, C>(mont: impl Fn() -> D, powers: &[Power<C>], moduli: &[BigUint]) {
    let bases: Vec<BigUint> =
        powers.iter().zip(moduli).map(|(power, modulus)| big(power.base) % modulus).collect();
    let base_limbs: Vec<_> = bases.iter().map(|base| limbs_of(base, 1)).collect();
    let first = big(powers[0].exponent);
    let shared = [&first | BigUint::from(1u32), (&first >> 1) << 1, BigUint::from(65537u32), first];
    let own = powers.iter().map(|power| big(power.exponent)).collect();
    for exponents in shared.map(|exponent| vec![exponent; powers.len()]).into_iter().chain([own]) {
        let limbs: Vec<_> = exponents.iter().map(|exponent| limbs_of(exponent, 1)).collect();
        let reduced = |i: usize| Power {
            base: &base_limbs[i],
            base_bits: moduli[i].bits() as usize,
            exponent: &limbs[i],
            exponent_bits: 64 * limbs[i].len(),
            ..powers[i]
        };
        let results =
            pow::pow_reduced_vartime(&mut mont(), &(0..powers.len()).map(reduced).collect::<Vec<_>>());
        assert_eq!(results.len(), powers.len());
        for (i, (result, modulus)) in results.iter().zip(moduli).enumerate() {
            let (base, exponent) = (&bases[i], &exponents[i]);
            assert_eq!(result.len(), limbs_of(modulus, 1).len());
            assert_eq!(
                big(result),
                base.modpow(exponent, modulus),
                "{i}: {base:x} to {exponent:x} modulo {modulus:x}"
            );
        }
    }
}

/// Powers and products of one batch, checked lane by lane; `lanes` may be fewer than the machine has.
pub fn check_batch<M: batch::Kernels>(
    m: M,
    rng: &mut StdRng,
    bits: usize,
    lanes: usize,
    base_bits: usize,
    exponent_bits: usize,
) {
    // Moduli of different lengths that share a digit count.
    let digits = batch::Constants::digits_for(bits, M::DIGIT_BITS);
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
    let check = |what: &str, results: limbs::Numbers, expected: &dyn Fn(&Case) -> BigUint| {
        assert_eq!(results.len(), lanes);
        for (lane, (case, result)) in cases.iter().zip(results.iter()).enumerate() {
            assert_eq!(result.len(), case.constants.modulus().limbs().len());
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
    let mont = || batch::Context::new(m, &pow::moduli(&powers));
    // One context for all: what one operation has left in its memory is no part of the next one's numbers.
    let used = &mut mont();
    check("pow", pow::pow(used, &powers), &|c| c.base.modpow(&c.exponent, &c.modulus));
    check("pow_vartime", pow::pow_vartime(used, &powers), &|c| c.base.modpow(&c.exponent, &c.modulus));
    let twos: Vec<Power> = powers.iter().map(|p| Power { base: &[2], base_bits: 2, ..*p }).collect();
    let two = BigUint::from(2u32);
    check("pow_of_two", pow::pow_of_two(used, &twos), &|c| two.modpow(&c.exponent, &c.modulus));
    let shared: Vec<Power> = powers.iter().map(|p| Power { exponent: &exponents[0], ..*p }).collect();
    let exponent = cases[0].exponent.clone();
    check("pow_vartime, one exponent", pow::pow_vartime(used, &shared), &|c| {
        c.base.modpow(&exponent, &c.modulus)
    });

    check_reduced(mont, &powers, &cases.iter().map(|c| c.modulus.clone()).collect::<Vec<_>>());

    let factors: Vec<_> = cases.iter().map(|c| limbs_of(&c.base, 1)).collect();
    let others: Vec<_> = cases.iter().map(|c| limbs_of(&(&c.exponent % &c.modulus), 1)).collect();
    let products: Vec<Product> = cases
        .iter()
        .enumerate()
        .map(|(i, c)| Product {
            modulus: &c.constants,
            a: &factors[i],
            a_bits: base_bits.max(bits),
            b: &others[i],
        })
        .collect();
    check("mul", mul::mul(used, &products), &|c| &c.base * &c.exponent % &c.modulus);
    check("pow again", pow::pow(used, &powers), &|c| c.base.modpow(&c.exponent, &c.modulus));
}

/// A modulus prepared for a method.
pub fn method_constants<M: batch::Kernels>(
    modulus: &BigUint,
    digits: usize,
    method: Method,
) -> batch::Constants {
    batch::Constants::new(&odd(modulus), M::DIGIT_BITS, digits).with_method(method)
}

/// Powers of one batch by one method.
pub fn check_method<M: batch::Kernels>(
    m: M,
    rng: &mut StdRng,
    method: Method,
    bits: usize,
    digits: usize,
    exponent_bits: usize,
) {
    let moduli: Vec<BigUint> = (0..M::LANES)
        .map(|i| {
            let bits = if i % 3 == 2 { rng.random_range(2..=bits) } else { bits };
            modulus(rng, bits)
        })
        .collect();
    let constants: Vec<_> =
        moduli.iter().map(|modulus| method_constants::<M>(modulus, digits, method)).collect();
    let bases: Vec<_> = (0..M::LANES).map(|_| number(rng, bits)).collect();
    let exponents: Vec<_> = (0..M::LANES).map(|_| number(rng, exponent_bits)).collect();
    let limbs: Vec<_> = bases.iter().zip(&exponents).map(|(b, e)| (limbs_of(b, 1), limbs_of(e, 1))).collect();
    let power = |i: usize| Power {
        modulus: &constants[i],
        base: &limbs[i].0,
        base_bits: bits,
        exponent: &limbs[i].1,
        exponent_bits,
    };
    let batch: Vec<_> = (0..M::LANES).map(power).collect();
    for (lane, result) in
        pow::pow(&mut batch::Context::new(m, &pow::moduli(&batch)), &batch).iter().enumerate()
    {
        assert_eq!(
            big(result),
            bases[lane].modpow(&exponents[lane], &moduli[lane]),
            "{method}, {bits} bits in {digits} digits, lane {lane}: base {:x} exponent {:x} modulus {:x}",
            bases[lane],
            exponents[lane],
            moduli[lane]
        );
    }
}
