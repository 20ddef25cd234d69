//! The host program's floating-point environment: whatever it is, the library computes the right results,
//! raises no signal, and leaves the environment as it was.
#![cfg(all(target_arch = "x86_64", feature = "rsa"))]

mod common;

use common::Random;
use common::engines::engines;
use common::numbers::fixed;
use num_bigint::BigUint;
use zariz::rsa::{Algorithm, PrivateKey};
use zariz::{Dispatch, Engine, Method, Modulus, Residues};
use zariz_emulator::environment::{in_every_environment, within};

/// Each engine for everything, and the library's own choice.
fn dispatches() -> impl Iterator<Item = Dispatch> {
    engines().into_iter().map(Dispatch::Only).chain([Dispatch::Auto])
}

/// A modulus, numbers to raise, an exponent.
struct Case {
    modulus: BigUint,
    bases: Vec<BigUint>,
    exponent: BigUint,
}

impl Case {
    fn new(random: &mut Random, bits: usize, count: usize, exponent_bits: usize) -> Self {
        let mut number = |bits: usize| {
            let bytes = random.bytes(bits.div_ceil(8));
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
        self.bases
            .iter()
            .map(|base| fixed(&base.modpow(&self.exponent, &self.modulus), self.size()))
            .collect()
    }
}

#[test]
fn powers() {
    let mut random = Random::new(1);
    for bits in [130, 521] {
        let case = Case::new(&mut random, bits, 9, 40);
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
    let mut random = Random::new(2);
    let case = Case::new(&mut random, 300, 9, 1);
    let numbers: Vec<Vec<u8>> = case.bases.iter().map(BigUint::to_bytes_be).collect();
    let numbers: Vec<&[u8]> = numbers.iter().map(Vec::as_slice).collect();
    for engine in engines() {
        let modulus = Modulus::new(&case.modulus.to_bytes_be())
            .expect("a good modulus")
            .with_engine(engine)
            .expect("available");
        let lanes = engine.lanes();
        // (x·y)²·y
        let result = |i: usize| case.bases[i].modpow(&2u32.into(), &case.modulus) * case.bases[i + 1].pow(3);
        let expected: Vec<Vec<u8>> =
            (0..lanes).map(|i| fixed(&(result(i) % &case.modulus), case.size())).collect();
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
    let expected = sign(
        &PrivateKey::parse(KEY.as_bytes())
            .expect("a good key")
            .with_engine(Engine::Scalar)
            .expect("available"),
    );
    for dispatch in dispatches() {
        let parse = || {
            PrivateKey::parse(KEY.as_bytes()).expect("a good key").with_engine(dispatch).expect("available")
        };
        let key = within(0, parse);
        in_every_environment(dispatch, &expected, || sign(&key));
        assert_eq!(within(0, || key.validate()), Ok(()), "{dispatch}");
    }
}
