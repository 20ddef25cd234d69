//! Products and inverses against num-bigint and dashu-int, on every engine.

mod common;

use common::numbers::{big, fixed, modulus, number, prime, two_to};
use common::{Random, engines, slow};
use dashu_int::UBig;
use dashu_int::ops::ExtendedGcd;
use num_bigint::BigUint;
use zariz::{InvertJob, Modulus, MulJob, invert_many, mul_many};

// Where the processor lacks AVX-IFMA or AVX512-IFMA, these engines run all the same.
zariz_emulator::install_before_main!();

/// The inverse, if there is one, as num-bigint and dashu-int both say.
fn inverse(number: &[u8], m: &BigUint) -> Option<Vec<u8>> {
    let by_num = (BigUint::from_bytes_be(number) % m).modinv(m);
    let (x, modulus) = (UBig::from_be_bytes(number), UBig::from_be_bytes(&m.to_bytes_be()));
    let x = x % &modulus;
    if x == UBig::ZERO {
        assert_eq!(by_num, None);
        return None;
    }
    let (gcd, s, _) = (&x).gcd_ext(&modulus);
    let by_dashu = (gcd == UBig::ONE).then(|| {
        let positive = s + dashu_int::IBig::from(modulus.clone());
        let residue = UBig::try_from(positive).expect("not below 0") % &modulus;
        BigUint::from_bytes_be(&residue.to_be_bytes())
    });
    assert_eq!(by_num, by_dashu, "the two libraries differ: {number:x?} mod {m:x}");
    by_num.map(|inverse| fixed(&inverse, m.bits().div_ceil(8) as usize))
}

/// `a·b mod m`, as num-bigint and dashu-int both say.
fn product(a: &[u8], b: &[u8], m: &BigUint) -> Vec<u8> {
    let by_num = BigUint::from_bytes_be(a) * BigUint::from_bytes_be(b) % m;
    let by_dashu = UBig::from_be_bytes(a) * UBig::from_be_bytes(b) % UBig::from_be_bytes(&m.to_bytes_be());
    assert_eq!(by_num, BigUint::from_bytes_be(&by_dashu.to_be_bytes()), "the two libraries differ");
    fixed(&by_num, m.bits().div_ceil(8) as usize)
}

fn bytes(random: &mut Random, m: &BigUint) -> Vec<u8> {
    let bits = m.bits() as usize;
    match random.below(12) {
        0 => vec![],
        1 => vec![0; 20],
        2 => vec![1],
        3 => (m - big(1)).to_bytes_be(),
        4 => m.to_bytes_be(),
        5 => (m + big(1)).to_bytes_be(),
        6 => number(random, 3 * bits + 5).to_bytes_be(),
        7 => [vec![0; 30], number(random, bits).to_bytes_be()].concat(),
        _ => number(random, bits).to_bytes_be(),
    }
}

const LENGTHS: [usize; 19] =
    [2, 3, 8, 48, 49, 51, 52, 53, 63, 64, 65, 99, 150, 156, 512, 521, 1024, 2048, 2049];

fn moduli(random: &mut Random) -> Vec<BigUint> {
    LENGTHS.iter().flat_map(|&bits| [two_to(bits) - big(1), modulus(random, bits)]).collect()
}

fn slices(numbers: &[Vec<u8>]) -> Vec<&[u8]> {
    numbers.iter().map(|number| &number[..]).collect()
}

#[test]
fn products() {
    let mut random = Random::new(61);
    let moduli = moduli(&mut random);
    for engine in engines() {
        let every = if slow(engine) { 7 } else { 1 };
        let prepared: Vec<_> = moduli
            .iter()
            .step_by(every)
            .map(|m| Modulus::new(&m.to_bytes_be()).expect("odd").with_engine(engine).expect("available"))
            .collect();
        let cases: Vec<_> = (0..6 * prepared.len())
            .map(|i| {
                let m = &moduli[every * (i % prepared.len())];
                (i % prepared.len(), bytes(&mut random, m), bytes(&mut random, m))
            })
            .collect();
        let jobs: Vec<_> = cases.iter().map(|(i, a, b)| MulJob { modulus: &prepared[*i], a, b }).collect();
        for ((i, a, b), result) in cases.iter().zip(mul_many(&jobs)) {
            let m = &moduli[every * i];
            assert_eq!(result, product(a, b, m), "{a:x?}·{b:x?} mod {m:x} on {engine}");
        }
        let pairs: Vec<(&[u8], &[u8])> = cases.iter().map(|(_, a, b)| (&a[..], &b[..])).collect();
        let pairs = &pairs[..21.min(pairs.len())];
        let m = &moduli[0];
        let expected: Vec<_> = pairs.iter().map(|(a, b)| product(a, b, m)).collect();
        assert_eq!(prepared[0].mul_batch(pairs), expected);
    }
    assert!(mul_many(&[]).is_empty());
    let modulus = Modulus::new(&[35]).expect("odd");
    assert!(modulus.mul_batch(&[]).is_empty());
    let job = MulJob { modulus: &modulus, a: &[0xab; 3], b: &[] };
    assert!(format!("{job:?}").contains("a_bytes: 3") && !format!("{job:?}").contains("171"));
}

