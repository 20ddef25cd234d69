//! Operations on exact integers: every block does what its banner says, results have the value and the bound
//! that are stated, and real machines come to the very same digits.

use num_bigint::{BigInt, BigUint};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use zariz_analysis::exact::{Exact, observe, value_of_digits};
use zariz_kernels::batch::block::{FEWEST_TERMS, TERM, terms_of};
use zariz_kernels::batch::{self, Method, Reduction};
use zariz_kernels::bounds::FREE_BITS;
use zariz_kernels::fixed_base::{self, Access};
use zariz_kernels::pow::{Power, pow};
use zariz_kernels::{Montgomery, OddModulus};
use zariz_machines::batch::Find;
use zariz_machines::on_each_machine;

fn limbs(number: &BigInt) -> Vec<u64> {
    number.magnitude().to_u64_digits()
}

fn odd(number: &BigInt) -> OddModulus {
    OddModulus::new(&limbs(number)).expect("odd and above 1")
}

fn digits(number: &BigInt, w: u32, l: usize) -> Vec<u64> {
    let mask = (BigInt::from(1) << w) - 1;
    (0..l).map(|i| ((number >> (w as usize * i)) & &mask).iter_u64_digits().next().unwrap_or(0)).collect()
}

fn below(random: &mut StdRng, bound: &BigInt) -> BigInt {
    let bytes: Vec<u8> = (0..bound.bits().div_ceil(8) + 8).map(|_| random.random()).collect();
    BigInt::from(BigUint::from_bytes_le(&bytes)) % bound
}

/// Moduli that fill `l` digits but for the bits that are free, or hardly: all ones, the least of that length,
/// random ones, and a tiny one.
fn moduli(random: &mut StdRng, w: u32, l: usize, free: usize) -> Vec<BigInt> {
    let one = || BigInt::from(1);
    let most: BigInt = one() << (w as usize * l - free);
    let mut moduli: Vec<BigInt> = vec![&most - 1, (&most >> 1) + 1, BigInt::from(3)];
    moduli.push(below(random, &most) | one());
    moduli.push((below(random, &(&most >> w)) | one()) + 2);
    // M ≡ 1 and M ≡ −1 modulo 2^w: quotients and friendly multiples at their extremes.
    moduli.push(((&most >> (w + 1)) << w) + 1);
    moduli.push(((&most >> (w + 1)) << w) - 1);
    // M ≡ ±1 modulo 2^{2w}, 2^{4w} and 2^{10w}, for two and four rows at a time, and for ten.
    for rows in [2, 4, 10].into_iter().filter(|&rows| l > rows) {
        let high = (&most >> (w as usize * rows + 1)) << (w as usize * rows);
        moduli.extend([&high + 1, high - 1]);
    }
    moduli
}

/// Numbers below `4M`: none, one, all ones, the greatest, the modulus itself, random ones.
fn numbers(random: &mut StdRng, modulus: &BigInt) -> Vec<BigInt> {
    let most: BigInt = modulus * 4;
    let ones = (BigInt::from(1) << (most.bits() - 1)) - 1;
    vec![
        BigInt::ZERO,
        BigInt::from(1),
        ones,
        &most - 1,
        modulus.clone(),
        below(random, &most),
        below(random, &most),
    ]
}

/// One operation on digits, in every lane the same.
///
/// A factor is a table entry, unless entries are half-reduced.
fn run<M: batch::Kernels>(m: M, constants: &batch::Constants, x: &[u64], y: Option<&[u64]>) -> Vec<u64> {
    let half_reduced = constants.method().is_some_and(|method| method.ahmm);
    let mut mont = batch::Context::new(m, &[constants]);
    let mut number = |digits: &[u64]| mont.load(digits.len(), |_, _| digits);
    let mut out = number(x);
    match y.map(&mut number) {
        Some(y) if half_reduced => mont.amm(&mut out, &y),
        Some(y) => mont.multiply_entry(&mut out, &y),
        None => mont.ams(&mut out, 1),
    }
    let mut words = vec![0; M::LANES * x.len()];
    m.scatter(&mut words, bytemuck::cast_slice(&out));
    assert!(words.chunks(x.len()).all(|lane| lane == &words[..x.len()]), "lanes differ");
    words.truncate(x.len());
    words
}

