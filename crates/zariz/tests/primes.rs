//! Primes: confirmed by two other libraries, distributed as promised, and wrong inputs.
#![cfg(feature = "primes")]

mod common;

use common::numbers::{big, two_to};
use common::openssl::OpenSsl;
use common::{Random, engines, slow};
use crypto_bigint::BoxedUint;
use crypto_primes::Flavor;
use num_bigint::BigUint;
use zariz::primes::{self, PrimeError, Search};
use zariz_needs::needs;

/// Whether crypto-primes takes the number for a prime.
fn is_prime(number: &BigUint) -> bool {
    let bytes = number.to_bytes_be();
    let precision = (8 * bytes.len() as u32).next_multiple_of(64);
    let candidate = BoxedUint::from_be_slice(&bytes, precision).expect("fits");
    crypto_primes::is_prime(Flavor::Any, &candidate)
}

fn number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_be(bytes)
}

fn all(search: &Search, count: usize) -> Vec<BigUint> {
    search.generate_many(count).expect("primes").iter().map(|prime| number(prime)).collect()
}

const LENGTHS: [usize; 11] = [256, 257, 300, 319, 320, 321, 383, 512, 513, 600, 1024];

#[test]
fn primes_of_many_lengths_are_prime() {
    for bits in LENGTHS {
        for search in
            [Search::new(bits).expect("a length"), Search::new(bits).expect("a length").incremental()]
        {
            let found = all(&search, 3);
            for prime in &found {
                assert_eq!(prime.bits(), bits as u64, "{search:?}");
                assert!(is_prime(prime), "{prime:x}");
            }
            assert!(found[0] != found[1] && found[1] != found[2]);
        }
    }
    let bytes = primes::generate(257).expect("a prime");
    assert_eq!((bytes.len(), bytes[0]), (33, 1));
    assert_eq!(primes::generate_many(256, 0).expect("none").len(), 0);
}

#[needs("openssl")]
#[test]
fn openssl_takes_the_same_numbers_for_primes() {
    let openssl = OpenSsl::new();
    let is_prime = |number: &BigUint| {
        let said = String::from_utf8(openssl.run(&format!("prime -hex {number:X}"), b"")).expect("text");
        said.contains("is prime")
    };
    for bits in LENGTHS {
        for search in
            [Search::new(bits).expect("a length"), Search::new(bits).expect("a length").incremental()]
        {
            assert!(all(&search, 3).iter().all(is_prime), "{search:?}");
        }
    }
    for prime in primes::generate_safe_many(321, 2).expect("safe primes") {
        assert!(is_prime(&number(&prime)) && is_prime(&(number(&prime) >> 1)));
    }
    let mut random = Random::new(15);
    for _ in 0..30 {
        let n = number(&random.bytes(20)) | big(1);
        assert_eq!(primes::is_prime(&n.to_bytes_be()), Ok(is_prime(&n)), "{n}");
    }
}

#[test]
fn every_engine_finds_primes() {
    for engine in engines().into_iter().filter(|&engine| !slow(engine)) {
        for bits in [256, 700] {
            let search = Search::new(bits).expect("a length").with_engine(engine).expect("available");
            for search in [search.incremental(), search] {
                let prime = number(&search.generate().expect("a prime"));
                assert!(prime.bits() == bits as u64 && is_prime(&prime), "{engine}, {bits} bits: {prime:x}");
            }
        }
    }
}

#[test]
fn safe_primes_are_safe() {
    for bits in [256, 321, 384] {
        for prime in primes::generate_safe_many(bits, 2).expect("safe primes") {
            let prime = number(&prime);
            assert_eq!(prime.bits(), bits as u64);
            assert!(is_prime(&prime) && is_prime(&(prime >> 1)));
        }
    }
    let search = Search::new(256).expect("a length").with_congruence(&[4], &[5]).expect("possible");
    let prime = number(&search.safe().expect("possible").generate().expect("a safe prime"));
    assert_eq!((&prime % 5u32, &prime % 12u32), (big(4), big(11)));
}

