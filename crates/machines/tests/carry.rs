//! Vector carry propagation chains on every machine that has them, against a big-integer library and the
//! batches.

mod common;

use common::{big, check_reduced, limbs_of, modulus, number, odd};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz_kernels::carry::{self, Chains, DIGITS, Digits, Kernels as _, Modulus, SCRATCH, select, tail};
use zariz_kernels::mul::{self, Product};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::{batch, limbs};
use zariz_machines::batch::Portable;

/// Runs a generic check on every machine that this processor has; says which it has not.
macro_rules! on_every_machine {
    ($check:ident) => {{
        $check(zariz_machines::carry::Portable::new());
        #[cfg(target_arch = "x86_64")]
        match zariz_machines::carry::Avx512::new() {
            Some(m) => $check(m),
            None => eprintln!("skipped on AVX-512F: the processor lacks it"),
        }
    }};
}

/// Fewer rounds where every instruction is interpreted.
const fn rounds(of: usize) -> usize {
    if cfg!(miri) { of.div_ceil(50) } else { of }
}

fn one() -> BigUint {
    BigUint::from(1u32)
}

fn digits(x: &BigUint, words: usize) -> Vec<Digits> {
    let mut out = vec![[0; DIGITS]; words];
    let all = x.to_u32_digits();
    assert!(all.len() <= DIGITS * words);
    for (i, digit) in all.into_iter().enumerate() {
        out[i / DIGITS][i % DIGITS] = digit;
    }
    out
}

fn value(digits: &[Digits]) -> BigUint {
    BigUint::from_slice(&digits.iter().copied().flatten().collect::<Vec<_>>())
}

/// `a·b·R^{−1} mod M` by the machine; the result is checked to be that, and below `R` it is by its length.
fn check_amm<M: carry::Kernels>(m: M, a: &BigUint, b: &BigUint, modulus: &BigUint, words: usize) {
    let radix = one() << (32 * DIGITS * words);
    let inverse = limbs::negative_inverse(modulus.iter_u64_digits().next().unwrap_or(0));
    let (digits_of_m, negated) = (digits(modulus, words), digits(&(&radix - modulus), words));
    // The earlier contents of the result must not matter.
    let mut out = vec![[0x5555_5555; DIGITS]; words];
    let constants = Modulus { digits: &digits_of_m, negated: &negated, mu: inverse as u32 };
    m.amm(&mut out, &mut [[u32::MAX; DIGITS]; SCRATCH], &digits(a, words), &digits(b, words), constants);
    let out = value(&out);
    assert_eq!(
        &out * &radix % modulus,
        a * b % modulus,
        "{words} words: {a:x} · {b:x} mod {modulus:x}: {out:x}"
    );
    // Without the subtraction the result is (a·b + Q·M)/R < a·b/R + M, and M is taken off only where that is
    // not below R.
    assert!(out <= a * b / &radix + modulus, "{words} words: {a:x} · {b:x} mod {modulus:x}: {out:x}");
}

