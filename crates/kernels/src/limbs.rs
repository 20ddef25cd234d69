//! Little-endian arrays of 64-bit limbs: the scalar arithmetic done once per modulus and at the ends of a
//! batch.
//!
//! Everything here runs in time that depends only on lengths. Where a choice depends on a value, it is made
//! with a mask that passes through [`core::hint::black_box`], so that the compiler does not turn it back into
//! a branch.

mod gcd;
mod numbers;
mod rem;

pub use gcd::{div_exact, gcd, gcd_inverse};
pub use numbers::Numbers;
pub use rem::rem;

use alloc::vec::Vec;
use core::hint::black_box;
use zeroize::Zeroizing;

/// A number that may be secret: zeroised when dropped.
pub type Limbs = Zeroizing<Vec<u64>>;

/// `len` zero limbs.
pub fn zero(len: usize) -> Limbs {
    Zeroizing::new(alloc::vec![0; len])
}

/// A big-endian byte string as limbs, `⌈bytes/8⌉` of them.
pub fn from_be_bytes(bytes: &[u8]) -> Limbs {
    let mut out = zero(bytes.len().div_ceil(8));
    out.iter_mut().zip(be_limbs(bytes)).for_each(|(limb, value)| *limb = value);
    out
}

/// The limbs of a big-endian byte string, `⌈bytes/8⌉` of them, the lowest first.
fn be_limbs(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.rchunks(8).map(|chunk| match chunk.try_into() {
        Ok(whole) => u64::from_be_bytes(whole),
        Err(_) => chunk.iter().fold(0, |limb, &byte| limb << 8 | u64::from(byte)),
    })
}

/// Writes the number as big-endian bytes, padded or cut to `out`'s length.
pub fn to_be_bytes(limbs: &[u64], out: &mut [u8]) {
    let (first, chunks) = out.as_rchunks_mut::<8>();
    let limb = |i: usize| limbs.get(i).copied().unwrap_or(0).to_be_bytes();
    let whole = chunks.len();
    for (i, chunk) in chunks.iter_mut().rev().enumerate() {
        *chunk = limb(i);
    }
    first.copy_from_slice(&limb(whole)[8 - first.len()..]);
}

/// The bit length of a number, in time that depends only on the number of limbs.
pub fn bits(limbs: &[u64]) -> usize {
    limbs.iter().enumerate().fold(0, |bits, (i, &limb)| {
        let nonzero = black_box(((limb | limb.wrapping_neg()) >> 63).wrapping_neg()) as usize;
        let with_this = 64 * i + 64 - (limb | 1).leading_zeros() as usize;
        bits ^ (nonzero & (bits ^ with_this))
    })
}

/// The bit length of a number. For public numbers: the time reveals it.
pub fn bits_vartime(limbs: &[u64]) -> usize {
    limbs.iter().rposition(|&limb| limb != 0).map_or(0, |i| 64 * i + 64 - limbs[i].leading_zeros() as usize)
}

/// The number without leading zero limbs; time and memory depend on its length.
pub fn trimmed_vartime(limbs: &[u64]) -> Limbs {
    Limbs::new(limbs[..bits_vartime(limbs).div_ceil(64)].to_vec())
}

/// `a += b`; returns the carry. `b` may be shorter.
pub fn add_assign(a: &mut [u64], b: &[u64]) -> u64 {
    add_masked(a, b, u64::MAX)
}

/// `a −= b`; returns the borrow. `b` may be shorter.
pub fn sub_assign(a: &mut [u64], b: &[u64]) -> u64 {
    sub_masked(a, b, u64::MAX)
}

/// `a −= b & mask`, for a mask of all zeros or all ones; returns the borrow.
pub fn sub_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let mut borrow = 0;
    for (i, a) in a.iter_mut().enumerate() {
        let b = b.get(i).copied().unwrap_or(0) & mask;
        let difference = u128::from(*a).wrapping_sub(u128::from(b)).wrapping_sub(u128::from(borrow));
        (*a, borrow) = (difference as u64, (difference >> 64) as u64 & 1);
    }
    borrow
}