#[test]
fn ranges_and_congruences_hold() {
    let bytes = |n: &BigUint| n.to_bytes_be();
    let (low, high) = (two_to(300) + two_to(290), two_to(301) - two_to(280) * 3u32);
    for search in [Search::between(&bytes(&low), &bytes(&high)).expect("a range")] {
        for search in [search.incremental(), search] {
            for prime in all(&search, 4) {
                assert!(low <= prime && prime <= high && is_prime(&prime));
            }
        }
    }
    // A range over several lengths, and one of 2^66 numbers.
    let wide = Search::between(&bytes(&two_to(256)), &bytes(&two_to(290))).expect("a range");
    assert!(all(&wide, 2).iter().all(is_prime));
    let (low, high) = (two_to(400), two_to(400) + two_to(66));
    for prime in all(&Search::between(&bytes(&low), &bytes(&high)).expect("a range"), 2) {
        assert!(low <= prime && prime <= high && is_prime(&prime));
    }
    // Many congruences; a modulus with nearly all of a prime's bits; leading zeros.
    let mut search = Search::new(512).expect("a length");
    for modulus in [3u8, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73] {
        search = search
            .with_congruence(&[0, 0, modulus - 1], &[&[0; 100][..], &[modulus]].concat())
            .expect("possible");
    }
    let prime = number(&search.generate().expect("a prime"));
    assert!(
        (3u32..74)
            .filter(|&d| common::numbers::is_prime(&big(d.into())))
            .all(|d| &prime % d == big(u64::from(d) - 1))
    );
    let low =
        Search::new(512).expect("a length").with_congruence(&[1], &bytes(&two_to(128))).expect("possible");
    assert_eq!(all(&low, 3).len(), 3);
    // Congruences, one after the other; moduli may share factors.
    let q = two_to(160) - big(47); // a prime, as for DSA
    for (classes, expected) in [
        (vec![(big(1), q.clone())], (big(1), q.clone())),
        (vec![(big(7), big(8)), (big(3), big(5))], (big(23), big(40))),
        (vec![(big(5), big(12)), (big(2), big(9))], (big(29), big(36))),
        (vec![(big(1), big(1)), (big(99), big(14))], (big(1), big(14))),
    ] {
        let mut search = Search::new(512).expect("a length");
        for (remainder, modulus) in &classes {
            search = search.with_congruence(&bytes(remainder), &bytes(modulus)).expect("possible");
        }
        for search in [search.incremental(), search] {
            for prime in all(&search, 2) {
                assert_eq!(&prime % &expected.1, expected.0, "{classes:?}");
                assert!(prime.bits() == 512 && is_prime(&prime));
            }
        }
    }
}

#[test]
fn a_search_can_be_cancelled() {
    let safe = Search::new(512).expect("a length").safe().expect("possible");
    for search in [Search::new(512).expect("a length"), safe] {
        assert_eq!(search.generate_while(|| false).err(), Some(PrimeError::Cancelled));
        // A prime may be found before the second question.
        let (mut asked, mut refused) = (0, false);
        let result = search.generate_while(|| {
            assert!(!refused, "asked again after a refusal");
            asked += 1;
            refused = asked == 2;
            !refused
        });
        assert_eq!(result.err(), refused.then_some(PrimeError::Cancelled));
    }
    let prime = Search::new(256).expect("a length").generate_while(|| true).expect("a prime");
    assert!(is_prime(&number(&prime)));
}

#[test]
fn wrong_searches_are_errors() {
    for bits in [0, 1, 255, 8193, usize::MAX] {
        assert_eq!(primes::generate(bits).err(), Some(PrimeError::Bits { bits }));
        assert_eq!(primes::generate_safe(bits).err(), Some(PrimeError::Bits { bits }));
    }
    let search = Search::new(256).expect("a length");
    let range =
        |low: &BigUint, high: &BigUint| Search::between(&low.to_bytes_be(), &high.to_bytes_be()).err();
    assert!(matches!(range(&two_to(300), &two_to(299)), Some(PrimeError::Range(_))));
    assert!(matches!(range(&two_to(300), &(two_to(300) + two_to(60))), Some(PrimeError::Range(_))));
    assert_eq!(range(&two_to(200), &two_to(300)), Some(PrimeError::Bits { bits: 201 }));
    assert_eq!(range(&two_to(300), &two_to(9000)), Some(PrimeError::Bits { bits: 9001 }));
    assert_eq!(Search::between(&[], &[]).err(), Some(PrimeError::Bits { bits: 0 }));
    for (remainder, modulus) in [(0, 2), (3, 9), (0, 7), (5, 0), (2, 4)] {
        let error = search.with_congruence(&[remainder], &[modulus]).expect_err("no primes");
        assert!(matches!(error, PrimeError::Congruence(_)), "{remainder} mod {modulus}: {error}");
    }
    let four = search.with_congruence(&[1], &[4]).expect("possible");
    assert!(matches!(four.with_congruence(&[3], &[8]), Err(PrimeError::Congruence(_))));
    assert!(matches!(four.safe(), Err(PrimeError::Congruence(_))));
    assert!(matches!(
        search.with_congruence(&[1], &[3]).and_then(|s| s.safe()),
        Err(PrimeError::Congruence(_))
    ));
    // 5 would divide every (p − 1)/2.
    let fifth = search.with_congruence(&[1], &[5]).expect("possible");
    assert!(matches!(fifth.safe(), Err(PrimeError::Congruence(_))));
    let safe = search.safe().expect("possible");
    assert!(matches!(safe.with_congruence(&[1], &[5]), Err(PrimeError::Congruence(_))));
    assert!(matches!(search.with_congruence(&[1], &[0xff; 40]), Err(PrimeError::Range(_))));
    assert!(matches!(search.with_congruence(&[1], &[0xff; 31]), Err(PrimeError::Range(_))));
    for error in
        [PrimeError::Bits { bits: 3 }, PrimeError::NotFound { candidates: 5 }, PrimeError::Random("failed")]
    {
        assert!(error.to_string().len() > 20);
    }
}

