//! Powers against num-bigint and dashu-int, both of which must agree with us, on every engine.

mod common;

use common::numbers::{big, fixed, modulus, number, power, two_to};
use common::{Random, engines, slow};
use num_bigint::BigUint;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use zariz::{Engine, EngineError, Modulus, ModulusError, PowJob, pow_many, pow_many_vartime};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

/// One power and what it must be.
#[derive(Clone)]
struct Case {
    modulus: BigUint,
    base: Vec<u8>,
    exponent: Vec<u8>,
    expected: Vec<u8>,
}

impl Case {
    fn new(modulus: &BigUint, base: impl Into<Vec<u8>>, exponent: impl Into<Vec<u8>>) -> Self {
        let (base, exponent) = (base.into(), exponent.into());
        let expected = power(&base, &exponent, &modulus.to_bytes_be());
        Self { modulus: modulus.clone(), base, exponent, expected }
    }

    /// A base and an exponent of at most so many bits, or one of the values where things go wrong first.
    fn edge_biased(random: &mut Random, modulus: &BigUint, base_bits: usize, exponent_bits: usize) -> Self {
        let base = match random.below(10) {
            0 => Vec::new(),
            1 => vec![0; 1 + random.below(20)],
            2 => vec![1],
            3 => (modulus - big(1)).to_bytes_be(),
            4 => modulus.to_bytes_be(),
            5 => (modulus + big(1)).to_bytes_be(),
            _ => bytes(random, base_bits),
        };
        let exponent = match random.below(8) {
            0 => Vec::new(),
            1 => vec![0; 1 + random.below(10)],
            2 => vec![1],
            _ => bytes(random, exponent_bits),
        };
        Self::new(modulus, base, exponent)
    }
}

/// A number of at most so many bits, now and then with zeros in front.
fn bytes(random: &mut Random, bits: usize) -> Vec<u8> {
    let zeros = if random.below(4) == 0 { random.below(12) } else { 0 };
    [vec![0; zeros], number(random, bits).to_bytes_be()].concat()
}

/// All cases in one call, each on the engine that `engine_of` says; then single powers for some.
fn check_on(cases: &[Case], engine_of: impl Fn(usize) -> Engine) {
    let moduli: Vec<_> = cases
        .iter()
        .enumerate()
        .map(|(i, case)| {
            Modulus::new(&case.modulus.to_bytes_be())
                .expect("a good modulus")
                .with_engine(engine_of(i))
                .expect("available")
        })
        .collect();
    let jobs: Vec<_> = cases
        .iter()
        .zip(&moduli)
        .map(|(case, modulus)| PowJob { modulus, base: &case.base, exponent: &case.exponent })
        .collect();
    let (constant, vartime) = (pow_many(&jobs), pow_many_vartime(&jobs));
    assert_eq!((constant.len(), vartime.len()), (cases.len(), cases.len()));
    for (i, (case, modulus)) in cases.iter().zip(&moduli).enumerate() {
        let check = |what: &str, result: &[u8]| {
            assert_eq!(result.len(), modulus.size());
            assert!(
                result == case.expected,
                "{what} on {}, {} bits, case {i} of {}: {:x}^{:x} mod {:x} is not {:x}",
                modulus.engine(),
                modulus.bits(),
                cases.len(),
                BigUint::from_bytes_be(&case.base),
                BigUint::from_bytes_be(&case.exponent),
                case.modulus,
                BigUint::from_bytes_be(result),
            );
        };
        check("pow_many", &constant[i]);
        check("pow_many_vartime", &vartime[i]);
        if i % 7 == 0 {
            check("pow", &modulus.pow(&case.base, &case.exponent));
            check("pow_vartime", &modulus.pow_vartime(&case.base, &case.exponent));
        }
    }
}

/// On every engine; on a slow one, an eighth of the cases, and the longest left out.
fn check(cases: &[Case]) {
    for engine in engines() {
        if slow(engine) {
            let short =
                |case: &Case| case.modulus.bits().pow(2) * (8 * case.exponent.len() as u64 + 24) <= 1 << 31;
            let fewer: Vec<_> = cases.iter().step_by(8).filter(|case| short(case)).cloned().collect();
            check_on(&fewer, |_| engine);
        } else {
            check_on(cases, |_| engine);
        }
    }
}

