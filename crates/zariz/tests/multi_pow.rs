//! Products of powers against num-bigint and dashu-int, on every engine.

mod common;

use common::numbers::{big, fixed, modulus, number, power, two_to};
use common::{Random, engines, slow};
use num_bigint::BigUint;
use zariz::{Engine, Modulus, MultiPowError, MultiPowJob, multi_pow_many, multi_pow_many_vartime};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

/// One product and what it must be.
struct Case {
    modulus: BigUint,
    bases: Vec<Vec<u8>>,
    exponents: Vec<Vec<u8>>,
    expected: Vec<u8>,
}

impl Case {
    fn new(modulus: &BigUint, bases: Vec<Vec<u8>>, exponents: Vec<Vec<u8>>) -> Self {
        let m = modulus.to_bytes_be();
        let powers = bases.iter().zip(&exponents).map(|(b, e)| BigUint::from_bytes_be(&power(b, e, &m)));
        let product = powers.fold(big(1), |acc, power| acc * power % modulus);
        Self { modulus: modulus.clone(), bases, exponents, expected: fixed(&product, m.len()) }
    }

    fn random(random: &mut Random, bits: usize, count: usize, exponent_bits: usize) -> Self {
        let m = if random.below(5) == 0 { two_to(bits) - big(1) } else { modulus(random, bits) };
        let bases = (0..count).map(|_| base(random, &m)).collect();
        let exponents = (0..count).map(|_| exponent(random, exponent_bits)).collect();
        Self::new(&m, bases, exponents)
    }
}

fn base(random: &mut Random, m: &BigUint) -> Vec<u8> {
    match random.below(9) {
        0 => vec![],
        1 => vec![1],
        2 => (m - big(1)).to_bytes_be(),
        3 => m.to_bytes_be(),
        4 => number(random, 2 * m.bits() as usize + 9).to_bytes_be(),
        _ => number(random, m.bits() as usize).to_bytes_be(),
    }
}

fn exponent(random: &mut Random, bits: usize) -> Vec<u8> {
    match random.below(7) {
        0 => vec![],
        1 => vec![0; 5],
        2 => vec![1],
        3 => (two_to(bits) - big(1)).to_bytes_be(),
        _ => number(random, bits).to_bytes_be(),
    }
}

fn slices(numbers: &[Vec<u8>]) -> Vec<&[u8]> {
    numbers.iter().map(|number| &number[..]).collect()
}

/// All cases in one call, each on the engine that `engine_of` says.
fn check(cases: &[Case], engine_of: impl Fn(usize) -> Engine) {
    let moduli: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(i, case)| {
            let modulus = Modulus::new(&case.modulus.to_bytes_be()).expect("a good modulus");
            modulus.with_engine(engine_of(i)).expect("available")
        })
        .collect();
    let slices: Vec<_> = cases.iter().map(|case| (slices(&case.bases), slices(&case.exponents))).collect();
    let jobs: Vec<_> = slices
        .iter()
        .zip(&moduli)
        .map(|((bases, exponents), modulus)| MultiPowJob { modulus, bases, exponents })
        .collect();
    let results =
        [multi_pow_many(&jobs).expect("good jobs"), multi_pow_many_vartime(&jobs).expect("good jobs")];
    for (i, case) in cases.iter().enumerate() {
        for (result, what) in results.iter().zip(["secret", "public"]) {
            assert!(
                result[i] == case.expected,
                "{what} on {}, {} bits, {} bases, case {i} of {}: {:?} to {:?}",
                engine_of(i),
                case.modulus.bits(),
                case.bases.len(),
                cases.len(),
                case.bases,
                case.exponents
            );
        }
    }
}

