//! Powers of prepared bases against num-bigint and dashu-int, on every engine.

mod common;

use common::numbers::{big, fixed, modulus, number, power, two_to};
use common::{Random, engines, fastest, slow};
use num_bigint::BigUint;
use zariz::{Engine, FixedBase, FixedBaseError, Method, Modulus};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

fn slices(numbers: &[Vec<u8>]) -> Vec<&[u8]> {
    numbers.iter().map(|number| &number[..]).collect()
}

fn prepared(m: &BigUint, engine: Engine) -> Modulus {
    Modulus::new(&m.to_bytes_be()).expect("a good modulus").with_engine(engine).expect("available")
}

/// Exponents of at most `bits` bits: the edges, and others of all shapes and lengths, some with zeros in
/// front.
fn exponents(random: &mut Random, bits: usize, count: usize) -> Vec<Vec<u8>> {
    let mut out = vec![vec![], vec![0; bits.div_ceil(8) + 9], vec![1], (two_to(bits) - big(1)).to_bytes_be()];
    out.push(two_to(bits - 1).to_bytes_be());
    out.push([vec![0; 11], (two_to(bits) - big(1)).to_bytes_be()].concat());
    while out.len() < count {
        let bits = 1 + random.below(bits);
        let zeros = vec![0; if random.below(4) == 0 { random.below(20) } else { 0 }];
        out.push([zeros, number(random, bits).to_bytes_be()].concat());
    }
    random.shuffle(&mut out);
    out.truncate(count);
    out
}

/// Compares powers of one base, in batches of the sizes that fill lanes and that do not.
fn check(m: &BigUint, modulus: &Modulus, base: &[u8], bits: usize, exponents: &[Vec<u8>], memory: usize) {
    let engine = modulus.engine();
    let fixed = FixedBase::new_within(modulus, base, bits, memory).expect("a base");
    assert!(fixed.memory() > 0 && fixed.memory() <= memory);
    assert_eq!((fixed.max_exponent_bits(), fixed.modulus().bits()), (bits, modulus.bits()));
    let what = || format!("{} bits, exponents of {bits} on {engine}, {memory} bytes", m.bits());
    let expected: Vec<_> = exponents.iter().map(|e| power(base, e, &m.to_bytes_be())).collect();
    let exponents = slices(exponents);
    assert_eq!(fixed.pow_batch(&exponents).expect("short enough"), expected, "{}", what());
    assert_eq!(fixed.pow_batch_vartime(&exponents).expect("short enough"), expected, "{}, public", what());
    assert!(fixed.memory() <= 2 * memory);
    for (i, exponent) in exponents.iter().enumerate().take(3) {
        assert_eq!(fixed.pow(exponent).expect("short enough"), expected[i], "{}, alone", what());
    }
}

#[test]
fn small_numbers_exhaustively() {
    for engine in engines() {
        for m in [3u8, 5, 7, 9, 15, 35, 63, 255] {
            let modulus = Modulus::new(&[m]).expect("odd").with_engine(engine).expect("available");
            for base in (0..=m).step_by(1 + usize::from(m / 12)).chain([m - 1, m]) {
                let fixed = FixedBase::new(&modulus, &[base], 5).expect("a base");
                let exponents: Vec<Vec<u8>> = (0..32).map(|e| vec![e]).collect();
                let mut expected = vec![vec![(1 % u16::from(m)) as u8]];
                for e in 1..32 {
                    expected
                        .push(vec![(u16::from(expected[e - 1][0]) * u16::from(base) % u16::from(m)) as u8]);
                }
                assert_eq!(
                    fixed.pow_batch(&slices(&exponents)),
                    Ok(expected.clone()),
                    "{base} mod {m} on {engine}"
                );
                assert_eq!(
                    fixed.pow_batch_vartime(&slices(&exponents)),
                    Ok(expected),
                    "{base} mod {m} on {engine}"
                );
            }
        }
    }
}

/// Moduli on both sides of whole digits and limbs, exponents of odd lengths, bases above the modulus.
#[test]
fn many_lengths() {
    let mut random = Random::new(41);
    let mut cases = Vec::new();
    for digits in [1, 2, 3, 5, 8, 10, 20, 21, 40] {
        for width in [51i32, 52, 64] {
            for extra in [-4, -3, -1, 0, 1] {
                cases.push(usize::try_from(width * digits + extra).expect("a length"));
            }
        }
    }
    for engine in engines() {
        for (i, &bits) in cases.iter().enumerate() {
            if slow(engine) && (i % 9 != 0 || bits > 1100) {
                continue;
            }
            let m = if i % 4 == 0 { two_to(bits) - big(1) } else { modulus(&mut random, bits) };
            let base = match i % 6 {
                0 => (&m - big(1)).to_bytes_be(),
                1 => m.to_bytes_be(),
                2 => number(&mut random, 2 * bits + 70).to_bytes_be(),
                3 => vec![0; 3],
                _ => number(&mut random, bits).to_bytes_be(),
            };
            let exponent_bits = [1, 2, 7, 8, 9, 63, 64, 65, 130][random.below(9)];
            let exponents = exponents(&mut random, exponent_bits, 11);
            check(&m, &prepared(&m, engine), &base, exponent_bits, &exponents, FixedBase::MEMORY);
        }
    }
}

/// More exponents than go through the table together, and every number of lanes left over.
#[test]
fn batches_of_many_sizes() {
    let mut random = Random::new(42);
    let m = modulus(&mut random, 300);
    let base = random.bytes(40);
    let all = exponents(&mut random, 100, 150);
    let expected: Vec<_> = all.iter().map(|e| power(&base, e, &m.to_bytes_be())).collect();
    for engine in engines() {
        let modulus = prepared(&m, engine);
        let fixed = FixedBase::new(&modulus, &base, 100).expect("a base");
        for len in [0, 1, 2, 3, 4, 5, 7, 8, 9, 17, 64, 65, 129, 150] {
            let some = slices(&all[..len]);
            assert_eq!(fixed.pow_batch(&some).expect("short"), expected[..len], "{len} on {engine}");
            assert_eq!(fixed.pow_batch_vartime(&some).expect("short"), expected[..len], "{len} on {engine}");
        }
    }
}