/// Every odd modulus, base and exponent that fits in a few bits, against plain multiplication.
#[test]
fn small_numbers_exhaustively() {
    let cases: Vec<(u8, u8, u8)> = (3..=63u8)
        .step_by(2)
        .flat_map(|m| (0..=m + 2).flat_map(move |b| [0, 1, 2, 3, 6, 7, 11].map(|e| (m, b, e))))
        .collect();
    for engine in engines() {
        let moduli: Vec<_> = cases
            .iter()
            .map(|&(m, ..)| {
                Modulus::new(&[m]).expect("a good modulus").with_engine(engine).expect("available")
            })
            .collect();
        let jobs: Vec<_> = cases
            .iter()
            .zip(&moduli)
            .map(|((_, base, exponent), modulus)| PowJob {
                modulus,
                base: std::slice::from_ref(base),
                exponent: std::slice::from_ref(exponent),
            })
            .collect();
        let results = [pow_many(&jobs), pow_many_vartime(&jobs)];
        for (i, &(m, b, e)) in cases.iter().enumerate() {
            let expected = (0..e).fold(1 % u32::from(m), |acc, _| acc * u32::from(b) % u32::from(m)) as u8;
            assert_eq!(
                [&results[0][i][..], &results[1][i][..]],
                [[expected]; 2],
                "{b}^{e} mod {m} on {engine}"
            );
        }
    }
}

#[test]
fn every_length_up_to_700_bits() {
    let mut random = Random::new(11);
    let cases: Vec<_> = (2..=700)
        .flat_map(|bits| [bits, bits, bits])
        .map(|bits| {
            let m = modulus(&mut random, bits);
            Case::edge_biased(&mut random, &m, bits + 9, 1 + bits / 2)
        })
        .collect();
    check(&cases);
}

/// Lengths around whole numbers of 51-bit, 52-bit and 64-bit digits, and around tiles of 9, 10 and 20 digits
/// and their multiples. There are three spare bits above a modulus, so the digit count changes up to 3 bits
/// below the boundary.
#[test]
fn around_digit_and_tile_boundaries() {
    let mut random = Random::new(12);
    for digits in [1, 2, 3, 5, 8, 9, 10, 11, 18, 19, 20, 21, 27, 30, 36, 40, 41, 60, 80] {
        let mut cases = Vec::new();
        for width in [51i32, 52, 64] {
            for extra in -4..=1 {
                let bits = usize::try_from(width * digits + extra).expect("a length");
                let all_ones = two_to(bits) - big(1);
                let power_plus_one = two_to(bits - 1) + big(1);
                for m in [all_ones, power_plus_one, modulus(&mut random, bits)] {
                    cases.push(Case::edge_biased(&mut random, &m, bits, 24));
                }
            }
        }
        check(&cases);
    }
}

/// Every combination of special bases and special exponents, for moduli of special shapes, in one call.
#[test]
fn special_values() {
    let mut random = Random::new(13);
    let mut cases = Vec::new();
    for bits in [2, 3, 8, 51, 52, 64, 255, 521, 1024] {
        let m = modulus(&mut random, bits);
        let size = bits.div_ceil(8);
        let minus_one = &m - big(1);
        let bases = [
            vec![],
            vec![0; 3 * size],
            vec![1],
            [vec![0; 40], vec![2]].concat(),
            minus_one.to_bytes_be(),
            m.to_bytes_be(),
            (&m + big(1)).to_bytes_be(),
            (&m * big(2)).to_bytes_be(),
            (&m * &m).to_bytes_be(),
            (&m * &m - big(1)).to_bytes_be(),
            vec![0xff; size],
            vec![0xff; 5 * size + 3],
            [vec![0xff], vec![0; 700]].concat(),
        ];
        let exponents = [
            vec![],
            vec![0; 9],
            vec![1],
            vec![0, 0, 0, 1],
            vec![2],
            vec![3],
            vec![0x10],
            minus_one.to_bytes_be(),
            vec![0xff; 33],
            [vec![0; 17], random.bytes(20)].concat(),
            [vec![0x80], vec![0; 90]].concat(),
        ];
        for base in &bases {
            cases.extend(exponents.iter().map(|exponent| Case::new(&m, &base[..], &exponent[..])));
        }
    }
    check(&cases);
}