/// `a += b & mask`, for a mask of all zeros or all ones; returns the carry.
pub fn add_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let mut carry = 0;
    for (i, a) in a.iter_mut().enumerate() {
        let b = b.get(i).copied().unwrap_or(0) & mask;
        let sum = u128::from(*a) + u128::from(b) + u128::from(carry);
        (*a, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}

/// `a ← a − m` if `carry·2^{64n} + a ≥ m`, for a `carry` of 0 or 1.
///
/// Precondition: `carry·2^{64n} + a < 2^{64n} + m`.
pub fn reduce_once(a: &mut [u64], carry: u64, m: &[u64]) {
    let borrow = sub_assign(a, m);
    // The subtraction was wrong if it borrowed and there was no carry to borrow from.
    add_masked(a, m, black_box((borrow & !carry & 1).wrapping_neg()));
}

/// `a ← a − b mod m`. Precondition: `a, b < m`.
pub fn sub_mod(a: &mut [u64], b: &[u64], m: &[u64]) {
    let borrow = sub_assign(a, b);
    add_masked(a, m, black_box(borrow.wrapping_neg()));
}

/// Whether `a = b`, in time that depends only on the lengths. Lengths may differ.
pub fn equal(a: &[u64], b: &[u64]) -> bool {
    let get = |x: &[u64], i: usize| x.get(i).copied().unwrap_or(0);
    let difference = (0..a.len().max(b.len())).fold(0, |acc, i| acc | (get(a, i) ^ get(b, i)));
    black_box(difference) == 0
}

/// Whether `a < b`, in time that depends only on the lengths. Lengths may differ.
pub fn less(a: &[u64], b: &[u64]) -> bool {
    is_less(a.iter().copied(), b)
}

/// Like [`less`], for an `a` given by big-endian bytes.
pub fn be_bytes_less(a: &[u8], b: &[u64]) -> bool {
    is_less(be_limbs(a), b)
}

/// Whether the number of these limbs, the lowest first, is below `b`.
fn is_less(mut a: impl Iterator<Item = u64>, b: &[u64]) -> bool {
    let borrow = |borrow, a: u64, b: u64| u128::from(a).wrapping_sub(b.into()).wrapping_sub(borrow) >> 64 & 1;
    let low = b.iter().fold(0, |before, &b| borrow(before, a.next().unwrap_or(0), b));
    black_box(a.fold(low, |before, a| borrow(before, a, 0))) == 1
}

/// `a·b`, schoolbook.
pub fn mul(a: &[u64], b: &[u64]) -> Limbs {
    let mut out = zero(a.len() + b.len());
    for (i, &a) in a.iter().enumerate() {
        out[i + b.len()] = mul_add(&mut out[i..i + b.len()], b, a);
    }
    out
}

/// `acc += b·a`. Precondition: `acc` has more limbs than `b`, and room for the sum.
pub(crate) fn add_product(acc: &mut [u64], b: &[u64], a: u64) {
    let (low, high) = acc.split_at_mut(b.len());
    let carry = mul_add(low, b, a);
    add_assign(high, &[carry]);
}

/// `acc += b·a`; returns the limb carried out. Precondition: `acc.len() = b.len()`.
fn mul_add(acc: &mut [u64], b: &[u64], a: u64) -> u64 {
    let mut carry = 0;
    for (acc, &b) in acc.iter_mut().zip(b) {
        let t = u128::from(a) * u128::from(b) + u128::from(*acc) + u128::from(carry);
        (*acc, carry) = (t as u64, (t >> 64) as u64);
    }
    carry
}

/// Halves `a` if it is even; returns 1 if it was, else 0.
pub fn halve_if_even(a: &mut [u64]) -> u64 {
    let even = !a[0] & 1;
    let mask = black_box(even.wrapping_neg());
    for i in 0..a.len() {
        let half = a[i] >> 1 | a.get(i + 1).map_or(0, |above| above << 63);
        a[i] ^= mask & (a[i] ^ half);
    }
    even
}

/// `a ← ⌊a / D⌋`; returns `a mod D`.
///
/// `D` is a constant, so that the compiler divides by multiplying: a division instruction would take time
/// that depends on `a`.
pub fn div_const<const D: u32>(a: &mut [u64]) -> u32 {
    let d = u64::from(D);
    let remainder = a.iter_mut().rev().fold(0, |remainder, limb| {
        let high = remainder << 32 | *limb >> 32;
        let low = (high % d) << 32 | (*limb & 0xffff_ffff);
        *limb = (high / d) << 32 | (low / d);
        low % d
    });
    remainder as u32
}

/// `−m^{−1} mod 2^64`, by Newton's iteration. Precondition: `m` odd.
pub const fn negative_inverse(m: u64) -> u64 {
    // m·m ≡ 1 (mod 8): three bits, doubled five times.
    let (mut inverse, mut bits) = (m, 3);
    while bits < 64 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse)));
        bits *= 2;
    }
    inverse.wrapping_neg()
}