/// Products and squares of `l` digits by a method: value, bounds, banners, and the real machine beside.
fn products<M: Find>(l: usize, method: Method) {
    let w = M::DIGIT_BITS;
    let mut random = StdRng::seed_from_u64(l as u64);
    let r = BigInt::from(1) << (w as usize * l);
    let split = method == Method::KARATSUBA_PRODUCTS && l == M::MAX_TWO_TERMS;
    let in_terms =
        method == Method::KARATSUBA_PRODUCTS && terms_of(l).is_some_and(|terms| terms <= M::MAX_TERMS);
    for modulus in moduli(&mut random, w, l, FREE_BITS) {
        let constants = batch::Constants::new(&odd(&modulus), w, l).with_method(method);
        let mut numbers = numbers(&mut random, &modulus);
        // Each difference from the second term borrows.
        numbers
            .extend([BigInt::from(1) << (w as usize * TERM)].into_iter().filter(|term| *term < &modulus * 4));
        for (i, x) in numbers.iter().enumerate() {
            // A product with the next number, and the square.
            let y = &numbers[(i + 1) % numbers.len()];
            for (y, y_digits) in [(y, Some(digits(y, w, l))), (x, None)] {
                let x_digits = digits(x, w, l);
                let exact = Exact::<M>::default();
                let (out, observed) = observe(|| run(exact, &constants, &x_digits, y_digits.as_deref()));
                let what = format!("{}, {method}, {l} digits: {x:#x} · {y:#x} modulo {modulus:#x}", M::NAME);
                assert!(observed.findings.is_empty(), "{what}: {:#?}", observed.findings);
                assert!(observed.blocks > 3, "{what}: no block was looked at");
                assert_eq!(observed.names.contains("karatsuba_two_terms"), split, "{what}");
                assert_eq!(observed.names.contains("karatsuba_terms_reduce"), in_terms, "{what}");
                let z = value_of_digits(&out, w);
                let t = x * y;
                assert_eq!((&z * &r - &t) % &modulus, BigInt::ZERO, "{what}: wrong value");
                let moduli = if matches!(method.reduction, Reduction::Separated { .. }) { 1 } else { 2 };
                assert!(z <= &t / &r + &modulus * moduli, "{what}: not below T/R + {moduli}M");
                assert!(z < &modulus * 4, "{what}: not below 4M");
                if let Some(real) = M::find() {
                    assert_eq!(
                        run(real, &constants, &x_digits, y_digits.as_deref()),
                        out,
                        "{what}: the real machine"
                    );
                }
            }
        }
    }
}

#[test]
fn products_of_every_size_and_machine() {
    fn machine<M: Find>() {
        // Every number of tiles up to three, the sizes of RSA primes, and odd numbers reduced by four rows.
        for l in [2, 3, 5, 11, 13, 15, 19, M::MAX_TILE, M::MAX_TILE + 1, 2 * M::MAX_TILE + 1, 41] {
            products::<M>(l, Method::AMM);
        }
    }
    on_each_machine!(machine());
}

#[test]
fn products_by_every_method() {
    fn machine<M: Find>() {
        if M::MAX_TWO_TERMS > 0 {
            products::<M>(M::MAX_TWO_TERMS, Method::KARATSUBA_PRODUCTS);
        }
        if M::MAX_TERMS > 0 {
            for terms in [FEWEST_TERMS, FEWEST_TERMS + 1, M::MAX_TERMS] {
                products::<M>(TERM * terms, Method::KARATSUBA_PRODUCTS);
            }
        }
        for &(_, method) in Method::NAMED {
            for l in [2, 4, 7, 8, 12, M::MAX_TRIANGLE + 1, method.digits(2 * M::MAX_TILE + 1)] {
                products::<M>(l, method);
            }
        }
    }
    on_each_machine!(machine());
}

/// Half-reduced products: entries below `B/2^{w·low} + 2M`, products with them below `5M`, for numbers below
/// `5M` and moduli that leave five bits free.
#[test]
fn products_by_table_entries() {
    fn machine<M: Find>() {
        let w = M::DIGIT_BITS;
        for l in [2, 3, 8, M::MAX_TILE + 1] {
            let mut random = StdRng::seed_from_u64(7);
            let bits = w as usize * l;
            let r = BigInt::from(1) << bits;
            for modulus in [(&r >> 5) - 1, (&r >> 6) + 1, below(&mut random, &(&r >> 5)) | BigInt::from(1)] {
                let constants = batch::Constants::new(&odd(&modulus), w, l).with_method(Method::AHMM);
                let most: BigInt = &modulus * 5 - 1;
                for (x, b) in
                    [(most.clone(), most.clone()), (most.clone(), BigInt::ZERO), (&modulus - 1, most.clone())]
                {
                    let ((k, z), observed) = observe(|| {
                        let m = Exact::<M>::default();
                        let mut mont = batch::Context::new(m, &[&constants]);
                        let [x, b] = [&x, &b].map(|number| digits(number, w, l));
                        let mut x = mont.load(l, |_, _| &x);
                        let mut entry = mont.load(2 * l, |_, _| &b);
                        assert_eq!(mont.entry_words(), 2 * l);
                        mont.complete_entry(&mut entry);
                        mont.multiply_entry(&mut x, &entry);
                        (value_of_digits(&entry[l..], w), value_of_digits(&x, w))
                    });
                    let what =
                        format!("{}, {l} digits: {x:#x} by an entry of {b:#x} modulo {modulus:#x}", M::NAME);
                    assert!(observed.findings.is_empty(), "{what}: {:#?}", observed.findings);
                    let low = w as usize * (l / 2);
                    assert_eq!(((&k << low) - &b) % &modulus, BigInt::ZERO, "{what}: K is wrong");
                    assert!(k < (&b >> low) + &modulus * 2, "{what}: K is too large");
                    assert_eq!((&z * &r - &x * &b) % &modulus, BigInt::ZERO, "{what}: wrong value");
                    assert!(z < &modulus * 5, "{what}: not below 5M");
                }
            }
        }
    }
    on_each_machine!(machine());
}