#[test]
fn every_number_of_bases_and_many_lengths() {
    let mut random = Random::new(51);
    let mut cases = Vec::new();
    for bases in 2..=8 {
        for bits in [2, 3, 8, 48, 49, 52, 64, 65, 150, 153, 156, 512, 521, 1024] {
            let exponent_bits = [1, 8, 33, 64, 65][random.below(5)];
            cases.push(Case::random(&mut random, bits, bases, exponent_bits));
        }
    }
    for engine in engines() {
        if slow(engine) {
            let few: Vec<_> = (2..=4).map(|bases| Case::random(&mut random, 200, bases, 12)).collect();
            check(&few, |_| engine);
        } else {
            check(&cases, |_| engine);
        }
    }
}

#[test]
fn sizes_bases_and_engines_mixed_in_one_call() {
    let mut random = Random::new(52);
    let engines: Vec<_> = engines().into_iter().filter(|&engine| !slow(engine)).collect();
    for _ in 0..10 {
        let cases: Vec<_> = (0..50)
            .map(|_| {
                let bits = [17, 256, 257, 700][random.below(4)];
                let (bases, exponent_bits) = (2 + random.below(3), 1 + random.below(80));
                Case::random(&mut random, bits, bases, exponent_bits)
            })
            .collect();
        let choice: Vec<_> = cases.iter().map(|_| engines[random.below(engines.len())]).collect();
        check(&cases, |i| choice[i]);
    }
}

/// Where all jobs have the same exponents, public ones go another way.
#[test]
fn the_same_exponents_for_all() {
    let mut random = Random::new(53);
    for engine in engines() {
        for bits in if slow(engine) { vec![20] } else { vec![1, 20, 97, 330, 1030] } {
            let m = modulus(&mut random, 200);
            for exponents in [
                [
                    number(&mut random, bits).to_bytes_be(),
                    number(&mut random, bits / 2 + 1).to_bytes_be(),
                    vec![1],
                ],
                [vec![], vec![0; 9], vec![0]],
                [vec![0, 0], two_to(bits).to_bytes_be(), (two_to(bits) - big(1)).to_bytes_be()],
            ] {
                let case = |random: &mut Random| {
                    let bases = (0..3).map(|_| base(random, &m)).collect();
                    Case::new(&m, bases, exponents.to_vec())
                };
                let cases: Vec<_> = (0..9).map(|_| case(&mut random)).collect();
                check(&cases, |_| engine);
            }
        }
    }
}

#[test]
fn whole_length() {
    let mut random = Random::new(54);
    let cases: Vec<_> = (0..3).map(|i| Case::random(&mut random, 2048 + i, 2, 256)).collect();
    for engine in engines().into_iter().filter(|&engine| !slow(engine)) {
        check(&cases, |_| engine);
    }
}

#[test]
fn bad_jobs_are_named() {
    let modulus = Modulus::new(&[35]).expect("odd");
    let numbers: [&[u8]; 10] = [&[2]; 10];
    let good = MultiPowJob { modulus: &modulus, bases: &numbers[..2], exponents: &numbers[..2] };
    for (bases, exponents) in (0..10).flat_map(|bases| (0..10).map(move |exponents| (bases, exponents))) {
        let job =
            MultiPowJob { modulus: &modulus, bases: &numbers[..bases], exponents: &numbers[..exponents] };
        let expected = match bases {
            2..=8 if bases == exponents => None,
            2..=8 => Some(MultiPowError::Lengths { job: 1, bases, exponents }),
            _ => Some(MultiPowError::Bases { job: 1, bases }),
        };
        for result in [multi_pow_many(&[good, job, good]), multi_pow_many_vartime(&[good, job, good])] {
            assert_eq!(result.as_ref().err(), expected.as_ref(), "{bases} bases, {exponents} exponents");
            if let Ok(powers) = result {
                assert_eq!((&powers[0], &powers[2]), (&vec![16], &vec![16]));
                assert_eq!(u32::from(powers[1][0]), 4u32.pow(bases as u32) % 35);
            }
        }
        if let Some(error) = expected {
            assert!(error.to_string().starts_with("job 1 (counted from 0)"), "{error}");
        }
    }
    assert_eq!(multi_pow_many(&[]), Ok(Vec::new()));
    assert_eq!(format!("{good:?}").matches("[1, 1]").count(), 2);
}