/// Exponents far longer than the modulus.
#[test]
fn huge_exponents() {
    let mut random = Random::new(14);
    let mut cases = Vec::new();
    for bits in [2, 61, 127, 512] {
        for exponent_bits in [4096, 16_000] {
            let m = modulus(&mut random, bits);
            cases.push(Case::new(
                &m,
                random.bytes(bits.div_ceil(8)),
                number(&mut random, exponent_bits).to_bytes_be(),
            ));
        }
    }
    check(&cases);
}

/// Sizes and engines mixed in one call, in random order.
#[test]
fn sizes_and_engines_mixed_in_one_call() {
    let mut random = Random::new(15);
    let engines = engines();
    let rounds = if engines.iter().copied().any(slow) { 5 } else { 20 };
    for round in 0..rounds {
        let mut cases: Vec<_> = (0..60 + round)
            .map(|_| {
                let bits = [2, 17, 64, 100, 256, 257, 511, 512, 1000, 1024, 1536][random.below(11)];
                let m = modulus(&mut random, bits);
                let exponent_bits = [1, 8, 17, 64, 256][random.below(5)];
                let base_bits = [1, bits, 2 * bits, 3000][random.below(4)];
                Case::edge_biased(&mut random, &m, base_bits, exponent_bits)
            })
            .collect();
        random.shuffle(&mut cases);
        let choice: Vec<_> = cases.iter().map(|_| engines[random.below(engines.len())]).collect();
        check_on(&cases, |i| choice[i]);
    }
}

#[test]
fn whole_length_exponents_of_usual_sizes() {
    let mut random = Random::new(16);
    let mut cases = Vec::new();
    for (bits, count) in [(512, 9), (1024, 9), (1536, 5), (2048, 3)] {
        for _ in 0..count {
            let m = modulus(&mut random, bits);
            cases.push(Case::new(&m, random.bytes(bits / 8), number(&mut random, bits).to_bytes_be()));
        }
    }
    check(&cases);
}

/// Up to the longest modulus, with short exponents.
#[test]
fn long_moduli() {
    let mut random = Random::new(17);
    let mut cases = Vec::new();
    for bits in [2047, 2048, 3072, 4095, 4096, 6000, 8191, 8192, 12_000, 16_383, 16_384] {
        for _ in 0..3 {
            let m = modulus(&mut random, bits);
            cases.push(Case::edge_biased(&mut random, &m, bits, 18));
        }
        let all_ones = two_to(bits) - big(1);
        cases.push(Case::new(&all_ones, (&all_ones - big(2)).to_bytes_be(), [0x01, 0x00, 0x01]));
        cases.push(Case::edge_biased(&mut random, &all_ones, bits + 1000, 9));
    }
    check(&cases);
}

/// One modulus and exponent for many bases, at batch sizes that fill the lanes and that do not.
#[test]
fn batches_of_every_size() {
    let mut random = Random::new(18);
    let m = modulus(&mut random, 700);
    let exponent = random.bytes(15);
    let bases: Vec<Vec<u8>> = (0..33).map(|i| random.bytes(1 + 5 * i)).collect();
    let expected: Vec<_> = bases.iter().map(|base| power(base, &exponent, &m.to_bytes_be())).collect();
    for engine in engines() {
        let m =
            Modulus::new(&m.to_bytes_be()).expect("a good modulus").with_engine(engine).expect("available");
        for len in [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33] {
            let bases: Vec<&[u8]> = bases[..len].iter().map(|base| &base[..]).collect();
            assert_eq!(m.pow_batch(&bases, &exponent), expected[..len], "{len} on {engine}");
            assert_eq!(m.pow_batch_vartime(&bases, &exponent), expected[..len], "{len} on {engine}, public");
        }
    }
    assert!(pow_many(&[]).is_empty() && pow_many_vartime(&[]).is_empty());
}

