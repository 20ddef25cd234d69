//! Every method of multiplication and reduction on every machine, against a big-integer library.

#[macro_use]
mod common;

use common::{big, check_method, limbs_of, method_constants, modulus, number, slow};
use num_bigint::BigUint;
use rand::{SeedableRng, rngs::StdRng};
use zariz_kernels::batch::block::{TERM, TWO_TERMS_DIGITS};
use zariz_kernels::batch::{self, Method};
use zariz_kernels::place::AlignedBuf;
use zariz_kernels::{Montgomery, limbs};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, their machine code runs all the same.
zariz_emulator::install_before_main!();

/// Methods that have no name, but must work all the same.
const OTHERS: &[Method] = &[
    Method { square_levels: 2, multiply_levels: 1, ..Method::AHMM },
    #[cfg(feature = "papers")]
    Method { multiply_levels: 3, ..Method::TRUNCATED_KARATSUBA2 },
    #[cfg(feature = "papers")]
    Method { square_levels: 3, ..Method::TRUNCATED_SCHOOLBOOK },
];

fn methods() -> impl Iterator<Item = Method> {
    Method::NAMED.iter().map(|&(_, method)| method).chain(OTHERS.iter().copied())
}

/// A number as digits of a machine.
fn digits<M: batch::Kernels>(number: &BigUint, count: usize) -> Vec<u64> {
    limbs::digits_of(&limbs_of(number, 1), M::DIGIT_BITS, count).to_vec()
}