#[test]
fn products_of_extreme_numbers() {
    fn check<M: carry::Kernels>(m: M) {
        for words in if cfg!(miri) { &[1, 4][..] } else { &[1, 2, 4, 6, 8] } {
            let bits = 32 * DIGITS * words;
            let all = (one() << bits) - one();
            // A digit of ones at each end, zeros between; ones except the lowest digit; every second digit.
            let ends = (BigUint::from(u32::MAX) << (bits - 32)) + BigUint::from(u32::MAX);
            let upper = &all - BigUint::from(u32::MAX);
            let second = &all / BigUint::from((1u64 << 32) + 1);
            let top = one() << (bits - 1);
            let moduli = [
                all.clone(),
                &top + one(),
                ends.clone(),
                &upper + one(),
                second.clone(),
                BigUint::from(3u32),
                BigUint::from(u32::MAX),
                (one() << (bits / 2)) - one(),
                (&all >> 1u32).clone(),
                (&all >> 33u32).clone(),
            ];
            for modulus in &moduli {
                let one = one();
                let factors = [BigUint::ZERO, one.clone(), modulus - &one, modulus.clone(), all.clone()];
                let factors =
                    [&factors[..], &[ends.clone(), upper.clone(), second.clone(), top.clone()]].concat();
                for a in &factors {
                    for b in &factors {
                        check_amm(m, a, b, modulus, *words);
                    }
                }
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn products_of_numbers_of_any_shape() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(31);
        for words in [1, 2, 4, 6, 8] {
            let bits = 32 * DIGITS * words;
            for _ in 0..rounds(400) {
                let length = if rng.random() { bits } else { rng.random_range(2..=bits) };
                let modulus = modulus(&mut rng, length);
                let (a, b) = (number(&mut rng, bits), number(&mut rng, bits));
                check_amm(m, &a, &b, &modulus, words);
            }
        }
    }
    on_every_machine!(check);
}

/// Both machines do the same with every bit, not only modulo `M`.
#[test]
#[cfg(target_arch = "x86_64")]
fn machines_agree_in_every_digit() {
    let Some(vector) = zariz_machines::carry::Avx512::new() else { return eprintln!("skipped: no AVX-512F") };
    let mut rng = StdRng::seed_from_u64(32);
    for words in [1, 2, 4] {
        let bits = 32 * DIGITS * words;
        for _ in 0..200 {
            let constants = carry::Constants::new(&odd(&modulus(&mut rng, bits)));
            let [a, b] = [(); 2].map(|()| digits(&number(&mut rng, bits), words));
            let mut out = [vec![[0; DIGITS]; words], vec![[0; DIGITS]; words]];
            zariz_machines::carry::Portable::new().amm(
                &mut out[0],
                &mut [[0; DIGITS]; SCRATCH],
                &a,
                &b,
                constants.modulus(),
            );
            vector.amm(&mut out[1], &mut [[0; DIGITS]; SCRATCH], &a, &b, constants.modulus());
            assert_eq!(out[0], out[1]);
        }
    }
}

/// The value of a window (see `Chains`): digits, and the masks of four chains.
fn worth(s: &[Digits], k: &[Vec<u16>; 4]) -> BigUint {
    let mut sum = value(s);
    for (chain, masks) in k.iter().enumerate() {
        for (v, mask) in masks.iter().enumerate() {
            for i in (0..DIGITS).filter(|i| mask >> i & 1 == 1) {
                sum += one() << (32 * (DIGITS * v + i + usize::from(chain >= 2)));
            }
        }
    }
    sum
}

fn check_tail<M: carry::Kernels, const V: usize>(m: M, s: [Digits; V], k: [Vec<u16>; 4]) {
    let masks: [[M::Mask; V]; 4] = std::array::from_fn(|chain| std::array::from_fn(|v| m.mask(k[chain][v])));
    let chains = Chains { s: s.each_ref().map(|digits| m.load(digits)), k: masks };
    let mut out = [[0; DIGITS]; V];
    let top = tail::resolve(m, &chains, &mut out);
    assert_eq!(value(&out) + (BigUint::from(top) << (32 * DIGITS * V)), worth(&s, &k), "{s:x?} {k:x?}");
}

#[test]
fn tails_ripple_through_every_digit() {
    fn widths<M: carry::Kernels, const V: usize>(m: M) {
        let ones = [[u32::MAX; DIGITS]; V];
        let none = || [(); 4].map(|()| vec![0u16; V]);
        // Ones everywhere, and one carry that arrives in one lane: it ripples to the top, however far that
        // is.
        for chain in 0..4 {
            for lane in 0..DIGITS * V {
                let mut k = none();
                k[chain][lane / DIGITS] = 1 << (lane % DIGITS);
                check_tail(m, ones, k.clone());
                // The same with a lane in between that stops it, or that is one too low.
                for stop in [0, u32::MAX - 1, u32::MAX - 2] {
                    let mut s = ones;
                    let at = (lane + DIGITS * V / 2) % (DIGITS * V);
                    s[at / DIGITS][at % DIGITS] = stop;
                    check_tail(m, s, k.clone());
                }
            }
        }
        // Every carry there can be at once.
        check_tail(m, ones, [(); 4].map(|()| vec![u16::MAX; V]));
        check_tail(m, [[0; DIGITS]; V], [(); 4].map(|()| vec![u16::MAX; V]));
        check_tail(m, ones, none());
    }
    fn check<M: carry::Kernels>(m: M) {
        widths::<M, 1>(m);
        widths::<M, 2>(m);
    }
    on_every_machine!(check);
}

#[test]
fn tails_of_any_window() {
    fn widths<M: carry::Kernels, const V: usize>(m: M, rng: &mut StdRng) {
        let digit = |rng: &mut StdRng| match rng.random_range(0..4) {
            0 => 0,
            1 => u32::MAX - rng.random_range(0..5),
            2 => rng.random(),
            _ => u32::MAX,
        };
        let mask = |rng: &mut StdRng| match rng.random_range(0..3) {
            0 => 0,
            1 => 1 << rng.random_range(0..16),
            _ => rng.random(),
        };
        for _ in 0..rounds(2000) {
            let s = [(); V].map(|()| [(); DIGITS].map(|()| digit(rng)));
            check_tail(m, s, [(); 4].map(|()| (0..V).map(|_| mask(rng)).collect()));
        }
    }
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(33);
        widths::<M, 1>(m, &mut rng);
        widths::<M, 2>(m, &mut rng);
    }
    on_every_machine!(check);
}

#[test]
fn additions_under_a_condition() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(34);
        for words in [2, 4, 6] {
            let bits = 32 * DIGITS * words;
            let all = (one() << bits) - one();
            for _ in 0..rounds(200) {
                let (a, b) = (number(&mut rng, bits), number(&mut rng, bits));
                let pairs = [
                    (a.clone(), b.clone()),
                    (&all - &a, a.clone()),
                    (&all - &a, &a + one()),
                    (all.clone(), b),
                ];
                for (a, b) in pairs {
                    for condition in [0, 1] {
                        let mut out = digits(&a, words);
                        tail::add_if::<M, 2>(m, condition, &mut out, &digits(&(&b & &all), words));
                        assert_eq!(value(&out), (&a + (&b & &all) * condition) & &all);
                    }
                }
            }
        }
    }
    on_every_machine!(check);
}