/// `−m^{−1} mod 2^{64n}`, limb by limb (Hensel). Precondition: `m` odd.
pub fn negative_inverse_many(m: &[u64], n: usize) -> Limbs {
    let (first, mut out, mut rest) = (negative_inverse(m[0]), zero(n), zero(n));
    // 1 + m·out ≡ 0 (mod 2^{64i}); `rest` is the part above.
    rest[0] = 1;
    for i in 0..n {
        out[i] = rest[i].wrapping_mul(first);
        let used = m.len().min(n - i);
        let high = mul_add(&mut rest[i..i + used], &m[..used], out[i]);
        add_assign(&mut rest[i + used..], &[high]);
    }
    out
}

/// `2^e mod m` in `m.len()` limbs, for a public exponent. Any `m` above 0.
pub fn power_of_two(e: usize, m: &[u64]) -> Limbs {
    let mut power = zero(e / 64 + 1);
    power[e / 64] = 1 << (e % 64);
    rem(&power, m)
}

/// The number's digits in radix `2^w`, `w < 64`, from bit `from` on: it fills `digits`.
pub fn to_digits(limbs: &[u64], from: usize, w: u32, digits: &mut [u64]) {
    let limb = |i: usize| limbs.get(i).copied().unwrap_or(0);
    for (i, digit) in digits.iter_mut().enumerate() {
        let bit = from + i * w as usize;
        let (at, shift) = (bit / 64, bit % 64);
        let [low, high] = match limbs.get(at..at + 2) {
            Some(&[low, high]) => [low, high],
            _ => [limb(at), 0],
        };
        // The second in two steps: it may be by 64.
        *digit = (low >> shift | high << 1 << (63 - shift)) & ((1 << w) - 1);
    }
}

/// A number as digits in radix `2^w`, `count` of them.
pub fn digits_of(number: &[u64], w: u32, count: usize) -> Limbs {
    let mut out = zero(count);
    to_digits(number, 0, w, &mut out);
    out
}

/// The number with the given digits, below `2^w`, in radix `2^w`, `w < 64`, modulo `2^{64·limbs.len()}`.
pub fn from_digits(digits: &[u64], w: u32, limbs: &mut [u64]) {
    let mut out = limbs.iter_mut();
    // A limb under way, and how many bits it has.
    let (mut limb, mut bits) = (0, 0);
    for &digit in digits {
        debug_assert_eq!(digit >> w, 0);
        limb |= digit << bits;
        bits += w;
        if bits >= 64 {
            bits -= 64;
            if let Some(out) = out.next() {
                *out = limb;
            }
            limb = digit >> (w - bits);
        }
    }
    for out in out {
        (*out, limb) = (limb, 0);
    }
}

