//! crypto_mb, whose file `ZARIZ_CRYPTO_MB` names, against num-bigint; and files that are not crypto_mb.

use std::path::Path;

use num_bigint::BigUint;
use zariz_peers::{CrtKey, CryptoMb, Error, PowerJob};

/// The library.
fn named() -> CryptoMb {
    let file = std::env::var_os("ZARIZ_CRYPTO_MB").expect("ZARIZ_CRYPTO_MB names a libcrypto_mb.so");
    CryptoMb::load(Path::new(&file)).unwrap_or_else(|why| panic!("{}", why.why()))
}

/// An odd number of `bits` bits, the highest set.
fn odd(seed: u64, bits: u64) -> BigUint {
    let mut x = seed;
    let mut words = Vec::new();
    for _ in 0..bits.div_ceil(32) {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        words.push((x >> 32) as u32);
    }
    let mut number = BigUint::new(words) % (BigUint::from(1u32) << bits);
    number.set_bit(bits - 1, true);
    number.set_bit(0, true);
    number
}

/// Big-endian, in `length` bytes.
fn padded(number: &BigUint, length: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; length - bytes.len()], bytes].concat()
}

/// A private key whose "primes" are only coprime, which is all that the arithmetic requires.
struct Key {
    p: BigUint,
    q: BigUint,
    /// p, q, dp, dq and 1/q mod p, big-endian.
    numbers: [Vec<u8>; 5],
}

impl Key {
    fn new(seed: u64, bits: u64) -> Self {
        let (p, mut q) = (odd(seed, bits / 2), odd(seed + 100, bits / 2));
        let inverse = loop {
            match q.modinv(&p) {
                Some(inverse) => break inverse,
                None => q -= 2u32,
            }
        };
        let exponents = [odd(seed + 200, bits / 2 - 1), odd(seed + 300, bits / 2 - 9)];
        let numbers = [&p, &q, &exponents[0], &exponents[1], &inverse].map(BigUint::to_bytes_be);
        Self { p, q, numbers }
    }

    fn n(&self) -> BigUint {
        &self.p * &self.q
    }

    fn crt(&self) -> CrtKey<'_> {
        let [p, q, dp, dq, q_inverse] = self.numbers.each_ref().map(Vec::as_slice);
        CrtKey { p, q, dp, dq, q_inverse }
    }
}

#[ignore = "needs crypto_mb: set ZARIZ_CRYPTO_MB=libcrypto_mb.so, and give --ignored"]
#[test]
fn private_and_public_operations() {
    let library = named();
    for bits in [1024u64, 2048, 3072, 4096] {
        let size = bits as usize / 8;
        let keys: [Key; 8] = std::array::from_fn(|lane| Key::new(lane as u64, bits));
        let moduli = keys.each_ref().map(|key| key.n().to_bytes_be());
        let mut private =
            library.private(bits as usize, keys.each_ref().map(Key::crt)).expect("a size it has");
        let mut public =
            library.public(bits as usize, moduli.each_ref().map(Vec::as_slice)).expect("a size it has");
        for count in [1, 5, 8] {
            let numbers: Vec<BigUint> = (0..count).map(|lane| odd(lane as u64 + 400, bits - 2)).collect();
            let padded: Vec<Vec<u8>> = numbers.iter().map(|number| padded(number, size)).collect();
            let slices: Vec<&[u8]> = padded.iter().map(Vec::as_slice).collect();
            let mut results = vec![vec![0; size]; count];
            private.compute(&slices, &mut results).expect("computed");
            for ((number, key), result) in numbers.iter().zip(&keys).zip(&results) {
                let result = BigUint::from_bytes_be(result);
                assert!(result < key.n());
                for (prime, exponent) in [(&key.p, &key.numbers[2]), (&key.q, &key.numbers[3])] {
                    assert_eq!(
                        &result % prime,
                        number.modpow(&BigUint::from_bytes_be(exponent), prime),
                        "{bits}"
                    );
                }
            }
            public.compute(&slices, &mut results).expect("computed");
            for ((number, key), result) in numbers.iter().zip(&keys).zip(&results) {
                assert_eq!(
                    BigUint::from_bytes_be(result),
                    number.modpow(&BigUint::from(65_537u32), &key.n()),
                    "{bits}"
                );
            }
        }
    }
}