/// Arbitrary bytes for everything, shrunk where it fails.
#[test]
fn arbitrary_bytes() {
    let job = (vec(any::<u8>(), 1..80), vec(any::<u8>(), 0..120), vec(any::<u8>(), 0..24), 0usize..4);
    let engines = engines();
    let cases = if engines.iter().copied().any(slow) { 30 } else { 400 };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&vec(job, 1..20), |jobs| {
        let choice: Vec<_> = jobs.iter().map(|job| engines[job.3 % engines.len()]).collect();
        let cases: Vec<_> = jobs
            .iter()
            .map(|(modulus, base, exponent, _)| {
                let odd = BigUint::from_bytes_be(modulus) | big(1);
                let odd = if odd == big(1) { big(3) } else { odd };
                Case::new(&odd, &base[..], &exponent[..])
            })
            .collect();
        check_on(&cases, |i| choice[i]);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Products of powers are powers of sums: a check that needs no other library.
#[test]
fn exponents_add() {
    let mut random = Random::new(19);
    for engine in engines() {
        for bits in [96, 1024, 3000] {
            let m = modulus(&mut random, bits);
            let prepared = Modulus::new(&m.to_bytes_be())
                .expect("a good modulus")
                .with_engine(engine)
                .expect("available");
            let base = random.bytes(bits / 8);
            let [a, b] = [random.bytes(16), random.bytes(16)].map(|bytes| BigUint::from_bytes_be(&bytes));
            let results =
                [&a, &b, &(&a + &b)].map(|e| BigUint::from_bytes_be(&prepared.pow(&base, &e.to_bytes_be())));
            assert_eq!(&results[0] * &results[1] % &m, results[2], "{bits} bits on {engine}");
        }
    }
}

#[test]
fn bad_moduli_are_refused_by_what_is_wrong_with_them() {
    let refused = |bytes: &[u8]| Modulus::new(bytes).expect_err("a bad modulus");
    for zero in [&[][..], &[0], &[0; 9], &[0; 5000]] {
        assert_eq!(refused(zero), ModulusError::Zero);
    }
    for one in [&[1][..], &[0, 1], &[&[0; 3000][..], &[1]].concat()] {
        assert_eq!(refused(one), ModulusError::One);
    }
    for even in [&[2][..], &[0, 0, 4], &[0xff; 64].map(|_| 0xfe), &[&[0x80][..], &[0; 2047]].concat()] {
        assert_eq!(refused(even), ModulusError::Even);
    }
    let too_long = fixed(&(two_to(16_384) + big(1)), 2049);
    assert_eq!(refused(&too_long), ModulusError::TooLong { bits: 16_385 });
    assert_eq!(refused(&[0xff; 1_000_001]), ModulusError::TooLong { bits: 8_000_008 });
}

#[test]
fn leading_zeros_do_not_make_a_modulus_longer() {
    for engine in engines() {
        let plain =
            Modulus::new(&[0xff; 2048]).expect("the longest modulus").with_engine(engine).expect("available");
        assert_eq!((plain.bits(), plain.size(), plain.engine()), (16_384, 2048, engine));
        let padded = [&[0; 300][..], &[0x01, 0x23]].concat();
        let padded = Modulus::new(&padded).expect("a good modulus").with_engine(engine).expect("available");
        assert_eq!((padded.bits(), padded.size()), (9, 2));
        assert_eq!(padded.pow(&[5], &[3]), [0, 125]);
        assert_eq!(
            Modulus::new(&[0, 3]).expect("three").with_engine(engine).expect("available").pow(&[2], &[]),
            [1]
        );
    }
}

#[test]
fn an_engine_that_the_processor_lacks_is_refused() {
    for engine in Engine::ALL.iter().copied().filter(|engine| !engine.is_available()) {
        let refused =
            Modulus::new(&[3]).expect("three").with_engine(engine).expect_err("no such instructions");
        assert_eq!(refused, EngineError::Unavailable(engine));
    }
}
