//! Inversion by the binary extended Euclidean algorithm, in constant time.

use core::hint::black_box;

use super::add::reduce_once;
use super::mul::mul_add;
use super::{Fe, LIMBS, MODULUS, MU, mul_flat, power_of_two, sub_limbs};

/// Halvings on one word of the numbers, before the whole numbers follow.
const STEP: u32 = 31;

/// How many steps: after `2·381 − 1` halvings `a` is 0 and `b` the greatest common divisor.
const ROUNDS: usize = (2 * 381 - 1usize).div_ceil(STEP as usize);

/// `R³·2^{(64−31)·ROUNDS} mod p`. Montgomery's rows divide by more than the halvings do; the last product
/// makes up for that.
const RESTORE: Fe = power_of_two(3 * 64 * LIMBS + (64 - STEP as usize) * ROUNDS);

/// `R²/a mod p`, the inverse in Montgomery form, and 0 for 0.
///
/// `(a, b)` starts as `(a, p)` and `(u, v)` as `(1, 0)`, with `a ≡ u·y` and `b ≡ v·y` for the number `y` to
/// invert. Each halving makes `a` even by subtracting `b`, after a swap if `b` is greater. Each step finds 31
/// halvings in a row on one word of `a` and of `b`: the 31 lowest bits and the 33 highest. Then the whole
/// numbers follow at once, by factors of 31 bits. The approximation can make a number negative, which is
/// corrected.
///
/// * Precondition: `a < p`.
/// * Result: below `p`.
/// * Cost: 775 halvings of a word, and 25 times 8 products of six limbs and a short factor.
/// * Source: T. Pornin, *Optimized Binary GCD for Modular Inversion*, <https://eprint.iacr.org/2020/972>,
///   algorithm 2.
pub fn invert(a: &Fe) -> Fe {
    let (mut a, mut b) = (*a, MODULUS);
    let (mut u, mut v) = ([1, 0, 0, 0, 0, 0], [0; LIMBS]);
    for _ in 0..ROUNDS {
        let [f, g] = halvings(approximate(&a, &b));
        let (next_a, f) = shifted(&a, &b, f);
        let (next_b, g) = shifted(&a, &b, g);
        (a, b) = (next_a, next_b);
        (u, v) = (combine(&u, &v, f), combine(&u, &v, g));
    }
    mul_flat(&v, &RESTORE)
}

/// Factors of `a` and `b`: at most `2^31` together, in size.
type Factors = [i64; 2];

/// All ones if `bit` is 1, all zeros if it is 0, hidden from the compiler.
#[inline(always)]
fn mask(bit: u64) -> u64 {
    black_box(bit.wrapping_neg())
}

/// One-word approximations of `a` and `b`: their 31 lowest bits, and above them 33 bits of each, from the
/// highest bit of the longer one down. If both have at most 64 bits, the numbers themselves.
#[inline(always)]
fn approximate(a: &Fe, b: &Fe) -> [u64; 2] {
    // The highest limbs of which one is not 0, and the limbs below.
    let (mut high, mut low) = ([0; 2], [0; 2]);
    let (mut search, mut short) = (u64::MAX, u64::MAX);
    for (&a, &b) in a.iter().zip(b).rev() {
        for (k, limb) in [a, b].into_iter().enumerate() {
            high[k] ^= search & (high[k] ^ limb);
            low[k] ^= short & (low[k] ^ limb);
        }
        short = search;
        let any = a | b;
        search &= mask(1 ^ (any | any.wrapping_neg()) >> 63);
    }
    // Now `short` is all ones if no limb but the lowest is needed. One of `high` is not 0: b is odd.
    let shift = ((high[0] | high[1]) | 1).leading_zeros();
    core::array::from_fn(|k| {
        let top = high[k] << shift | low[k] >> 1 >> (63 - shift);
        let word = [a, b][k][0];
        let joined = top >> STEP << STEP | word & ((1 << STEP) - 1);
        joined ^ (short & (joined ^ word))
    })
}

/// 31 halvings on approximations: the factors with `2^31·a' = f[0]·a + f[1]·b`, and so for `b'`.
#[inline(always)]
fn halvings([mut a, mut b]: [u64; 2]) -> [Factors; 2] {
    let (mut f, mut g) = ([1i64, 0], [0i64, 1]);
    for _ in 0..STEP {
        let odd = mask(a & 1);
        let swap = odd & mask(u64::from(a < b));
        let difference = swap & (a ^ b);
        (a, b) = (a ^ difference, b ^ difference);
        for k in 0..2 {
            let difference = swap as i64 & (f[k] ^ g[k]);
            (f[k], g[k]) = (f[k] ^ difference, g[k] ^ difference);
            f[k] -= odd as i64 & g[k];
            g[k] <<= 1;
        }
        a = a.wrapping_sub(odd & b) >> 1;
    }
    [f, g]
}

