//! Both libraries against num-bigint, and libraries that are missing, broken or other ones.

use num_bigint::BigUint;
use zariz_needs::needs;
use zariz_peers::{Error, Gmp, NotFound, OpenSsl, ParamValue, Provider, ProviderError};

/// A number of `bits` bits, the highest set; odd if the seed is.
fn number(seed: u64, bits: u64) -> BigUint {
    let mut x = seed;
    let mut words = Vec::new();
    for _ in 0..bits.div_ceil(32) {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        words.push((x >> 32) as u32);
    }
    let mut number = BigUint::new(words) % (BigUint::from(1u32) << bits);
    number.set_bit(bits - 1, true);
    number.set_bit(0, seed % 2 == 1);
    number
}

/// A modulus, and two numbers below it.
fn numbers(bits: u64) -> [BigUint; 3] {
    let m = number(bits * 2 + 1, bits);
    let [x, y] = [2, 4].map(|seed| number(seed, bits) % &m);
    [m, x, y]
}

/// Sizes whose limbs are full, and sizes whose are not.
const SIZES: [u64; 8] = [3, 64, 65, 521, 1024, 1536, 2048, 4096];

#[needs("GMP")]
#[test]
fn products_of_gmp() {
    let gmp = Gmp::load().expect("GMP");
    for bits in SIZES {
        let [m, x, y] = numbers(bits);
        let [mb, xb, yb] = [&m, &x, &y].map(BigUint::to_bytes_be);
        let mut product = gmp.product(&xb, &yb, &mb).expect("good numbers");
        let mut expected = x.clone();
        for _ in 0..10 {
            product.multiply();
            expected = expected * &y % &m;
            assert_eq!(BigUint::from_bytes_be(&product.value()), expected, "{bits}");
            product.square();
            expected = &expected * &expected % &m;
            assert_eq!(BigUint::from_bytes_be(&product.value()), expected, "{bits}");
        }
    }
}

#[needs("libcrypto")]
#[test]
fn products_of_openssl() {
    let openssl = OpenSsl::load().expect("OpenSSL");
    for bits in SIZES {
        let [m, x, y] = numbers(bits);
        let [mb, xb, yb] = [&m, &x, &y].map(BigUint::to_bytes_be);
        let mut product = openssl.product(&xb, &yb, &mb).expect("good numbers");
        let mut expected = x.clone();
        for _ in 0..10 {
            product.multiply().expect("multiplied");
            expected = expected * &y % &m;
            let value = product.value().expect("a value");
            assert_eq!((BigUint::from_bytes_be(&value), value.len()), (expected.clone(), mb.len()), "{bits}");
        }
    }
}

/// Exponents for numbers of so many bits.
fn exponents(bits: u64) -> [BigUint; 4] {
    [BigUint::from(1u32), BigUint::from(65_537u32), number(6, bits), number(8, bits + 70)]
}

#[needs("GMP")]
#[test]
fn powers_of_gmp() {
    let gmp = Gmp::load().expect("GMP");
    for bits in SIZES {
        let [m, x, _] = numbers(bits);
        for e in exponents(bits) {
            let [xb, eb, mb] = [&x, &e, &m].map(BigUint::to_bytes_be);
            let mut power = gmp.power(&xb, &eb, &mb).expect("good numbers");
            power.compute();
            assert_eq!(BigUint::from_bytes_be(&power.value()), x.modpow(&e, &m), "{bits}");
        }
    }
}

#[needs("libcrypto")]
#[test]
fn powers_of_openssl() {
    let openssl = OpenSsl::load().expect("OpenSSL");
    for bits in SIZES {
        let [m, x, y] = numbers(bits);
        let [mb, xb, yb] = [&m, &x, &y].map(BigUint::to_bytes_be);
        for e in exponents(bits) {
            let (eb, expected) = (e.to_bytes_be(), x.modpow(&e, &m));
            let mut power = openssl.power(&xb, &eb, &mb).expect("good numbers");
            power.compute().expect("computed");
            assert_eq!(BigUint::from_bytes_be(&power.value().expect("a value")), expected, "{bits}");
            let [a, b] = [&xb, &yb].map(|base| openssl.power(base, &eb, &mb).expect("good numbers"));
            if let Some(mut pair) = openssl.power_pair([a, b]) {
                pair.compute().expect("computed");
                let results = pair
                    .powers()
                    .each_ref()
                    .map(|power| BigUint::from_bytes_be(&power.value().expect("a value")));
                assert_eq!(results, [expected, y.modpow(&e, &m)], "{bits}");
            }
        }
    }
}