#[test]
fn numbers_of_others_are_tested() {
    let bytes = |n: &BigUint| n.to_bytes_be();
    // Every number below 5000, with and without leading zeros, and in one call.
    let sieve = |n: u32| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let numbers: Vec<[u8; 4]> = (0..5000u32).map(u32::to_be_bytes).collect();
    let slices: Vec<&[u8]> = numbers.iter().map(|n| &n[..]).collect();
    let answers = primes::is_prime_many(&slices).expect("answers");
    assert!((0..5000).zip(&answers).all(|(n, &answer)| answer == sieve(n)));
    assert_eq!(primes::is_prime(&[]), Ok(false));
    // Composites that pass weaker tests: Carmichael numbers, strong pseudoprimes to the first 12 prime bases,
    // squares of primes, products of two primes p and 2p − 1.
    let composites = [
        big(561),
        big(1_373_653),
        big(3_825_123_056_546_413_051),
        "318665857834031151167461".parse().expect("a number"),
        "3317044064679887385961981".parse().expect("a number"),
        big((1 << 18) + 3).pow(2),
        (two_to(89) - big(1)) * (two_to(90) - big(3)),
        (two_to(127) - big(1)).pow(2),
        (two_to(607) - big(1)) * (two_to(521) - big(1)),
        two_to(1024) + big(1),
        two_to(600),
    ];
    for composite in &composites {
        assert_eq!(primes::is_prime(&bytes(composite)), Ok(false), "{composite}");
    }
    let exponents = [5usize, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607, 1279, 2203];
    let mersenne: Vec<Vec<u8>> = exponents.iter().map(|&p| bytes(&(two_to(p) - big(1)))).collect();
    let mersenne: Vec<&[u8]> = mersenne.iter().map(|n| &n[..]).collect();
    assert_eq!(primes::is_prime_many(&mersenne), Ok(vec![true; exponents.len()]));
    // On both sides of what the small primes decide: 2^36.
    for n in (1u64 << 36) - 200..(1 << 36) + 200 {
        let expected = n % 2 == 1 && (3..262_200).step_by(2).all(|d| n % d != 0);
        assert_eq!(primes::is_prime(&n.to_be_bytes()), Ok(expected), "{n}");
    }
    let mut random = Random::new(15);
    for _ in 0..30 {
        let n = BigUint::from_bytes_be(&random.bytes(20)) | big(1);
        assert_eq!(primes::is_prime(&bytes(&n)), Ok(is_prime(&n)), "{n}");
    }
    assert_eq!(primes::is_prime(&[0xff; 2049]), Err(PrimeError::TooLong { bits: 16_392 }));
}

/// Pearson's statistic against its expectation: the number of degrees of freedom `k`, with a standard
/// deviation of `√(2k)`. All of these tests together cross the bound by chance less than once in 10^5 runs.
fn assert_uniform(counts: &[usize], what: &str) {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let k = (counts.len() - 1) as f64;
    assert!(
        statistic < k + 7.0 * (2.0 * k).sqrt() + 14.0,
        "{what}: chi-square {statistic:.1} for {k} degrees"
    );
}

#[test]
fn primes_are_spread_evenly() {
    const COUNT: usize = 3000;
    for search in [Search::new(256).expect("a length"), Search::new(256).expect("a length").incremental()] {
        let found = all(&search, COUNT);
        for modulus in [3u32, 4, 5, 7, 8, 11, 13] {
            let mut counts = vec![0; modulus as usize];
            for prime in &found {
                counts[u32::try_from(prime % modulus).expect("small") as usize] += 1;
            }
            let coprime =
                |&r: &u32| (2..=modulus).all(|d| !modulus.is_multiple_of(d) || !r.is_multiple_of(d));
            assert!((0..modulus).filter(|r| !coprime(r)).all(|r| counts[r as usize] == 0));
            let units: Vec<usize> = (0..modulus).filter(coprime).map(|r| counts[r as usize]).collect();
            assert_uniform(&units, &format!("{search:?} modulo {modulus}"));
        }
        // The bits after the highest, and those before the lowest.
        for shift in [1, 60, 248] {
            let mut counts = [0; 128];
            for prime in &found {
                let byte = u32::try_from((prime >> shift) & big(127)).expect("seven bits");
                counts[byte as usize] += 1;
            }
            assert_uniform(&counts, &format!("{search:?}, bits from {shift}"));
        }
    }
}

/// Safe primes are 3 modulo 4 and 2 modulo 3. Modulo others, they are evenly spread over all that is not 0 or
/// 1.
#[test]
fn safe_primes_are_spread_evenly() {
    let found = all(&Search::new(256).expect("a length").safe().expect("possible"), 600);
    for modulus in [5u32, 7, 11, 13, 17] {
        let mut counts = vec![0; modulus as usize];
        for prime in &found {
            counts[u32::try_from(prime % modulus).expect("small") as usize] += 1;
        }
        assert_eq!(counts[..2], [0, 0], "modulo {modulus}");
        assert_uniform(&counts[2..], &format!("safe primes modulo {modulus}"));
    }
}
