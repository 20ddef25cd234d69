//! Shows whether a branch or an address depends on a secret. Runs under valgrind's memcheck, and marks
//! exponents, bases and the inner limbs of moduli as undefined: memcheck reports each branch and address that
//! depends on them.
//!
//! Run by `cargo xtask test secrets`. Valgrind supports AVX2, BMI2 and ADX, but neither AVX-512 nor AVX-IFMA.

use zariz_kernels::batch::{self, Method};
use zariz_kernels::bls12_381::Fe;
#[cfg(feature = "papers")]
use zariz_kernels::carry;
use zariz_kernels::fixed_base::{self, Access};
use zariz_kernels::limbs::Limbs;
use zariz_kernels::mul::{self, Product};
use zariz_kernels::multi_pow::{self, MultiPower};
use zariz_kernels::pow::{self, Power};
use zariz_kernels::rsaz::{self, Quotients};
use zariz_kernels::sieve::{Sieve, SmallPrimes};
use zariz_kernels::wheel::Wheel;
use zariz_kernels::{OddModulus, invert, limbs, pair, scalar};
use zariz_machines::batch::Find;
use zariz_machines::{bls12_381, memcheck};

/// A number whose limbs are undefined, except for the outer ones where asked.
fn secret(limbs: usize, seed: u64, keep_ends: bool) -> Vec<u64> {
    let mut out: Vec<u64> =
        (1..=limbs as u64).map(|i| (i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    if keep_ends {
        out[0] |= 1;
        out[limbs - 1] |= 1 << 63;
    }
    memcheck::secret(if keep_ends { &mut out[1..limbs - 1] } else { &mut out });
    out
}

/// Powers, products and inverses of secrets, in the context that `$mont` makes of what `$prepare` makes of a
/// modulus.
macro_rules! check {
    ($name:literal, $limbs:expr, $prepare:expr, $mont:expr) => {{
        let limbs: usize = $limbs;
        // That a modulus is odd, above 1, and how long it is, is public; its other limbs are not.
        let modulus = secret(limbs, 1, true);
        let constants = $prepare(&OddModulus::new(&modulus).expect("an odd number above 1"));
        let (base, factor, exponent) =
            (secret(2 * limbs, 2, false), secret(limbs, 3, false), secret(2, 4, false));
        let (base_bits, exponent_bits) = (64 * base.len(), 64 * exponent.len());
        let power = Power { modulus: &constants, base: &base, base_bits, exponent: &exponent, exponent_bits };
        pow::pow(&mut $mont(&constants), &[power]);
        pow::pow_of_two(&mut $mont(&constants), &[Power { base: &[2], base_bits: 2, ..power }]);
        let product = Product { modulus: &constants, a: &base, a_bits: base_bits, b: &factor };
        mul::mul(&mut $mont(&constants), &[product]);
        let other = secret(2, 6, false);
        let (bases, exponents): ([&[u64]; 2], [&[u64]; 2]) = ([&base, &factor], [&exponent, &other]);
        let powers = MultiPower {
            modulus: &constants,
            bases: &bases,
            base_bits,
            exponents: &exponents,
            exponent_bits,
        };
        multi_pow::multi_pow(&mut $mont(&constants), &[powers]);
        let mut mont = $mont(&constants);
        let size = fixed_base::size(&mont, exponent_bits, Access::Scan, 1 << 24).expect("a small table");
        let table = fixed_base::build(&mut mont, &base, base_bits, size);
        fixed_base::pow(&mut mont, &table, &exponents, exponent_bits);
        // That there is an inverse is public. The inversion itself: see `candidates`.
        let inverse = |number: &[u64]| Some(Limbs::new(secret(number.len(), 7, false)));
        invert::invert(&mut $mont(&constants), &[&base, &factor, &base], base_bits, inverse);
        println!("{}, {} bits", $name, 64 * limbs);
    }};
}

fn batches<M: Find>() {
    let (Some(machine), name) = (M::find(), M::NAME) else { return };
    for limbs in [8, 24] {
        let digits = batch::Constants::digits_for(64 * limbs, M::DIGIT_BITS);
        let methods = [
            Method::AMM,
            Method::AHMM_KARATSUBA_SQUARES,
            Method::TILED,
            Method::TILED_AHMM_KARATSUBA_SQUARES,
            #[cfg(feature = "papers")]
            Method::TRUNCATED_KARATSUBA,
        ];
        for method in methods {
            let digits = method.digits(digits);
            let prepare = |modulus: &OddModulus| {
                batch::Constants::new(modulus, M::DIGIT_BITS, digits).with_method(method)
            };
            print!("{name}, {method}: ");
            check!("lanes", limbs, prepare, |constants| batch::Context::new(machine, &[constants]));
        }
    }
}

fn limbwise<S: scalar::Kernels>(machine: S, name: &str) {
    for limbs in [8, 16, 24] {
        print!("{name}: ");
        let prepare = |modulus: &OddModulus| scalar::Constants::new(modulus, S::STEP);
        check!("limbs", limbs, prepare, |constants| scalar::Context::new(machine, constants));
    }
}

fn wide<M: rsaz::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 32] {
        for &quotients in Quotients::ALL {
            print!("{name}, {quotients:?}: ");
            let mont = |constants| rsaz::Context::with_quotients(machine, constants, quotients);
            check!("rsaz", limbs, rsaz::constants, mont);
        }
    }
}