/// A bound on the memory makes windows narrower, and no result differs.
#[test]
fn memory_is_bounded() {
    let mut random = Random::new(43);
    let m = modulus(&mut random, 520);
    let exponents = exponents(&mut random, 256, 9);
    for engine in engines() {
        let modulus = prepared(&m, engine);
        let mut least = usize::MAX;
        for memory in (12..24).map(|i| 1 << i) {
            match FixedBase::new_within(&modulus, &[3], 256, memory) {
                Ok(fixed) => least = least.min(fixed.memory()),
                Err(error) => {
                    assert_eq!(
                        error,
                        FixedBaseError::TooLarge { max_exponent_bits: 256, memory },
                        "{engine}"
                    );
                    assert_eq!(least, usize::MAX, "less memory after more, on {engine}");
                    continue;
                }
            }
            check(&m, &modulus, &[3], 256, &exponents, memory);
        }
        assert!((20_000..200_000).contains(&least), "{least} bytes on {engine}");
    }
}

#[test]
fn usual_sizes() {
    let mut random = Random::new(44);
    for (bits, exponent_bits) in [(2048, 256), (3072, 128), (4096, 256), (2048, 2048)] {
        let m = modulus(&mut random, bits);
        let base = number(&mut random, bits).to_bytes_be();
        let exponents = exponents(&mut random, exponent_bits, 7);
        for engine in engines().into_iter().filter(|&engine| !slow(engine)) {
            check(&m, &prepared(&m, engine), &base, exponent_bits, &exponents, FixedBase::MEMORY);
        }
    }
    let longest = two_to(16_384) - big(1);
    check(
        &longest,
        &prepared(&longest, fastest()),
        &[0xff; 2049],
        40,
        &[vec![0xff; 5], vec![7]],
        FixedBase::MEMORY,
    );
}

#[test]
fn every_method() {
    let mut random = Random::new(45);
    let m = modulus(&mut random, 1000);
    let exponents = exponents(&mut random, 65, 9);
    for engine in engines().into_iter().filter(|engine| engine.has_lanes()) {
        for &method in Method::ALL {
            let modulus = prepared(&m, engine).with_method(method);
            check(&m, &modulus, &[0xfe; 130], 65, &exponents, FixedBase::MEMORY);
        }
    }
}

#[test]
fn what_is_too_long_is_an_error() {
    let modulus = Modulus::new(&fixed(&(two_to(89) - big(1)), 12)).expect("odd");
    let error = |bits, memory| FixedBase::new_within(&modulus, &[3], bits, memory).expect_err("a bad length");
    assert_eq!(error(0, FixedBase::MEMORY), FixedBaseError::NoExponentBits);
    for bits in [usize::MAX, usize::MAX / 2, 1 << 40] {
        for (asked, memory) in
            [(usize::MAX, FixedBase::MAX_MEMORY), (FixedBase::MEMORY, FixedBase::MEMORY), (0, 0)]
        {
            assert_eq!(error(bits, asked), FixedBaseError::TooLarge { max_exponent_bits: bits, memory });
        }
    }
    let most = format!("at most {} bytes", FixedBase::MAX_MEMORY);
    assert!(error(usize::MAX, 5).to_string().contains(&most));
    assert!(error(0, 5).to_string().contains("at least 1"));

    for bits in [1, 7, 8, 9, 63, 64, 65, 100] {
        let fixed = FixedBase::new(&modulus, &[3], bits).expect("a base");
        let longest = (two_to(bits) - big(1)).to_bytes_be();
        let too_long = two_to(bits).to_bytes_be();
        let padded = [vec![0; 100], longest.clone()].concat();
        let list: [&[u8]; 4] = [&longest, &padded, &too_long, &[0xff; 500]];
        let refused = FixedBaseError::ExponentTooLong { index: 2, max_exponent_bits: bits };
        assert_eq!(fixed.pow_batch(&list), Err(refused.clone()));
        assert_eq!(fixed.pow_batch_vartime(&list), Err(refused.clone()));
        assert!(refused.to_string().contains("exponent 2 (counted from 0)"), "{refused}");
        assert_eq!(
            fixed.pow(&too_long),
            Err(FixedBaseError::ExponentTooLong { index: 0, max_exponent_bits: bits })
        );
        assert_eq!(fixed.pow_batch(&list[..2]).expect("short")[1], modulus.pow(&[3], &longest));
    }
}

/// Neither the base nor the table is shown.
#[test]
fn debugging_shows_lengths() {
    let modulus = Modulus::new(&[0xff; 16]).expect("odd");
    let shown = format!("{:?}", FixedBase::new(&modulus, &[0xab; 16], 77).expect("a base"));
    assert!(shown.contains("max_exponent_bits: 77") && !shown.contains("171"), "{shown}");
}

/// Threads that need the table for public exponents at once all get right results.
#[test]
fn threads_share_a_base() {
    let modulus = Modulus::new(&[0xff; 64]).expect("odd");
    let fixed = FixedBase::new(&modulus, &[5], 256).expect("a base");
    let expected = modulus.pow(&[5], &[0x9d; 32]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(fixed.pow(&[0x9d; 32]).expect("short"), expected);
                assert_eq!(fixed.pow_batch_vartime(&[&[0x9d; 32]]).expect("short")[0], expected);
            });
        }
    });
}
