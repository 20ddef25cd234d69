//! Numbers for tests, by `num-bigint`, and powers by two libraries that must agree.

use dashu_int::UBig;
use dashu_int::fast_div::ConstDivisor;
use num_bigint::BigUint;

use super::random::Random;

pub fn big(n: u64) -> BigUint {
    BigUint::from(n)
}

pub fn two_to(exponent: usize) -> BigUint {
    big(1) << exponent
}

/// `base^exponent mod modulus`, big-endian, as long as the modulus is: by num-bigint and by dashu-int.
pub fn power(base: &[u8], exponent: &[u8], modulus: &[u8]) -> Vec<u8> {
    let [b, e, m] = [base, exponent, modulus].map(BigUint::from_bytes_be);
    let by_num = b.modpow(&e, &m);
    let [base, exponent, modulus] = [base, exponent, modulus].map(UBig::from_be_bytes);
    // The base is reduced first: for a longer one, `reduce` of dashu-int 0.6.2 fails a debug assertion of its
    // own at moduli of 65 to 128 bits.
    let base = base % &modulus;
    let by_dashu = ConstDivisor::new(modulus).reduce(base).pow(&exponent).residue();
    let by_dashu = BigUint::from_bytes_be(&by_dashu.to_be_bytes());
    assert_eq!(by_num, by_dashu, "the two libraries differ: {b:x}^{e:x} mod {m:x}");
    fixed(&by_num, m.bits().div_ceil(8) as usize)
}

/// The number as `len` big-endian bytes.
pub fn fixed(number: &BigUint, len: usize) -> Vec<u8> {
    let bytes = if *number == BigUint::ZERO { Vec::new() } else { number.to_bytes_be() };
    [vec![0; len - bytes.len()], bytes].concat()
}

/// A number of at most `bits` bits: random, or of a shape that drives carries as far as they go.
pub fn number(random: &mut Random, bits: usize) -> BigUint {
    let all = two_to(bits) - big(1);
    match random.below(8) {
        0 => all,
        1 => &all - (two_to(random.below(bits + 1)) - big(1)), // ones above, zeros below
        2 => two_to(random.below(bits + 1)) - big(1),
        3 => all & digits(random, bits, 52),
        4 => all & digits(random, bits, 51),
        _ => all & BigUint::from_bytes_be(&random.bytes(bits.div_ceil(8))),
    }
}

/// Digits of `width` bits, each all ones or all zeros.
fn digits(random: &mut Random, bits: usize, width: usize) -> BigUint {
    let ones = two_to(width) - big(1);
    (0..bits)
        .step_by(width)
        .filter(|_| random.next() & 1 == 1)
        .fold(BigUint::ZERO, |acc, at| acc | &ones << at)
}

/// An odd number of exactly `bits` bits, of the shapes of [`number`].
pub fn modulus(random: &mut Random, bits: usize) -> BigUint {
    number(random, bits) | big(1) | two_to(bits - 1)
}

/// A prime of exactly `bits` bits, its two highest bits set, that is 1 modulo `step` (even).
pub fn prime_in_steps(random: &mut Random, bits: usize, step: &BigUint) -> BigUint {
    let top = big(3) << (bits - 2);
    let mask = two_to(bits - 2) - big(1);
    loop {
        let start = &top | (BigUint::from_bytes_be(&random.bytes(bits.div_ceil(8))) & &mask);
        let candidate = &start - &start % step + big(1);
        if candidate.bits() == bits as u64 && candidate >= top && is_prime(&candidate) {
            return candidate;
        }
    }
}

/// A prime of exactly `bits` bits, its two highest bits set.
pub fn prime(random: &mut Random, bits: usize) -> BigUint {
    prime_in_steps(random, bits, &big(2))
}

/// Trial division, then Miller-Rabin with fixed bases: enough for numbers that come from a fixed seed.
pub fn is_prime(n: &BigUint) -> bool {
    if *n < big(2) || (*n != big(2) && !n.bit(0)) {
        return false;
    }
    for d in (3u32..2000).step_by(2) {
        if big(u64::from(d) * u64::from(d)) > *n {
            return true;
        }
        if n % d == BigUint::ZERO {
            return false;
        }
    }
    let minus_one = n - big(1);
    let twos = minus_one.trailing_zeros().unwrap_or(0);
    let odd = &minus_one >> twos;
    [2u64, 3, 5, 7, 11, 13, 17, 19].into_iter().all(|base| {
        let mut x = big(base).modpow(&odd, n);
        if x == big(1) || x == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            x = &x * &x % n;
            x == minus_one
        })
    })
}