/// `|f[0]·a + f[1]·b| / 2^31`, and the factors with the sign that makes it so.
///
/// * Precondition: `2^31` divides the sum; the result is below `2^384`, as it is: the sum of sizes of factors
///   is at most `2^31`, so that it is not above the greater of `a` and `b`.
#[inline(always)]
fn shifted(a: &Fe, b: &Fe, f: Factors) -> (Fe, Factors) {
    let (mut sum, mut carry) = ([0; LIMBS], 0i128);
    for i in 0..LIMBS {
        // Each product is below 2^95 in size.
        let t = i128::from(a[i]) * i128::from(f[0]) + i128::from(b[i]) * i128::from(f[1]) + carry;
        (sum[i], carry) = (t as u64, t >> 64);
    }
    let negative = mask((carry >> 127) as u64 & 1);
    let mut add = negative & 1;
    let out = core::array::from_fn(|i| {
        let above = sum.get(i + 1).copied().unwrap_or(carry as u64);
        let (limb, over) = ((sum[i] >> STEP | above << (64 - STEP)) ^ negative).overflowing_add(add);
        add = u64::from(over);
        limb
    });
    (out, f.map(|f| (f ^ negative as i64) - negative as i64))
}

/// `(f[0]·u + f[1]·v) / 2^64 mod p`.
///
/// * Precondition: `u, v < p`; the sizes of the factors have a sum of at most `2^31`.
/// * Result: below `p`: `(2^31·p + 2^64·p)/2^64 < 2p` before the subtraction.
#[inline(always)]
fn combine(u: &Fe, v: &Fe, f: Factors) -> Fe {
    // With a negative factor, p − u is multiplied by its size.
    let signs = f.map(|f| mask(f as u64 >> 63));
    let sizes = [0, 1].map(|k| ((f[k] as u64) ^ signs[k]).wrapping_sub(signs[k]));
    let numbers = [0, 1].map(|k| {
        let number = [u, v][k];
        let (negative, _) = sub_limbs(&MODULUS, number);
        core::array::from_fn::<_, LIMBS, _>(|i| number[i] ^ (signs[k] & (number[i] ^ negative[i])))
    });
    let (mut t, mut carry, mut second) = ([0; LIMBS + 1], 0, 0);
    for i in 0..LIMBS {
        (t[i], carry) = mul_add(0, numbers[0][i], sizes[0], carry);
        (t[i], second) = mul_add(t[i], numbers[1][i], sizes[1], second);
    }
    t[LIMBS] = carry + second;
    let (q, mut out) = (t[0].wrapping_mul(MU), [0; LIMBS]);
    (_, carry) = mul_add(t[0], q, MODULUS[0], 0);
    for i in 1..LIMBS {
        (out[i - 1], carry) = mul_add(t[i], q, MODULUS[i], carry);
    }
    out[LIMBS - 1] = t[LIMBS] + carry;
    reduce_once(&out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximations_begin_at_the_highest_bit() {
        for at in 0..LIMBS {
            for limb in [1, 3, 1 << 31, 1 << 63, u64::MAX] {
                let a: Fe = core::array::from_fn(|k| match k {
                    _ if k > at => 0,
                    _ if k == at => limb,
                    _ => (k as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                });
                let mut one = [0; LIMBS];
                one[0] = 1;
                // A number of the same length, and the number 1.
                for b in [a.map(|limb| limb & 0xaaaa_aaaa_aaaa_aaab), one] {
                    let bits = 64 * at + 64 - limb.leading_zeros() as usize;
                    let expected = [a, b].map(|number| {
                        let bit = |i: usize| number[i / 64] >> (i % 64) & 1;
                        let highest = |count| {
                            (0..count).map(|i| bit(bits - count + i) << (64 - count + i)).sum::<u64>()
                        };
                        if bits <= 64 {
                            number[0]
                        } else {
                            highest(64 - STEP as usize) | number[0] & ((1 << STEP) - 1)
                        }
                    });
                    assert_eq!(approximate(&a, &b), expected, "limb {at} is {limb:#x}");
                }
            }
        }
    }
}