#[cfg(feature = "papers")]
fn carry_chains<M: carry::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 32] {
        print!("{name}: ");
        check!("carry chains", limbs, carry::Constants::new, |constants| carry::Context::new(
            machine, constants
        ));
    }
}

fn pairs<M: pair::Kernels>(machine: M, name: &str) {
    for limbs in [8, 16, 24, 32, 38, 50, 64, 70] {
        print!("{name}: ");
        let constants = |modulus: &OddModulus| pair::Constants::new(modulus, modulus.bits(), 1);
        let mont = |constants| pair::Context::new(machine, &[constants]);
        check!("pair", limbs, constants, mont);
    }
}

/// Powers and products of two numbers side by side.
fn side_by_side<M: pair::Kernels>(machine: M, name: &str) {
    for limbs in [8, 12, 16, 24, 32, 38] {
        let constants = [1, 5].map(|seed| {
            let modulus = OddModulus::new(&secret(limbs, seed, true)).expect("an odd number above 1");
            pair::Constants::new(&modulus, 64 * limbs, pair::MAX_COUNT)
        });
        let mont = || pair::Context::new(machine, &constants.each_ref());
        let numbers = [2, 3].map(|seed| secret(limbs, seed, false));
        let exponents = [4, 6].map(|seed| secret(2, seed, false));
        let bits = 64 * limbs;
        let power = |i: usize| {
            let (base, exponent) = (&numbers[i][..], &exponents[i][..]);
            Power { modulus: &constants[i], base, base_bits: bits, exponent, exponent_bits: 128 }
        };
        pow::pow(&mut mont(), &[power(0), power(1)]);
        let product =
            |i: usize| Product { modulus: &constants[i], a: &numbers[i], a_bits: bits, b: &numbers[1 - i] };
        mul::mul(&mut mont(), &[product(0), product(1)]);
        println!("{name}: pair, two numbers, {bits} bits");
    }
}

/// Powers and products of two numbers at once, one across vectors and one in limbs.
#[cfg(target_arch = "x86_64")]
fn mixed() {
    use zariz_kernels::mixed::{Context, Kernels};
    use zariz_machines::mixed::RsazAdx;
    let Some(machine) = zariz_machines::rsaz::Avx2::new() else { return };
    // SAFETY: AVX2's machine has BMI2; for ADX as below.
    let machine = unsafe { RsazAdx::assume(machine) };
    for limbs in [8, 16, 24, 32] {
        let moduli =
            [1, 5].map(|seed| OddModulus::new(&secret(limbs, seed, true)).expect("an odd number above 1"));
        let vectors = rsaz::constants(&moduli[0]);
        let step = <<RsazAdx as Kernels>::Limbs as scalar::Kernels>::STEP;
        let scalars = scalar::Constants::new(&moduli[1], step);
        let mont = || Context::new(machine, &vectors, &scalars);
        let numbers = [2, 3].map(|seed| secret(limbs, seed, false));
        let exponents = [4, 6].map(|seed| secret(2, seed, false));
        let bits = 64 * limbs;
        let power = |i: usize| {
            let (base, exponent) = (&numbers[i][..], &exponents[i][..]);
            Power { modulus: &(), base, base_bits: bits, exponent, exponent_bits: 128 }
        };
        pow::pow(&mut mont(), &[power(0), power(1)]);
        let product = |i: usize| Product { modulus: &(), a: &numbers[i], a_bits: bits, b: &numbers[1 - i] };
        mul::mul(&mut mont(), &[product(0), product(1)]);
        println!("mixed, two numbers, {bits} bits");
    }
}