#[ignore = "needs crypto_mb: set ZARIZ_CRYPTO_MB=libcrypto_mb.so, and give --ignored"]
#[test]
fn powers() {
    let library = named();
    for bits in [1000, 1024, 2048, 4096] {
        for count in [1u64, 8, 11] {
            let numbers = |seed, bits| (0..count).map(|i| odd(seed + i, bits)).collect::<Vec<_>>();
            let (bases, exponents, moduli) = (numbers(1, bits - 1), numbers(50, 500), numbers(100, bits));
            let bytes = |numbers: &[BigUint]| numbers.iter().map(BigUint::to_bytes_be).collect::<Vec<_>>();
            let (base, exponent, modulus) = (bytes(&bases), bytes(&exponents), bytes(&moduli));
            let job = |i: usize| PowerJob { base: &base[i], exponent: &exponent[i], modulus: &modulus[i] };
            let jobs: Vec<PowerJob> = (0..count as usize).map(job).collect();
            let mut powers = library.powers(&jobs).expect("good numbers");
            powers.compute().expect("computed");
            for (i, value) in powers.values().iter().enumerate() {
                assert_eq!(
                    BigUint::from_bytes_be(value),
                    bases[i].modpow(&exponents[i], &moduli[i]),
                    "{bits}"
                );
            }
        }
    }
}

#[ignore = "needs crypto_mb: set ZARIZ_CRYPTO_MB=libcrypto_mb.so, and give --ignored"]
#[test]
fn bad_numbers_are_refused_before_the_library_sees_them() {
    let library = named();
    let key = Key::new(1, 2048);
    assert_eq!(library.private(1536, [key.crt(); 8]).err(), Some(Error::Bits(1536)));
    assert_eq!(library.private(1024, [key.crt(); 8]).err(), Some(Error::Length));
    let even = [2; 128];
    assert_eq!(library.private(2048, [CrtKey { p: &even, ..key.crt() }; 8]).err(), Some(Error::Modulus));
    let mut private = library.private(2048, [key.crt(); 8]).expect("a size it has");
    let number = [0; 256];
    assert_eq!(private.compute(&[&number[1..]], &mut [vec![0; 256]]), Err(Error::Length));
    assert_eq!(private.compute(&[&number], &mut [vec![0; 255]]), Err(Error::Length));
    assert_eq!(private.compute(&[&number], &mut []), Err(Error::Length));
    assert_eq!(private.compute(&[&number[..]; 9], &mut vec![vec![0; 256]; 9]), Err(Error::Length));
    let job = PowerJob { base: &[2], exponent: &[3], modulus: &[0x81; 128] };
    let refused = |job: PowerJob| {
        library.powers(&[PowerJob { base: &[2], exponent: &[3], modulus: &[0x81; 128] }, job])
    };
    assert_eq!(refused(PowerJob { modulus: &[0x41; 128], ..job }).err(), Some(Error::Length));
    assert_eq!(refused(PowerJob { exponent: &[0x82; 128], ..job }).map(drop), Ok(()));
    assert_eq!(refused(PowerJob { exponent: &[1; 129], ..job }).err(), Some(Error::Length));
    assert_eq!(refused(PowerJob { base: &[0x81; 128], ..job }).err(), Some(Error::Operand));
    assert_eq!(library.powers(&[]).err(), Some(Error::Length));
}

#[ignore = "needs crypto_mb: set ZARIZ_CRYPTO_MB=libcrypto_mb.so, and give --ignored"]
#[test]
fn the_version_names_the_file() {
    let library = named();
    let version = library.version();
    assert!(version.starts_with("crypto_mb 1.") && version.contains("libcrypto_mb"), "{version}");
    assert!(format!("{library:?}").contains(version), "{library:?}");
}

#[test]
fn files_that_are_not_crypto_mb() {
    for file in ["/does/not/exist/libcrypto_mb.so", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let error = CryptoMb::load(Path::new(file)).expect_err("not crypto_mb");
        assert_eq!(error.library(), "crypto_mb");
        assert!(error.why().contains(file) && !error.why().contains("install"), "{error}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_without_the_functions() {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the libraries of this program");
    let mut paths = maps.lines().filter_map(|line| Some(&line[line.find('/')?..]));
    let file = paths.find(|path| path.contains("/libgcc_s.so")).expect("libgcc_s");
    let error = CryptoMb::load(Path::new(file)).expect_err("not crypto_mb");
    assert!(error.why().ends_with(&format!("{file} has no mbx_getversion")), "{error}");
}
