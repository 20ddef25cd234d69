//! The host program's floating-point environment: in each one, the library's results are right; it raises no
//! signal, and leaves the environment as it was.
//!
//! The tests set the register MXCSR, which needs `unsafe`; so they are here, and not among those of the
//! library.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;

use num_bigint::BigUint;
use rand::{Rng, SeedableRng, rngs::StdRng};
use zariz::rsa::{Algorithm, PrivateKey};
use zariz::{Dispatch, Engine, Method, Modulus, Residues};
use zariz_bls12_381::{Fp, Fp8, mul_batch_on, sqr_batch_on};

/// The flags of exceptions that have occurred.
const FLAGS: u32 = 0x3f;
/// That of a rounded result.
const INEXACT: u32 = 0x20;
/// Denormal operands are taken as zeros.
const DENORMALS_ARE_ZEROS: u32 = 1 << 6;
/// The first of six bits: invalid, denormal, divide by zero, overflow, underflow, inexact. A masked exception
/// sets its flag, another raises SIGFPE.
const MASKS: u32 = 7;
const ALL_MASKED: u32 = 0x3f << MASKS;
/// The first of two bits: to nearest, down, up, toward zero.
const ROUNDING: u32 = 13;
/// Denormal results are written as zeros.
const FLUSH_TO_ZERO: u32 = 1 << 15;

/// Every rounding, with denormals as zeros and not, with every exception masked, none, and all but one; with
/// no flag set, with that of rounding, and with all.
fn environments() -> Vec<u32> {
    let mut all = Vec::new();
    for rounding in 0..4 {
        for denormals in [0, DENORMALS_ARE_ZEROS, FLUSH_TO_ZERO, DENORMALS_ARE_ZEROS | FLUSH_TO_ZERO] {
            let unmasked = (0..6).map(|exception| ALL_MASKED & !(1 << (MASKS + exception)));
            for masks in [ALL_MASKED, 0].into_iter().chain(unmasked) {
                all.extend([0, INEXACT, FLAGS].map(|flags| rounding << ROUNDING | denormals | masks | flags));
            }
        }
    }
    all
}

/// Does `work` in an environment, and checks that it left that as it was.
fn within<R>(environment: u32, work: impl FnOnce() -> R) -> R {
    /// Puts the test program's own back.
    struct Own(u32);
    impl Drop for Own {
        fn drop(&mut self) {
            write(self.0);
        }
    }
    let own = Own(read());
    write(environment);
    let result = work();
    let left = read();
    drop(own);
    assert_eq!(left, environment, "MXCSR, left {left:#06x}, was {environment:#06x}");
    result
}

fn read() -> u32 {
    let mut register = 0u32;
    // SAFETY: every x86-64 processor has the instruction; it writes the four bytes of `register`.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack)) };
    register
}

fn write(register: u32) {
    assert!(register >> 16 == 0);
    // SAFETY: every x86-64 processor has the instruction and all the low sixteen bits. No code here computes
    // with floating-point numbers, except for what is tested.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const register, options(nostack)) };
}

/// The engines of this processor.
fn engines() -> impl Iterator<Item = Engine> {
    Engine::ALL.iter().copied().filter(|engine| {
        let available = engine.is_available();
        if !available {
            eprintln!("skipped on {engine}: the processor lacks {}", engine.requires());
        }
        available
    })
}

/// Each engine for everything, and the library's own choice.
fn dispatches() -> impl Iterator<Item = Dispatch> {
    engines().map(Dispatch::Only).chain([Dispatch::Auto])
}

/// Runs `answer` in every environment: what it gives must be `expected`.
fn in_every_environment<R: PartialEq>(engine: impl Into<Dispatch>, expected: &R, answer: impl Fn() -> R) {
    let engine = engine.into();
    for environment in environments() {
        let found = within(environment, &answer);
        assert!(found == *expected, "{engine} answers wrong with MXCSR {environment:#06x}");
    }
}

/// The number as `len` big-endian bytes.
fn fixed(number: &BigUint, len: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}

/// A modulus, numbers to raise, an exponent.
struct Case {
    modulus: BigUint,
    bases: Vec<BigUint>,
    exponent: BigUint,
}

impl Case {
    fn new(rng: &mut StdRng, bits: usize, count: usize, exponent_bits: usize) -> Self {
        let mut number = |bits: usize| {
            let bytes: Vec<u8> = (0..bits.div_ceil(8)).map(|_| rng.random()).collect();
            BigUint::from_bytes_be(&bytes) >> (8 * bytes.len() - bits)
        };
        let mut modulus = number(bits);
        modulus.set_bit(0, true);
        modulus.set_bit(bits as u64 - 1, true);
        // The last has as many carries as there can be.
        let mut bases: Vec<BigUint> = (1..count).map(|_| number(bits) % &modulus).collect();
        bases.push(&modulus - 1u32);
        Self { modulus, bases, exponent: number(exponent_bits) }
    }