#[test]
fn every_entry_of_a_table() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(35);
        for words in [1, 2, 4] {
            let table: Vec<Digits> = (0..32 * words).map(|_| rng.random()).collect();
            for index in 0..34 {
                let mut out = vec![[7; DIGITS]; words];
                carry::Kernels::select(m, &mut out, &table, index);
                let at = words * index as usize;
                let expected = table.get(at..at + words).map_or(vec![[0; DIGITS]; words], <[_]>::to_vec);
                assert_eq!(out, expected);
                if words > 1 {
                    select::<M, 2>(m, &mut out, &table, index);
                    assert_eq!(out, expected);
                }
            }
        }
    }
    on_every_machine!(check);
}

/// A power of every kind and a product, against num-bigint, and the constant-time power against a batch of
/// one.
fn check_powers<M: carry::Kernels>(
    m: M,
    rng: &mut StdRng,
    bits: usize,
    base_bits: usize,
    exponent_bits: usize,
) {
    let modulus = modulus(rng, bits);
    let base = match rng.random_range(0..6) {
        0 => BigUint::ZERO,
        1 => one(),
        2 => &modulus - one(),
        3 => modulus.clone(),
        _ => number(rng, base_bits),
    };
    let exponent = number(rng, exponent_bits);
    let constants = carry::Constants::new(&odd(&modulus));
    let (b, e) = (limbs_of(&base, 1), limbs_of(&exponent, exponent_bits.div_ceil(64)));
    let base_bits = base_bits.max(bits);
    let power = Power { modulus: &constants, base: &b, base_bits, exponent: &e, exponent_bits };
    let expected = base.modpow(&exponent, &modulus);
    let run = |result: limbs::Numbers| {
        assert_eq!((result.len(), result[0].len()), (1, bits.div_ceil(64)));
        assert_eq!(big(&result[0]), expected, "{base:x} to {exponent:x} modulo {modulus:x}, {bits} bits");
        result
    };
    let ours = run(pow::pow(&mut carry::Context::new(m, &constants), &[power]));
    run(pow::pow_vartime(&mut carry::Context::new(m, &constants), &[power]));
    check_reduced(|| carry::Context::new(m, &constants), &[power], std::slice::from_ref(&modulus));

    let others = batch::Constants::new(&odd(&modulus), 52, batch::Constants::digits_for(bits, 52));
    let other = Power { modulus: &others, base: &b, base_bits, exponent: &e, exponent_bits };
    assert_eq!(pow::pow(&mut batch::Context::new(Portable::<1>::new(), &[&others]), &[other]), ours);

    let factor = number(rng, bits) % &modulus;
    let factor_limbs = limbs_of(&factor, 1);
    let product = Product { modulus: &constants, a: &b, a_bits: base_bits, b: &factor_limbs };
    let result = mul::mul(&mut carry::Context::new(m, &constants), &[product]);
    assert_eq!(big(&result[0]), &base * factor % &modulus);
}

#[test]
fn powers_of_every_small_length() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(36);
        for bits in (2..=140).chain(500..=530).chain(1015..=1030) {
            if cfg!(miri) && bits % 131 != 0 {
                continue;
            }
            check_powers(m, &mut rng, bits, bits + 7, 1 + bits / 8);
        }
    }
    on_every_machine!(check);
}

#[test]
fn powers_with_every_window_and_base() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(37);
        for exponent_bits in if cfg!(miri) { &[7][..] } else { &[0, 1, 2, 7, 20, 65, 200, 512, 1024] } {
            for base_bits in [1, 511, 512, 513, 1024, 1025, 5000] {
                check_powers(m, &mut rng, 512, base_bits, *exponent_bits);
                if !cfg!(miri) {
                    check_powers(m, &mut rng, 1024, base_bits, *exponent_bits);
                }
            }
        }
    }
    on_every_machine!(check);
}

#[test]
#[cfg_attr(miri, ignore = "takes hours")]
fn powers_of_long_numbers() {
    fn check<M: carry::Kernels>(m: M) {
        let mut rng = StdRng::seed_from_u64(38);
        for bits in [1024, 1025, 1536, 2047, 2048, 2049, 3072, 4096, 8192] {
            for _ in 0..3 {
                check_powers(m, &mut rng, bits, 2 * bits, 40);
            }
        }
        check_powers(m, &mut rng, 2048, 4096, 2048);
    }
    on_every_machine!(check);
}