#[test]
fn numbers_enter_below_3m_and_leave_as_they_were() {
    fn machine<M: Find>() {
        enter_and_leave::<M>(9, Method::AMM);
        if M::MAX_TWO_TERMS > 0 {
            enter_and_leave::<M>(M::MAX_TWO_TERMS, Method::KARATSUBA_PRODUCTS);
        }
    }
    fn enter_and_leave<M: Find>(l: usize, method: Method) {
        let w = M::DIGIT_BITS;
        let mut random = StdRng::seed_from_u64(5);
        for modulus in moduli(&mut random, w, l, FREE_BITS) {
            let constants = batch::Constants::new(&odd(&modulus), w, l).with_method(method);
            let exact = Exact::<M>::default();
            // As long as the modulus, and three times as long, for Horner's rule.
            for bits in [w as usize * l, 3 * w as usize * l] {
                let most = (BigInt::from(1) << bits) - 1;
                for number in [BigInt::ZERO, below(&mut random, &most), most] {
                    let ((entered, left), observed) = observe(|| {
                        let mut mont = batch::Context::new(exact, &[&constants]);
                        let x = mont.enter(&[&limbs(&number)], bits);
                        let entered = value_of_digits(&x, w);
                        (entered, mont.leave(x, 1))
                    });
                    let what = format!("{}: {number:#x} modulo {modulus:#x}", M::NAME);
                    assert!(observed.findings.is_empty(), "{what}: {:#?}", observed.findings);
                    let in_form = &number << (w as usize * l);
                    assert_eq!((&entered - in_form) % &modulus, BigInt::ZERO, "{what}");
                    assert!(entered < &modulus * 3, "{what}: not below 3M");
                    assert_eq!(value_of_digits(&left[0], 64), &number % &modulus, "{what}");
                }
            }
        }
    }
    on_each_machine!(machine());
}

#[test]
fn powers_are_right() {
    fn machine<M: Find>() {
        let (w, l) = (M::DIGIT_BITS, 6);
        let mut random = StdRng::seed_from_u64(6);
        for modulus in moduli(&mut random, w, l, FREE_BITS) {
            let constants = batch::Constants::new(&odd(&modulus), w, l);
            let (base, exponent) =
                (below(&mut random, &modulus), below(&mut random, &(BigInt::from(1) << 90)));
            let power = Power {
                modulus: &constants,
                base: &limbs(&base),
                base_bits: constants.modulus().bits(),
                exponent: &limbs(&exponent),
                exponent_bits: 90,
            };
            let (found, observed) =
                observe(|| pow(&mut batch::Context::new(Exact::<M>::default(), &[power.modulus]), &[power]));
            assert!(observed.findings.is_empty(), "{}: {:#?}", M::NAME, observed.findings);
            assert_eq!(value_of_digits(&found[0], 64), base.modpow(&exponent, &modulus), "{}", M::NAME);
            let (found, observed) = observe(|| {
                let mut mont = batch::Context::new(Exact::<M>::default(), &[power.modulus]);
                let size = fixed_base::size(&mont, 90, Access::Scan, 1 << 16).expect("a small table");
                let table = fixed_base::build(&mut mont, power.base, power.base_bits, size);
                fixed_base::pow(&mut mont, &table, &[power.exponent], 90)
            });
            assert!(observed.findings.is_empty(), "{}: {:#?}", M::NAME, observed.findings);
            assert_eq!(value_of_digits(&found[0], 64), base.modpow(&exponent, &modulus), "{}", M::NAME);
        }
    }
    on_each_machine!(machine());
}