/// `a += b`, digits in radix `2^w`, `w < 63`, with carries passed on. `b` may be shorter. Precondition: the
/// sum fits.
pub fn add_digits(a: &mut [u64], b: &[u64], w: u32) {
    let mut carry = 0;
    for (i, a) in a.iter_mut().enumerate() {
        let sum = *a + b.get(i).copied().unwrap_or(0) + carry;
        (*a, carry) = (sum & ((1 << w) - 1), sum >> w);
    }
    debug_assert_eq!(carry, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_inverse_is_one() {
        let m: Vec<u64> = (1..20).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for (len, n) in [(1, 1), (1, 5), (4, 4), (7, 9), (19, 20), (9, 4)] {
            let inverse = negative_inverse_many(&m[..len], n);
            let product = mul(&m[..len], &inverse);
            assert!(product[..n].iter().all(|&limb| limb == u64::MAX), "{len} limbs, {n} wanted");
        }
    }

    #[test]
    fn bit_lengths() {
        for length in [0, 1, 2, 63, 64, 65, 127, 128, 129, 191, 192] {
            let mut number = [0u64; 3];
            (0..length).for_each(|bit| number[bit / 64] |= 1 << (bit % 64));
            let mut highest = [0u64; 3];
            if length > 0 {
                highest[(length - 1) / 64] = 1 << ((length - 1) % 64);
            }
            for number in [number, highest] {
                assert_eq!([bits(&number), bits_vartime(&number)], [length, length], "{number:x?}");
            }
        }
        assert_eq!(bits(&[]), 0);
    }

    #[test]
    fn digits_round_trip() {
        let number: Vec<u64> = (1..40).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for w in [1, 13, 51, 52, 63] {
            let mut digits = alloc::vec![0; (64 * number.len()).div_ceil(w as usize)];
            to_digits(&number, 0, w, &mut digits);
            assert!(digits.iter().all(|&d| d < 1 << w));
            let mut upper = alloc::vec![0; digits.len() - 7];
            to_digits(&number, 7 * w as usize, w, &mut upper);
            assert_eq!(upper, digits[7..]);
            let mut back = alloc::vec![1; number.len()];
            from_digits(&digits, w, &mut back);
            assert_eq!(back, number);
        }
    }

    #[test]
    fn powers_of_two_against_u128() {
        for m in [3u64, 5, 7, 0xffff_ffff_ffff_ffff, 0x8000_0000_0000_0001, 1_000_003] {
            let mut expected = 1 % m;
            for e in 0..700 {
                assert_eq!(power_of_two(e, &[m])[0], expected, "2^{e} mod {m}");
                expected = (u128::from(expected) * 2 % u128::from(m)) as u64;
            }
        }
    }

    #[test]
    fn halves_remainders_and_quotients() {
        let mut a = [4, 1];
        assert_eq!([halve_if_even(&mut a), halve_if_even(&mut a), halve_if_even(&mut a)], [1, 1, 0]);
        assert_eq!(a, [1 | 1 << 62, 0]);
        let mut b = [7, 5];
        assert_eq!(rem(&b, &[10])[0], ((5u128 << 64 | 7) % 10) as u64);
        assert_eq!(div_const::<10>(&mut b), ((5u128 << 64 | 7) % 10) as u32);
        assert_eq!(b, [(((5u128 << 64) | 7) / 10) as u64, 0]);
        assert_eq!(*rem(&[u64::MAX, u64::MAX], &[u64::MAX, u64::MAX]), [0, 0]);
    }

    #[test]
    fn bytes_round_trip() {
        let bytes: Vec<u8> = (1..=23).collect();
        let mut back = alloc::vec![0; 25];
        to_be_bytes(&from_be_bytes(&bytes), &mut back);
        assert_eq!(back[..2], [0, 0]);
        assert_eq!(back[2..], bytes);
        for len in [0, 1, 7, 8, 9, 16, 23] {
            let number = from_be_bytes(&bytes[..len]);
            for other in [
                zero(0),
                zero(4),
                from_be_bytes(&bytes[..len]),
                from_be_bytes(&bytes),
                from_be_bytes(&[1; 9]),
            ] {
                assert_eq!(be_bytes_less(&bytes[..len], &other), less(&number, &other), "{len} bytes");
            }
        }
    }

    #[test]
    fn reductions_at_the_edges() {
        let m = [u64::MAX, u64::MAX];
        let mut a = [u64::MAX - 3, u64::MAX];
        reduce_once(&mut a, 1, &m); // 2(m − 1), with a carry
        assert_eq!(a, [u64::MAX - 2, u64::MAX]); // m − 2
        let mut zero = [0, 0];
        sub_mod(&mut zero, &[1, 0], &m);
        assert_eq!(zero, [u64::MAX - 1, u64::MAX]);
        assert!(less(&zero, &m) && !less(&m, &zero) && !less(&m, &m));
        assert!(equal(&[1], &[1, 0]) && !equal(&[1], &[1, 1]));
    }
}