#[test]
fn inverses_of_every_small_number() {
    for engine in engines() {
        for m in [3u8, 5, 9, 15, 35, 105, 255] {
            let modulus = Modulus::new(&[m]).expect("odd").with_engine(engine).expect("available");
            let numbers: Vec<Vec<u8>> = (0..=u8::MAX).map(|n| vec![n]).collect();
            let expected: Vec<_> = numbers.iter().map(|n| inverse(n, &big(m.into()))).collect();
            assert_eq!(modulus.invert_batch(&slices(&numbers)), expected, "mod {m} on {engine}");
        }
    }
}

/// Batches of every size around whole lanes, of primes and of products of small ones; zeros and multiples of
/// factors among the others.
#[test]
fn inverses() {
    let mut random = Random::new(62);
    let smooth = [3u64, 5, 7, 11, 13].iter().fold(big(1), |acc, &p| acc * big(p));
    let mut moduli = vec![prime(&mut random, 64), prime(&mut random, 255), prime(&mut random, 521)];
    moduli.extend([150, 156, 512, 1024, 2048].map(|bits| modulus(&mut random, bits)));
    moduli.push(&smooth * prime(&mut random, 200));
    for engine in engines() {
        for m in if slow(engine) { &moduli[..2] } else { &moduli[..] } {
            let modulus =
                Modulus::new(&m.to_bytes_be()).expect("odd").with_engine(engine).expect("available");
            for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33] {
                let bad_too = count % 2 == 1;
                let numbers: Vec<_> =
                    (0..count)
                        .map(|_| {
                            if bad_too {
                                bytes(&mut random, m)
                            } else {
                                number(&mut random, 70).to_bytes_be()
                            }
                        })
                        .collect();
                let expected: Vec<_> = numbers.iter().map(|n| inverse(n, m)).collect();
                assert_eq!(
                    modulus.invert_batch(&slices(&numbers)),
                    expected,
                    "{count} mod {m:x} on {engine}"
                );
            }
            // One bad number at every place.
            let good: Vec<_> =
                (2..11u64).map(|n| n.pow(4) + 1).map(|n| big(n) * &smooth * &smooth + big(1)).collect();
            let good: Vec<_> = good.iter().map(|n| n.to_bytes_be()).collect();
            for bad in 0..good.len() {
                let mut numbers = good.clone();
                numbers[bad] = vec![0; bad];
                let expected: Vec<_> = numbers.iter().map(|n| inverse(n, m)).collect();
                assert_eq!(expected[bad], None);
                assert_eq!(
                    modulus.invert_batch(&slices(&numbers)),
                    expected,
                    "bad {bad} mod {m:x} on {engine}"
                );
            }
        }
    }
}

/// Moduli, some of them alike, and engines mixed in one call.
#[test]
fn inverses_of_many_moduli() {
    let mut random = Random::new(63);
    let numbers = moduli(&mut random);
    let engines: Vec<_> = engines().into_iter().filter(|&engine| !slow(engine)).collect();
    let prepared: Vec<_> = (0..60)
        .map(|_| {
            let m = &numbers[random.below(numbers.len() / 2)];
            let modulus = Modulus::new(&m.to_bytes_be()).expect("odd");
            let engine = engines[random.below(engines.len())];
            (m, modulus.with_engine(engine).expect("available"))
        })
        .collect();
    let items: Vec<_> = (0..200).map(|i| (i % 60, bytes(&mut random, prepared[i % 60].0))).collect();
    let jobs: Vec<_> =
        items.iter().map(|(i, number)| InvertJob { modulus: &prepared[*i].1, number }).collect();
    for ((i, number), result) in items.iter().zip(invert_many(&jobs)) {
        assert_eq!(result, inverse(number, prepared[*i].0), "{number:x?} mod {:x}", prepared[*i].0);
    }
    assert!(invert_many(&[]).is_empty());
    assert!(format!("{:?}", jobs[0]).contains("number_bytes"));
}