/// Base or factor, exponent or factor, modulus, and the errors of a power and of a product.
const BAD: [([&[u8]; 3], [Error; 2]); 5] = [
    ([&[3], &[3], &[8]], [Error::Modulus; 2]),
    ([&[3], &[3], &[]], [Error::Modulus; 2]),
    ([&[7], &[3], &[7]], [Error::Operand; 2]),
    ([&[0], &[3], &[7]], [Error::Operand; 2]),
    ([&[3], &[0, 0], &[7]], [Error::Exponent, Error::Operand]),
];

#[needs("GMP")]
#[test]
fn bad_numbers_are_refused_before_gmp_sees_them() {
    let gmp = Gmp::load().expect("GMP");
    for ([x, y, modulus], errors) in BAD {
        let found = [gmp.power(x, y, modulus).err(), gmp.product(x, y, modulus).err()];
        assert_eq!(found, errors.map(Some));
    }
}

#[needs("libcrypto")]
#[test]
fn bad_numbers_are_refused_before_openssl_sees_them() {
    let openssl = OpenSsl::load().expect("OpenSSL");
    for ([x, y, modulus], errors) in BAD {
        let found = [openssl.power(x, y, modulus).err(), openssl.product(x, y, modulus).err()];
        assert_eq!(found, errors.map(Some));
    }
}

#[needs("GMP", "libcrypto")]
#[test]
fn names_and_versions() {
    let (gmp, openssl) = (Gmp::load().expect("GMP"), OpenSsl::load().expect("OpenSSL"));
    assert!(gmp.version().starts_with("GMP ") && format!("{gmp:?}").contains(gmp.version()), "{gmp:?}");
    assert!(openssl.version().contains("SSL ") && format!("{openssl:?}").contains("has_pair"), "{openssl:?}");
}

/// The errors of both libraries for one file in place of theirs.
fn refused(file: &std::path::Path) -> [NotFound; 2] {
    // SAFETY: the files of these tests are no libraries, or lack the functions that are looked up.
    let (gmp, openssl) = unsafe { (Gmp::load_first(&[file]), OpenSsl::load_first(&[file])) };
    [gmp.expect_err("not GMP"), openssl.expect_err("not OpenSSL")]
}

#[test]
fn a_missing_file_and_one_that_is_no_library() {
    for file in ["/does/not/exist/libpeer.so.1", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")] {
        let libraries = [("GMP", "libgmp10"), ("OpenSSL", "libssl3")];
        for (error, (library, package)) in refused(file.as_ref()).iter().zip(libraries) {
            assert!(
                error.why().contains(&format!("install {library} (on Debian and Ubuntu: {package})")),
                "{error}"
            );
            assert_eq!(error.library(), library);
            assert!(error.why().contains(file), "{error}");
            assert!(error.to_string().starts_with(&format!("{library} was not found: ")), "{error}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_without_the_functions() {
    let [gmp, openssl] = refused("libm.so.6".as_ref());
    assert!(gmp.why().starts_with("libm.so.6 has no __gmp"), "{gmp}");
    assert!(openssl.why().starts_with("libm.so.6 has no OpenSSL_version"), "{openssl}");
}

#[test]
#[cfg(target_os = "linux")]
fn the_first_reason_is_told() {
    // SAFETY: as in `refused`.
    let none = unsafe { Gmp::load_first(&["libnone-a.so", "libnone-b.so"]) };
    assert!(none.as_ref().is_err_and(|error| error.why().contains("libnone-a.so")), "{none:?}");
}

#[needs("GMP")]
#[test]
#[cfg(target_os = "linux")]
fn a_later_file_is_found() {
    // SAFETY: the last name is GMP's own.
    assert!(unsafe { Gmp::load_first(&["libnone-a.so", "libgmp.so.10"]) }.is_ok());
}

#[needs("openssl", "legacy.so")] // which a distribution may leave out, or build in
#[test]
#[cfg(target_os = "linux")]
fn a_module_of_openssl_says_what_it_is() {
    let said = std::process::Command::new("openssl").args(["info", "-modulesdir"]).output().expect("openssl");
    let module = std::path::Path::new(String::from_utf8_lossy(&said.stdout).trim()).join("legacy.so");
    let provider = Provider::load(&module).expect("OpenSSL's own module");
    assert!(provider.openssl().starts_with("OpenSSL "), "{provider:?}");
    assert!(provider.name() == "legacy" && format!("{provider:?}").contains("legacy"), "{provider:?}");
    let parameters = provider.parameters();
    let value =
        |name: &str| parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone());
    assert_eq!(value("name"), Some(ParamValue::Text("OpenSSL Legacy Provider".into())), "{parameters:?}");
    assert_eq!(value("status"), Some(ParamValue::Integer(1)), "{parameters:?}");
    // Again, and one that is not there.
    drop(provider);
    assert!(Provider::load(&module).is_ok());
    let missing = Provider::load("/does/not/exist.so".as_ref()).expect_err("no file");
    assert!(matches!(&missing, ProviderError::File(why) if why.contains("No such file")), "{missing}");
}