    fn size(&self) -> usize {
        self.modulus.bits().div_ceil(8) as usize
    }

    fn powers(&self) -> Vec<Vec<u8>> {
        self.bases.iter().map(|base| fixed(&base.modpow(&self.exponent, &self.modulus), self.size())).collect()
    }
}

#[test]
fn powers() {
    let mut rng = StdRng::seed_from_u64(1);
    for bits in [130, 521] {
        let case = Case::new(&mut rng, bits, 9, 40);
        let exponent = case.exponent.to_bytes_be();
        let bases: Vec<Vec<u8>> = case.bases.iter().map(BigUint::to_bytes_be).collect();
        let bases: Vec<&[u8]> = bases.iter().map(Vec::as_slice).collect();
        let expected = case.powers();
        for dispatch in dispatches() {
            let modulus = || {
                Modulus::new(&case.modulus.to_bytes_be())
                    .expect("a good modulus")
                    .with_engine(dispatch)
                    .expect("available")
            };
            // What is computed once for a modulus, in each environment too.
            in_every_environment(dispatch, &expected, || modulus().pow_batch(&bases, &exponent));
            let modulus = modulus();
            in_every_environment(dispatch, &expected, || modulus.pow_batch_vartime(&bases, &exponent));
            let Dispatch::Only(engine) = dispatch else { continue };
            for method in Method::ALL.iter().filter(|_| engine.has_lanes()) {
                let modulus = modulus.with_method(*method);
                let answer = || modulus.pow_batch(&bases[..engine.lanes()], &exponent);
                in_every_environment(engine, &expected[..engine.lanes()].to_vec(), answer);
            }
        }
    }
}

#[test]
fn numbers_kept_in_the_domain() {
    let mut rng = StdRng::seed_from_u64(2);
    let case = Case::new(&mut rng, 300, 9, 1);
    let numbers: Vec<Vec<u8>> = case.bases.iter().map(BigUint::to_bytes_be).collect();
    let numbers: Vec<&[u8]> = numbers.iter().map(Vec::as_slice).collect();
    for engine in engines() {
        let modulus =
            Modulus::new(&case.modulus.to_bytes_be()).expect("a good modulus").with_engine(engine).expect("available");
        let lanes = engine.lanes();
        // (x·y)²·y
        let result = |i: usize| case.bases[i].modpow(&2u32.into(), &case.modulus) * case.bases[i + 1].pow(3);
        let expected: Vec<Vec<u8>> = (0..lanes).map(|i| fixed(&(result(i) % &case.modulus), case.size())).collect();
        in_every_environment(engine, &expected, || {
            let moduli = vec![&modulus; lanes];
            let [mut x, y] = [&numbers[..lanes], &numbers[1..][..lanes]]
                .map(|numbers| Residues::new(&moduli, numbers).expect("residues"));
            x.multiply(&y).expect("the moduli are the same");
            x.square();
            x.multiply(&y).expect("the moduli are the same");
            x.to_bytes()
        });
    }
}

#[test]
fn signatures() {
    const KEY: &str = include_str!("../../cli/keys/bench-1024.pem");
    let messages: [&[u8]; 9] = [b"", b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"];
    let sign = |key: &PrivateKey| -> Vec<Vec<u8>> {
        let signatures = key.sign_batch(Algorithm::RS256, &messages);
        signatures.into_iter().map(|signature| signature.expect("a signature")).collect()
    };
    let expected =
        sign(&PrivateKey::parse(KEY.as_bytes()).expect("a good key").with_engine(Engine::Scalar).expect("available"));
    for dispatch in dispatches() {
        let parse = || PrivateKey::parse(KEY.as_bytes()).expect("a good key").with_engine(dispatch).expect("available");
        let key = within(0, parse);
        in_every_environment(dispatch, &expected, || sign(&key));
        assert_eq!(within(0, || key.validate()), Ok(()), "{dispatch}");
    }
}

#[test]
fn elements_of_a_field() {
    let number = |i: u8| Fp::try_from(&[i.wrapping_mul(29) >> 4; 48][..]).expect("below the modulus");
    let a: [Fp; 8] = std::array::from_fn(|i| number(i as u8 + 1));
    let b: [Fp; 8] = std::array::from_fn(|i| number(i as u8 + 101));
    let all = |engine: Engine| {
        let [mut x, y] = [&a, &b].map(|elements| Fp8::new_on(engine, elements).expect("an engine of this processor"));
        x *= &y;
        x += &y;
        x.square_times(3);
        x -= &y;
        let (mut products, mut squares) = ([Fp::ZERO; 8], [Fp::ZERO; 8]);
        mul_batch_on(engine, &a, &b, &mut products).expect("lengths are equal");
        sqr_batch_on(engine, &a, &mut squares).expect("lengths are equal");
        (x.to_array(), products, squares)
    };
    let expected = all(Engine::Portable);
    for engine in engines().filter(|engine| engine.has_lanes()) {
        in_every_environment(engine, &expected, || all(engine));
    }
}