#[test]
fn every_method_at_every_small_digit_count() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(11);
        let w = M::DIGIT_BITS as usize;
        for digits in (2..=26).chain([30, 40]) {
            if slow::<M>() && digits % 5 != 0 {
                continue;
            }
            let exponent_bits = if slow::<M>() { 7 } else { 70 };
            for method in methods() {
                // With as little room above the modulus as allowed, with a bit more, with what AHMM needs,
                // and with much more.
                let free = [3, 4, 5, 20];
                let free = if digits >= TWO_TERMS_DIGITS && digits % TERM == 0 {
                    &free[..]
                } else {
                    &free[digits % 4..][..1]
                };
                for free in free {
                    check_method(m, &mut rng, method, w * digits - free, digits, exponent_bits);
                }
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn every_method_at_the_usual_sizes() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(12);
        for bits in [1024, 1536, 2048, 3072, 4096] {
            if slow::<M>() && bits > 2048 {
                continue;
            }
            for method in methods() {
                let digits = batch::Constants::digits_for(bits, M::DIGIT_BITS);
                check_method(m, &mut rng, method, bits, digits, 20);
                check_method(m, &mut rng, method, bits, digits.next_multiple_of(4), 20);
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn every_method_at_the_largest_size() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(13);
        if slow::<M>() {
            return;
        }
        for bits in [8192, 16_384] {
            let digits = batch::Constants::digits_for(bits, M::DIGIT_BITS);
            let methods = [
                Method::AHMM,
                Method::KARATSUBA_SQUARES,
                #[cfg(feature = "papers")]
                Method::TRUNCATED_SCHOOLBOOK,
                #[cfg(feature = "papers")]
                Method::TRUNCATED_KARATSUBA2,
                #[cfg(feature = "papers")]
                Method::KARATSUBA2,
            ];
            for method in methods {
                check_method(m, &mut rng, method, bits, method.digits(digits), 6);
            }
            // Numbers in terms: the most terms, and more.
            let digits = digits.next_multiple_of(TERM).min(batch::MAX_DIGITS);
            check_method(m, &mut rng, Method::KARATSUBA_PRODUCTS, bits, digits, 6);
        }
    }
    on_every_machine!(check);
}

/// Where a machine has terms, numbers get up to a twentieth more digits for them.
#[test]
fn numbers_are_rounded_up_to_terms() {
    fn check<M: batch::Kernels>(m: M) {
        let rounded = [
            (19, 19),
            (28, 28),
            (29, 30),
            (38, 38),
            (39, 40),
            (57, 57),
            (58, 60),
            (76, 76),
            (77, 80),
            (79, 80),
        ];
        for (needed, expected) in
            rounded.into_iter().chain([(20, 20), (30, 30), (159, 160), (160, 160), (161, 161)])
        {
            let expected = if expected / TERM <= M::MAX_TERMS { expected } else { needed };
            let found = Method::digits_on(m, Some(Method::KARATSUBA_PRODUCTS), needed);
            assert_eq!(found, expected, "{needed}");
            assert_eq!(Method::digits_on(m, Some(Method::AMM), needed), needed);
            let by_default = Method::digits_on(m, None, needed);
            assert_eq!(by_default, if m.adds_beside_products() { expected } else { needed });
            assert_eq!(Method::fastest(m, 80) == Method::KARATSUBA_PRODUCTS, m.adds_beside_products());
        }
        let all = (2..=batch::MAX_DIGITS)
            .map(|needed| Method::digits_on(m, Some(Method::KARATSUBA_PRODUCTS), needed));
        assert!(all.is_sorted());
    }
    on_every_machine!(check);
}

/// Entries have a second part where the longest modulus leaves five bits free. Where it leaves fewer,
/// half-reduced products would outgrow their bound, in cases that random numbers hardly meet.
#[test]
fn entries_are_half_reduced_where_five_bits_are_free() {
    fn check<M: batch::Kernels>(m: M) {
        for l in [2, 5, 20] {
            for method in [Method::AHMM, Method::TILED_AHMM] {
                let modulus = |free: usize| {
                    let number =
                        (BigUint::from(1u32) << (M::DIGIT_BITS as usize * l - free)) - BigUint::from(1u32);
                    method_constants::<M>(&number, l, method)
                };
                let short = modulus(30);
                for (free, words) in [(3, l), (4, l), (5, 2 * l), (6, 2 * l)] {
                    let longest = modulus(free);
                    for lanes in
                        [&[&longest][..], &[&short, &longest]].into_iter().filter(|it| it.len() <= M::LANES)
                    {
                        let found = batch::Context::new(m, lanes).entry_words() * size_of::<u64>()
                            / size_of::<M::Digit>();
                        assert_eq!(found, words, "{method}, {l} digits, {free} bits free");
                    }
                }
            }
        }
    }
    on_every_machine!(check);
}

/// `y^{−1} mod 2^k` for an odd `y`.
fn inverse_mod_power_of_two(y: &BigUint, k: usize) -> BigUint {
    let (two, mask) = (BigUint::from(2u32), (BigUint::from(1u32) << k) - 1u32);
    let mut inverse = y.clone() & &mask;
    let mut known = 3;
    while known < k {
        inverse = (&inverse * ((&two + (BigUint::from(1u32) << (2 * k)) - ((y * &inverse) & &mask)) & &mask))
            & &mask;
        known *= 2;
    }
    inverse
}

/// Products whose lower half is chosen: what a reduction that leaves columns out must carry is decided by it.
///
/// For `T ≡ low (mod R)`: no digit but zeros, all ones, a single bit in each position, all ones except one
/// digit.
#[test]
fn chosen_lower_halves() {
    fn check<M: batch::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(14);
        let w = M::DIGIT_BITS as usize;
        let one = BigUint::from(1u32);
        for l in [4, 8, 12] {
            let r_bits = w * l;
            let r = &one << r_bits;
            let ones = &r - 1u32;
            let mut lows = vec![BigUint::ZERO, ones.clone()];
            lows.extend((0..r_bits).map(|bit| &one << bit));
            for digit in 0..l {
                let digit_ones = ((&one << w) - 1u32) << (w * digit);
                lows.push(&ones ^ &digit_ones); // zeros in one digit
                lows.push(digit_ones.clone()); // ones in one digit
                lows.push(&ones ^ (&one << (w * digit))); // one less
                lows.push((&r - (&one << (w * digit))) & &ones); // ones from a digit up
            }
            for chunk in lows.chunks(M::LANES) {
                let moduli: Vec<_> = (0..M::LANES).map(|_| modulus(&mut rng, r_bits - 3)).collect();
                // x·y ≡ low, half of low's factors of two in y: x = low·y^{−1} mod R, tried until both are
                // below 4M.
                let factors: Vec<(BigUint, BigUint)> = (0..M::LANES)
                    .map(|i| {
                        let (low, limit) = (&chunk[i.min(chunk.len() - 1)], &moduli[i] << 2);
                        let twos = low.trailing_zeros().map_or(0, |zeros| zeros as usize / 2);
                        loop {
                            let odd = number(&mut rng, r_bits - 1 - twos) | &one;
                            let bits = r_bits - twos;
                            let x = ((low >> twos) * inverse_mod_power_of_two(&odd, bits))
                                & ((&one << bits) - 1u32);
                            let y = odd << twos;
                            if x < limit && y < limit {
                                assert_eq!((&x * &y) & &ones, *low);
                                break (x, y);
                            }
                        }
                    })
                    .collect();
                for method in methods() {
                    let constants: Vec<_> =
                        moduli.iter().map(|modulus| method_constants::<M>(modulus, l, method)).collect();
                    let lanes: Vec<_> = constants.iter().collect();
                    let mut mont = batch::Context::new(m, &lanes);
                    let load = |mont: &mut batch::Context<M>,
                                which: &dyn Fn(&(BigUint, BigUint)) -> BigUint|
                     -> AlignedBuf {
                        let lanes: Vec<_> = factors.iter().map(|pair| digits::<M>(&which(pair), l)).collect();
                        mont.load(l, |lane, _| &lanes[lane])
                    };
                    let mut x = load(&mut mont, &|pair| pair.0.clone());
                    let y = load(&mut mont, &|pair| pair.1.clone());
                    mont.amm(&mut x, &y);
                    for (lane, result) in mont.leave(x, M::LANES).iter().enumerate() {
                        let (modulus, (x, y)) = (&moduli[lane], &factors[lane]);
                        // result·R² ≡ x·y, result < M.
                        assert!(big(result) < *modulus);
                        assert_eq!(
                            (big(result) * &r * &r) % modulus,
                            (x * y) % modulus,
                            "{method}, {l} digits, lane {lane}: {x:x} times {y:x} modulo {modulus:x}"
                        );
                    }
                }
            }
        }
    }
    on_every_machine!(check);
}