/// The base field of BLS12-381, in every form that valgrind can run.
fn field() {
    let element = |seed| {
        let mut element: Fe = secret(6, seed, false).try_into().expect("six limbs");
        element[5] &= (1 << 60) - 1; // below the modulus
        element
    };
    let (mut a, b) = (element(1), element(2));
    a = bls12_381::mul_loops(&a, &b);
    a = bls12_381::sqr_flat(&bls12_381::mul_flat(&a, &b));
    a = bls12_381::add(&bls12_381::sub(&a, &b), &bls12_381::neg(&b));
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("bmi2") {
        // SAFETY: as for the scalar machine below.
        let machine = unsafe { bls12_381::Adx::assume() };
        machine.sqr_assign(&mut a);
        a = machine.mul(&a, &b);
        bls12_381::add_assign(&mut a, &b);
        bls12_381::sub_assign(&mut a, &b);
    }
    a = bls12_381::invert(&a);
    std::hint::black_box(a);
    println!("BLS12-381: products, squares, sums, inverse");
}

/// What the search for primes does with candidates, apart from saying which are composite.
fn candidates() {
    let small = SmallPrimes::below(3000);
    for limbs in [4, 16] {
        let (number, other) = (secret(limbs, 1, false), secret(limbs, 2, true));
        std::hint::black_box(small.divide_by_first(&number));
        for safe in [false, true] {
            let wheel = Wheel::new(&small, &[11], &[12], 64 * limbs - 20, safe);
            std::hint::black_box(wheel.position(&secret(wheel.random_bits() / 64, 3, false)));
            let mut survivors = Sieve::new(&small, 3000, &[12], limbs, 300, safe).run(&number);
            for _ in 0..3 {
                let (position, found) = survivors.take_masked();
                std::hint::black_box((limbs::mul(&[12], &[position]), found));
            }
        }
        let mut odd = limbs::zero(limbs);
        odd.copy_from_slice(&other);
        memcheck::secret(&mut odd[1..]);
        let common = limbs::gcd(&number, &odd);
        std::hint::black_box((limbs::gcd_inverse(&odd[1..], &odd), limbs::div_exact(&number, &odd), common));
        println!("candidates of {} bits", 64 * limbs);
    }
}

/// What must be found: a branch that depends on a secret.
fn leak() {
    if secret(1, 5, false)[0] & 8 == 0 {
        println!("leaked");
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("leak") {
        return leak();
    }
    zariz_machines::on_each_machine!(batches());
    limbwise(zariz_machines::scalar::Portable::new(), "scalar");
    wide(zariz_machines::rsaz::Portable::new(), "portable");
    #[cfg(feature = "papers")]
    carry_chains(zariz_machines::carry::Portable::new(), "portable");
    pairs(zariz_machines::batch::Portable::<8>::new(), "portable");
    side_by_side(zariz_machines::batch::Portable::<8>::new(), "portable");
    field();
    candidates();
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(machine) = zariz_machines::rsaz::Avx2::new() {
            wide(machine, "avx2");
        }
        // Valgrind runs the instructions, but its processor does not name ADX.
        if is_x86_feature_detected!("bmi2") {
            // SAFETY: this processor, or valgrind in its place, has BMI2, and those that do and run this have
            // ADX.
            limbwise(unsafe { zariz_machines::scalar::Adx::assume() }, "scalar-adx");
            mixed();
        }
    }
}
